"""Witnesses of finding: the right record among lookalikes (C1), facts of two services (C2), another
spelling than the request's (C5), what only a person knows (C12), sources that disagree (C17).
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple

import orjson

from tasks_app.core.calls import Tables
from tasks_app.core.functions import FunctionError
from tasks_app.core.predicates import (
    PredicateError,
    compile_where,
    contains_piece,
    fold,
    same,
)
from tasks_app.core.program import Act, BindingError, bind
from tasks_app.core.samples import arguments_of, holders, id_field, singular
from tasks_app.core.spec import Step
from tasks_app.core.validation import surfaces, text_pieces
from tasks_app.core.validation.near_misses import is_wording
from tasks_app.core.validation.trace import (
    Held,
    Shown,
    asked,
    bindings,
    first_position,
    is_choice,
    is_number,
    is_telling,
    leaves,
    listings,
    positions_of_writes,
    rules,
    says,
    scope_of,
    service_of,
    texts_of,
    told,
)
from tasks_app.core.validation.trial import Trial
from tasks_app.core.values import LEAVES, LISTS, OBJECTS, follow, is_column

LOOKALIKES: Final = 2
_MOST_OTHERS: Final = 12

# --- C1 ------------------------------------------------------------------------------------------


def retrieve(shown: Shown) -> Held:
    """C1: a read precedes the write, and at least two records match all but one criterion."""
    trial = shown.trial
    made = positions_of_writes(trial)
    end = made[0] if made else len(trial.acts) - 1
    best, tool, reads = 0, "", 0
    chosen = _choices(trial)
    for step in trial.spec.reference:
        position = first_position(trial, step)
        if position is None or position >= end or step.tool is None or step.each is not None:
            continue
        call = trial.call(position)
        if not call.ok or call.changes:
            continue
        reads += 1
        found = len(_lookalikes(trial, step, position, chosen.get(step.id or "", ())))
        if found > best:
            best, tool = found, step.tool
    if not reads:
        return Held(False, "nothing is read before the first write")
    words = f"{best} records of {tool} miss one criterion" if best else "no list to choose from"
    return Held(best >= LOOKALIKES, f"{reads} reads first; {words}")


def _lookalikes(trial: Trial, step: Step, position: int, choices: Sequence["_Choice"]) -> set[str]:
    """Return the records that match all criteria of a read and its choice but one.

    Criteria are the arguments that may be left out and the keys of each `where` on what came back;
    words of a free search are none.
    """
    call = trial.call(position)
    found: set[str] = set()
    for name, rows in listings(call.outcome):
        wheres = [where for path, where in choices if path.partition(".")[0] == name]
        for where in wheres:
            found.update(_near(rows, where))
        if not wheres:
            used = _used_later(trial, position)
            found.update(_names(r for r in rows if not used.intersection(_names([r]))))
    for argument in arguments_of(step.tool or ""):
        if argument.required or argument.name == "query" or argument.name not in call.arguments:
            continue
        wider = {k: v for k, v in call.arguments.items() if k != argument.name}
        other = trial.tries(position, Act(step.tool, wider))
        if other is None or not other.ok:
            continue
        before = dict(listings(call.outcome))
        for name, rows in listings(other.outcome):
            old = set(_names(before.get(name, ())))
            tests = [compile_where(w) for path, w in choices if path.partition(".")[0] == name]
            found.update(_names(r for r in rows if not tests or any(t(r) for t in tests)) - old)
    return found


_Choice = tuple[str, Mapping[str, Any]]
"""Path and where."""


def _choices(trial: Trial) -> dict[str, list[_Choice]]:
    """Return step → the (path, where) by which later steps choose from what it gave."""
    scope = scope_of(trial)
    chosen: dict[str, list[_Choice]] = {}
    for later in trial.spec.reference:
        for binding in bindings([later.arguments, later.each, later.reply]):
            if "from" not in binding or not isinstance(binding.get("where"), Mapping):
                continue
            found = chosen.setdefault(binding["from"], [])
            try:
                where = bind(binding["where"], scope)
                compile_where(where)
            except (BindingError, FunctionError, PredicateError):
                continue
            if (path := str(binding.get("path", "")), where) not in found:
                found.append((path, where))
    return chosen


def _near(rows: Sequence[Mapping[str, Any]], where: Mapping[str, Any]) -> set[str]:
    tests = {key: compile_where({key: predicate}) for key, predicate in where.items()}
    return _names(r for r in rows if sum(not test(r) for test in tests.values()) == 1)


def _names(rows: Any) -> set[str]:
    found = set()
    for row in rows:
        key = next((k for k in ("id", "sku", "path", "key", "name") if k in row), None)
        found.add(str(row[key]) if key is not None else orjson.dumps(row, default=str).decode())
    return found


def _used_later(trial: Trial, position: int) -> set[str]:
    return {
        str(leaf)
        for act in trial.acts[position + 1 :]
        if act.tool is not None
        for leaf in leaves(act.arguments)
    }


# --- C2 ------------------------------------------------------------------------------------------


def join(shown: Shown) -> Held:
    """C2: the value of a write's argument first appears in a read of another service."""
    trial = shown.trial
    known = told(trial.spec)
    read: list[tuple[str, str]] = []
    for call in trial.reference.calls:
        if call.ok and call.changes:
            home = service_of(call)
            for name, value in call.arguments.items():
                if name in texts_of(call.tool) and is_wording(value):
                    continue
                for leaf in leaves(value):
                    if not is_telling(leaf) or is_choice(call.tool, name, leaf):
                        continue
                    if says(known, leaf):
                        continue
                    first = next((where for where, text in read if says(text, leaf)), home)
                    if first != home:
                        return Held(True, f"{call.tool}.{name} = {leaf} first stands in {first}")
        elif call.ok:
            read.append((service_of(call) or "user", fold(call.observation.decode())))
    return Held(False, "every written value comes from the service that it is written to")


