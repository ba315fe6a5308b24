"""The pages of datasets: what they show, to whom, also with hostile text and wrong input."""

import io
import re
import zipfile
from decimal import Decimal
from pathlib import Path
from typing import Any

import orjson
import pyarrow.parquet as pq
import pytest
from django.conf import LazySettings
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import IntegrityError, connection, transaction
from django.test import Client

from studio.lib.hashing import bytes_hash
from studio.web.choices import JobState, Role
from studio.web.models import AuditEntry, Job
from tasks_app.enums import TaskState
from tasks_app.models import Task
from tests.factories.pages import HOSTILE, page, signed_in, words
from tests.factories.people import person
from tests.factories.runs import made_run
from tests.training_app.library import frozen, rolled_out_library
from training_app.core.manifest import check_manifest
from training_app.enums import Algorithm
from training_app.models import Dataset, DatasetItem
from training_app.operations.dataset_deletion import delete_dataset
from training_app.operations.datasets import DatasetDamaged, Mix, open_dataset, write_dataset

pytestmark = pytest.mark.django_db


FORM: dict[str, Any] = {
    "kind": "demonstrations",
    "name": "pocket, first",
    "filter": "policy:reference",
    "passed": "on",
    "finished": "on",
    "usable_tasks": "on",
    "errors_kept": "recovered",
    "duplicates": "shortest",
}


@pytest.fixture
def library(db: None) -> list[Task]:
    """Four pocket tasks to train on and two of held-out names, each solved twice, refused once."""
    return rolled_out_library()


# The list and the form


def test_without_datasets_the_list_says_what_comes_first() -> None:
    client = signed_in(Role.LEAD)
    assert "Nothing was frozen yet: roll out the reference first." in words(
        page(client, "/datasets/")
    )
    assert "Nothing was frozen yet: approve a task first." in words(
        page(client, "/datasets/?kind=prompts")
    )


def test_the_form_counts_what_each_rule_drops_first_and_alone(library: list[Task]) -> None:
    html = page(
        signed_in(Role.LEAD),
        "/datasets/?kind=demonstrations&preview=1&filter=&passed=on&errors_kept=recovered"
        "&duplicates=shortest",
        headers={"HX-Request": "true", "HX-Target": "preview"},
    )
    assert "<html" not in html
    assert words(html) == (
        "Preview 4 to train on, 2 held out, of 18. Split kind: new instances. "
        "What each rule drops Rule Drops Alone "
        "passed it did not pass 6 6 "
        "duplicates another one of the same task makes the same calls 6 6"
    )


def test_held_families_and_prompts_are_previewed_too(library: list[Task]) -> None:
    client = signed_in(Role.LEAD)
    held = library[0].family
    asked = f"kind=demonstrations&preview=1&passed=on&errors_kept=any&duplicates=all&held={held}"
    assert "6 to train on, 4 held out, of 18. Split kind: new families." in words(
        page(client, f"/datasets/?{asked}")
    )
    prompts = page(client, "/datasets/?kind=prompts&preview=1&filter=state:proven")
    assert "4 to train on, 2 held out, of 6." in words(prompts)


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ("filter=colour:red", "There is no filter “colour” here."),
        ("turns=0", "Mend the fields that are marked; then the counts come back."),
        ("held=none_such", "Mend the fields that are marked; then the counts come back."),
        ("filter=turns:>=500", "No episode matches. Roll the reference out first, or drop a term."),
        ("passed=on&filter=policy:refuse", "The rules leave nothing to train on."),
        ("filter=family:a<script>alert(1)</script>", "is not a value of family"),
    ],
)
def test_a_preview_of_what_cannot_be_says_why(library: list[Task], asked: str, said: str) -> None:
    form = "kind=demonstrations&preview=1&errors_kept=any&duplicates=all"
    html = page(signed_in(Role.LEAD), f"/datasets/?{form}&{asked}")
    assert said in words(html)
    assert "<script>alert" not in html


