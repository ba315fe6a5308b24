"""What is drawn of a run: charts, their lines, and the metrics that can be them."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final, Literal

from tasks_app.core.results import GRADED
from training_app.enums import Algorithm

Scope = Literal["step", "generation", "measure"]
ALWAYS: Final[dict[Scope, str]] = {"step": "learning_rate", "generation": "num_tokens"}
"""What the engine logs whenever it logs the scope at all: where it stands and a value of the same
scope does not, the value was no finite number."""
Form = Literal["score", "share", "tokens", "seconds", "plain"]


@dataclass(frozen=True, slots=True)
class CurveName:
    """One line of a chart and the metrics that can be it, the better one first."""

    id: str
    label: str
    metrics: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Family:
    """What belongs into one chart."""

    id: str
    title: str
    what: str
    """The unit, and over what it is a mean."""
    curves: tuple[CurveName, ...]
    scope: Scope
    form: Form = "plain"


def _one(id_: str, label: str, *metrics: str) -> tuple[CurveName, ...]:
    return (CurveName(id_, label, metrics or (id_,)),)


REWARD: Final = Family(
    "reward", "Reward", "mean of a step’s rollouts", _one("reward", "reward"),
    "generation", "score",
)  # fmt: skip
LOSS: Final = Family(
    "loss", "Policy loss", "mean of an optimizer step", _one("loss", "loss", "policy_loss", "loss"),
    "step",
)  # fmt: skip
LENGTH: Final = Family(
    "length", "Response length", "tokens a rollout, all of it",
    _one("length", "tokens", "completions/mean_length"), "generation", "tokens",
)  # fmt: skip
_COMPONENTS: Final = Family(
    "components",
    "Reward by component",
    "what each adds to the reward",
    tuple(
        CurveName(f"component-{name}", name, (f"contributions/{name}", f"rewards/{name}/mean"))
        for name in GRADED
        if name != "constraint"  # it takes away and never adds: always 0
    ),
    "generation",
    "score",
)
_ONLINE: Final[tuple[Family, ...]] = (
    REWARD,
    LOSS,
    LENGTH,
    _COMPONENTS,
    Family("passed", "Passed", "share of a step’s rollouts", _one("passed", "passed"),
           "generation", "share"),
    Family("violations", "Rules broken", "share of rollouts that break one",
           _one("violations", "violations"), "generation", "share"),
    Family("clipped", "Cut replies", "share cut by the budget",
           _one("clipped", "cut", "truncated", "completions/clipped_ratio"), "generation", "share"),
    Family("zero", "Groups without variance", "share that teaches nothing",
           _one("zero", "share", "frac_reward_zero_std"), "generation", "share"),
    Family("entropy", "Entropy", "nats a token", _one("entropy", "entropy"), "step"),
    Family("kl", "KL to the start", "nats a token", _one("kl", "KL"), "step"),
    Family("anchors", "Shared anchors", "share of turns compared",
           _one("anchors", "share", "gigpo/shared_anchors"), "generation", "share"),
    Family("time", "Step time", "seconds a step", _one("time", "seconds", "step_time"),
           "step", "seconds"),
)  # fmt: skip
_TAUGHT: Final[tuple[Family, ...]] = (
    Family("loss", "SFT loss", "nats a learnt token", _one("loss", "loss"), "step"),
    Family("accuracy", "Token accuracy", "share of learnt tokens guessed right",
           _one("accuracy", "accuracy", "mean_token_accuracy"), "step", "share"),
    Family("success", "Success on held-out tasks", "new instances, at checkpoints",
           (CurveName("greedy", "greedy", ("success/greedy",)),
            CurveName("sampled", "sampled", ("success/sampled",))), "measure", "share"),
    Family("entropy", "Entropy", "nats a token", _one("entropy", "entropy"), "step"),
    Family("gradient", "Gradient norm", "before clipping", _one("gradient", "norm", "grad_norm"),
           "step"),
    Family("time", "Step time", "seconds a step", _one("time", "seconds", "step_time"),
           "step", "seconds"),
)  # fmt: skip
PAPER: Final = (REWARD, LOSS, LENGTH)
"""The columns of the paper's figure 3."""


def families_of(algorithm: str) -> tuple[Family, ...]:
    """The charts of a run, the telling ones first."""
    return _TAUGHT if algorithm == Algorithm.SFT else _ONLINE


def names_of(families: Iterable[Family]) -> tuple[str, ...]:
    """Every metric that a line of these charts can be."""
    return tuple(dict.fromkeys(m for f in families for c in f.curves for m in c.metrics))
