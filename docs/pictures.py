"""Takes the pictures of the README: `python -m docs.pictures`. Needs a Chromium.

They show the demo world in a private studio, so everybody gets the same ones. Colours are cut to a
palette: a picture stays far below 300 KB.
"""

import io
import sys
from typing import Final
from urllib.parse import quote

from PIL import Image
from playwright.sync_api import Page, sync_playwright

from docs.build import PAGES
from tests.browser.chromium import launch
from tests.browser.site import Person, private_site, sign_in_all

OUT: Final = PAGES / "images"
SIZE: Final = (1440, 900)
OWNER: Final = Person("amani", "R.", "Amani", "admin")
SHOWN: Final = "state:proven family:support_resolution difficulty:3"
"""A task with something to see: several rules, a refund, a letter."""


def first_of(page: Page, url: str, filter_text: str) -> str:
    """Return the address of the first row of a list under a filter."""
    page.goto(f"{url}?q={quote(filter_text)}")
    return page.locator("[data-open]").first.get_attribute("href") or ""


def save(page: Page, name: str) -> None:
    """Keep what is in sight."""
    page.evaluate("document.fonts.ready")
    picture = Image.open(io.BytesIO(page.screenshot()))
    small = picture.convert("RGB").quantize(colors=128, dither=Image.Dither.NONE)
    small.save(OUT / f"{name}.png", optimize=True)
    sys.stdout.write(f"{name}.png: {(OUT / f'{name}.png').stat().st_size // 1024} KB\n")


def main() -> int:
    """Take the pictures."""
    OUT.mkdir(exist_ok=True)
    with private_site(workers=True) as site, sync_playwright() as playwright:
        session = sign_in_all(site, (OWNER,))[OWNER.username]
        site.manage("seed_demo")
        browser = launch(playwright)
        context = browser.new_context(
            viewport={"width": SIZE[0], "height": SIZE[1]},
            color_scheme="light",
            reduced_motion="reduce",
            locale="en-GB",
            timezone_id="UTC",
        )
        context.add_cookies([{"name": "sessionid", "value": session, "url": site.url}])
        page = context.new_page()
        task = first_of(page, f"{site.url}/tasks/", SHOWN)
        page.goto(site.url + task)
        save(page, "task")
        code = task.strip("/").split("/")[1]
        site.manage("run_rollouts", "--policy", "reference", "--tasks", f"code:{code}")
        episode = first_of(page, f"{site.url}/episodes/", f"policy:reference task:{code}")
        page.goto(site.url + episode)
        # The first flip: a record has changed, and a check with it.
        page.keyboard.press("n")
        page.wait_for_timeout(500)
        save(page, "replay")
        browser.close()
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
