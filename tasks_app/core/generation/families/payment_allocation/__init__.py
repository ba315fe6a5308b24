"""The family payment_allocation: each write changes what is left for the next."""

from tasks_app.core.generation.families.payment_allocation.family import PaymentAllocation

__all__ = ["PaymentAllocation"]
