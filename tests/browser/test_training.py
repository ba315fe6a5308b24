"""The pages of training in a real browser: curves that move, keys, files, themes, no report."""

from collections.abc import Callable, Iterator
from pathlib import Path
from xml.etree import ElementTree

import pytest
from axe_playwright_python.sync_playwright import Axe
from django.conf import LazySettings
from django.utils import timezone
from playwright.sync_api import Browser, Page, expect

from studio.web.choices import JobState, Role
from tests.browser.visitor import Visitor, visiting
from tests.factories.people import person
from tests.factories.runs import log_steps, made_run, values_at
from training_app.core.recipe import preset
from training_app.core.run_dir import Metrics, RunDir, Status
from training_app.enums import Algorithm
from training_app.models import Checkpoint, TrainingRun
from training_app.operations.absorbing import absorb

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


class Live:
    """What pytest-django's live server offers."""

    url: str


@pytest.fixture
def visitor(beside: Browser, live_server: Live) -> Iterator[Visitor]:
    """An editor in a browser; any script error or report of the content policy fails the test."""
    with visiting(beside, live_server.url, person("jo", Role.EDITOR)) as found:
        yield found


def drawn(page: Page) -> Page:
    """Wait until every chart is there."""
    page.wait_for_selector('html[data-figures="drawn"]')
    return page


def line_of(page: Page, figure: str) -> str:
    """The path of the last line of a chart, as Plotly drew it."""
    lines = page.locator(f'[data-figure="{figure}"] .scatterlayer .trace .js-line')
    return lines.last.get_attribute("d") or ""


@pytest.fixture
def growing(
    settings: LazySettings, tmp_path: Path
) -> tuple[TrainingRun, Callable[[int, int, JobState], None]]:
    """A run whose directory grows, and what makes it grow and reads it in, as its job does."""
    settings.VAR_DIR = tmp_path
    run = made_run(Algorithm.GIGPO, state=JobState.RUNNING)
    run.path = run.code
    run.save()
    folder = RunDir.create(tmp_path / "runs" / run.code, preset("cpu-tiny-gigpo"))

    def grow(first: int, last: int, state: JobState) -> None:
        with folder.log_file.open("a", encoding="utf-8") as log:
            for step in range(first, last + 1):
                folder.append(Metrics(step, step * 32, step * 2.0, values_at(run, step)))
                log.write(f"step {step} done\n")
        beat = timezone.now().timestamp()
        folder.write_status(Status("running", last, run.steps, 1, beat))
        absorb(run=run)
        TrainingRun.objects.filter(pk=run.pk).update(state=state)

    grow(1, 10, JobState.RUNNING)
    return run, grow


def test_curves_log_and_progress_follow_a_run_directory_that_grows(
    visitor: Visitor, growing: tuple[TrainingRun, Callable[[int, int, JobState], None]]
) -> None:
    run, grow = growing
    page = drawn(visitor.open(f"/runs/{run.code}/"))
    before = line_of(page, "reward")
    expect(page.locator("#run-live")).to_contain_text("step 10 of 78")
    grow(11, 30, JobState.RUNNING)
    expect(page.locator("#run-live")).to_contain_text("step 30 of 78")
    expect(page.locator("#words-loss")).to_contain_text("at step 30")
    expect(page.locator("#log")).to_contain_text("step 30 done")
    drawn(page)
    after = line_of(page, "reward")
    assert after != before
    # What was there stays where it is: fifteen values, one a generation, in one line.
    trace = page.evaluate("document.getElementById('plot-reward').data.at(-1).customdata")
    assert trace == list(range(1, 31, 2))
    grow(31, 60, JobState.SUCCEEDED)
    expect(page.locator("#run-live")).to_contain_text("succeeded")
    expect(page.locator("#words-loss")).to_contain_text("at step 60")
    expect(page.locator("#log")).to_contain_text("step 60 done")
    expect(page.locator("[data-poll]")).to_have_count(0)


def test_a_page_that_was_empty_gets_its_charts_with_the_first_step(visitor: Visitor) -> None:
    run = made_run(state=JobState.STARTING)
    page = visitor.open(f"/runs/{run.code}/")
    expect(page.locator("#no-curves")).to_contain_text("No step yet.")
    log_steps(run, 1, 4)
    TrainingRun.objects.filter(pk=run.pk).update(state=JobState.RUNNING, step=4)
    expect(page.locator('[data-figure="reward"] .main-svg').first).to_be_visible()
    expect(page.locator("#no-curves")).to_have_count(0)


