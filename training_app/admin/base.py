"""What all of them share."""

from typing import Any

from django.contrib import admin
from django.http import HttpRequest


class ReadOnlyAdmin(admin.ModelAdmin[Any]):
    """Rows are written by operations and jobs alone."""

    show_full_result_count = False

    def has_add_permission(self, request: HttpRequest, obj: object = None) -> bool:
        """Nobody adds here."""
        return False

    def has_change_permission(self, request: HttpRequest, obj: object = None) -> bool:
        """Nobody changes here."""
        return False
