"""Hostile text on every page that shows words of people, models and tools.

Whatever stands in a task, an episode, a job or an endpoint is text and nothing else: no script of
it runs, nothing is fetched for it, no policy is offended by it, and no page grows wider for it.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, Final
from urllib.parse import quote

import orjson
import pytest
from django.utils import timezone
from playwright.sync_api import Browser, Page

from rollouts_app.core.episode import run_episode
from rollouts_app.core.messages import Message, ToolRequest
from rollouts_app.core.policy import Action
from rollouts_app.enums import EpisodeState
from rollouts_app.models import Episode
from rollouts_app.operations.batches import link_job, open_batch
from rollouts_app.operations.episodes import Ended, record_outcomes
from rollouts_app.operations.plays import add_act, open_play
from rollouts_app.queries import selected
from studio.web import audit
from studio.web.choices import JobState, Role
from studio.web.models import AuditEntry, Job, SavedView, User
from tasks_app.core.spec import TaskSpec
from tasks_app.enums import EndpointRole, Origin, Outcome
from tasks_app.jobs import prove_now
from tasks_app.models import Attempt, GenerationRun, ModelEndpoint, Task, WorkflowRequirement
from tasks_app.operations.drafts import keep_draft
from tasks_app.operations.tasks import create_task, save_version
from tasks_app.operations.verdicts import comment, reject
from tests.browser.visitor import Visitor, visiting
from tests.factories.people import person
from tests.factories.specs import green_card, small_spec

pytestmark = [pytest.mark.browser, pytest.mark.slow, pytest.mark.django_db(transaction=True)]


class Live:
    """What pytest-django's live server offers."""

    url: str


RUN: Final = "window.pwned=1"
MARKUP: Final = "".join(
    (
        f"<script>{RUN}</script>",
        f'"><img src=x onerror={RUN}>',
        f"'\" onfocus='{RUN}' autofocus='",
        f"</textarea></title></style></script><script>{RUN}</script>",
        f'<a href="javascript:{RUN}">a</a>[b](javascript:{RUN})',
        "{{ 7|add:7 }}{% now 'Y' %}${alert(1)}",
        '<p hx-get="http://evil.example/" hx-trigger="load" hx-on::load="alert(2)">',
        "<img src=http://evil.example/i.png><iframe src=//evil.example></iframe>",
        "<base href=//evil.example/><meta http-equiv=refresh content=0;url=//evil.example/>",
        "<form action=//evil.example><button autofocus>c</button></form>",
        f"<svg onload={RUN}><details open ontoggle={RUN}>x</details>",
        "<style>*{display:none}</style>",
        "<!-- ]]> &lt;b&gt; &#60;script&#62; \\u003cscript\\u003e https://evil.example/x",
    )
)
UNSEEN: Final = "".join(
    (
        "\u202eevil\u2066\u2069 zero\u200bwidth\ufeff joined\u200d ",
        "\U0001f469\u200d\U0001f469\u200d\U0001f467 \U00010348 \U0010ffff \ufffe ",
        "bell\u0007 escape\u001b[31m vertical\u000b delete\u007f next\u0085 line\u2028para\u2029 ",
        "Z" + "\u0300\u0323\u0489" * 6 + " tab\tbreak\r\nend",
    )
)
UNBROKEN: Final = "W" * 20_000
KINDS: Final = {"markup": MARKUP, "unseen": UNSEEN, "unbroken": UNBROKEN}

# What a page must not hold, whoever wrote the words on it.
_LIVE_MARKUP: Final = """() => [...document.querySelectorAll(`
    [onerror], [onload], [onfocus], [ontoggle], [hx-get*="://"], iframe, base,
    meta[http-equiv=refresh], [src^=http], [src^="//"], [action^=http], [action^="//"],
    a[href^="javascript:" i], a[href^=http]:not([rel~=nofollow])`)]
  .map((node) => node.outerHTML.slice(0, 120))"""
