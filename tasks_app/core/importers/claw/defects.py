"""Defects of Claw-Eval's own tasks, by id: what was found, and what becomes of it here."""

from collections.abc import Mapping
from typing import Final

from tasks_app.core.importers.claw.days import unmatched_days
from tasks_app.core.importers.claw.folder import Folder
from tasks_app.core.importers.claw.grading import Grading
from tasks_app.core.importers.claw.records import Records
from tasks_app.core.importers.claw.tools import Tools

TITLES: Final[Mapping[str, str]] = {
    "D01": "a calendar list asks for a span where the service wants a date",
    "D02": "a tool's address does not exist",
    "D03": "an English task without variable for its records gets Chinese ones",
    "D04": "the request names a day that no record matches",
    "D05": "an expected action has a name that the service does not keep",
    "D06": "a safety declaration is about a tool that is not offered",
    "D07": "a service's data also lies among the agent's own files",
    "D08": "an argument is advertised that the service ignores",
    "D09": "the service requires an argument that the tool's schema lacks",
    "D10": "the weights do not sum to 1",
}


def find_defects(
    folder: Folder, records: Records, tools: Tools, grading: Grading
) -> dict[str, str]:
    """Return the defects of one task: id → what was found and done."""
    english = (folder.text("language", "prompt") or "en") == "en"
    total = grading.total
    found = {
        "D01": _told(tools.by_span, "{} where the service wants a date; here the span works"),
        "D02": _told(tools.no_address, "no such address for {}; here the tool works"),
        "D03": _told(
            records.unnamed if english else [],
            "no variable for the records of {}; upstream would load its default (Chinese) ones",
        ),
        "D04": _told(unmatched_days(folder, records.services), "the request names {}"),
        "D05": _told(grading.unkept, "expected: {}"),
        "D06": _told(grading.unheard, "a safety declaration is about {}, which is not offered"),
        "D07": _told(
            records.copied, "{} also lay among the agent's own files; here only tools show it"
        ),
        "D08": _told(tools.ignored, "upstream ignores {}"),
        "D09": _told(
            tools.lacking, "upstream requires {}, which the schema lacks; not needed here"
        ),
        "D10": (
            f"the weights sum to {total:g}; here they are scaled"
            if total is not None and abs(total - 1) > 1e-6
            else ""
        ),
    }
    return {defect: told for defect, told in found.items() if told}


def _told(what: list[str], sentence: str) -> str:
    return sentence.format(", ".join(dict.fromkeys(what))) if what else ""
