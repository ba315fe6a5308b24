"""The pages of training runs: what they show, to whom, live, with hostile text, and as files."""

import csv
import io
import json
import re
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

import pytest
from django.test import Client
from django.utils import timezone

from studio.web import workers
from studio.web.choices import JobState, Role
from studio.web.models import Job
from tests.factories.people import person
from tests.factories.runs import log_steps, made_run
from tests.factories.specs import small_spec
from tests.rollouts_app.conftest import stored
from training_app.core.recipe import preset
from training_app.core.run_dir import RunDir
from training_app.enums import Algorithm
from training_app.models import Checkpoint, DeviceTicket, TrainingRun
from training_app.queries.runs import run_dir

pytestmark = pytest.mark.django_db
ClientOf = Callable[[Role | None], Client]
HOSTILE = "<script>alert(1)</script><img src=x onerror=alert(2)>{{ 7|add:7 }}"
SHARES = {"n": 40, "success": 0.5, "low": 0.35, "high": 0.65, "reward": 0.6}


@pytest.fixture
def client_of(db: None) -> ClientOf:
    """A client signed in as somebody of a role; None: nobody."""

    def make(role: Role | None) -> Client:
        client = Client()
        if role is not None:
            client.force_login(person(f"a-{role.value}", role))
        return client

    return make


@pytest.fixture
def viewer(client_of: ClientOf) -> Client:
    return client_of(Role.VIEWER)


@pytest.fixture
def editor(client_of: ClientOf) -> Client:
    return client_of(Role.EDITOR)


def page(client: Client, path: str, status: int = 200, **headers: str) -> str:
    """GET and decode."""
    answer = client.get(path, headers={k.replace("_", "-"): v for k, v in headers.items()})
    assert answer.status_code == status, answer.content[:2000]
    return answer.content.decode()


def words(html: str) -> str:
    """The text of a page in one line."""
    return " ".join(re.sub(r"<[^>]+>", " ", html).split())


def in_folder(run: TrainingRun, folder: Path, log: str = "") -> RunDir:
    """Give a run a directory of its own."""
    made = RunDir.create(folder / run.code, preset(run.preset))
    TrainingRun.objects.filter(pk=run.pk).update(path=str(made.path))
    run.refresh_from_db()
    made.log_file.write_text(log, encoding="utf-8")
    return made


# The list


def test_an_empty_list_says_that_the_cpu_preset_works_at_once(editor: Client) -> None:
    html = page(editor, "/runs/")
    assert "The CPU preset works at once" in html
    assert 'href="/runs/new/"' in html


def test_a_reader_of_an_empty_list_is_not_offered_what_they_may_not_do(viewer: Client) -> None:
    assert 'href="/runs/new/"' not in page(viewer, "/runs/")


def test_the_list_shows_state_method_progress_reward_success_and_checkpoint(
    viewer: Client,
) -> None:
    run = made_run(
        Algorithm.GIGPO,
        steps=78,
        result={
            "reward_first_fifth": 0.41,
            "reward_last_fifth": 0.79,
            "after": {"split_kind": "new_instances", "greedy": SHARES},
        },
    )
    Checkpoint.objects.create(run=run, step=40)
    last = Checkpoint.objects.create(run=run, step=78)
    text = words(page(viewer, "/runs/"))
    for expected in ("GiGPO", "succeeded", "78 of 78", "0.41 → 0.79", "50 %", f"{last.code} +1"):
        assert expected in text, expected


def test_a_run_that_goes_on_shows_its_reward_up_to_here_and_the_list_follows_it(
    viewer: Client,
) -> None:
    run = made_run(steps=20, state=JobState.RUNNING)
    html = page(viewer, "/runs/")
    assert 'data-poll="3"' in html
    assert "20 of 78" in words(html)
    etag = viewer.get("/runs/")["ETag"]
    fragment = {"HX-Request": "true", "HX-Target": "runs"}
    same = viewer.get("/runs/", headers={**fragment, "If-None-Match": etag})
    assert same.status_code == 304
    TrainingRun.objects.filter(pk=run.pk).update(step=21)
    later = viewer.get("/runs/", headers={**fragment, "If-None-Match": etag})
    assert later.status_code == 200
    assert later.content.decode().startswith('<div id="runs"')


