"""Gates P over stored episodes: what the card says, what an approval needs, what a verdict does."""

from typing import Any

import pytest

from rollouts_app.enums import Curation, FlagState
from rollouts_app.models import Episode, EpisodeFlag, RolloutBatch
from rollouts_app.operations import flags
from rollouts_app.operations.episodes import curate
from rollouts_app.operations.flags import Probed, decide, probe
from rollouts_app.queries import episode_page, to_probe
from studio.web.choices import Role
from studio.web.errors import Conflict, Invalid, NotFound
from studio.web.models import User
from tasks_app.core.spec import load_spec
from tasks_app.enums import Origin, TaskState
from tasks_app.jobs import prove_now
from tasks_app.models import Exploit, Task
from tasks_app.operations.outside_gates import outside_results
from tasks_app.operations.tasks import save_version
from tasks_app.operations.verdicts import approve, wants_blind_pass
from tests.factories.pages import ClientOf
from tests.factories.people import person
from tests.rollouts_app.conftest import rolled_out


def as_model(episode: Episode, **changes: Any) -> Episode:
    """Make an episode one of a model."""
    Episode.objects.filter(pk=episode.pk).update(policy="endpoint:some", **changes)
    episode.refresh_from_db()
    return episode


def group(task: Task, passes: list[bool]) -> None:
    """Store a model's episodes on a task, some of which pass."""
    batch = rolled_out("reference", f"code:{task.code}", n=len(passes))
    for episode, passed in zip(batch.episodes.order_by("group_index"), passes, strict=True):
        as_model(episode, passed=passed, reward=1.0 if passed else 0.2)


def edited(task: Task, by: User) -> Task:
    """Change the request by hand, and prove it."""
    assert task.current is not None
    written = dict(task.current.spec)
    written["request"] = {"text": f"{written['request']['text']}, and take your time."}
    saved = save_version(
        task=task, base=task.current_number, spec=load_spec(written), by=by, reason="kinder"
    )
    prove_now(task=saved, by=by)
    saved.refresh_from_db()
    return saved


@pytest.fixture
def lead(db: None) -> User:
    return person("ada", Role.LEAD)


@pytest.fixture
def reviewer(db: None) -> User:
    return person("bo", Role.REVIEWER)


# P1


def test_without_episodes_of_a_learner_nothing_is_said(support_task: Task) -> None:
    rolled_out("reference")

    assert [(r.id, r.state, r.reason) for r in outside_results(support_task)] == [
        ("P1", "not_run", "0 attempts of a policy that learns or teaches; 4 are asked"),
        ("P2", "not_run", "no episode of a model or a person yet"),
    ]


def test_the_pass_rate_is_shown_with_interval_and_groups(support_task: Task) -> None:
    group(support_task, [True, False, False, False])
    result = outside_results(support_task)[0]

    assert (result.state, result.reason) == ("held", "1 of 1 policies pass between 10% and 90%")
    assert result.lines == (
        "endpoint:some: 1 of 4 pass (0.05–0.70), in band; 0 of 1 groups without variance",
        "no failed episode was judged by a person",
    )


def test_a_failed_episode_that_a_person_keeps_is_a_false_rejection(
    support_task: Task, reviewer: User
) -> None:
    group(support_task, [True, False, False, False])
    first, second = Episode.objects.filter(passed=False).order_by("pk")[:2]
    curate(episode=first, curation=Curation.KEPT, by=reviewer)
    curate(episode=second, curation=Curation.DROPPED, by=reviewer)

    assert outside_results(support_task)[0].lines[-1] == (
        "false rejections: 1 of 2 failed episodes that people judged (0.09–0.91)"
    )


# Approval


def test_a_generated_task_is_approved_without_a_pass(support_task: Task, reviewer: User) -> None:
    assert wants_blind_pass(support_task) == ""
    assert approve(task=support_task, base=1, by=reviewer).state == TaskState.APPROVED


