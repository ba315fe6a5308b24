"""The table of built-in families. Explicit, so that nothing depends on imports elsewhere."""

from collections.abc import Collection, Mapping
from types import MappingProxyType
from typing import Final

from tasks_app.core.generation.families.article_correction import ArticleCorrection
from tasks_app.core.generation.families.batch_recall import BatchRecall
from tasks_app.core.generation.families.customer_merge import CustomerMerge
from tasks_app.core.generation.families.expense_audit import ExpenseAudit
from tasks_app.core.generation.families.inbox_to_todo import InboxToTodo
from tasks_app.core.generation.families.job_repair import JobRepair
from tasks_app.core.generation.families.meeting_slot import MeetingSlot
from tasks_app.core.generation.families.month_end_close import MonthEndClose
from tasks_app.core.generation.families.order_change import OrderChange
from tasks_app.core.generation.families.payment_allocation import PaymentAllocation
from tasks_app.core.generation.families.payment_change import PaymentChangeInvestigation
from tasks_app.core.generation.families.pocket import POCKET_FAMILIES
from tasks_app.core.generation.families.reach_the_right_person import ReachTheRightPerson
from tasks_app.core.generation.families.recruitment_round import RecruitmentRound
from tasks_app.core.generation.families.secret_rotation import SecretRotation
from tasks_app.core.generation.families.stock_replenishment import StockReplenishment
from tasks_app.core.generation.families.support_resolution import SupportResolution
from tasks_app.core.generation.families.three_way_match import ThreeWayMatch
from tasks_app.core.generation.families.ticket_triage import TicketTriage
from tasks_app.core.generation.family import Family

FAMILIES: Final[Mapping[str, Family]] = MappingProxyType(
    {
        family.name: family
        for family in (
            SupportResolution(),
            PaymentChangeInvestigation(),
            *POCKET_FAMILIES,
            ReachTheRightPerson(),
            StockReplenishment(),
            PaymentAllocation(),
            TicketTriage(),
            ThreeWayMatch(),
            MeetingSlot(),
            JobRepair(),
            SecretRotation(),
            ArticleCorrection(),
            InboxToTodo(),
            OrderChange(),
            CustomerMerge(),
            ExpenseAudit(),
            MonthEndClose(),
            RecruitmentRound(),
            BatchRecall(),
        )
    }
)
"""Name → family, in the order of pages."""


INVENTORIES: Final = ("claw_eval", "clawmark")
"""Tracks whose tasks, made of all their families together, are an inventory."""


def families_of(track: str) -> tuple[str, ...]:
    """Return the families of a track, in order."""
    return tuple(name for name, family in FAMILIES.items() if family.track == track)


def inventory_of(families: Collection[str]) -> str | None:
    """Return the track of which these are all families, None for fewer; one alone is none."""
    asked = set(families)
    return next(
        (track for track in INVENTORIES if len(asked) > 1 and asked == {*families_of(track)}), None
    )
