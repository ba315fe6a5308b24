"""Writes: each function is keyword-only, one transaction, and knows nothing of Celery."""
