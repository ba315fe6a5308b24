"""A process that is killed in the middle of a model's batch: nothing that it bought is lost."""

import os
import subprocess
import sys
import threading
from pathlib import Path
from urllib.parse import urlsplit, urlunsplit

import pytest
from django.db import connection

from rollouts_app.jobs import MODEL_KIND
from studio.web import jobs
from tasks_app.models import ModelCall
from tests.factories.chat_stub import Handler, chat_stub, said
from tests.factories.specs import small_spec
from tests.rollouts_app.conftest import stored
from tests.rollouts_app.test_model_batches import CLOSE, acted, lab, opened

PROJECT = Path(__file__).parents[2]


def environment() -> dict[str, str]:
    """What another process needs to see this test's database."""
    parts = urlsplit(os.environ["DATABASE_URL"])
    name = str(connection.settings_dict["NAME"])
    return {
        **os.environ,
        "DATABASE_URL": urlunsplit(parts._replace(path=f"/{name}")),
        "DJANGO_SETTINGS_MODULE": "studio.settings",
    }


@pytest.mark.django_db(transaction=True)
def test_after_kill_9_not_one_stored_call_is_bought_again() -> None:
    stored(small_spec())
    enough = threading.Event()

    def answer(handler: Handler) -> None:
        if len(handler.stub.asked) == 13:
            enough.set()
        (said("Closed.") if acted(handler) else said(calls=[CLOSE]))(handler)

    with chat_stub(answer) as stub:
        lab(stub)
        batch = opened(n=60, concurrency=4)
        script = (
            "import django; django.setup()\n"
            "from studio.web import jobs\n"
            f"jobs.run_inline({MODEL_KIND!r}, {{'batch': {batch.code!r}}})\n"
        )
        process = subprocess.Popen([sys.executable, "-c", script], cwd=PROJECT, env=environment())
        try:
            assert enough.wait(60)
        finally:
            process.kill()
        assert process.wait(10) == -9
        bought, kept = len(stub.asked), ModelCall.objects.count()
        assert 0 < kept <= bought < 120
        jobs.run_inline(MODEL_KIND, {"batch": batch.code})
        batch.refresh_from_db()
        assert (batch.graded, batch.failed, batch.mean_reward) == (60, 0, 1.0)
        # only answers that were still under way when the process died are asked for again
        assert len(stub.asked) - bought == 120 - kept
        assert ModelCall.objects.count() == 120