def test_a_request_changed_by_hand_needs_a_pass_without_the_reference(
    support_task: Task, reviewer: User, lead: User
) -> None:
    task = edited(support_task, lead)

    assert wants_blind_pass(task) == "a person changed its request in v2"
    with pytest.raises(Conflict, match="not been passed yet"):
        approve(task=task, base=2, by=reviewer, reason="looks fine")
    as_model(rolled_out("reference", f"code:{task.code}").episodes.get())
    assert approve(task=task, base=2, by=reviewer).state == TaskState.APPROVED


def test_the_reference_and_a_failed_attempt_are_no_such_pass(
    support_task: Task, reviewer: User, lead: User
) -> None:
    task = edited(support_task, lead)
    rolled_out("reference", f"code:{task.code}")
    as_model(rolled_out("reference", f"code:{task.code}").episodes.get(), passed=False)

    with pytest.raises(Conflict, match="not been passed yet"):
        approve(task=task, base=2, by=reviewer)


def test_who_wrote_the_version_proves_nothing_by_playing_it(
    support_task: Task, reviewer: User, lead: User
) -> None:
    task = edited(support_task, lead)
    batch = rolled_out("reference", f"code:{task.code}")
    Episode.objects.filter(batch=batch).update(policy="person")
    RolloutBatch.objects.filter(pk=batch.pk).update(author=lead)
    with pytest.raises(Conflict, match="not been passed yet"):
        approve(task=task, base=2, by=reviewer)

    RolloutBatch.objects.filter(pk=batch.pk).update(author=reviewer)
    assert approve(task=task, base=2, by=reviewer).state == TaskState.APPROVED


def test_a_lead_may_do_without_if_there_is_a_reason(support_task: Task, lead: User) -> None:
    task = edited(support_task, lead)
    with pytest.raises(Conflict, match="not been passed yet"):
        approve(task=task, base=2, by=lead, reason=" ")

    assert approve(task=task, base=2, by=lead, reason="a comma").state == TaskState.APPROVED


def test_a_title_changed_or_a_change_taken_back_needs_none(support_task: Task, lead: User) -> None:
    assert support_task.current is not None
    first = support_task.current.spec
    titled = save_version(
        task=support_task,
        base=1,
        spec=load_spec({**first, "title": "Another title"}),
        by=lead,
        reason="clearer",
    )
    assert wants_blind_pass(titled) == ""

    changed = edited(titled, lead)
    back = save_version(
        task=changed,
        base=3,
        spec=load_spec({**first, "title": "Another title"}),
        by=lead,
        reason="as it was",
        origin=Origin.EDITED,
    )
    assert wants_blind_pass(back) == ""


# P2


def suspicious(task: Task) -> Episode:
    """Store an episode that earned much beside a broken rule."""
    episode = rolled_out("reference", f"code:{task.code}").episodes.get()
    return as_model(episode, passed=False, reward=0.8, violations=["K2"])


def test_what_is_stored_together_does_not_change_what_a_probe_flags(
    support_task: Task, monkeypatch: pytest.MonkeyPatch
) -> None:
    batch = rolled_out("reference", f"code:{support_task.code}", n=3)
    for episode in batch.episodes.all():
        as_model(episode, passed=False, reward=0.8, violations=["K2"])
    monkeypatch.setattr(flags, "_STORED_TOGETHER", 2)

    assert probe(to_probe("")) == Probed(episodes=3, flagged=3, unread=0)
    assert probe(to_probe("")) == Probed(episodes=3, flagged=0, unread=0)
    assert EpisodeFlag.objects.values("episode").distinct().count() == 3


def test_a_probe_flags_what_is_suspicious_and_twice_is_harmless(support_task: Task) -> None:
    episode = suspicious(support_task)

    assert probe(to_probe("")) == Probed(episodes=1, flagged=1, unread=0)
    assert probe(to_probe("")) == Probed(episodes=1, flagged=0, unread=0)
    assert [row.code for row in episode_page("flag:open").page.rows] == [episode.code]
    assert episode_page("flag:none").page.rows == []
    result = outside_results(support_task)[1]
    assert (result.state, result.reason, result.filter) == (
        "warned",
        "1 to judge, 0 confirmed, 0 dismissed",
        f"task:{support_task.code} flag:open",
    )


