"""Filters on the command line."""

import re
from typing import Final

from django.core.management.base import BaseCommand

_NEGATED: Final = re.compile(r"-[A-Za-z]+:")


class TakesFilter(BaseCommand):
    """A command whose filter may begin with ``-state:…``, which looks like an option."""

    def run_from_argv(self, argv: list[str]) -> None:
        """Put a blank in front of a negated filter: the language ignores it, argparse obeys it."""
        super().run_from_argv([f" {a}" if _NEGATED.match(a) else a for a in argv])