def test_the_list_filters_and_says_what_to_drop(viewer: Client) -> None:
    gigpo, sft = made_run(Algorithm.GIGPO, steps=3), made_run(Algorithm.SFT, steps=3)
    html = page(viewer, "/runs/?q=algorithm:gigpo")
    assert gigpo.code in html
    assert sft.code not in html
    assert "Drop" in page(viewer, "/runs/?q=algorithm:gigpo+state:failed")
    wrong = page(viewer, "/runs/?q=algoritm:gigpo", 400)
    assert "algorithm" in wrong


# One run


def test_a_page_holds_a_chart_with_its_words_for_every_curve(viewer: Client) -> None:
    run = made_run(steps=40)
    html = page(viewer, f"/runs/{run.code}/")
    ids = re.findall(r'data-figure="([^"]+)"', html)
    assert ids == [
        "reward", "loss", "length", "components", "passed", "violations", "clipped", "zero",
        "entropy", "time",
    ]  # fmt: skip
    assert "Reward over processed training samples: from" in html
    assert 'aria-describedby="words-reward"' in html


def test_a_run_without_a_step_says_what_comes_first(viewer: Client) -> None:
    text = words(page(viewer, f"/runs/{made_run(state=JobState.STARTING).code}/"))
    assert "No step yet." in text
    assert "The first is saved at step 18." in text


def test_the_live_part_is_304_until_something_moves(viewer: Client) -> None:
    run = made_run(steps=10, state=JobState.RUNNING, heartbeat_at=timezone.now())
    path, fragment = f"/runs/{run.code}/", {"HX-Request": "true", "HX-Target": "run-live"}
    first = viewer.get(path, headers=fragment)
    assert first.content.decode().strip().startswith('<div id="run-live"')
    assert 'data-poll="2"' in first.content.decode()
    again = viewer.get(path, headers={**fragment, "If-None-Match": first["ETag"]})
    assert again.status_code == 304
    log_steps(run, 11, 11)
    TrainingRun.objects.filter(pk=run.pk).update(step=11)
    later = viewer.get(path, headers={**fragment, "If-None-Match": first["ETag"]})
    assert (later.status_code, "step 11 of 78" in words(later.content.decode())) == (200, True)


def test_what_comes_before_the_first_step_is_told_with_its_own_bar(viewer: Client) -> None:
    stage = "teaching the base: step 120 of 500"
    run = made_run(state=JobState.STARTING, message=stage)
    path = f"/runs/{run.code}/"
    without_job = page(viewer, path)
    assert (stage in words(without_job), f'aria-label="{stage}"' in without_job) == (True, False)
    job = Job.objects.create(
        kind="train_run", subject=run.code, note=stage, done=120, total=500, state=JobState.RUNNING
    )
    TrainingRun.objects.filter(pk=run.pk).update(job=job)
    bar = f'<progress class="inl" max="500" value="120" aria-label="{stage}"></progress>'
    assert bar in page(viewer, path)


def test_an_ended_run_is_not_asked_for_again(viewer: Client) -> None:
    html = page(viewer, f"/runs/{made_run(steps=10).code}/")
    assert "data-poll" not in html[html.index("<main") :]


def test_curves_come_as_figures_then_only_what_is_new_then_304(viewer: Client) -> None:
    run = made_run(steps=10, state=JobState.RUNNING)
    url = f"/runs/{run.code}/curves.json"
    first = viewer.get(url)
    body = first.json()
    loss = next(figure for figure in body["figures"] if figure["id"] == "loss")
    assert (body["again"], len(loss["data"][0]["x"])) == (False, 10)
    since = viewer.get(f"{url}?since={body['cursor']}")
    same = viewer.get(f"{url}?since={body['cursor']}", headers={"If-None-Match": since["ETag"]})
    assert same.status_code == 304
    log_steps(run, 11, 14)
    later = viewer.get(f"{url}?since={body['cursor']}", headers={"If-None-Match": since["ETag"]})
    loss = next(figure for figure in later.json()["figures"] if figure["id"] == "loss")
    # The last step comes again: it may have got more values.
    assert loss["data"][0]["customdata"] == [10, 11, 12, 13, 14]


