"""Wrong turns: the reference of a draft with one thing done otherwise, played and graded."""

import copy
import random
from collections.abc import Callable, Mapping
from typing import Any

from tasks_app.core.generation.families.catalog import FAMILIES
from tasks_app.core.generation.week import as_remembered
from tasks_app.core.grading.grade import grade
from tasks_app.core.program import perform, run_program
from tasks_app.core.results import Grade
from tasks_app.core.spec import TaskSpec, load_spec
from tasks_app.core.validation.conduct import without_silence
from tasks_app.core.world.world import Seed, World

Steps = dict[str, dict[str, Any]]
"""Steps of a reference as written, by their ids."""


def drafted(family: str, subtype: str, level: int, seed: object = 1) -> TaskSpec:
    """One draft of a cell."""
    return load_spec(FAMILIES[family].draft(subtype, level, random.Random(f"{family}/{seed}")))


def played(spec: TaskSpec, turn: Callable[[Steps], None]) -> Grade:
    """Grade the reference after a turn has changed its steps in place."""
    written = copy.deepcopy(spec.written())
    turn({step["id"]: step for step in written["reference"] if "id" in step})
    turned = load_spec(written)
    world = World(turned)
    run_program(world, turned.reference)
    return grade(turned.checks, turned.constraints, world.evidence())


def forgetful(spec: TaskSpec) -> Grade:
    """Grade whoever does what the reference would do if nothing had moved without a word."""
    acts = run_program(World(Seed(without_silence(spec))), spec.reference).acts
    world = World(spec)
    perform(world, acts)
    return grade(spec.checks, spec.constraints, world.evidence())


def remembered(spec: TaskSpec, read_again: Mapping[str, str]) -> Grade:
    """Grade the reference that takes what a later read gave from an earlier one."""
    written = copy.deepcopy(spec.written())
    written["reference"] = as_remembered(written["reference"], read_again)
    turned = load_spec(written)
    world = World(turned)
    run_program(world, turned.reference)
    return grade(turned.checks, turned.constraints, world.evidence())


def assert_loses(spec: TaskSpec, turn: Callable[[Steps], None], below: float = 0.9) -> None:
    """Assert that the reference earns all, and after the turn less than that and no pass."""
    right, wrong = played(spec, lambda _: None), played(spec, turn)
    assert (right.total, right.passed, wrong.passed) == (1.0, True, False)
    assert wrong.total < below