def test_a_lead_freezes_and_the_page_follows_the_job(library: list[Task]) -> None:
    client = signed_in(Role.LEAD)
    answer = client.post("/datasets/", FORM)
    dataset = Dataset.objects.get()
    assert (answer.status_code, answer["Location"]) == (303, f"/datasets/{dataset.code}/")
    assert dataset.job is not None
    assert dataset.rules["errors"] == "recovered"
    html = page(client, f"/datasets/{dataset.code}/")
    assert "waiting for a worker" in words(html)
    assert 'hx-trigger="studio:poll"' in html
    etag = re.search(r'data-etag="([^"]+)"', html)
    assert etag is not None
    tag = etag[1].replace("&quot;", '"')
    again = client.get(f"/datasets/{dataset.code}/", headers={"If-None-Match": tag})
    assert again.status_code == 304


@pytest.mark.parametrize("role", [Role.VIEWER, Role.REVIEWER, Role.EDITOR])
def test_below_a_lead_nobody_freezes_and_all_may_read_and_export(
    library: list[Task], role: Role
) -> None:
    dataset = frozen()
    client = signed_in(role)
    assert client.post("/datasets/", FORM).status_code == 403
    assert client.post(f"/datasets/{dataset.code}/discard/").status_code == 403
    assert "Freezing one needs the role lead" in page(client, "/datasets/")
    html = page(client, f"/datasets/{dataset.code}/")
    assert client.get(f"/datasets/{dataset.code}/download/jsonl/").status_code == 200
    assert ("Train on this" in html) == (role == Role.EDITOR)
    assert Dataset.objects.count() == 1


def test_wrong_fields_are_marked_and_nothing_is_lost(library: list[Task]) -> None:
    frozen("pocket, first")
    broken = b'{"messages": [{"role": "user", "content": "x"}]}\n{"messages": 3}'
    answer = signed_in(Role.LEAD).post(
        "/datasets/",
        {
            **FORM,
            "filter": "policy:reference turns:>=400",
            "mix": SimpleUploadedFile("chat.jsonl", broken),
            "weight": "1",
        },
    )
    assert answer.status_code == 422
    said = words(answer.content.decode())
    code = Dataset.objects.get().code
    assert f"{code} is called “pocket, first”. Take another." in said
    assert "No episode matches. Roll the reference out first, or drop a term." in said
    assert "chat.jsonl: line 2 at messages: a list of messages is missing." in said
    assert 'value="policy:reference turns:&gt;=400"' in answer.content.decode()


def test_an_upload_above_the_limit_is_refused(library: list[Task], settings: LazySettings) -> None:
    settings.STUDIO_MAX_BODY_BYTES = 4000
    mix = SimpleUploadedFile("huge.jsonl", b"x" * 5000)
    answer = signed_in(Role.LEAD).post("/datasets/", {**FORM, "mix": mix, "weight": "1"})
    assert answer.status_code == 413
    assert not Dataset.objects.exists()


def test_two_hundred_megabytes_are_refused_unread(
    library: list[Task], settings: LazySettings
) -> None:
    mix = SimpleUploadedFile("huge.jsonl", b"x" * (200 * 2**20))
    answer = signed_in(Role.LEAD).post("/datasets/", {**FORM, "mix": mix, "weight": "1"})
    assert answer.status_code == 413
    limit = f"{settings.STUDIO_MAX_BODY_BYTES / 2**20:.1f} MB"
    assert f"the limit is {limit}. Nothing of it was kept." in words(answer.content.decode())
    assert not Dataset.objects.exists()


# One dataset


