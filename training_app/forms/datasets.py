"""The form that freezes a dataset: what goes in, what curation drops, what is mixed in."""

from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Any, Final

from django import forms

from training_app.core.curation import DUPLICATES, ERRORS, LARGEST, Rules
from training_app.core.dataset import LARGEST_WEIGHT
from training_app.enums import DatasetKind
from training_app.operations.dataset_deletion import LONGEST_REASON
from training_app.operations.datasets import Mix
from training_app.queries.datasets import all_families

_TEXT: Final = {"class": "in mono", "autocomplete": "off", "spellcheck": "false"}
_DEFAULT: Final = Rules()


def _choices(words: Mapping[str, str]) -> list[tuple[str, str]]:
    return [(name, said.capitalize()) for name, said in words.items()]


class DatasetForm(forms.Form):
    """One form for both kinds; for prompts the fields of curation are taken out."""

    name = forms.CharField(
        max_length=80, label="Name", widget=forms.TextInput(attrs={"class": "in"})
    )
    filter = forms.CharField(
        required=False, max_length=2000, label="Filter", widget=forms.TextInput(attrs=_TEXT)
    )
    passed = forms.BooleanField(required=False, label="Only episodes that passed")
    finished = forms.BooleanField(required=False, label="Only those that ended by themselves")
    usable_tasks = forms.BooleanField(
        required=False, label="Not of tasks that were rejected, invalid or retired"
    )
    turns = forms.IntegerField(
        required=False, min_value=1, max_value=LARGEST, label="Turns at most"
    )
    tokens = forms.IntegerField(
        required=False, min_value=1, max_value=LARGEST, label="Tokens at most"
    )
    errors_kept = forms.ChoiceField(
        choices=_choices(ERRORS), label="Errors on the way", widget=forms.Select
    )
    duplicates = forms.ChoiceField(
        choices=_choices(DUPLICATES), label="The same calls on the same task", widget=forms.Select
    )
    quote = forms.BooleanField(
        required=False,
        label="Turns say what they found before they act",
        help_text="For very small models, which copy what stands close by.",
    )
    held = forms.MultipleChoiceField(
        required=False,
        label="Hold these families back",
        help_text="None: names, ids and values that were drawn for measuring are held back.",
        widget=forms.CheckboxSelectMultiple,
    )
    mix = forms.FileField(
        required=False,
        label="Mix in a file",
        help_text="JSON Lines, each {messages, tools}; what breaks E1 is dropped and listed.",
    )
    weight = forms.DecimalField(
        required=False,
        max_value=LARGEST_WEIGHT,
        max_digits=9,
        decimal_places=4,
        initial=1,
        label="Weight",
        help_text="2: each row twice. 0.5: every second row.",
    )
    license = forms.CharField(
        required=False,
        max_length=500,
        label="License and provenance",
        widget=forms.TextInput(attrs={"class": "in"}),
    )

    curation: Final = (
        "passed", "finished", "usable_tasks", "turns", "tokens", "errors_kept", "duplicates",
        "quote",
    )  # fmt: skip
    mixing: Final = ("mix", "weight", "license")

    def __init__(self, *args: Any, kind: DatasetKind, **kwargs: Any) -> None:
        defaults = {**_DEFAULT.written(), "errors_kept": _DEFAULT.errors}
        kwargs["initial"] = {**defaults, **kwargs.get("initial", {})}
        super().__init__(*args, **kwargs)
        self.kind = kind
        held = self.fields["held"]
        if isinstance(held, forms.MultipleChoiceField):
            held.choices = [(name, name.replace("_", " ")) for name in all_families()]
        asked = self.fields["filter"]
        if kind == DatasetKind.PROMPTS:
            asked.help_text = "A task filter. Without state: only approved tasks."
            for name in (*self.curation, *self.mixing):
                del self.fields[name]
        else:
            asked.help_text = "An episode filter, such as policy:reference; empty: all episodes."

    @property
    def has_curation(self) -> bool:
        """Whether episodes are curated."""
        return self.kind == DatasetKind.DEMONSTRATIONS

    def rules(self) -> dict[str, Any]:
        """The settings of curation as they are stored; empty for prompts."""
        if not self.has_curation:
            return {}
        found = {name: self.cleaned_data.get(name) for name in self.curation}
        found["errors"] = found.pop("errors_kept")
        return found

    def mixes(self) -> Sequence[Mix]:
        """The file that is mixed in, if there is one."""
        upload = self.cleaned_data.get("mix")
        if upload is None:
            return ()
        weight = self.cleaned_data.get("weight")
        return (
            Mix(
                source=upload.name,
                data=upload.read(),
                weight=Decimal(1) if weight is None else weight,
                license=self.cleaned_data.get("license", ""),
            ),
        )


class DeleteForm(forms.Form):
    """What somebody types who deletes a dataset."""

    name = forms.CharField(
        max_length=80,
        label="Its name, once more",
        strip=True,
        widget=forms.TextInput(attrs={"class": "in", "autocomplete": "off"}),
    )
    reason = forms.CharField(
        max_length=LONGEST_REASON,
        label="Why",
        widget=forms.TextInput(attrs={"class": "in", "autocomplete": "off"}),
    )
