"""Four pocket families: small enough that a tiny model learns them, and proven like any other task.

At most five tools and eight records a service, a policy of two sentences, one deciding key in each
listing; a comparison is a tool's, the decision the policy's. The tag `held_out_names` marks tasks
whose names come from the pool that no demonstration of the other pool contains.
"""

from typing import Final

from tasks_app.core.generation.families.pocket.payment_change import PaymentChange
from tasks_app.core.generation.families.pocket.refund_or_decline import RefundOrDecline
from tasks_app.core.generation.families.pocket.reschedule import Reschedule
from tasks_app.core.generation.families.pocket.ticket_triage import TicketTriage

POCKET_FAMILIES: Final = (RefundOrDecline(), PaymentChange(), Reschedule(), TicketTriage())