def test_a_run_that_was_cut_back_is_drawn_anew(visitor: Visitor) -> None:
    run = made_run(steps=30, state=JobState.RUNNING)
    page = drawn(visitor.open(f"/runs/{run.code}/"))
    run.metrics.filter(step__gt=10).delete()
    expect(page.locator("#words-loss")).to_contain_text("at step 10")
    drawn(page)
    steps = page.evaluate("document.getElementById('plot-loss').data.at(-1).customdata")
    assert steps == list(range(1, 11))


def test_x_goes_to_the_next_axis_in_place_and_the_address_says_so(visitor: Visitor) -> None:
    page = drawn(visitor.open(f"/runs/{made_run(steps=20).code}/"))
    page.keyboard.press("x")
    expect(page.locator("[data-axis-words]")).to_have_text("optimizer steps")
    expect(page.locator("#words-loss")).to_contain_text("over optimizer steps")
    assert page.url.endswith("?x=step")
    page.get_by_role("link", name="Every step").click()
    expect(page.get_by_role("link", name="Every step")).to_have_attribute("aria-current", "true")
    expect(page.locator('[data-figure="loss"] .scatterlayer .trace')).to_have_count(1)
    assert page.url.endswith("?x=step&smooth=off")


def test_s_b_and_l_lead_to_samples_checkpoints_and_log(visitor: Visitor, tmp_path: Path) -> None:
    run = made_run(steps=20)
    folder = RunDir.create(tmp_path / run.code, preset("cpu-tiny-grpo"))
    folder.log_file.write_text("done\n", encoding="utf-8")
    TrainingRun.objects.filter(pk=run.pk).update(path=str(folder.path))
    page = drawn(visitor.open(f"/runs/{run.code}/"))
    for key, place in (("s", "samples"), ("b", "checkpoints"), ("l", "log")):
        page.keyboard.press(key)
        expect(page.locator(f"#{place}")).to_be_focused()


def test_a_chart_is_read_by_keyboard_and_enter_opens_what_was_written_then(
    visitor: Visitor, tmp_path: Path
) -> None:
    run = made_run(steps=40)
    folder = RunDir.create(tmp_path / run.code, preset("cpu-tiny-grpo"))
    for step in (20, 40):
        folder.write_samples(step, [{"slug": f"triage-{step}", "reward": 1.0, "messages": []}])
    TrainingRun.objects.filter(pk=run.pk).update(path=str(folder.path))
    page = drawn(visitor.open(f"/runs/{run.code}/"))
    page.locator("#plot-loss").focus()
    page.keyboard.press("Home")
    expect(page.locator("#live")).to_contain_text("Policy loss, step 1:")
    for _ in range(21):
        page.keyboard.press("ArrowRight")
    expect(page.locator("#live")).to_contain_text("Policy loss, step 22:")
    expect(page.locator("#plot-loss .hoverlayer .hovertext").first).to_be_visible()
    page.keyboard.press("Enter")
    expect(page.locator("#samples")).to_have_text("Samples of step 20")
    assert "step=22" in page.url
    page.keyboard.press("+")
    page.keyboard.press("0")


def test_a_chart_and_the_grid_are_saved_as_svg_in_light_colours(visitor: Visitor) -> None:
    for algorithm in (Algorithm.GRPO, Algorithm.GIGPO):
        made_run(algorithm, steps=20)
    page = visitor.page()
    page.emulate_media(color_scheme="dark")
    page.goto(f"{visitor.url}/runs/compare/")
    drawn(page)
    with page.expect_download() as download:
        page.get_by_role("button", name="SVG", exact=True).click()
    assert download.value.suggested_filename == "algorithms.svg"
    text = Path(download.value.path()).read_text(encoding="utf-8")
    root = ElementTree.fromstring(text)  # noqa: S314 - a file that our own page made
    assert (root.tag, root.attrib["width"]) == ("{http://www.w3.org/2000/svg}svg", "1180")
    for words in ("GRPO", "GiGPO", "Policy loss", "cumulative processed training samples"):
        assert words in text
    assert "rgb(29, 92, 192)" in text  # GRPO's blue as light pages have it
    page.locator('[data-figure="grpo-loss"]').hover()
    with page.expect_download() as download:
        page.get_by_role("button", name="Save GRPO policy loss as SVG").click()
    assert "GRPO policy loss" in Path(download.value.path()).read_text(encoding="utf-8")


def test_a_change_of_the_theme_repaints_the_charts(visitor: Visitor) -> None:
    page = drawn(visitor.open(f"/runs/{made_run(steps=20).code}/"))
    colour = "document.getElementById('plot-loss').data.at(-1).line.color"
    assert page.evaluate(colour) == "rgb(29, 92, 192)"
    page.emulate_media(color_scheme="dark")
    line = page.locator('[data-figure="loss"] .scatterlayer .trace .js-line').last
    expect(line).to_have_css("stroke", "rgb(127, 176, 255)")
    assert page.evaluate(colour) == "rgb(127, 176, 255)"


