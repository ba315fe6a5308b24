"""`audit_gates` and `renew_proofs`: what they print, keep and end with."""

import csv
import json
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from tasks_app.models import GateAudit

pytestmark = pytest.mark.django_db


def run(*arguments: str) -> tuple[dict[str, Any], str, int]:
    out, err, code = StringIO(), StringIO(), 0
    try:
        call_command(*arguments, "--json", stdout=out, stderr=err)
    except SystemExit as end:
        code = int(str(end.code))
    return json.loads(out.getvalue().splitlines()[-1]), err.getvalue(), code


def test_an_audit_of_two_gates_is_printed_kept_and_written(tmp_path: Path) -> None:
    table = tmp_path / "gates.csv"
    found, _, code = run(
        "audit_gates", "--count", "2", "--seed", "3", "--gate", "O2", "--gate", "S2",
        "--processes", "1", "--csv", str(table),
    )  # fmt: skip
    assert list(found) == [
        "gates", "repaired", "false_alarms", "clean", "misses", "alarms", "unmended", "unplanted",
        "audit", "seconds",
    ]  # fmt: skip
    assert list(found["gates"]) == ["S2", "O2"]
    assert {row["detected"] for row in found["gates"].values()} == {1.0}
    assert (found["false_alarms"], found["clean"], found["misses"], code) == (0, 5, {}, 0)
    audit = GateAudit.objects.get()
    assert (audit.code, audit.sound, audit.count, audit.seed) == (found["audit"], True, 2, 3)
    with table.open(newline="") as file:
        assert [row["gate"] for row in csv.DictReader(file)] == ["S2", "O2"]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--gate", "Z9"], "There is no gate Z9"),
        (["--count", "0"], "must be between 1 and 2,000"),
        (["--processes", "0"], "--processes must be between 1 and 64"),
    ],
)
def test_what_cannot_be_audited_is_refused(arguments: list[str], words: str) -> None:
    with pytest.raises(CommandError, match=words):
        call_command("audit_gates", *arguments, stdout=StringIO())
    assert not GateAudit.objects.exists()


def test_nothing_to_renew_is_no_failure() -> None:
    found, _, code = run("renew_proofs")
    assert (found["proven"], found["invalid"], found["left"], code) == (0, 0, 0, 0)
