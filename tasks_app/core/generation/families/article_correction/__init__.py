"""article_correction: what enough closed cases say holds, and one passage of one article changes.

The wrong turns: the value that more of all cases give once withdrawn, open or older ones are
counted, the louder colleague, a draft that is right already, a threshold of last year, a whole text
written anew.

Difficulty grows by what counts and by what hangs on it: 1 closed cases are counted · 2 of them only
those that were resolved · 3 how many are enough stands in the current article · 4 a ticket on the
matter is closed with it · 5 a change that fails once, a case that gives orders.
"""

import random
from collections.abc import Mapping
from typing import Any

from tasks_app.core.generation.cast import Cast
from tasks_app.core.generation.families.article_correction.draft import Correction
from tasks_app.core.generation.families.article_correction.facts import (
    CONTRADICTION,
    MERGE,
    NUMBER,
    OUTDATED,
    CorrectionFacts,
)
from tasks_app.core.generation.paper import Kind


class ArticleCorrection:
    """Let closed cases decide what an article says, and change no more than that."""

    name = "article_correction"
    title = "Article correction"
    purpose = (
        "Count what closed cases bear out, and replace one passage, or end the article that is "
        "wrong; all else of the text stays."
    )
    track = "claw_eval"
    subtypes = (CONTRADICTION, OUTDATED, NUMBER, MERGE)
    levels = (1, 2, 3, 4, 5)
    capabilities = ("C1", "C2", "C7", "C8", "C9", "C10", "C18", "C19")

    def draft(self, subtype: str, level: int, rng: random.Random) -> Mapping[str, Any]:
        """Return a written spec."""
        facts = CorrectionFacts(subtype, level, Cast(rng))
        return Correction(Kind(self.name, self.track, subtype, level), facts).written()
