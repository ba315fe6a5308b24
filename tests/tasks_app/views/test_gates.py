"""The pages of the gates: words, yield, the newest audit, misses that open; nothing unescaped."""

import csv
import io

import pytest
from django.test import Client

from studio.web import jobs
from studio.web.models import Job
from tasks_app.core.audit.audit import Chore, Done, Report
from tasks_app.jobs import AUDIT, RENEW
from tasks_app.models import AuditMiss, GateAudit, Task
from tasks_app.operations.audits import open_audit, store_audit

pytestmark = pytest.mark.django_db
EVIL = "<script>alert(1)</script>"


@pytest.fixture
def audited(db: None) -> GateAudit:
    report = Report()
    report.add(Done(Chore("M1", "no_amount", 0, 1), "t1", detected=True, repaired=True))
    report.add(Done(Chore("M1", "no_amount", 1, 1), f"t2 {EVIL}", words=EVIL, spec={"slug": EVIL}))
    report.add(Done(Chore("", "", 0, 1, 1), "t3"))
    row = open_audit(by=None, count=2, seed=1)
    return store_audit(audit=row, report=report, seconds=3.0)


def test_without_an_audit_the_page_says_how_to_make_one(viewer: Client) -> None:
    page = viewer.get("/gates/").content.decode()
    assert "No audit yet" in page
    assert "manage.py audit_gates" in page
    assert 'id="gate-S1"' in page
    assert "Starting an audit needs the role of an editor." in page


def test_the_table_tells_what_the_newest_audit_found(viewer: Client, audited: GateAudit) -> None:
    page = viewer.get("/gates/").content.decode()
    assert audited.code in page
    assert "50" in page.split('id="gate-M1"')[1].split("</tr>")[0]
    assert EVIL not in page
    assert "&lt;script&gt;" in page


def test_a_gate_has_a_page_with_its_words_and_its_planters(
    viewer: Client, audited: GateAudit, task: Task
) -> None:
    Task.objects.filter(pk=task.pk).update(findings=["M1"], title=EVIL)
    page = viewer.get("/gates/m1/").content.decode()
    assert "Wrong variants of the reference do not pass" in page
    assert "No check expects the amount" in page
    assert task.code in page
    assert EVIL not in page


def test_an_unknown_gate_is_a_404(viewer: Client) -> None:
    assert viewer.get("/gates/Z9/").status_code == 404


def test_a_miss_opens_the_spec(viewer: Client, audited: GateAudit) -> None:
    miss = AuditMiss.objects.get(audit=audited)
    page = viewer.get(f"/gates/misses/{miss.pk}/").content.decode()
    assert "&quot;slug&quot;" in page
    assert EVIL not in page
    assert viewer.get(f"/gates/misses/{miss.pk + 1}/").status_code == 404


def test_the_table_is_there_as_csv(viewer: Client, audited: GateAudit) -> None:
    answer = viewer.get("/gates/audit.csv")
    rows = list(csv.DictReader(io.StringIO(answer.content.decode())))
    assert rows == [
        {
            "gate": "M1",
            "checks_what": "wrong solutions lose",
            "planted": "2",
            "detected": "1",
            "to_repair": "1",
            "repaired": "1",
            "false_alarms": "0",
        }
    ]


def test_without_an_audit_there_is_no_csv(viewer: Client) -> None:
    assert viewer.get("/gates/audit.csv").status_code == 404


@pytest.mark.parametrize(("path", "kind"), [("audit", AUDIT), ("renew", RENEW)])
def test_an_editor_starts_the_work_and_a_viewer_does_not(
    editor: Client, viewer: Client, path: str, kind: str
) -> None:
    assert viewer.post(f"/gates/{path}/").status_code == 403
    assert editor.post(f"/gates/{path}/").status_code in (302, 303)
    assert list(Job.objects.values_list("kind", flat=True)) == [kind]


def test_stale_proofs_are_told_and_renewed(editor: Client, task: Task) -> None:
    assert task.proof is not None
    type(task.proof).objects.filter(pk=task.proof.pk).update(gates_version="0")
    assert "1 task was proven by older gates" in editor.get("/gates/").content.decode()
    found = jobs.run_inline(RENEW, {}).result
    assert isinstance(found, dict)
    assert (found["proven"], found["invalid"], found["left"]) == (1, 0, 0)
    task.refresh_from_db()
    assert task.is_proven
    assert "older gates" not in editor.get("/gates/").content.decode()
