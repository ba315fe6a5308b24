"""The main job in a browser, in a studio of its own with workers.

Sign in, generate twenty, open one, break a record, see the proof fail and say why, accept the
repair, approve by keyboard, run the reference, and step through the replay to the turn where the
refund record changes and the check that flips there.
"""

import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.browser.chromium import PATIENCE
from tests.browser.site import PASSWORD, Person, Site, private_site, sign_in_all

pytestmark = [pytest.mark.browser, pytest.mark.slow]

ADA = Person("ada", "Ada", "Winter", "editor")


@pytest.fixture(scope="module")
def site(browser: Browser) -> Iterator[Site]:
    """A studio with workers and one editor."""
    with private_site(workers=True) as running:
        sign_in_all(running, (ADA,))
        yield running


def test_from_sign_in_to_the_check_that_flips(browser: Browser, site: Site) -> None:
    context = browser.new_context(viewport={"width": 1440, "height": 900}, reduced_motion="reduce")
    page = context.new_page()
    faults: list[str] = []
    page.on("pageerror", lambda error: faults.append(str(error)))
    page.on(
        "console",
        lambda said: faults.append(said.text) if "Content Security Policy" in said.text else None,
    )
    page.set_default_timeout(PATIENCE)

    sign_in(page, site)
    generate_twenty(page, site)
    order = open_one_that_refunds(page)
    code = page.url.split("/tasks/")[1].split("/")[0]
    break_the_order(page, site, code, order)
    accept_the_repair(page)
    approve_by_keyboard(page)
    run_the_reference(page)
    step_to_the_refund(page)
    assert faults == []
    context.close()


def sign_in(page: Page, site: Site) -> None:
    page.goto(f"{site.url}/")
    page.fill("[name=username]", ADA.username)
    page.fill("[name=password]", PASSWORD)
    page.keyboard.press("Enter")
    expect(page.locator("h1")).to_be_visible()


def generate_twenty(page: Page, site: Site) -> None:
    """The funnel fills while one looks, to twenty unique tasks."""
    page.goto(f"{site.url}/generate/")
    page.select_option("[name=family]", "support_resolution")
    page.fill("[name=count]", "20")
    page.fill("[name=seed]", "7")
    page.fill("[name=text]", "Complaints about parcels.\nFind the order, follow the rules, answer.")
    page.keyboard.press("Control+Enter")
    page.wait_for_url(re.compile("/generate/GEN-"))
    unique = page.locator(".funnel li", has_text="Unique").locator(".big")
    expect(unique).to_have_text("20", timeout=PATIENCE)
    expect(page.get_by_text("See the tasks")).to_be_visible(timeout=PATIENCE)
    page.get_by_text("See the tasks").click()
    expect(page.locator("tr[data-row]")).to_have_count(20)


def open_one_that_refunds(page: Page) -> str:
    """Walk the list by keyboard to a task whose reference refunds; return the order's id."""
    page.get_by_role("link", name="late parcel").click()
    rows = page.locator("[data-open]")
    expect(rows.first).to_be_visible()
    for position in range(rows.count()):
        page.keyboard.press("j")
        page.keyboard.press("o")
        page.wait_for_url(re.compile("/tasks/T-"))
        expect(page.locator("#proof h2")).to_have_text("Proven")
        page.keyboard.press("6")
        page.wait_for_url(re.compile("tab=reference"))
        refund = page.locator("article.call", has_text="finance_create_refund").first
        if refund.count():
            arguments = refund.locator("dl.args").inner_text()
            found = re.search(r"OR-\d+", arguments)
            assert found is not None, arguments
            return found.group()
        page.go_back()
        page.go_back()
        for _ in range(position + 1):
            page.keyboard.press("j")
    raise AssertionError("no task of the list refunds anything")


def break_the_order(page: Page, site: Site, code: str, order: str) -> None:
    """Change the voucher on the order, save and prove: the card says what broke and where."""
    page.keyboard.press("e")
    page.wait_for_url(re.compile("/edit/"))
    page.goto(
        f"{site.url}/tasks/{code}/edit/?part=records&collection=orders/orders&record={order}#record"
    )
    field = page.locator("#record [name='cell:voucher_percent']")
    before = int(field.input_value())
    field.fill(str(before + 7))
    expect(page.locator("#check .difflist")).to_contain_text(f"{order}, voucher percent")
    expect(page.locator("#check .difflist ins")).to_have_text(str(before + 7))
    page.fill("#reason", "a bigger voucher")
    page.keyboard.press("Control+Enter")
    page.wait_for_url(re.compile(rf"/tasks/{code}/#proof"))
    card = page.locator("#proof")
    expect(card.locator("h2")).to_have_text("Not proven")
    expect(card).to_contain_text("What stands against it")
    expect(card).to_contain_text("the reference solution earns", ignore_case=True)
    expect(card).to_contain_text("Suggested repair")
    # The finding leads to its field.
    card.locator(".found > li", has_text="Suggested repair").locator("a").first.click()
    page.wait_for_url(re.compile("tab=checks#at-checks-"))


def accept_the_repair(page: Page) -> None:
    """Ctrl+Enter takes what the card suggests, until it holds again."""
    title = page.locator("#proof h2")
    for _ in range(4):
        if title.inner_text() == "Proven":
            break
        page.keyboard.press("Control+Enter")
        page.wait_for_load_state("networkidle")
    expect(title).to_have_text("Proven")
    page.locator("h1").click()


def approve_by_keyboard(page: Page) -> None:
    page.keyboard.press("a")
    expect(page.locator(".meta .st").first).to_have_text("approved")
    expect(page.locator(".toast")).to_contain_text("is approved")


def run_the_reference(page: Page) -> None:
    page.keyboard.press("r")
    page.wait_for_url(re.compile("/rollouts/"))
    cell = page.locator("#batch-live .cells a").first
    expect(cell).to_contain_text("passed", timeout=PATIENCE)
    cell.click()
    page.wait_for_url(re.compile("/episodes/E-"))


def step_to_the_refund(page: Page) -> None:
    """n goes from flip to flip; the pane shows the record that changed and the check it decided."""
    pane = page.locator("#pane")
    for _ in range(12):
        page.keyboard.press("n")
        expect(pane).not_to_have_attribute("aria-busy", "true")
        if "finance/refunds/" in pane.inner_text():
            break
    expect(pane).to_contain_text("finance/refunds/")
    flip = pane.locator(".flip", has_text="o_refund")
    expect(flip).to_be_visible()
    expect(flip).to_contain_text("o_refund")
    turn = page.locator(".turn.cur")
    expect(turn).to_contain_text("finance_create_refund")
