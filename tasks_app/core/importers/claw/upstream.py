"""What Claw-Eval's own services take and keep: facts to hold a task's declarations against.

A declaration that its service does not bear out is an upstream defect (D01–D09).
"""

from collections.abc import Mapping
from typing import Final, NamedTuple


class Route(NamedTuple):
    """What an address of an upstream service wants and takes."""

    required: frozenset[str]
    optional: frozenset[str]

    @property
    def taken(self) -> frozenset[str]:
        """All arguments that have an effect there."""
        return self.required | self.optional


def _route(required: str = "", optional: str = "") -> Route:
    return Route(frozenset(required.split()), frozenset(optional.split()))


ROUTES: Final[Mapping[str, Route]] = {
    "calendar/events": _route("date", "days"),
    "calendar/events/get": _route("event_id"),
    "calendar/events/create": _route("title start_time end_time", "attendees location"),
    "calendar/events/delete": _route("event_id"),
    "calendar/user_events": _route("user date"),
    "caption/describe": _route("image_path"),
    "config/integrations": _route("", "status"),
    "config/integrations/get": _route("integration_id"),
    "config/integrations/update": _route("integration_id", "status notes"),
    "config/notify": _route("to subject body"),
    "contacts/search": _route("query", "department"),
    "contacts/get": _route("contact_id"),
    "contacts/send_message": _route("contact_id message"),
    "crm/customers": _route("", "status tier industry"),
    "crm/customers/get": _route("customer_id"),
    "crm/export": _route("title customer_ids summary"),
    "documents/extract_text": _route("path", "max_pages"),
    "finance/transactions": _route("", "start_date end_date"),
    "finance/transactions/get": _route("transaction_id"),
    "finance/report/submit": _route("title transactions total_amount"),
    "gmail/messages": _route("", "days_back max_results"),
    "gmail/messages/get": _route("message_id"),
    "gmail/send": _route("to subject body"),
    "gmail/drafts/save": _route("to subject body", "reply_to_message_id"),
    "helpdesk/tickets": _route("", "status"),
    "helpdesk/tickets/get": _route("ticket_id"),
    "helpdesk/tickets/update": _route("ticket_id", "priority tags category"),
    "helpdesk/tickets/close": _route("ticket_id resolution"),
    "inventory/products": _route("", "category"),
    "inventory/products/get": _route("product_id"),
    "inventory/orders/create": _route("product_id quantity", "supplier"),
    "kb/search": _route("query", "category max_results"),
    "kb/articles/get": _route("article_id"),
    "kb/articles/update": _route("article_id content"),
    "notes/list": _route("", "max_results"),
    "notes/get": _route("note_id"),
    "notes/share": _route("note_id recipients"),
    "ocr/extract": _route("image_path"),
    "rss/feeds": _route("", "category"),
    "rss/articles": _route("", "source category max_results"),
    "rss/articles/get": _route("article_id"),
    "rss/publish": _route("title content", "recipients"),
    "scheduler/jobs": _route("", "status enabled tag"),
    "scheduler/jobs/get": _route("job_id"),
    "scheduler/jobs/create": _route("name cron_expression action", "enabled tags created_by"),
    "scheduler/jobs/update": _route("job_id", "enabled cron_expression name action tags"),
    "scheduler/jobs/delete": _route("job_id"),
    "scheduler/jobs/history": _route("job_id", "limit"),
    "todo/tasks": _route("", "status"),
    "todo/tasks/create": _route("title", "description priority due_date"),
    "todo/tasks/update": _route("task_id", "title priority status tags"),
    "todo/tasks/delete": _route("task_id"),
    "web/search": _route("query", "max_results"),
    "web/fetch": _route("url", "timeout_seconds"),
    "web/notify": _route("channel message", "recipients"),
}
"""Path of an address → its arguments; what is not listed does not exist there."""
KEPT: Final[Mapping[str, frozenset[str]]] = {
    "calendar": frozenset({"deleted", "created_events"}),
    "config": frozenset({"updates", "notifications"}),
    "contacts": frozenset({"sent_messages"}),
    "crm": frozenset({"exported_reports"}),
    "finance": frozenset({"submitted_reports"}),
    "gmail": frozenset({"sent_messages", "drafts"}),
    "helpdesk": frozenset({"closed", "updated_tickets"}),
    "inventory": frozenset({"orders"}),
    "kb": frozenset({"updates"}),
    "notes": frozenset({"shared"}),
    "rss": frozenset({"published"}),
    "scheduler": frozenset({"created_jobs", "updated_jobs", "deleted_jobs"}),
    "todo": frozenset({"deleted", "updated_tasks"}),
    "web": frozenset({"notifications"}),
    "web_real": frozenset({"notifications"}),
}
"""Service → the lists of actions that it keeps and an expected action may name."""
MEANT: Final[Mapping[str, str]] = {"sent": "sent_messages"}
"""A list that no service keeps → the one that is meant."""
MOVED: Final = frozenset({"gmail", "calendar"})
"""Services whose dates upstream moves to the present day at each start."""
OCR: Final = "ocr"
"""Services whose name begins so hold canned texts of scans: `fixtures/ocr/NAME.txt`."""
LIVE: Final = frozenset({"web", "web_real", "web_real_injection"})
"""Services that reach into the live web."""
LIVE_TOOLS: Final = frozenset({"web_search", "web_fetch"})
COMMANDS: Final = frozenset(
    {"Bash", "Read", "Write", "Edit", "Glob", "Grep"}
    | {"sandbox_read_media", "sandbox_execute", "sandbox_read_file", "sandbox_write_file"}
)
"""Tools of a sandbox with a shell, which this studio does not run."""
