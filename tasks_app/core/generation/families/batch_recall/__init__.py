"""batch_recall: a batch is traced to its pallets, shipments and customers, until nothing is out.

The wrong turns: the customer of yesterday, where a shipment was rerouted and nobody said so; the
count of yesterday, where a return was corrected. Beside it: pallets of the next batch, used-up
ones, the letter that is no complaint.

Difficulty grows by days and writes: 1 two days, two pallets · 2 the laboratory writes · 3 returns
are counted on a third day · 4 a count is corrected before the last report · 5 a fault on a write.
"""

import random
from collections.abc import Mapping
from typing import Any

from tasks_app.core.generation.cast import Cast
from tasks_app.core.generation.families.batch_recall.draft import Recall
from tasks_app.core.generation.families.batch_recall.facts import (
    MIXED,
    ONE,
    WRONG,
    RecallFacts,
)
from tasks_app.core.generation.paper import Kind


class BatchRecall:
    """Call a batch back over several days."""

    name = "batch_recall"
    title = "Batch recall"
    purpose = (
        "Trace a batch through pallets and shipments to customers, block and write to each, follow "
        "what is rerouted, and count returns until nothing is out."
    )
    track = "clawmark"
    subtypes = (ONE, MIXED, WRONG)
    levels = (1, 2, 3, 4, 5)
    capabilities = ("C1", "C2", "C6", "C7", "C8", "C9", "C10", "C11", "C16", "C19")

    def draft(self, subtype: str, level: int, rng: random.Random) -> Mapping[str, Any]:
        """Return a written spec; see the family's own page for what the levels add."""
        facts = RecallFacts(subtype, level, Cast(rng))
        return Recall(Kind(self.name, self.track, subtype, level), facts).written()
