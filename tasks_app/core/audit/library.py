"""Defects that show beside other texts only: what repeats a task of the library (gate V1) or a
prompt of a benchmark (V2), and what is held back and shares with what is trained on (V4).
"""

import random
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from studio.lib.similarity import signature, similarity
from tasks_app.core.audit.planter import Kind, Planted, Planter, Written
from tasks_app.core.audit.subjects import Subject
from tasks_app.core.spec import SpecError, TaskSpec, load_spec
from tasks_app.core.validation.contamination import Contamination, Overlap, print_of
from tasks_app.core.validation.proof import Neighbour, Neighbours, prove
from tasks_app.core.validation.splits import identity_of, leaks, moved

_WORTH_NAMING: Final = 0.3


def library_of(written: Written) -> Neighbours:
    """Return a library that holds one task."""
    text = load_spec(written).request.text

    def nearest(spec: TaskSpec) -> Neighbour | None:
        alike = similarity(signature(text), signature(spec.request.text))
        return Neighbour("T-AUDT", alike) if alike >= _WORTH_NAMING else None

    return nearest


def benchmark_of(written: Written) -> Contamination:
    """Return a benchmark whose one prompt is the request of a task."""
    prompt = print_of(load_spec(written).request.text)

    def look(spec: TaskSpec) -> Overlap | None:
        own = print_of(spec.request.text)
        grams = [words for key, words in own.grams.items() if key in prompt.grams]
        shared = [words for key, words in own.shingles.items() if key in prompt.shingles]
        if not grams and not shared:
            return None
        share = len(shared) / max(len(own.shingles), 1)
        return Overlap("audit", "prompt", len(grams), share, (grams or shared)[0])

    return look


@dataclass(frozen=True, slots=True)
class LibraryPlanter:
    """A defect that the sound task's own presence in the library, or in a benchmark, makes."""

    gate: str
    name: str
    title: str
    change: Callable[[Written, random.Random], None]
    """What the copy has of its own."""
    kind: Kind = "library"
    repairable: bool = False
    also: tuple[str, ...] = ()
    upstream: str = ""

    def try_out(self, subject: Subject, rng: random.Random) -> Planted | None:
        """Prove the copy beside the task that it was made from."""
        data = subject.copy()
        self.change(data, rng)
        try:
            spec = load_spec(data)
        except SpecError:
            return None
        known = subject.copy()
        if self.gate == "V1":
            found = prove(spec, neighbours=library_of(known)).findings
        else:
            found = prove(spec, benchmarks=benchmark_of(known)).findings
        gates = tuple(dict.fromkeys(one.gate for one in found))
        words = "; ".join(f"{one.gate} {one.message}" for one in found[:3])
        return Planted(self.gate in gates, gates, None, words, data)


def _other_slug(data: Written, _rng: random.Random) -> None:
    data["slug"] = f"{data['slug'][:90]}-again"
    data["title"] = f"Once more: {data['title']}"[:300]


def _other_seed(data: Written, rng: random.Random) -> None:
    data["seed"] = rng.randrange(2**50)
    data["limits"] = {**data.get("limits", {}), "seconds": 900}


def _one_word(data: Written, _rng: random.Random) -> None:
    data["request"]["text"] = f"{data['request']['text']} Please."


def _capitals(data: Written, _rng: random.Random) -> None:
    data["request"]["text"] = data["request"]["text"].upper()


def _nothing(_data: Written, _rng: random.Random) -> None:
    pass


def _wrapped(data: Written, _rng: random.Random) -> None:
    data["request"]["text"] = f"One more thing. {data['request']['text']} Whenever you can."


def _hard_wrapped(data: Written, _rng: random.Random) -> None:
    data["request"]["text"] = data["request"]["text"].replace(" ", "\n")


def _unmarked(data: Written, _rng: random.Random) -> None:
    text = data["request"]["text"]
    data["request"]["text"] = "".join(sign for sign in text if sign not in ",.;:!?") + "."


def _other_words(data: Written, rng: random.Random) -> None:
    """Every sixth word is another one: runs of 13 are gone, most of three are not."""
    words = data["request"]["text"].split()
    for place in range(rng.randrange(9, 12), len(words), 12):
        if words[place].islower():
            words[place] = "indeed"
    data["request"]["text"] = " ".join(words)


@dataclass(frozen=True, slots=True)
class SplitPlanter:
    """A task that is held back and shares something with one that is trained on."""

    name: str
    title: str
    change: Callable[[Written, random.Random], None]
    """What the held one has of its own."""
    gate: str = "V4"
    kind: Kind = "library"
    repairable: bool = True
    also: tuple[str, ...] = ()
    upstream: str = ""

    def try_out(self, subject: Subject, rng: random.Random) -> Planted | None:
        """Hold a changed copy back, train on the sound one."""
        data = subject.copy()
        self.change(data, rng)
        try:
            held, trained = identity_of(load_spec(data)), identity_of(load_spec(subject.copy()))
        except SpecError:
            return None
        if not trained:
            return None  # small numbers and common names recur by chance: it is nobody's
        found = leaks({"trained": trained}, {"held": held})
        whole, _ = moved({"trained": trained, "held": held}, ["held"])
        words = "; ".join(leak.token for leak in found[:3])
        gates = (self.gate,) if found else ()
        return Planted(bool(found), gates, "trained" in whole if found else None, words, data)


def _reordered(data: Written, _rng: random.Random) -> None:
    for tables in data["services"].values():
        for rows in tables.values():
            rows.reverse()
    data["tools"] = data["tools"][::-1]


LIBRARY: Final[tuple[Planter, ...]] = (
    LibraryPlanter("V1", "other_slug", "The same task under another name", _other_slug),
    LibraryPlanter("V1", "other_seed", "The same task with another seed", _other_seed),
    LibraryPlanter("V1", "one_word", "The same request with a word more", _one_word),
    LibraryPlanter("V1", "capitals", "The same request in capitals", _capitals),
    LibraryPlanter("V1", "reordered", "The same task in another order", _reordered),
    LibraryPlanter("V2", "verbatim", "A benchmark's prompt, word for word", _nothing),
    LibraryPlanter("V2", "wrapped", "A benchmark's prompt between two sentences", _wrapped),
    LibraryPlanter("V2", "broken_lines", "A benchmark's prompt with other line ends",
                   _hard_wrapped),
    LibraryPlanter("V2", "unmarked", "A benchmark's prompt without its commas", _unmarked),
    LibraryPlanter("V2", "other_words", "A benchmark's prompt with a word changed here and there",
                   _other_words),
    SplitPlanter("same_task", "The held task is a trained one under another name", _other_slug),
    SplitPlanter("other_request", "The held task asks otherwise about the same records", _wrapped),
    SplitPlanter("other_order", "The held task has the same records in another order", _reordered),
)  # fmt: skip
"""All beside the task that they repeat."""
