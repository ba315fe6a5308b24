"""The coverage page: every number is a link whose list has as many tasks."""

import csv
import html
import io
import json
import re
from collections.abc import Sequence
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from django.test import Client

from tasks_app.core.generation.families.catalog import FAMILIES
from tasks_app.core.spec import TaskSpec
from tasks_app.coverage import PARTS, coverage, rows_of
from tasks_app.enums import TaskState
from tasks_app.models import GenerationRun, Task
from tasks_app.operations.tasks import create_task
from tasks_app.queries import matching
from tests.factories.specs import small_spec

pytestmark = pytest.mark.django_db
ALL = "-state:retired"


def stored(spec: TaskSpec, state: TaskState = TaskState.PROVEN) -> Task:
    row = create_task(spec=spec, by=None)
    Task.objects.filter(pk=row.pk).update(state=state)
    return row


@pytest.fixture
def library(db: None) -> None:
    """A few tasks of two families, a track each, and one that no proof holds for."""
    capabilities = [{"id": "C1"}, {"id": "C7"}]
    family = "support_resolution"
    subtypes = FAMILIES[family].subtypes
    for seed in range(3):
        changes: dict[str, Any] = {
            "family": family,
            "subtype": subtypes[seed % 2],
            "difficulty": {"level": 1 + seed % 2},
            "capabilities": capabilities[: 1 + seed % 2],
        }
        stored(small_spec(seed=seed, **changes))
    stored(small_spec(seed=8, track="clawmark", family="own_shape", capabilities=capabilities))
    stored(small_spec(seed=9, track="pocket"))
    stored(small_spec(seed=10, family=family, capabilities=capabilities), TaskState.INVALID)


def page(client: Client, query: str = "") -> str:
    answer = client.get(f"/coverage/{query}")
    assert answer.status_code == 200
    return answer.content.decode()


def numbers(text: str) -> list[tuple[str, int]]:
    """Every number of a page that leads to a list: its filter and itself."""
    found = re.findall(r'<a[^>]* href="(/tasks/[^"]*)">([\d,]+)</a>', text)
    return [
        (parse_qs(urlsplit(html.unescape(url)).query)["q"][0], int(number.replace(",", "")))
        for url, number in found
    ]


@pytest.mark.parametrize(
    "query",
    ["", f"?q={ALL}", "?track=clawmark", "?track=pocket&difficulty=1", "?q=capability:C7"],
)
def test_every_number_of_the_page_is_what_its_list_holds(
    viewer: Client, library: None, query: str
) -> None:
    found = numbers(page(viewer, query))
    assert len(found) > 60
    assert [(text, matching(text).count()) for text, _ in found] == found
    assert any(number for _, number in found)


def test_every_wedge_opens_a_list_of_its_size(viewer: Client, library: None) -> None:
    text = page(viewer)
    drawn = re.search(r'id="coverage-figures" type="application/json">(.*?)</script>', text)
    assert drawn is not None
    figures: Sequence[dict[str, Any]] = json.loads(drawn[1])
    assert [figure["title"] for figure in figures] == ["claw_eval", "clawmark"]
    for figure in figures:
        trace = figure["data"][0]
        for url, value in zip(trace["customdata"], trace["values"], strict=True):
            assert matching(parse_qs(urlsplit(url).query)["q"][0]).count() == value
    first = figures[0]["data"][0]
    one, two = FAMILIES["support_resolution"].subtypes[:2]
    assert dict(zip(first["ids"], first["values"], strict=True)) == {
        "claw_eval": 3,
        "support_resolution": 3,
        f"support_resolution/{one}": 2,
        f"support_resolution/{two}": 1,
    }


def test_a_cell_that_cannot_be_is_no_link_and_the_emptiest_is_marked(
    viewer: Client, library: None
) -> None:
    text = page(viewer)
    assert "cannot occur" in text
    assert text.count('class="next"') == 1
    assert 'class="gap"' in text


def test_a_wrong_filter_keeps_the_counts_of_its_good_terms(viewer: Client, library: None) -> None:
    answer = viewer.get("/coverage/?q=track:clawmark+famly:x")
    assert answer.status_code == 400
    found = numbers(answer.content.decode())
    assert [(text, matching(text).count()) for text, _ in found] == found
    assert viewer.get("/coverage/?track=moon").status_code == 400
    assert viewer.get("/coverage/?difficulty=9").status_code == 400


@pytest.mark.parametrize("part", PARTS)
def test_each_part_is_a_table_whose_counts_are_those_of_their_filters(
    viewer: Client, library: None, part: str
) -> None:
    answer = viewer.get(f"/coverage/{part}.csv")
    assert answer["Content-Disposition"] == f'attachment; filename="coverage-{part}.csv"'
    rows = list(csv.DictReader(io.StringIO(answer.content.decode())))
    assert tuple(rows[0]) == PARTS[part]
    assert any(row["tasks"] != "0" for row in rows)
    for row in rows:
        assert matching(row["filter"]).count() == int(row["tasks"])


def test_there_is_no_other_table(viewer: Client) -> None:
    assert viewer.get("/coverage/secrets.csv").status_code == 404
    assert viewer.get("/coverage/cells.csv?q=famly:x").status_code == 400


def test_the_api_says_the_same(viewer: Client, library: None) -> None:
    found = viewer.get("/api/v1/coverage").json()
    expected = coverage()
    assert found == {
        "filter": expected.filter_text,
        "tracks": {"claw_eval": 3, "clawmark": 1, "pocket": 1},
        **{part: list(rows_of(expected, part)) for part in PARTS},
    }
    assert viewer.get("/api/v1/coverage?q=track:pocket").json()["tracks"] == {"pocket": 1}
    assert viewer.get("/api/v1/coverage?q=famly:x").status_code == 422


def test_an_editor_fills_the_emptiest_cells(editor: Client, viewer: Client, library: None) -> None:
    assert viewer.post("/coverage/fill/").status_code == 403
    answer = editor.post("/coverage/fill/")
    run = GenerationRun.objects.get()
    assert answer["Location"] == f"/generate/{run.code}/"
    assert (run.asked, sum(tasks for _, _, tasks, _ in run.shares)) == (20, 20)
    assert "Fill the emptiest cells" not in page(viewer)


def test_an_empty_library_shows_gaps_and_no_wedge(viewer: Client) -> None:
    text = page(viewer)
    assert {number for _, number in numbers(text)} == {0}
    assert "No tasks yet." in text
