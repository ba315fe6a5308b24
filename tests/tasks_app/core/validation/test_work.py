"""N3: a task with nothing to look up is found, and the record described instead of named."""

from typing import Any

import pytest

from tasks_app.core.editing import apply
from tasks_app.core.spec import load_spec
from tasks_app.core.validation.proof import prove
from tasks_app.core.validation.trial import Trial
from tasks_app.core.validation.work import enough
from tests.factories.examples import EXAMPLES, example
from tests.factories.specs import small_spec, small_written

THIRD = {
    "id": "TK-3",
    "subject": "Parcel is late",
    "status": "open",
    "created_at": "2031-03-18T09:00:00+01:00",
    "updated_at": "2031-03-18T09:00:00+01:00",
}


def report(capability: str, *reads: str) -> dict[str, Any]:
    """Return changes that turn the small task into one that asks for a reply alone."""
    steps = [
        {"id": f"read{n}", "tool": "helpdesk_search_tickets", "arguments": {"query": word}}
        for n, word in enumerate(reads)
    ]
    return {
        "capabilities": [{"id": capability}],
        "checks": [
            {
                "id": "told",
                "kind": "answer",
                "component": "outcome",
                "weight": 1.0,
                "text": [["TK-2"]],
            }
        ],
        "write_set": [],
        "constraints": [],
        "reference": [*steps, {"reply": "It is TK-2."}],
    }


@pytest.mark.parametrize("name", EXAMPLES)
def test_the_examples_ask_for_enough(name: str) -> None:
    assert list(enough(Trial(example(name)))) == []


def test_one_tool_is_too_little_and_the_record_is_looked_up_instead() -> None:
    data = small_written()
    data["services"]["helpdesk"]["tickets"].append(THIRD)
    data["request"]["text"] = "Please close TK-2 as answered."
    spec = load_spec(data)

    found = list(enough(Trial(spec)))

    assert [(f.path, f.message) for f in found] == [
        ("/reference", "there is too little to do: helpdesk_close_ticket alone does it")
    ]
    assert found[0].suggestion is not None
    assert found[0].suggestion.rule == "look_up_first"
    mended = load_spec(apply(spec.written(), found[0].suggestion.patch))
    assert "TK-2" not in mended.request.text
    assert mended.reference[0].tool == "helpdesk_search_tickets"
    assert list(enough(Trial(mended))) == []
    assert [f for f in prove(mended).findings if f.gate in ("O1", "O3", "N3", "R4")] == []


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        (report("C19", "hinge", "door"), ""),
        (report("C13", "hinge", "door"), ""),
        (report("C19", "hinge"), "the answer is read off one record"),
        (
            report("C1", "hinge", "door"),
            "the right solution changes nothing, and is neither a report nor a refusal",
        ),
    ],
)
def test_a_report_needs_its_tag_and_two_reads(changes: dict[str, Any], problem: str) -> None:
    found = list(enough(Trial(small_spec(**changes))))

    assert [f.message.partition(": ")[2] for f in found] == [problem] * bool(problem)
