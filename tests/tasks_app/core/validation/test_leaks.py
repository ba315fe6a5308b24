"""N4: what gives the right record, a computed sum or an id to come away is found and described."""

from collections.abc import Callable

import pytest

from tasks_app.core.editing import apply
from tasks_app.core.spec import TaskSpec, load_spec
from tasks_app.core.validation.leaks import chosen_records, leaked
from tasks_app.core.validation.proof import prove
from tasks_app.core.validation.trial import Trial
from tests.factories.examples import EXAMPLES, PAYMENT, SUPPORT, Written, broken, entry, example


def found(spec: TaskSpec) -> list[tuple[str, str]]:
    return [(f.path, f.message) for f in leaked(Trial(spec))]


def in_request(words: str) -> Callable[[Written], None]:
    def change(data: Written) -> None:
        data["request"]["text"] += f" {words}"

    return change


def in_note(data: Written) -> None:
    customer = entry(data["services"]["crm"]["customers"], "CU-3307")
    customer["note"] = "Is owed 76,60 EUR in all."


def in_file(name: str, text: str) -> Callable[[Written], None]:
    def change(data: Written) -> None:
        file = {"id": name, "media_type": "text/plain", "text": text}
        data["services"]["files"] = {"files": [file]}

    return change


@pytest.mark.parametrize("name", EXAMPLES)
def test_an_example_gives_nothing_away(name: str) -> None:
    assert found(example(name)) == []


def test_what_is_chosen_is_what_calls_name_by_reading() -> None:
    assert chosen_records(Trial(example(PAYMENT))) == {
        "M-901": "message",
        "PY-210": "payee",
        "IN-5498": "invoice",
        "IN-5521": "invoice",
        "IN-5530": "invoice",
        "HD-640": "ticket",
    }


@pytest.mark.parametrize(
    ("change", "path", "message"),
    [
        (
            in_request("It is OR-88431."),
            "/request/text",
            "the request gives OR-88431, which has to be found",
        ),
        (
            in_request("It should come to 76.60."),
            "/request/text",
            "the request gives the sum 76.6, which has to be computed",
        ),
        (
            lambda d: d["workplace"]["policies"][1].update(
                text=d["workplace"]["policies"][1]["text"] + " Start with TK-2041."
            ),
            "/workplace/policies/1/text",
            "policy writing gives TK-2041, which has to be found",
        ),
        (
            lambda d: d["workplace"].update(output_contract="Reply with RF-5167 and the amount."),
            "/workplace/output_contract",
            "the output contract gives RF-5167, the id of a refund that is yet to be made",
        ),
        (
            in_note,
            "/services/crm/customers/4/note",
            ("a note (Is owed 76,60 EUR in all.…) gives the sum 76.6, which has to be computed"),
        ),
        (
            in_file("notes/OR-88431.txt", "see there"),
            "/services/files/files/0",
            "the file notes/OR-88431.txt is called after OR-88431, which has to be found",
        ),
        (
            in_file("export.txt", "TK-2041 Rosalind Achterberg open CU-3307 2031-03-17"),
            "/services/files/files/0",
            "",
        ),
    ],
)
def test_what_is_given_away_is_found_and_taken_back(
    change: Callable[[Written], None], path: str, message: str
) -> None:
    spec = broken(SUPPORT, change)

    leaks = list(leaked(Trial(spec)))

    if not message:
        assert [f.message for f in leaks if "copy" not in f.message] == []
        return
    where = path if "crm" not in path else leaks[0].path
    assert [(f.path, f.message) for f in leaks] == [(where, message)]
    assert leaks[0].suggestion is not None
    mended = load_spec(apply(spec.written(), leaks[0].suggestion.patch))
    assert found(mended) == []
    assert prove(mended).proven


def test_a_copy_of_the_record_in_a_file_is_taken_away() -> None:
    def copied(data: Written) -> None:
        row = entry(data["services"]["helpdesk"]["tickets"], "TK-2041")
        text = "; ".join(str(value) for value in row.values())
        in_file("export.txt", text)(data)

    spec = broken(SUPPORT, copied)

    leaks = list(leaked(Trial(spec)))

    assert [f.message for f in leaks] == ["the file export.txt holds a copy of TK-2041"]
    assert leaks[0].suggestion is not None
    mended = load_spec(apply(spec.written(), leaks[0].suggestion.patch))
    assert mended.services["files"]["files"] == ()


@pytest.mark.parametrize(
    "words",
    [
        "Mind the 14 days.",
        "She wrote on 20 March.",
        "Order OR-88432 is another matter.",
        "Somebody said 176.60.",
        "The title of this is not shown.",
    ],
)
def test_other_figures_give_nothing_away(words: str) -> None:
    assert found(broken(SUPPORT, in_request(words))) == []


def test_the_title_is_never_shown() -> None:
    spec = broken(SUPPORT, lambda d: d.update(title="Refund 76.60 on OR-88431"))

    assert found(spec) == []


def test_an_id_that_the_reference_is_told_is_no_secret() -> None:
    def told(data: Written) -> None:
        in_request("It is about ticket TK-2041.")(data)
        entry([s for s in data["reference"] if "id" in s], "ticket")["arguments"]["ticket_id"] = (
            "TK-2041"
        )
        entry([s for s in data["reference"] if "id" in s], "first")["arguments"]["ticket_id"] = (
            "TK-2041"
        )
        entry([s for s in data["reference"] if "id" in s], "second")["arguments"]["reference"] = (
            "TK-2041"
        )

    assert found(broken(SUPPORT, told)) == []
