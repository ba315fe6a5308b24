"""A recipe: everything that decides a training run besides its dataset.

One recipe a preset; pages offer presets, not knobs. The hash of a recipe stands in every manifest.
"""

from collections.abc import Mapping
from typing import Annotated, Any, Final, Literal

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    ValidationError,
    ValidationInfo,
    field_validator,
    model_validator,
)

from studio.lib.hashing import content_hash

FORMAT: Final = "training-recipe/1"
Algorithm = Literal["sft", "grpo", "dr_grpo", "gdpo", "gigpo"]
MOST: Final = 2**31 - 1
"""The largest whole number of a recipe: what the database holds as a number of steps."""


def _storable(text: str) -> str:
    if "\0" in text or any("\ud800" <= sign <= "\udfff" for sign in text):
        raise ValueError("has a character that cannot be kept")
    return text


Count = Annotated[int, Field(ge=1, le=MOST)]
Amount = Annotated[int, Field(ge=0, le=MOST)]
Text = Annotated[str, Field(max_length=4096), AfterValidator(_storable)]
Share = Annotated[float, Field(ge=0, le=1)]


class RecipeError(ValueError):
    """Values that make no recipe; `problems` name each place and what is wrong with it."""

    def __init__(self, problems: list[str]):
        super().__init__("; ".join(problems))
        self.problems = problems


class _Part(BaseModel):
    # Not a number and infinity have no JSON, so a recipe with one could be neither kept nor hashed.
    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)

    @field_validator("*", mode="before")
    @classmethod
    def _numbers(cls, value: Any, info: ValidationInfo) -> Any:
        # Python takes true for 1, so a slip of the pen would become a seed or a number of steps.
        wanted = cls.model_fields[info.field_name or ""].annotation
        if isinstance(value, bool) and wanted in (int, float):
            raise ValueError(f"{str(value).lower()} is no number")
        return value


class ModelChoice(_Part):
    """What is trained."""

    kind: Literal["cpu-tiny", "pretrained"] = "cpu-tiny"
    name: Text = ""
    """Of a pretrained model: a name or a folder; empty for cpu-tiny."""
    init: Text = ""
    """Folder of the checkpoint to start from; empty starts from the model itself."""

    @model_validator(mode="after")
    def _named(self) -> "ModelChoice":
        if (self.kind == "pretrained") != bool(self.name):
            raise ValueError("a pretrained model has a name or folder, cpu-tiny has none")
        return self


class Tiny(_Part):
    """The base of cpu-tiny and what its tokenizer is built from."""

    tokenizer_tasks: Count = 320
    base_steps: Count = 500
    base_batch: Count = 24


class Demonstrations(_Part):
    """Where SFT's dialogues come from when no dataset is given, and what is mixed into them."""

    tasks: Count = 1600
    quote: bool = True
    """Whether a deciding turn says first what it found."""
    skill_share: Share = 0.1
    """Share of skill sequences in a batch; cpu-tiny only."""
    disguised_share: Share = 0.5
    """Share of the dialogues whose names are exchanged for other values; cpu-tiny only."""


class Rollouts(_Part):
    """How RL generates and learns."""

    tasks: Count = 160
    """Distinct training tasks."""
    group: Annotated[int, Field(ge=2, le=MOST)] = 8
    """Rollouts of one prompt."""
    steps_per_generation: Count = 2
    """Optimizer steps on one generation; with 1 the policy loss is zero by construction."""
    iterations: Count = 1
    """Passes over one generation."""
    temperature: Annotated[float, Field(gt=0)] = 1.0
    clip: Annotated[float, Field(gt=0)] = 0.2
    longest: Count = 400
    """Tokens of a completion, observations included; a longer one is cut and earns nothing."""
    tool_rounds: Count = 6
    discount: Share = 0.95
    """γ of GiGPO."""
    step_weight: Annotated[float, Field(ge=0)] = 1.0
    """ω of GiGPO."""
    norm: Literal["std", "none"] = "std"
    start_low: Share = 0.3
    start_high: Share = 0.6
    """Sampled success of the SFT checkpoint to start from, where none is named."""
    checks: Literal["proven", "unproven"] = "proven"
    """Unproven: training tasks pay silence and echoes as well, to see what a proof is worth."""


class Measure(_Part):
    """How success is measured."""

    every: Amount = 100
    """Steps between two measurements in the run; 0 measures before and after only."""
    tasks: Amount = 40
    """Held-out tasks of a measurement in the run."""
    final_tasks: Amount = 120
    """Fresh held-out tasks before and after the run; never the ones used in it."""
    new_family_tasks: Amount = 8
    """Tasks of families that no training task belongs to, after the run."""


