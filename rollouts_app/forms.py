"""The form that starts a batch."""

from typing import Any, Final

from django import forms

from rollouts_app.core.scripted import POLICIES
from rollouts_app.core.teacher import PREFIX
from rollouts_app.operations.batches import (
    CONCURRENCY,
    LARGEST_BUDGET,
    LARGEST_GROUP,
    MOST_AT_ONCE,
)
from rollouts_app.policies import brought
from tasks_app.enums import EndpointRole
from tasks_app.queries import endpoints

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
    concurrency = forms.IntegerField(
        required=False,
        min_value=1,
        max_value=MOST_AT_ONCE,
        initial=CONCURRENCY,
        label="Episodes at once",
        widget=forms.NumberInput(attrs={"class": "in"}),
    )
    budget_calls = forms.IntegerField(
        required=False,
        min_value=1,
        max_value=LARGEST_BUDGET,
        label="Calls at most",
        widget=forms.NumberInput(attrs={"class": "in"}),
    )
    budget_tokens = forms.IntegerField(
        required=False,
        min_value=1,
        max_value=LARGEST_BUDGET,
        label="Tokens at most",
        widget=forms.NumberInput(attrs={"class": "in"}),
    )

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        models = [
            (f"{PREFIX}{row.name}", f"{PREFIX}{row.name}: {row.model}")
            for row in endpoints(EndpointRole.TEACHER)
        ] + brought()
        self.has_models = bool(models)
        policy = self.fields["policy"]
        if isinstance(policy, forms.ChoiceField):
            policy.choices = [*_CHOICES, *models]


class BudgetForm(forms.Form):
    """What a stopped batch may spend from its beginning."""

    calls = forms.IntegerField(required=False, min_value=1, max_value=LARGEST_BUDGET)
    tokens = forms.IntegerField(required=False, min_value=1, max_value=LARGEST_BUDGET)
