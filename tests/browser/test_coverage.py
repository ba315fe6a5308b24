"""The coverage page in a real browser: wedges and cells open what they count, keys, files."""

import re
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import parse_qs, urlsplit
from xml.etree import ElementTree

import pytest
from PIL import Image
from playwright.sync_api import Browser, Page, expect

from studio.web.choices import Role
from tasks_app.core.generation.families.catalog import FAMILIES
from tasks_app.enums import TaskState
from tasks_app.models import Task
from tasks_app.operations.tasks import create_task
from tasks_app.queries import matching
from tests.browser.visitor import Visitor, visiting
from tests.factories.people import person
from tests.factories.specs import small_spec

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
FAMILY = "support_resolution"


class Live:
    """What pytest-django's live server offers."""

    url: str


@pytest.fixture
def visitor(beside: Browser, live_server: Live) -> Iterator[Visitor]:
    """An editor in a browser; any script error or report of the content policy fails the test."""
    for seed in range(3):
        subtype = FAMILIES[FAMILY].subtypes[seed % 2]
        create_task(spec=small_spec(seed=seed, family=FAMILY, subtype=subtype), by=None)
    Task.objects.update(state=TaskState.PROVEN)
    with visiting(beside, live_server.url, person("jo", Role.EDITOR)) as found:
        yield found


def drawn(visitor: Visitor) -> Page:
    """The page, once its sunburst is there."""
    page = visitor.open("/coverage/")
    page.wait_for_selector('html[data-figures="drawn"]')
    return page


def counted(page: Page) -> int:
    """How many tasks the list holds that the page has gone to."""
    return matching(parse_qs(urlsplit(page.url).query)["q"][0]).count()


def test_a_wedge_opens_the_tasks_that_it_counts(visitor: Visitor) -> None:
    page = drawn(visitor)
    wedges = page.locator(".burst .slice")
    expect(wedges).to_have_count(4)
    shown = []
    for number in range(4):
        words = wedges.nth(number).text_content() or ""
        wedges.nth(number).dispatch_event("click")
        page.wait_for_url("**/tasks/?q=*")
        assert int(re.findall(r"\d+", words)[-1]) == counted(page)
        shown.append(counted(page))
        page.go_back()
        page.wait_for_selector('html[data-figures="drawn"]')
    assert sorted(shown) == [1, 2, 3, 3]


def test_wedges_and_cells_are_reached_by_keys(visitor: Visitor) -> None:
    page = drawn(visitor)
    page.locator(".burst").focus()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowRight")
    expect(page.locator("[data-last]")).to_have_text("support resolution: 3")
    page.keyboard.press("End")
    page.keyboard.press("Enter")
    page.wait_for_url("**/tasks/?q=*")
    assert counted(page) in (1, 2)
    page = drawn(visitor)
    first = page.locator(".mx tbody td a").first
    first.focus()
    page.keyboard.press("ArrowDown")
    expect(page.locator(".mx tbody tr").nth(1).locator("td a").first).to_be_focused()
    page.keyboard.press("Enter")
    page.wait_for_url("**/tasks/?q=*capability*")


def test_a_sunburst_is_saved_as_svg_and_png(visitor: Visitor) -> None:
    page = drawn(visitor)
    with page.expect_download() as taken:
        page.get_by_role("button", name="Save claw_eval as SVG").click()
    assert taken.value.suggested_filename == "coverage-claw_eval.svg"
    text = Path(taken.value.path()).read_text(encoding="utf-8")
    root = ElementTree.fromstring(text)  # noqa: S314 - a file that our own page made
    assert (root.attrib["width"], root.attrib["height"]) == ("640", "640")
    assert "support resolution" in text
    with page.expect_download() as taken:
        page.get_by_role("button", name="Save claw_eval as PNG").click()
    assert taken.value.suggested_filename == "coverage-claw_eval.png"
    with Image.open(taken.value.path()) as picture:
        assert (picture.format, picture.size) == ("PNG", (1280, 1280))
        assert len(picture.convert("RGB").getcolors(1 << 24) or ()) > 3
