"""What was found and said about a version: proofs, verdicts, comments."""

import datetime as dt
from collections.abc import Sequence
from typing import Annotated, Any, Literal

from ninja import Schema
from pydantic import Field

from studio.web.api.bodies import Body
from tasks_app.enums import Decision, Verdict
from tasks_app.models import (
    Comment,
    Proof,
    Review,
)
from tasks_app.operations.outside_gates import OutsideResult
from tasks_app.schemas.fields import Reason, Text, VersionNumber


class OutsideOut(Schema):
    """What a gate over episodes says of the task as it is now."""

    id: str
    title: str
    state: Literal["held", "warned", "failed", "not_run"]
    reason: str
    lines: list[str]


class ProofOut(Schema):
    """A proof with its card."""

    verdict: Verdict
    hash: str
    gates_version: str
    milliseconds: float
    kept: int = Field(
        0, description="Gates taken from the proof before an edit that cannot affect them."
    )
    created_at: dt.datetime
    card: dict[str, Any]
    episodes: list[OutsideOut] = Field([], description="Gates P1 and P2; no part of the proof.")

    @staticmethod
    def from_row(row: Proof, outside: Sequence[OutsideResult] = ()) -> "ProofOut":
        """The public form of a row."""
        return ProofOut(
            verdict=Verdict(row.verdict),
            hash=row.spec_hash,
            gates_version=row.gates_version,
            milliseconds=row.milliseconds,
            kept=row.kept,
            created_at=row.created_at,
            card=row.card,
            episodes=[
                OutsideOut(
                    id=gate.id,
                    title=gate.title,
                    state=gate.state,
                    reason=gate.reason,
                    lines=list(gate.lines),
                )
                for gate in outside
            ],
        )


class VerdictIn(Body):
    """A verdict on one version."""

    base: VersionNumber = Field(description="The version that was looked at.")
    reason: Reason = ""
    cites: list[Annotated[Text, Field(max_length=200)]] = Field([], max_length=50)
    seconds: int | None = Field(None, ge=0, le=86_400)


class RetireIn(Body):
    """Why a task goes out of use."""

    reason: Reason = ""


class ReviewOut(Schema):
    """A verdict that was given."""

    version: int
    reviewer: str | None
    decision: Decision
    reason: str
    cites: list[str]
    created_at: dt.datetime

    @staticmethod
    def from_row(row: Review) -> "ReviewOut":
        """The public form of a row."""
        return ReviewOut(
            version=row.version.number,
            reviewer=row.reviewer.username if row.reviewer is not None else None,
            decision=Decision(row.decision),
            reason=row.reason,
            cites=row.cites,
            created_at=row.created_at,
        )


class CommentIn(Body):
    """A note, perhaps on a place."""

    text: Text = Field(min_length=1, max_length=5000)
    anchor: Text = Field("", max_length=200, description="A JSON pointer, turn:4 or check:k1.")


class CommentOut(Schema):
    """A note on a task."""

    author: str | None
    version: int | None
    anchor: str
    text: str
    created_at: dt.datetime

    @staticmethod
    def from_row(row: Comment) -> "CommentOut":
        """The public form of a row."""
        return CommentOut(
            author=row.author.username if row.author is not None else None,
            version=row.version.number if row.version is not None else None,
            anchor=row.anchor,
            text=row.text,
            created_at=row.created_at,
        )