# What sticks out of the page; what scrolls in a place of its own does not.
_WIDER: Final = """() => {
  const wide = document.documentElement.clientWidth;
  if (document.documentElement.scrollWidth <= wide) return [];
  const own = (node) => {
    for (let box = node.parentElement; box && box !== document.body; box = box.parentElement)
      if (getComputedStyle(box).overflowX !== 'visible') return true;
    return false;
  };
  const path = (node) =>
    node && node !== document.body
      ? path(node.parentElement) + ' ' + node.tagName.toLowerCase()
        + [...node.classList].map((name) => '.' + name).join('') : '';
  const right = (node) => node.getBoundingClientRect().left + node.scrollWidth;
  const out = [...document.body.querySelectorAll('*')].filter((node) =>
    Math.max(right(node), node.getBoundingClientRect().right) > wide + 1 && !own(node));
  const ends = out.filter((node) => !out.some((other) => node !== other && node.contains(other)));
  const across = String(document.documentElement.scrollWidth);
  return ends.length ? ends.slice(0, 3).map((node) => across + path(node)) : [across];
}"""
# Everything on the page that asks for itself does so now, with the focus inside it.
_SWAP: Final = """async () => {
  const lost = [];
  for (const box of document.querySelectorAll('[data-poll]')) {
    const place = box.id;
    delete box.dataset.etag;
    [...box.querySelectorAll('a, button, input, summary')].find((node) => {
      node.focus();
      return box.contains(document.activeElement);
    });
    if (!box.contains(document.activeElement)) continue;
    await new Promise((done) => {
      document.addEventListener('htmx:afterSettle', done, { once: true });
      box.dispatchEvent(new CustomEvent('studio:poll'));
    });
    if (document.activeElement === document.body) lost.push(place);
  }
  return lost;
}"""
_TEXT: Final = """() => document.body.innerText + '\\n' +
  [...document.querySelectorAll('textarea, input')].map((field) => field.value).join('\\n')"""


@dataclass(frozen=True)
class Words:
    """Hostile words, cut to what each place takes."""

    whole: str

    def cut(self, length: int) -> str:
        """The beginning, in which line ends count for two as forms send them."""
        return self.whole[:length]

    @property
    def shown(self) -> str:
        """A piece that a reader must be able to see."""
        return self.whole[:20].split("\u200b")[0].strip()


class Says:
    """A model that calls with what no JSON is, and with half a surrogate pair."""

    name = "script"

    def __init__(self, words: Words) -> None:
        text = words.whole
        half = b'{"ticket_id": "\\ud800", "resolution": '
        self._turns = iter(
            (
                Action(text, (ToolRequest("c1", text[:60], orjson.dumps({text[:80]: text})),)),
                Action("", (ToolRequest("c2", "helpdesk_close_ticket", text.encode()),)),
                Action("", (ToolRequest("c3", "helpdesk_close_ticket", half + b'"x"}'),)),
                Action("", (ToolRequest("c4", "helpdesk_search_tickets", b'{"query": ""}'),)),
                Action("", (ToolRequest("c5", "helpdesk_get_ticket", b'{"ticket_id": "TK-2"}'),)),
                Action(text),
            )
        )

    def act(self, messages: Sequence[Message], tools: Sequence[Mapping[str, Any]]) -> Action:
        """The next turn."""
        return next(self._turns)


def hostile_spec(words: Words, **changes: Any) -> TaskSpec:
    """The small task, with these words wherever somebody can write some."""
    small = small_spec().written()
    line, prose = words.cut(300), words.whole
    tickets = small["services"]["helpdesk"]["tickets"]
    return small_spec(
        **{
            "title": line,
            "request": {"text": words.cut(20_000)},
            "workplace": {
                "organisation": line,
                "coworker": {"role": line, "mailbox": line},
                "requester": {"name": line, "role": line, "mailbox": line},
                "policies": [
                    {"id": "desk", "title": line, "text": f"Tickets are never deleted. {prose}"}
                ],
                "output_contract": prose,
            },
            "services": {
                "helpdesk": {
                    "tickets": [
                        {**tickets[0], "subject": line, "body": prose, words.cut(60): prose},
                        {**tickets[1], "subject": line, "body": prose, "tags": [line, line]},
                    ]
                }
            },
            "tools": ["helpdesk_search_tickets", "helpdesk_get_ticket", "helpdesk_close_ticket"],
            "constraints": [{**small["constraints"][0], "sentence": prose}],
            "checks": [
                {
                    **small["checks"][0],
                    "weight": 0.5,
                    "explain": prose,
                    "expect": {"status": "closed", "resolution": prose},
                },
                {
                    "id": "said",
                    "kind": "answer",
                    "component": "report",
                    "weight": 0.5,
                    "explain": prose,
                    "text": [[words.cut(200)]],
                },
            ],
            "reference": [small["reference"][0], {"reply": prose}],
            "provenance": {"from": prose},
            **changes,
        }
    )


@dataclass(frozen=True)
class World:
    """What the pages show."""

    owner: User
    paths: dict[str, str]


