"""Freezing a dataset in a browser: the preview follows the form, the page follows the job."""

import re
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect
from pytest_django.live_server_helper import LiveServer

from studio.web import jobs
from studio.web.choices import Role
from tests.browser.visitor import visiting
from tests.factories.people import person
from tests.training_app.library import rolled_out_library
from training_app.models import Dataset

pytestmark = [pytest.mark.browser, pytest.mark.slow, pytest.mark.django_db(transaction=True)]
CHAT = '{"messages": [{"role": "user", "content": "?"}, {"role": "assistant", "content": "!"}]}\n'


def test_the_preview_follows_the_form_and_the_page_the_job(
    beside: Browser, live_server: LiveServer, tmp_path: Path
) -> None:
    rolled_out_library(3, 1)
    chat = tmp_path / "chat.jsonl"
    chat.write_text(CHAT)
    with visiting(beside, live_server.url, person("lead", Role.LEAD)) as lead:
        page = lead.open("/datasets/")
        preview = page.locator("#preview")
        expect(preview).to_contain_text("3 to train on, 1 held out, of 12.")
        page.get_by_label("The same calls on the same task").select_option("all")
        expect(preview).to_contain_text("6 to train on, 2 held out, of 12.")
        page.get_by_label("Only episodes that passed").uncheck()
        expect(preview).to_contain_text("9 to train on, 3 held out, of 12.")
        page.get_by_label("Filter").fill("policy:refuse colour:red")
        expect(preview).to_contain_text("There is no filter “colour” here.")
        page.get_by_label("Filter").fill("policy:reference")
        expect(preview).to_contain_text("6 to train on, 2 held out, of 8.")
        assert page.evaluate("document.activeElement.name") == "filter"
        page.get_by_text("Mix in rows from outside").click()
        page.get_by_label("Mix in a file").set_input_files(chat)
        page.get_by_label("Weight").fill("2")
        page.get_by_label("Name").fill("By hand")
        page.keyboard.press("Control+Enter")
        page.wait_for_url(re.compile(r"/datasets/DS-\w+/$"))
        live = page.locator("#dataset-live")
        expect(live).to_contain_text("waiting for a worker")
        dataset = Dataset.objects.get()
        assert dataset.job is not None
        jobs.run_job(dataset.job.pk)
        expect(live).to_contain_text("Train on this")
        expect(live).to_contain_text("To train on8rows")
        with page.expect_download() as taken:
            page.keyboard.press("e")
        assert taken.value.suggested_filename == f"{dataset.code}.jsonl"
        assert Path(taken.value.path()).read_bytes().count(b"\n") == 8
