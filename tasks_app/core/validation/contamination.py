"""Gate V2: what a task asks stands in no benchmark that somebody has supplied here.

A text is cut into words (each Chinese, Japanese or Korean character is one) and kept as hashes of
all its runs of 13 words and of all its runs of three; a text of fewer words is one run. Sharing one
long run, or half of the short ones, is contamination.
"""

import functools
import hashlib
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Final, NamedTuple

from tasks_app.core.spec import TaskSpec
from tasks_app.core.validation.card import Finding
from tasks_app.core.validation.gate import finding

GRAM_WORDS: Final = 13
SHINGLE_WORDS: Final = 3
SHARED: Final = 0.5
"""Share of a text's short runs from which on it counts as taken over."""
LEAST_SHINGLES: Final = 8
"""Texts of fewer short runs share half of them by chance; only their long run counts."""
_WORD: Final = re.compile(
    r"[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af]"
    r"|(?:(?![\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af])\w)+"
)


class Print(NamedTuple):
    """A text as hashes of 64 bits with sign; hash → the words it stands for."""

    grams: Mapping[int, str]
    shingles: Mapping[int, str]


class Overlap(NamedTuple):
    """The item of a benchmark that shares most with a task."""

    benchmark: str
    item: str
    grams: int
    """Long runs shared."""
    share: float
    """Share of the task's short runs that the item has, 0 to 1."""
    passage: str
    """The words of the task that are shared first."""

    @property
    def is_contaminated(self) -> bool:
        """Whether that is too much."""
        return self.grams > 0 or self.share >= SHARED


Contamination = Callable[[TaskSpec], Overlap | None]
"""Looks a task up among the benchmarks: the item that shares most, None if none shares enough to
name."""


def print_of(text: str) -> Print:
    """Return the hashes of a text."""
    words = _WORD.findall(text.lower())
    return Print(dict(_runs(words, GRAM_WORDS)), dict(_runs(words, SHINGLE_WORDS)))


def prints_of(spec: TaskSpec) -> tuple[Print, ...]:
    """Return the hashes of all that a task asks: the request, the notifications of later days."""
    texts = [spec.request.text, *(stage.notification or "" for stage in spec.timeline)]
    return tuple(print_of(text) for text in texts if text)


def _runs(words: list[str], size: int) -> Iterator[tuple[int, str]]:
    if not words:
        return
    for start in range(max(1, len(words) - size + 1)):
        run = " ".join(words[start : start + size])
        yield _hash(run), run


@functools.lru_cache(maxsize=65_536)
def _hash(run: str) -> int:
    digest = hashlib.blake2b(run.encode("utf-8", errors="replace"), digest_size=8).digest()
    return int.from_bytes(digest, "big", signed=True)


def overlap(
    own: Print, grams: frozenset[int], shingles: frozenset[int], benchmark: str, item: str
) -> Overlap:
    """Return what a text shares with an item."""
    long = [run for key, run in own.grams.items() if key in grams]
    short = [run for key, run in own.shingles.items() if key in shingles]
    counts = len(own.shingles) >= LEAST_SHINGLES
    share = len(short) / len(own.shingles) if counts else 0.0
    return Overlap(benchmark, item, len(long), share, next(iter([*long, *short]), ""))


def uncontaminated(found: Overlap | None) -> Iterator[Finding]:
    """V2: no benchmark that was supplied has what the task asks."""
    if found is None or not found.is_contaminated:
        return
    runs = f"{found.grams} run{'s' * (found.grams != 1)} of {GRAM_WORDS} words"
    yield finding(
        "V2",
        "/request/text",
        f"the request shares {runs} and {found.share:.0%} of its short runs with "
        f"“{found.item}” of {found.benchmark}: “{found.passage}”",
        hint="say it in other words; a task that came from a benchmark stays evaluation only",
    )
