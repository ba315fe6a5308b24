"""When two runs end alike: which fields of a record count, and where two ends differ."""

from collections.abc import Iterable, Iterator, Set

from tasks_app.core.calls import Tables
from tasks_app.core.evidence import Evidence
from tasks_app.core.records import diff
from tasks_app.core.samples import id_field
from tasks_app.core.validation import near_misses
from tasks_app.core.validation.trial import Trial
from tasks_app.core.values import Change, Record, canonical, pattern


class Masks:
    """Which fields of a record do not count: free by the spec, filled by a handler, free text."""

    def __init__(self, trial: Trial):
        self._free = [pattern(free.address) for free in trial.spec.free]
        self._filled: dict[str, set[str]] = {}
        self._text: dict[str, set[str]] = {}
        self._known: dict[tuple[str, str], frozenset[str] | None] = {}
        for facts in trial.seed.ground.tools.values():
            for field in facts.fills:
                place, _, name = field.partition("#")
                self._filled.setdefault(place, set()).add(name)
            if facts.writes:
                self._text.setdefault(facts.service, set()).update(facts.text)

    def free(self, place: str, record_id: str) -> frozenset[str] | None:
        """Return the fields that the spec or a handler frees; None for the whole record."""
        key = place, record_id
        if key not in self._known:
            self._known[key] = self._freed(place, record_id)
        return self._known[key]

    def _freed(self, place: str, record_id: str) -> frozenset[str] | None:
        names = set(self._filled.get(place, ()))
        for free in self._free:
            if free.covers_record(place, record_id):
                if free.fields is None:
                    return None
                names |= free.fields
        return frozenset(names)

    def hides(self, change: Change, name: str) -> bool:
        """Say whether a field of a changed record does not count."""
        free = self.free(change.collection, change.id)
        if free is None or name in free:
            return True
        texts = self._text.get(change.collection.partition("/")[0], ())
        return name in texts and all(
            near_misses.is_wording(record.get(name))
            for record in (change.before, change.after)
            if record is not None
        )

    def content(self, change: Change, record: Record) -> bytes:
        """Return what counts of a record that was made in the run: its own id does not."""
        key = id_field(change.collection)
        return canonical(
            {k: v for k, v in record.items() if k != key and not self.hides(change, k)}
        )


def differences(masks: Masks, right: Evidence, wrong: Evidence) -> list[str]:
    """Return the addresses in which a run ends otherwise than the reference, per stage.

    A record that was made in the run, on whatever day, is known by what it holds, not by its id.
    """
    found: list[str] = []
    for number, (expected, seen) in enumerate(zip(right.stages, wrong.stages, strict=False)):
        if expected.closed is seen.closed:
            continue
        changes = diff(expected.closed, seen.closed)
        made = {*_made(right, number), *_made(wrong, number)} if number else frozenset()
        found.extend(_unlike(masks, expected.opened, seen.opened, changes, made))
    return found


def _made(run: Evidence, before: int) -> Iterator[tuple[str, str]]:
    """Yield collection and id of each record that a run made before a stage."""
    for _, changes in run.changes()[:before]:
        for change in changes:
            if change.kind == "add":
                yield change.collection, change.id


def _unlike(
    masks: Masks,
    opened: Tables,
    other: Tables,
    changes: Iterable[Change],
    earlier: Set[tuple[str, str]],
) -> Iterator[str]:
    made: dict[str, tuple[list[bytes], list[bytes], list[str]]] = {}
    for change in changes:
        if masks.free(change.collection, change.id) is None:
            continue
        old = opened.get(change.collection, {})
        known = change.id in old or change.id in other.get(change.collection, {})
        if known and (change.collection, change.id) not in earlier:
            fields = [name for name in change.fields() if not masks.hides(change, name)]
            if fields:
                yield f"{change.address}#{','.join(fields)}"
            continue
        lists = made.setdefault(change.collection, ([], [], []))
        for record, contents in ((change.before, lists[0]), (change.after, lists[1])):
            if record is not None:
                contents.append(masks.content(change, record))
        lists[2].append(change.address)
    for first, second, places in made.values():
        if sorted(first) != sorted(second):
            yield from places
