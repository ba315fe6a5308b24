"""The replay in a real browser: keys, deep links, the pane, hostile text, accessibility."""

from collections.abc import Callable, Iterator

import pytest
from axe_playwright_python.sync_playwright import Axe
from django.conf import settings
from django.test import Client
from playwright.sync_api import Browser, Page

from rollouts_app.core.episode import run_episode
from rollouts_app.core.scripted import plain
from rollouts_app.models import Episode
from rollouts_app.operations.batches import open_batch
from rollouts_app.operations.episodes import Ended, record_outcomes
from rollouts_app.queries import selected
from studio.web.choices import Role
from tasks_app.core.program import Act as Step
from tasks_app.core.spec import Limits
from tests.factories.people import person
from tests.factories.specs import small_spec
from tests.rollouts_app.conftest import rolled_out, stored
from tests.rollouts_app.specs import example

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

Visit = Callable[..., Page]


class Live:
    """What pytest-django's live server offers."""

    url: str


@pytest.fixture
def visit(beside: Browser, live_server: Live) -> Iterator[Visit]:
    """Opens a page as a signed-in reviewer; fails on any script error, CSP report or 5xx."""
    client = Client()
    client.force_login(person("jo", Role.REVIEWER))
    cookie = client.cookies[settings.SESSION_COOKIE_NAME].value
    faults: list[str] = []
    context = beside.new_context(
        viewport={"width": 1440, "height": 900},
        reduced_motion="reduce",
        permissions=["clipboard-read", "clipboard-write"],
    )
    context.add_cookies(
        [{"name": settings.SESSION_COOKIE_NAME, "value": cookie, "url": live_server.url}]
    )

    def open_(path: str, width: int = 1440, theme: str = "light") -> Page:
        page = context.new_page()
        page.set_viewport_size({"width": width, "height": 900})
        page.emulate_media(color_scheme="dark" if theme == "dark" else "light")
        page.on("pageerror", lambda error: faults.append(str(error)))
        page.on("dialog", lambda dialog: faults.append(f"dialog {dialog.message}"))
        page.on(
            "console",
            lambda message: faults.append(message.text) if message.type == "error" else None,
        )
        page.goto(live_server.url + path)
        return page

    yield open_
    context.close()
    assert faults == []


@pytest.fixture
def refund(beside: Browser, transactional_db: None) -> Episode:
    """The reference's episode on the support example."""
    stored(example("support_resolution"))
    return rolled_out().episodes.get()


def changed_by(page: Page, turn: int) -> None:
    """Wait until the pane is that of a turn."""
    page.wait_for_selector(f'#pane[data-number="{turn}"]')


def test_n_leads_to_the_turn_where_the_refund_appears_and_the_check_flips(
    refund: Episode, visit: Visit
) -> None:
    page = visit(f"/episodes/{refund.code}/")
    page.keyboard.press("n")
    changed_by(page, 9)
    assert page.locator("#pane .diff header b").inner_text() == "finance/refunds/RF-5167"
    assert "o_refund" in page.locator("#pane .flip").first.inner_text()
    assert page.locator(".turn.cur").get_attribute("id") == "turn-9"
    assert page.url.endswith(f"/episodes/{refund.code}/#turn-9")
    assert page.locator(".film a[aria-current]").get_attribute("data-turn") == "9"


def test_j_k_n_p_step_through_turns_and_stop_at_the_ends(refund: Episode, visit: Visit) -> None:
    page = visit(f"/episodes/{refund.code}/")
    for key, turn in [("j", 2), ("j", 3), ("k", 2), ("n", 9), ("n", 10), ("p", 9), ("p", 9)]:
        page.keyboard.press(key)
        changed_by(page, turn)
    for _ in range(9):
        page.keyboard.press("j")
    changed_by(page, 13)


def test_shifted_j_and_k_step_through_calls(refund: Episode, visit: Visit) -> None:
    page = visit(f"/episodes/{refund.code}/#turn-5")
    changed_by(page, 5)
    for key, call in [("J", "call-5"), ("J", "call-6"), ("J", "call-7"), ("K", "call-6")]:
        page.keyboard.press(key)
        assert page.evaluate("document.activeElement.id") == call


def test_d_shows_all_records_and_keeps_the_view_from_turn_to_turn(
    refund: Episode, visit: Visit
) -> None:
    page = visit(f"/episodes/{refund.code}/#turn-9")
    changed_by(page, 9)
    page.keyboard.press("d")
    page.wait_for_selector('#pane[data-show="state"]')
    assert page.locator("#pane .rec[open] summary .mono").all_inner_texts() == ["RF-5167"]
    page.keyboard.press("j")
    changed_by(page, 10)
    assert page.locator("#pane mark").first.inner_text() == "closed"


