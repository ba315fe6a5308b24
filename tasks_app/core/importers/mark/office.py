"""ClawMark's services as ours: the records of the first stage, and the changes of later ones.

Notion databases are typed tables, spreadsheets are sheets, mail is mail. Ids are given in order.
What a call says that has no place here is refused with its reason and counted by the caller.
"""

import ast
import re
from collections.abc import Callable, Mapping
from typing import Any, Final

from tasks_app.core.importers.labels import free_name
from tasks_app.core.importers.mark.files import Files
from tasks_app.core.importers.mark.source import Source
from tasks_app.core.importers.mark.values import Below, NotLiteralError, Row, Rows, Sheet
from tasks_app.core.instants import is_instant
from tasks_app.core.services.sheets import MOST_COLUMNS, MOST_ROWS
from tasks_app.core.values import column_name, column_number

SERVICES: Final[Mapping[str, str]] = {
    "email": "mail",
    "notion": "tables",
    "google_sheets": "sheets",
    "calendar": "calendar",
    "fs": "files",
    "filesystem": "files",
}
"""Theirs, as the code and the metadata call them → ours."""
READS: Final = frozenset(
    {"notion.query_db", "google_sheets.get_spreadsheet_id", "google_sheets.read_values"}
    | {"calendar.get_events", "calendar.find_events", "calendar.list_calendars"}
    | {"notion.get_page", "notion.find_database", "email.get_emails", "email.search_emails"}
)
"""Calls that change nothing."""
_FIRST: Final = re.compile(
    r"(?:(?P<tab>[^!]+)!)?(?P<column>[A-Z]{1,2})(?P<row>[1-9]\d{0,4})(?::.*)?"
)
_TYPES: Final[Mapping[str, str]] = {
    "number": "number",
    "checkbox": "boolean",
    "select": "choice",
    "status": "choice",
}
"""Their type of a column → ours; all others are text."""
_PLAIN: Final = ("number", "checkbox", "email", "url", "phone_number")
_UNSAFE: Final = re.compile(r"[./#*,~\[\]]")
_OWN: Final = frozenset({"id", "table_id"})
Values = dict[str, Any]