def test_nothing_jumps_when_charts_are_drawn(visitor: Visitor) -> None:
    run = made_run(steps=20)
    page = visitor.page()
    page.route("**/plotly.min.js", lambda route: route.abort())
    page.goto(f"{visitor.url}/runs/{run.code}/")
    place = "JSON.stringify([...document.querySelectorAll('main h2')].map((e) => e.offsetTop))"
    undrawn = page.evaluate(place)
    assert "from" in page.locator('[data-figure="loss"] [data-plot]').inner_text()
    page.unroute("**/plotly.min.js")
    page.reload()
    drawn(page)
    assert page.evaluate(place) == undrawn


def test_charts_take_the_width_that_there_is(visitor: Visitor) -> None:
    page = drawn(visitor.open(f"/runs/{made_run(steps=20).code}/"))
    for width in (1440, 390, 1024):
        page.set_viewport_size({"width": width, "height": 900})
        place = page.locator("#plot-loss").bounding_box()
        assert place is not None
        drawing = page.locator("#plot-loss .main-svg").first
        expect(drawing).to_have_attribute("width", str(int(place["width"])))
        expect(drawing).to_have_attribute("height", "148")


def test_choosing_a_preset_shows_its_values_and_keeps_what_was_typed(visitor: Visitor) -> None:
    page = visitor.open("/runs/new/")
    page.get_by_label("Seed").fill("7")
    expect(page.locator("#recipe")).to_contain_text("instead of 0")
    page.get_by_text("cpu-tiny-gigpo").click()
    expect(page.get_by_label("Steps on one generation")).to_have_attribute("placeholder", "2")
    expect(page.get_by_label("Seed")).to_have_value("7")
    expect(page.locator("#recipe")).to_contain_text("gigpo")
    assert "csrfmiddlewaretoken" not in page.url


def test_ctrl_enter_starts_the_run(
    visitor: Visitor, settings: LazySettings, tmp_path: Path
) -> None:
    settings.VAR_DIR = tmp_path
    page = visitor.open("/runs/new/")
    page.get_by_label("Sequences a step").fill("8")
    page.keyboard.press("Control+Enter")
    page.wait_for_url("**/runs/RUN-*/")
    run = TrainingRun.objects.get()
    assert (run.preset, run.recipe["batch"]) == ("cpu-tiny-sft", 8)
    expect(page.locator("#run-live")).to_contain_text("queued")


@pytest.mark.slow
@pytest.mark.parametrize("theme", ["light", "dark"])
def test_no_page_of_training_has_an_accessibility_fault_or_scrolls_sideways(
    visitor: Visitor, theme: str, tmp_path: Path
) -> None:
    runs = [made_run(algorithm, steps=20) for algorithm in Algorithm]
    made_run(Algorithm.GRPO, steps=20, recipe=preset("cpu-tiny-control"))
    Checkpoint.objects.create(run=runs[0], step=20)
    folder = RunDir.create(tmp_path / "x", preset("cpu-tiny-sft"))
    folder.write_samples(20, [{"slug": "triage", "reward": 1.0, "messages": []}] * 3)
    folder.log_file.write_text("done\n", encoding="utf-8")
    TrainingRun.objects.filter(pk=runs[0].pk).update(path=str(folder.path))
    failed = made_run(steps=3, state=JobState.FAILED, message="disk: full.")
    faults = []
    for width in (1440, 390):
        for path in (
            "/runs/", "/runs/new/", "/runs/new/?shown=1&preset=cpu-tiny-grpo&batch=7",
            f"/runs/{runs[0].code}/", f"/runs/{failed.code}/", "/runs/compare/",
        ):  # fmt: skip
            page = visitor.page()
            page.set_viewport_size({"width": width, "height": 900})
            page.emulate_media(color_scheme="dark" if theme == "dark" else "light")
            page.goto(visitor.url + path)
            if page.locator("[data-plot]").count():
                drawn(page)
            across = page.evaluate("document.documentElement.scrollWidth")
            faults += [f"{path} {width}: {across} wide"] if across > width else []
            for fault in Axe().run(page).response["violations"]:
                places = "; ".join(str(node["target"]) for node in fault["nodes"][:3])
                faults.append(f"{path} {width}: {fault['id']} {places}")
            assert page.evaluate("window.__reports") == []
            page.close()
    assert faults == []