# --- C5 ------------------------------------------------------------------------------------------


def canonicalise(shown: Shown) -> Held:
    """C5: an argument differs from how the request says it, but that is what it means."""
    trial = shown.trial
    spec = trial.spec
    texts = [(stage.at, stage.notification or "") for stage in spec.stages]
    texts[0] = (texts[0][0], spec.request.text)
    heard = [surfaces.Heard.of(text, at) for at, text in texts]
    plain = asked(spec)
    tables = trial.reference.evidence.tables()
    homes = holders(tables)
    for act in trial.acts:
        if act.tool is None:
            continue
        for name, value in act.arguments.items():
            if name in texts_of(act.tool):
                continue
            for leaf in leaves(value):
                if says(plain, leaf):
                    continue
                said = next((s for h in heard if (s := h.means(leaf)) is not None), None)
                if said is None and isinstance(leaf, str):
                    said = _by_another_name(leaf, spec.request.text, tables, homes)
                if said is not None:
                    return Held(True, f"“{said}” becomes {act.tool}.{name} = {leaf}")
    return Held(False, "every argument is written as the request has it, or is not in it")


def _by_another_name(
    leaf: str, request: str, tables: Tables, homes: Mapping[str, Sequence[str]]
) -> str | None:
    """Return how the request calls a record that an argument names: another reference number, or
    part of a name that the record holds in full.
    """
    for place in homes.get(leaf, ()):
        row = tables[place][leaf]
        for field, value in row.items():
            if not isinstance(value, str) or field == id_field(place) or len(value) > 80:
                continue
            if any(c.isdigit() for c in value) and "@" not in value and not _is_time(value):
                if len(value) > 2 and contains_piece(fold(request), value):
                    return value
            elif "name" in field and not contains_piece(fold(request), value):
                part = next(
                    (
                        w
                        for w in value.split()
                        if len(w) > 3 and re.search(rf"\b{re.escape(w)}\b", request)
                    ),
                    None,
                )
                if part is not None:
                    return part
    return None


def _is_time(value: str) -> bool:
    return re.match(r"\d{4}-\d{2}-\d{2}", value) is not None