class Office:
    """What the stages have made of the services so far."""

    def __init__(self, source: Source, users: Mapping[str, str]) -> None:
        self.source = source
        self.users = users
        """Name of a mailbox → its address."""
        self.services: dict[str, dict[str, list[Values]]] = {}
        self.mutations: list[list[Values]] = []
        self.files = Files(source)
        self._stage = 0
        self._undated: list[Values] = []
        self._tables: dict[str, str] = {}
        self._columns: dict[str, dict[str, str]] = {}
        """Table → their column → ours."""
        self._sheets: dict[str, str] = {}
        self._cells: dict[str, dict[int, Values]] = {}
        self._count: dict[str, int] = {}

    def begin(self, stage: int) -> None:
        """Let what follows be a stage's; the first one's makes the world."""
        self._stage = stage
        self.mutations.append([])

    def close(self, time: str | None) -> None:
        """Date the mail of the stage that ends, and its meetings' offset."""
        for record in self._undated:
            for name in ("date", "start", "end"):
                value = record.get(name)
                if value == "" or (value is not None and not is_instant(str(value))):
                    record[name] = _dated(str(value), time)
                    if record[name] is None:
                        del record[name]
        self._undated.clear()

    def do(self, call: ast.Call, named: str, places: list[Any], given: Values) -> Any:
        """Do what a call says. Raises NotLiteralError where it has no place here."""
        known = _CALLS.get(named)
        if known is None:
            raise NotLiteralError(call, "no counterpart here")
        function, parameters = known
        if len(places) > len(parameters):
            raise NotLiteralError(call, "more arguments than are known")
        arguments = dict(zip(parameters, places, strict=False))
        for name, value in given.items():
            meant = _MEANT.get(name, name)
            if meant not in parameters or meant in arguments:
                raise NotLiteralError(call, f"its argument {name} is not known")
            arguments[meant] = value
        return function(self, call, arguments)

    def _add(self, service: str, collection: str, record: Values) -> Values:
        """Put a record into the world, or into the changes of the running stage."""
        if self._stage == 0:
            self.services.setdefault(service, {}).setdefault(collection, []).append(record)
        else:
            self._change(service, collection, "add", values=record)
        return record

    def _change(self, service: str, collection: str, op: str, **said: Any) -> None:
        # Whether a change is told of stands in upstream's comments, which a syntax tree lacks:
        # mail is seen to arrive, all else is taken as silent.
        self.mutations[-1].append(
            {
                "service": service,
                "collection": collection,
                "op": op,
                "silent": service != "mail",
                **said,
            }
        )

    def _number(self, prefix: str) -> str:
        self._count[prefix] = self._count.get(prefix, 0) + 1
        return f"{prefix}-{self._count[prefix]:02}"

    def _create_database(self, call: ast.Call, said: Values) -> Rows:
        name = _text(call, said, "name")
        schema = said.get("schema")
        if not isinstance(schema, dict):
            raise NotLiteralError(call, "its columns are no object")
        if name in self._tables:
            raise NotLiteralError(call, f"there is a database {name[:80]!r} already")
        taken: set[str] = set()
        ours: dict[str, str] = {}
        columns: list[Values] = []
        for column, form in schema.items():
            kind = next(iter(form), "") if isinstance(form, dict) else ""
            ours[column] = self._column(call, column, taken)
            made: Values = {"name": ours[column], "type": _TYPES.get(kind, "text")}
            options = form[kind].get("options") if kind and isinstance(form[kind], dict) else None
            if made["type"] == "choice" and isinstance(options, list):
                made["options"] = [
                    str(o.get("name")) for o in options if isinstance(o, dict) and "name" in o
                ]
            columns.append(made)
        self._tables[name] = self._number("TB")
        self._columns[name] = ours
        self._add("tables", "tables", {"id": self._tables[name], "name": name, "columns": columns})
        if self._stage == 0:
            self.services["tables"].setdefault("rows", [])
        return Rows(name)

    def _column(self, call: ast.Call, column: str, taken: set[str]) -> str:
        safe = _UNSAFE.sub("_", column)[:80] or "column"
        safe = f"{safe}_" if safe in _OWN else safe
        free = free_name(safe, taken)
        if free != column:
            self.source.found(call, f"the column {column[:80]!r} is called {free!r} here")
        return free

    def _add_row(self, call: ast.Call, said: Values) -> Row:
        table = _table(said.get("table"))
        if table not in self._tables:
            raise NotLiteralError(call, f"no database {str(table)[:80]!r} was created")
        values = self._properties(call, table, said.get("properties"))
        number = self._number("RW")
        self._add("tables", "rows", {"id": number, "table_id": self._tables[table], **values})
        return Row(table, (("id", number),))

    def _update_row(self, call: ast.Call, said: Values) -> None:
        row = said.get("row")
        if not isinstance(row, Row) or row.table not in self._tables or not row.where:
            raise NotLiteralError(call, "which row is meant is computed")
        columns = {**self._columns[row.table], "id": "id"}
        where: Values = {"table_id": self._tables[row.table]}
        for column, wanted in row.where:
            if column not in columns:
                raise NotLiteralError(call, f"{row.table} has no column {column[:80]!r}")
            where[columns[column]] = wanted
        values = self._properties(call, row.table, said.get("properties"))
        if self._stage > 0:
            self._change("tables", "rows", "update", where=where, values=values)
            return
        rows = self.services["tables"]["rows"]
        if any(not isinstance(wanted, str | int | float) for wanted in where.values()):
            raise NotLiteralError(call, "which row is meant is computed")
        chosen = [r for r in rows if all(r.get(k) == wanted for k, wanted in where.items())]
        if not chosen:
            raise NotLiteralError(call, "no row of the seed is meant")
        for record in chosen:
            record.update(values)

    def _properties(self, call: ast.Call, table: str, said: Any) -> Values:
        if not isinstance(said, dict):
            raise NotLiteralError(call, "its values are no object")
        columns = self._columns[table]
        values: Values = {}
        for column, form in said.items():
            if column not in columns:
                raise NotLiteralError(call, f"{table[:80]} has no column {column[:80]!r}")
            values[columns[column]] = _property(call, column, form)
        return values

    def _query(self, call: ast.Call, said: Values) -> Rows:
        table = _table(said.get("table"))
        if table not in self._tables:
            raise NotLiteralError(call, "which database is meant is computed")
        return Rows(table)

    def _create_sheet(self, call: ast.Call, said: Values) -> Sheet:
        title = _text(call, said, "title")
        if title in self._sheets:
            raise NotLiteralError(call, f"there is a spreadsheet {title[:80]!r} already")
        self._sheets[title] = self._number("SH")
        self._cells[title] = {}
        self._add("sheets", "sheets", {"id": self._sheets[title], "title": title})
        if self._stage == 0:
            self.services["sheets"].setdefault("rows", [])
        return Sheet(title)

    def _find_sheet(self, call: ast.Call, said: Values) -> Sheet:
        title = _text(call, said, "title")
        if title not in self._sheets:
            raise NotLiteralError(call, f"no spreadsheet {title[:80]!r} was created")
        return Sheet(title)

    def _write_cells(self, call: ast.Call, said: Values) -> None:
        title, lines = self._lines(call, said)
        match = _FIRST.fullmatch(_text(call, said, "cells"))
        if match is None:
            raise NotLiteralError(call, "its range names no first cell")
        self._on_first_tab(call, match["tab"])
        left, top = column_number(match["column"]), int(match["row"])
        for number, line in enumerate(lines, start=top):
            self._put_row(call, title, number, left, line)

    def _append_rows(self, call: ast.Call, said: Values) -> None:
        title, lines = self._lines(call, said)
        self._on_first_tab(call, _text(call, said, "cells").partition("!")[0])
        first = max(self._cells[title], default=0) + 1
        if self._stage > 0:
            self.source.found(
                call,
                f"rows come as row {first} and below of {title[:80]!r}, under those of the task; "
                "where the coworker has filled that row, nothing is added",
            )
        for number, line in enumerate(lines, start=first):
            self._put_row(call, title, number, 1, line)

    def _lines(self, call: ast.Call, said: Values) -> tuple[str, list[list[Any]]]:
        sheet, lines = said.get("sheet"), said.get("values")
        if not isinstance(sheet, Sheet) or sheet.title not in self._sheets:
            raise NotLiteralError(call, "which spreadsheet is meant is computed")
        if not isinstance(lines, list) or not all(isinstance(line, list) for line in lines):
            raise NotLiteralError(call, "its values are no rows")
        if any(not isinstance(c, str | int | float | None) for line in lines for c in line):
            raise NotLiteralError(call, "a cell holds more than one value")
        return sheet.title, lines

    def _on_first_tab(self, call: ast.Call, tab: str | None) -> None:
        if tab is not None and tab.strip("'").lower() not in ("", "sheet1"):
            raise NotLiteralError(call, f"the tab {tab[:40]}: a spreadsheet has one tab here")

    def _put_row(self, call: ast.Call, title: str, number: int, left: int, line: list[Any]) -> None:
        if number > MOST_ROWS or left + len(line) - 1 > MOST_COLUMNS:
            raise NotLiteralError(call, "beyond the last row or column")
        cells = {column_name(left + n): c for n, c in enumerate(line) if c not in (None, "")}
        empty = [column_name(left + n) for n, c in enumerate(line) if c in (None, "")]
        sheet = self._sheets[title]
        known = self._cells[title].get(number)
        place = {"id": f"{sheet}!{number}", "sheet_id": sheet, "row": number}
        if known is None:
            if cells:
                self._cells[title][number] = self._add("sheets", "rows", {**place, **cells})
        elif self._stage == 0:
            known.update(cells)
            for name in empty:
                known.pop(name, None)
        else:
            changed = {**cells, **dict.fromkeys(empty)}
            self._change("sheets", "rows", "update", where={"id": place["id"]}, values=changed)

    def _send(self, call: ast.Call, said: Values) -> None:
        to = said.get("to")
        listed = [to] if isinstance(to, str) else to
        if (
            not isinstance(listed, list)
            or not listed
            or not all(isinstance(t, str) for t in listed)
        ):
            raise NotLiteralError(call, "whom it goes to is no text")
        sender = _text(call, said, "from_user")
        addresses = [self.users.get(t, t) for t in listed]
        record = {
            "id": self._number("M"),
            "mailbox": addresses[0],
            "from": self.users.get(sender, sender),
            "to": addresses,
            "subject": _text(call, said, "subject"),
            "date": "",
            "body": _text(call, said, "body"),
            "labels": ["inbox"],
            "is_read": False,
        }
        self._undated.append(self._add("mail", "messages", record))
        if self._stage == 0:
            for collection in ("drafts", "outbox"):
                self.services["mail"].setdefault(collection, [])

    def _add_event(self, call: ast.Call, said: Values) -> None:
        record: Values = {
            "id": self._number("EV"),
            "title": _text(call, said, "summary"),
            "start": _text(call, said, "start"),
            "end": _text(call, said, "end"),
            "organiser": _text(call, said, "calendar"),
        }
        for theirs, ours in (("location", "location"), ("description", "note")):
            if said.get(theirs):
                record[ours] = _text(call, said, theirs)
        self._undated.append(self._add("calendar", "events", record))

    def _upload(self, call: ast.Call, said: Values) -> None:
        place = said.get("source")
        if not isinstance(place, Below):
            raise NotLiteralError(call, "which files are meant is computed")
        for record in self.files.taken(call, place, _text(call, said, "target")):
            if self._stage == 0:
                rows = self.services.setdefault("files", {}).setdefault("files", [])
                rows[:] = [row for row in rows if row["id"] != record["id"]]
                rows.append(record)
            else:
                self._change("files", "files", "file", values=record)


