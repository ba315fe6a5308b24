"""What becomes of the tickets: the first is closed, a later one is a duplicate of it."""

from collections.abc import Mapping
from typing import Final

from tasks_app.core.generation.families.support_resolution.case import Case
from tasks_app.core.generation.forms import Json, match, ref, step


def close(case: Case) -> None:
    """Close the first ticket as what became of it, and a later one as its duplicate."""
    anchor = case.checks[0][1]["id"]
    if case.resolution:
        case.letter_rules.append(
            f"Close the {'first ' if case.second else ''}ticket as {case.resolution}, "
            f"with the number of the {_NOUNS[case.action]} as its reference."
        )
        case.steps.append(
            step(
                "first",
                "helpdesk_close_ticket",
                ticket_id=ref("ticket", "id"),
                resolution=case.resolution,
                reference=ref("settled", "id"),
            )
        )
        case.checks.append(
            (
                2,
                match(
                    "o_closed",
                    f"{case.first['id']} is closed as {case.resolution}",
                    "helpdesk/tickets",
                    {"id": case.first["id"]},
                    {
                        "status": "closed",
                        "resolution": case.resolution,
                        "reference": case.outcome_id,
                    },
                    requires=[anchor],
                ),
            )
        )
        case.write_set.append(
            f"helpdesk/tickets/{case.first['id']}#status,resolution,reference,updated_at"
        )
    if case.second is not None:
        _close_second(case, anchor)


def file_second_letter(case: Case) -> None:
    """The easiest form of two letters: the later ticket is closed as a duplicate, nothing
    else.
    """
    case.steps.append(
        step(
            "tickets",
            "helpdesk_search_tickets",
            query=f"{case.customer.name} {case.ware.spoken}",
        )
    )
    _close_second(case, None)
    sentence = "Close one ticket at most; the first letter stays open for the team."
    case.damage_rules.append(sentence)
    case.damage_rules += case.letter_rules
    case.letter_rules = []
    case.constraints.append(
        {
            "id": "k_one",
            "kind": "at_most",
            "policy": "settling",
            "sentence": sentence,
            "severity": {"deduct": 0.4},
            "tool": "helpdesk_close_ticket",
            "n": 1,
        }
    )
    case.deciding_tool = "helpdesk_close_ticket"
    case.told, case.contract_parts = [], []
    case.say = ("closed the second letter", {})
    case.resolution, case.action = "", "file"


def _close_second(case: Case, anchor: str | None) -> None:
    second = case.second or {}
    case.letter_rules.append(
        "Close later tickets about the same matter as duplicates of the first, which is "
        "their reference."
    )
    still_open: Json = {"sort": "created_at", "field": "id"}
    if not case.shop_floor:  # else the search asked for open ones
        still_open["where"] = {"status": "open"}
    case.steps.append(
        step(
            "second",
            "helpdesk_close_ticket",
            resolution="duplicate",
            ticket_id=ref("tickets", "tickets", take="last", **still_open),
            reference=ref("tickets", "tickets", take="first", **still_open),
        )
    )
    where = {"id": second["id"]}
    case.checks += [
        (
            2,
            match(
                "o_second",
                f"{second['id']} is closed as a duplicate",
                "helpdesk/tickets",
                where,
                {"status": "closed", "resolution": "duplicate"},
                requires=[anchor] if anchor else [],
            ),
        ),
        (
            2,
            match(
                "o_linked",
                f"It points to {case.first['id']}",
                "helpdesk/tickets",
                where,
                {"reference": case.first["id"]},
                requires=["o_second"],
            ),
        ),
    ]
    case.write_set.append(f"helpdesk/tickets/{second['id']}#status,resolution,reference,updated_at")


_NOUNS: Final[Mapping[str, str]] = {"refund": "refund", "reship": "new parcel"}
