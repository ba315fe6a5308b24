"""A person as the policy, and what becomes of the calls."""

import pytest

from rollouts_app.core.episode import run_episode
from rollouts_app.core.playing import UnusableError, outcome_of, reference_of, resume
from rollouts_app.core.policy import Action
from rollouts_app.core.scripted import plain
from rollouts_app.core.trajectory import DamagedTurn, Trajectory
from tasks_app.core.program import Act, reference_run, run_program
from tasks_app.core.spec import TaskSpec
from tasks_app.core.world.world import World
from tests.factories.specs import small_spec
from tests.rollouts_app.specs import changed, example, run

CLOSE = Act("helpdesk_close_ticket", {"ticket_id": "TK-2", "resolution": "answered"})


def earned(spec: TaskSpec, steps: object) -> float:
    """What a spec's reference earns when it is replaced by plain steps."""
    other = changed(spec, reference=steps)
    world = World(other)
    run_program(world, other.reference)
    outcome = run_episode(other, plain("p", reference_run(other)[1].acts))
    assert outcome.reward is not None
    return outcome.reward


def test_a_game_is_made_again_from_its_acts() -> None:
    environment = resume(small_spec(), [CLOSE])
    assert (environment.turns, environment.stop) == (1, None)
    environment = resume(small_spec(), [CLOSE, Act(None, {}, "Closed.")])
    assert environment.stop == "finished"
    outcome = outcome_of(environment, seconds=12.0)
    assert (outcome.reward, outcome.turns, outcome.calls, outcome.seconds) == (1.0, 2, 1, 12.0)
    assert outcome.trajectory.policy == "person"


def test_acts_after_the_end_are_ignored() -> None:
    reply = Act(None, {}, "Closed.")
    assert resume(small_spec(), [reply, CLOSE]).turns == 1


@pytest.mark.parametrize("name", ["support_resolution", "payment_change_investigation"])
def test_what_an_episode_did_solves_the_task_as_a_reference(name: str) -> None:
    spec = example(name)
    assert earned(spec, reference_of(spec, run(spec).trajectory)) == 1.0


def test_failed_calls_are_left_out_of_a_reference() -> None:
    spec = small_spec()
    wrong = Act("helpdesk_close_ticket", {"ticket_id": "TK-99", "resolution": "answered"})
    trajectory = run_episode(spec, plain("p", [wrong, CLOSE, Act(None, {}, "Done.")])).trajectory
    assert reference_of(spec, trajectory) == [
        {
            "id": "step1",
            "tool": "helpdesk_close_ticket",
            "arguments": {"ticket_id": "TK-2", "resolution": "answered"},
        },
        {"reply": "Done."},
    ]


def test_an_imported_task_gives_a_reference_under_the_studios_names() -> None:
    text = {"type": "string"}
    alias = {
        "tool": "helpdesk_close_ticket",
        "arguments": {"ticket_id": {"arg": "id"}, "resolution": {"arg": "how"}},
        "parameters": {"type": "object", "properties": {"id": text, "how": text}},
    }
    spec = small_spec(tool_aliases={"close": alias})
    acts = [Act("close", {"id": "TK-2", "how": "answered"}), Act(None, {}, "Done.")]
    steps = reference_of(spec, run_episode(spec, plain("p", acts)).trajectory)
    assert steps[0] == {
        "id": "step1",
        "tool": "helpdesk_close_ticket",
        "arguments": {"ticket_id": "TK-2", "resolution": "answered"},
    }


def test_a_talk_outside_a_tool_is_no_reference() -> None:
    user = {"name": "Ada Winter", "facts": []}
    spec = small_spec(user=user)
    environment = resume(spec, [])
    environment.step(Action("Which one?"))
    with pytest.raises(UnusableError, match="turn 1 talks with the colleague outside a tool"):
        reference_of(spec, environment.trajectory(policy="p", seed=0))


def test_a_damaged_turn_is_no_reference() -> None:
    spec = small_spec()
    trajectory = Trajectory(spec.hash, "p", 0, (DamagedTurn(0, b"{", "cut off"),))
    with pytest.raises(UnusableError, match="turn 1 is damaged"):
        reference_of(spec, trajectory)
