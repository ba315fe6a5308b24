"""Photographs every page: `python3 dev.py shots [--only NAME ...] [--width N] [--theme T]`.

Each page at 1440, 1024 and 390 pixels, light and dark, empty, full and in error, into
var/shots/NAME-WIDTH-THEME.png, out of a private studio whose data are thrown away. It also says
what a camera sees but a person may overlook, and ends with 1 if there is any: an unexpected
status, a script error, a report of the content security policy, a page that scrolls sideways, a
table wider than its place, an accessibility fault that axe-core finds.
"""

import argparse
import sys
import tempfile
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import quote

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, BrowserContext, ConsoleMessage, Page, sync_playwright

from tests.browser.chromium import launch
from tests.browser.site import PROJECT, Person, Site, private_site, sign_in_all

OUT = PROJECT / "var" / "shots"
WIDTHS = {1440: 900, 1024: 768, 390: 844}
THEMES = ("light", "dark")
# Two rows from outside; the second one fails the lint.
_CHAT = """\
{"messages": [{"role": "user", "content": "Hello"}, {"role": "assistant", "content": "Hello."}]}
{"messages": [{"role": "user", "content": "Nobody answers this."}]}
"""
OWNER = Person("amani", "R.", "Amani", "admin")
VIEWER = Person("okafor", "I.", "Okafor", "viewer")
# Wider than its place, and no region of its own to scroll in.
_TOO_WIDE = """() => [...document.querySelectorAll('main table, main pre')].filter((node) =>
  !node.closest('.scroll, .tabs, dialog:not([open])') && node.offsetParent
  && node.scrollWidth > node.parentElement.clientWidth + 1)
  .map((node) => node.className || node.tagName)"""


_DRAWN = 'html[data-figures="drawn"]'
# A chart follows its place a moment after the window does.
_FIT = """() => [...document.querySelectorAll('[data-plot][data-drawn]')].every((plot) => {
  const drawing = plot.offsetParent && plot.querySelector('.main-svg');
  return !drawing || Math.abs(drawing.clientWidth - plot.clientWidth) < 2;
})"""


@dataclass(frozen=True)
class Shot:
    """One page in one state."""

    name: str
    path: str
    """An address, or "first:LIST" for the first row of a list, with what is to be added to it."""
    among: str = ""
    """A filter of that list."""
    who: str = OWNER.username
    """The one signed in; empty = nobody."""
    status: int = 200
    or_status: int = 0
    """Another one that is fine too."""
    wait: str = ""
    """A selector that shows when the page has drawn itself."""
    ours: bool = True
    """False: what somebody else's script draws is not held to our rules."""
    press: str = ""
    """A key pressed before the picture."""
    send: tuple[str, ...] = ()
    """Pairs of field and value typed into the page's form, which is then sent."""