# --- C12 -----------------------------------------------------------------------------------------


def clarify(shown: Shown) -> Held:
    """C12: a fact that is needed can be reached through the user channel alone."""
    trial = shown.trial
    spec = trial.spec
    asks = [c for c in trial.reference.calls if c.tool == "message_user" and c.ok]
    if spec.user is None or not asks:
        return Held(False, "the reference asks nobody")
    records = fold(orjson.dumps([spec.services, _arriving(trial)], default=str).decode())
    known = told(spec)
    first = asks[0].index
    for call in trial.reference.calls:
        if not call.changes or not call.ok or call.index < first:
            continue
        for name, value in call.arguments.items():
            for leaf in leaves(value):
                if not is_telling(leaf) or is_choice(call.tool, name, leaf):
                    continue
                fact = next((f for f in spec.user.facts if says(fold(f.text), leaf)), None)
                if fact is not None and not says(records, leaf) and not says(known, leaf):
                    return Held(True, f"{leaf} stands in no record, only {spec.user.name} knows it")
    for position, act in enumerate(trial.acts):
        if act.tool != "message_user":
            continue
        without = [a for a in trial.acts[position:] if a.tool != "message_user"]
        play = trial.run("C12:unasked", without, position)
        answer = str(trial.call(position).outcome.get("reply", ""))
        if not play.grade.passed and answer and fold(answer) not in records:
            return Held(True, f"without asking {spec.user.name} it earns {play.reward:g}")
    return Held(False, "what is asked stands in the records too, or is not needed")


def _arriving(trial: Trial) -> list[Any]:
    return [m.values for stage in trial.spec.timeline for m in stage.mutations]


# --- C17 -----------------------------------------------------------------------------------------


class _Source(NamedTuple):
    place: str
    id: str
    field: str


def reconcile(shown: Shown) -> Held:
    """C17: two sources disagree on a field, a rule says which one wins, the other one loses."""
    trial = shown.trial
    rule = rules(trial.spec)
    house = fold(trial.spec.workplace.coworker.mailbox).rpartition("@")[2]
    tried = 0
    for position in positions_of_writes(trial):
        call = trial.call(position)
        tables = call.before
        for name, value in call.arguments.items():
            for leaf in leaves(value):
                if is_choice(call.tool, name, leaf) or not (is_telling(leaf) or is_number(leaf)):
                    continue
                for source, other, rival in _disagreeing(tables, leaf):
                    if not _named(rule, source, rival) or tried >= _MOST_OTHERS:
                        continue
                    if _is_inside(leaf, house) is not _is_inside(other, house):
                        continue  # a colleague's address is no other address of a customer
                    tried += 1
                    changed = [_with(act, leaf, other) for act in trial.acts[position:]]
                    play = trial.run("C17:other", changed, position)
                    if play.reward < trial.reference.reward - 1e-9:
                        return Held(
                            True,
                            f"{source.place}/{source.id} has {leaf}, {rival.place}/{rival.id} has "
                            f"{other}; with the latter it earns {play.reward:g}",
                        )
    return Held(False, "no two sources disagree on what is written")


def _is_inside(value: Any, house: str) -> bool:
    return bool(house) and isinstance(value, str) and fold(value).endswith(f"@{house}")


def _disagreeing(tables: Tables, leaf: Any) -> Iterator[tuple[_Source, Any, _Source]]:
    """Yield where a value stands, and another value for the same thing with where that stands."""
    homes = holders(tables)
    for place, rows in tables.items():
        for record_id, row in rows.items():
            for field, value in row.items():
                if field == id_field(place) or not _is(value, leaf):
                    continue
                source = _Source(place, record_id, field)
                links = {record_id, *_links(row, homes)}
                for other_place, others in tables.items():
                    for other_id, other in others.items():
                        if (other_place, other_id) == (place, record_id):
                            continue
                        if not _linked(other, other_id, links, record_id, homes):
                            continue
                        for rival, rival_field in _rivals(other, field, leaf, record_id):
                            yield source, rival, _Source(other_place, other_id, rival_field)


