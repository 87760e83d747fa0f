"""How smoothly the page of a network moves, and how fast it answers, in a real browser.

python benchmarks/bench_page.py [--networks alarm andes]

Counts the frames that the browser draws while a drawing is dragged, from its own tracing, and times
clicks on states up to the next frame. Needs Playwright and Chromium. Data: TWBN_SHARED, by default
../shared beside the project.
"""

from __future__ import annotations

import argparse
import itertools
import json
import os
import shutil
import statistics
import tempfile
import time
import warnings
from pathlib import Path
from typing import Any

from playwright.sync_api import sync_playwright

import twbn

SHARED = Path(os.environ.get("TWBN_SHARED", Path(__file__).parents[2] / "shared"))
FLAGS = ["--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking"]
#: Seconds of dragging, and events that say that a frame was drawn.
SECONDS, FRAME = 2.0, "DrawFrame"


def frames_drawn(browser: Any, page: Any) -> tuple[float, float]:
    """Return frames a second while the drawing is dragged, and the longest time between two."""
    box = page.locator("#network").bounding_box()
    x, y = box["x"] + box["width"] / 2, box["y"] + 12
    page.mouse.move(x, y)
    page.mouse.down()
    for step in range(10):  # under way before the frames are counted
        page.mouse.move(x + step, y)
    browser.start_tracing(
        page=page, categories=["devtools.timeline", "disabled-by-default-devtools.timeline.frame"]
    )
    begun, step = time.perf_counter(), 0
    while time.perf_counter() - begun < SECONDS:
        step += 1
        page.mouse.move(x + 40 * ((step % 50) / 25 - 1), y + step % 30)
    trace = json.loads(browser.stop_tracing())
    page.mouse.up()
    times = sorted(e["ts"] for e in trace["traceEvents"] if e["name"] == FRAME)
    gaps = [(b - a) / 1000 for a, b in itertools.pairwise(times)]
    return 1e6 * (len(times) - 1) / (times[-1] - times[0]), max(gaps)


def milliseconds_to_answer(page: Any) -> list[float]:
    """Return the time of each of several clicks on states, until the next frame begins."""
    found: list[float] = page.evaluate(
        """async () => {
          const cards = [...document.querySelectorAll(".card")];
          const times = [];
          for (let i = 0; i < 30; i++) {
            const button = cards[(7 * i) % cards.length].querySelector(".state");
            await new Promise(requestAnimationFrame);
            const begun = performance.now();
            button.click();
            await new Promise(requestAnimationFrame);
            times.push(performance.now() - begun);
          }
          return times;
        }"""
    )
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--networks", nargs="+", default=["asia", "alarm", "andes"])
    wanted = parser.parse_args()
    path = next(filter(None, map(shutil.which, ("chromium", "chromium-browser"))), None)
    titles = ("frames/s", "longest ms", "click ms", "slowest ms")
    print(f"{'network':10}" + "".join(f"{title:>12}" for title in titles))
    with sync_playwright() as driver, tempfile.TemporaryDirectory() as folder:
        browser = driver.chromium.launch(executable_path=path, args=FLAGS)
        for name in wanted.networks:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # rows of the file that do not quite sum to one
                network = twbn.read_network(SHARED / "bif" / f"{name}.bif")
            file = Path(folder, f"{name}.html")
            twbn.write_report(network, file)
            page = browser.new_page(viewport={"width": 1280, "height": 900})
            page.goto(file.as_uri())
            rate, longest = frames_drawn(browser, page)
            clicks = milliseconds_to_answer(page)
            line = (
                f"{rate:12.1f}{longest:12.1f}{statistics.median(clicks):12.1f}{max(clicks):12.1f}"
            )
            print(f"{name:10}{line}", flush=True)
            page.close()
        browser.close()


if __name__ == "__main__":
    main()
