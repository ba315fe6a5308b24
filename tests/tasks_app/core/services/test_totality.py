"""Every tool, any arguments, any records: a result or a refusal, and no write on a refusal."""

from typing import Any, Final, get_args

import orjson
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tasks_app.core.calls import ErrorCode
from tasks_app.core.records import Snapshot
from tasks_app.core.services.catalog import collections, tools
from tests.tasks_app.core.services.argument_strategies import ANYTHING, arguments
from tests.tasks_app.core.services.office import Office, Records

CODES: Final = frozenset(get_args(ErrorCode)) - {"unknown_tool", "internal_error"}
IDS: Final = ("A-1", "A-2", "A-3")
NAMES: Final = sorted(tools())


def world_of(rows: list[dict[str, Any]], only: str | None = None) -> Records:
    """The same records in every collection of every service, or of one and the orders."""
    made: dict[str, dict[str, list[dict[str, Any]]]] = {}
    for place, facts in collections().items():
        service, _, name = place.partition("/")
        if only is not None and service not in (only, "orders"):
            continue
        made.setdefault(service, {})[name] = [{**row, facts.id_field: row["id"]} for row in rows]
    return made


PLAIN: Final = world_of(
    [
        {
            "id": record_id,
            "status": status,
            "ticket_id": "A-1",
            "customer_id": "A-1",
            "order_id": "A-1",
            "sku": record_id,
            "on_hand": 5,
            "reserved": 1,
            "amount": 50.5,
            "body": "one two three",
            "lines": [{"line": 1, "sku": "A-1", "quantity": 2}, {"line": 2, "sku": "A-2"}],
            "created_at": "2031-03-01T10:00:00+01:00",
            "date": "2031-03-01",
            "labels": ["inbox"],
            "to": ["a@b.example"],
            "schedule": "*/5 * * * *",
            "enabled": record_id == "A-1",
            "channel_id": "A-1",
            "thread_id": "A-2" if record_id == "A-3" else None,
            "table_id": "A-1",
            "sheet_id": "A-1",
            "row": int(record_id[-1]),
            "A": "Item",
            "B": 4,
            "columns": [{"name": "amount", "type": "number"}, {"name": "body", "type": "text"}],
            "text": "a,b\n1,2\n",
            "secret": "sk-123456",
        }
        for record_id, status in (("A-1", "open"), ("A-2", "delivered"), ("A-3", "closed"))
    ]
)
BARE: Final = world_of([{"id": record_id} for record_id in IDS])
EMPTY: Final = world_of([])

FIELDS: Final = sorted(
    {
        *("status", "lines", "sku", "on_hand", "reserved", "amount", "paid_amount", "body", "date"),
        *("created_at", "due_on", "labels", "to", "cc", "subject", "iban", "currency", "email"),
        *("comments", "customer_id", "ticket_id", "order_id", "placed_on", "allocated_amount"),
        *("schedule", "enabled", "thread_id", "channel_id", "table_id", "sheet_id", "row", "A"),
        *("columns", "text", "sidecar", "secret", "due_on", "started_at", "published_at", "tags"),
    }
)
ODD_ROWS: Final = st.lists(
    st.dictionaries(st.sampled_from(FIELDS), ANYTHING.filter(lambda v: not _too_large(v))),
    min_size=3,
    max_size=3,
).map(lambda rows: [{**row, "id": record_id} for record_id, row in zip(IDS, rows, strict=True)])


def _too_large(value: Any) -> bool:
    if isinstance(value, dict):
        return any("\x00" in key or _too_large(inner) for key, inner in value.items())
    if isinstance(value, list):
        return any(_too_large(inner) for inner in value)
    if isinstance(value, str):
        return "\x00" in value
    return isinstance(value, int | float) and abs(value) > 2**53


def fresh(records: Records) -> Office:
    """An office with these records, as they were at first."""
    known = _OFFICES.get(id(records))
    if known is None:
        office = Office(records)
        known = _OFFICES[id(records)] = (records, office, office.store.snapshot())
    known[1].store.restore(known[2])
    return known[1]


_OFFICES: dict[int, tuple[Records, Office, Snapshot]] = {}


