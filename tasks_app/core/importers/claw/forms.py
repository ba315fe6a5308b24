"""What Claw-Eval's tools are called here: a table, no code per task.

A tool of theirs is one of ours with the form of its arguments (see world/aliases.py).
"""

from collections.abc import Mapping
from typing import Any, Final

from tasks_app.core.importers.claw.homes import PRIORITY


def _arg(name: str, **more: Any) -> dict[str, Any]:
    return {"arg": name, **more}


def _day(name: str, edge: str) -> dict[str, Any]:
    return {"arg": name, "as": edge}


_ALL: Final = {"all": None}
DESK: Final = "assistant@studio.example"
"""Who is meant where their tool needs nobody and ours somebody: the coworker itself."""
TOOLS: Final[Mapping[str, tuple[str, Mapping[str, Any]]]] = {
    "gmail_list_messages": (
        "mail_list_messages",
        {
            "since": _arg("days_back", **{"as": "days_ago", "default": 7}),
            "limit": _arg("max_results"),
        },
    ),
    "gmail_get_message": ("mail_get_message", {"message_id": _arg("message_id")}),
    "gmail_send_message": (
        "mail_send_message",
        {"to": _arg("to", **{"as": "list"}), "subject": _arg("subject"), "body": _arg("body")},
    ),
    "gmail_save_draft": (
        "mail_save_draft",
        {
            "to": _arg("to", **{"as": "list"}),
            "subject": _arg("subject"),
            "body": _arg("body"),
            "message_id": _arg("reply_to_message_id"),
        },
    ),
    "contacts_search": ("contacts_search", {"query": _arg("query"), "team": _arg("department")}),
    "contacts_get": ("contacts_get_person", {"person_id": _arg("contact_id")}),
    "contacts_send_message": (
        "contacts_send_message",
        {"person_id": _arg("contact_id"), "text": _arg("message")},
    ),
    "finance_list_transactions": (
        "finance_list_transactions",
        {"since": _arg("start_date"), "until": _arg("end_date"), "limit": 200},
    ),
    "finance_get_transaction": (
        "finance_get_transaction",
        {"transaction_id": _arg("transaction_id")},
    ),
    "finance_submit_report": (
        "finance_submit_report",
        {
            "kind": "expense_report",
            "reference": _arg("title"),
            "exposure": _arg("total_amount"),
            "text": _arg("transactions", **{"as": "json"}),
        },
    ),
    "helpdesk_list_tickets": (
        "helpdesk_list_tickets",
        {"status": _arg("status", values=_ALL, default="open"), "limit": 200},
    ),
    "helpdesk_get_ticket": ("helpdesk_get_ticket", {"ticket_id": _arg("ticket_id")}),
    "helpdesk_update_ticket": (
        "helpdesk_update_ticket",
        {
            "ticket_id": _arg("ticket_id"),
            "severity": _arg("priority", values=PRIORITY),
            "tags": _arg("tags"),
            "category": _arg("category"),
        },
    ),
    "helpdesk_close_ticket": (
        "helpdesk_close_ticket",
        {"ticket_id": _arg("ticket_id"), "resolution": "resolved", "reference": _arg("resolution")},
    ),
    "inventory_list_products": (
        "inventory_list_products",
        {"category": _arg("category", values=_ALL), "limit": 200},
    ),
    "inventory_get_product": ("inventory_get_product", {"product_id": _arg("product_id")}),
    "inventory_list_items": (
        "inventory_list_products",
        {"category": _arg("category", values=_ALL), "limit": 200},
    ),
    "inventory_get_item": ("inventory_get_product", {"product_id": _arg("product_id")}),
    "inventory_create_order": (
        "inventory_create_purchase_order",
        {
            "supplier": _arg("supplier", default="unnamed supplier"),
            "lines": [{"sku": _arg("product_id"), "quantity": _arg("quantity")}],
        },
    ),
    "crm_list_customers": (
        "crm_list_customers",
        {"status": _arg("status", values=_ALL), "segment": _arg("tier", values=_ALL), "limit": 200},
    ),
    "crm_get_customer": ("crm_get_customer", {"customer_id": _arg("customer_id")}),
    "crm_export_report": (
        "crm_export_customers",
        {
            "customer_ids": _arg("customer_ids"),
            "fields": ["id", "name"],
            "recipient": DESK,
            "purpose": _arg("title"),
            "note": _arg("summary"),
        },
    ),
    "kb_search": (
        "kb_search",
        {
            "query": _arg("query"),
            "category": _arg("category", values=_ALL),
            "limit": _arg("max_results"),
        },
    ),
    "kb_get_article": ("kb_get_article", {"article_id": _arg("article_id")}),
    "kb_update_article": (
        "kb_update_article",
        {
            "article_id": _arg("article_id"),
            "title": _arg("title"),
            "body": _arg("content"),
            "category": _arg("category"),
        },
    ),
    "calendar_list_events": (
        "calendar_list_events",
        {
            "start": _arg("date", **{"as": "day_start", "else": _day("start_date", "day_start")}),
            "end": _arg(
                "date",
                **{"as": "day_end", "days": _arg("days"), "else": _day("end_date", "day_end")},
            ),
            "limit": 200,
        },
    ),
    "calendar_get_user_events": (
        "calendar_list_events",
        {
            "attendee": _arg("user"),
            "start": _day("date", "day_start"),
            "end": _day("date", "day_end"),
            "limit": 200,
        },
    ),
    "calendar_get_event": ("calendar_get_event", {"event_id": _arg("event_id")}),
    "calendar_create_event": (
        "calendar_create_event",
        {
            "title": _arg("title"),
            "start": _arg("start_time", **{"as": "instant"}),
            "end": _arg("end_time", **{"as": "instant"}),
            "attendees": _arg("attendees", **{"as": "list", "default": DESK}),
            "location": _arg("location"),
        },
    ),
    "calendar_delete_event": ("calendar_cancel_event", {"event_id": _arg("event_id")}),
    "todo_list_tasks": (
        "todo_list_items",
        {
            "status": _arg("status", values=_ALL),
            "priority": _arg("priority", values=_ALL),
            "limit": 200,
        },
    ),
    "todo_get_task": ("todo_get_item", {"item_id": _arg("task_id")}),
    "todo_create_task": (
        "todo_create_item",
        {
            "title": _arg("title"),
            "description": _arg("description"),
            "priority": _arg("priority", values=PRIORITY),
            "due_on": _arg("due_date", **{"as": "day"}),
            "tags": _arg("tags"),
        },
    ),
    "todo_update_task": (
        "todo_update_item",
        {
            "item_id": _arg("task_id"),
            "status": _arg("status", values={"pending": "open", "completed": "done"}),
            "priority": _arg("priority", values=PRIORITY),
            "title": _arg("title"),
            "description": _arg("description"),
            "tags": _arg("tags"),
        },
    ),
    "todo_delete_task": ("todo_delete_item", {"item_id": _arg("task_id")}),
    "notes_list": ("notes_list_notes", {"tag": _arg("tag"), "limit": 200}),
    "notes_get": ("notes_get_note", {"note_id": _arg("note_id")}),
    "config_list_integrations": (
        "config_list_integrations",
        {"status": _arg("status", values=_ALL), "kind": _arg("type", values=_ALL), "limit": 200},
    ),
    "config_get_integration": (
        "config_get_integration",
        {"integration_id": _arg("integration_id")},
    ),
    "send_notification": (
        "config_notify_people",
        {
            "text": _arg("message"),
            "recipients": _arg("recipients"),
            "channel": _arg("channel"),
        },
    ),
    "rss_list_feeds": (
        "rss_list_feeds",
        {"category": _arg("category", values=_ALL), "limit": 200},
    ),
    "rss_get_feed": ("rss_get_feed", {"feed_id": _arg("feed_id")}),
    "rss_list_articles": (
        "rss_list_articles",
        {
            "feed_id": _arg("source", **{"values": _ALL, "else": _arg("feed_name")}),
            "category": _arg("category", values=_ALL),
            "limit": _arg("max_results", default=20),
        },
    ),
    "rss_get_article": ("rss_get_article", {"article_id": _arg("article_id")}),
    "rss_publish": (
        "rss_publish_digest",
        {"title": _arg("title"), "content": _arg("content"), "recipients": _arg("recipients")},
    ),
    "scheduler_list_jobs": (
        "scheduler_list_jobs",
        {
            "enabled": _arg(
                "status",
                **{
                    "values": {
                        "enabled": True,
                        "disabled": False,
                        "all": None,
                        "success": None,
                        "failed": None,
                    },
                    "else": _arg("enabled"),
                },
            ),
            "last_status": _arg("status", values={"all": None, "enabled": None, "disabled": None}),
            "tag": _arg("tag"),
            "limit": 200,
        },
    ),
    "scheduler_get_job": ("scheduler_get_job", {"job_id": _arg("job_id")}),
    "scheduler_job_history": (
        "scheduler_list_runs",
        {"job_id": _arg("job_id"), "limit": _arg("limit", default=10)},
    ),
    "scheduler_create_job": (
        "scheduler_create_job",
        {
            "name": _arg("name"),
            "schedule": _arg("cron_expression"),
            "action": _arg("action"),
            "enabled": _arg("enabled"),
            "tags": _arg("tags"),
        },
    ),
    "scheduler_update_job": (
        "scheduler_update_job",
        {
            "job_id": _arg("job_id"),
            "name": _arg("name"),
            "schedule": _arg("cron_expression"),
            "action": _arg("action"),
            "enabled": _arg("enabled"),
            "tags": _arg("tags"),
        },
    ),
    "scheduler_delete_job": ("scheduler_delete_job", {"job_id": _arg("job_id")}),
    "ocr_extract_text": ("files_extract_text", {"file_id": _arg("image_path", **{"as": "name"})}),
    "caption_describe_image": (
        "files_extract_text",
        {"file_id": _arg("image_path", **{"as": "name"})},
    ),
    "documents_extract_text": ("files_extract_text", {"file_id": _arg("path", **{"as": "name"})}),
}
"""Their tool → our tool and the form of its arguments."""