def test_the_page_shows_manifest_composition_losses_and_rows(library: list[Task]) -> None:
    dataset = frozen(filter_text="passed:yes", rules={"turns": 50})
    html = page(signed_in(Role.EDITOR), f"/datasets/{dataset.code}/")
    said = words(html)
    for text in (
        "To train on 4 rows Held out 2 new instances Dropped 6 by 1 rule",
        "split kind new instances",
        f"SHA-256 {dataset.sha256}",
        "Turns at most 50",
        "Looked at 12 episodes",
        "duplicates another one of the same task makes the same calls 6",
        "by policy reference 6",
        "Row 1",
        "Every row that was built passes.",
        "There is no other frozen dataset yet.",
    ):
        assert text in said, text
    for entry in dataset.manifest["files"].values():
        assert entry["sha256"] in said
    assert f'href="/runs/new/?dataset={dataset.code}"' in html
    first = dataset.items.all()[0]
    assert first.episode is not None
    assert f'href="/episodes/{first.episode.code}/"' in html
    assert html.count('class="ds-call"') > 4


def test_prompts_show_request_and_task(library: list[Task]) -> None:
    Task.objects.update(state=TaskState.APPROVED)
    dataset = frozen("p", "prompts")
    html = page(signed_in(Role.LEAD), f"/datasets/{dataset.code}/")
    spec = library[0].current.load()  # type: ignore[union-attr]
    assert spec.request.text.split(".")[0] in words(html)
    assert f"{library[0].code}, version 1" in html


def test_two_datasets_are_compared_by_content(library: list[Task]) -> None:
    one = frozen("one")
    two = frozen("two", filter_text=f"family:{library[0].family}", rules={"duplicates": "all"})
    html = page(signed_in(Role.LEAD), f"/datasets/{one.code}/?against={two.code}")
    said = words(html)
    assert f"2 different rows are in both, 4 only in {one.code}, 0 only in {two.code}" in said
    assert "rule duplicates shortest all" in said
    fragment = page(
        signed_in(Role.VIEWER),
        f"/datasets/{one.code}/?against={two.code}",
        headers={"HX-Request": "true", "HX-Target": "difference"},
    )
    assert fragment.startswith('<div id="difference"')
    none = page(signed_in(Role.EDITOR), f"/datasets/{one.code}/?against=DS-{HOSTILE}")
    assert "There is no frozen dataset" in none
    assert "<script>alert" not in none


def test_the_same_selection_compared_is_the_same(library: list[Task]) -> None:
    one, two = frozen("one"), frozen("two")
    said = words(page(signed_in(Role.LEAD), f"/datasets/{one.code}/?against={two.code}"))
    assert "6 different rows are in both, 0 only in" in said
    assert "The two hold the same, byte by byte." in said


def test_hostile_words_stay_words_everywhere(library: list[Task]) -> None:
    call = {"id": HOSTILE, "function": {"name": "find", "arguments": {HOSTILE: HOSTILE}}}
    row = {
        "messages": [
            {"role": "system", "content": HOSTILE},
            {"role": "user", "content": HOSTILE},
            {"role": "assistant", "content": HOSTILE, "tool_calls": [call]},
            {"role": "tool", "tool_call_id": HOSTILE, "content": HOSTILE},
            {"role": "assistant", "content": HOSTILE},
        ],
        "tools": [
            {"function": {"name": "find", "parameters": {"properties": {HOSTILE: {}}}}},
            {"function": {"name": HOSTILE, "parameters": {}}},
        ],
    }
    wrong = {"messages": [{"role": HOSTILE, "content": HOSTILE}]}
    data = orjson.dumps(row) + b"\n" + orjson.dumps(wrong)
    name = "<b>a</b>.jsonl"
    dataset = frozen(
        HOSTILE[:80],
        filter_text=f"task:{library[0].code}",
        mixes=[Mix(name, data, Decimal(3), HOSTILE)],
    )
    assert dataset.lint[0]["row"] == f"{name}:2"
    client = signed_in(Role.LEAD)
    for path in ("/datasets/", f"/datasets/{dataset.code}/"):
        html = page(client, path)
        assert "<script>alert" not in html
        assert "<img src=x" not in html
        assert "<b>a</b>" not in html
        assert "{{ 7|add:7 }}" in html or path == "/datasets/"
    assert "counts 3 times" in html


