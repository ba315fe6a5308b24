"""message_match: enough messages went to exactly these recipients and say what they must."""

import functools
from collections.abc import Mapping, Sequence
from typing import Any, Final, Literal

from pydantic import Field, field_validator

from tasks_app.core.checks.base import BaseCheck
from tasks_app.core.checks.groups import (
    Hunt,
    Pieces,
    Seeker,
    TextGroups,
    compile_groups,
    first_miss,
    say,
    say_group,
)
from tasks_app.core.evidence import (
    Evidence,
    Selection,
    referenced,
    without_references,
)
from tasks_app.core.predicates import compile_where, fold
from tasks_app.core.results import Judgement
from tasks_app.core.values import address

RECIPIENTS: Final = ("to", "cc")
TEXTS: Final = ("subject", "body", "text")


class MessageMatch(BaseCheck):
    """Holds if at least `min` messages to exactly `to` hold every text group.

    Recipients are to and cc together, compared without regard to case or order. No message to them
    may hold a forbidden piece. A message's text is subject and body.
    """

    kind: Literal["message_match"]
    mailbox: str = "mail/outbox"
    """The collection of sent messages."""
    to: tuple[str, ...] = ()
    """All recipients; none listed: any recipients."""
    where: Mapping[str, Any] = Field(default_factory=dict)
    """Narrows the messages, for those without addresses (a channel, a thread)."""
    text: TextGroups = ()
    forbidden: Pieces = ()
    min: int = Field(default=1, ge=1)

    @field_validator("where")
    @classmethod
    def _compiles(cls, value: Mapping[str, Any]) -> Mapping[str, Any]:
        compile_where(without_references(value))
        return value

    @functools.cached_property
    def _recipients(self) -> frozenset[str]:
        return frozenset(name.casefold() for name in self.to)

    @functools.cached_property
    def _selection(self) -> Selection:
        return Selection(self.mailbox, self.where)

    @functools.cached_property
    def _groups(self) -> tuple[tuple[Seeker, ...], ...]:
        return compile_groups(self.text)

    @functools.cached_property
    def _forbidden(self) -> Hunt:
        return Hunt(self.forbidden)

    def judge(self, evidence: Evidence) -> Judgement:
        """Count the messages that match."""
        id_field = evidence.ground.id_fields.get(self.mailbox, "id")
        good: list[str] = []
        nearest, where = f"no message in {self.mailbox} has exactly these recipients", ""
        for message in self._selection.of(evidence, self.stage):
            if self.to and recipients_of(message) != self._recipients:
                continue
            place = address(self.mailbox, message[id_field])
            text = fold(text_of(message))
            bad = self._forbidden.first(text, evidence, self.stage)
            if bad is not None:
                return Judgement(0.0, f"it says {say(self.forbidden[bad])}", (place,))
            missing = first_miss(self._groups, text, evidence, self.stage)
            if missing is None:
                good.append(place)
            else:
                nearest, where = f"it lacks {say_group(self.text[missing])}", place
        if len(good) >= self.min:
            return Judgement(1.0, "", tuple(good))
        if good:
            return Judgement(0.0, f"{len(good)} messages instead of {self.min}", tuple(good))
        return Judgement(0.0, nearest, (where,) if where else ())

    def reads(self) -> tuple[str, ...]:
        """The mailbox, and what its references look into."""
        return (self.mailbox, *referenced(self.where), *referenced(self.text))

    def expected_text(self) -> tuple[Any, ...]:
        """All pieces of its groups."""
        return tuple(piece for group in self.text for piece in group)


def recipients_of(message: Mapping[str, Any]) -> frozenset[str]:
    """Return who gets a message: to and cc together."""
    found: list[str] = []
    for field in RECIPIENTS:
        value = message.get(field)
        names: Sequence[Any] = value if isinstance(value, list) else (value,)
        found.extend(name.casefold() for name in names if isinstance(name, str) and name)
    return frozenset(found)


def text_of(message: Mapping[str, Any]) -> str:
    """Return what a message says: subject and body."""
    return "\n".join(value for field in TEXTS if isinstance(value := message.get(field), str))
