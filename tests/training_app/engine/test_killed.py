"""The true engine trains while the database under its studio is killed by signal 9."""

import os
import signal
from pathlib import Path

import psycopg
import pytest

pytest.importorskip("torch", reason="the train extra is not installed")
pytest.importorskip("trl", reason="the train extra is not installed")

from tests.browser.site import Site, private_site
from tests.factories.waiting import until
from tests.training_app.engine.marks import ENGINE
from tests.training_app.engine.small import NOTHING, TINY
from training_app.core.run_dir import RunDir

pytestmark = [*ENGINE, pytest.mark.slow]
STEPS = 150
START = f"""
from training_app.jobs.runs import start_run
print(start_run(preset="cpu-tiny-sft", by=None, changes={{
    "steps": {STEPS}, "batch": 4, "save_every": 50, "tiny": {dict(TINY)},
    "demonstrations.tasks": 8, "measure": {dict(NOTHING)}}}).code)
"""


def asked(site: Site, query: str) -> list[str]:
    """The first column of an answer; nothing while the database does not answer."""
    try:
        with psycopg.connect(site.environment["DATABASE_URL"], connect_timeout=5) as connection:
            return [str(row[0]) for row in connection.execute(query.encode()).fetchall()]
    except psycopg.OperationalError:
        return []


def test_a_run_trains_on_while_its_database_is_killed_and_loses_no_step() -> None:
    with private_site(workers=True) as site:
        code = site.python(START).split()[-1]
        var = Path(site.environment["STUDIO_VAR"])
        directory = RunDir(var / "runs" / code)
        until(lambda: len(directory.read().rows) > 2)
        postmaster = var / "postgres" / "postmaster.pid"
        killed = int(postmaster.read_text().split()[0])
        os.kill(killed, signal.SIGKILL)
        seen = len(directory.read().rows)
        until(lambda: len(directory.read().rows) > seen)
        until(lambda: asked(site, "SELECT state FROM training_app_trainingrun") == ["succeeded"])
        assert int(postmaster.read_text().split()[0]) != killed
        steps = asked(site, "SELECT step FROM training_app_metricrow ORDER BY step")
        assert steps == [str(step) for step in range(1, STEPS + 1)]
        assert asked(site, "SELECT state || ' ' || attempt FROM web_job") == ["succeeded 1"]
        assert [checkpoint.step for checkpoint in directory.list_checkpoints()] == [50, 100, 150]
