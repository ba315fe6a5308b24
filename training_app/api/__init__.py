"""The app's part of the API."""

from ninja import Router

ROUTERS: tuple[tuple[str, Router], ...] = ()
