"""Forms of generation, new tasks and endpoints; what they mean is checked by the operations."""

from typing import Final

from django import forms

from studio.lib.jsonvalue import JsonObject
from tasks_app.core.generation.families.catalog import FAMILIES
from tasks_app.core.services.catalog import services
from tasks_app.enums import EndpointRole
from tasks_app.operations.generation import LARGEST_RUN, LARGEST_SEED

ALL_FAMILIES: Final = "all"
LEVELS: Final = [(str(level), str(level)) for level in range(1, 6)]
_PLAIN: Final = {"class": "in mono", "autocomplete": "off", "spellcheck": "false"}


class GenerateForm(forms.Form):
    """What to make: a requirement and the numbers of one run."""

    text = forms.CharField(
        label="Workflow in your words",
        required=False,
        max_length=5000,
        help_text="Kept with the tasks as the reason for them. The built-in families write by "
        "their own rules.",
        widget=forms.Textarea(
            attrs={
                "class": "in said",
                "rows": 4,
                "placeholder": "A customer writes for the second time about a damaged parcel. "
                "The coworker finds the right order, follows the rules and answers.",
            }
        ),
    )
    family = forms.ChoiceField(
        label="Family",
        choices=[
            (ALL_FAMILIES, "All families, in equal shares"),
            *((family.name, family.title) for family in FAMILIES.values()),
        ],
        widget=forms.Select(attrs={"class": "in"}),
    )
    difficulty = forms.MultipleChoiceField(
        label="Difficulty",
        required=False,
        choices=LEVELS,
        widget=forms.CheckboxSelectMultiple,
        help_text="None ticked: all five in equal shares.",
    )
    count = forms.IntegerField(
        label="Count",
        min_value=1,
        max_value=LARGEST_RUN,
        initial=20,
        widget=forms.NumberInput(attrs={"class": "in", "inputmode": "numeric"}),
    )
    seed = forms.IntegerField(
        label="Seed",
        min_value=0,
        max_value=LARGEST_SEED,
        initial=7,
        widget=forms.NumberInput(attrs={"class": "in", "inputmode": "numeric"}),
    )

    def families(self) -> list[str]:
        """The chosen families."""
        chosen = self.cleaned_data["family"]
        return list(FAMILIES) if chosen == ALL_FAMILIES else [chosen]

    def levels(self) -> list[int]:
        """The chosen levels; empty for all."""
        return [int(level) for level in self.cleaned_data["difficulty"]]


class NewTaskForm(forms.Form):
    """The least a task needs to begin with; the editor does the rest."""

    title = forms.CharField(
        label="Title",
        max_length=300,
        widget=forms.TextInput(attrs={"class": "in", "placeholder": "Refund the second charge"}),
    )
    request = forms.CharField(
        label="Request",
        max_length=20_000,
        help_text="As a colleague would write it, in a few sentences.",
        widget=forms.Textarea(attrs={"class": "in said", "rows": 5}),
    )
    organisation = forms.CharField(
        label="Organisation",
        max_length=300,
        initial="Lantern Yard, a mail-order house",
        widget=forms.TextInput(attrs={"class": "in"}),
    )
    requester = forms.CharField(
        label="Who asks",
        max_length=300,
        initial="Ada Winter",
        widget=forms.TextInput(attrs={"class": "in"}),
    )
    family = forms.ChoiceField(
        label="Family",
        choices=[(family.name, family.title) for family in FAMILIES.values()],
        widget=forms.Select(attrs={"class": "in"}),
    )
    subtype = forms.RegexField(
        label="Subtype",
        regex=r"^[a-z][a-z0-9_]{0,63}$",
        initial="by_hand",
        error_messages={"invalid": "Small letters, figures and underscores, a letter first."},
        widget=forms.TextInput(attrs={"class": "in mono"}),
    )
    level = forms.ChoiceField(
        label="Level",
        choices=LEVELS,
        initial="2",
        widget=forms.Select(attrs={"class": "in"}),
    )
    services = forms.MultipleChoiceField(
        label="Services",
        choices=[(name, name) for name in services()],
        initial=["helpdesk"],
        help_text="Their tools are offered; their records can be filled in next.",
        widget=forms.CheckboxSelectMultiple,
    )


class JsonForm(forms.Form):
    """A whole spec as JSON."""

    spec = forms.CharField(
        label="Task spec as JSON",
        max_length=5_000_000,
        widget=forms.Textarea(
            attrs={"class": "in mono", "rows": 12, "spellcheck": "false", "data-lines": ""}
        ),
    )


class DraftedForm(forms.Form):
    """Begin with a drafted task of a family, to be changed by hand."""

    family = forms.ChoiceField(
        label="Family",
        choices=[(family.name, family.title) for family in FAMILIES.values()],
        widget=forms.Select(attrs={"class": "in"}),
    )
    level = forms.ChoiceField(
        label="Level", choices=LEVELS, initial="2", widget=forms.Select(attrs={"class": "in"})
    )
    seed = forms.IntegerField(
        label="Seed",
        min_value=0,
        max_value=LARGEST_SEED,
        initial=1,
        widget=forms.NumberInput(attrs={"class": "in", "inputmode": "numeric"}),
    )


class EndpointForm(forms.Form):
    """A server of a language model; the key itself has no field anywhere."""

    name = forms.CharField(
        label="Name",
        max_length=40,
        help_text="Policies call it endpoint:NAME.",
        widget=forms.TextInput(attrs=_PLAIN),
    )
    base_url = forms.CharField(
        label="Base URL",
        max_length=500,
        help_text="Of an OpenAI-compatible server, such as https://api.example.com/v1",
        widget=forms.TextInput(attrs={**_PLAIN, "inputmode": "url"}),
    )
    model = forms.CharField(
        label="Model",
        max_length=200,
        help_text="As the server calls it.",
        widget=forms.TextInput(attrs=_PLAIN),
    )
    api_key_env = forms.CharField(
        label="Variable with the key",
        max_length=80,
        required=False,
        help_text="The name of an environment variable of the workers, such as LAB_API_KEY. "
        "Never the key itself.",
        widget=forms.TextInput(attrs=_PLAIN),
    )
    roles = forms.MultipleChoiceField(
        label="Used as",
        choices=EndpointRole.choices,
        initial=[EndpointRole.TEACHER.value],
        widget=forms.CheckboxSelectMultiple,
    )
    temperature = forms.FloatField(
        label="Temperature",
        required=False,
        min_value=0,
        max_value=2,
        widget=forms.NumberInput(attrs={"class": "in", "step": "any"}),
    )
    top_p = forms.FloatField(
        label="Top p",
        required=False,
        min_value=0,
        max_value=1,
        widget=forms.NumberInput(attrs={"class": "in", "step": "any"}),
    )
    max_tokens = forms.IntegerField(
        label="Tokens a reply",
        required=False,
        min_value=1,
        max_value=1_000_000,
        widget=forms.NumberInput(attrs={"class": "in"}),
    )

    def sampling(self) -> JsonObject:
        """What was filled in of temperature, top p and tokens."""
        names = ("temperature", "top_p", "max_tokens")
        given = {name: self.cleaned_data.get(name) for name in names}
        return {name: value for name, value in given.items() if value is not None}