def _text(call: ast.Call, said: Values, name: str) -> str:
    value = said.get(name)
    if not isinstance(value, str):
        raise NotLiteralError(call, f"its {name} is no text")
    return value


def _table(said: Any) -> str:
    return said.table if isinstance(said, Rows) else str(said)


def _property(call: ast.Call, column: str, form: Any) -> Any:
    """Return what a Notion property holds: `{"select": {"name": "open"}}` is open."""
    kind, held = next(iter(form.items())) if isinstance(form, dict) and form else ("", None)
    if kind in ("title", "rich_text") and isinstance(held, list):
        parts = [p.get("text") if isinstance(p, dict) else None for p in held]
        if all(isinstance(p, dict) and isinstance(p.get("content"), str) for p in parts):
            return "".join(p["content"] for p in parts if p)
    elif kind in ("select", "status") and (held is None or isinstance(held, dict)):
        return None if held is None else held.get("name")
    elif kind == "multi_select" and isinstance(held, list):
        if all(isinstance(o, dict) and isinstance(o.get("name"), str) for o in held):
            return ", ".join(o["name"] for o in held)
    elif kind == "date" and isinstance(held, dict) and isinstance(held.get("start"), str):
        return held["start"]
    elif kind in _PLAIN and (held is None or isinstance(held, str | int | float)):
        return held
    raise NotLiteralError(call, f"{column[:80]}: a value of a form that is not known")