EMPTY = (
    Shot("sign-in", "/sign-in/", who=""),
    Shot(
        "sign-in-error",
        "/sign-in/",
        who="",
        status=422,
        or_status=429,  # the camera tries so often that the throttle takes it for a burglar
        send=("username", "nobody", "password", "wrong"),
    ),
    Shot("home-empty", "/"),
    Shot("generate-empty", "/generate/"),
    Shot("coverage-empty", "/coverage/", wait=_DRAWN),
    Shot("tasks-empty", "/tasks/"),
    Shot("episodes-empty", "/episodes/"),
    Shot("compare-empty", "/compare/"),
    Shot("rollouts-empty", "/rollouts/"),
    Shot("endpoints-empty", "/endpoints/"),
    Shot("datasets-empty", "/datasets/"),
    Shot("datasets-empty-prompts", "/datasets/?kind=prompts"),
    Shot("evaluations-empty", "/evaluations/"),
    Shot("runs-empty", "/runs/"),
    Shot("runs-new-empty", "/runs/new/"),
    Shot("runs-compare-empty", "/runs/compare/"),
)
FULL = (
    Shot("home", "/"),
    Shot("home-viewer", "/", who=VIEWER.username),
    Shot("keys", "/tasks/", press="?"),
    Shot("palette", "/tasks/", press="Control+k"),
    Shot("generate", "/generate/"),
    Shot("coverage", "/coverage/", wait=_DRAWN),
    Shot("coverage-one", "/coverage/?track=claw_eval&difficulty=2", wait=_DRAWN),
    Shot("coverage-error", "/coverage/?q=dificulty:4", status=400, wait=_DRAWN),
    Shot("tasks", "/tasks/"),
    Shot("tasks-none", "/tasks/?q=difficulty:5+state:retired"),
    Shot("tasks-error", "/tasks/?q=dificulty:4", status=400),
    Shot("task", "first:/tasks/"),
    *(
        Shot(f"task-{tab}", f"first:/tasks/?tab={tab}")
        for tab in (
            "records", "tools", "constraints", "checks", "reference", "timeline", "model"
        )
    ),
    Shot("task-broken", "first:/tasks/", among="state:invalid"),
    Shot("task-imported", "first:/tasks/", among="split:evaluation"),
    Shot("task-new", "/tasks/new/"),
    Shot("task-history", "first:/tasks/?tab=history"),
    Shot("task-edit", "first:/tasks/edit/"),
    *(
        Shot(f"task-edit-{part}", f"first:/tasks/edit/?part={part}")
        for part in ("records", "tools", "constraints", "checks", "reference", "timeline", "json")
    ),
    Shot("episodes", "/episodes/"),
    Shot("episodes-error", "/episodes/?q=rewrd:1", status=400),
    Shot("replay", "first:/episodes/"),
    Shot("replay-turn-4", "first:/episodes/#turn-4"),
    Shot("compare", "/compare/E-000001/E-000002/"),
    Shot("compare-same", "/compare/E-000001/E-000003/"),
    Shot("compare-other", "/compare/E-000001/E-000004/"),
    Shot("compare-pick", "/compare/?episodes=E-000001"),
    Shot("compare-error", "/compare/E-000001/E-000001/", status=400),
    Shot("rollouts", "/rollouts/"),
    Shot("batch", "first:/rollouts/"),
    Shot("told", "first:/episodes/model/?turn=2"),
    Shot("endpoints", "/endpoints/"),
    Shot("endpoints-viewer", "/endpoints/", who=VIEWER.username),
    Shot("endpoint", "/endpoints/mill-large/"),
    Shot("datasets", "/datasets/"),
    Shot("datasets-viewer", "/datasets/", who=VIEWER.username),
    Shot("datasets-prompts", "/datasets/?kind=prompts&filter=state:proven"),
    Shot("datasets-error", "/datasets/", status=422, send=("filter", "polcy:x", "name", "x")),
    Shot("dataset", "first:/datasets/"),
    Shot("dataset-compare", "first:/datasets/?against=DS-0000"),
    Shot("runs", "/runs/"),
    Shot("runs-error", "/runs/?q=algoritm:grpo", status=400),
    Shot("runs-new", "/runs/new/?preset=cpu-tiny-grpo"),
    Shot("runs-new-error", "/runs/new/?shown=1&preset=cpu-tiny-grpo&batch=7"),
    Shot(
        "runs-new-gone",
        "/runs/new/?shown=1&preset=cpu-tiny-sft&more="
        "model.kind+%3D+pretrained%0Amodel.name+%3D+/models/gone",
    ),
    Shot("runs-new-viewer", "/runs/new/", who=VIEWER.username),
    Shot("run-sft", "/runs/RUN-0001/", wait=_DRAWN),
    Shot("run", "/runs/RUN-0006/", wait=_DRAWN),
    Shot("run-every-step", "/runs/RUN-0006/?x=step&smooth=off", wait=_DRAWN),
    Shot("run-failed", "/runs/RUN-0007/", wait=_DRAWN),
    Shot("run-queued", "/runs/RUN-0008/"),
    Shot("run-viewer", "/runs/RUN-0006/", who=VIEWER.username, wait=_DRAWN),
    Shot("runs-compare", "/runs/compare/", wait=_DRAWN),
    Shot("runs-compare-error", "/runs/compare/?runs=RUN-ZZZZ", status=404),
    Shot("evaluations", "/evaluations/"),
    Shot("evaluations-viewer", "/evaluations/", who=VIEWER.username),
    Shot("evaluations-error", "/evaluations/", status=422, send=("n", "0")),
    Shot("evaluation", "first:/evaluations/"),
    Shot("evaluation-compare", "/compare/EV-0007/EV-0008/"),
    Shot("evaluation-compare-other", "/compare/EV-0001/EV-0005/"),
    Shot("suite", "/evaluations/suites/pocket-held-out/"),
    Shot("account", "/account/"),
    Shot("api-docs", "/api/docs", wait=".swagger-ui .info", ours=False),
    Shot("not-found", "/tasks/T-0000/", status=404),
    Shot("forbidden", "first:/tasks/edit/", who=VIEWER.username, status=403),
)  # fmt: skip


