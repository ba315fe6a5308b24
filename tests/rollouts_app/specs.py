"""The two example specs, and what tests do with them."""

import functools
from pathlib import Path
from typing import Any

from rollouts_app.core.episode import Outcome, run_episode
from rollouts_app.core.scripted import policy_for
from tasks_app.core.spec import TaskSpec, load_spec

SPECS = Path(__file__).parent.parent / "specs"


@functools.cache
def example(name: str) -> TaskSpec:
    """Return `support_resolution` or `payment_change_investigation`."""
    return load_spec((SPECS / f"{name}.json").read_bytes())


def changed(spec: TaskSpec, **fields: Any) -> TaskSpec:
    """Return a spec with top-level fields replaced in its written form."""
    return load_spec({**spec.written(), **fields})


def run(spec: TaskSpec, policy: str = "reference") -> Outcome:
    """Run one episode of a built-in policy."""
    return run_episode(spec, policy_for(policy, spec))
