"""The browser of the checks that go to pages served by this very process."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, sync_playwright

from tests.browser.chromium import NoChromium, executable, launch


@pytest.fixture(scope="module")
def beside() -> Iterator[Browser]:
    """One Chromium for the module, beside Django in the same process."""
    try:
        executable()
    except NoChromium as missing:
        pytest.skip(str(missing))
    # Playwright's loop runs in this thread, which Django would take for asynchronous code.
    with pytest.MonkeyPatch.context() as patch, sync_playwright() as playwright:
        patch.setenv("DJANGO_ALLOW_ASYNC_UNSAFE", "true")
        found = launch(playwright)
        yield found
        found.close()