@dataclass
class Camera:
    """Takes the pictures and keeps what was wrong with the pages."""

    site: Site
    browser: Browser
    sessions: dict[str, str]
    widths: tuple[int, ...]
    themes: tuple[str, ...]
    axe: Axe | None
    faults: list[str] = field(default_factory=list)
    taken: int = 0
    _first: dict[str, str] = field(default_factory=dict)
    """The first row of a list, looked up once, so that every picture shows the same task."""

    def take(self, shots: Iterable[Shot]) -> None:
        """Photograph each at every width in every theme; a page is loaded once for all of them."""
        wanted = list(shots)
        for who in dict.fromkeys(shot.who for shot in wanted):
            context = self._context(who)
            for shot in wanted:
                if shot.who == who:
                    self._one(context, shot)
            context.close()

    def _context(self, who: str) -> BrowserContext:
        first = self.widths[0]
        context = self.browser.new_context(
            viewport={"width": first, "height": WIDTHS[first]},
            reduced_motion="reduce",
            locale="en-GB",
            timezone_id="UTC",
        )
        if who:
            context.add_cookies(
                [{"name": "sessionid", "value": self.sessions[who], "url": self.site.url}]
            )
        return context

    def _one(self, context: BrowserContext, shot: Shot) -> None:
        label = shot.name
        page = context.new_page()
        page.on("console", lambda message: self._console(label, message))
        page.on("pageerror", lambda error: self.faults.append(f"{label}: script error: {error}"))
        path = self._resolve(page, shot.path, shot.among)
        if path is None:
            self.faults.append(f"{label}: the list of {shot.path} shows no row")
            page.close()
            return
        answer = page.goto(self.site.url + path)
        status = answer.status if answer else 0
        if shot.send:
            for name, value in zip(shot.send[::2], shot.send[1::2], strict=True):
                page.fill(f"main [name={name}]", value)
            with page.expect_navigation() as sent:
                page.press(f"main [name={shot.send[-2]}]", "Enter")
            status = sent.value.status if sent.value else 0
        if status not in (shot.status, shot.or_status):
            self.faults.append(f"{label}: {path} answered {status} instead of {shot.status}")
        if shot.wait:
            page.wait_for_selector(shot.wait)
        page.evaluate("document.fonts.ready")
        if shot.press:
            page.evaluate("document.activeElement.blur()")
            page.keyboard.press(shot.press)
        for theme in self.themes:
            page.emulate_media(color_scheme="dark" if theme == "dark" else "light")
            for width in self.widths:
                page.set_viewport_size({"width": width, "height": WIDTHS[width]})
                page.wait_for_function(_FIT)
                name = f"{shot.name}-{width}-{theme}"
                if shot.ours:
                    self._look(page, name, width)
                    # Contrast follows the theme, not the width; what a telephone hides and shows
                    # is looked at once.
                    if width == self.widths[0] or theme == self.themes[0] == "light":
                        self._examine(page, name)
                page.screenshot(path=OUT / f"{name}.png", full_page=not shot.press)
                self.taken += 1
        page.close()

    def _resolve(self, page: Page, path: str, among: str) -> str | None:
        """The address; "first:/tasks/edit/" is the first row of /tasks/ with "edit/" behind it."""
        if not path.startswith("first:"):
            return path
        _, first, tail = path.removeprefix("first:").split("/", 2)
        key = f"{first}/?q={quote(among)}" if among else f"{first}/"
        if key not in self._first:
            page.goto(f"{self.site.url}/{key}")
            row = page.locator("[data-open]").first
            found = (row.get_attribute("href") or "") if row.count() else ""
            self._first[key] = found.split("?")[0].split("#")[0]
        return self._first[key] + tail if self._first[key] else None

    def _console(self, label: str, message: ConsoleMessage) -> None:
        # The browser itself logs each answer that is not 2xx; the status is judged elsewhere.
        if message.type == "error" and "Failed to load resource" not in message.text:
            self.faults.append(f"{label}: console: {message.text}")

    def _look(self, page: Page, label: str, width: int) -> None:
        across = page.evaluate("document.documentElement.scrollWidth")
        if across > width:
            self.faults.append(f"{label}: scrolls sideways ({across} pixels)")
        wide = page.evaluate(_TOO_WIDE)
        if wide:
            self.faults.append(f"{label}: wider than its place: {', '.join(wide)}")

    def _examine(self, page: Page, label: str) -> None:
        if self.axe is None:
            return
        for fault in self.axe.run(page).response["violations"]:
            places = "; ".join(" ".join(map(str, node["target"])) for node in fault["nodes"][:3])
            self.faults.append(f"{label}: axe {fault['id']} ({fault['impact']}): {places}")


