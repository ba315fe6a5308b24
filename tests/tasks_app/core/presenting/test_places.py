import pytest

from tasks_app.core.presenting.lines import line_of, lines
from tasks_app.core.presenting.places import ChangedPlace, Place, changes, place_of
from tasks_app.core.presenting.words import pretty
from tests.factories.specs import small_written


@pytest.mark.parametrize(
    ("pointer", "words", "part"),
    [
        ("", "the whole task", "request"),
        ("/checks", "checks", "checks"),
        ("/checks/0/expect/status", "check closed, expected status", "checks"),
        ("/checks/9", "check 10", "checks"),
        ("/constraints/0/sentence", "constraint “Tickets are never deleted.”, sentence",
         "constraints"),
        ("/write_set/0", "write set helpdesk/tickets/TK-2#status,resolution,updated_at",
         "constraints"),
        ("/request/text", "request text", "request"),
        ("/workplace/policies/0/text", "policy “Desk rules”, text", "request"),
        ("/reference/0/arguments", "step close, arguments", "reference"),
        ("/reference/1/reply", "step the reply, reply", "reference"),
        ("/tools/1", "tool helpdesk_close_ticket", "tools"),
        ("/services/helpdesk/tickets/1/status", "helpdesk/tickets TK-2, status", "records"),
        ("/services/helpdesk/tickets/7", "helpdesk/tickets record 7", "records"),
        ("/services", "records", "records"),
    ],
)  # fmt: skip
def test_a_pointer_is_named_by_ids_and_leads_to_its_part(
    pointer: str, words: str, part: str
) -> None:
    place = place_of(small_written(), pointer)
    assert (place.words, place.part) == (words, part)


@pytest.mark.parametrize(
    ("pointer", "words"),
    [
        ("/checks/0/expect/amount", "check “The refund is 42.10”, expected amount"),
        ("/checks/0/expect", "check “The refund is 42.10”, what is expected"),
        ("/checks/0/where/order", "check “The refund is 42.10”, condition order"),
        ("/checks/0/weight", "check “The refund is 42.10”, weight"),
        ("/checks/1/text/0/1", "check told, must say RF 1"),
        ("/checks/1/text/0", "check told, must say group 1"),
        ("/checks/2", "check 3"),
        ("/workplace/organisation", "workplace organisation"),
        ("/workplace/policies", "workplace policies"),
        ("/limits/max_turns", "limits max turns"),
    ],
)  # fmt: skip
def test_a_place_in_a_check_is_called_by_its_sentence(pointer: str, words: str) -> None:
    checks = [
        {"id": "refund", "explain": "The refund is 42.10", "expect": {"amount": 42.1}},
        {"id": "told", "text": [["RF-1", "RF 1"]]},
    ]
    assert place_of(small_written(checks=checks), pointer).words == words


def test_a_difference_is_told_place_by_place() -> None:
    before, after = small_written(), small_written(title="Another")
    after["services"]["helpdesk"]["tickets"][0]["status"] = "closed"
    del after["constraints"]
    after["services"]["helpdesk"]["tickets"].append({"id": "TK-3"})
    ticket = Place("helpdesk/tickets TK-1, status", "records", "helpdesk/tickets", "TK-1",
                   "record")  # fmt: skip
    found = {change.pointer: change for change in changes(before, after)}
    assert found["/services/helpdesk/tickets/0/status"] == ChangedPlace(
        "replace", "/services/helpdesk/tickets/0/status", ticket, "open", "closed"
    )
    assert (found["/title"].before, found["/title"].after) == (
        "Close the ticket about the lamp",
        "Another",
    )
    assert found["/constraints"].after is None
    added = found["/services/helpdesk/tickets/2"]
    assert (added.before, added.after, added.place.record) == (None, '{"id":"TK-3"}', "TK-3")


def test_every_place_of_a_json_text_has_the_line_it_begins_on() -> None:
    text = pretty(small_written())
    known = lines(text)
    written = text.split("\n")
    assert written[known["/checks/0/weight"] - 1].strip() == '"weight": 1.0,'
    assert written[known["/services/helpdesk/tickets/1/id"] - 1].strip() == '"id": "TK-2",'
    assert line_of(known, "/checks/0/none/at/all") == known["/checks/0"]


@pytest.mark.parametrize("text", ["", "{", '{"a"', '{"a": }', "[1, 2", '{"a" 1}', "\x00"])
def test_a_text_that_is_no_json_has_no_lines(text: str) -> None:
    assert line_of(lines(text), "/a/b") in (None, 1)
