"""The pages of rollouts: what they show, to whom, also without JavaScript and with hostile text."""

import re
from dataclasses import replace

import pytest

from rollouts_app.core.episode import Outcome, run_episode
from rollouts_app.core.scripted import plain, policy_for
from rollouts_app.core.trajectory import DamagedTurn, encode
from rollouts_app.models import Episode, RolloutBatch
from rollouts_app.operations.batches import open_batch
from rollouts_app.operations.episodes import Broken, Ended, record_outcomes
from rollouts_app.queries import selected
from studio.web.choices import JobState, Role
from tasks_app.core.program import Act as Step
from tasks_app.core.spec import TaskSpec
from tasks_app.models import Task
from tests.factories.pages import HOSTILE, ClientOf, page, words
from tests.factories.specs import small_spec
from tests.rollouts_app.conftest import rolled_out, stored
from tests.rollouts_app.specs import changed, example


def kept(result: Outcome | Broken, filter_text: str = "") -> Episode:
    """Store an outcome as the one episode of a batch on the first task of a filter."""
    batch = open_batch(
        policy="reference",
        chosen=selected(filter_text)[:1],
        filter_text=filter_text,
        group_size=1,
        seed=0,
        by=None,
    )
    row = batch.episodes.get()
    record_outcomes(
        results=[
            result._replace(episode_id=row.pk)
            if isinstance(result, Broken)
            else Ended(row.pk, result)
        ]
    )
    row.refresh_from_db()
    return row


def section(html: str, number: int) -> str:
    """One turn card."""
    found = re.search(rf'<article class="turn[^"]*" id="turn-{number}".*?</article>', html, re.S)
    assert found is not None
    return found[0]


# The replay


def test_the_replay_shows_the_refund_at_its_turn_and_the_check_that_flips_there(
    episode: Episode, client_of: ClientOf
) -> None:
    html = page(client_of(Role.VIEWER), f"/episodes/{episode.code}/?turn=9")
    pane = words(html[html.index('id="pane"') :])
    assert "Changed by turn 9" in pane
    assert "finance/refunds/RF-5167 new record" in pane
    assert "o_refund One refund for transit damage on the graphite kettle of OR-88431" in pane
    assert "Not met → holds at call 12 . Decided by finance/refunds/RF-5167 ." in pane
    assert "4 of 8 hold, reward 0.50" in pane
    assert 'class="turn cur" id="turn-9"' in html
    assert "finance_create_refund" in section(html, 9)


def test_the_pane_of_another_turn_is_a_fragment(episode: Episode, client_of: ClientOf) -> None:
    html = page(
        client_of(Role.VIEWER),
        f"/episodes/{episode.code}/?turn=10&show=diff",
        headers={"HX-Request": "true", "HX-Target": "pane"},
    )
    assert html.strip().startswith("<aside")
    assert "helpdesk/tickets/TK-2041" in html
    assert "<html" not in html


def test_the_state_shows_all_records_after_a_turn_and_marks_what_it_changed(
    episode: Episode, client_of: ClientOf
) -> None:
    html = page(client_of(Role.VIEWER), f"/episodes/{episode.code}/?turn=10&show=state")
    pane = html[html.index('id="pane"') :]
    assert "Records after turn 10" in pane
    assert "<mark>closed</mark>" in pane
    assert "RF-5167" in pane


def test_a_check_says_at_which_turn_it_will_hold_or_since_when(
    episode: Episode, client_of: ClientOf
) -> None:
    early = words(page(client_of(Role.VIEWER), f"/episodes/{episode.code}/?turn=1"))
    late = words(page(client_of(Role.ADMIN), f"/episodes/{episode.code}/?turn=13"))
    assert "o_refund One refund for transit damage on the graphite kettle of OR-88431" in early
    assert "at turn 9" in early
    assert "since turn 9" in late


@pytest.mark.parametrize("asked", ["99", "0", "-1", "x", "9" * 40, "³"])
def test_a_turn_that_does_not_exist_is_404_in_words(
    episode: Episode, client_of: ClientOf, asked: str
) -> None:
    html = page(client_of(Role.VIEWER), f"/episodes/{episode.code}/?turn={asked}", 404)
    assert "the last one is 13" in html


