"""Where Claw-Eval's services live here: a table, no code per task.

A service of theirs has a home: a collection here, and which of our fields theirs become beside
their own.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True)
class Part:
    """A list inside their record that is a collection of its own here."""

    field: str
    collection: str
    link: str
    """Our field that names the record it stood in."""
    renamed: Mapping[str, str]
    """Our field → theirs."""


@dataclass(frozen=True, slots=True)
class Kind:
    """A field of theirs whose distinct values are records of their own here."""

    field: str
    collection: str
    shared: tuple[str, ...]
    """Fields that the first record with the value lends to it."""


@dataclass(frozen=True, slots=True)
class Home:
    """Where an upstream service's records live here."""

    service: str
    collection: str
    id_field: str
    fixture: str
    """Default fixture path below the folder."""
    known_as: Mapping[str, str]
    """Our field → theirs, added beside theirs so that our tools can select on it."""
    renamed: Mapping[str, Mapping[str, str]]
    """Our field → their value → ours."""
    parts: tuple[Part, ...] = ()
    """Lists inside their record that are records of their own here."""
    kinds: tuple[Kind, ...] = ()
    """Fields of theirs whose distinct values are records of their own here."""


PRIORITY: Final = {"urgent": "urgent", "high": "high", "medium": "normal", "low": "low"}
HOMES: Final[Mapping[str, tuple[Home, ...]]] = {
    "gmail": (Home("mail", "messages", "message_id", "gmail/inbox.json", {}, {}),),
    "contacts": (
        Home(
            "contacts",
            "people",
            "contact_id",
            "contacts/contacts.json",
            {"team": "department", "role": "title", "site": "location"},
            {},
        ),
    ),
    "finance": (
        Home("finance", "transactions", "transaction_id", "finance/transactions.json", {}, {}),
    ),
    "helpdesk": (
        Home(
            "helpdesk",
            "tickets",
            "ticket_id",
            "helpdesk/tickets.json",
            {"subject": "title", "severity": "priority"},
            {"severity": PRIORITY},
        ),
    ),
    "inventory": (
        Home(
            "inventory",
            "products",
            "product_id",
            "inventory/products.json",
            {"sku": "product_id", "on_hand": "current_stock"},
            {},
        ),
        Home(
            "inventory",
            "products",
            "product_id",
            "inventory/items.json",
            {"sku": "product_id", "on_hand": "quantity"},
            {},
        ),
    ),
    "crm": (
        Home("crm", "customers", "customer_id", "crm/customers.json", {"segment": "tier"}, {}),
    ),
    "kb": (Home("kb", "articles", "article_id", "kb/articles.json", {"body": "content"}, {}),),
    "calendar": (
        Home(
            "calendar",
            "events",
            "event_id",
            "calendar/events.json",
            {"start": "start_time", "end": "end_time", "organiser": "organizer"},
            {},
        ),
    ),
    "todo": (Home("todo", "items", "task_id", "todo/tasks.json", {"due_on": "due_date"}, {}),),
    "notes": (
        Home(
            "notes",
            "notes",
            "note_id",
            "notes/meetings.json",
            {"body": "content", "date": "created_at"},
            {},
        ),
    ),
    "config": (
        Home(
            "config",
            "integrations",
            "integration_id",
            "config/integrations.json",
            {"url": "endpoint", "secret": "api_key", "note": "notes", "kind": "service"},
            {},
        ),
    ),
    "rss": tuple(
        Home(
            "rss",
            "articles",
            "article_id",
            fixture,
            {"feed_id": "source"},
            {},
            kinds=(Kind("source", "feeds", ("category",)),),
        )
        for fixture in ("rss/articles.json", "rss/feeds.json")
    ),
    "scheduler": (
        Home(
            "scheduler",
            "jobs",
            "job_id",
            "scheduler/jobs.json",
            {"schedule": "cron_expression", "owner": "created_by"},
            {},
            parts=(
                Part(
                    "execution_history",
                    "runs",
                    "job_id",
                    {"started_at": "run_at", "seconds": "duration_s"},
                ),
            ),
        ),
    ),
}
