"""Somebody signed in, in a browser of their own, and everything that went wrong on their pages."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from django.conf import settings
from django.test import Client
from playwright.sync_api import Browser, BrowserContext, ConsoleMessage, Page, Request

from studio.web.models import User
from tests.browser.chromium import PATIENCE

# Reports of the content security policy, those of inline handlers too, before any page script runs.
_LISTEN = """
window.__reports = [];
document.addEventListener('securitypolicyviolation', (event) => {
  window.__reports.push(event.violatedDirective + ' ' + (event.blockedURI || event.sample));
});
"""


@dataclass
class Visitor:
    """One browser context: cookies, storage and pages of its own."""

    url: str
    context: BrowserContext
    faults: list[str] = field(default_factory=list)
    """Script errors, console errors, dialogs, requests to other hosts."""

    def page(self) -> Page:
        """A new page that is watched."""
        page = self.context.new_page()
        page.set_default_timeout(PATIENCE)
        page.on("pageerror", lambda error: self.faults.append(f"script error: {error}"))
        page.on("dialog", lambda dialog: self.faults.append(f"dialog: {dialog.message}"))
        page.on("console", self._heard)
        page.on("request", self._asked)
        return page

    def open(self, path: str) -> Page:
        """A new page at an address of the studio."""
        page = self.page()
        page.goto(self.url + path)
        return page

    def _heard(self, message: ConsoleMessage) -> None:
        # The browser itself logs each answer that is not 2xx; the status is judged elsewhere.
        if message.type == "error" and "Failed to load resource" not in message.text:
            self.faults.append(f"console: {message.text}")

    def _asked(self, request: Request) -> None:
        if not request.url.startswith((self.url, "data:", "blob:")):
            self.faults.append(f"asked another host: {request.url[:80]}")


@contextmanager
def visiting(browser: Browser, url: str, who: User, *, width: int = 1440) -> Iterator[Visitor]:
    """A browser in which somebody is signed in; at the end nothing may have gone wrong."""
    client = Client()
    client.force_login(who)
    context = browser.new_context(
        viewport={"width": width, "height": 900}, reduced_motion="reduce", locale="en-GB"
    )
    name = settings.SESSION_COOKIE_NAME
    context.add_cookies([{"name": name, "value": client.cookies[name].value, "url": url}])
    context.add_init_script(_LISTEN)
    visitor = Visitor(url, context)
    try:
        yield visitor
    finally:
        context.close()
    if visitor.faults:
        raise AssertionError("\n".join(visitor.faults))