_ENDPOINTS = """
from django.utils import timezone
from tasks_app.models import ModelEndpoint
for name, model, found, words in (
    ("mill-large", "mill/large-2", {"tools": True, "parallel_calls": True, "images": False,
     "seed": True, "context": 131072}, ""),
    ("quarry", "quarry-7b-instruct", {}, "404: the model quarry-7b-instruct does not exist"),
):
    ModelEndpoint.objects.create(name=name, base_url=f"https://{name}.example/v1", model=model,
        roles=["teacher"], api_key_env="MILL_API_KEY", abilities=found, probe_words=words,
        latency=0.42 if found else None, probed_at=timezone.now())
"""


_RUNS = """
from django.utils import timezone
from studio.web.choices import JobState
from tests.factories.runs import log_steps, made_run
from training_app.core.recipe import preset
from training_app.enums import Algorithm
from training_app.models import Checkpoint

def shares(n, success, low, high):
    return {"n": n, "success": success, "low": low, "high": high, "reward": success}

def came_to(after):
    return {
        "before": {"split_kind": "new_instances", "greedy": shares(120, 0.7, 0.61, 0.77)},
        "after": {"split_kind": "new_instances", "greedy": after},
        "after_new_families": {"split_kind": "new_families", "greedy": shares(8, 0.13, 0.02, 0.47)},
    }

sft = made_run(Algorithm.SFT, code="RUN-0001", steps=600, recipe=preset("cpu-tiny-sft", steps=600),
               result=came_to(shares(120, 0.98, 0.94, 0.99)), finished_at=timezone.now())
for step in (200, 400, 600):
    measured = {"split_kind": "new_instances",
                "greedy": shares(40, step / 620, step / 700, step / 600)}
    start = Checkpoint.objects.create(run=sft, step=step, bytes=13_400_000, evaluation=measured)
for number, algorithm in enumerate(Algorithm.values[1:], 2):
    made_run(Algorithm(algorithm), code=f"RUN-000{number}", steps=78, parent=start,
             result=came_to(shares(120, 0.78, 0.7, 0.85)), finished_at=timezone.now())
made_run(steps=78, recipe=preset("cpu-tiny-control"), parent=start,
         result=came_to(shares(120, .7, .61, .77)))
made_run(Algorithm.GDPO, code="RUN-0007", steps=12, state=JobState.FAILED, halvings=2,
         message="disk: 0.1 GB are free. To mend it: free some space.")
made_run(Algorithm.GRPO, code="RUN-0008", state=JobState.QUEUED)
live = made_run(Algorithm.GIGPO, code="RUN-0006", state=JobState.RUNNING, parent=start,
                heartbeat_at=timezone.now())
log_steps(live, 1, 43, {24: {"loss": None}})
live.step, live.samples = 43, 43 * 32
live.save()
Checkpoint.objects.create(run=live, step=40, bytes=13_400_000)
"""


