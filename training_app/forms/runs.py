"""The form that starts a run: a preset, and what is to differ from it.

An empty field means the preset's own value, which stands in it as a placeholder: switching to
another preset changes nothing that somebody typed.
"""

from collections.abc import Mapping
from typing import Any, Final

from django import forms

from studio.lib.jsonvalue import written_value
from studio.web.errors import Problem
from training_app.core.recipe import PRESETS, Recipe
from training_app.enums import DatasetKind
from training_app.models import Checkpoint, Dataset
from training_app.queries.runs import startable

PLACES: Final[Mapping[str, str]] = {
    "steps": "steps",
    "batch": "batch",
    "learning_rate": "learning_rate",
    "group": "rollouts.group",
    "per_generation": "rollouts.steps_per_generation",
    "final_tasks": "measure.final_tasks",
}
"""Field → place in the recipe."""
ONLINE_ONLY: Final = ("group", "per_generation")
MOST_CHOICES: Final = 100
_WORDS: Final[Mapping[str, str]] = {
    "cpu-tiny-sft": "Teach the tiny model by demonstrations",
    "cpu-tiny-grpo": "Learn from groups of its own rollouts",
    "cpu-tiny-dr-grpo": "As GRPO, without its two biases",
    "cpu-tiny-gdpo": "Each component normalised by itself",
    "cpu-tiny-gigpo": "Credit turn by turn, at shared states",
    "cpu-tiny-control": "GRPO with learning rate 0: learns nothing",
}
_TEXT: Final = {"class": "in mono", "autocomplete": "off", "spellcheck": "false"}


def preset_words(name: str) -> str:
    """What a preset does, in a few words."""
    return _WORDS.get(name, "")


class RunForm(forms.Form):
    """A preset, its changes, the dataset and the checkpoint to start from."""

    preset = forms.ChoiceField(choices=[(name, name) for name in PRESETS])
    seed = forms.IntegerField(required=False, min_value=0, max_value=2**31 - 1, label="Seed")
    steps = forms.IntegerField(required=False, min_value=1, max_value=2**31 - 1, label="Steps")
    batch = forms.IntegerField(
        required=False, min_value=1, max_value=100_000, label="Sequences a step"
    )
    learning_rate = forms.FloatField(
        required=False, min_value=0, max_value=10, label="Learning rate"
    )
    group = forms.IntegerField(
        required=False, min_value=2, max_value=10_000, label="Rollouts of one prompt"
    )
    per_generation = forms.IntegerField(
        required=False, min_value=1, max_value=10_000, label="Steps on one generation"
    )
    final_tasks = forms.IntegerField(
        required=False, min_value=0, max_value=100_000, label="Tasks measured before and after"
    )
    more = forms.CharField(
        required=False,
        max_length=4000,
        strip=True,
        label="Other values",
        help_text="One a line, by its place in the recipe: rollouts.temperature = 0.9",
        widget=forms.Textarea(attrs={**_TEXT, "rows": 2}),
    )
    dataset = forms.ChoiceField(required=False, label="Dataset")
    init = forms.ChoiceField(required=False, label="Start from")

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        name = self["preset"].value()
        self.base: Recipe = PRESETS.get(str(name), next(iter(PRESETS.values())))
        values = {"seed": self.base.seed, **{f: _at(self.base, p) for f, p in PLACES.items()}}
        for field, value in values.items():
            widget = self.fields[field].widget
            # a browser's own step would refuse 0.0001
            more = {"step": "any"} if field == "learning_rate" else {}
            widget.attrs.update({"class": "in", "placeholder": f"{value:g}", **more})
        for name_ in ("dataset", "init"):
            self.fields[name_].widget.attrs["class"] = "in"
        self._offer("dataset", self._datasets())
        self._offer("init", self._checkpoints())

    def _offer(self, name: str, choices: list[tuple[str, str]]) -> None:
        field = self.fields[name]
        if isinstance(field, forms.ChoiceField):
            field.choices = choices

    def _datasets(self) -> list[tuple[str, str]]:
        kind = DatasetKind.PROMPTS if self.base.online else DatasetKind.DEMONSTRATIONS
        rows = Dataset.objects.filter(kind=kind, frozen_at__isnull=False)
        own = (
            [("", "the pocket suite that the engine makes itself")]
            if self.base.model.kind == "cpu-tiny"
            else [("", "choose one")]
        )
        return own + [
            (row.code, f"{row.code} {row.name}, {row.rows:,} rows") for row in rows[:MOST_CHOICES]
        ]

    def _checkpoints(self) -> list[tuple[str, str]]:
        first = (
            "an SFT checkpoint that succeeds in "
            f"{self.base.rollouts.start_low:.0%} to {self.base.rollouts.start_high:.0%}, "
            "made if there is none"
            if self.base.online
            else "the model’s own base"
        )
        return [("", first)] + [(row.code, checkpoint_words(row)) for row in
                                startable()[:MOST_CHOICES]]  # fmt: skip

    def clean_more(self) -> dict[str, Any]:
        """The lines as places and values."""
        found: dict[str, Any] = {}
        for line in self.cleaned_data["more"].splitlines():
            if not line.strip():
                continue
            place, sign, value = line.partition("=")
            if not sign or not place.strip():
                raise forms.ValidationError(
                    f"“{line.strip()[:60]}” is not of the form place = value."
                )
            found[place.strip()] = written_value(value.strip())
        return found

    @property
    def places(self) -> Mapping[str, str]:
        """Field → place in the recipe."""
        return PLACES

    def changes(self) -> dict[str, Any]:
        """What differs from the preset: dotted place → value."""
        named = {
            place: self.cleaned_data[field]
            for field, place in PLACES.items()
            if self.cleaned_data.get(field) is not None
        }
        return {**named, **(self.cleaned_data.get("more") or {})}

    def show(self, problems: tuple[Problem, ...], detail: str) -> None:
        """Put what an operation refused to the fields that it is about."""
        fields = {place: field for field, place in PLACES.items()}
        for problem in problems:
            words = f"{problem.message}. {problem.hint}".strip(". ") + "."
            field = fields.get(problem.place, problem.place)
            if field in self.fields:
                self.add_error(field, words[:1].upper() + words[1:])
            else:
                self.add_error("more", f"{problem.place}: {words}" if problem.place else words)
        if not problems:
            self.add_error(None, detail)


def checkpoint_words(row: Checkpoint) -> str:
    """A checkpoint in a list of choices."""
    sampled = (row.evaluation or {}).get("sampled")
    success = sampled.get("success") if isinstance(sampled, Mapping) else None
    said = f", {success:.0%} sampled" if isinstance(success, int | float) else ""
    return f"{row.code}: {row.run.code} {row.run.preset} at step {row.step:,}{said}"


def _at(recipe: Recipe, place: str) -> Any:
    value: Any = recipe
    for part in place.split("."):
        value = getattr(value, part)
    return value
