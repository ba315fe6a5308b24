"""Gate N4: what only the right solution knows is nowhere to be read beforehand.

Only the solution knows which records it chose (it found them by reading; an id that it was told is
none), the numbers and days that it computed, and the ids of what it made. None of them stands in a
text at the desk; what is computed or made stands in no note of a record either, no file is called
after any of them, and no file holds a copy of a chosen record that the solution does not read.
Title, tags and the like are never shown, so they are not looked at.
"""

from collections.abc import Iterator, Mapping
from typing import Any, Final, NamedTuple

from tasks_app.core.instants import is_date
from tasks_app.core.predicates import contains_number, contains_piece, fold
from tasks_app.core.program import holds_binding
from tasks_app.core.records import diff
from tasks_app.core.samples import holders, singular
from tasks_app.core.validation.card import Finding
from tasks_app.core.validation.citations import computed
from tasks_app.core.validation.gate import finding, operation, pointer
from tasks_app.core.validation.text_pieces import replaced
from tasks_app.core.validation.told import SMALL, Passage, Told, passages
from tasks_app.core.validation.trial import Trial
from tasks_app.core.values import LEAVES, LISTS, NUMBERS

_FILES: Final = "files/files"
_COPIED: Final = 3
"""Values of a record, beside its id, that make a file a copy of it."""


class Secret(NamedTuple):
    """A value that only the right solution knows."""

    value: Any
    what: str
    """As a person reads it."""
    instead: str
    """What a text says in its place."""
    in_records: bool
    """Whether records must not say it either."""


def leaked(trial: Trial) -> Iterator[Finding]:
    """N4: nothing that only the solution knows can be read beforehand."""
    chosen = chosen_records(trial)
    secrets = [
        *(
            Secret(record, f"{record}, which has to be found", f"the {noun}", in_records=False)
            for record, noun in chosen.items()
        ),
        *_made(trial),
        *_computed(trial),
    ]
    told = passages(trial.spec)
    for secret in secrets:
        for passage in told:
            if says(fold(passage.text), secret.value):
                yield _leak(passage, secret)
    yield from _in_records(trial, [s for s in secrets if s.in_records])
    yield from _in_files(trial, secrets, chosen)


def chosen_records(trial: Trial) -> dict[str, str]:
    """Return the records that the reference's calls name by what it read, with their nouns."""
    homes = holders(trial.seed.ground.start)
    bound = {
        step.id: [name for name, value in step.arguments.items() if holds_binding(value)]
        for step in trial.spec.reference
    }
    found: dict[str, str] = {}
    for act in trial.acts:
        for name in bound.get(act.step, ()):
            value = act.arguments.get(name)
            for item in _leaves(value):
                if isinstance(item, str) and item in homes and any(map(str.isdigit, item)):
                    found.setdefault(item, singular(homes[item][0].partition("/")[2]))
    return found


def _made(trial: Trial) -> Iterator[Secret]:
    """Yield the ids of the records that the reference makes."""
    for change in diff(trial.seed.ground.start, trial.reference.evidence.tables()):
        if change.before is None and any(map(str.isdigit, change.id)):
            noun = singular(change.collection.partition("/")[2])
            if change.collection == _FILES:
                continue  # a path is told, not made
            what = f"{change.id}, the id of a {noun} that is yet to be made"
            yield Secret(change.id, what, f"the {noun}", in_records=True)


def _computed(trial: Trial) -> Iterator[Secret]:
    """Yield the numbers and days that are computed, written, and stand in no record."""
    made = [value for value in _leaves(list(computed(trial))) if _tells(value)]
    if not made:
        return
    written = Told(call.arguments for call in trial.reference.calls if call.changes)
    own = [value for value in dict.fromkeys(made) if written.has(value)]
    if not own:
        return
    records = Told()
    for rows in trial.seed.ground.start.values():
        for row in rows.values():
            records.add([v for v in row.values() if not isinstance(v, str) or " " not in v])
    for value in own:
        if not records.has(value):
            day = isinstance(value, str)
            what = f"the {'day' if day else 'sum'} {value}, which has to be computed"
            yield Secret(value, what, "that day" if day else "the sum", in_records=True)


