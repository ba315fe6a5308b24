"""The forms of evaluations: what is measured on what, a suite to freeze, a checkpoint to serve."""

from typing import Any, Final

from django import forms

from rollouts_app.core.teacher import PREFIX
from rollouts_app.operations.batches import LARGEST_GROUP
from training_app.jobs.serving import PREFIX as CHECKPOINT
from training_app.models import Checkpoint, Evaluation
from training_app.operations.evaluations import BUILT_IN, LARGEST_SEED
from training_app.queries.evaluations import offered_endpoints, suites
from training_app.queries.servings import servable

USUAL: Final = ""
NOTHING: Final = "none"
_SELECT: Final = {"class": "in"}
_TEXT: Final = {"class": "in mono", "autocomplete": "off", "spellcheck": "false"}


def label_of(checkpoint: Checkpoint) -> str:
    """A checkpoint in a menu."""
    run = checkpoint.run
    return f"{checkpoint.code}: {run.code}, {run.get_algorithm_display()}, step {checkpoint.step}"


def model_of(evaluation: Evaluation) -> str:
    """What an evaluation measures, in a few words."""
    checkpoint = evaluation.checkpoint
    if checkpoint is None:
        return evaluation.endpoint
    return f"{checkpoint.code} ({checkpoint.run.code}, step {checkpoint.step})"


def way_of(evaluation: Evaluation) -> str:
    """How it draws."""
    return "greedy" if evaluation.greedy else "sampled"


def _checkpoints(named: str = "") -> list[tuple[str, str]]:
    rows = {row.code: label_of(row) for row in servable()}
    if named and named not in rows:
        rows[named] = named
    return list(rows.items())


class EvaluationForm(forms.Form):
    """A model, a suite, how it draws, what it is compared with."""

    model = forms.ChoiceField(label="Model", widget=forms.Select(attrs=_SELECT))
    suite = forms.ChoiceField(label="Suite", widget=forms.Select(attrs=_SELECT))
    way = forms.ChoiceField(
        label="Drawing",
        choices=[("greedy", "Greedy"), ("sampled", "Sampled")],
        initial="greedy",
        widget=forms.Select(attrs=_SELECT),
        help_text="Sampled: at temperature 1; an endpoint as it is set.",
    )
    n = forms.IntegerField(
        min_value=1,
        max_value=LARGEST_GROUP,
        initial=1,
        label="Episodes a task",
        help_text="Pass^3 needs 3.",
        widget=forms.NumberInput(attrs=_SELECT),
    )
    seed = forms.IntegerField(
        min_value=0,
        max_value=LARGEST_SEED,
        initial=0,
        label="First seed",
        widget=forms.NumberInput(attrs=_SELECT),
    )
    baseline = forms.CharField(
        required=False,
        max_length=20,
        label="Compare with",
        help_text="The code of an evaluation on the same suite, or none. Empty: of the checkpoint "
        "that the run started from, else of its earliest step.",
        widget=forms.TextInput(attrs={**_TEXT, "placeholder": "EV-4K7Q"}),
    )

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        given = str(self.data.get("model", "") or self.initial.get("model", ""))
        code = given.removeprefix(CHECKPOINT) if given.startswith(CHECKPOINT) else ""
        here = [(f"{CHECKPOINT}{name}", label) for name, label in _checkpoints(code)]
        others = [
            (f"{PREFIX}{row.name}", f"{row.name}: {row.model}") for row in offered_endpoints()
        ]
        groups = [("Checkpoints", here), ("Endpoints", others)]
        self.has_models = bool(here or others)
        models, names = self.fields["model"], self.fields["suite"]
        if isinstance(models, forms.ChoiceField):
            models.choices = [(name, rows) for name, rows in groups if rows]
        if isinstance(names, forms.ChoiceField):
            made = {row.name: f"{row.name}: {row.size} tasks" for row in suites()}
            shipped = {
                name: made.pop(name, f"{name}: {one.size} tasks, made on first use")
                for name, one in BUILT_IN.items()
            }
            names.choices = list({**shipped, **made}.items())


class SuiteForm(forms.Form):
    """A name and a filter."""

    name = forms.CharField(
        max_length=80,
        label="Name",
        widget=forms.TextInput(attrs={**_TEXT, "placeholder": "support-2031"}),
    )
    filter = forms.CharField(
        required=False,
        max_length=2000,
        label="Tasks",
        help_text="A task filter. Without state: tasks with a green proof, and imported ones.",
        widget=forms.TextInput(attrs=_TEXT),
    )


class ServeForm(forms.Form):
    """Which checkpoint."""

    checkpoint = forms.ChoiceField(label="Checkpoint", widget=forms.Select(attrs=_SELECT))

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        rows = _checkpoints()
        self.has_checkpoints = bool(rows)
        field = self.fields["checkpoint"]
        if isinstance(field, forms.ChoiceField):
            field.choices = rows


class BaselineForm(forms.Form):
    """The evaluation that another one is compared with."""

    baseline = forms.ChoiceField(required=False, label="Its baseline")

    def __init__(self, *args: Any, others: list[Evaluation], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        field = self.fields["baseline"]
        field.widget.attrs["class"] = "in"
        if isinstance(field, forms.ChoiceField):
            field.choices = [
                ("", "nothing"),
                *(
                    (
                        row.code,
                        f"{row.code}: {model_of(row)}, {'greedy' if row.greedy else 'sampled'}",
                    )
                    for row in others
                ),
            ]
