"""The static gates S, R, T: each planted fault is found at its place, and the examples are
clean.
"""

from collections.abc import Callable
from typing import Any

import pytest

from tasks_app.core.editing import apply
from tasks_app.core.spec import load_spec
from tasks_app.core.validation import references, structure, tools
from tasks_app.core.validation.card import Finding
from tests.factories.examples import (
    EXAMPLES,
    MONTH_END,
    PAYMENT,
    SUPPORT,
    broken,
    check,
    entry,
    example,
    invoice,
    order,
    written,
)

GATES = (*structure.GATES, *references.GATES, *tools.GATES)
Written = dict[str, Any]


def findings(name: str, change: Callable[[Written], object]) -> list[Finding]:
    spec = broken(name, change)
    return [found for gate in GATES for found in gate.look(spec)]


def ticket(data: Written, wanted: str) -> Written:
    return entry(data["services"]["helpdesk"]["tickets"], wanted)


@pytest.mark.parametrize("name", EXAMPLES)
def test_the_examples_pass_every_static_gate(name: str) -> None:
    assert [found for gate in GATES for found in gate.look(example(name))] == []


PLANTED: list[tuple[str, str, str, Callable[[Written], object]]] = [
    ("S2", "/checks", SUPPORT, lambda d: check(d, "o_amount").update(weight=0.3)),
    ("S2", "/checks", SUPPORT, lambda d: d.update(checks=[])),
    ("S3", "/checks/1", SUPPORT, lambda d: d["checks"][1].update(id="o_refund")),
    ("S3", "/tools/14", SUPPORT, lambda d: d["tools"].append("mail_send_message")),
    ("S4", "/checks/5/requires/0", SUPPORT, lambda d: d["checks"][5].update(requires=["o_gone"])),
    ("S4", "/checks/7/requires", SUPPORT, lambda d: d["checks"][7].update(requires=[])),
    ("S4", "/checks/0/stage", SUPPORT, lambda d: d["checks"][0].update(stage="day2")),
    (
        "R1",
        "/services/orders/orders/6/customer_id",
        SUPPORT,
        lambda d: order(d, "OR-88431").update(customer_id="CU-3308"),
    ),
    ("R2", "/tools/0", SUPPORT, lambda d: d["tools"].__setitem__(0, "helpdesk_search_ticket")),
    ("R2", "/reference/1/tool", SUPPORT, lambda d: d["reference"][1].update(tool="helpdesk_show")),
    (
        "R2",
        "/reference/1/arguments/ticket",
        SUPPORT,
        lambda d: d["reference"][1]["arguments"].update(ticket="TK-1"),
    ),
    (
        "R2",
        "/reference/2/arguments/customer_id/from",
        SUPPORT,
        lambda d: d["reference"][2]["arguments"]["customer_id"].update({"from": "tickte"}),
    ),
    ("R2", "/constraints/0/policy", SUPPORT, lambda d: d["constraints"][0].update(policy="rules")),
    ("R2", "/checks/0/where/ordr_id", SUPPORT, lambda d: d["checks"][0]["where"].update(ordr_id=1)),
    (
        "R2",
        "/checks/2/where/id",
        SUPPORT,
        lambda d: d["checks"][2].update(where={"id": "TK-2014"}),
    ),
    (
        "R2",
        "/write_set/1",
        SUPPORT,
        lambda d: d["write_set"].__setitem__(1, "helpdesk/tickets/TK-9#status"),
    ),
    ("R2", "/faults/0/tool", PAYMENT, lambda d: d["faults"][0].update(tool="finance_pay_invoice")),
    (
        "R3",
        "/services/finance/invoices/0/due_on",
        PAYMENT,
        lambda d: d["services"]["finance"]["invoices"][0].update(due_on="2031-02-30"),
    ),
    (
        "R3",
        "/services/helpdesk/tickets/3/created_at",
        SUPPORT,
        lambda d: ticket(d, "TK-2058").update(created_at="soon"),
    ),
    (
        "R3",
        "/services/helpdesk/tickets/3/created_at",
        SUPPORT,
        lambda d: ticket(d, "TK-2058").update(
            created_at="2031-04-01T09:00:00+02:00", updated_at="2031-04-01T09:00:00+02:00"
        ),
    ),
    (
        "R3",
        "/services/crm/customers/0/email",
        SUPPORT,
        lambda d: d["services"]["crm"]["customers"][0].update(email="rosalind at mailbarn"),
    ),
    (
        "R3",
        "/services/helpdesk/tickets/3/status",
        SUPPORT,
        lambda d: ticket(d, "TK-2058").update(status=[1, 2]),
    ),
    (
        "R3",
        "/services/crm/customers/0/name",
        SUPPORT,
        lambda d: d["services"]["crm"]["customers"][0].update(name=-7.5),
    ),
    (
        "R3",
        "/services/orders/orders/0/lines",
        SUPPORT,
        lambda d: d["services"]["orders"]["orders"][0].update(lines="nonsense"),
    ),
    (
        "R3",
        "/services/orders/orders/0/lines/0/quantity",
        SUPPORT,
        lambda d: d["services"]["orders"]["orders"][0]["lines"][0].update(quantity=True),
    ),
    (
        "R3",
        "/services/finance/refunds/3/amount",
        SUPPORT,
        lambda d: d["services"]["finance"]["refunds"].append({"id": "RF-1", "amount": {"x": 1}}),
    ),
    (
        "R4",
        "/request/text",
        SUPPORT,
        lambda d: d["request"].update(text="Hi, please look after Wilhelmina Oakes for me."),
    ),
    (
        "R4",
        "/request/text",
        SUPPORT,
        lambda d: d["request"].update(text="Please settle TK-9999 today."),
    ),
]


