"""Of two evaluations beside each other: what changed on the tasks of one suite."""

from collections.abc import Sequence
from typing import Final, NamedTuple

from studio.lib.jsonvalue import JsonObject
from training_app.core.scores import compare
from training_app.models import Evaluation
from training_app.queries.evaluations import comparable, results_of

OFFERED: Final = 12
"""Evaluations that each side can be compared with instead."""


class Comparison(NamedTuple):
    """Two evaluations, the first as it was before."""

    before: Evaluation
    after: Evaluation
    difference: JsonObject | None
    """After less before, as the episodes stand now; None where their suites are different."""
    unlike: tuple[str, ...]
    """What else differs between the two, so that not all of a difference is the model's."""


def comparison_of(before: Evaluation, after: Evaluation) -> Comparison:
    """Compare two evaluations task by task, as far as that can be."""
    if before.suite_id != after.suite_id:
        return Comparison(before, after, None, ())
    difference = compare(results_of(before), results_of(after))
    return Comparison(before, after, difference, tuple(_unlike(before, after)))


def _unlike(before: Evaluation, after: Evaluation) -> Sequence[str]:
    found = []
    if before.greedy != after.greedy:
        one, other = ("greedy", "sampled") if before.greedy else ("sampled", "greedy")
        found.append(f"{before.code} is {one}, {after.code} is {other}.")
    if before.group_size != after.group_size:
        found.append(
            f"{before.code} has {before.group_size} episodes a task, {after.code} has "
            f"{after.group_size}."
        )
    found += [
        f"{row.code} is not finished: what it scored so far is compared."
        for row in (before, after)
        if row.finished_at is None
    ]
    return found


def different_suites(before: Evaluation, after: Evaluation) -> str:
    """Why two evaluations on different suites have no difference, and what has one."""
    return (
        f"{before.code} was measured on {before.suite.name}, {after.code} on {after.suite.name}. "
        "A difference is taken task by task; between other tasks it would be the tasks' as much as "
        "the model's. Compare two evaluations on one suite."
    )


def others_of(evaluation: Evaluation) -> list[Evaluation]:
    """What it can be compared with."""
    return list(comparable(evaluation)[:OFFERED])