def _is(value: Any, leaf: Any) -> bool:
    if isinstance(value, LEAVES):
        return type(value) is not bool and same(value, leaf)
    return not isinstance(value, (*LISTS, *OBJECTS)) and same(value, leaf)


_HOLDERS: Final = frozenset({"tables/tables", "sheets/sheets"})


def _links(row: Mapping[str, Any], homes: Mapping[str, Sequence[str]]) -> set[str]:
    """Return the records that a record points to; rows of one register or sheet have nothing more
    in common than that.
    """
    return {
        value
        for name, value in row.items()
        if isinstance(value, str)
        and name.endswith("_id")
        and value in homes
        and _HOLDERS.isdisjoint(homes[value])
    }


def _linked(
    other: Mapping[str, Any],
    other_id: str,
    links: set[str],
    record_id: str,
    homes: Mapping[str, Sequence[str]],
) -> bool:
    """Say whether two records are about the same thing: one points to the other, both to a third,
    or the other's text names the first.
    """
    if other_id in links or links & _links(other, homes):
        return True
    return any(isinstance(v, str) and record_id in v for v in leaves(other))


_EMAIL: Final = re.compile(r"[\w.+-]+@[\w-]+(?:\.[\w-]+)+")


def _rivals(
    other: Mapping[str, Any], field: str, leaf: Any, record_id: str
) -> Iterator[tuple[Any, str]]:
    if isinstance(leaf, str) and "@" in leaf:
        for name, value in other.items():
            for address in _EMAIL.findall(value) if isinstance(value, str) else ():
                if fold(address) != fold(leaf):
                    yield address, name
        return
    found = follow(other, field)
    alike = type(found) is type(leaf) or (is_number(found) and is_number(leaf))
    if alike and found != leaf and found != "":
        yield found, field
    if is_number(leaf) and record_id in other.values():  # the row of a sheet about that record
        for name, value in other.items():
            if is_column(name) and is_number(value) and value != leaf:
                yield value, name


def _named(rule: str, source: _Source, rival: _Source) -> bool:
    """Say whether a rule speaks of either source: that is where it can say which one wins."""
    words = set()
    for place in (source.place, rival.place):
        service, _, collection = place.partition("/")
        words |= {singular(service), singular(collection), *_SPOKEN.get(place, ())}
    return any(re.search(rf"\b{re.escape(word)}", rule) for word in words)


_SPOKEN: Final[Mapping[str, tuple[str, ...]]] = {
    "crm/customers": ("kunde", "kundin", "master record", "stamm"),
    "helpdesk/tickets": ("letter", "anfrage"),
    "mail/messages": ("mail", "letter"),
    "web/pages": ("site", "seite", "source"),
    "kb/articles": ("rule", "article", "artikel"),
    "files/files": ("document", "dokument", "version"),
    "finance/payees": ("payee", "supplier", "lieferant"),
}
"""Collection → how rules call its records beside their own name."""


def _with(act: Act, old: Any, new: Any) -> Act:
    """Return an act with one value in place of another, in its texts as well."""
    if act.tool is None:
        return text_pieces.rewritten(act, (), lambda t: _replaced(t, old, new))
    changed = {k: _swapped(v, old, new) for k, v in act.arguments.items()}
    return act._replace(arguments=changed) if changed != act.arguments else act


def _swapped(value: Any, old: Any, new: Any) -> Any:
    if isinstance(value, OBJECTS):
        return {k: _swapped(v, old, new) for k, v in value.items()}
    if isinstance(value, LISTS):
        return [_swapped(v, old, new) for v in value]
    if isinstance(value, str) and value != old:
        return _replaced(value, old, new)
    return new if type(value) is type(old) and value == old else value


def _replaced(text: str, old: Any, new: Any) -> str:
    piece = {"number": old} if is_number(old) else old
    return text_pieces.replaced(text, piece, lambda _: f"{new:.2f}" if is_number(new) else str(new))