def test_a_run_that_was_cut_back_sends_everything_again(viewer: Client) -> None:
    run = made_run(steps=30, state=JobState.RUNNING)
    cursor = viewer.get(f"/runs/{run.code}/curves.json").json()["cursor"]
    run.metrics.filter(step__gt=20).delete()
    body = viewer.get(f"/runs/{run.code}/curves.json?since={cursor}").json()
    loss = next(figure for figure in body["figures"] if figure["id"] == "loss")
    assert (body["again"], len(loss["data"][0]["x"])) == (True, 20)


@pytest.mark.parametrize("since", ["x", "1:2", "1:nan:1", "-1:2:1", "1:2:0", "9" * 30 + ":1:1"])
def test_a_cursor_of_somebody_else_is_refused(viewer: Client, since: str) -> None:
    run = made_run(steps=3)
    page(viewer, f"/runs/{run.code}/curves.json?since={since}", 400)


def test_steps_samples_or_seconds_smoothed_or_not_are_addresses(viewer: Client) -> None:
    run = made_run(steps=10)
    body = viewer.get(f"/runs/{run.code}/curves.json?x=step&smooth=off").json()
    loss = next(figure for figure in body["figures"] if figure["id"] == "loss")
    assert [(t["uid"], t["x"][-1]) for t in loss["data"]] == [("loss-raw", 10.0)]
    html = page(viewer, f"/runs/{run.code}/?x=seconds&smooth=off")
    assert re.findall(r'data-value="(\w+)"[^>]*aria-current="true"', html) == ["seconds", "off"]


def test_a_flat_loss_is_explained_on_its_chart(viewer: Client) -> None:
    flat = preset("cpu-tiny-grpo", rollouts={"steps_per_generation": 1})
    assert flat.flat_loss in page(viewer, f"/runs/{made_run(steps=9, recipe=flat).code}/")


def test_a_step_that_is_no_number_is_told(viewer: Client) -> None:
    run = made_run()
    log_steps(run, 1, 12, {8: {"loss": None}})
    assert "NaN at step 8" in page(viewer, f"/runs/{run.code}/")


def test_before_and_after_print_the_kind_of_split_beside_each_number(viewer: Client) -> None:
    run = made_run(
        Algorithm.SFT,
        steps=10,
        result={
            "before": {"split_kind": "new_instances", "greedy": {**SHARES, "success": 0.02,
                       "low": 0.0, "high": 0.1}},
            "after": {"split_kind": "new_instances",
                      "greedy": {**SHARES, "families": {"ticket_triage": {**SHARES, "n": 10}}}},
            "after_new_families": {"split_kind": "new_families", "greedy": {**SHARES, "n": 8}},
        },
    )  # fmt: skip
    html = page(viewer, f"/runs/{run.code}/")
    table = words(html[html.index('id="run-result"') :])
    assert "new instances greedy 40 2 % 0–10 % 50 % 35–65 % +0.48 0.31 to 0.63" in table
    assert "new families greedy 8 not measured 50 % 35–65 % –" in table
    assert "ticket_triage new instances greedy 10 not measured 50 %" in table
    assert "Training reward" not in table


def test_reward_stands_beside_the_control_of_the_same_start_and_seed(viewer: Client) -> None:
    start = Checkpoint.objects.create(run=made_run(Algorithm.SFT, steps=4), step=4)
    run = made_run(steps=78, parent=start, seed=1)
    control = preset("cpu-tiny-control")
    made_run(steps=78, recipe=control, parent=start, seed=2)
    alike = made_run(steps=78, recipe=control, parent=start, seed=1)
    made_run(steps=78, recipe=control, parent=start, seed=3)
    made_run(steps=78, recipe=control, seed=1)
    html = page(viewer, f"/runs/{run.code}/")
    panel = words(html[html.index('id="run-result"') :])
    assert "GRPO, this run 1 0.55 0.71 +0.16" in panel
    assert f"Control {alike.code} 1 0.50 0.50 -0.01" in panel
    assert "Its last fifth lies 0.21 above the control’s" in panel
    assert "This is a control: learning rate 0." in words(page(viewer, f"/runs/{alike.code}/"))


def test_a_run_without_a_control_says_how_to_get_one(viewer: Client) -> None:
    made_run(steps=78, recipe=preset("cpu-tiny-control"), parent=None, state=JobState.FAILED)
    run = made_run(steps=78)
    assert "No control starts where this run does" in words(page(viewer, f"/runs/{run.code}/"))


