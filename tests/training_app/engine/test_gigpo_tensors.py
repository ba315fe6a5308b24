"""The engine's tensors against the pure functions: turn spans, spreading, TRL's own advantages."""

import random

import pytest

torch = pytest.importorskip("torch", reason="the train extra is not installed")
pytest.importorskip("trl", reason="the train extra is not installed")

from tests.training_app.engine.marks import ENGINE  # noqa: E402
from training_app.core.advantages import gigpo as pure  # noqa: E402 (after the skip)
from training_app.core.recipe import Rollouts  # noqa: E402
from training_app.engine.gigpo import group_advantages, spread, turn_spans  # noqa: E402

pytestmark = ENGINE


def test_turn_spans_match_on_a_thousand_random_rollouts() -> None:
    rng = random.Random("spans")
    for _ in range(1000):
        turns = [rng.randrange(1, 9) for _ in range(rng.randrange(1, 6))]
        mask: list[int] = []
        expected: list[tuple[int, int]] = []
        for number, length in enumerate(turns):
            if number:
                mask += [0] * rng.randrange(1, 7)
            expected.append((len(mask), len(mask) + length))
            mask += [1] * length
        mask += [0] * rng.randrange(4)
        assert turn_spans(mask) == expected


def test_no_turns_no_spans() -> None:
    assert turn_spans([]) == []
    assert turn_spans([0, 0]) == []


def test_advantages_stand_on_the_tokens_of_their_turn() -> None:
    masks = [[1, 1, 0, 1, 0], [1, 0, 0, 0, 0]]
    found = spread(masks, [[0.5, -1.0], [2.0]], 5)
    assert found.tolist() == [[0.5, 0.5, 0.0, -1.0, 0.0], [2.0, 0.0, 0.0, 0.0, 0.0]]


def test_a_turn_too_many_or_too_few_is_an_error() -> None:
    with pytest.raises(ValueError, match="zip"):
        spread([[1, 0, 1]], [[0.5]], 3)


def test_the_worked_example_comes_out_of_the_engine() -> None:
    """The rewards of the example come with the last turn, as the engine gives them."""
    settings = Rollouts(discount=0.5, step_weight=1.0, norm="none")
    found = group_advantages([1, 1, 0], [(0, 1, 2), (0, 1, 0, 3), (0, 4)], [3, 4, 2], settings)
    assert [pytest.approx(row, abs=5e-5) for row in found] == [
        [0.3646, 0.4583, 0.3333],
        [0.2396, 0.2083, 0.6146, 0.3333],
        [-0.8854, -0.6667],
    ]


def test_a_turn_without_an_anchor_is_compared_with_nobody() -> None:
    settings = Rollouts(norm="none")
    found = group_advantages([1.0, 0.0], [(7,), (7,)], [2, 2], settings)
    episode = pure.episode_advantages([[pure.Turn(0, 1.0)], [pure.Turn(0, 0.0)]], norm="none")
    assert [row[1] for row in found] == episode
