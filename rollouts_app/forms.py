"""The form that starts a batch."""

from typing import Final

from django import forms

from rollouts_app.core.scripted import POLICIES
from rollouts_app.operations.batches import LARGEST_GROUP

_CHOICES: Final = [(name, f"{name}: {what}") for name, what in POLICIES.items()]


class BatchForm(forms.Form):
    """Which policy, on which tasks, how often."""

    policy = forms.ChoiceField(
        choices=_CHOICES, initial="reference", widget=forms.Select(attrs={"class": "in"})
    )
    tasks = forms.CharField(
        required=False,
        max_length=2000,
        label="Tasks",
        help_text="A task filter, such as family:support_resolution difficulty:>=3. "
        "Without state: only tasks with a green proof.",
        widget=forms.TextInput(
            attrs={"class": "in mono", "autocomplete": "off", "spellcheck": "false"}
        ),
    )
    n = forms.IntegerField(
        min_value=1,
        max_value=LARGEST_GROUP,
        initial=1,
        label="Episodes a task",
        widget=forms.NumberInput(attrs={"class": "in"}),
    )
    seed = forms.IntegerField(
        min_value=0,
        max_value=2**53,
        initial=0,
        label="First seed",
        widget=forms.NumberInput(attrs={"class": "in"}),
    )
