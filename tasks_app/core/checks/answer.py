"""answer: the reply states the values that the output contract asks for, and no forbidden one."""

import functools
from typing import Any, Literal

from pydantic import Field

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
from tasks_app.core.evidence import Evidence, referenced
from tasks_app.core.predicates import fold
from tasks_app.core.results import Judgement


class Answer(BaseCheck):
    """Holds if the reply (of its stage, else the last one) hits all groups and no forbidden
    piece.
    """

    kind: Literal["answer"]
    text: TextGroups = Field(min_length=1)
    forbidden: Pieces = ()

    @functools.cached_property
    def _groups(self) -> tuple[tuple[Seeker, ...], ...]:
        return compile_groups(self.text)

    @functools.cached_property
    def _forbidden(self) -> Hunt:
        return Hunt(self.forbidden)

    def judge(self, evidence: Evidence) -> Judgement:
        """Read the reply."""
        stage = evidence.stages[-1] if self.stage is None else evidence.stage(self.stage)
        cites = (f"reply:{stage.id}",)
        if not stage.reply:
            return Judgement(0.0, "there is no reply", cites)
        text = fold(stage.reply)
        bad = self._forbidden.first(text, evidence, self.stage)
        if bad is not None:
            return Judgement(0.0, f"the reply says {say(self.forbidden[bad])}", cites)
        missing = first_miss(self._groups, text, evidence, self.stage)
        if missing is not None:
            return Judgement(0.0, f"the reply lacks {say_group(self.text[missing])}", cites)
        return Judgement(1.0, "", cites)

    def reads(self) -> tuple[str, ...]:
        """What its references look into."""
        return referenced(self.text)

    def expected_text(self) -> tuple[Any, ...]:
        """All pieces of its groups."""
        return tuple(piece for group in self.text for piece in group)