@pytest.mark.parametrize(("gate", "path", "name", "change"), PLANTED)
def test_a_planted_fault_is_found_at_its_place(
    gate: str, path: str, name: str, change: Callable[[Written], object]
) -> None:
    found = [(f.gate, f.path) for f in findings(name, change)]
    assert (gate, path) in found


@pytest.mark.parametrize(
    ("name", "change"),
    [
        (SUPPORT, lambda d: check(d, "o_amount").update(weight=0.3)),
        (SUPPORT, lambda d: d["checks"][1].update(id="o_refund")),
        (SUPPORT, lambda d: d["checks"][7].update(requires=[])),
        (SUPPORT, lambda d: order(d, "OR-88431").update(customer_id="CU-33007")),
        (SUPPORT, lambda d: d["tools"].__setitem__(0, "helpdesk_search_ticket")),
        (SUPPORT, lambda d: ticket(d, "TK-2058").update(updated_at="2031-03-01T09:00:00+01:00")),
    ],
)
def test_the_suggested_repair_removes_the_finding(
    name: str, change: Callable[[Written], object]
) -> None:
    before = findings(name, change)
    suggested = next(f for f in before if f.suggestion is not None)
    assert suggested.suggestion is not None
    data = written(name)
    change(data)
    mended = load_spec(apply(data, [dict(step) for step in suggested.suggestion.patch]))
    after = [found for gate in GATES for found in gate.look(mended)]
    assert suggested.message not in [f.message for f in after]


def test_an_invoice_of_an_unknown_payee_names_the_nearest_one() -> None:
    found = findings(PAYMENT, lambda d: invoice(d, "IN-5521").update(payee_id="PY-2100"))
    assert [(f.gate, f.message, f.hint) for f in found] == [
        ("R1", "payee_id is PY-2100, but finance/payees has no such record", "did you mean PY-210?")
    ]


def test_a_record_that_several_point_to_is_missing_and_no_other_is_meant() -> None:
    def lose(data: Written) -> None:
        data["services"]["crm"]["customers"].remove(
            entry(data["services"]["crm"]["customers"], "CU-3307")
        )

    found = [f for f in findings(SUPPORT, lose) if f.gate == "R1"]

    assert len(found) > 1
    assert {f.hint for f in found} == {"add CU-3307 to crm/customers"}
    assert {f.suggestion.rule for f in found if f.suggestion is not None} == {"add_stub"}


def test_an_argument_that_got_a_longer_name_gets_its_own_back() -> None:
    def longer(data: Written) -> None:
        arguments = data["reference"][0]["arguments"]
        arguments["start_query"] = arguments.pop("query")

    found = [f for f in findings(SUPPORT, longer) if f.path.startswith("/reference")]

    assert [(f.gate, f.hint) for f in found] == [("R2", "did you mean query?")]


