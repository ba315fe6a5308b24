"""Teaching a model from the page: launch SFT, watch its curve, cancel, resume, read the result.

Nothing stands in for anything: a studio of its own with its workers, which start the engine as
they always do. What makes it short is the recipe, typed into the form as anybody would.
"""

import json
import re
from collections.abc import Iterator
from importlib.util import find_spec
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.browser.site import Person, Site, private_site, sign_in_all
from tests.browser.visitor import Visitor

pytestmark = [
    pytest.mark.browser,
    pytest.mark.engine,
    pytest.mark.slow,
    pytest.mark.skipif(find_spec("trl") is None, reason="the train extra is not installed"),
]
JO = Person("jo", "Jo", "Sommer", "editor")
PATIENCE = 300_000
"""Milliseconds for what the engine and its job do, also beside other work."""
STEPS = 240
TASKS = 3
BOTH = ("before", "after")
BEFORE_STEPS = re.compile("making the tokenizer|teaching the base: step|measuring before: ")
"""What the engine does before its steps; a page that looks seldom may miss one of them."""
OTHERS = f"""\
tiny.tokenizer_tasks = 64
tiny.base_steps = 40
tiny.base_batch = 8
demonstrations.tasks = 8
save_every = {STEPS}
measure.every = 0
measure.new_family_tasks = 1
"""
"""Places of the recipe that have no field of their own."""


@pytest.fixture(scope="module")
def visitor(browser: Browser) -> Iterator[Visitor]:
    """An editor in a studio with workers; at the end nothing may have gone wrong on the pages."""
    with private_site(workers=True) as site:
        visitor = signed_in(browser, site)
        yield visitor
        visitor.context.close()
    assert visitor.faults == []


def signed_in(browser: Browser, site: Site) -> Visitor:
    context = browser.new_context(viewport={"width": 1440, "height": 900}, reduced_motion="reduce")
    session = sign_in_all(site, (JO,))[JO.username]
    context.add_cookies([{"name": "sessionid", "value": session, "url": site.url}])
    return Visitor(site.url, context)


def test_from_launch_to_before_and_after(visitor: Visitor) -> None:
    page = visitor.page()
    page.set_default_timeout(PATIENCE)
    launch_sft(page, visitor.url)
    expect(page.locator("#run-stage")).to_contain_text(BEFORE_STEPS, timeout=PATIENCE)
    came = watch_the_curve_move(page)

    page.keyboard.press("c")
    expect(page.locator("#run-live")).to_contain_text("stopped", timeout=PATIENCE)
    kept = page.locator("#run-side tbody th")
    expect(kept).to_have_count(1, timeout=PATIENCE)
    stopped = metrics(page, visitor.url)
    assert (stopped[0], stopped, came <= stopped[-1] < STEPS) == (
        1,
        list(range(1, stopped[-1] + 1)),
        True,
    )

    page.locator("#run-resume").click()
    expect(page.locator("#run-live")).to_contain_text("succeeded", timeout=PATIENCE)
    expect(page.locator("#words-loss")).to_contain_text(f"at step {STEPS}", timeout=PATIENCE)
    assert drawn_steps(page) == metrics(page, visitor.url) == list(range(1, STEPS + 1))
    expect(kept).to_have_count(2, timeout=PATIENCE)

    table = page.locator("#run-result table").first.locator("tbody tr")
    expect(table).to_have_count(3, timeout=PATIENCE)
    result = asked(page, visitor.url)["result"]
    came_to = [
        ("new instances", "greedy", TASKS, *(said(result, n, "greedy") for n in BOTH)),
        ("new instances", "sampled", TASKS, *(said(result, n, "sampled") for n in BOTH)),
        ("new families", "greedy", 1, "not measured", said(result, "after_new_families", "greedy")),
    ]
    assert rows_of(page) == came_to

    page.locator("#run-samples details summary").first.click()
    page.locator("#run-samples").get_by_role("button", name="Open as replay").click()
    page.wait_for_url("**/episodes/E-*/")
    expect(page.locator("h1")).to_be_visible(timeout=PATIENCE)


def launch_sft(page: Page, url: str) -> None:
    """Fill in a recipe that takes seconds, and start it."""
    page.goto(f"{url}/runs/new/?preset=cpu-tiny-sft")
    page.get_by_label("Steps", exact=True).fill(f"{STEPS}")
    page.get_by_label("Sequences a step").fill("2")
    page.get_by_label("Tasks measured before and after").fill(f"{TASKS}")
    page.get_by_label("Other values").fill(OTHERS)
    page.get_by_role("button", name="Start the run").click()
    page.wait_for_url("**/runs/RUN-*/")


def watch_the_curve_move(page: Page) -> int:
    """It appears by itself and goes on without a reload; returns how far it came."""
    loss = page.locator('[data-figure="loss"]')
    expect(loss.locator(".main-svg").first).to_be_visible(timeout=PATIENCE)
    first = step_of(page)
    words = page.locator("#words-loss")
    expect(words).not_to_contain_text(f"at step {first},", timeout=PATIENCE)
    assert step_of(page) > first
    line = loss.locator(".scatterlayer .trace .js-line").last
    expect(line).to_have_attribute("d", re.compile("M.*L"), timeout=PATIENCE)
    return step_of(page)


def step_of(page: Page) -> int:
    """The last step that the words of the loss speak of."""
    said = page.locator("#words-loss").text_content() or ""
    found = re.search(r"at step (\d+)", said)
    assert found is not None, said
    return int(found[1])


def drawn_steps(page: Page) -> list[int]:
    """The steps behind the points of the loss."""
    found: list[int] = page.evaluate("document.getElementById('plot-loss').data.at(-1).customdata")
    return found


def asked(page: Page, url: str, more: str = "") -> Any:
    """What the API says of the run whose page this is."""
    code = page.url.split("/runs/")[1].split("/")[0]
    return json.loads(page.request.get(f"{url}/api/v1/training-runs/{code}{more}").body())


def metrics(page: Page, url: str) -> list[int]:
    """The steps that the studio holds of the run."""
    return [row["step"] for row in asked(page, url, "/metrics")["items"]]


def said(result: dict[str, Any], name: str, way: str) -> str:
    """What the engine measured, as the table is to say it."""
    return f"{round(result[name][way]['success'] * 100)} %"


def rows_of(page: Page) -> list[tuple[str, str, int, str, str]]:
    """Of each row before and after: split, way, tasks, and success where it was measured."""
    found: list[tuple[str, str, int, str, str]] = []
    for row in page.locator("#run-result table").first.locator("tbody tr").all():
        split, way, tasks, *others = row.locator("th, td").all_inner_texts()
        cells = [" ".join(cell.split()) for cell in others]  # no-break spaces
        before, after = (cell for cell in cells if re.fullmatch(r"\d+ %|not measured", cell))
        found.append((split, way, int(tasks), before, after))
    return found