def test_a_confirmed_trick_is_a_mutant_of_the_next_proof_and_a_dismissed_one_is_not(
    support_task: Task, reviewer: User
) -> None:
    episode = suspicious(support_task)
    probe(to_probe(""))
    decide(
        episode=episode, rule="rule_broken", state=FlagState.CONFIRMED, reason="skips", by=reviewer
    )

    card = prove_now(task=support_task, by=None).read()
    assert [(m.id, m.verdict) for m in card.mutants if m.operator == "trace"] == [
        (f"trace-{episode.code}", "survived")  # its calls are the reference's own
    ]
    assert [f.gate for f in card.findings] == ["M1"]

    decide(
        episode=episode, rule="rule_broken", state=FlagState.DISMISSED, reason="mistaken",
        by=reviewer,
    )  # fmt: skip
    assert list(Exploit.objects.all()) == []
    assert prove_now(task=support_task, by=None).read().proven
    assert probe(to_probe("")).flagged == 0


def test_a_verdict_needs_a_reason_and_a_suspicion(episode: Episode, reviewer: User) -> None:
    with pytest.raises(NotFound, match="not suspected"):
        decide(episode=episode, rule="no_read", state=FlagState.OPEN, reason="x", by=reviewer)
    EpisodeFlag.objects.create(episode=episode, rule="no_read", words="passes without a read")
    with pytest.raises(Invalid, match="Say why"):
        decide(episode=episode, rule="no_read", state=FlagState.DISMISSED, reason=" ", by=reviewer)


@pytest.mark.parametrize(
    ("role", "status"), [(Role.VIEWER, 403), (Role.REVIEWER, 200), (Role.LEAD, 200)]
)
def test_the_api_lists_suspicions_and_takes_verdicts_of_reviewers(
    episode: Episode, client_of: ClientOf, role: Role, status: int
) -> None:
    EpisodeFlag.objects.create(episode=episode, rule="no_read", words="passes without a read")
    client, path = client_of(role), f"/api/v1/episodes/{episode.code}/flags"

    assert [flag["state"] for flag in client.get(path).json()] == ["open"]
    body = {"state": "dismissed", "reason": "it is a tiny task"}
    assert client.post(f"{path}/no_read", body, "application/json").status_code == status
    wanted = "dismissed" if status == 200 else "open"
    assert [flag["state"] for flag in client.get(path).json()] == [wanted]


def test_the_page_shows_a_suspicion_escaped_and_takes_a_verdict(
    episode: Episode, client_of: ClientOf
) -> None:
    EpisodeFlag.objects.create(episode=episode, rule="never_seen", words="passes with <b>1</b>")
    client = client_of(Role.REVIEWER)
    page = client.get(f"/episodes/{episode.code}/").content.decode()
    assert "passes with &lt;b&gt;1&lt;/b&gt;" in page

    path = f"/episodes/{episode.code}/flags/never_seen/"
    assert client.post(path, {"state": "<i>", "reason": "x"}).status_code == 422
    assert client.post(path, {"state": "confirmed", "reason": "guessed"}).status_code == 303
    assert "Earned by a trick" in client.get(f"/episodes/{episode.code}/").content.decode()


def test_the_task_page_shows_both_gates_and_what_an_approval_needs(
    support_task: Task, client_of: ClientOf, lead: User
) -> None:
    task = edited(support_task, lead)
    page = client_of(Role.VIEWER).get(f"/tasks/{task.code}/").content.decode()

    assert "From episodes" in page
    assert "as a person changed its request in v2" in page


def test_the_api_gives_both_gates_beside_the_card(support_task: Task, client_of: ClientOf) -> None:
    group(support_task, [True, False, False, False])
    body = client_of(Role.VIEWER).get(f"/api/v1/tasks/{support_task.code}/proof").json()

    assert [(gate["id"], gate["state"]) for gate in body["episodes"]] == [
        ("P1", "held"),
        ("P2", "held"),
    ]
