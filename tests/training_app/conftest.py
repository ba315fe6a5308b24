"""Runs whose engine is a stub, in a folder of their own."""

import sys
from pathlib import Path
from typing import Any

import pytest
from django.conf import LazySettings
from django.test import Client

from studio.web.choices import Role
from tests.factories import engine_stub
from tests.factories.pages import ClientOf
from training_app.core.recipe import preset
from training_app.core.run_dir import RunDir
from training_app.models import TrainingRun
from training_app.operations.runs import open_run

SHARES = {"n": 40, "success": 0.5, "low": 0.35, "high": 0.65, "reward": 0.6}
"""What a measurement came to, as a run's result tells it."""
SMALL = {"steps": 6, "batch": 4, "save_every": 2}


@pytest.fixture
def studio(settings: LazySettings, tmp_path: Path) -> Path:
    """The studio's own folder, empty, and the stub as its engine."""
    settings.VAR_DIR = tmp_path / "var"
    settings.STUDIO_ENGINE = [sys.executable, str(engine_stub.__file__)]
    settings.STUDIO_ENGINE_PATIENCE = 1
    return tmp_path / "var"


def opened(**changes: Any) -> TrainingRun:
    """A small SFT run, opened and not started."""
    return open_run(preset="cpu-tiny-sft", changes={**SMALL, **changes}, by=None)


def in_folder(run: TrainingRun, folder: Path, log: str = "") -> RunDir:
    """Give a run a directory of its own."""
    made = RunDir.create(folder / run.code, preset(run.preset))
    TrainingRun.objects.filter(pk=run.pk).update(path=str(made.path))
    run.refresh_from_db()
    made.log_file.write_text(log, encoding="utf-8")
    return made


@pytest.fixture
def viewer(client_of: ClientOf) -> Client:
    """A viewer's browser."""
    return client_of(Role.VIEWER)


@pytest.fixture
def editor(client_of: ClientOf) -> Client:
    """An editor's browser."""
    return client_of(Role.EDITOR)
