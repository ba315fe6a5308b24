"""Our environment behind TRL's loop: tools as methods, rewards, anchors, reuse."""

import inspect
from typing import Any

import pytest

pytest.importorskip("torch", reason="the train extra is not installed")
pytest.importorskip("trl", reason="the train extra is not installed")

import orjson
from transformers.utils import get_json_schema

from rollouts_app.core.scripted import reference
from tasks_app.core.spec import TaskSpec
from tests.training_app.engine.marks import ENGINE
from training_app.core import pocket
from training_app.core.prompts import Prompt, prompt_of, toolsets
from training_app.engine.environments import ToolEnvironment, environment_class
from training_app.engine.rewards import Rewards

pytestmark = ENGINE
END = 9


@pytest.fixture(scope="module")
def spec() -> TaskSpec:
    return pocket.tasks("train", 1, 0)[0]


@pytest.fixture(scope="module")
def prompt(spec: TaskSpec) -> Prompt:
    return prompt_of(spec)


@pytest.fixture
def environment(prompt: Prompt) -> ToolEnvironment:
    made = environment_class(prompt["toolset"], toolsets([prompt])[prompt["toolset"]])()
    made.reset(**prompt)
    return made


def solve(environment: ToolEnvironment, spec: TaskSpec) -> list[dict[str, Any]]:
    """Play the reference as TRL's loop would, and return the completion it keeps."""
    policy = reference(spec)
    completion: list[dict[str, Any]] = []
    while True:
        action = policy.act([], [])
        if not action.calls:
            completion.append({"role": "assistant", "content": action.text})
            return completion
        calls: list[dict[str, Any]] = [
            {
                "type": "function",
                "function": {"name": c.name, "arguments": orjson.loads(c.arguments)},
            }
            for c in action.calls
        ]
        completion.append({"role": "assistant", "content": "", "tool_calls": calls})
        for call in calls:
            function = call["function"]
            result = getattr(environment, function["name"])(**function["arguments"])
            completion.append({"role": "tool", "name": function["name"], "content": result})


def test_tools_are_typed_documented_methods_and_nothing_else_is_offered(
    environment: ToolEnvironment, spec: TaskSpec
) -> None:
    members = inspect.getmembers(type(environment), predicate=inspect.isfunction)
    offered = [name for name, _ in members if not name.startswith("_") and name != "reset"]
    assert offered == sorted(spec.tools)
    made = get_json_schema(type(environment).orders_decline_request)["function"]  # type: ignore[attr-defined]  # made
    assert made["name"] == "orders_decline_request"
    assert made["parameters"]["required"] == ["order_id", "reason"]


def test_the_reference_earns_one_and_its_turns_have_anchors(
    environment: ToolEnvironment, spec: TaskSpec
) -> None:
    completion = solve(environment, spec)
    (settled,) = Rewards([END]).settle([environment], [completion], [[1, END]])
    assert (settled.reward, settled.passed, settled.truncated) == (1.0, True, False)
    turns = sum(message["role"] == "assistant" for message in completion)
    assert len(settled.anchors) == turns
    assert len(set(settled.anchors)) == turns


def test_a_reply_cut_by_the_budget_earns_nothing(
    environment: ToolEnvironment, spec: TaskSpec
) -> None:
    completion = solve(environment, spec)
    (settled,) = Rewards([END]).settle([environment], [completion], [[1, 2]])
    assert settled.truncated
    assert settled.reward == 0.0
    assert set(settled.contributions.values()) == {0.0}


def test_components_sum_to_the_reward(environment: ToolEnvironment, spec: TaskSpec) -> None:
    completion = solve(environment, spec)[:-1]
    rewards = Rewards([END])
    logged: dict[str, float] = {}
    parts = [
        function([completion], [[END]], [environment], logged.__setitem__)[0]
        for function in rewards.by_component()
    ]
    (total,) = rewards.total()[0]([completion], [[END]], [environment], logged.__setitem__)
    assert sum(parts) == pytest.approx(total)
    assert 0 < total < 1


def test_equal_beginnings_share_anchors_across_instances(prompt: Prompt, spec: TaskSpec) -> None:
    made = environment_class("k", toolsets([prompt])[prompt["toolset"]])
    anchors = []
    for reply in ("Done.", ""):
        environment = made()
        environment.reset(**prompt)
        listing = {"type": "function", "function": {"name": spec.tools[0], "arguments": {}}}
        getattr(environment, spec.tools[0])()
        completion: list[dict[str, Any]] = [
            {"role": "assistant", "content": "", "tool_calls": [listing]},
            {"role": "tool", "name": spec.tools[0], "content": "{}"},
            {"role": "assistant", "content": reply},
        ]
        anchors.append(environment._settle(completion, truncated=False).anchors)
    assert anchors[0] == anchors[1]
    assert anchors[0][0] != anchors[0][1]


def test_wrong_arguments_are_answered_and_an_instance_is_used_again(
    environment: ToolEnvironment, spec: TaskSpec, prompt: Prompt
) -> None:
    answer = orjson.loads(environment.orders_get_order(nonsense=1))  # type: ignore[attr-defined]  # made
    assert answer["error"] in {"missing_argument", "unknown_argument"}
    environment.reset(**prompt)
    completion = solve(environment, spec)
    assert environment._settle(completion, truncated=False).reward == 1.0
    environment.reset(**prompt)
    assert environment._settle([], truncated=False).reward == 0.0
