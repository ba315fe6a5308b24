"""What the gates have done so far: findings in the library, repairs, losses, the newest audit."""

import functools
import re
from dataclasses import dataclass
from typing import Any, Final

from django.conf import settings
from django.db import connection
from django.db.models import QuerySet

from tasks_app.core.audit.catalog import gate_order
from tasks_app.core.validation.card import GATES_VERSION, GROUPS
from tasks_app.core.validation.notes import TITLES
from tasks_app.core.validation.proof import STATIC
from tasks_app.enums import TRANSITIONS, Act
from tasks_app.models import GateAudit, Task

NEWEST_ATTEMPTS: Final = 20_000
"""Attempts of generation that repairs are counted over."""
_SECTION: Final = re.compile(
    r"^### (?P<id>[A-Z]\d): (?P<title>.+?)\n\n(?P<checks>.+?)\n\n\*Why:\* (?P<why>.+?)\n\n"
    r"\*Repair:\* (?P<repair>.+?)\n",
    re.MULTILINE | re.DOTALL,
)
_MARKS: Final = re.compile(r"[`*]")


@dataclass(frozen=True)
class GateText:
    """What a gate is, in words; as docs/gates.md says it."""

    id: str
    title: str
    checks: str = ""
    why: str = ""
    repair: str = ""

    @property
    def group(self) -> str:
        """What its group proves."""
        return GROUPS.get(self.id[0], "episodes" if self.id[0] == "P" else "datasets")


@dataclass(frozen=True)
class GateYield:
    """A gate and what it has done so far."""

    text: GateText
    findings: int = 0
    """Tasks whose current proof has a finding of it."""
    lost: int = 0
    """Attempts of generation that fell at it."""
    repaired: int = 0
    """Repairs that it asked for, over the newest attempts."""
    mended: int = 0
    """Those of them that ended in a proof."""
    audit: dict[str, Any] | None = None
    """Its row of the newest audit: planted, detected, repaired, false_alarms."""


@functools.cache
def gate_texts() -> dict[str, GateText]:
    """Every gate in the order of a card, with what docs/gates.md says of it."""
    path = settings.BASE_DIR / "docs" / "gates.md"
    written = path.read_text(encoding="utf-8") if path.is_file() else ""
    said = {
        found["id"]: GateText(
            found["id"],
            *(_MARKS.sub("", found[part]) for part in ("title", "checks", "why", "repair")),
        )
        for found in _SECTION.finditer(written)
    }
    known = {gate.id: gate.title for gate in STATIC} | dict(TITLES)
    texts = {gate: said.get(gate) or GateText(gate, title) for gate, title in known.items()}
    return dict(sorted({**said, **texts}.items(), key=lambda pair: gate_order(pair[0])))


def newest_audit() -> GateAudit | None:
    """The newest audit that is over."""
    return GateAudit.objects.exclude(result={}).select_related("job").first()


def gate_yields() -> list[GateYield]:
    """Every gate with what it has done."""
    findings, lost, repairs = _findings(), _lost(), _repairs()
    audit = newest_audit()
    audited = audit.result["gates"] if audit is not None else {}
    texts = gate_texts()
    others = [gate for gate in audited if gate not in texts]
    return [
        GateYield(
            texts.get(gate) or GateText(gate, ""),
            findings.get(gate, 0),
            lost.get(gate, 0),
            *repairs.get(gate, (0, 0)),
            audited.get(gate),
        )
        for gate in sorted([*texts, *others], key=gate_order)
    ]


def stale_count() -> int:
    """How many tasks have a proof by gates of another version."""
    return stale().count()


def stale() -> QuerySet[Task]:
    """Tasks whose proof is by gates of another version, and that may be proven again."""
    return Task.objects.filter(proof__isnull=False, state__in=TRANSITIONS[Act.PROVE]).exclude(
        proof__gates_version=GATES_VERSION
    )


def _findings() -> dict[str, int]:
    return dict(
        _rows(
            "SELECT gate, count(*) FROM tasks_app_task, unnest(findings) AS gate"
            " WHERE state <> 'retired' GROUP BY gate"
        )
    )


def _lost() -> dict[str, int]:
    return dict(
        _rows(
            "SELECT gate, count(*) FROM (SELECT gate FROM tasks_app_attempt ORDER BY id DESC"
            " LIMIT %s) AS newest WHERE gate <> '' GROUP BY gate",
            NEWEST_ATTEMPTS,
        )
    )


def _repairs() -> dict[str, tuple[int, int]]:
    found = _rows(
        "SELECT repair ->> 'gate', count(*), count(*) FILTER (WHERE proven) FROM"
        " (SELECT repairs, proven FROM tasks_app_attempt ORDER BY id DESC LIMIT %s) AS newest,"
        " jsonb_array_elements(repairs) AS repair GROUP BY 1",
        NEWEST_ATTEMPTS,
    )
    return {gate: (repairs, mended) for gate, repairs, mended in found}


def _rows(statement: str, *values: int) -> list[Any]:
    with connection.cursor() as cursor:
        cursor.execute(statement, values)
        return list(cursor.fetchall())


AUDIT_COLUMNS: Final = (
    "gate",
    "checks_what",
    "planted",
    "detected",
    "to_repair",
    "repaired",
    "false_alarms",
)


def audit_rows(audit: GateAudit) -> list[dict[str, Any]]:
    """Return the table of an audit, a row a gate."""
    texts = gate_texts()
    rows = []
    for gate in sorted(audit.result.get("gates", {}), key=gate_order):
        counted = audit.result["gates"][gate]
        own = [row for row in audit.planters if row["gate"] == gate]
        rows.append(
            {
                "gate": gate,
                "checks_what": texts[gate].title if gate in texts else "",
                "planted": counted["planted"],
                "detected": sum(row["detected"] for row in own),
                "to_repair": sum(row["to_repair"] for row in own),
                "repaired": sum(row["repaired"] for row in own),
                "false_alarms": counted["false_alarms"],
            }
        )
    return rows