def test_hostile_text_is_inert_wherever_it_stands(db: None, client_of: ClientOf) -> None:
    spec = small_spec(title=HOSTILE, request={"text": HOSTILE}, checks=_explained(HOSTILE))
    stored(spec)
    acts = [
        Step("helpdesk_close_ticket", {"ticket_id": HOSTILE, "resolution": HOSTILE}),
        Step(HOSTILE, {HOSTILE: HOSTILE}),
        Step("helpdesk_close_ticket", {"ticket_id": "TK-2", "resolution": "answered"}),
        Step(None, {}, HOSTILE),
    ]
    row = kept(run_episode(spec, plain("script", acts)))
    client = client_of(Role.ADMIN)
    for path in (
        f"/episodes/{row.code}/?turn=3",
        f"/episodes/{row.code}/?turn=3&show=state",
        "/episodes/",
        f"/rollouts/{row.batch.code}/",
    ):
        html = page(client, path)
        assert "<script>alert" not in html
        assert "<img" not in html
        assert ">14<" not in html
        assert "&lt;script&gt;alert(1)&lt;/script&gt;" in html


def _explained(text: str) -> list[dict[str, object]]:
    (check,) = small_spec().written()["checks"]
    return [{**check, "explain": text}]


def test_a_replay_that_leaves_the_recording_says_where(
    support_task: Task, client_of: ClientOf
) -> None:
    spec = example("support_resolution")
    services = spec.written()["services"]
    customers = [
        {**row, "club": "none"} if row["id"] == "CU-3307" else row
        for row in services["crm"]["customers"]
    ]
    other = changed(spec, services={**services, "crm": {**services["crm"], "customers": customers}})
    row = kept(run_episode(other, policy_for("reference", other)))
    html = page(client_of(Role.VIEWER), f"/episodes/{row.code}/")
    shown = words(html)
    assert "The replay leaves the recording at turn 1 , call 1." in shown
    assert "Replayed on other records than it was recorded on" in words(section(html, 1))
    assert "Answers otherwise today" in words(section(html, 3))
    assert "Replayed on other records" not in words(section(html, 2))


def test_an_unchanged_replay_says_nothing_of_the_kind(
    episode: Episode, client_of: ClientOf
) -> None:
    assert "leaves the recording" not in page(client_of(Role.VIEWER), f"/episodes/{episode.code}/")


def test_a_damaged_turn_is_shown_raw_between_its_neighbours(
    episode: Episode, client_of: ClientOf
) -> None:
    payload = episode.payload
    trajectory = payload.read()
    raw = b'{"turn": 4, "calls": [<b>'
    payload.trajectory = encode(
        replace(
            trajectory,
            turns=(*trajectory.turns[:4], DamagedTurn(4, raw, ""), *trajectory.turns[5:]),
        )
    )
    payload.save()
    html = page(client_of(Role.VIEWER), f"/episodes/{episode.code}/")
    assert "This turn cannot be read" in section(html, 5)
    assert "{&quot;turn&quot;: 4, &quot;calls&quot;: [&lt;b&gt;" in section(html, 5)
    assert "inventory_list_products" in section(html, 6)


def test_an_episode_that_broke_is_not_a_zero_and_says_why(
    support_task: Task, client_of: ClientOf
) -> None:
    row = kept(Broken(0, "endpoint", "connection <refused>"))
    shown = words(page(client_of(Role.VIEWER), f"/episodes/{row.code}/"))
    assert "Not scored: the endpoint broke, which is not the policy’s doing." in shown
    assert "connection &lt;refused&gt;" in shown
    assert "reward –" in shown


def test_an_episode_that_waits_says_so(support_task: Task, client_of: ClientOf) -> None:
    batch = open_batch(
        policy="null", chosen=selected(""), filter_text="", group_size=1, seed=0, by=None
    )
    code = batch.episodes.get().code
    assert "Waiting for its first turn." in page(client_of(Role.VIEWER), f"/episodes/{code}/")


def test_an_oversized_result_is_clipped_with_the_rest_one_click_away(
    db: None, client_of: ClientOf
) -> None:
    spec = _with_long_ticket()
    stored(spec)
    acts = [Step("helpdesk_get_ticket", {"ticket_id": "TK-2"}), Step(None, {}, "Done.")]
    row = kept(run_episode(spec, plain("script", acts)))
    client = client_of(Role.VIEWER)
    html = page(client, f"/episodes/{row.code}/")
    assert "Load the rest:" in section(html, 1)
    assert len(section(html, 1)) < 80_000
    whole = page(client, f"/episodes/{row.code}/calls/1/")
    assert whole.count("x") >= 100_000
    fragment = page(
        client,
        f"/episodes/{row.code}/calls/1/",
        headers={"HX-Request": "true", "HX-Target": "result-1"},
    )
    assert fragment.startswith('<div id="result-1">')
    page(client, f"/episodes/{row.code}/calls/2/", 404)


