"""Claw-Eval folders: read as data, with every loss and defect named."""

from pathlib import Path
from typing import Any

import yaml

from tasks_app.core.validation.proof import prove
from tasks_app.core.world.world import World
from tests.tasks_app.core.importers.claw_folders import (
    TICKETS,
    folder,
    imported,
    office,
    tool,
)


def test_a_business_task_becomes_an_evaluation_only_task_with_all_its_records(
    tmp_path: Path,
) -> None:
    found = imported(folder(tmp_path))
    spec = found.spec
    assert (found.tier, spec.evaluation_only, spec.aliases) == ("A", True, ("T900_lamp_triage",))
    assert spec.clock.start == "2026-02-28T09:00:00+00:00"
    records = spec.services["helpdesk"]["tickets"]
    assert [
        {k: r[k] for k in theirs} for r, theirs in zip(records, TICKETS, strict=True)
    ] == TICKETS
    assert [(r["id"], r["subject"], r["severity"]) for r in records] == [
        ("TK-1", "Printer", "normal"),
        ("TK-2", "VPN", "high"),
    ]
    assert [(c.id, c.kind, c.weight) for c in spec.checks] == [
        ("reading", "tool_called", 0.5),
        ("words_1", "text_match", 0.15),
        ("words_2", "text_match", 0.15),
        ("manner", "rubric", 0.2),
    ]
    assert [(c.kind, c.sentence) for c in spec.constraints] == [("forbid_tool", "Close nothing")]
    assert found.defects == {}
    assert "upstream scores come from" in spec.provenance["grading"]


def test_an_imported_task_runs_under_its_own_tool_names(tmp_path: Path) -> None:
    world = World(imported(folder(tmp_path)).spec)
    listed = world.call("helpdesk_list_tickets", {})
    assert [t["id"] for t in listed.outcome["tickets"]] == ["TK-1"]
    updated = world.call("helpdesk_update_ticket", {"ticket_id": "TK-1", "priority": "medium"})
    assert (updated.tool, updated.outcome["severity"]) == ("helpdesk_update_ticket", "normal")
    refused = world.call("helpdesk_update_ticket", {"ticket_id": "TK-1", "severity": "low"})
    assert refused.error == "unknown_argument"


def test_the_card_of_an_import_says_that_its_grader_is_unproven(tmp_path: Path) -> None:
    card = prove(imported(folder(tmp_path)).spec)
    assert (card.proven, card.unproven_reason) == (False, "unproven upstream grader")


def test_the_same_folder_gives_the_same_hash(tmp_path: Path) -> None:
    place = folder(tmp_path)
    assert imported(place).spec.hash == imported(place).spec.hash


def test_a_job_s_history_becomes_runs_of_their_own(tmp_path: Path) -> None:
    history = [{"run_at": "2026-03-23T08:00:00Z", "status": "success", "duration_s": 30}]
    jobs = [
        {
            "job_id": "JOB-1",
            "name": "Restock",
            "cron_expression": "0 8 * * 1",
            "enabled": True,
            "last_run": "2026-03-23T08:00:00Z",
            "last_status": "success",
            "execution_history": history,
        },
        {
            "job_id": "JOB-2",
            "name": "Sync",
            "cron_expression": "0 9 * * *",
            "enabled": False,
            "last_status": "failed",
        },
    ]
    place = office(
        tmp_path,
        "scheduler",
        "scheduler/jobs.json",
        jobs,
        tool("scheduler_list_jobs", status="string"),
        tool("scheduler_job_history", job_id="string", limit="integer"),
        tool("scheduler_update_job", job_id="string", enabled="boolean"),
    )
    world = World(imported(place).spec)
    listed = {
        status: [
            j["id"] for j in world.call("scheduler_list_jobs", {"status": status}).outcome["jobs"]
        ]
        for status in ("all", "enabled", "disabled", "success", "failed")
    }
    assert listed == {
        "all": ["JOB-1", "JOB-2"],
        "enabled": ["JOB-1"],
        "disabled": ["JOB-2"],
        "success": ["JOB-1"],
        "failed": ["JOB-2"],
    }
    runs = world.call("scheduler_job_history", {"job_id": "JOB-1"}).outcome["runs"]
    assert runs == [
        {
            "id": "JOB-1-R1",
            "job_id": "JOB-1",
            **history[0],
            "started_at": "2026-03-23T08:00:00Z",
            "seconds": 30,
        }
    ]
    switched = world.call("scheduler_update_job", {"job_id": "JOB-2", "enabled": True}).outcome
    assert switched["next_run"] == "2026-03-25T09:00:00+00:00"


