"""The shell in a real browser: keys, palette, themes, focus after swaps, and not one CSP report.

The pages are rendered here and handed to the browser at a made-up address with the header that the
studio sends, so that nothing but templates, style sheets and scripts is under test.
"""

import mimetypes
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from django.contrib.staticfiles import finders
from django.template.loader import render_to_string
from django.test import RequestFactory
from playwright.sync_api import Browser, Page, Route

from studio.web.middleware import policy

pytestmark = pytest.mark.browser

ORIGIN = "http://studio.test"
Open = Callable[..., Page]


def _row(code: str, title: str) -> dict[str, str]:
    return {"code": code, "title": title, "url": f"/tasks/{code}/", "why": "waits for a verdict"}


def _home(**changes: Any) -> dict[str, Any]:
    return {
        "user": SimpleNamespace(
            is_authenticated=True,
            is_staff=True,
            role="admin",
            get_full_name="R. Amani",
            get_username="amani",
        ),
        "shell": {"workers_alive": 2, "tasks": 742},
        "now": datetime(2026, 11, 30, tzinfo=UTC),
        "main_action": {"label": "Resume review", "url": "/tasks/T-4K7Q/", "key": "Enter"},
        "ledger": [{"label": "Proven", "value": "914", "note": "86 %", "url": "/tasks/?q=x"}],
        "queue": [_row("T-4K7Q", "Hold INV-20418 <b>until</b> called back"), _row("T-2H9C", "B")],
        "queue_total": "2 tasks",
        "queue_url": "/tasks/",
        "jobs": [
            {"code": "JOB-1", "what": "Prove 20", "state": "running", "how_far": "7 of 20",
             "done": 7, "total": 20, "left": "2 s", "error": "", "url": ""},
        ],
        "library": [{"state": "proven", "label": "", "count": 914, "url": "/", "share": 100.0}],
        "library_total": 914,
        "workers": [],
        "messages": [SimpleNamespace(level_tag="success", extra_tags="/undo/", text="x")],
        **changes,
    }  # fmt: skip


@pytest.fixture
def open_page(browser: Browser) -> Iterator[Open]:
    """Opens a rendered template as a page; fails at the end on any script error or CSP report."""
    faults: list[str] = []
    context = browser.new_context(viewport={"width": 1440, "height": 900})

    def open_(template: str, data: dict[str, Any], path: str = "/", **options: Any) -> Page:
        request = RequestFactory().get(path)
        body = render_to_string(template, data, request)

        def answer(route: Route) -> None:
            where = route.request.url.removeprefix(ORIGIN).split("?")[0]
            if where.startswith("/static/"):
                found = finders.find(where.removeprefix("/static/"))
                assert isinstance(found, str), where
                kind = mimetypes.guess_type(found)[0] or "application/octet-stream"
                route.fulfill(body=Path(found).read_bytes(), content_type=kind)
                return
            route.fulfill(
                body=body,
                content_type="text/html; charset=utf-8",
                headers={"Content-Security-Policy": policy("bm9uY2U=")},
            )

        context.route(f"{ORIGIN}/**", answer)
        page = context.new_page()
        page.on("pageerror", lambda error: faults.append(str(error)))
        page.on(
            "console",
            lambda message: faults.append(message.text) if message.type == "error" else None,
        )
        if options:
            page.set_viewport_size(options["viewport"])
        page.goto(ORIGIN + path)
        return page

    yield open_
    context.close()
    assert faults == []


def test_go_to_keys_follow_the_rail(open_page: Open) -> None:
    page = open_page("home.html", _home())
    page.keyboard.press("g")
    page.keyboard.press("t")
    page.wait_for_url(f"{ORIGIN}/tasks/")


def test_enter_on_the_page_takes_the_main_action(open_page: Open) -> None:
    page = open_page("home.html", _home())
    page.keyboard.press("Enter")
    page.wait_for_url(f"{ORIGIN}/tasks/T-4K7Q/")


