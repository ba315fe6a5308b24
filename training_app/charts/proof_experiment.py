"""The figure of the proof experiment as one SVG file: two training lines, held-out success.

It is drawn here and not by the page's Plotly, since a command has no browser. Colours are those of
the tokens, in both themes: the file follows the reader's.
"""

from collections.abc import Iterable, Sequence
from html import escape
from typing import Final, NamedTuple

from training_app.queries.proof_experiment import Arm, HeldOut, Spot, last_fifth

WIDTH: Final = 1080
HEIGHT: Final = 330
_STYLE: Final = """
text{font:12px ui-sans-serif,-apple-system,"Segoe UI","Liberation Sans",Arial,sans-serif}
text{fill:#3e4d56}
.t{font-weight:600;fill:#15212a}.s{font-size:11px;fill:#566570}.g{stroke:#dde3e4}.a{stroke:#566570}
.proven{stroke:#1d5cc0;fill:none;stroke-width:2}.proven-b,.proven-d{fill:#1d5cc0}
.unproven{stroke:#ad2f17;fill:none;stroke-width:2;stroke-dasharray:6 3}
.unproven-b,.unproven-d{fill:#ad2f17}.proven-b,.unproven-b{opacity:.14}
.proven-n{fill:#1d5cc0;font-weight:600}.unproven-n{fill:#ad2f17;font-weight:600}
.bg{fill:#f8f9f9}
@media(prefers-color-scheme:dark){text{fill:#b4c1c7}.t{fill:#e4ebee}.s{fill:#92a1a9}
.g{stroke:#263036}.a{stroke:#92a1a9}.proven{stroke:#7fb0ff}.proven-b,.proven-d,.proven-n{fill:#7fb0ff}
.unproven{stroke:#ff9d82}.unproven-b,.unproven-d,.unproven-n{fill:#ff9d82}.bg{fill:#0f1417}}
"""
_TOP: Final = 58
_BOTTOM: Final = HEIGHT - 46
_WAYS: Final = ("greedy", "sampled")


class _Frame(NamedTuple):
    """A panel: where it is, and how far its x goes."""

    left: float
    right: float
    end: float

    def x(self, value: float) -> float:
        """Where a number of samples stands."""
        return self.left + (self.right - self.left) * value / self.end

    def y(self, value: float) -> float:
        """Where a share stands."""
        return _BOTTOM - (_BOTTOM - _TOP) * value


def drawing(arms: Sequence[Arm]) -> str:
    """Return the figure as SVG text."""
    end = max((spot.samples for arm in arms for spot in arm.reward), default=1.0)
    reward, solved = _Frame(52, 380, end), _Frame(430, 758, end)
    held = _Frame(812, WIDTH - 20, 1.0)
    seeds = max((len(arm.seeds) for arm in arms), default=0)
    parts = [
        (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" role="img" '
            f'aria-label="{escape(words(arms), quote=True)}">'
        ),
        f"<style>{_STYLE}</style>",
        f'<rect class="bg" width="{WIDTH}" height="{HEIGHT}"/>',
        *_panel(reward, "Training reward, as it was paid", "each arm by its own checks"),
        *_lines(reward, [(arm.checks, arm.reward) for arm in arms]),
        *_panel(solved, "Solved, on the same tasks", "share that earns 1.0 and breaks no rule"),
        *_lines(solved, [(arm.checks, arm.solved) for arm in arms]),
        *_panel(held, "Held-out success", "proven tasks, 95 % intervals", samples=False),
        *_held_out(held, arms),
        (
            f'<text class="s" x="{reward.left}" y="{HEIGHT - 8}">Line: mean of {seeds} '
            f"seed{'s' * (seeds != 1)}, smoothed; band: lowest to highest seed. "
            "x: training samples processed by a run.</text>"
        ),
        "</svg>\n",
    ]
    return "\n".join(parts)


def words(arms: Sequence[Arm]) -> str:
    """What the figure shows, for those who do not see it."""
    said = []
    for arm in arms:
        paid, done = last_fifth(arm.reward), last_fifth(arm.solved)
        ends = "; ".join(
            f"held-out {one.way} {one.when} {one.success:.2f} "
            f"({one.interval.low:.2f} to {one.interval.high:.2f})"
            for one in arm.held_out
        )
        said.append(
            f"{arm.checks.capitalize()} checks: reward in the last fifth {_two(paid)}, "
            f"solved {_two(done)}; {ends}."
        )
    return " ".join(said)


