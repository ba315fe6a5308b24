"""What a coworker is told and shown: the texts at the desk, and the values that reads bring up."""

import re
from collections.abc import Iterable, Sequence
from typing import Any, Final, NamedTuple

from tasks_app.core.calls import Call
from tasks_app.core.memo import Memo
from tasks_app.core.predicates import TOLERANCE, compile_piece, fold, numbers_in
from tasks_app.core.services.catalog import tools
from tasks_app.core.spec import TaskSpec
from tasks_app.core.validation.gate import pointer
from tasks_app.core.values import LEAVES, LISTS, NUMBERS, OBJECTS

SMALL: Final = 12
"""Whole numbers up to here are counts and lines, told by looking."""
_WORD: Final = re.compile(r"[^\W\d_]{3,}")
_IDLE: Final = frozenset({"and", "for", "not", "out", "the", "was", "has", "all", "its", "with"})


class Passage(NamedTuple):
    """A text of the desk: where it stands in the spec, and what it says."""

    path: str
    name: str
    """What a person calls it."""
    text: str


def passages(spec: TaskSpec) -> Sequence[Passage]:
    """Return the texts that the policy is given, in the order of the spec."""
    return _passages.of(spec)


def _read_passages(spec: TaskSpec) -> tuple[Passage, ...]:
    place = spec.workplace
    found = [
        Passage("/workplace/organisation", "the organisation", place.organisation),
        Passage("/workplace/coworker/role", "the role", place.coworker.role),
        Passage("/workplace/coworker/mailbox", "the mailbox", place.coworker.mailbox),
        *(
            Passage(f"/workplace/requester/{field}", f"the requester's {field}", text)
            for field, text in _person(place.requester)
        ),
        *(
            Passage(pointer("workplace", "people", i, field), f"the {field} of {p.name}", text)
            for i, p in enumerate(place.people)
            for field, text in _person(p)
        ),
    ]
    for i, policy in enumerate(place.policies):
        home = pointer("workplace", "policies", i)
        found.append(Passage(f"{home}/title", f"the title of policy {policy.id}", policy.title))
        found.append(Passage(f"{home}/text", f"policy {policy.id}", policy.text))
    found.append(
        Passage("/workplace/output_contract", "the output contract", place.output_contract)
    )
    found.append(Passage("/request/text", "the request", spec.request.text))
    for i, attached in enumerate(spec.request.attachments):
        path = pointer("request", "attachments", i, "name")
        found.append(Passage(path, f"the name of attachment {i + 1}", attached.name))
    for i, stage in enumerate(spec.timeline):
        path = pointer("timeline", i, "notification")
        found.append(Passage(path, f"the notification of {stage.id}", stage.notification or ""))
    return tuple([passage for passage in found if passage.text])


_passages: Final = Memo(_read_passages, most=8)


def _person(person: Any) -> list[tuple[str, str]]:
    return [("name", person.name), ("role", person.role), ("mailbox", person.mailbox)]


class Told:
    """Values and texts that were said or shown, to be asked whether they say a value."""

    def __init__(self, values: Iterable[Any] = ()):
        self._exact: set[Any] = set()
        self._texts: list[str] = []
        self._words: set[str] | None = None
        self._numbers: list[float] = []
        """What the first texts state, as far as they were asked for numbers."""
        self._read = 0
        """How many those are."""
        self.add(tuple(values))

    def add(self, value: Any) -> None:
        """Take in a value with all that is inside it."""
        exact, waiting = self._exact, [value]
        while waiting:
            value = waiting.pop()
            if isinstance(value, str):
                folded = fold(value)
                if folded in exact:
                    continue
                exact.add(folded)
                if " " in folded:
                    self._texts.append(folded)
                elif folded[10:11] == "t" and folded[:4].isdigit():
                    exact.add(folded[:10])  # the day of a moment
            elif isinstance(value, LEAVES):
                if isinstance(value, NUMBERS) and not isinstance(value, bool):
                    exact.add(round(float(value), 2))
            elif isinstance(value, LISTS):
                waiting.extend(value)
            elif isinstance(value, OBJECTS):
                waiting.extend(value.values())

    def says(self, value: Any) -> bool:
        """Say whether a number or a text was told; small counts always were."""
        if isinstance(value, bool) or value is None:
            return True
        if isinstance(value, NUMBERS):
            number = float(value)
            if number.is_integer() and abs(number) <= SMALL:
                return True
            if round(number, 2) in self._exact:
                return True
            for text in self._texts[self._read :]:
                self._numbers.extend(numbers_in(text))
            self._read = len(self._texts)
            return any(abs(stated - number) <= TOLERANCE for stated in self._numbers)
        folded = fold(str(value)).strip()
        if not folded or folded in self._exact:
            return True
        spaced = folded.replace("_", " ")
        if not self._texts:
            return False
        tests = [compile_piece(w) for w in ((folded, spaced) if spaced != folded else (folded,))]
        return any(test(text) for text in self._texts for test in tests)

    def has(self, value: Any) -> bool:
        """Say whether exactly this value was taken in, on its own."""
        if isinstance(value, str):
            return fold(value) in self._exact
        return round(float(value), 2) in self._exact

    def names(self, value: str) -> bool:
        """Say whether a word of a name is told: a first name, a surname."""
        return not self._told_words().isdisjoint(_WORD.findall(fold(value)))

    def _told_words(self) -> set[str]:
        if self._words is None:
            self._words = {word for text in self._texts for word in _WORD.findall(text)}
        return self._words

    def hints(self, value: str) -> bool:
        """Say whether a word of a code is told: `on_hold` where something is to be held."""
        words = self._told_words()
        for part in re.split(r"[\W_]+", fold(value)):
            if len(part) < 3 or part in _IDLE or not part.isalpha():
                continue
            stem = part[: max(4, len(part) - 3)]
            if any(word.startswith(stem) for word in words):
                return True
        return False


def told_at_the_desk(spec: TaskSpec) -> Told:
    """Return what the policy is told before it looks anything up, and what the colleague knows."""
    told = Told(passage.text + " " for passage in passages(spec))
    if spec.user is not None:
        told.add([f"{fact.text} " for fact in spec.user.facts])
    return told


def shown_by(call: Call) -> Told:
    """Return what the answer to a call says; several gates ask the same calls."""
    return _shown.of(call)


_shown: Final[Memo[Call, Told]] = Memo(lambda call: Told((call.outcome,)), most=64)


def reading(call: Call) -> bool:
    """Say whether a call brought something up without changing anything."""
    known = tools().get(call.tool)
    return call.ok and known is not None and not known.facts.writes