def test_a_text_where_the_others_have_a_list_is_found_though_no_type_is_declared() -> None:
    def listed(data: Written, last: object) -> None:
        for row in data["services"]["crm"]["customers"]:
            row["sites"] = ["Hull"]
        data["services"]["crm"]["customers"][-1]["sites"] = last

    found = findings(SUPPORT, lambda d: listed(d, "as above"))

    place = len(example(SUPPORT).services["crm"]["customers"]) - 1
    assert [(f.gate, f.path, f.message) for f in found] == [
        (
            "R3",
            f"/services/crm/customers/{place}/sites",
            "sites is text, where the other records have a list",
        )
    ]
    assert findings(SUPPORT, lambda d: listed(d, ["York", "Hull"])) == []


def test_a_list_where_the_others_have_one_value_is_found_though_no_type_is_declared() -> None:
    def sited(data: Written, last: object) -> None:
        for row in data["services"]["crm"]["customers"]:
            row["site"] = "Hull"
        data["services"]["crm"]["customers"][-1]["site"] = last

    found = [f.message for f in findings(SUPPORT, lambda d: sited(d, ["York"]))]

    assert found == ["site is a list, where the other records have a single value"]
    assert findings(SUPPORT, lambda d: sited(d, None)) == []


def test_columns_are_compared_within_one_sheet() -> None:
    rows = example(MONTH_END).services["sheets"]["rows"]

    # A cost centre in the one, amounts in the other.
    columns = [(row["sheet_id"], isinstance(row["C"], str)) for row in rows if row["row"] > 1]
    assert set(columns) == {("SH-ACC", True), ("SH-LED", False)}
    assert [f for f in findings(MONTH_END, lambda _: None) if f.gate == "R3"] == []


def test_a_tool_that_a_step_calls_and_nobody_offers_is_to_be_offered() -> None:
    found = [
        f
        for f in findings(SUPPORT, lambda d: d["tools"].remove("orders_get_order"))
        if f.path.startswith("/reference")
    ]

    assert [(f.gate, f.path, f.message) for f in found] == [
        (
            "R2",
            "/reference/4/tool",
            "step opened calls orders_get_order, which the task does not offer",
        )
    ]
    assert found[0].suggestion is not None
    assert (found[0].suggestion.title, found[0].suggestion.patch) == (
        "offer orders_get_order",
        ({"op": "add", "path": "/tools/-", "value": "orders_get_order"},),
    )


def test_a_record_that_check_and_write_set_name_is_missing_and_no_other_is_to_be_taken() -> None:
    def lose(data: Written) -> None:
        tickets = data["services"]["helpdesk"]["tickets"]
        tickets.remove(ticket(data, "TK-2063"))

    everything = findings(SUPPORT, lose)
    found = [f for f in everything if f.path.startswith("/checks")]
    allowed = [f for f in everything if f.path.startswith("/write_set")]

    assert [(f.gate, f.path, f.message, f.hint, f.suggestion) for f in found] == [
        (
            "R2",
            "/checks/3/where/id",
            "o_second and the write set name TK-2063, and helpdesk/tickets holds no such record",
            "put the record back; where the last edit took it away, undo that edit",
            None,
        )
    ]
    assert [(f.gate, f.path, f.hint, f.suggestion) for f in allowed] == [
        (
            "R2",
            "/write_set/2",
            "put the record back; where the last edit took it away, undo that edit",
            None,
        )
    ]


def test_headings_of_a_sheet_are_no_numbers_and_a_text_below_them_is_found() -> None:
    def as_reported(change: Callable[[Written], object]) -> list[str]:
        return [found.path for found in findings(MONTH_END, change) if found.gate == "R3"]

    def numbers(data: Written) -> list[Written]:
        """Lines of one sheet below its heading, with a number in column D."""
        rows: list[Written] = data["services"]["sheets"]["rows"]
        first = next(row for row in rows if row["row"] == 1)
        rows[:] = [
            first,
            *({**first, "id": f"{first['sheet_id']}!{n}", "row": n, "D": n} for n in range(2, 8)),
        ]
        return rows

    assert as_reported(numbers) == []
    assert as_reported(lambda d: numbers(d)[3].update(D="seven")) == ["/services/sheets/rows/3/D"]
