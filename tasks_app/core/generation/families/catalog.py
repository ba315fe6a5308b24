"""The table of built-in families. Explicit, so that nothing depends on imports elsewhere."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from tasks_app.core.generation.families.payment_change import PaymentChangeInvestigation
from tasks_app.core.generation.families.pocket import POCKET_FAMILIES
from tasks_app.core.generation.families.support_resolution import SupportResolution
from tasks_app.core.generation.family import Family

FAMILIES: Final[Mapping[str, Family]] = MappingProxyType(
    {
        family.name: family
        for family in (SupportResolution(), PaymentChangeInvestigation(), *POCKET_FAMILIES)
    }
)
"""Name → family, in the order of pages."""