def test_a_deep_link_opens_its_turn_and_y_copies_one(refund: Episode, visit: Visit) -> None:
    page = visit(f"/episodes/{refund.code}/#turn-12")
    changed_by(page, 12)
    assert page.locator("#turn-12").bounding_box() is not None
    page.keyboard.press("y")
    page.wait_for_selector(".toast")
    copied = page.evaluate("navigator.clipboard.readText()")
    assert copied.endswith(f"/episodes/{refund.code}/#turn-12")


def test_the_strip_the_rail_and_a_check_lead_to_their_turn(refund: Episode, visit: Visit) -> None:
    page = visit(f"/episodes/{refund.code}/")
    page.locator(".film a", has_text="11").click()
    changed_by(page, 11)
    page.locator(".rail a", has_text="Send message").click()
    changed_by(page, 12)
    page.locator("#pane .checks a", has_text="since turn 10").click()
    changed_by(page, 10)


def test_the_page_reads_without_javascript(refund: Episode, beside: Browser, visit: Visit) -> None:
    scripted = visit(f"/episodes/{refund.code}/")
    with beside.new_context(java_script_enabled=False) as context:
        context.add_cookies(
            [
                {"name": cookie["name"], "value": cookie["value"], "url": scripted.url}
                for cookie in scripted.context.cookies()
            ]
        )
        page = context.new_page()
        page.goto(scripted.url)
        page.locator(".rail a", has_text="Create refund").click()
        assert page.locator("#pane .diff header b").inner_text() == "finance/refunds/RF-5167"
        page.locator("#pane a", has_text="State").click()
        assert page.locator("#pane h2").first.inner_text() == "Records after turn 9"


def test_hostile_text_stays_text_in_pages_and_panes(visit: Visit) -> None:
    hostile = "<img src=x onerror=alert(1)><script>alert(2)</script>"
    spec = small_spec(title=hostile, request={"text": hostile})
    stored(spec)
    acts = [
        Step(hostile, {hostile: hostile}),
        Step("helpdesk_close_ticket", {"ticket_id": hostile, "resolution": hostile}),
        Step("helpdesk_close_ticket", {"ticket_id": "TK-2", "resolution": "answered"}),
        Step(None, {}, hostile),
    ]
    row = kept(run_episode(spec, plain("script", acts)))
    page = visit(f"/episodes/{row.code}/")
    for turn in (2, 3, 4):
        page.keyboard.press("j")
        changed_by(page, turn)
    assert page.locator("main img").count() == 0
    assert hostile in page.locator("#turn-4 .said").inner_text()


def kept(outcome: object) -> Episode:
    """Store an outcome as an episode of its own."""
    batch = open_batch(
        policy="reference", chosen=selected("")[:1], filter_text="", group_size=1, seed=0, by=None
    )
    row = batch.episodes.get()
    record_outcomes(results=[Ended(row.pk, outcome)])  # type: ignore[arg-type]  # an Outcome
    row.refresh_from_db()
    return row


def test_a_long_episode_opens_at_a_deep_link(visit: Visit) -> None:
    spec = example("support_resolution")
    stored(spec)
    acts = [Step("orders_search_orders", {"customer_id": "CU-3307"}) for _ in range(400)]
    limits = Limits(turns=2000, tool_calls=5000)
    row = kept(run_episode(spec, plain("reference", acts), limits=limits))
    page = visit(f"/episodes/{row.code}/#turn-390")
    changed_by(page, 390)
    box = page.locator("#turn-390 h2").bounding_box()
    assert box is not None
    assert 0 < box["y"] < 900


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("width", [1440, 390])
def test_pages_have_no_accessibility_fault_and_do_not_scroll_sideways(
    refund: Episode, visit: Visit, theme: str, width: int
) -> None:
    found: dict[str, list[str]] = {}
    paths = {
        "replay": f"/episodes/{refund.code}/#turn-9",
        "state": f"/episodes/{refund.code}/?turn=9&show=state",
        "list": "/episodes/",
        "none": "/episodes/?q=policy:null",
        "rollouts": "/rollouts/",
        "batch": f"/rollouts/{refund.batch.code}/",
    }
    for name, path in paths.items():
        page = visit(path, width, theme)
        faults = [
            f"{fault['id']}: {fault['nodes'][0]['target']}"
            for fault in Axe().run(page).response["violations"]
        ]
        across = page.evaluate("document.documentElement.scrollWidth")
        if across > width:
            faults.append(f"scrolls sideways: {across}")
        if faults:
            found[name] = faults
        page.close()
    assert found == {}
