"""What every test run does; the servers themselves start in tests/settings.py."""

import os

import pytest
from hypothesis import HealthCheck, settings

from tests.factories.pages import ClientOf, signed_in

# How long it takes to draw an example says how busy the machine is, not whether the code is right.
settings.register_profile("studio", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("studio")


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Repeat a linter's complaint right above the closing line, where it is seen."""
    complained = os.environ.get("STUDIO_LINT_FAILED")
    if complained:
        terminalreporter.section("lint failed: see above", red=True, bold=True)
        terminalreporter.write_line(complained)


@pytest.fixture
def client_of(db: None) -> ClientOf:
    """A client signed in as somebody of a role; None: nobody."""
    return signed_in
