"""A real browser for tests: Debian's Chromium, driven by Playwright."""

from __future__ import annotations

import os
import shutil
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

__all__ = ["Watched", "chromium", "opened"]

NAMES = ("chromium", "chromium-browser", "google-chrome")
# No screen, no sandbox for root, and nothing that calls home.
FLAGS = (
    "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync",
)  # fmt: skip


@contextmanager
def chromium() -> Iterator[Any]:
    """Give a browser, or skip the test; with TWBN_BROWSER=required its absence is a failure."""
    path = next(filter(None, map(shutil.which, NAMES)), None)
    if path is None:
        message = f"no browser here: none of {', '.join(NAMES)} is on the path"
        if os.environ.get("TWBN_BROWSER") == "required":
            pytest.fail(message)
        pytest.skip(message)
    playwright = pytest.importorskip("playwright.sync_api")
    with playwright.sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=path, args=list(FLAGS))
        yield browser
        browser.close()


class Watched:
    """A page, and everything that it should not have done."""

    def __init__(self, page: Any) -> None:
        self.page = page
        self.complaints: list[str] = []
        self.requests: list[str] = []
        page.on("pageerror", lambda error: self.complaints.append(str(error)))
        page.on("console", lambda message: self.complaints.append(message.text))
        page.on("dialog", self._dialog)
        page.on("request", lambda request: self.requests.append(request.url))

    def _dialog(self, dialog: Any) -> None:
        self.complaints.append(f"dialog: {dialog.message}")
        dialog.dismiss()


@contextmanager
def opened(browser: Any, path: Path, *, scheme: str = "light") -> Iterator[Watched]:
    """Open a file; afterwards nothing may have gone wrong, and nothing else been asked for."""
    context = browser.new_context(
        viewport={"width": 1500, "height": 1000}, color_scheme=scheme, reduced_motion="reduce"
    )
    watched = Watched(context.new_page())
    watched.page.goto(path.as_uri())
    yield watched
    assert watched.complaints == []
    assert watched.requests == [path.as_uri()]
    context.close()
