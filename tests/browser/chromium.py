"""Starts the Chromium that every browser check uses, quiet and without any call outside."""

import os
import shutil

from playwright.sync_api import Browser, Playwright, expect

PATIENCE = 60_000
"""Milliseconds that a page has to do what is expected: how busy a machine is proves nothing."""
FLAGS = (
    "--no-sandbox",  # as root, and in a container, there is none to have
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)


class NoChromium(RuntimeError):
    """Raised where no browser is installed; the message says how to get one."""


def executable() -> str:
    """Where Chromium is: CHROMIUM, else the first of the usual names on the path."""
    names = ("chromium", "chromium-browser", "google-chrome")
    paths = (os.environ.get("CHROMIUM"), *map(shutil.which, names))
    found = next((path for path in paths if path), None)
    if not found:
        raise NoChromium(
            "No Chromium found. Install it (Debian: apt-get install chromium) "
            "or name one in the variable CHROMIUM."
        )
    return found


def launch(playwright: Playwright) -> Browser:
    """A headless browser; expectations wait as long as pages do."""
    expect.set_options(timeout=PATIENCE)
    return playwright.chromium.launch(executable_path=executable(), headless=True, args=list(FLAGS))
