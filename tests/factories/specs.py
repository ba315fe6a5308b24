"""Task specs and proof cards for tests of the rows: small, valid, and different where asked."""

from typing import Any

from tasks_app.core.spec import TaskSpec, load_spec
from tasks_app.core.validation.card import (
    GATES_VERSION,
    GROUPS,
    Finding,
    GateResult,
    MutantResult,
    ProofCard,
    Run,
    Suggestion,
)


def small_written(**changes: Any) -> dict[str, Any]:
    """Return a written spec: one ticket to close. Top-level fields may be replaced."""
    return {
        "format": "coworker-task/1",
        "slug": "close-the-lamp-ticket",
        "title": "Close the ticket about the lamp",
        "tags": ["customers"],
        "track": "claw_eval",
        "family": "support_resolution",
        "subtype": "late_parcel",
        "difficulty": {"level": 2, "features": {"writes": 1}},
        "capabilities": [{"id": "C1", "witness": "the ticket is found by its subject"}],
        "clock": {"start": "2031-03-20T09:10:00+01:00", "zone": "Europe/Berlin"},
        "seed": 7,
        "workplace": {
            "organisation": "Lantern Yard",
            "coworker": {"role": "support assistant"},
            "requester": {"name": "Ada Winter", "role": "head of support"},
            "policies": [
                {"id": "desk", "title": "Desk rules", "text": "Tickets are never deleted."}
            ],
        },
        "request": {"text": "Please close the ticket about the reading lamp as answered."},
        "services": {
            "helpdesk": {
                "tickets": [
                    {
                        "id": "TK-1",
                        "subject": "Kettle",
                        "status": "open",
                        "created_at": "2031-03-18T09:00:00+01:00",
                        "updated_at": "2031-03-18T09:00:00+01:00",
                    },
                    {
                        "id": "TK-2",
                        "subject": "Reading lamp",
                        "status": "open",
                        "created_at": "2031-03-19T09:00:00+01:00",
                        "updated_at": "2031-03-19T09:00:00+01:00",
                    },
                ]
            }
        },
        "tools": ["helpdesk_search_tickets", "helpdesk_close_ticket"],
        "constraints": [
            {
                "id": "K1",
                "kind": "at_most",
                "policy": "desk",
                "sentence": "Tickets are never deleted.",
                "severity": "gate",
                "tool": "helpdesk_close_ticket",
                "n": 1,
            }
        ],
        "checks": [
            {
                "id": "closed",
                "kind": "record_match",
                "component": "outcome",
                "weight": 1.0,
                "service": "helpdesk",
                "collection": "tickets",
                "where": {"id": "TK-2"},
                "expect": {"status": "closed", "resolution": "answered"},
            }
        ],
        "write_set": ["helpdesk/tickets/TK-2#status,resolution,updated_at"],
        "reference": [
            {
                "id": "close",
                "tool": "helpdesk_close_ticket",
                "arguments": {"ticket_id": "TK-2", "resolution": "answered"},
            },
            {"reply": "TK-2 is closed."},
        ],
        **changes,
    }


def small_spec(**changes: Any) -> TaskSpec:
    """Return the small spec, read."""
    return load_spec(small_written(**changes))


def imported_spec(**changes: Any) -> TaskSpec:
    """Return a benchmark task as an importer leaves it: no reference, evaluation only."""
    return small_spec(**{"evaluation_only": True, "reference": [], "write_set": [], **changes})


def green_card(spec: TaskSpec, **changes: Any) -> ProofCard:
    """Return a card on which every gate holds for exactly this spec."""
    parts: dict[str, Any] = {
        "spec_hash": spec.hash,
        "gates_version": GATES_VERSION,
        "proven": True,
        "reference": Run(name="reference", reward=1.0, passed=True, calls=1),
        "null": Run(name="null", reward=0.0, passed=False),
        "probes": (Run(name="crawl", reward=0.0, passed=False, calls=1),),
        "mutants": (
            MutantResult(
                id="drop-1",
                operator="drop",
                title="the ticket is not closed",
                reward=0.0,
                verdict="killed",
            ),
        ),
        "fingerprint": "f" * 16,
        "gates": tuple(
            GateResult(id=f"{letter}1", title=name, state="held") for letter, name in GROUPS.items()
        ),
        "milliseconds": 4.0,
    }
    return ProofCard(**{**parts, **changes})


def red_card(spec: TaskSpec, *, suggestion: Suggestion | None = None) -> ProofCard:
    """Return a card with one blocking finding at gate O1."""
    return green_card(
        spec,
        proven=False,
        gates=(GateResult(id="O1", title="reference solves", state="failed"),),
        findings=(
            Finding(
                gate="O1",
                severity="block",
                path="/checks/0/expect/resolution",
                message="the reference earns 0.0",
                hint="expect what the reference does",
                suggestion=suggestion,
            ),
        ),
    )
