"""Arguments made from a schema are valid for every tool; those made from records mostly work."""

import orjson
import pytest

from tasks_app.core.samples import (
    arguments_of,
    collection_for,
    dummy,
    field_values,
    likely,
    offered_values,
)
from tasks_app.core.services.catalog import tools
from tasks_app.core.world.world import Seed, World
from tests.factories.examples import PAYMENT, SUPPORT, example

TOOLS = sorted(tools())


@pytest.mark.parametrize("name", TOOLS)
@pytest.mark.parametrize("optional", [False, True])
def test_dummies_pass_the_schema_of_every_tool(name: str, optional: bool) -> None:
    tools()[name].validate(orjson.dumps(dummy(name, optional=optional)))


def test_kinds_are_read_off_schema_and_validator() -> None:
    kinds = {a.name: (a.kind, a.required) for a in arguments_of("finance_list_invoices")}
    refund = {a.name: a.kind for a in arguments_of("finance_create_refund")}
    letter = {a.name: a.item.kind for a in arguments_of("mail_send_message") if a.item is not None}

    assert kinds["due_from"] == ("day", False)
    assert kinds["payee_id"] == ("id", False)
    assert refund == {"order_id": "id", "amount": "number", "reason": "choice", "line": "number"}
    assert letter == {"to": "email", "cc": "email"}


@pytest.mark.parametrize("name", [SUPPORT, PAYMENT])
def test_likely_arguments_work_for_every_offered_read(name: str) -> None:
    spec = example(name)
    tables = Seed.of(spec).ground.start
    failed = []
    for tool in spec.tools:
        if tools()[tool].facts.kind != "read":
            continue
        world = World(spec)
        if not any(world.call(tool, arguments).ok for arguments in likely(tool, tables)):
            failed.append(tool)

    assert failed == []


def test_given_arguments_stay() -> None:
    tables = Seed.of(example(SUPPORT)).ground.start

    made = list(likely("finance_create_refund", tables, {"amount": 150}, most=3))
    assert [arguments["amount"] for arguments in made] == [150, 150, 150]
    assert len({arguments["order_id"] for arguments in made}) == 3


def test_an_id_argument_names_its_collection() -> None:
    tables = Seed.of(example(PAYMENT)).ground.start

    assert collection_for("ticket_id", "helpdesk", tables) == "helpdesk/tickets"
    assert collection_for("payee_id", "finance", tables) == "finance/payees"
    assert collection_for("planet_id", "finance", tables) is None
    assert collection_for("person_id", "contacts", {"contacts/people": {}}) == "contacts/people"


@pytest.mark.parametrize("name", ["calendar_free_busy", "calendar_create_event"])
def test_a_span_that_is_made_up_does_not_end_when_it_begins(name: str) -> None:
    made = dummy(name)

    assert made["start"] < made["end"]


def test_values_of_a_field_come_once_each() -> None:
    tables = Seed.of(example(PAYMENT)).ground.start
    queue = next(a for a in arguments_of("helpdesk_escalate_ticket") if a.name == "queue")

    assert field_values(tables, "queue") == ["ap"]
    assert offered_values(queue, "helpdesk", tables) == ["ap", queue.sample]