def _with_long_ticket() -> TaskSpec:
    written = small_spec().written()
    tickets = written["services"]["helpdesk"]["tickets"]
    tickets[1]["description"] = "x" * 100_000
    return changed(small_spec(), services=written["services"], tools=["helpdesk_get_ticket"])


def test_recorded_turns_can_be_downloaded(episode: Episode, client_of: ClientOf) -> None:
    answer = client_of(Role.VIEWER).get(f"/episodes/{episode.code}/trajectory.jsonl")
    assert answer.status_code == 200
    lines = b"".join(answer).splitlines()
    assert len(lines) == 14
    assert lines[-1].startswith(b'{"closing":{"count":13')


# The list


def test_the_list_shows_what_matches_and_links_each_to_its_replay(
    support_task: Task, payment_task: Task, client_of: ClientOf
) -> None:
    rolled_out("reference")
    rolled_out("null")
    html = page(client_of(Role.VIEWER), "/episodes/?q=policy:reference")
    codes = Episode.objects.filter(policy="reference").values_list("code", flat=True)
    assert all(f'href="/episodes/{code}/"' in html for code in codes)
    assert html.count("data-row") == 2
    assert "2 episodes match" in words(html)


def test_a_wrong_term_is_marked_and_the_good_ones_keep_their_rows(
    support_task: Task, client_of: ClientOf
) -> None:
    rolled_out("reference")
    html = page(client_of(Role.VIEWER), "/episodes/?q=rewrd:1&q=policy:reference", 400)
    assert "There is no filter “rewrd” here." in words(html)
    assert html.count("data-row") == 1


def test_nothing_that_matches_offers_the_filter_to_drop(
    support_task: Task, client_of: ClientOf
) -> None:
    rolled_out("reference")
    shown = words(page(client_of(Role.VIEWER), "/episodes/?q=policy:reference passed:no"))
    assert "No episode matches all of this." in shown
    assert "Drop passed:no to see 1" in shown


def test_an_empty_studio_offers_a_first_rollout_to_those_who_may(
    db: None, client_of: ClientOf
) -> None:
    assert "Roll out the reference" in page(client_of(Role.EDITOR), "/episodes/")
    assert "Roll out the reference" not in page(client_of(Role.VIEWER), "/episodes/")


def test_pages_of_a_long_list_follow_one_another(support_task: Task, client_of: ClientOf) -> None:
    rolled_out("null", n=60)
    client = client_of(Role.VIEWER)
    first = page(client, "/episodes/")
    older = re.search(r'href="([^"]+)" rel="next"', first)
    assert older is not None
    second = page(client, older[1].replace("&amp;", "&"))
    shown = re.findall(r'data-row id="(E-\w+)"', first + second)
    assert len(shown) == len(set(shown)) == 60


def test_the_export_of_a_wrong_filter_is_refused_before_it_begins(
    db: None, client_of: ClientOf
) -> None:
    page(client_of(Role.VIEWER), "/episodes/export.jsonl?q=rewrd:1", 400)


# Batches


def test_the_form_starts_a_batch_and_leads_to_its_page(
    support_task: Task, client_of: ClientOf
) -> None:
    client = client_of(Role.EDITOR)
    sent = client.post("/rollouts/", {"policy": "reference", "tasks": "", "n": 2, "seed": 0})
    batch = RolloutBatch.objects.get()
    assert (sent.status_code, sent["Location"]) == (303, f"/rollouts/{batch.code}/")
    assert (batch.episodes_planned, batch.state) == (2, JobState.QUEUED)
    html = page(client, f"/rollouts/{batch.code}/")
    assert "data-poll" in html
    assert "waiting for a worker" in html


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"policy": "oracle"}, "not one of the available choices"),
        ({"tasks": "familly:x"}, "There is no filter “familly” here (characters 1 to 7)."),
        ({"tasks": "state:retired"}, "No task matches."),
        ({"n": "0"}, "greater than or equal to 1"),
    ],
)
def test_a_form_that_cannot_be_started_says_why_and_keeps_what_was_typed(
    support_task: Task, client_of: ClientOf, fields: dict[str, str], said: str
) -> None:
    given = {"policy": "null", "tasks": "", "n": "1", "seed": "0", **fields}
    answer = client_of(Role.EDITOR).post("/rollouts/", given)
    assert answer.status_code == 422
    html = answer.content.decode()
    assert said in words(html)
    assert 'aria-invalid="true"' in html
    assert RolloutBatch.objects.count() == 0


