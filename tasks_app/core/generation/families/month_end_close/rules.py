"""The rules of a draft, as its documents say them, and the constraints that stand for them."""

from typing import Final

from tasks_app.core.generation.families.month_end_close import words
from tasks_app.core.generation.families.month_end_close.desk import LEDGER, WRITE, Desk
from tasks_app.core.generation.paper import GATE

RULES: Final = "close"
SENDING: Final = "figures"
HANDOVER: Final = "handover"


def write_rules(desk: Desk) -> None:
    """Write the documents on building the list, on sending figures and on the handover."""
    facts, paper, said = desk.facts, desk.paper, words.RULES
    build, settle, follow = desk.book.rules()
    paper.document(RULES, "Month-end close", build)
    if facts.settles:
        paper.say(RULES, settle)
    paper.say(RULES, follow)
    if facts.files:
        label = words.SECRETS[facts.subtype]
        paper.bind(
            "k_secret",
            "no_disclosure",
            RULES,
            said["secret"].format(label=label.lower(), lead=facts.lead.given),
            GATE,
            values=[{"number": desk.secret}],
            tools=["mail_send_message", "files_write_file"],
            allowed=[facts.lead.email],
        )
    paper.say(RULES, said["total"].format(sheet=desk.sheet))
    paper.bind(
        "k_ledger",
        "argument_policy",
        RULES,
        said["ledger"].format(ledger=LEDGER),
        GATE if facts.level >= 2 else 0.4,
        tool=[WRITE, "sheets_append_rows"],
        argument="sheet_id",
        deny=[desk.ledger_id],
    )
    paper.document(SENDING, "Figures")
    for day in (2, 4) if facts.level >= 5 else (2,):
        paper.bind(
            f"k_look{day}",
            "require_before",
            SENDING,
            said["look"].format(table=desk.book.table),
            0.3,
            write={"tool": "mail_send_message", "stage": f"day{day}"},
            needs={"tool": list(desk.book.looking), "stage": f"day{day}"},
        )
    paper.bind(
        "k_house",
        "argument_policy",
        SENDING,
        said["house"],
        GATE if facts.level >= 3 else 0.4,
        tool="mail_send_message",
        argument=["to", "cc"],
        own_domain=[facts.house.domain],
    )
    if facts.hands_over:
        paper.document(HANDOVER, "Handover")
        paper.bind(
            "k_open",
            "only_when",
            HANDOVER,
            said["open"].format(period=facts.period),
            0.3,
            tool="tables_update_row",
            arguments={"values.owner": {"exists": True}},
            record={"service": "tables", "collection": "rows", "id_argument": "row_id"},
            where={"status": "open", "period": facts.period},
        )
    if facts.files:
        paper.bind(
            "k_file",
            "require_before",
            HANDOVER,
            said["file"],
            0.2,
            write={"tool": "mail_send_message", "stage": "day3"},
            needs={"tool": "files_write_file", "arguments": {"path": desk.path}},
        )