def hostile_world(words: Words) -> World:
    """A studio in which everybody wrote these words wherever there was a field."""
    owner = person("owner", Role.ADMIN)
    owner.first_name = owner.last_name = words.cut(150)
    owner.save()
    job = _job(owner, words)
    task, broken = _tasks(owner, words)
    episode = _episode(words)
    link_job(batch=episode.batch, job_id=job.pk)
    game = open_play(task=task, by=owner)
    for base, act in enumerate(
        (
            {"tool": "helpdesk_search_tickets", "arguments": {"query": words.cut(2000)}},
            {"tool": "helpdesk_get_ticket", "arguments": {"ticket_id": "TK-2"}},
        )
    ):
        add_act(episode=game, by=owner, base=base, act=act)
    endpoint = _endpoint(owner, words)
    run = _run(owner, words, job)
    SavedView.objects.create(user=owner, page="tasks", name=words.cut(60), query="", shared=True)
    audit.record(owner, "comment", words.cut(120), {"reason": words.whole})
    task_at, edit_at = f"/tasks/{task.code}/", f"/tasks/{task.code}/edit/"
    tabs = ("records", "tools", "constraints", "checks", "reference", "timeline", "model")
    record = "&collection=helpdesk/tickets&record=TK-2"
    return World(
        owner,
        {
            "home": "/",
            "tasks": "/tasks/",
            "search": f"/tasks/?q={_quoted(words.cut(150))}",
            "task": task_at,
            **{f"task {tab}": f"{task_at}?tab={tab}" for tab in (*tabs, "history")},
            "task broken": f"/tasks/{broken.code}/?tab=history",
            "edit": edit_at,
            **{f"edit {part}": f"{edit_at}?part={part}" for part in (*tabs[:-1], "json")},
            "edit record": f"{edit_at}?part=records{record}",
            "edit record json": f"{edit_at}?part=records{record}&raw=TK-2",
            "edit check json": f"{edit_at}?part=checks&raw=closed",
            "generate": "/generate/",
            "run": f"/generate/{run.code}/",
            "episodes": "/episodes/",
            "episodes search": f"/episodes/?q={_quoted(words.cut(150))}",
            "replay": f"/episodes/{episode.code}/#turn-2",
            "replay state": f"/episodes/{episode.code}/?turn=5&show=state",
            "replay result": f"/episodes/{episode.code}/calls/4/",
            "play": f"/play/{game.code}/?tool=helpdesk_close_ticket",
            "rollouts": f"/rollouts/?tasks={_quoted(words.cut(150))}",
            "batch": f"/rollouts/{episode.batch.code}/",
            "job": f"/jobs/{job.code}/",
            "endpoints": "/endpoints/",
            "endpoint": f"/endpoints/{_quoted(endpoint.name)}/",
            "account": "/account/",
            "audit": "/admin/web/auditentry/",
            "audit entry": f"/admin/web/auditentry/{_last_entry()}/change/",
        },
    )


def _quoted(text: str) -> str:
    return quote(text, safe="")


def _last_entry() -> int:
    return AuditEntry.objects.latest("pk").pk


def _job(owner: User, words: Words) -> Job:
    """A job under way whose last attempt left an error."""
    return Job.objects.create(
        kind="rollout",
        subject=words.cut(40),
        user=owner,
        state=JobState.RUNNING,
        lease_holder="nobody",
        lease_until=timezone.now() + timedelta(hours=1),
        done=1,
        total=3,
        note=words.cut(200),
        error=words.whole,
        result={words.cut(60): words.whole},
        started_at=timezone.now(),
    )


def _tasks(owner: User, words: Words) -> tuple[Task, Task]:
    """One with history, notes, a draft that differs; another whose proof does not hold."""
    spec = hostile_spec(words)
    task = create_task(spec=spec, by=owner, origin=Origin.WRITTEN, card=green_card(spec))
    changed = hostile_spec(words, tags=["other"], clock={"start": "2031-03-21T09:10:00+01:00"})
    task = save_version(task=task, base=1, spec=changed, by=owner, reason=words.cut(1000))
    comment(task=task, by=owner, text=words.cut(5000), anchor=words.cut(200))
    prove_now(task=task, by=owner)
    task.refresh_from_db()
    draft = {**changed.written(), "title": f"{words.cut(250)}!"}
    keep_draft(task=task, base=2, content={"text": orjson.dumps(draft).decode()}, by=owner)
    refused = hostile_spec(words, seed=9)
    broken = create_task(spec=refused, by=owner, origin=Origin.WRITTEN, card=green_card(refused))
    reject(task=broken, base=1, by=owner, reason=words.cut(2000))
    worse = hostile_spec(words, seed=10, checks=[])
    broken = save_version(task=broken, base=1, spec=worse, by=owner, reason=words.cut(1000))
    proof = prove_now(task=broken, by=owner)
    assert not proof.read().proven
    return task, broken


