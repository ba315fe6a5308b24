"""Geometry of the reward ruler: null, probes, mutants and reference on one axis from 0 to 1."""

from collections import Counter
from dataclasses import dataclass
from typing import Final

from tasks_app.core.validation.card import ProofCard

LEFT: Final = 6.0
RIGHT: Final = 318.0
BASE: Final = 72.0
PROBE_LIMIT: Final = 0.2
MUTANT_LIMIT: Final = 0.9
_TALLEST: Final = 42.0
_SQUARE: Final = 4.4
_BINS: Final = 70


@dataclass(frozen=True)
class Square:
    """One mutant (or several, where they would not fit): a square on the stack of its reward."""

    x: str
    y: str
    width: str
    height: str
    survived: bool


@dataclass(frozen=True)
class Tick:
    """A stroke at a reward."""

    x: str
    title: str


@dataclass(frozen=True)
class Ruler:
    """Everything the drawing needs, as numbers in the coordinates of its box."""

    squares: tuple[Square, ...]
    probes: tuple[Tick, ...]
    null: str
    reference: str
    reference_words: str
    reference_anchor: str
    """e where the label stands left of its mark, s where it stands right of it."""
    probe_limit: str
    mutant_limit: str
    mutant_width: str
    mutants_at: str
    words: str
    """The same in a sentence, for those who do not see it."""
    mutants: int


def ruler(card: ProofCard) -> Ruler:
    """Lay a card's rewards out on one axis."""
    judged = [m for m in card.mutants if m.verdict != "equivalent"]
    wrong = [*judged, *(m for m in card.state_mutants if m.verdict != "equivalent")]
    stacks = Counter(
        (round(min(max(m.reward, 0.0), 1.0) * _BINS), m.verdict == "survived") for m in wrong
    )
    heights: Counter[int] = Counter()
    for (slot, _), count in stacks.items():
        heights[slot] += count
    step = min(_SQUARE, _TALLEST / max([*heights.values(), 1]))
    squares = []
    level: Counter[int] = Counter()
    for (slot, survived), count in sorted(stacks.items()):
        for _ in range(count):
            top = BASE - (level[slot] + 1) * step
            level[slot] += 1
            squares.append(
                Square(
                    _text(_x(slot / _BINS) - 1.7),
                    _text(top),
                    "3.4",
                    _text(max(step - 1, step * 0.7)),
                    survived,
                )
            )
    reference = card.reference.reward if card.reference is not None else None
    return Ruler(
        squares=tuple(squares),
        probes=tuple(Tick(_text(_x(p.reward)), f"{p.name} {p.reward:.2f}") for p in card.probes),
        null=_text(_x(card.null.reward)) if card.null is not None else "",
        reference=_text(_x(reference)) if reference is not None else "",
        reference_words="reference",
        reference_anchor="e" if (reference or 0) > 0.3 else "",
        probe_limit=_text(_x(PROBE_LIMIT)),
        mutant_limit=_text(_x(MUTANT_LIMIT)),
        mutant_width=_text(_x(1) - _x(MUTANT_LIMIT)),
        mutants_at=_text(_x(0.55)),
        words=_words(card, [m.reward for m in wrong]),
        mutants=len(wrong),
    )


def _x(reward: float) -> float:
    return LEFT + (RIGHT - LEFT) * min(max(reward, 0.0), 1.0)


def _text(value: float) -> str:
    return f"{value:.1f}"


def _words(card: ProofCard, wrong: list[float]) -> str:
    parts = []
    if card.null is not None:
        parts.append(f"null {card.null.reward:.2f}")
    if card.probes:
        rewards = [probe.reward for probe in card.probes]
        parts.append(
            f"{len(rewards)} cheap probes from {min(rewards):.2f} to {max(rewards):.2f}, limit 0.20"
        )
    if wrong:
        parts.append(f"{len(wrong)} wrong variants from {min(wrong):.2f} to {max(wrong):.2f}")
    if card.reference is not None:
        parts.append(f"reference {card.reference.reward:.2f}")
    return f"Rewards on one scale from 0 to 1: {'; '.join(parts)}" if parts else "No run yet"
