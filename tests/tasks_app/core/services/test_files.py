"""Files: paths, texts, tables, and what only a look at an image tells."""

from typing import Any

import pytest

from tests.tasks_app.core.services.office import MAILBOX, NOW, Office

FILES: list[dict[str, Any]] = [
    {"id": "q1/report.csv", "media_type": "text/csv", "text": 'name,sum\nAda,"1,5"\nBen,2\n'},
    {"id": "q1/old/notes.md", "media_type": "text/markdown", "text": "# Old", "read_only": True},
    {"id": "scan.png", "media_type": "image/png", "sidecar": "TOTAL 12.40", "blob": "ab12"},
    {"id": "costs.xlsx", "text": "a,b\n1,2\n"},
]


@pytest.fixture
def office() -> Office:
    return Office({"files": {"files": FILES}})


def ids(page: dict[str, Any]) -> list[str]:
    return [row["id"] for row in page["files"]]


def test_files_are_listed_by_folder_and_kind_without_content(office: Office) -> None:
    assert ids(office.call("files_list_files")) == [
        "costs.xlsx",
        "q1/old/notes.md",
        "q1/report.csv",
        "scan.png",
    ]
    assert ids(office.call("files_list_files", folder="q1/")) == [
        "q1/old/notes.md",
        "q1/report.csv",
    ]
    assert ids(office.call("files_list_files", kind=".CSV")) == ["q1/report.csv"]
    assert "text" not in str(office.call("files_list_files", folder="q1/old")["files"][0].keys())


def test_what_an_image_shows_is_told_by_extracting_alone(office: Office) -> None:
    assert office.call("files_read_file", file_id="scan.png") == {
        "id": "scan.png",
        "media_type": "image/png",
    }
    assert office.call("files_search_files", query="total")["total"] == 0
    assert office.call("files_extract_text", file_id="scan.png") == {
        "id": "scan.png",
        "text": "TOTAL 12.40",
    }


def test_a_table_is_read_with_its_columns(office: Office) -> None:
    assert office.call("files_read_table", file_id="q1/report.csv") == {
        "columns": ["name", "sum"],
        "rows": [["Ada", "1,5"], ["Ben", "2"]],
        "total": 2,
    }
    assert office.call("files_read_table", file_id="costs.xlsx")["rows"] == [["1", "2"]]


def test_rows_are_appended_quoted_where_they_must_be(office: Office) -> None:
    answer = office.call(
        "files_append_rows", file_id="q1/report.csv", rows=[["Cy, Jr", 3], [None, 4.5]]
    )
    assert answer == {"id": "q1/report.csv", "rows_added": 2, "total": 4}
    assert office.record("files/files", "q1/report.csv")["text"] == (
        'name,sum\nAda,"1,5"\nBen,2\n"Cy, Jr",3\n,4.5\n'
    )
    assert office.changed() == ["files/files/q1~1report~2csv#text,updated_at"]


def test_a_new_file_has_the_kind_of_its_ending(office: Office) -> None:
    made = office.call("files_write_file", path="q2/plan.md", text="# Plan")
    assert made == {
        "id": "q2/plan.md",
        "owner": MAILBOX,
        "media_type": "text/markdown",
        "text": "# Plan",
        "updated_at": NOW,
    }
    assert office.refusal("files_write_file", path="q2/plan.md", text="x") == "conflict"
    office.call("files_write_file", path="q2/plan.md", text="# B", replace=True)
    office.call("files_append_text", file_id="q2/plan.md", text="More")
    assert office.record("files/files", "q2/plan.md")["text"] == "# B\nMore"


def test_a_file_moves_with_all_that_it_holds(office: Office) -> None:
    office.call("files_move_file", file_id="scan.png", path="in/scan-1.png")
    assert office.record("files/files", "in/scan-1.png") == {
        **FILES[2],
        "id": "in/scan-1.png",
        "updated_at": NOW,
    }
    assert office.changed() == ["delete files/files/scan~2png", "add files/files/in~1scan-1~2png"]
    office.call("files_delete_file", file_id="in/scan-1.png")
    assert office.refusal("files_read_file", file_id="in/scan-1.png") == "not_found"


@pytest.mark.parametrize(
    ("name", "arguments", "code"),
    [
        ("read_file", {"file_id": "none.txt"}, "not_found"),
        ("read_table", {"file_id": "q1/old/notes.md"}, "conflict"),
        ("extract_text", {"file_id": "q1/report.csv"}, "conflict"),
        ("write_file", {"path": "../x.txt", "text": "x"}, "invalid_value"),
        ("write_file", {"path": "/x.txt", "text": "x"}, "invalid_value"),
        ("write_file", {"path": "a//x.txt", "text": "x"}, "invalid_value"),
        ("write_file", {"path": "a/./x.txt", "text": "x"}, "invalid_value"),
        ("write_file", {"path": "a\\x.txt", "text": "x"}, "invalid_value"),
        ("write_file", {"path": ".txt", "text": "x"}, "invalid_value"),
        ("write_file", {"path": "x.png", "text": "x"}, "invalid_value"),
        ("write_file", {"path": "q1/old/notes.md", "text": "x", "replace": True}, "forbidden"),
        (
            "write_file",
            {"path": "q1/report.csv", "text": FILES[0]["text"], "replace": True},
            "conflict",
        ),
        ("append_text", {"file_id": "scan.png", "text": "x"}, "invalid_value"),
        ("append_rows", {"file_id": "q1/report.csv", "rows": [["x"]]}, "invalid_value"),
        ("append_rows", {"file_id": "costs.xlsx", "rows": [["x", "y"]]}, "conflict"),
        ("move_file", {"file_id": "scan.png", "path": "scan.jpg"}, "invalid_value"),
        ("move_file", {"file_id": "scan.png", "path": "a/../b.png"}, "invalid_value"),
        ("move_file", {"file_id": "scan.png", "path": "scan.png"}, "conflict"),
        ("delete_file", {"file_id": "q1/old/notes.md"}, "forbidden"),
    ],
)
def test_what_does_not_fit_is_refused(
    office: Office, name: str, arguments: dict[str, Any], code: str
) -> None:
    assert office.refusal(f"files_{name}", **arguments) == code