def check(office: Office, name: str, raw: bytes) -> None:
    """Call a tool and hold it to what every tool promises."""
    before = office.store.snapshot()
    answer = office.send(name, raw)
    refused = isinstance(answer, dict) and isinstance(answer.get("error"), str)
    if refused:
        assert answer["error"] in CODES, answer
        assert answer["message"]
    if refused or tools()[name].facts.kind != "write":
        assert office.changes == ()
        assert office.store.snapshot() == before
    else:
        assert office.changes
        service = tools()[name].facts.service
        assert all(change.collection.startswith(f"{service}/") for change in office.changes)
    for change in office.changes:
        rows = office.store.tables[change.collection]
        assert list(rows) == sorted(rows)


@pytest.mark.parametrize("name", NAMES)
@settings(
    max_examples=15, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow]
)
@given(data=st.data())
def test_valid_arguments_give_a_result_or_a_refusal(name: str, data: st.DataObject) -> None:
    records = data.draw(st.sampled_from([PLAIN, PLAIN, BARE, EMPTY]))
    raw = orjson.dumps(data.draw(arguments(tools()[name].facts, IDS)))
    check(fresh(records), name, raw)


@pytest.mark.parametrize("name", NAMES)
@settings(
    max_examples=8, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow]
)
@given(data=st.data(), rows=ODD_ROWS)
def test_odd_records_break_no_tool(
    name: str, data: st.DataObject, rows: list[dict[str, Any]]
) -> None:
    raw = orjson.dumps(data.draw(arguments(tools()[name].facts, IDS)))
    check(Office(world_of(rows, tools()[name].facts.service)), name, raw)


@pytest.mark.parametrize("name", NAMES)
@settings(
    max_examples=8, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow]
)
@given(data=st.data())
def test_hostile_arguments_are_refused(name: str, data: st.DataObject) -> None:
    properties = sorted((tools()[name].facts.parameters or {})["properties"])
    keys = st.sampled_from([*properties, "zz"])
    hostile = data.draw(ANYTHING | st.dictionaries(keys, ANYTHING, max_size=4))
    check(fresh(PLAIN), name, orjson.dumps(hostile, default=str))


MALFORMED: Final = (
    b"",
    b"{",
    b"null",
    b"[]",
    b"\xff\xfe",
    b'{"a":NaN}',
    b'{"\\ud800":1}',
    b'{"a":' * 300,
    b'{"a":"' + b"x" * 300_000 + b'"}',
)


@pytest.mark.parametrize("name", NAMES)
def test_malformed_text_is_refused(name: str) -> None:
    office = fresh(PLAIN)
    for raw in MALFORMED:
        check(office, name, raw)
        assert "error" in office.send(name, raw), raw


@pytest.mark.parametrize("name", NAMES)
def test_schema_faults_come_in_their_order(name: str) -> None:
    facts = tools()[name].facts
    assert facts.parameters is not None
    required = facts.parameters.get("required", [])
    office = fresh(PLAIN)
    if required:
        assert office.refusal(name, zz=1) == "missing_argument"
    odd: dict[str, Any] = {argument: [[1]] for argument in required}
    assert office.refusal(name, **odd, zz=1) == "unknown_argument"
    if required:
        assert office.refusal(name, **odd) == "wrong_type"


@pytest.mark.parametrize(
    "name",
    [
        name
        for name in NAMES
        if any(
            argument.endswith("_id")
            for argument in (tools()[name].facts.parameters or {}).get("required", [])
        )
    ],
)
@settings(
    max_examples=6, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow]
)
@given(data=st.data())
def test_an_unknown_id_is_not_found_before_anything_else(name: str, data: st.DataObject) -> None:
    facts = tools()[name].facts
    given_arguments = data.draw(arguments(facts, ()))
    required = (facts.parameters or {})["required"]
    unknown = {
        key: "NO-SUCH-1" for key in given_arguments if key.endswith("_id") and key in required
    }
    office = fresh(PLAIN)
    assert office.refusal(name, **{**given_arguments, **unknown}) == "not_found"


def test_results_are_no_living_records() -> None:
    office = fresh(PLAIN)
    shown = office.call("orders_get_order", order_id="A-1")
    shown["lines"].append("more")
    assert office.call("orders_get_order", order_id="A-1")["lines"] != shown["lines"]
    sent = office.call("mail_send_message", to=["a@b.example"], subject="s", body="b")
    sent["to"].append("c@d.example")
    assert office.call("mail_get_message", message_id=sent["id"])["to"] == ["a@b.example"]


def test_text_with_a_nul_character_is_refused() -> None:
    office = fresh(PLAIN)
    refused = office.refusal("helpdesk_add_comment", ticket_id="A-1", body="a\x00b")
    assert refused == "invalid_value"
