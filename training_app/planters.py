"""Defects of datasets that an audit of the gates plants: demonstrations (gate E1), prompts and
recorded rollouts (E2).

Registered with the audit when the app is ready; a row is made of the sound task, then changed.
"""

import copy
import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

import orjson

from rollouts_app.core.episode import run_episode
from rollouts_app.core.scripted import policy_for
from rollouts_app.core.trajectory import RecordedTurn
from tasks_app.core.audit.catalog import register
from tasks_app.core.audit.planter import Kind, Planted, Planter
from tasks_app.core.audit.subjects import Subject
from tasks_app.core.spec import TaskSpec, load_spec
from training_app.core.demonstrations import DemonstrationError, from_reference
from training_app.core.lint import (
    Finding,
    lint_demonstrations,
    lint_prompts,
    lint_rollouts,
)
from training_app.core.prompts import PromptError, prompt_of

Rows = list[dict[str, Any]]
Change = Callable[[Rows, random.Random], bool]
"""Breaks rows; False where they have no place for the defect."""


@dataclass(frozen=True, slots=True)
class RowsPlanter:
    """A defect of a dataset's rows."""

    gate: str
    name: str
    title: str
    change: Change
    make: Callable[[TaskSpec], Rows | None]
    lint: Callable[[Rows], list[Finding]]
    kind: Kind = "dataset"
    repairable: bool = False
    also: tuple[str, ...] = ()
    upstream: str = ""

    def try_out(self, subject: Subject, rng: random.Random) -> Planted | None:
        """Look at the rows of the sound task, then at the changed ones."""
        own = self.make(load_spec(subject.copy()))
        if own is None or self.lint(own):
            return None
        rows = copy.deepcopy(own)
        if not self.change(rows, rng):
            return None
        found = self.lint(rows)
        words = "; ".join(f"{one.gate} {one.place}: {one.message}" for one in found[:3])
        gates = tuple(dict.fromkeys(one.gate for one in found))
        return Planted(self.gate in gates, gates, None, words)


# --- demonstrations ------------------------------------------------------------------------------


def demonstrations(spec: TaskSpec) -> Rows | None:
    """The reference as a demonstration; None where it is no episode of chat."""
    try:
        return [dict(from_reference(spec))]
    except DemonstrationError:
        return None


def _messages(rows: Rows, role: str, rng: random.Random) -> int | None:
    """A message of a role, the last ones apart."""
    messages = rows[0]["messages"]
    found = [i for i, m in enumerate(messages[:-1]) if m["role"] == role]
    return rng.choice(found) if found else None


def _calls(rows: Rows, rng: random.Random) -> dict[str, Any] | None:
    """The function of one of the calls."""
    found = [call for m in rows[0]["messages"] for call in m.get("tool_calls") or ()]
    if not found:
        return None
    function: dict[str, Any] = rng.choice(found)["function"]
    return function


def _unanswered(rows: Rows, rng: random.Random) -> bool:
    place = _messages(rows, "tool", rng)
    if place is not None:
        del rows[0]["messages"][place]
    return place is not None


def _answered_twice(rows: Rows, rng: random.Random) -> bool:
    place = _messages(rows, "tool", rng)
    if place is not None:
        rows[0]["messages"].insert(place, rows[0]["messages"][place])
    return place is not None


def _said_twice(rows: Rows, _rng: random.Random) -> bool:
    rows[0]["messages"].append(dict(rows[0]["messages"][-1]))
    return True


def _cut_off(rows: Rows, _rng: random.Random) -> bool:
    del rows[0]["messages"][-1]
    return True


def _late_system(rows: Rows, rng: random.Random) -> bool:
    late = {"role": "system", "content": "Be quick."}
    rows[0]["messages"].insert(rng.randrange(2, len(rows[0]["messages"])), late)
    return True


def _mute(rows: Rows, _rng: random.Random) -> bool:
    rows[0]["messages"][-1]["content"] = ""
    return True


def _other_role(rows: Rows, rng: random.Random) -> bool:
    rng.choice(rows[0]["messages"])["role"] = "function"
    return True


def _no_json(rows: Rows, rng: random.Random) -> bool:
    function = _calls(rows, rng)
    if function is not None:
        function["arguments"] = f"{function['arguments'][:-1]},"
    return function is not None


def _not_offered(rows: Rows, rng: random.Random) -> bool:
    function = _calls(rows, rng)
    if function is not None:
        function["name"] = "records_purge"
    return function is not None


def _argument(rows: Rows, rng: random.Random, change: Callable[[dict[str, Any]], bool]) -> bool:
    function = _calls(rows, rng)
    if function is None:
        return False
    arguments = orjson.loads(function["arguments"])
    if not change(arguments):
        return False
    function["arguments"] = orjson.dumps(arguments).decode()
    return True


def _more(rows: Rows, rng: random.Random) -> bool:
    def add(arguments: dict[str, Any]) -> bool:
        arguments["urgent"] = True
        return True

    return _argument(rows, rng, add)


def _wrong_type(rows: Rows, rng: random.Random) -> bool:
    def bend(arguments: dict[str, Any]) -> bool:
        for name, value in arguments.items():
            arguments[name] = [value] if isinstance(value, str) else str(value)
            return True
        return False

    return _argument(rows, rng, bend)


def _no_tools(rows: Rows, _rng: random.Random) -> bool:
    rows[0]["tools"] = "[{}]"
    return True


# --- prompts -------------------------------------------------------------------------------------


def prompts(spec: TaskSpec) -> Rows | None:
    """Two prompts of a task; None where RL cannot train on it."""
    try:
        return [dict(prompt_of(spec, seed)) for seed in (1, 2)]
    except PromptError:
        return None