def test_j_and_k_move_the_cursor_and_the_focus_through_a_list(open_page: Open) -> None:
    page = open_page("home.html", _home())
    page.keyboard.press("j")
    cursor = page.locator("tr.here")
    assert cursor.get_attribute("id") == "queue-T-2H9C"
    assert page.evaluate("document.activeElement.textContent") == "B"
    page.keyboard.press("k")
    assert cursor.get_attribute("id") == "queue-T-4K7Q"
    page.keyboard.press("o")
    page.wait_for_url(f"{ORIGIN}/tasks/T-4K7Q/")


def test_the_sheet_lists_the_keys_of_the_page_and_switches_single_keys_off(
    open_page: Open,
) -> None:
    page = open_page("home.html", _home())
    page.keyboard.press("?")
    sheet = page.locator("#keys")
    assert sheet.is_visible()
    assert "Resume review" in sheet.inner_text()
    assert "Next row" in sheet.inner_text()
    sheet.get_by_label("Single keys on").uncheck()
    page.keyboard.press("Escape")
    page.keyboard.press("j")
    assert page.locator("tr.here").get_attribute("id") == "queue-T-4K7Q"
    page.reload()
    page.keyboard.press("?")
    assert not sheet.is_visible()
    assert page.locator(".acts .key").first.is_hidden()


def test_keys_do_nothing_while_typing(open_page: Open) -> None:
    page = open_page("home.html", _home())
    page.keyboard.press("/")
    page.keyboard.type("gt?j")
    assert page.input_value("#find") == "gt?j"
    assert page.url == f"{ORIGIN}/"


def test_the_palette_finds_a_page_and_offers_a_search(open_page: Open) -> None:
    page = open_page("home.html", _home())
    page.keyboard.press("Control+k")
    page.keyboard.type("refund")
    assert page.locator("#palette-list [role=option]").all_inner_texts() == [
        "Search tasks for “refund”\nSearch"
    ]
    page.fill("#palette-q", "episo")
    page.keyboard.press("Enter")
    page.wait_for_url(f"{ORIGIN}/episodes/")


def test_a_chosen_theme_is_there_before_the_first_paint_of_the_next_page(open_page: Open) -> None:
    page = open_page("home.html", _home())
    page.click("[data-pref=theme]")
    page.click("[data-pref=theme]")
    page.reload(wait_until="commit")
    page.wait_for_selector("html[data-theme=dark]")
    page.wait_for_load_state()
    assert page.get_attribute("[data-pref=theme]", "aria-label") == "Theme: dark"


def test_words_of_people_arrive_as_text(open_page: Open) -> None:
    page = open_page("home.html", _home())
    assert "Hold INV-20418 <b>until</b> called back" in page.locator("#queue-T-4K7Q").inner_text()
    page.evaluate("studio.toast({text: '<img src=x onerror=alert(1)>', undo: '/undo/'})")
    assert page.locator(".toast").last.locator("span").inner_text() == (
        "<img src=x onerror=alert(1)>"
    )


def test_focus_does_not_fall_to_the_body_when_a_swap_takes_its_element_away(
    open_page: Open,
) -> None:
    page = open_page("home.html", _home())
    page.evaluate(
        """() => {
          document.querySelector('#queue-T-4K7Q-open').focus();
          htmx.swap('#home-live', '<div id="home-live">gone</div>', {swapStyle: 'outerHTML'});
        }"""
    )
    page.wait_for_function("document.activeElement !== document.body")
    assert page.evaluate("document.activeElement.id") == "home-live"


@pytest.mark.parametrize("width", [1440, 320])
@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize(
    ("template", "data"),
    [
        ("home.html", _home()),
        ("home.html", _home(is_new=True, queue=[], jobs=[], ledger=[], main_action=None)),
        ("422.html", {"problems": [{"place": "records.crm", "message": "must be an object"}]}),
    ],
    ids=["home", "home-empty", "422"],
)
def test_pages_have_no_accessibility_fault_and_do_not_scroll_sideways(
    open_page: Open, template: str, data: dict[str, Any], theme: Any, width: int
) -> None:
    page = open_page(template, data, viewport={"width": width, "height": 900})
    page.emulate_media(color_scheme=theme, reduced_motion="reduce")
    found = [fault["id"] for fault in Axe().run(page).response["violations"]]
    across = page.evaluate("document.documentElement.scrollWidth")
    assert (found, across) == ([], width)
