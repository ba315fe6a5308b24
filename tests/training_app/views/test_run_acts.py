"""What editors do with a run: cancel, resume, promote, open a sample."""

from pathlib import Path

import pytest
from django.test import Client

from studio.web.choices import JobState, Role
from studio.web.models import Job
from tests.factories.pages import ClientOf, page
from tests.factories.runs import made_run
from tests.factories.specs import small_spec
from tests.rollouts_app.conftest import stored
from tests.training_app.conftest import in_folder
from training_app.models import Checkpoint, TrainingRun
from training_app.queries.runs import run_dir

pytestmark = pytest.mark.django_db
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