def _same_group(rows: Rows, _rng: random.Random) -> bool:
    rows[1]["group"] = rows[0]["group"]
    return True


def _no_group(rows: Rows, rng: random.Random) -> bool:
    rng.choice(rows)["group"] = ""
    return True


def _no_seed(rows: Rows, rng: random.Random) -> bool:
    rng.choice(rows)["seed"] = None
    return True


def _other_spec(rows: Rows, rng: random.Random) -> bool:
    row = rng.choice(rows)
    spec = orjson.loads(row["spec"])
    spec["seed"] = int(spec.get("seed", 0)) + 1
    row["spec"] = orjson.dumps(spec).decode()
    return True


def _other_words(rows: Rows, rng: random.Random) -> bool:
    rng.choice(rows)["prompt"][-1]["content"] += " Be quick."
    return True


def _other_tools(rows: Rows, rng: random.Random) -> bool:
    row = rng.choice(rows)
    row["toolset"] = row["toolset"][::-1] + "0"
    return True


# --- rollouts ------------------------------------------------------------------------------------


def rollouts(spec: TaskSpec) -> Rows | None:
    """The reference twice, as a group of rollouts; None where it comes to no grade."""
    outcome = run_episode(spec, policy_for("reference", spec))
    if outcome.grade is None:
        return None
    turns = [
        {"anchor": turn.calls[0].anchor_key if turn.calls else "end", "tokens": 3 + turn.index}
        for turn in outcome.trajectory.turns
        if isinstance(turn, RecordedTurn)
    ]
    row: dict[str, Any] = {
        "group": "g",
        "seed": 1,
        "reward": outcome.grade.total,
        "contributions": dict(outcome.grade.contributions),
        "weights": dict.fromkeys(outcome.grade.contributions, 1),
        "turns": turns,
        "tokens": sum(turn["tokens"] for turn in turns),
        "failed": False,
    }
    return [row, copy.deepcopy(row)]


def _set(**changed: Any) -> Change:
    def change(rows: Rows, rng: random.Random) -> bool:
        rng.choice(rows).update(copy.deepcopy(changed))
        return True

    return change


def _paid_more(rows: Rows, rng: random.Random) -> bool:
    rng.choice(rows)["reward"] += 0.25
    return True


def _failed_with_reward(rows: Rows, rng: random.Random) -> bool:
    rng.choice(rows).update(failed=True, reward=0.0)
    return True


def _weighted(rows: Rows, rng: random.Random) -> bool:
    rng.choice(rows)["weights"]["outcome"] = 0.5
    return True


def _part_missing(rows: Rows, rng: random.Random) -> bool:
    rng.choice(rows)["contributions"].pop("constraint")
    return True


def _below_zero(rows: Rows, rng: random.Random) -> bool:
    parts = rng.choice(rows)["contributions"]
    parts["outcome"] += 0.5
    parts["constraint"] -= 0.5
    return True


def _no_anchor(rows: Rows, rng: random.Random) -> bool:
    rng.choice(rng.choice(rows)["turns"])["anchor"] = ""
    return True


def _miscounted(rows: Rows, rng: random.Random) -> bool:
    rng.choice(rows)["tokens"] += 1
    return True


def _alone(rows: Rows, _rng: random.Random) -> bool:
    rows[1]["group"] = "h"
    return True


def _rows(
    gate: str,
    make: Callable[[TaskSpec], Rows | None],
    lint: Callable[[Rows], list[Finding]],
    defects: Mapping[str, tuple[str, Change]],
) -> tuple[RowsPlanter, ...]:
    return tuple(
        RowsPlanter(gate, name, title, change, make, lint)
        for name, (title, change) in defects.items()
    )


PLANTERS: Final[tuple[Planter, ...]] = (
    *_rows("E1", demonstrations, lint_demonstrations, {
        "unanswered": ("A call without an answer", _unanswered),
        "answered_twice": ("A call that is answered twice", _answered_twice),
        "said_twice": ("Two replies in a row", _said_twice),
        "cut_off": ("An episode without its end", _cut_off),
        "late_system": ("A system message in the middle", _late_system),
        "mute": ("A last message that says nothing", _mute),
        "other_role": ("A role that there isn't", _other_role),
        "no_json": ("Arguments that are no JSON", _no_json),
        "not_offered": ("A tool that is not offered", _not_offered),
        "more": ("An argument that the tool does not take", _more),
        "wrong_type": ("An argument of another type", _wrong_type),
        "no_tools": ("Tools that are not declared", _no_tools),
    }),
    *_rows("E2", prompts, lint_prompts, {
        "same_group": ("Two prompts in one group", _same_group),
        "no_group": ("A prompt without a group", _no_group),
        "no_seed": ("A prompt without a seed", _no_seed),
        "other_spec": ("A spec that is not the one that was frozen", _other_spec),
        "other_words": ("Messages that are not the task's", _other_words),
        "other_tools": ("The key of other tools", _other_tools),
    }),
    *_rows("E2", rollouts, lint_rollouts, {
        "paid_more": ("A reward that is not the sum of its parts", _paid_more),
        "not_finite": ("A reward that is no number", _set(reward=float("nan"))),
        "failed_with_reward": ("A broken episode that counts as 0", _failed_with_reward),
        "weighted": ("A weight beside the weights", _weighted),
        "part_missing": ("A component that is left out", _part_missing),
        "below_zero": ("A part below 0", _below_zero),
        "no_turns": ("A rollout without turns", _set(turns=[])),
        "no_anchor": ("A turn without its state", _no_anchor),
        "miscounted": ("Tokens that are miscounted", _miscounted),
        "alone": ("A rollout with nobody to compare with", _alone),
    }),
)  # fmt: skip
"""In the order of the gates."""

register(PLANTERS)
