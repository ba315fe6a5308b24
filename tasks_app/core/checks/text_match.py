"""text_match and text_absent: a text holds what it must, or nothing that it must not."""

import functools
from typing import Any, Literal

from pydantic import Field, field_validator, model_validator

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
from tasks_app.core.checks.scopes import FILES, OUTBOX, Scope, read_scope
from tasks_app.core.evidence import Evidence, referenced
from tasks_app.core.predicates import compile_regex, fold
from tasks_app.core.results import Judgement


class TextCheck(BaseCheck):
    """What both kinds share: where they read."""

    scope: Scope = "final"
    """A check with a path reads that file."""
    path: str | None = None
    """Path of the file."""

    @model_validator(mode="after")
    def _file_has_path(self) -> "TextCheck":
        if self.scope == "file" and not self.path:
            raise ValueError("scope file needs a path")
        if self.path and self.scope not in ("file", "final"):
            raise ValueError(f"scope {self.scope} takes no path")
        return self

    @property
    def place(self) -> Scope:
        """The scope it reads."""
        return "file" if self.path else self.scope

    def reads(self) -> tuple[str, ...]:
        """The collection its text stands in."""
        return {"file": (FILES,), "message": (OUTBOX,)}.get(self.place, ())


class TextMatch(TextCheck):
    """Holds if the text hits every group and regex, is long enough and holds nothing forbidden."""

    kind: Literal["text_match"]
    text: TextGroups = ()
    regex: str | tuple[str, ...] = ()
    """Expressions that must all be found in the text as it stands; case ignored."""
    min_length: int = Field(default=0, ge=0)
    """Characters, without blanks at the ends."""
    forbidden: Pieces = ()

    @field_validator("regex")
    @classmethod
    def _regex_compiles(cls, value: str | tuple[str, ...]) -> str | tuple[str, ...]:
        for expression in (value,) if isinstance(value, str) else value:
            compile_regex(expression)
        return value

    @model_validator(mode="after")
    def _says_something(self) -> "TextMatch":
        if not (self.text or self.regex or self.min_length):
            raise ValueError("text_match needs text, regex or min_length")
        return self

    @functools.cached_property
    def _groups(self) -> tuple[tuple[Seeker, ...], ...]:
        return compile_groups(self.text)

    @functools.cached_property
    def _forbidden(self) -> Hunt:
        return Hunt(self.forbidden)

    def judge(self, evidence: Evidence) -> Judgement:
        """Read the text and look for each group."""
        passage = read_scope(self.place, self.path, evidence, self.stage)
        if len(passage.text.strip()) < max(self.min_length, 1):
            return Judgement(0.0, f"the text has less than {max(self.min_length, 1)} characters")
        text = fold(passage.text)
        bad = self._forbidden.first(text, evidence, self.stage)
        if bad is not None:
            return Judgement(0.0, f"it says {say(self.forbidden[bad])}", passage.cites)
        missing = first_miss(self._groups, text, evidence, self.stage)
        if missing is not None:
            return Judgement(0.0, f"it lacks {say_group(self.text[missing])}", passage.cites)
        for expression in (self.regex,) if isinstance(self.regex, str) else self.regex:
            if compile_regex(expression).search(passage.text) is None:
                return Judgement(0.0, f"it does not match /{expression}/", passage.cites)
        return Judgement(1.0, "", passage.cites)

    def reads(self) -> tuple[str, ...]:
        """Its place, and what its references look into."""
        return (*super().reads(), *referenced(self.text))

    def expected_text(self) -> tuple[Any, ...]:
        """All pieces of its groups."""
        return tuple(piece for group in self.text for piece in group)


class TextAbsent(TextCheck):
    """Holds if no piece stands in the text. An empty text holds nothing; a missing file fails."""

    kind: Literal["text_absent"]
    text: Pieces = Field(min_length=1)

    @functools.cached_property
    def _pieces(self) -> Hunt:
        return Hunt(self.text)

    def judge(self, evidence: Evidence) -> Judgement:
        """Read the text and look for the first piece."""
        passage = read_scope(self.place, self.path, evidence, self.stage)
        bad = self._pieces.first(fold(passage.text), evidence, self.stage)
        if bad is not None:
            return Judgement(0.0, f"it says {say(self.text[bad])}", passage.cites)
        return Judgement(1.0, "", passage.cites)
