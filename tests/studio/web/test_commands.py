import io
import json
from argparse import ArgumentParser
from typing import Any

import pytest
from django.core.management import call_command
from django.core.management.base import CommandError

from studio.lib.jsonvalue import JsonObject
from studio.web.commands import JobCommand, StudioCommand
from studio.web.errors import Invalid, Problem
from studio.web.models import Job
from tests.studio.web import job_kinds

pytestmark = pytest.mark.django_db
assert job_kinds.QUEUE


class Count(JobCommand):
    kind = "test_count"

    def add_own_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("total", type=int)

    def job_arguments(self, options: dict[str, Any]) -> JsonObject:
        if options["total"] < 0:
            raise Invalid("Not that many.", [Problem("total", "is negative", "Write 3.")])
        return {"total": options["total"]}


class Refuse(Count):
    kind = "test_refuse"


class Repeat(JobCommand):
    kind = "test_repeat"

    def job_arguments(self, options: dict[str, Any]) -> JsonObject:
        return {}


class Plain(StudioCommand):
    def run(self, options: dict[str, Any]) -> JsonObject:
        return {"name": "é", "families": {"a": 1}}


def _run(command: StudioCommand, *arguments: str) -> str:
    out = io.StringIO()
    call_command(command, *arguments, stdout=out, stderr=io.StringIO())
    return out.getvalue()


def test_with_json_progress_lines_come_first_and_one_object_last() -> None:
    lines = [json.loads(line) for line in _run(Count(), "3", "--json").splitlines()]
    seconds = lines[-1].pop("seconds")
    assert lines[0] == {"progress": {"done": 1, "total": 3, "note": "at 1"}}
    assert lines[-2] == {"progress": {"done": 3, "total": 3, "note": "at 3"}}
    assert lines[-1] == {"counted": 3, "attempt": 1}
    assert 0 <= seconds < 60
    assert Job.objects.get().inline


def test_a_report_that_says_nothing_new_is_no_line() -> None:
    *told, last = (json.loads(line) for line in _run(Repeat(), "--json").splitlines())
    assert told == [{"progress": {"done": 2, "total": 2, "note": "measuring"}}]
    assert list(last) == ["seconds"]


def test_without_json_a_person_reads_a_key_a_line() -> None:
    assert _run(Plain()) == 'name      é\nfamilies  {"a": 1}\n'
    assert json.loads(_run(Plain(), "--json")) == {"name": "é", "families": {"a": 1}}


def test_wrong_arguments_end_before_a_job_exists() -> None:
    with pytest.raises(CommandError, match=r"Not that many\.\n  total: is negative\. Write 3\."):
        _run(Count(), "--json", "--", "-1")
    assert not Job.objects.exists()


def test_a_job_that_fails_fails_the_command() -> None:
    with pytest.raises(CommandError, match="Two things are wrong"):
        _run(Refuse(), "1", "--json")


def test_inline_and_wait_exclude_each_other() -> None:
    with pytest.raises(CommandError, match="not allowed with"):
        _run(Count(), "1", "--inline", "--wait")
