"""Gate K3: what is graded is said beforehand, and follows from something that can be named.

A constraint's sentence stands in its policy, or at least somewhere at the desk. A field that an
outcome or report check expects follows from a policy, a record or a sentence: `because` names it.
Where the value plainly stands at the desk, in a record that was read, or is what the reference
computes from such values, or is the state that an act which the rules speak of leads to, the
citation is derived and need not be written.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple

from tasks_app.core.checks.answer import Answer
from tasks_app.core.checks.base import BaseCheck
from tasks_app.core.checks.event_match import EventMatch
from tasks_app.core.checks.message_match import MessageMatch
from tasks_app.core.checks.number_close import NumberClose
from tasks_app.core.checks.record_match import RecordMatch
from tasks_app.core.checks.table_rows import TableRows
from tasks_app.core.checks.text_match import TextMatch
from tasks_app.core.evidence import is_reference
from tasks_app.core.functions import FunctionError
from tasks_app.core.instants import is_date, is_instant
from tasks_app.core.predicates import PredicateError, fold, is_operators
from tasks_app.core.program import BindingError, bind, is_binding
from tasks_app.core.spec import TaskSpec
from tasks_app.core.validation.card import Finding
from tasks_app.core.validation.gate import finding, operation, pointer
from tasks_app.core.validation.known import nearest, record_ids
from tasks_app.core.validation.saying import field_is
from tasks_app.core.validation.text_pieces import number_of
from tasks_app.core.validation.told import Told, passages, reading, shown_by, told_at_the_desk
from tasks_app.core.validation.trial import Trial
from tasks_app.core.values import LEAVES, LISTS, NUMBERS, OBJECTS, pattern

_OPERANDS: Final = frozenset(
    {"eq", "in", "gt", "ge", "lt", "le", "between", "contains_any", "contains_all"}
)
"""Operators whose operands are values that somebody has to have said."""


# --- disclosed -----------------------------------------------------------------------------------


def disclosed(spec: TaskSpec) -> Iterator[Finding]:
    """K3, first half: every constraint is said in its policy, or elsewhere at the desk."""
    policies = spec.workplace.policies
    for i, rule in enumerate(spec.constraints):
        sentence = _plain(rule.sentence)
        named = spec.policy(rule.policy)
        if named is not None and sentence in _plain(f"{named.title} {named.text}"):
            continue
        other = next((p for p in policies if sentence in _plain(f"{p.title} {p.text}")), None)
        path = pointer("constraints", i, "sentence")
        if other is not None:
            yield finding(
                "K3",
                pointer("constraints", i, "policy"),
                f"{rule.id} names policy {rule.policy}, but its sentence stands in {other.id}",
                hint=f"name {other.id}",
                rule="cite_right_policy",
                patch=[operation("replace", pointer("constraints", i, "policy"), other.id)],
            )
        elif not any(sentence in _plain(passage.text) for passage in passages(spec)):
            yield finding(
                "K3",
                path,
                f"{rule.id} grades a rule that nobody is told: {rule.sentence!r} stands neither in "
                "a policy nor in the request",
                hint="write the sentence into the policy, or the policy's words into the rule",
                rule="append_sentence",
                title="write the sentence into the policy",
                patch=_appended(spec, rule.policy, rule.sentence),
            )


def _plain(text: str) -> str:
    return fold(text).strip().rstrip(".;,")


def _appended(spec: TaskSpec, policy: str, sentence: str) -> list[dict[str, Any]]:
    """Return a patch that adds a sentence to a policy, the first one where there is no such."""
    ids = [p.id for p in spec.workplace.policies]
    if not ids:
        document = {"id": policy, "title": "Rules", "text": _ended(sentence)}
        return [operation("add", "/workplace/policies", [document])]
    place = ids.index(policy) if policy in ids else 0
    text = f"{spec.workplace.policies[place].text.rstrip()} {_ended(sentence)}".strip()
    return [operation("replace", pointer("workplace", "policies", place, "text"), text)]


def _ended(sentence: str) -> str:
    return sentence if sentence.rstrip().endswith((".", "!", "?")) else f"{sentence.rstrip()}."


# --- entailed ------------------------------------------------------------------------------------


class Expected(NamedTuple):
    """A field that a check expects: any one of some values is enough."""

    field: str
    """The key under which `because` cites it."""
    path: tuple[str | int, ...]
    """Where in the check it stands."""
    values: tuple[Any, ...]


def expectations(check: BaseCheck) -> Iterator[Expected]:
    """Yield what an outcome or report check expects, field by field."""
    if isinstance(check, RecordMatch):
        for part, body in (("where", check.where), ("expect", check.expect)):
            for name, predicate in body.items():
                for value in _operands(predicate):
                    yield Expected(name, (part, name), (value,))
    elif isinstance(check, MessageMatch | Answer | TextMatch):
        if isinstance(check, MessageMatch):
            for name in check.to:
                yield Expected("to", ("to",), (name,))
        for number, group in enumerate(check.text):
            yield Expected("text", ("text", number), tuple(map(_piece, group)))
    elif isinstance(check, NumberClose):
        yield Expected("target", ("target",), (_piece(check.target),))
    elif isinstance(check, EventMatch):
        for name in check.attendees:
            yield Expected("attendees", ("attendees",), (name,))
        for moment in check.window:
            yield Expected("window", ("window",), (moment[:10],))
    elif isinstance(check, TableRows):
        for number, row in enumerate(check.rows):
            for name, predicate in row.items():
                for value in _operands(predicate):
                    yield Expected(name, ("rows", number, name), (value,))


def _operands(predicate: Any) -> Iterator[Any]:
    if is_reference(predicate):
        return
    if not isinstance(predicate, LEAVES) and is_operators(predicate):
        for operator, operand in predicate.items():
            if operator in _OPERANDS:
                yield from _plain_values(operand)
    else:
        yield from _plain_values(predicate)


def _plain_values(value: Any) -> Iterator[Any]:
    if isinstance(value, LEAVES):
        yield value
    elif is_reference(value):
        return
    elif isinstance(value, OBJECTS):
        for item in value.values():
            yield from _plain_values(item)
    elif isinstance(value, LISTS):
        for item in value:
            yield from _plain_values(item)


def _piece(piece: Any) -> Any:
    """Return the value that a text piece asks for; None for one that is found in the run."""
    number = number_of(piece)
    if number is not None:
        return number
    return piece if isinstance(piece, str) else None


def entailed(trial: Trial) -> Iterator[Finding]:
    """K3, second half: every expected field follows from something that exists."""
    spec = trial.spec
    sources = Sources(trial)
    for i, check in enumerate(spec.checks):
        if check.component not in ("outcome", "report") or not check.pays:
            continue
        wanted = list(expectations(check))
        yield from _citations(sources, i, check, wanted)
        for expected in wanted:
            if expected.field in check.because or any(map(sources.entail, expected.values)):
                continue
            value = expected.values[0]
            yield finding(
                "K3",
                pointer("checks", i, *expected.path),
                f"{check.id} expects {expected.field} {value!r}, which follows from no policy, no "
                "record that is read and no sentence of the request",
                hint="say in `because` what it follows from, or tell the coworker",
                **_made_known(spec, i, check, expected),
            )


def _citations(
    sources: "Sources", i: int, check: BaseCheck, wanted: Sequence[Expected]
) -> Iterator[Finding]:
    fields = {expected.field for expected in wanted}
    for field, cited in check.because.items():
        path = pointer("checks", i, "because", field)
        if field not in fields:
            close = nearest(field, fields - check.because.keys())
            moved = pointer("checks", i, "because", close) if close else ""
            yield finding(
                "K3",
                path,
                f"{check.id} says why {field}, but expects no such field",
                hint=f"did you mean {close}?" if close else "take the citation out",
                rule="relink_citation" if close else "drop_citation",
                patch=[
                    operation("remove", path),
                    *([operation("add", moved, cited)] if close else ()),
                ],
            )
        elif not sources.exists(cited):
            values = [e.values for e in wanted if e.field == field]
            plain = all(any(map(sources.entail, options)) for options in values)
            close = nearest(cited, [p.id for p in sources.spec.workplace.policies])
            patch = []
            if plain:
                patch = [operation("remove", path)]
            elif close is not None:
                patch = [operation("replace", path, close)]
            yield finding(
                "K3",
                path,
                f"{check.id} rests {field} on {cited!r}, which is no policy, no record and no "
                "sentence of this task",
                hint="cite what it follows from",
                rule="relink_citation",
                title="leave the citation out: the value plainly stands there"
                if plain
                else f"cite {close}",
                patch=patch,
            )


def _made_known(spec: TaskSpec, i: int, check: BaseCheck, expected: Expected) -> dict[str, Any]:
    """Return the repair of a field that follows from nothing: a text is said in the policy, a
    number that nobody can know is no longer asked for.
    """
    value = expected.values[0]
    place = pointer("checks", i, *expected.path)
    body = check.plain.get(str(expected.path[0]))
    if isinstance(value, str) and spec.workplace.policies:
        policy = spec.workplace.policies[0].id
        sentence = field_is(expected.field, value)
        because = {**check.because, expected.field: policy}
        patch = [
            *_appended(spec, policy, sentence),
            operation("add", pointer("checks", i, "because"), because),
        ]
        return {"rule": "append_sentence", "title": f"say in {policy}: {sentence}", "patch": patch}
    if isinstance(body, (*OBJECTS, *LISTS)) and len(body) > 1 and len(expected.path) == 2:
        title = f"let {check.id} no longer expect {expected.field} {value}"
        return {
            "rule": "drop_field",
            "title": title,
            "patch": [operation("remove", place)],
        }
    return {}


class Sources:
    """What values of a task can follow from."""

    def __init__(self, trial: Trial):
        self.spec = trial.spec
        self._desk = told_at_the_desk(trial.spec)
        self._read = [shown_by(call) for call in trial.reference.calls if reading(call)]
        self._trial = trial
        self._computed: Told | None = None
        self._records: Told | None = None

    def entail(self, value: Any) -> bool:
        """Say whether a value follows from what is told, read or computed."""
        return (
            self._desk.says(value)
            or any(told.says(value) for told in self._read)
            or (isinstance(value, str) and self._desk.hints(value))
            or self._computed_values().says(value)
            or self._all_records().says(value)
        )

    def _computed_values(self) -> Told:
        """Return what the reference's functions gave, and what its acts set of themselves."""
        if self._computed is None:
            self._computed = Told(computed(self._trial))
            self._computed.add(list(set_by_acts(self._trial)))
        return self._computed

    def _all_records(self) -> Told:
        if self._records is None:
            self._records = Told((self.spec.services,))
            self._records.add([m.values for s in self.spec.timeline for m in s.mutations])
        return self._records

    def exists(self, cited: str) -> bool:
        """Say whether what a citation names is there: a policy, a record's address, a sentence."""
        spec = self.spec
        if spec.policy(cited) is not None:
            return True
        if cited.count("/") == 2 and " " not in cited.partition("#")[0]:
            return self._is_record(cited)
        wanted = _plain(cited)
        if any(wanted in _plain(passage.text) for passage in passages(spec)):
            return bool(wanted)
        facts = spec.user.facts if spec.user is not None else ()
        return bool(wanted) and (
            any(wanted in _plain(fact.text) for fact in facts) or self._all_records().says(cited)
        )

    def _is_record(self, cited: str) -> bool:
        try:
            found = pattern(cited)
        except ValueError:
            return False
        ids = [i for i in record_ids(self.spec, found.collection) if found.matches_id(i)]
        if not ids or found.fields is None:
            return bool(ids)
        rows = self._trial.seed.ground.start.get(found.collection, {})
        return any(name in rows.get(i, {}) for i in ids for name in found.fields)


