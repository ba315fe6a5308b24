"""How long a proof takes: drafts that were never proven before, and the largest task (five days, 30
tools, 200 records); one process, one core.
"""

import statistics
import time
from collections.abc import Mapping

from benchmarks.measure import print_table, time_text
from benchmarks.samples import drafts, largest
from tasks_app.core.spec import load_spec
from tasks_app.core.validation.card import ProofCard
from tasks_app.core.validation.proof import prove

OF_EACH = 10


def run(repetitions: int = 5) -> Mapping[str, float]:
    """Measure, print, and return `proofs_per_s` and `runs_ms`."""
    for spec in drafts(2, 6):
        prove(spec)
    whole: list[float] = []
    a_run: list[float] = []
    waited: list[float] = []
    runs: list[int] = []
    gates: dict[str, list[float]] = {}
    for turn in range(repetitions):
        specs = drafts(OF_EACH, 7 + turn)  # other tasks each time: nothing is known of them
        began, used = time.perf_counter(), time.process_time()
        cards = [prove(spec, timer=time.process_time) for spec in specs]
        used, began = time.process_time() - used, time.perf_counter() - began
        whole.append(used / len(cards))
        waited.append(began / len(cards))
        a_run.append(used / sum(card.runs for card in cards))
        runs.extend(card.runs for card in cards)
        _note_gates(gates, cards)
    print_table(
        f"Proof: {repetitions} × {2 * OF_EACH} fresh tasks, one core, CPU time (median of the "
        f"{repetitions}; {min(runs)}–{max(runs)} runs a proof, median "
        f"{statistics.median(runs):.0f})",
        ("what", "time", "a second", "lowest", "highest", "wall"),
        [
            _row("a proof", whole, waited),
            _row("a run within it", a_run, _each(waited, _ratio(a_run, whole))),
        ],
    )
    dear = sorted(gates.items(), key=lambda pair: -statistics.mean(pair[1]))[:6]
    shares = ", ".join(f"{name} {time_text(statistics.mean(times))}" for name, times in dear)
    print(f"  dearest gates: {shares}")
    big = _largest(repetitions)
    print(
        f"  the largest task: {time_text(statistics.median(big))} "
        f"({statistics.median(big) / statistics.median(whole):.1f} times a typical one)"
    )
    return {
        "proof_ms": round(statistics.median(whole) * 1000, 1),
        "largest_ms": round(statistics.median(big) * 1000, 1),
        "proofs_per_s": round(1 / statistics.median(whole), 1),
        "runs_ms": round(statistics.median(a_run) * 1000, 4),
    }


def _largest(repetitions: int) -> list[float]:
    """CPU seconds of a proof of the largest task, of other content each time."""
    written = largest().written()
    taken = []
    for turn in range(repetitions):
        spec = load_spec({**written, "seed": turn})
        used = time.process_time()
        card = prove(spec)
        taken.append(time.process_time() - used)
        if not card.proven:
            raise RuntimeError(f"the largest task does not prove: {card.findings[:1]}")
    return taken


def _each(values: list[float], factors: list[float]) -> list[float]:
    return [value * factor for value, factor in zip(values, factors, strict=True)]


def _ratio(first: list[float], second: list[float]) -> list[float]:
    return [a / b for a, b in zip(first, second, strict=True)]


def _row(name: str, values: list[float], waited: list[float]) -> tuple[str, ...]:
    middle = statistics.median(values)
    return (
        name,
        time_text(middle),
        f"{1 / middle:,.1f}",
        time_text(min(values)),
        time_text(max(values)),
        time_text(statistics.median(waited)),
    )


def _note_gates(gates: dict[str, list[float]], cards: list[ProofCard]) -> None:
    for card in cards:
        for gate in card.gates:
            gates.setdefault(gate.id, []).append(gate.milliseconds / 1000)


if __name__ == "__main__":
    run()