def test_a_result_with_impossible_values_is_not_scored(viewer: Client) -> None:
    run = made_run(
        steps=5,
        result={
            "before": "x",
            "after": {"split_kind": HOSTILE, "greedy": {"n": -1, "success": 7, "low": "x",
                      "families": [1]}},
            "reward_first_fifth": "x",
            "seconds": HOSTILE,
        },
    )  # fmt: skip
    assert "tasks of no named kind greedy – not measured – – –" in words(
        page(viewer, f"/runs/{run.code}/")
    )
    page(viewer, "/runs/")
    page(viewer, f"/runs/compare/?runs={run.code}")


def test_hostile_text_is_inert_wherever_it_stands(editor: Client, tmp_path: Path) -> None:
    run = made_run(steps=5, state=JobState.FAILED, message=HOSTILE, host=HOSTILE)
    TrainingRun.objects.filter(pk=run.pk).update(preset=HOSTILE[:40])
    folder = in_folder(run_named(run), tmp_path, log=f"{HOSTILE}\n")
    folder.write_samples(
        4,
        [
            {
                "slug": HOSTILE,
                "reward": 0.5,
                "violations": [HOSTILE],
                "messages": [
                    {"role": HOSTILE, "content": HOSTILE},
                    {"role": "assistant", "content": None,
                     "tool_calls": [{"function": {"name": HOSTILE, "arguments": HOSTILE}}]},
                    7,
                ],
            }
        ],
    )  # fmt: skip
    log_steps(run, 6, 6, {6: {HOSTILE: 1.0}})
    for path in (
        f"/runs/{run.code}/",
        "/runs/",
        "/runs/?q=" + "%3Cscript%3E",
        "/runs/compare/",
        f"/runs/compare/?runs={run.code}",
        "/runs/new/?shown=1&preset=cpu-tiny-grpo&more=%3Cscript%3Ealert(1)%3C/script%3E",
    ):
        html = page(editor, path)
        assert "<script>alert" not in html, path
        assert "<img src=x" not in html, path
    html = page(editor, f"/runs/{run.code}/")
    assert "&lt;script&gt;alert(1)" in html


def run_named(run: TrainingRun) -> TrainingRun:
    """A run whose directory is made from a preset, whatever its own is called."""
    run.preset = "cpu-tiny-grpo"
    return run


def test_samples_of_a_step_are_shown_and_the_nearest_kept_step_where_none_was(
    editor: Client, tmp_path: Path
) -> None:
    run = made_run(steps=40)
    folder = in_folder(run, tmp_path)
    for step in (20, 40):
        folder.write_samples(
            step, [{"slug": f"triage-{step}", "reward": 1.0, "passed": True, "messages": []}] * 15
        )
    html = page(editor, f"/runs/{run.code}/")
    assert "Samples of step 40" in words(html)
    assert "Showing 12 of 15" in words(html)
    part = page(
        editor, f"/runs/{run.code}/?step=27&all=1", HX_Request="true", HX_Target="run-samples"
    )
    assert part.strip().startswith('<section class="panel" id="run-samples"')
    assert "Samples of step 20" in words(part)
    assert "nearest to step 27" in words(part)
    assert part.count("triage-20") == 30  # name and title of each of the fifteen


def test_damaged_samples_are_told_and_the_page_stands(editor: Client, tmp_path: Path) -> None:
    run = made_run(steps=40)
    in_folder(run, tmp_path).samples.joinpath("step-000020.jsonl").write_text("{broken")
    assert "cannot be read" in words(page(editor, f"/runs/{run.code}/"))


def test_the_log_follows_from_an_offset_and_a_half_line_waits(
    viewer: Client, tmp_path: Path
) -> None:
    run = made_run(steps=4, state=JobState.RUNNING)
    folder = in_folder(run, tmp_path, log="one\ntwo\nhal")
    html = page(viewer, f"/runs/{run.code}/")
    assert re.search(r'data-offset="8"[^>]*>one\ntwo\n</pre>', html)
    with folder.log_file.open("a", encoding="utf-8") as stream:
        stream.write("f\n")
    body = json.loads(page(viewer, f"/runs/{run.code}/log/?offset=8"))
    assert body == {"text": "half\n", "offset": 13, "skipped": 0, "again": False}
    whole = viewer.get(f"/runs/{run.code}/log.txt")
    sent = b"".join(whole.streaming_content)  # type: ignore[attr-defined]  # a streaming answer
    assert sent == b"one\ntwo\nhalf\n"


