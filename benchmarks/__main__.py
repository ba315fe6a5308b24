"""Run benchmarks, the usual ones or those named; with --json the last line is one JSON object."""

import argparse
import json
import os
import platform
from collections.abc import Callable, Mapping
from typing import Final

from benchmarks import batch, chat, generate, proof, renew, world
from benchmarks.measure import plain_loop, time_text


def _train() -> Mapping[str, float]:
    from benchmarks import train  # torch is not everywhere, and takes seconds to load

    return train.run()


BENCHMARKS: Final[Mapping[str, Callable[[], Mapping[str, float]]]] = {
    "world": world.run,
    "proof": proof.run,
    "generate": generate.run,
    "batch": batch.run,
    "renew": renew.run,
    "chat": chat.run,
    "train": _train,
}
USUAL: Final = ("world", "proof", "generate")
"""Run where none is named: the others start servers and processes of their own."""
ORDER: Final = (
    "tool_calls_per_s", "proofs_per_s", "runs_ms", "proof_ms", "largest_ms", "generate_100_s",
    "renew_600_s", "renewed_per_s", "renew_growth",
    "episodes_per_s", "lost", "doubled", "failed", "wrong",
    "calls_per_s_1000ms", "of_ideal_1000ms", "of_bare_1000ms",
    "calls_per_s_100ms", "of_ideal_100ms", "of_bare_100ms",
    "grpo_of_plain", "gigpo_of_plain", "environment_share",
)  # fmt: skip
GOALS: Final[Mapping[str, str]] = {
    "tool_calls_per_s": "≥ 200,000",
    "proofs_per_s": "≥ 50",
    "runs_ms": "≤ 0.15",
    "proof_ms": "≤ 20",
    "largest_ms": "≤ 250",
    "renew_600_s": "≤ 20",
    "renew_growth": "≤ 1.05",
    "generate_100_s": "≤ 15",
    "episodes_per_s": "≥ 50",
    "lost": "0",
    "doubled": "0",
    "of_ideal_1000ms": "≥ 0.9",
    "of_bare_100ms": "≥ 0.6",
    "grpo_of_plain": "≤ 1.05",
    "gigpo_of_plain": "≤ 1.10",
    "environment_share": "≤ 0.03",
}


def main() -> None:
    """Read the command line, measure, print."""
    parser = argparse.ArgumentParser(prog="dev.py bench", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help=", ".join(BENCHMARKS))
    parser.add_argument("--json", action="store_true", dest="as_json")
    parser.add_argument(
        "--chaos",
        action="store_true",
        help="batch: kill a worker, restart broker and database in the middle (takes minutes)",
    )
    options = parser.parse_args()
    unknown = [name for name in options.names if name not in BENCHMARKS]
    if unknown:
        parser.error(f"no benchmark is called {unknown[0]}; there are {', '.join(BENCHMARKS)}")
    load = ", ".join(f"{value:.1f}" for value in os.getloadavg())
    print(
        f"Python {platform.python_version()}, {os.cpu_count()} cores, load {load}. "
        "CPU time of this process unless the column says wall.\n"
        f"A million steps of a plain loop take {time_text(plain_loop())} just now: on a machine "
        "that others use as well, CPU time grows with the load."
    )
    found: dict[str, float] = {}
    for name in options.names or USUAL:
        disturbed = name == "batch" and options.chaos
        found.update(batch.run(chaos=True) if disturbed else BENCHMARKS[name]())
    goals = " · ".join(f"{name} {goal}" for name, goal in GOALS.items() if name in found)
    print(f"\nGoals: {goals}")
    if options.as_json:
        print(json.dumps({name: found[name] for name in ORDER if name in found}))


if __name__ == "__main__":
    main()