def test_the_days_of_a_calendar_are_asked_in_their_words(tmp_path: Path) -> None:
    events = [
        {
            "event_id": "E1",
            "title": "Weekly",
            "attendees": ["a@x.example"],
            "start_time": "2026-03-04T09:00:00+00:00",
            "end_time": "2026-03-04T10:00:00+00:00",
        },
        {
            "event_id": "E2",
            "title": "Review",
            "attendees": ["b@x.example"],
            "start_time": "2026-03-05T09:00:00+00:00",
            "end_time": "2026-03-05T10:00:00+00:00",
        },
    ]
    place = office(
        tmp_path,
        "calendar",
        "calendar/events.json",
        events,
        tool("calendar_list_events", date="string", days="integer"),
        tool("calendar_get_user_events", user="string", date="string"),
        tool("calendar_create_event", title="string", start_time="string", end_time="string"),
    )
    spec = imported(place).spec
    assert spec.clock.start == "2026-03-03T09:00:00+00:00"
    world = World(spec)

    def ids(name: str, **arguments: Any) -> list[str]:
        return [e["id"] for e in world.call(name, arguments).outcome["events"]]

    assert ids("calendar_list_events", date="2026-03-04") == ["E1"]
    assert ids("calendar_list_events", date="2026-03-04", days=2) == ["E1", "E2"]
    assert ids("calendar_get_user_events", user="b@x.example", date="2026-03-05") == ["E2"]
    times = {"start_time": "2026-03-06T09:00", "end_time": "2026-03-06T10:00:00Z"}
    made = world.call("calendar_create_event", {"title": "New", **times}).outcome
    assert (made["start"], made["attendees"]) == (
        "2026-03-06T09:00+00:00",
        ["assistant@studio.example"],
    )


def test_the_sources_of_articles_become_feeds(tmp_path: Path) -> None:
    articles = [
        {"article_id": "A1", "title": "One", "source": "Daily", "category": "AI", "content": "x"},
        {"article_id": "A2", "title": "Two", "source": "Weekly", "content": "y"},
        {"article_id": "A3", "title": "Three", "source": "Daily", "content": "z"},
    ]
    place = office(
        tmp_path,
        "rss",
        "rss/articles.json",
        articles,
        tool("rss_list_feeds"),
        tool("rss_list_articles", source="string", feed_name="string"),
        tool("rss_publish", title="string", content="string"),
    )
    world = World(imported(place).spec)
    assert world.call("rss_list_feeds", {}).outcome["feeds"] == [
        {"id": "Daily", "name": "Daily", "category": "AI"},
        {"id": "Weekly", "name": "Weekly"},
    ]
    listed = world.call("rss_list_articles", {"feed_name": "daily"}).outcome["articles"]
    assert sorted(row["id"] for row in listed) == ["A1", "A3"]
    assert world.call("rss_publish", {"title": "t", "content": "c"}).outcome["recipients"] == []


def test_the_text_of_a_scan_is_read_by_the_name_that_the_request_uses(tmp_path: Path) -> None:
    place = office(
        tmp_path, "ocr_9", "ocr/unused.json", [], tool("ocr_extract_text", image_path="string")
    )
    (place / "fixtures" / "ocr" / "bulletin.txt").write_text("TOTAL 7", encoding="utf-8")
    data = yaml.safe_load((place / "task.yaml").read_text())
    data["sandbox_files"] = ["fixtures/pdf/bulletin.pdf"]
    (place / "task.yaml").write_text(yaml.safe_dump(data))
    found = imported(place)
    assert (found.tier, found.reason) == ("B", "canned texts of scans; runs; services files")
    world = World(found.spec)
    for path in ("bulletin.pdf", "fixtures/pdf/bulletin.pdf"):
        read = world.call("ocr_extract_text", {"image_path": path})
        assert read.outcome == {"id": "bulletin.pdf", "text": "TOTAL 7"}
    assert world.call("ocr_extract_text", {"image_path": "other.pdf"}).error == "not_found"