def test_an_unknown_code_is_not_found() -> None:
    page(signed_in(Role.LEAD), "/datasets/DS-0000/", 404)
    assert signed_in(Role.EDITOR).get("/datasets/DS-0000/download/jsonl/").status_code == 404


def test_a_dataset_that_failed_says_so_and_can_be_discarded(library: list[Task]) -> None:
    dataset = open_dataset(kind="demonstrations", name="n", by=None, filter_text="policy:refuse")
    job = Job.objects.create(
        kind="freeze_dataset", queue="light", state=JobState.FAILED, error="No row is left."
    )
    Dataset.objects.filter(pk=dataset.pk).update(job=job)
    client = signed_in(Role.LEAD)
    said = words(page(client, f"/datasets/{dataset.code}/"))
    assert "No row is left." in said
    assert "This dataset was never frozen." in said
    assert client.get(f"/datasets/{dataset.code}/download/jsonl/").status_code == 409
    answer = client.post(f"/datasets/{dataset.code}/discard/")
    assert (answer.status_code, answer["Location"]) == (303, "/datasets/")
    assert not Dataset.objects.exists()


def test_a_frozen_dataset_is_not_discarded(library: list[Task]) -> None:
    dataset = frozen()
    assert signed_in(Role.LEAD).post(f"/datasets/{dataset.code}/discard/").status_code == 409
    assert Dataset.objects.get().frozen_at is not None


# Deleting


def delete(client: Client, dataset: Dataset, status: int, **fields: str) -> Any:
    sent = {"name": dataset.name, "reason": "frozen by accident", **fields}
    answer = client.post(f"/datasets/{dataset.code}/delete/", sent)
    assert answer.status_code == status, answer.content[:2000]
    return answer


def test_a_lead_deletes_what_nothing_was_trained_on_with_name_and_reason(
    library: list[Task],
) -> None:
    dataset = frozen()
    client = signed_in(Role.LEAD)
    assert "Delete this dataset" in words(page(client, f"/datasets/{dataset.code}/"))
    wrong = words(delete(client, dataset, 422, name="other", reason=" ").content.decode())
    assert "This field is required." in wrong
    wrong = words(delete(client, dataset, 422, name="other").content.decode())
    assert f"Is not the name of this dataset. Type “{dataset.name}”." in wrong
    assert delete(client, dataset, 303)["Location"] == "/datasets/"
    assert (Dataset.objects.count(), DatasetItem.objects.count()) == (0, 0)
    entry = AuditEntry.objects.get(act="delete_dataset")
    assert (entry.subject, entry.detail["reason"], entry.detail["sha256"]) == (
        dataset.code, "frozen by accident", dataset.sha256,
    )  # fmt: skip
    assert frozen().sha256 == dataset.sha256  # the same selection once more


def test_what_a_run_was_trained_on_stays_and_the_page_names_the_run(library: list[Task]) -> None:
    dataset = frozen()
    run = made_run(Algorithm.SFT, dataset=dataset)
    client = signed_in(Role.LEAD)
    html = page(client, f"/datasets/{dataset.code}/")
    assert f"/runs/{run.code}/" in html
    assert "Delete this dataset" not in words(html)
    refused = words(delete(client, dataset, 409).content.decode())
    assert f"{dataset.code} stays: {run.code} was trained on it." in refused
    assert Dataset.objects.get().items.count() == 6


@pytest.mark.parametrize("role", [Role.VIEWER, Role.EDITOR])
def test_nobody_below_a_lead_deletes_a_dataset(library: list[Task], role: Role) -> None:
    dataset = frozen()
    client = signed_in(role)
    delete(client, dataset, 403)
    assert "Delete this dataset" not in words(page(client, f"/datasets/{dataset.code}/"))
    assert Dataset.objects.exists()


def test_the_database_lets_no_other_frozen_dataset_go_with_it(library: list[Task]) -> None:
    one, other = frozen(), frozen(name="other")
    with transaction.atomic():
        delete_dataset(dataset=one, name=one.name, reason="x", by=person("lead", Role.LEAD))
        with pytest.raises(IntegrityError, match="never changes"), transaction.atomic():
            other.delete()
    assert list(Dataset.objects.values_list("code", flat=True)) == [other.code]