class Recipe(_Part):
    """One recipe."""

    format: Literal["training-recipe/1"] = FORMAT
    preset: Text = ""
    algorithm: Algorithm
    model: ModelChoice = ModelChoice()
    seed: Annotated[int, Field(ge=0, lt=2**31)] = 0
    steps: Count = 1600
    batch: Count = 16
    """Sequences of an optimizer step."""
    learning_rate: Annotated[float, Field(ge=0)] = 1e-3
    warmup: Amount = 20
    save_every: Count = 100
    keep: Count = 3
    """Checkpoints kept besides the last."""
    threads: Count = 1
    processes: Count = 1
    """How many processes train together; another number than this refuses to start."""
    device_batch: Amount = 0
    """Sequences that go through the model at a time; 0 is a process's whole share of the batch.
    Gradients are added up to the batch, so what is learnt is the same and the hash leaves it out.
    """
    tiny: Tiny = Tiny()
    demonstrations: Demonstrations = Demonstrations()
    rollouts: Rollouts = Rollouts()
    measure: Measure = Measure()
    report_to: tuple[Literal["wandb", "trackio"], ...] = ()

    @model_validator(mode="after")
    def _fits(self) -> "Recipe":
        if self.batch % self.processes:
            raise ValueError(
                f"batch: {self.batch} sequences cannot be shared out to {self.processes} processes"
            )
        if self.device_batch and self.share % self.device_batch:
            raise ValueError(
                f"device_batch: it has to divide {self.share}, a process's share of the batch"
            )
        if self.algorithm == "sft":
            return self
        if self.batch % self.rollouts.group and self.rollouts.group % self.batch:
            raise ValueError("batch: a step holds whole groups, or a whole share of one")
        if (self.batch * self.rollouts.steps_per_generation) % self.rollouts.group:
            raise ValueError("batch: a generation holds whole groups")
        if self.save_every % self.boundary:
            raise ValueError(
                f"save_every: a resumed run is the same only from a multiple of {self.boundary} "
                "(steps_per_generation × iterations)"
            )
        return self

    @property
    def hash(self) -> str:
        """The content hash, 64 hex digits: equal where the same is learnt."""
        return content_hash(self.model_dump(mode="json", exclude={"device_batch"}))

    @property
    def share(self) -> int:
        """Sequences of a step that one process sees."""
        return self.batch // self.processes

    @property
    def together(self) -> int:
        """Sequences that go through the model at a time."""
        return self.device_batch or self.share

    @property
    def accumulation(self) -> int:
        """Passes whose gradients are added up to a step."""
        return self.share // self.together

    def halved(self) -> "Recipe | None":
        """The same recipe with at most half as many sequences at a time; None where it is one.

        Half, or the next smaller number that divides a process's share.
        """
        half = self.together // 2
        while half and self.share % half:
            half -= 1
        return self.model_copy(update={"device_batch": half}) if half else None

    @property
    def online(self) -> bool:
        """Whether it learns from its own rollouts."""
        return self.algorithm != "sft"

    @property
    def boundary(self) -> int:
        """Steps after which nothing of a generation is left: a run goes on from multiples of it."""
        return self.rollouts.steps_per_generation * self.rollouts.iterations if self.online else 1

    @property
    def flat_loss(self) -> str:
        """Why the curve of the policy loss is flat by construction; empty where it is not."""
        if self.online and self.boundary == 1:
            return "On policy with centred advantages the policy loss is 0 at every step."
        return ""

    def changed(self, other: "Recipe") -> dict[str, tuple[Any, Any]]:
        """Return what differs: dotted place → here, there."""
        mine, theirs = _flat(self.model_dump(mode="json")), _flat(other.model_dump(mode="json"))
        return {
            place: (mine.get(place), theirs.get(place))
            for place in sorted({*mine, *theirs})
            if mine.get(place) != theirs.get(place)
        }


def load_recipe(data: Mapping[str, Any]) -> Recipe:
    """Read a recipe. Raises RecipeError that names every place and fault."""
    try:
        return Recipe.model_validate(dict(data))
    except ValidationError as problem:
        raise RecipeError(
            [
                f"{'.'.join(map(str, e['loc'])) or 'recipe'}: "
                + (
                    no_such_place(".".join(map(str, e["loc"])))
                    if e["type"] == "extra_forbidden"
                    else e["msg"].removeprefix("Value error, ")
                )
                for e in problem.errors(include_url=False, include_input=False)
            ]
        ) from problem


def places() -> tuple[str, ...]:
    """Every place of a recipe, dotted."""
    return tuple(_flat(Recipe(algorithm="sft").model_dump(mode="json")))


def no_such_place(place: str) -> str:
    """What is wrong with a place that no recipe has, and which there are beside it."""
    known = places()
    part, dot, name = place.partition(".")
    near = [one for one in known if dot and one.startswith(f"{part}.")]
    alike = [one for one in known if one.rpartition(".")[2] == (name or part) and "." in one]
    hint = f" Did you mean {' or '.join(alike)}?" if alike and not near else ""
    return f"there is no such place.{hint} There are {', '.join(near or known)}."


def _flat(value: Any, place: str = "") -> dict[str, Any]:
    if not isinstance(value, dict):
        return {place: value}
    found: dict[str, Any] = {}
    for key, item in value.items():
        found.update(_flat(item, f"{place}.{key}" if place else key))
    return found


def _online(preset: str, algorithm: Algorithm, learning_rate: float = 2e-5) -> Recipe:
    return Recipe(
        preset=preset,
        algorithm=algorithm,
        steps=78,
        batch=32,
        learning_rate=learning_rate,
        warmup=4,
        save_every=18,
        threads=2,
        rollouts=Rollouts(tasks=24, iterations=3, start_low=0.4),
        measure=Measure(every=0, final_tasks=40),
    )


PRESETS: Final[Mapping[str, Recipe]] = {
    recipe.preset: recipe
    for recipe in (
        Recipe(preset="cpu-tiny-sft", algorithm="sft", steps=1200, batch=8),
        _online("cpu-tiny-grpo", "grpo"),
        _online("cpu-tiny-dr-grpo", "dr_grpo"),
        _online("cpu-tiny-gdpo", "gdpo"),
        _online("cpu-tiny-gigpo", "gigpo"),
        _online("cpu-tiny-control", "grpo", learning_rate=0.0),
    )
}
"""Name → recipe. The control learns nothing: its curve is what chance and repeated tasks give."""


def preset(name: str, **changes: Any) -> Recipe:
    """Return a preset, with top-level changes. Raises RecipeError for an unknown name or value."""
    if name not in PRESETS:
        raise RecipeError([f"preset: no preset {name!r}; known are {', '.join(PRESETS)}"])
    return load_recipe({**PRESETS[name].model_dump(), **changes})