def _dated(local: str, time: str | None) -> str | None:
    """Return a local time with the offset of a stage's; the stage's own time where it has none."""
    if time is None or not is_instant(time):
        return None
    offset = "+00:00" if time.endswith("Z") else time[-6:]
    moment = f"{local}{offset}" if local else time
    return moment if is_instant(moment) else None


Call = Callable[[Office, ast.Call, Values], Any]
_MEANT: Final[Mapping[str, str]] = {
    "db_name": "table", "database": "table", "page_id": "row", "row_id": "row",
    "spreadsheet_id": "sheet", "sheet_id": "sheet", "range": "cells", "range_name": "cells",
    "range_": "cells", "rows": "values", "dtstart": "start", "dtend": "end",
    "calendar_name": "calendar",
}  # fmt: skip
"""Their name of an argument → the one below."""
_CALLS: Final[Mapping[str, tuple[Call, tuple[str, ...]]]] = {
    "notion.create_database": (Office._create_database, ("name", "schema")),
    "notion.add_database_row": (Office._add_row, ("table", "properties")),
    "notion.update_db_row": (Office._update_row, ("row", "properties")),
    "notion.query_db": (Office._query, ("table",)),
    "google_sheets.create_spreadsheet": (Office._create_sheet, ("title",)),
    "google_sheets.get_spreadsheet_id": (Office._find_sheet, ("title",)),
    "google_sheets.update_values": (Office._write_cells, ("sheet", "cells", "values")),
    "google_sheets.append_rows": (Office._append_rows, ("sheet", "cells", "values")),
    "email.send_email": (Office._send, ("from_user", "to", "subject", "body")),
    "calendar.add_event": (
        Office._add_event,
        ("calendar", "summary", "start", "end", "description", "location"),
    ),
    "fs.upload_dir": (Office._upload, ("source", "target")),
    "fs.upload_file": (Office._upload, ("source", "target")),
}
"""Call → what it does here, and its arguments in order."""