def computed(trial: Trial) -> Sequence[Any]:
    """Return what the functions of the reference's bindings gave."""
    if trial.computed is None:
        trial.computed = tuple(_computed(trial))
    return trial.computed


def _computed(trial: Trial) -> Iterator[Any]:
    results = trial.program.results
    stage = 0
    for step in trial.spec.reference:
        now = trial.spec.stages[min(stage, len(trial.spec.stages) - 1)].at
        scope = {**results, "clock": {"now": now, "today": now[:10]}}
        for node in functions_of([step.arguments, step.each, step.reply]):
            try:
                yield bind(node, scope)
            except (BindingError, FunctionError, PredicateError):
                continue  # it hangs on the item of an `each`: its calls show it
        if step.each is not None and functions_of(step.arguments):
            yield [
                {k: v for k, v in act.arguments.items() if functions_of(step.arguments.get(k))}
                for act in trial.acts
                if act.step == step.id
            ]
        if step.tool is None:
            stage += 1


def set_by_acts(trial: Trial) -> Iterator[Any]:
    """Yield the numbers, days and times that a write set without being given them: the end of a
    meeting that was moved. The words that it sets (a status) have to be spoken of.
    """
    for call in trial.reference.calls:
        if not call.changes:
            continue
        given = Told((call.arguments,))
        for change in call.changes:
            after: Mapping[str, Any] = change.after or {}
            for name in after and change.fields():
                value = after.get(name)
                timely = isinstance(value, str) and (is_date(value) or is_instant(value))
                if (timely or isinstance(value, NUMBERS)) and not given.says(value):
                    yield value


def functions_of(value: Any) -> list[Mapping[str, Any]]:
    """Return the function bindings inside a value, the innermost too."""
    found: list[Mapping[str, Any]] = []
    _add_functions(value, found)
    return found


def _add_functions(value: Any, found: list[Mapping[str, Any]]) -> None:
    if isinstance(value, LEAVES):
        return
    if isinstance(value, OBJECTS):
        if "fn" in value and is_binding(value):
            found.append(value)
        for item in value.values():
            _add_functions(item, found)
    elif isinstance(value, LISTS):
        for item in value:
            _add_functions(item, found)
