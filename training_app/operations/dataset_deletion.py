"""Deleting a frozen dataset that nothing was trained on (docs/decisions/0026)."""

from typing import Final

from django.db import connection, transaction

from studio.web import audit
from studio.web.audit import HasUser
from studio.web.errors import Conflict, Invalid, Problem
from studio.web.models import User
from training_app.models import Dataset
from training_app.operations.datasets import hold, require_frozen
from training_app.queries.datasets import runs_on

LONGEST_REASON: Final = 500
_NAMED: Final = 5


@transaction.atomic
def delete_dataset(*, dataset: Dataset, name: str, reason: str, by: User | HasUser) -> None:
    """Delete a frozen dataset with its rows; the audit entry keeps what it was, and why it went.

    Args:
        dataset: It is frozen; one that never was is discarded instead.
        name: Its name once more: nobody deletes the wrong one.
        reason: For those who look for it later.
        by: A lead.

    Conflict names the runs that refer to it, NotFound one that is gone already; Invalid says what
    of name and reason is wrong.
    """
    row = hold(dataset)
    require_frozen(row)
    runs = runs_on(row)
    if codes := list(runs.values_list("code", flat=True)[: _NAMED + 1]):
        more = " and others" if len(codes) > _NAMED else ""
        raise Conflict(
            f"{row.code} stays: {', '.join(codes[:_NAMED])}{more} "
            f"{'was' if len(codes) == 1 else 'were'} trained on it."
        )
    reason = " ".join(reason.split())
    problems = []
    if name.strip() != row.name:
        problems.append(Problem("name", "is not the name of this dataset", f"Type “{row.name}”."))
    if not reason or len(reason) > LONGEST_REASON or not reason.isprintable():
        problems.append(
            Problem("reason", f"has 1 to {LONGEST_REASON} characters", "Say why it goes.")
        )
    if problems:
        raise Invalid(f"{row.code} is not deleted.", problems)
    audit.record(
        by,
        "delete_dataset",
        row.code,
        {
            "name": row.name,
            "kind": row.kind,
            "rows": row.rows,
            "sha256": row.sha256,
            "filter": row.filter,
            "reason": reason,
        },
    )
    with connection.cursor() as cursor:  # the database keeps every frozen dataset but this one
        cursor.execute("SELECT set_config('studio.dataset_goes', %s, true)", [row.code])
        row.delete()
        cursor.execute("SELECT set_config('studio.dataset_goes', '', true)")