# Exports


def body_of(answer: Any) -> bytes:
    """All bytes of a streamed answer."""
    return b"".join(answer.streaming_content)


def test_jsonl_is_the_file_of_the_manifest(library: list[Task]) -> None:
    dataset = frozen()
    client = signed_in(Role.VIEWER)
    for form, name in (("jsonl", "demonstrations.jsonl"), ("held_out.jsonl", "held_out.jsonl")):
        answer = client.get(f"/datasets/{dataset.code}/download/{form}/")
        data = body_of(answer)
        entry = dataset.manifest["files"][name]
        assert bytes_hash(data) == entry["sha256"] == answer["X-Content-SHA256"]
        assert answer["Content-Length"] == str(len(data))
        assert f'filename="{dataset.code}.{form}"' in answer["Content-Disposition"]


def test_parquet_holds_all_rows_with_their_split(library: list[Task], tmp_path: Path) -> None:
    client = signed_in(Role.LEAD)
    for dataset, column in ((frozen(), "messages"), (_prompts(), "prompt")):
        answer = client.get(f"/datasets/{dataset.code}/download/parquet/")
        rows = pq.read_table(io.BytesIO(body_of(answer))).to_pylist()
        assert [row["split"] for row in rows] == ["train"] * 4 + ["held_out"] * 2
        folder = tmp_path / dataset.code
        write_dataset(dataset, folder)
        first = orjson.loads((folder / f"{dataset.kind}.jsonl").read_bytes().splitlines()[0])
        assert [_without_nulls(message) for message in rows[0][column]] == [
            _without_nulls(message) for message in first[column]
        ]


def _prompts() -> Dataset:
    return frozen("p", "prompts", filter_text="state:proven")


def _without_nulls(message: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in message.items() if value is not None}


def test_the_zip_is_the_folder_and_the_same_each_time(library: list[Task], tmp_path: Path) -> None:
    dataset = frozen()
    client = signed_in(Role.LEAD)
    data = body_of(client.get(f"/datasets/{dataset.code}/download/zip/"))
    assert data == body_of(client.get(f"/datasets/{dataset.code}/download/zip/"))
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        archive.extractall(tmp_path)
    folder = tmp_path / dataset.code
    assert sorted(file.name for file in folder.iterdir()) == [
        "README.md",
        "demonstrations.jsonl",
        "held_out.jsonl",
        "manifest.json",
        "origins.jsonl",
    ]
    assert check_manifest(folder)["sha256"] == dataset.sha256
    assert f"# first ({dataset.code})" in (folder / "README.md").read_text()


def test_an_export_of_damaged_rows_fails_in_every_form(library: list[Task]) -> None:
    dataset = frozen()
    with connection.cursor() as cursor:
        cursor.execute("SET CONSTRAINTS ALL IMMEDIATE")
        cursor.execute("ALTER TABLE training_app_datasetitem DISABLE TRIGGER USER")
        cursor.execute(
            "UPDATE training_app_datasetitem SET copies = 0 WHERE dataset_id = %s AND position = 0",
            [dataset.pk],
        )
        cursor.execute("ALTER TABLE training_app_datasetitem ENABLE TRIGGER USER")
    client = signed_in(Role.LEAD)
    for form in ("parquet", "zip"):
        assert client.get(f"/datasets/{dataset.code}/download/{form}/").status_code == 500
    answer = client.get(f"/datasets/{dataset.code}/download/jsonl/")
    with pytest.raises(DatasetDamaged):
        body_of(answer)


def test_an_unknown_form_names_those_there_are(library: list[Task]) -> None:
    dataset = frozen(held_families=[])
    html = page(signed_in(Role.LEAD), f"/datasets/{dataset.code}/download/csv/", 404)
    assert "known are jsonl, held_out.jsonl, parquet, zip" in words(html)