def _tells(value: Any) -> bool:
    """Say whether a computed value is one that hardly recurs by chance."""
    if isinstance(value, str):
        return is_date(value)
    return isinstance(value, NUMBERS) and not isinstance(value, bool) and abs(value) > SMALL


def _leaves(value: Any) -> Iterator[Any]:
    if isinstance(value, LEAVES):
        yield value
    elif isinstance(value, Mapping):
        for item in value.values():
            yield from _leaves(item)
    elif isinstance(value, LISTS):
        for item in value:
            yield from _leaves(item)


def says(folded: str, value: Any) -> bool:
    """Say whether a folded text states a value."""
    if isinstance(value, str):
        lowered = value.casefold()
        return lowered in folded and contains_piece(folded, value)
    return _may_say(folded, value) and contains_number(folded, value)


def _may_say(text: str, value: float) -> bool:
    """Say quickly whether a text may state a number: its last figures are there."""
    whole, cents = f"{abs(value):.2f}".split(".")
    tail, cents = whole[-3:], cents.rstrip("0")
    return any(f"{tail}{mark}{cents}" in text for mark in ".,") if cents else tail in text


def _leak(passage: Passage, secret: Secret) -> Finding:
    text = replaced(passage.text, _piece(secret.value), lambda _: secret.instead)
    return finding(
        "N4",
        passage.path,
        f"{passage.name} gives {secret.what}",
        hint="describe it instead, so that it has to be found",
        rule="describe_instead",
        title=f"say {secret.instead!r} there",
        patch=[operation("replace", passage.path, text)] if text != passage.text else (),
    )


def _piece(value: Any) -> Any:
    return value if isinstance(value, str) else {"number": value}


def _in_records(trial: Trial, secrets: list[Secret]) -> Iterator[Finding]:
    """Yield what the notes of records and of mutations give away."""
    if not secrets:
        return
    for path, text in _notes(trial):
        folded = text.casefold()
        for secret in secrets:
            if says(folded, secret.value):
                yield _leak(Passage(path, f"a note ({text[:40].strip()}…)", text), secret)


def _notes(trial: Trial) -> Iterator[tuple[str, str]]:
    for service, named in trial.spec.services.items():
        for collection, rows in named.items():
            for number, row in enumerate(rows):
                for name, value in row.items():
                    if type(value) is str and " " in value:
                        yield pointer("services", service, collection, number, name), value
    for number, stage in enumerate(trial.spec.timeline):
        for place, mutation in enumerate(stage.mutations):
            for name, value in mutation.values.items():
                if isinstance(value, str) and " " in value:
                    yield pointer("timeline", number, "mutations", place, "values", name), value


def _in_files(trial: Trial, secrets: list[Secret], chosen: Mapping[str, str]) -> Iterator[Finding]:
    """Yield files that are called after a secret, or hold a copy of a chosen record."""
    files = trial.spec.services.get("files", {}).get("files", ())
    if not files:
        return
    read = {str(value) for call in trial.reference.calls for value in call.arguments.values()}
    start, homes = trial.seed.ground.start, holders(trial.seed.ground.start)
    for number, file in enumerate(files):
        place = pointer("services", "files", "files", number)
        path, text = str(file.get("id", "")), fold(str(file.get("text") or ""))
        if path in read:
            continue
        name = fold(f"{path} {file.get('title') or ''}")
        for secret in secrets:
            if says(name, secret.value) or str(secret.value).casefold() in name:
                yield _beside(place, f"the file {path} is called after {secret.what}")
        for record in chosen:
            row = start[homes[record][0]][record]
            if record.casefold() in text and _held(row, text) >= _COPIED:
                yield _beside(place, f"the file {path} holds a copy of {record}")


def _held(row: Mapping[str, Any], text: str) -> int:
    values = {v for v in _leaves(row) if isinstance(v, str) and len(v) > 2}
    return sum(value.casefold() in text for value in values) - 1


def _beside(place: str, message: str) -> Finding:
    return finding(
        "N4",
        place,
        message,
        hint="what a service holds is read through its tools",
        rule="remove_copy",
        title="take the file away",
        patch=[operation("remove", place)],
    )