def test_a_reader_far_behind_gets_the_newest_lines_and_is_told_what_is_left_out(
    viewer: Client, tmp_path: Path
) -> None:
    run = made_run(steps=4)
    in_folder(run, tmp_path, log="x" * 99 + "\n" + ("y" * 99 + "\n") * 1000)
    body = json.loads(page(viewer, f"/runs/{run.code}/log/?offset=0"))
    assert len(body["text"]) <= 64 * 1024
    assert body["skipped"] + len(body["text"]) == 100_100
    assert body["text"].startswith("yyy")


def test_a_lost_run_can_be_resumed_and_says_so(editor: Client, tmp_path: Path) -> None:
    run = made_run(steps=4, state=JobState.LOST)
    in_folder(run, tmp_path)
    html = page(editor, f"/runs/{run.code}/")
    assert "Nobody watches this run any more." in html
    assert f'action="/runs/{run.code}/resume/"' in html
    assert f'action="/runs/{run.code}/cancel/"' not in html


def test_a_failed_run_shows_each_reason_and_how_to_mend_it(viewer: Client) -> None:
    run = made_run(
        steps=4,
        state=JobState.FAILED,
        message="dataset: no rows. To mend it: freeze again.\ndisk: full. To mend it: make room.",
        halvings=2,
    )
    text = words(page(viewer, f"/runs/{run.code}/"))
    assert "The run failed." in text
    assert "dataset: no rows. To mend it: freeze again." in text
    assert "Memory ran out 2 times." in text


def test_a_silent_engine_and_an_adopted_run_are_told(viewer: Client) -> None:
    long_ago = timezone.now() - timedelta(minutes=5)
    quiet = made_run(steps=4, state=JobState.RUNNING, heartbeat_at=long_ago)
    assert "No sign of life for 5 min." in words(page(viewer, f"/runs/{quiet.code}/"))
    adopted = made_run(steps=4, adopted=True, host="gpu-01.example")
    assert "Run elsewhere on gpu-01.example and read here" in words(
        page(viewer, f"/runs/{adopted.code}/")
    )


def test_a_run_that_waits_for_its_device_says_who_is_before_it(viewer: Client) -> None:
    first, waiting = made_run(state=JobState.RUNNING), made_run(state=JobState.QUEUED)
    workers.say("train@here", ["train"])
    for run in (first, waiting):
        job = Job.objects.create(kind="train_run", subject=run.code)
        TrainingRun.objects.filter(pk=run.pk).update(job=job)
        DeviceTicket.objects.create(device="cpu", job=job, what=run.code)
    text = words(page(viewer, f"/runs/{waiting.code}/"))
    assert f"Waits for cpu. Before it: {first.code} queued" in text
    assert "Waits for" not in words(page(viewer, f"/runs/{first.code}/"))


def test_a_run_of_an_unknown_format_still_has_a_page(viewer: Client) -> None:
    run = made_run(steps=5)
    TrainingRun.objects.filter(pk=run.pk).update(recipe={"format": "training-recipe/9"})
    assert "of a format that is not known here" in page(viewer, f"/runs/{run.code}/")
    page(viewer, f"/runs/compare/?runs={run.code}")
    page(viewer, "/runs/")


# What one can do


ACTS = ("cancel/", "resume/", "checkpoints/{checkpoint}/promote/", "samples/4/0/")


@pytest.mark.parametrize("role", [None, Role.VIEWER, Role.REVIEWER, Role.EDITOR])
def test_acts_are_for_editors(client_of: ClientOf, role: Role | None, tmp_path: Path) -> None:
    run = made_run(steps=4, state=JobState.RUNNING)
    in_folder(run, tmp_path)
    checkpoint = Checkpoint.objects.create(run=run, step=4)
    client = client_of(role)
    codes = [
        client.post(f"/runs/{run.code}/{act.format(checkpoint=checkpoint.code)}").status_code
        for act in ACTS
    ]
    if role is None:
        assert codes == [302] * 4
    elif role == Role.EDITOR:
        assert 403 not in codes
    else:
        assert codes == [403] * 4
        assert "/cancel/" not in page(client, f"/runs/{run.code}/")


def test_acts_are_posted_never_followed(editor: Client) -> None:
    run = made_run(steps=4)
    acts = [act.format(checkpoint="CK-0000") for act in ACTS]
    assert {editor.get(f"/runs/{run.code}/{act}").status_code for act in acts} == {405}


