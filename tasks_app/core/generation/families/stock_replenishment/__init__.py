"""The family stock_replenishment: forecast − stock − running orders; one order a supplier."""

from tasks_app.core.generation.families.stock_replenishment.family import StockReplenishment

__all__ = ["StockReplenishment"]