_EVALUATIONS = """
from rollouts_app.models import Episode
from training_app.models import Checkpoint, Evaluation
from training_app.operations.evaluations import built_in_suite, open_evaluation, record_report
from training_app.queries.runs import checkpoint_folder

def measured(code, rewards, **asked):
    row = open_evaluation(by=None, **asked)
    for number, episode in enumerate(row.batch.episodes.order_by("pk")):
        reward = rewards[(number // 3 + number) % 3]
        found = {"state": "graded", "reward": reward, "passed": reward == 1.0}
        gone = {"state": "failed", "boundary": "endpoint", "failure": "gone"}
        Episode.objects.filter(pk=episode.pk).update(**(gone if number == 5 else found))
    Evaluation.objects.filter(pk=row.pk).update(code=code)
    return record_report(evaluation=Evaluation.objects.get(pk=row.pk))

held_out = built_in_suite("pocket-held-out", count=12)
others = built_in_suite("pocket-new-families", count=4)
before, after = Checkpoint.objects.filter(run__code="RUN-0001").order_by("step")[:3:2]
for row in (before, after):
    checkpoint_folder(row).mkdir(parents=True, exist_ok=True)
    (checkpoint_folder(row) / "config.json").write_text("{}")
for number, (suite, greedy) in enumerate(((held_out, True), (held_out, False), (others, True))):
    asked = {"suite": suite, "greedy": greedy, "group_size": 1 if greedy else 3}
    measured(f"EV-000{2 * number + 1}", (0.0, 0.3, 1.0), checkpoint=before, **asked)
    measured(f"EV-000{2 * number + 2}", (1.0, 1.0, 0.3), checkpoint=after, **asked)
last = None
for code, rewards in (("EV-0007", (0.0, 1.0, 0.3)), ("EV-0008", (1.0, 0.3, 1.0))):
    last = measured(code, rewards, suite=held_out, endpoint="mill-large", baseline=last,
                    group_size=3)
"""


_IMPORTED = """
from tasks_app.jobs import prove_now
from tasks_app.operations.tasks import create_task
from tests.factories.specs import imported_spec
prove_now(task=create_task(spec=imported_spec(), by=None), by=None)
"""