def test_cancel_asks_the_engine_and_the_page_says_so(editor: Client, tmp_path: Path) -> None:
    run = made_run(steps=4, state=JobState.RUNNING)
    in_folder(run, tmp_path)
    job = Job.objects.create(kind="train_run", subject=run.code, state=JobState.RUNNING)
    TrainingRun.objects.filter(pk=run.pk).update(job=job)
    answer = editor.post(f"/runs/{run.code}/cancel/")
    assert (answer.status_code, answer["Location"]) == (303, f"/runs/{run.code}/")
    run.refresh_from_db()
    assert run_dir(run).asked_to_stop()
    html = page(editor, f"/runs/{run.code}/")
    assert "is asked to stop" in html
    assert "Asked to stop." in html


def test_a_sample_opens_as_a_replay_and_the_same_one_is_made_once(
    editor: Client, tmp_path: Path
) -> None:
    spec = small_spec()
    stored(spec)
    run = made_run(steps=20)
    in_folder(run, tmp_path).write_samples(
        20, [{"spec_hash": spec.hash, "reward": 0.0, "messages": [
            {"role": "assistant", "content": "Nothing to do."}]}],
    )  # fmt: skip
    path = f"/runs/{run.code}/samples/20/0/"
    assert f'action="{path}"' in page(editor, f"/runs/{run.code}/")
    places = {editor.post(path)["Location"] for _ in range(2)}
    assert len(places) == 1
    assert "Nothing to do." in page(editor, places.pop())


def test_a_checkpoint_is_promoted_and_promotion_taken_back(editor: Client, tmp_path: Path) -> None:
    run = made_run(steps=20)
    folder = in_folder(run, tmp_path)
    folder.checkpoint_path(20).mkdir()
    folder.seal(20, {})
    checkpoint = Checkpoint.objects.create(run=run, step=20)
    path = f"/runs/{run.code}/checkpoints/{checkpoint.code}/promote/"
    for promoted in (True, False):
        answer = editor.post(path, {"promoted": "1" if promoted else "0"})
        assert (answer.status_code, answer["Location"]) == (303, f"/runs/{run.code}/#checkpoints")
        checkpoint.refresh_from_db()
        assert checkpoint.promoted is promoted


# A new run


def test_the_form_shows_the_exact_recipe_and_bold_what_differs(editor: Client) -> None:
    html = page(
        editor,
        "/runs/new/?shown=1&preset=cpu-tiny-gigpo&steps=40&more=rollouts.temperature+%3D+0.9",
    )
    changed = re.findall(r'<tr class="changed">(.*?)</tr>', html, re.S)
    assert [words(row) for row in changed] == [
        "steps 40 instead of 78",
        "rollouts.temperature 0.9 instead of 1",
    ]
    assert html.count('class="field changed"') == 1
    assert 'placeholder="32"' in html


def test_the_preflight_names_what_was_looked_at_and_the_fix(editor: Client) -> None:
    text = words(page(editor, "/runs/new/?preset=cpu-tiny-grpo"))
    for expected in (
        "Dataset the pocket suite, 24 tasks made at the start",
        "Start an SFT checkpoint that succeeds in 40% to 60% when sampled",
        "Device no worker for training is running; the run waits until one is",
        "Disk",
    ):
        assert expected in text, expected


def test_a_checkpoint_without_weights_stops_the_run_before_it_starts(editor: Client) -> None:
    checkpoint = Checkpoint.objects.create(run=made_run(Algorithm.SFT, steps=9), step=9)
    html = page(editor, f"/runs/new/?init={checkpoint.code}")
    assert f"the weights of {checkpoint.code} are gone" in html
    answer = editor.post("/runs/new/", {"preset": "cpu-tiny-grpo", "init": checkpoint.code})
    assert answer.status_code == 422
    assert "are gone" in answer.content.decode()
    assert TrainingRun.objects.count() == 1


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"steps": "0"}, "greater than or equal to 1"),
        ({"batch": "7"}, "a step holds whole groups"),
        ({"more": "rollouts.group"}, "is not of the form place = value"),
        ({"more": "nowhere = 1"}, "nowhere"),
        ({"more": "rollouts.norm = 7"}, "rollouts.norm"),
        ({"preset": "cpu-tiny-x"}, "not one of the available choices"),
    ],
)
def test_what_makes_no_recipe_is_refused_at_its_field(
    editor: Client, fields: dict[str, str], said: str
) -> None:
    answer = editor.post("/runs/new/", {"preset": "cpu-tiny-grpo", **fields})
    assert answer.status_code == 422
    assert said in answer.content.decode()
    assert 'aria-invalid="true"' in answer.content.decode()
    assert not TrainingRun.objects.exists()