def test_the_form_takes_over_what_another_page_asks_for(db: None, client_of: ClientOf) -> None:
    html = page(client_of(Role.EDITOR), "/rollouts/?policy=null&tasks=family:x&n=4")
    assert '<option value="null" selected>' in html
    assert 'value="family:x"' in html


def test_a_batch_shows_groups_with_pass_at_k(support_task: Task, client_of: ClientOf) -> None:
    batch = rolled_out("reference", n=3)
    html = page(client_of(Role.VIEWER), f"/rollouts/{batch.code}/")
    assert "pass@3" in html
    assert html.count("passed, 1.00") == 3
    assert "data-poll" not in html


def test_a_batch_that_waits_is_stopped_and_resumed(support_task: Task, client_of: ClientOf) -> None:
    client = client_of(Role.EDITOR)
    client.post("/rollouts/", {"policy": "null", "tasks": "", "n": 1, "seed": 0})
    batch = RolloutBatch.objects.get()
    assert client.post(f"/rollouts/{batch.code}/cancel/").status_code == 303
    batch.refresh_from_db()
    assert batch.state == JobState.STOPPED
    assert "Resume" in page(client, f"/rollouts/{batch.code}/")
    assert client.post(f"/rollouts/{batch.code}/resume/").status_code == 303
    batch.refresh_from_db()
    assert batch.state == JobState.QUEUED


def test_a_poller_that_has_the_state_is_answered_304(
    support_task: Task, client_of: ClientOf
) -> None:
    batch = rolled_out("null")
    client = client_of(Role.VIEWER)
    first = client.get(f"/rollouts/{batch.code}/")
    again = client.get(f"/rollouts/{batch.code}/", headers={"If-None-Match": first["ETag"]})
    assert again.status_code == 304


# Who may


PAGES = [
    "/rollouts/",
    "/rollouts/{batch}/",
    "/episodes/",
    "/episodes/export.jsonl",
    "/episodes/{episode}/",
    "/episodes/{episode}/trajectory.jsonl",
    "/episodes/{episode}/calls/1/",
]


@pytest.mark.parametrize("path", PAGES)
@pytest.mark.parametrize(
    ("role", "status"), [(None, 302), (Role.VIEWER, 200), (Role.EDITOR, 200), (Role.ADMIN, 200)]
)
def test_every_page_is_for_those_with_an_account(
    episode: Episode, client_of: ClientOf, path: str, role: Role | None, status: int
) -> None:
    batch = RolloutBatch.objects.get()
    answer = client_of(role).get(path.format(batch=batch.code, episode=episode.code))
    assert answer.status_code == status


@pytest.mark.parametrize("path", ["/rollouts/B-0000/", "/episodes/E-0000/", "/episodes/x/"])
def test_what_does_not_exist_is_404(db: None, client_of: ClientOf, path: str) -> None:
    page(client_of(Role.VIEWER), path, 404)


@pytest.mark.parametrize(
    ("role", "status"),
    [(None, 302), (Role.VIEWER, 403), (Role.REVIEWER, 403), (Role.EDITOR, 303), (Role.LEAD, 303)],
)
def test_starting_a_batch_needs_an_editor(
    support_task: Task, client_of: ClientOf, role: Role | None, status: int
) -> None:
    given = {"policy": "null", "tasks": "", "n": "1", "seed": "0"}
    assert client_of(role).post("/rollouts/", given).status_code == status


@pytest.mark.parametrize(
    ("role", "status"), [(None, 302), (Role.VIEWER, 403), (Role.REVIEWER, 303)]
)
def test_curating_needs_a_reviewer(
    episode: Episode, client_of: ClientOf, role: Role | None, status: int
) -> None:
    path = f"/episodes/{episode.code}/curation/"
    assert client_of(role).post(path, {"curation": "kept"}).status_code == status
    episode.refresh_from_db()
    assert episode.curation == ("kept" if status == 303 else "open")


def test_a_curation_that_is_none_is_422(episode: Episode, client_of: ClientOf) -> None:
    path = f"/episodes/{episode.code}/curation/"
    assert client_of(Role.REVIEWER).post(path, {"curation": "<b>"}).status_code == 422


def test_the_admin_site_lists_and_exports_episodes(episode: Episode, client_of: ClientOf) -> None:
    client = client_of(Role.ADMIN)
    assert episode.code in page(client, "/admin/rollouts_app/episode/")
    answer = client.post(
        "/admin/rollouts_app/episode/",
        {"action": "export_jsonl", "_selected_action": [str(episode.pk)]},
    )
    lines = b"".join(answer).splitlines()
    assert len(lines) == 2