def _episode(words: Words) -> Episode:
    spec = hostile_spec(words, seed=11)
    create_task(spec=spec, by=None, origin=Origin.GENERATED, card=green_card(spec))
    batch = open_batch(
        policy="reference", chosen=selected("")[:1], filter_text="", group_size=2, seed=0, by=None
    )
    batch.filter = words.cut(150)
    batch.save()
    episode, waiting = batch.episodes.order_by("pk")
    made = run_episode(episode.version.load(), Says(words))
    record_outcomes(results=[Ended(episode.pk, made)])
    Episode.objects.filter(pk=waiting.pk).update(
        state=EpisodeState.FAILED, stop="failed", failure={"message": words.cut(1900)}
    )
    episode.refresh_from_db()
    return episode


def _endpoint(owner: User, words: Words) -> ModelEndpoint:
    return ModelEndpoint.objects.create(
        name="".join(sign for sign in words.cut(40) if sign.isprintable() and sign != "/").strip(),
        base_url=words.cut(500),
        model=words.cut(200),
        roles=[EndpointRole.TEACHER],
        probe_words=words.cut(2000),
        probed_at=timezone.now(),
        author=owner,
    )


def _run(owner: User, words: Words, job: Job) -> GenerationRun:
    wish = WorkflowRequirement.objects.create(
        title=words.cut(200), text=words.whole, families=["support_resolution"], author=owner
    )
    run = GenerationRun.objects.create(
        requirement=wish, families=["support_resolution"], seed=1, asked=2, author=owner, job=job
    )
    Attempt.objects.create(
        run=run,
        index=0,
        key="k",
        outcome=Outcome.QUARANTINED,
        title=words.cut(300),
        family="support_resolution",
        subtype=words.cut(64),
        difficulty=2,
        gate="O1",
        reason=words.cut(1000),
    )
    return run


@pytest.mark.parametrize("kind", KINDS)
def test_hostile_words_are_text_on_every_page(
    kind: str, beside: Browser, live_server: Live
) -> None:
    words = Words(KINDS[kind])
    world = hostile_world(words)
    found: dict[str, list[str]] = {}
    with visiting(beside, live_server.url, world.owner) as visitor:
        page = visitor.page()
        for name, path in world.paths.items():
            faults = _look(visitor, page, path, words)
            faults += visitor.faults
            visitor.faults.clear()
            if faults:
                found[name] = faults
    assert not found, "\n".join(f"{name}: {fault}" for name in found for fault in found[name])


def test_what_lives_is_seen(beside: Browser) -> None:
    """The looks above find what they look for, where a page does let these words live."""
    page = beside.new_page()
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.route("**/*", lambda route: route.abort())
    page.set_content(f"<p>{MARKUP}")
    assert page.evaluate("window.pwned") == 1
    assert len(page.evaluate(_LIVE_MARKUP)) >= 10
    assert any("evil.example" in url for url in asked)
    page.set_content(f"<p>{UNBROKEN}")
    assert page.evaluate(_WIDER) != []
    page.close()


def _look(visitor: Visitor, page: Page, path: str, words: Words) -> list[str]:
    """Open a page wide, look at it, make it ask for itself, then look again on a telephone."""
    page.set_viewport_size({"width": 1440, "height": 900})
    answer = page.goto(visitor.url + path)
    assert answer is not None
    statuses = (200, 400) if "?q=" in path else (200,)  # what cannot be searched for is named
    faults = [] if answer.status in statuses else [f"answered {answer.status}"]
    if "no-store" not in answer.headers.get("cache-control", ""):
        faults.append("is kept by the browser")
    if words.shown not in page.evaluate(_TEXT):
        faults.append("does not show the words")
    faults += [f"live markup: {tag}" for tag in page.evaluate(_LIVE_MARKUP)]
    faults += [f"lost the focus: {place}" for place in page.evaluate(_SWAP)]
    for width in (1440, 390):
        page.set_viewport_size({"width": width, "height": 900})
        faults += [f"wider than {width}: {place}" for place in page.evaluate(_WIDER)]
    if page.locator("main").count() > 1:
        faults.append("holds itself")
    faults += [f"policy: {report}" for report in page.evaluate("window.__reports")]
    if page.evaluate("'pwned' in window"):
        faults.append("a script ran")
    return faults