def test_an_editor_starts_a_run_and_gets_to_its_page(editor: Client, studio: Path) -> None:
    answer = editor.post("/runs/new/", {"preset": "cpu-tiny-dr-grpo", "steps": "40", "seed": "3"})
    run = TrainingRun.objects.get()
    assert (answer.status_code, answer["Location"]) == (303, f"/runs/{run.code}/")
    assert (run.algorithm, run.steps, run.seed, run.state) == ("dr_grpo", 40, 3, "queued")
    assert "queued" in page(editor, f"/runs/{run.code}/")


def test_a_viewer_reads_the_form_and_starts_nothing(viewer: Client) -> None:
    assert "Starting a run needs the role editor" in page(viewer, "/runs/new/")
    assert viewer.post("/runs/new/", {"preset": "cpu-tiny-sft"}).status_code == 403
    assert not TrainingRun.objects.exists()


# Runs beside each other


def test_without_runs_the_comparison_says_how_to_begin(editor: Client, viewer: Client) -> None:
    assert 'href="/runs/new/"' in page(editor, "/runs/compare/")
    assert "No run has logged a step yet." in page(viewer, "/runs/compare/")


def test_the_comparison_takes_the_newest_of_each_and_draws_the_grid(viewer: Client) -> None:
    old = made_run(Algorithm.GRPO, steps=20)
    runs = [made_run(a, steps=20) for a in (Algorithm.GRPO, Algorithm.GDPO)]
    control = made_run(Algorithm.GRPO, steps=20, recipe=preset("cpu-tiny-control"))
    html = page(viewer, "/runs/compare/")
    assert re.findall(r'data-figure="([^"]+)"', html) == [
        "grpo-reward", "grpo-loss", "grpo-length", "gdpo-reward", "gdpo-loss", "gdpo-length",
        "overlay",
    ]  # fmt: skip
    head = html[html.index('class="meta"') : html.index("data-curves")]
    assert re.findall(r"RUN-\w+(?=</a>)", head) == [r.code for r in (*runs, control)]
    assert old.code not in head
    assert "One seed each" not in words(html)  # the control is GRPO too
    body = viewer.get("/runs/compare/curves.json").json()
    assert [figure["id"] for figure in body["figures"]][-1] == "overlay"


def test_recipes_are_told_apart_place_by_place(viewer: Client) -> None:
    a = made_run(Algorithm.GRPO, steps=5)
    b = made_run(Algorithm.GIGPO, steps=5, recipe=preset("cpu-tiny-gigpo", steps=40))
    text = words(page(viewer, f"/runs/compare/?runs={a.code},{b.code}"))
    assert "algorithm grpo gigpo" in text
    assert "steps 78 40" in text
    assert "2 of" in text


@pytest.mark.parametrize(
    ("runs", "status"),
    [("RUN-0000", 404), ("x", 400), ("T-0000", 400), (",".join(["RUN-0000"] * 1), 404),
     (",".join(f"RUN-000{n}" for n in "123456789ABCD"), 400)],
)  # fmt: skip
def test_a_comparison_of_what_does_not_exist_is_refused(
    viewer: Client, runs: str, status: int
) -> None:
    for path in ("", "curves.json", "sheet.json", "curves.csv"):
        page(viewer, f"/runs/compare/{path}?runs={runs}", status)


def test_the_comparison_is_304_until_a_run_moves(viewer: Client) -> None:
    run = made_run(steps=5, state=JobState.RUNNING)
    first = viewer.get("/runs/compare/curves.json")
    headers = {"If-None-Match": first["ETag"]}
    assert viewer.get("/runs/compare/curves.json", headers=headers).status_code == 304
    log_steps(run, 6, 6)
    assert viewer.get("/runs/compare/curves.json", headers=headers).status_code == 200


