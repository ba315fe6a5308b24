"""Routers of the platform: who am I, tokens, jobs, audit.

An app's ``api/__init__.py`` offers ``ROUTERS`` in the same form; ``studio.api`` mounts them all.
"""

from ninja import Router

from studio.web.api.audit import router as audit
from studio.web.api.jobs import router as jobs
from studio.web.api.me import router as me
from studio.web.api.tokens import router as tokens
from studio.web.api.views import router as views

ROUTERS: tuple[tuple[str, Router], ...] = (
    ("/me", me),
    ("/tokens", tokens),
    ("/jobs", jobs),
    ("/views", views),
    ("/audit", audit),
)
