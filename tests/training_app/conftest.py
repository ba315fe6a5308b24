"""Runs whose engine is a stub, in a folder of their own."""

import sys
from pathlib import Path
from typing import Any

import pytest
from django.conf import LazySettings

from tests.factories import engine_stub
from training_app.models import TrainingRun
from training_app.operations.runs import open_run

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
