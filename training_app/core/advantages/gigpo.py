"""GiGPO: groups within groups (Feng et al. 2025, arXiv 2505.10978, section 4).

Trajectories of one prompt are compared as a whole, and turns that began in the same state are
compared with each other. Trajectory i, turn t, step rewards r_it, anchor c_it:

    A^E_i  = (R_i − mean(R)) / F(R)                           R_i = Σ_t r_it, each trajectory once
    R_it   = Σ_{k≥t} γ^(k−t) r_ik
    A^S_it = (R_it − mean(S)) / F(S)                          S: all R_jk with c_jk = c_it
    A_it   = A^E_i + ω A^S_it

F is the sample standard deviation plus ε (1e-6), or 1. An anchor that occurs once gives 0. A_it is
spread over the tokens the policy wrote in turn t.
"""

from collections.abc import Hashable, Sequence
from typing import Final, Literal, NamedTuple

from training_app.core.advantages.groups import centred, normalised

STABILISER: Final = 1e-6
Norm = Literal["std", "none"]
"""What differences are divided by: the standard deviation, or nothing."""


class Turn(NamedTuple):
    """One turn of a trajectory."""

    anchor: Hashable
    """What the policy knew and the records were when the turn began; equal means comparable."""
    reward: float


def episode_advantages(
    group: Sequence[Sequence[Turn]], *, norm: Norm = "std", stabiliser: float = STABILISER
) -> list[float]:
    """Return A^E: one value a trajectory; each trajectory counts once, however long."""
    return _relative([sum(turn.reward for turn in turns) for turns in group], norm, stabiliser)


def step_returns(rewards: Sequence[float], discount: float) -> list[float]:
    """Return R_t = Σ γ^(k−t) r_k for every turn."""
    returns: list[float] = []
    ahead = 0.0
    for reward in reversed(rewards):
        ahead = reward + discount * ahead
        returns.append(ahead)
    returns.reverse()
    return returns


def step_advantages(
    group: Sequence[Sequence[Turn]],
    *,
    discount: float,
    norm: Norm = "std",
    stabiliser: float = STABILISER,
) -> list[list[float]]:
    """Return A^S: one value a turn, compared with all turns of the group at the same anchor."""
    returns = [step_returns([turn.reward for turn in turns], discount) for turns in group]
    met: dict[Hashable, list[tuple[int, int]]] = {}
    for i, turns in enumerate(group):
        for t, turn in enumerate(turns):
            met.setdefault(turn.anchor, []).append((i, t))
    result = [[0.0] * len(turns) for turns in group]
    for places in met.values():
        if len(places) < 2:
            continue
        relative = _relative([returns[i][t] for i, t in places], norm, stabiliser)
        for (i, t), value in zip(places, relative, strict=True):
            result[i][t] = value
    return result


def advantages(
    group: Sequence[Sequence[Turn]],
    *,
    discount: float = 0.95,
    weight: float = 1.0,
    norm: Norm = "std",
    stabiliser: float = STABILISER,
) -> list[list[float]]:
    """Return A_it of one prompt's group: one value a turn.

    Args:
        group: Per trajectory, its turns; a trajectory without turns has a return of 0.
        discount: γ of the step returns.
        weight: ω, what the step part counts beside the episode part.
        norm: Whether differences are divided by the standard deviation.
        stabiliser: Added to it.
    """
    episode = episode_advantages(group, norm=norm, stabiliser=stabiliser)
    steps = step_advantages(group, discount=discount, norm=norm, stabiliser=stabiliser)
    return [
        [whole + weight * step for step in turns]
        for whole, turns in zip(episode, steps, strict=True)
    ]


def _relative(values: Sequence[float], norm: Norm, stabiliser: float) -> list[float]:
    return centred(values) if norm == "none" else normalised(values, stabiliser)
