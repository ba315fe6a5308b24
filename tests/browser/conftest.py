"""The browsers of the checks: beside a studio of its own, or beside Django in this very process."""

from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from playwright.sync_api import Browser, sync_playwright

from tests.browser.chromium import NoChromium, executable, launch


@contextmanager
def opened() -> Iterator[Browser]:
    """Open a Chromium; the tests are skipped where there is none."""
    try:
        executable()
    except NoChromium as missing:
        pytest.skip(str(missing))
    with sync_playwright() as playwright:
        found = launch(playwright)
        yield found
        found.close()


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """One Chromium for the module."""
    with opened() as found:
        yield found


@pytest.fixture(scope="module")
def beside() -> Iterator[Browser]:
    """One Chromium for the module, beside Django in the same process."""
    # Playwright's loop runs in this thread, which Django would take for asynchronous code.
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("DJANGO_ALLOW_ASYNC_UNSAFE", "true")
        with opened() as found:
            yield found
