"""I1: pictures that decide nothing are found; what they show is left to them, or they go."""

from typing import Any

import pytest

from tasks_app.core.editing import apply
from tasks_app.core.spec import load_spec
from tasks_app.core.validation.pictures import NONE, decide, pictures
from tasks_app.core.validation.proof import prove
from tasks_app.core.validation.trial import Trial
from tests.factories.examples import PAYMENT, SUPPORT, Written, broken, check, entry, example


def attach(data: Written, sidecar: str, media_type: str = "image/png") -> None:
    data["tags"] = [*data.get("tags", []), "multimodal"]
    body = {"name": "slip.png", "media_type": media_type, "sidecar": sidecar}
    data["request"]["attachments"] = [body]


def decided_by_slip(data: Written) -> None:
    """Let the case's reference be a number that a picture shows."""
    attach(data, "Slip of the call-back. Number CB-9981, no change known.")
    steps = [s for s in data["reference"] if "id" in s]
    entry(steps, "case")["arguments"]["reference"] = "CB-9981"
    check(data, "o_case")["expect"]["reference"] = "CB-9981"


def test_a_task_without_pictures_is_not_looked_at() -> None:
    gates = {gate.id: (gate.state, gate.reason) for gate in prove(example(SUPPORT)).gates}

    assert gates["I1"] == ("not_run", NONE)


@pytest.mark.parametrize("media_type", ["image/png", "image/jpeg", "application/pdf"])
def test_a_picture_that_alone_shows_a_number_decides(media_type: str) -> None:
    def change(data: Written) -> None:
        decided_by_slip(data)
        data["request"]["attachments"][0]["media_type"] = media_type

    spec = broken(PAYMENT, change)

    assert len(pictures(spec)) == 1
    assert list(decide(Trial(spec))) == []
    assert [f.message for f in prove(spec).findings if f.gate == "O3"] == []


@pytest.mark.parametrize(
    ("sidecar", "problem"),
    [
        ("", "no sidecar says what it shows"),
        ("A kettle.", "the reference uses nothing that it shows"),
        ("Order OR-88431", "OR-88431 can be read elsewhere as well"),
    ],
)
def test_a_picture_that_decides_nothing_is_taken_out(sidecar: str, problem: str) -> None:
    spec = broken(SUPPORT, lambda data: attach(data, sidecar))

    found = list(decide(Trial(spec)))

    assert [(f.path, f.message) for f in found] == [
        ("/request/attachments/0", f"slip.png decides nothing: {problem}")
    ]
    assert found[0].suggestion is not None
    assert found[0].suggestion.rule == "drop_pictures"
    mended = load_spec(apply(spec.written(), found[0].suggestion.patch))
    assert (mended.request.attachments, "multimodal" in mended.tags) == ((), False)
    assert prove(mended).proven


def test_what_the_picture_shows_is_left_to_it() -> None:
    def told_twice(data: Written) -> None:
        decided_by_slip(data)
        data["request"]["text"] += " The call-back is CB-9981."

    spec = broken(PAYMENT, told_twice)

    found = list(decide(Trial(spec)))

    assert found[0].suggestion is not None
    assert found[0].suggestion.rule == "redact_text"
    mended = load_spec(apply(spec.written(), found[0].suggestion.patch))
    assert mended.request.text.endswith("The call-back is (see the attachment).")
    assert list(decide(Trial(mended))) == []


def test_what_a_graded_rule_says_is_not_left_to_the_picture() -> None:
    def ruled(data: Written) -> None:
        decided_by_slip(data)
        rule = data["constraints"][0]
        policy = entry(data["workplace"]["policies"], rule["policy"])
        policy["text"] += " Nobody but the holder of CB-9981 decides."
        data["constraints"].append(
            {**rule, "id": "k_slip", "sentence": "Nobody but the holder of CB-9981 decides."}
        )

    spec = broken(PAYMENT, ruled)

    found = list(decide(Trial(spec)))

    assert found[0].suggestion is not None
    assert found[0].suggestion.rule == "drop_pictures"


def test_a_spreadsheet_is_no_picture() -> None:
    def sheet(data: Written) -> None:
        attach(data, "Order OR-88431", "text/csv")

    states: dict[str, Any] = {g.id: g.state for g in prove(broken(SUPPORT, sheet)).gates}

    assert states["I1"] == "not_run"