def _two(value: float | None) -> str:
    return "not known" if value is None else f"{value:.2f}"


def _panel(frame: _Frame, title: str, what: str, *, samples: bool = True) -> Iterable[str]:
    yield f'<text class="t" x="{frame.left}" y="24">{title}</text>'
    yield f'<text class="s" x="{frame.left}" y="41">{what}</text>'
    for tick in (0.0, 0.25, 0.5, 0.75, 1.0):
        y = frame.y(tick)
        yield (
            f'<line class="{"g" if tick else "a"}" x1="{frame.left}" x2="{frame.right}" '
            f'y1="{y:.1f}" y2="{y:.1f}"/>'
        )
        yield (
            f'<text class="s" text-anchor="end" x="{frame.left - 6}" y="{y + 4:.1f}">'
            f"{tick:g}</text>"
        )
    if samples:
        for tick in (0.0, frame.end / 2, frame.end):
            yield (
                f'<text class="s" text-anchor="middle" x="{frame.x(tick):.1f}" '
                f'y="{_BOTTOM + 16}">{tick:,.0f}</text>'
            )


def _lines(frame: _Frame, lines: Sequence[tuple[str, Sequence[Spot]]]) -> Iterable[str]:
    """Lines in their bands; the name of the highest stands above its band, others below theirs."""
    ordered = sorted((one for one in lines if one[1]), key=lambda one: -one[1][-1].mean)
    taken = 0.0
    for place, (name, spots) in enumerate(ordered):
        upper = [(frame.x(s.samples), frame.y(s.high)) for s in spots]
        lower = [(frame.x(s.samples), frame.y(s.low)) for s in reversed(spots)]
        middle = [(frame.x(s.samples), frame.y(s.mean)) for s in spots]
        yield f'<polygon class="{name}-b" points="{_points([*upper, *lower])}"/>'
        yield f'<polyline class="{name}" points="{_points(middle)}"/>'
        taken = max(lower[0][1] + 15, taken + 14) if place else upper[-1][1] - 5
        yield (
            f'<text class="{name}-n" text-anchor="end" x="{frame.right}" y="{taken:.1f}">'
            f"{name} {spots[-1].mean:.2f}</text>"
        )


def _points(pairs: Sequence[tuple[float, float]]) -> str:
    return " ".join(f"{x:.1f},{y:.1f}" for x, y in pairs)


def _held_out(frame: _Frame, arms: Sequence[Arm]) -> Iterable[str]:
    """Before stands once a way: the checkpoint is the same."""
    for number, way in enumerate(_WAYS):
        groups: list[tuple[str, HeldOut]] = [
            ("base", one)
            for arm in arms[:1]
            for one in arm.held_out
            if (one.way, one.when) == (way, "before")
        ]
        groups += [
            (arm.checks, one)
            for arm in arms
            for one in arm.held_out
            if (one.way, one.when) == (way, "after")
        ]
        left = frame.left + (frame.right - frame.left) * number / len(_WAYS)
        width = (frame.right - frame.left) / len(_WAYS)
        yield (
            f'<text class="s" text-anchor="middle" x="{left + width / 2:.1f}" '
            f'y="{_BOTTOM + 16}">{way}</text>'
        )
        for place, (look, one) in enumerate(groups):
            x = left + width * (place + 0.7) / (len(groups) + 0.4)
            low, high = frame.y(one.interval.low), frame.y(one.interval.high)
            stroke, fill = ("a", "s") if look == "base" else (look, f"{look}-d")
            ends = f'y1="{low:.1f}" y2="{high:.1f}"'
            yield f'<line class="{stroke}" x1="{x:.1f}" x2="{x:.1f}" {ends}/>'
            yield f'<circle class="{fill}" cx="{x:.1f}" cy="{frame.y(one.success):.1f}" r="4.5"/>'
            name = "s" if look == "base" else f"{look}-n"
            yield (
                f'<text class="{name}" text-anchor="middle" x="{x:.1f}" y="{high - 6:.1f}">'
                f"{one.success:.2f}</text>"
            )
