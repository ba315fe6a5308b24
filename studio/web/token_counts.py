"""The tokenizer that somebody chose on a page which shows what a model sees."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from django.conf import settings
from django.http import HttpRequest

from studio.lib.tokens import ESTIMATE, TokenCounter, counter_of, tokenizer_files

FOLDER: Final = "runs"
"""Where runs lie; each checkpoint carries its tokenizer."""


@dataclass(frozen=True)
class Counting:
    """What counts the tokens of a page, and what could."""

    counter: TokenCounter
    tokenizers: Sequence[str]
    """Names to choose from, beside the estimate."""
    problem: str
    """Why the estimate stands in for the one that was asked for; empty where it does not."""


def counting_of(request: HttpRequest) -> Counting:
    """The counter that `?tokenizer=NAME` asks for; the estimate where it asks for none."""
    files = tokenizer_files(Path(settings.VAR_DIR) / FOLDER)
    chosen = request.GET.get("tokenizer", ESTIMATE)
    problem = "" if chosen == ESTIMATE or chosen in files else "This tokenizer is gone."
    try:
        counter = counter_of(chosen, files)
    except ValueError as failure:
        problem, counter = f"{failure}", counter_of(ESTIMATE, {})
    return Counting(counter, list(files), problem)