def test_success_of_each_run_stands_under_its_kind_of_tasks(viewer: Client) -> None:
    made_run(
        steps=5,
        result={
            "before": {"split_kind": "new_instances", "greedy": SHARES},
            "after": {"split_kind": "new_instances", "greedy": {**SHARES, "success": 0.7}},
            "after_new_families": {"split_kind": "new_families", "greedy": {**SHARES, "n": 8}},
        },
    )
    html = page(viewer, "/runs/compare/")
    table = words(html[html.index('aria-labelledby="came"') :])
    assert "New instances New families" in table
    assert "GRPO greedy 50 % 35–65 %, n 40 70 % 35–65 %, n 40 +0.20" in table


# Files


def rows_of(answer: object) -> list[list[str]]:
    text = b"".join(answer.streaming_content).decode()  # type: ignore[attr-defined]
    return list(csv.reader(io.StringIO(text)))


def test_every_metric_of_a_run_is_a_column_and_no_name_is_a_formula(viewer: Client) -> None:
    run = made_run(steps=2)
    log_steps(run, 3, 3, {3: {"=cmd()": 1.5}})
    answer = viewer.get(f"/runs/{run.code}/metrics.csv")
    head, *rows = rows_of(answer)
    assert head[:3] == ["step", "samples", "seconds"]
    assert "'=cmd()" in head
    assert [row[0] for row in rows] == ["1", "2", "3"]
    assert rows[2][head.index("'=cmd()")] == "1.5"
    assert rows[1][head.index("reward")] == ""


def test_the_grid_is_exported_row_by_row_with_the_control_marked(viewer: Client) -> None:
    run = made_run(Algorithm.GIGPO, steps=2)
    control = made_run(Algorithm.GRPO, steps=1, recipe=preset("cpu-tiny-control"))
    head, *rows = rows_of(viewer.get("/runs/compare/curves.csv"))
    assert head == [
        "run", "algorithm", "control", "seed", "step", "samples", "seconds", "reward",
        "policy_loss", "response_length",
    ]  # fmt: skip
    assert [row[:6] for row in rows] == [
        [run.code, "gigpo", "no", "0", "1", "32"],
        [run.code, "gigpo", "no", "0", "2", "64"],
        [control.code, "grpo", "yes", "0", "1", "32"],
    ]
    first = run.metrics.get(step=1).values
    assert rows[0][7:] == [
        str(first["reward"]), str(first["loss"]), str(first["completions/mean_length"]),
    ]  # fmt: skip
    assert rows[1][7] == ""


def test_the_sheet_is_one_figure_of_the_whole_grid(viewer: Client) -> None:
    made_run(Algorithm.GIGPO, steps=20)
    body = viewer.get("/runs/compare/sheet.json").json()
    assert {"xaxis", "xaxis2", "xaxis3"} <= set(body["layout"])
    run = made_run(Algorithm.SFT, steps=20)
    page(viewer, f"/runs/compare/sheet.json?runs={run.code}", 404)


def test_the_recipe_is_a_file(viewer: Client) -> None:
    run = made_run(steps=2)
    answer = viewer.get(f"/runs/{run.code}/recipe.json")
    assert answer.json() == run.recipe
    assert run.code in answer["Content-Disposition"]


@pytest.mark.parametrize(
    "path", ["", "curves.json", "metrics.csv", "recipe.json", "log/", "log.txt"]
)
def test_a_run_that_does_not_exist_is_404_in_words(viewer: Client, path: str) -> None:
    assert "RUN-0000" in page(viewer, f"/runs/RUN-0000/{path}", 404)


# On the way here


def test_home_leads_from_a_running_job_to_its_run_and_a_code_is_found(viewer: Client) -> None:
    run = made_run(state=JobState.RUNNING)
    Job.objects.create(kind="train_run", subject=run.code, state=JobState.RUNNING)
    assert f'href="/runs/{run.code}/">{run.code}</a>' in page(viewer, "/")
    found = viewer.get(f"/search/?q={run.code.lower()}")
    assert found["Location"] == f"/runs/{run.code}/"


def test_the_rail_leads_to_training_with_keys(viewer: Client) -> None:
    html = page(viewer, "/runs/compare/")
    for key, path in (("g n", "/runs/"), ("g k", "/runs/compare/"), ("g s", "/datasets/")):
        assert re.search(rf'href="{path}" data-key="{key}"', html), key
    assert 'data-key="g k" title="Compare runs (g k)" aria-current="page"' in html
