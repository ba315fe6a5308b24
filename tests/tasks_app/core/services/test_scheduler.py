"""Jobs and schedules: when a job runs next, and what switching it off does."""

from typing import Any

import pytest

from tasks_app.core.services.cron import CronError, next_run, parse_cron
from tests.tasks_app.core.services.office import NOW, Office

JOBS: list[dict[str, Any]] = [
    {
        "id": "JB-001",
        "name": "Nightly export",
        "schedule": "30 2 * * *",
        "enabled": True,
        "owner": "Data",
        "tags": ["export"],
        "last_status": "failed",
        "next_run": "2031-03-21T02:30:00+01:00",
    },
    {"id": "JB-002", "name": "Old sync", "schedule": "0 6 * * 1-5", "enabled": False},
]
RUNS: list[dict[str, Any]] = [
    {
        "id": "RN-0001",
        "job_id": "JB-001",
        "started_at": "2031-03-18T02:30:00+01:00",
        "status": "succeeded",
    },
    {
        "id": "RN-0002",
        "job_id": "JB-001",
        "started_at": "2031-03-19T02:30:00+01:00",
        "status": "failed",
        "message": "disk full",
    },
]


@pytest.fixture
def office() -> Office:
    return Office({"scheduler": {"jobs": JOBS, "runs": RUNS}})


@pytest.mark.parametrize(
    ("schedule", "after", "expected"),
    [
        ("*/15 * * * *", "2031-03-20T09:10:00+01:00", "2031-03-20T09:15:00+01:00"),
        ("15 9 * * *", "2031-03-20T09:15:00+01:00", "2031-03-21T09:15:00+01:00"),
        ("0 6 * * 1-5", "2031-03-21T06:00:00+01:00", "2031-03-24T06:00:00+01:00"),
        ("0 0 1 * *", "2031-12-05T00:00:00+00:00", "2032-01-01T00:00:00+00:00"),
        ("0 0 29 2 *", "2031-03-01T00:00:00+00:00", "2032-02-29T00:00:00+00:00"),
        ("0 12 13 * fri", "2031-03-09T12:00:00+00:00", "2031-03-13T12:00:00+00:00"),
        ("0 12 * jan-mar sun", "2031-03-31T12:00:00+00:00", "2032-01-04T12:00:00+00:00"),
        ("0 12 * * 7", "2031-03-20T12:00:00+00:00", "2031-03-23T12:00:00+00:00"),
        ("5/20 8,10 * * *", "2031-03-20T08:45:00+00:00", "2031-03-20T10:05:00+00:00"),
        ("@weekly", "2031-03-20T12:00:00+00:00", "2031-03-23T00:00:00+00:00"),
        ("0 0 30 2 *", "2031-03-20T12:00:00+00:00", None),
        ("0 0 1 1 *", "9999-12-31T12:00:00+00:00", None),
    ],
)
def test_the_next_run_is_the_first_moment_that_the_schedule_admits(
    schedule: str, after: str, expected: str | None
) -> None:
    assert next_run(parse_cron(schedule), after) == expected


@pytest.mark.parametrize(
    "schedule",
    [
        "",
        "* * * *",
        "60 * * * *",
        "* 24 * * *",
        "* * 0 * *",
        "* * * 13 *",
        "* * * * 8",
        "5-1 * * * *",
        "*/0 * * * *",
        "*-5 * * * *",
        "a * * * *",
        "1,,2 * * * *",
        "² * * * *",
    ],
)
def test_a_text_that_is_no_schedule_is_refused(schedule: str) -> None:
    with pytest.raises(CronError):
        parse_cron(schedule)


def test_jobs_are_found_by_how_they_ended_and_whether_they_run(office: Office) -> None:
    failed = office.call("scheduler_list_jobs", last_status="failed")
    assert [job["id"] for job in failed["jobs"]] == ["JB-001"]
    off = office.call("scheduler_list_jobs", enabled=False)
    assert [job["id"] for job in off["jobs"]] == ["JB-002"]
    runs = office.call("scheduler_list_runs", job_id="JB-001")
    assert [run["id"] for run in runs["runs"]] == ["RN-0002", "RN-0001"]


def test_a_new_job_knows_when_it_runs_next_unless_it_is_off(office: Office) -> None:
    made = office.call(
        "scheduler_create_job", name="Digest", schedule="0 7 * * *", action="mail the digest"
    )
    assert (made["id"], made["next_run"], made["updated_at"]) == (
        "JB-003",
        "2031-03-21T07:00:00+01:00",
        NOW,
    )
    idle = office.call(
        "scheduler_create_job", name="Idle", schedule="0 7 * * *", action="x", enabled=False
    )
    assert idle["next_run"] is None


def test_switching_off_takes_the_next_run_away_and_switching_on_finds_it_again(
    office: Office,
) -> None:
    off = office.call("scheduler_update_job", job_id="JB-001", enabled=False)
    assert off["next_run"] is None
    assert office.changed() == ["scheduler/jobs/JB-001#enabled,next_run,updated_at"]
    assert office.refusal("scheduler_update_job", job_id="JB-001", enabled=False) == "conflict"
    again = office.call("scheduler_update_job", job_id="JB-001", enabled=True, tags=["nightly"])
    assert (again["next_run"], again["tags"]) == ("2031-03-21T02:30:00+01:00", ["nightly"])


def test_another_schedule_moves_the_next_run_of_a_job_that_is_on(office: Office) -> None:
    moved = office.call("scheduler_update_job", job_id="JB-001", schedule="0 12 * * *")
    assert moved["next_run"] == "2031-03-20T12:00:00+01:00"
    idle = office.call("scheduler_update_job", job_id="JB-002", schedule="0 12 * * *")
    assert idle["next_run"] is None


def test_a_deleted_job_leaves_its_runs(office: Office) -> None:
    office.call("scheduler_delete_job", job_id="JB-001")
    assert office.changed() == ["delete scheduler/jobs/JB-001"]
    assert office.record("scheduler/runs", "RN-0001")["status"] == "succeeded"


@pytest.mark.parametrize(
    ("name", "arguments", "code"),
    [
        ("scheduler_get_job", {"job_id": "JB-9"}, "not_found"),
        ("scheduler_list_runs", {"job_id": "JB-9"}, "not_found"),
        (
            "scheduler_create_job",
            {"name": "x", "schedule": "daily", "action": "y"},
            "invalid_value",
        ),
        (
            "scheduler_create_job",
            {"name": "nightly EXPORT", "schedule": "0 1 * * *", "action": "y"},
            "conflict",
        ),
        ("scheduler_update_job", {"job_id": "JB-001"}, "invalid_value"),
        ("scheduler_update_job", {"job_id": "JB-001", "owner": "Data"}, "conflict"),
    ],
)
def test_what_does_not_fit_is_refused(
    office: Office, name: str, arguments: dict[str, Any], code: str
) -> None:
    assert office.refusal(name, **arguments) == code
