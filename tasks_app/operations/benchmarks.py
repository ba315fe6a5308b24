"""Benchmarks to compare with: added and removed as hashes and titles. One transaction each, one
audit entry.
"""

import hashlib
import re
import struct
from collections.abc import Iterable
from typing import Final, NamedTuple

from django.db import IntegrityError, transaction

from studio.web import audit
from studio.web.errors import Conflict, Invalid, NotFound, Problem
from tasks_app.core.validation.contamination import Print
from tasks_app.models import Benchmark, BenchmarkItem
from tasks_app.operations.actors import Actor, user_of

NAME: Final = re.compile(r"[a-z0-9][a-z0-9_-]{0,79}")


class NewItem(NamedTuple):
    """A prompt as it is kept."""

    title: str
    print: Print


@transaction.atomic
def add_benchmark(*, name: str, source: str, items: Iterable[NewItem], by: Actor) -> Benchmark:
    """Keep the hashes of a benchmark's prompts under a name; nothing of their texts.

    Invalid for a name that cannot be, or without a prompt; Conflict where the name is taken.
    """
    problems = []
    if not NAME.fullmatch(name):
        problems.append(
            Problem("name", "has small letters, digits, - and _", "Say it with --name.")
        )
    rows = [
        BenchmarkItem(title=item.title, grams=sorted(item.print.grams),
                      shingles=sorted(item.print.shingles))
        for item in items
        if item.print.grams
    ]  # fmt: skip
    if not rows:
        problems.append(Problem("path", "no prompt was found", "See what was left out and why."))
    if problems:
        raise Invalid("This benchmark cannot be added.", problems)
    try:
        with transaction.atomic():
            benchmark = Benchmark.objects.create(
                name=name, source=source[:300], items_count=len(rows), digest=_digest(rows),
                author=user_of(by),
            )  # fmt: skip
    except IntegrityError as error:
        raise Conflict(
            f"There is a benchmark {name} already; remove it first, or take another name."
        ) from error
    for row in rows:
        row.benchmark = benchmark
    BenchmarkItem.objects.bulk_create(rows, batch_size=500)
    audit.record(by, "add_benchmark", name, {"items": len(rows), "digest": benchmark.digest})
    return benchmark


@transaction.atomic
def remove_benchmark(*, name: str, by: Actor) -> None:
    """Forget a benchmark; NotFound where there is none of that name."""
    benchmark = Benchmark.objects.select_for_update().filter(name=name[:80]).first()
    if benchmark is None:
        raise NotFound(f"There is no benchmark {name[:80]}.")
    audit.record(by, "remove_benchmark", name, {"items": benchmark.items_count})
    benchmark.delete()


def _digest(rows: Iterable[BenchmarkItem]) -> str:
    hasher = hashlib.sha256()
    for grams in sorted(row.grams for row in rows):
        hasher.update(struct.pack(f"<I{len(grams)}q", len(grams), *grams))
    return hasher.hexdigest()