_COMPARED = """
import orjson
from rollouts_app.core.episode import run_episode
from rollouts_app.core.scripted import plain
from rollouts_app.models import Episode
from rollouts_app.operations.batches import open_batch
from rollouts_app.operations.episodes import Ended, record_outcomes
from rollouts_app.queries import Chosen
from tasks_app.core.program import Act

def acts(row, wrong):
    for turn in row.payload.read().turns:
        if not turn.calls:
            yield Act(None, {}, turn.text)
        for call in turn.calls:
            given = orjson.loads(call.arguments)
            if wrong and call.name == "finance_create_refund":
                given["amount"] = round(given["amount"] / 2, 2)
            if not (wrong and call.name.startswith("kb_")):
                yield Act(call.name, given)

def played(like, code, wrong):
    batch = open_batch(policy="reference", chosen=[Chosen(like.task_id, like.version_id)],
                       filter_text="", group_size=1, seed=0, by=None)
    row = batch.episodes.get()
    outcome = run_episode(like.version.load(), plain("script", acts(like, wrong)))
    record_outcomes(results=[Ended(row.pk, outcome)])
    Episode.objects.filter(pk=row.pk).update(code=code, policy="endpoint:mill-large")

ended = Episode.objects.filter(policy="reference", state="graded").order_by("pk")
first = next(row for row in ended.filter(task__family="support_resolution")
             if b"finance_create_refund" in b"".join(
                 call.name.encode() for turn in row.payload.read().turns for call in turn.calls))
played(first, "E-000002", True)
played(first, "E-000003", False)
other = ended.exclude(task=first.task).first()
Episode.objects.filter(pk=first.pk).update(code="E-000001")
Episode.objects.filter(pk=other.pk).update(code="E-000004")
"""


def _fill(site: Site) -> None:
    """The demo, with a benchmark's task, endpoints, datasets, training runs and evaluations."""
    site.python(_IMPORTED)
    site.manage("seed_demo")
    site.python(_COMPARED)
    site.python(_ENDPOINTS)
    site.python(_RUNS)
    site.python(_EVALUATIONS)
    freeze = ("freeze_dataset", "--kind")
    site.manage(*freeze, "prompts", "--name", "Prompts", "--filter", "state:proven,approved")
    with tempfile.TemporaryDirectory() as folder:
        chat = Path(folder) / "chat.jsonl"
        chat.write_text(_CHAT)
        mix = ("--mix", f"{chat}:1.5", "--license", "CC0, made up for a picture")
        site.manage(*freeze, "demonstrations", "--name", "What the reference shows", *mix)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="dev.py shots", description=(__doc__ or "").split("\n")[0]
    )
    parser.add_argument("--only", nargs="*", default=[], help="names, or beginnings of names")
    parser.add_argument("--width", type=int, action="append", choices=sorted(WIDTHS))
    parser.add_argument("--theme", action="append", choices=THEMES)
    parser.add_argument("--no-axe", action="store_true", help="leave the accessibility check out")
    return parser


def _chosen(shots: Iterable[Shot], only: list[str]) -> Iterator[Shot]:
    for shot in shots:
        if not only or any(shot.name == name or shot.name.startswith(f"{name}-") for name in only):
            yield shot


def main(words: list[str]) -> int:
    """Take the pictures, print what is wrong."""
    options = _parser().parse_args(words)
    OUT.mkdir(parents=True, exist_ok=True)
    empty, full = list(_chosen(EMPTY, options.only)), list(_chosen(FULL, options.only))
    if not empty and not full:
        known = ", ".join(shot.name for shot in (*EMPTY, *FULL))
        sys.stderr.write(f"No page of that name. There are: {known}\n")
        return 2
    for old in OUT.glob("*.png") if not options.only else ():
        old.unlink()
    with private_site() as site, sync_playwright() as playwright:
        camera = Camera(
            site,
            launch(playwright),
            sign_in_all(site, (OWNER, VIEWER)),
            tuple(options.width or WIDTHS),
            tuple(options.theme or THEMES),
            None if options.no_axe else Axe(),
        )
        camera.take(empty)
        if full:
            _fill(site)
            camera.take(full)
        camera.browser.close()
    for fault in camera.faults:
        sys.stdout.write(f"{fault}\n")
    place = OUT.relative_to(PROJECT) if OUT.is_relative_to(PROJECT) else Path(OUT)
    sys.stdout.write(f"{camera.taken} pictures in {place}, {len(camera.faults)} faults\n")
    return 1 if camera.faults else 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
