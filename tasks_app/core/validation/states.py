"""Gate M2: what the right work leaves behind is looked at, field by field.

Each field that the reference changes is altered in its final records, without any call. None of
these altered ends may pass; a field that does not matter is declared free, with the reason.
"""

from collections.abc import Iterator, Sequence

from tasks_app.core.validation.card import Finding, MutantResult
from tasks_app.core.validation.closings import MOST_SURVIVORS, missing_field
from tasks_app.core.validation.gate import finding
from tasks_app.core.validation.trial import Trial
from tasks_app.core.validation.tried import as_suggestion


def overlooked(trial: Trial, states: Sequence[MutantResult]) -> Iterator[Finding]:
    """M2: every altered end loses."""
    alive = [state for state in states if state.verdict == "survived"]
    for number, state in enumerate(alive):
        place = state.difference[0]
        repair = missing_field(trial, place) if number < MOST_SURVIVORS else None
        yield finding(
            "M2",
            "/checks",
            f"the task still passes where {state.title}: no check reads {place}",
            hint="let a check expect it, or declare the field free and say why",
        ).model_copy(update={"suggestion": as_suggestion(trial, repair)})
