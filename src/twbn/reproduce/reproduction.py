"""Reproduction of the paper: run the missing cells and write the page."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from twbn.report.document import to_html, to_markdown
from twbn.report.template import require_packages
from twbn.reproduce.figures import bounds_figure, relative_figure
from twbn.reproduce.page import TITLE, page
from twbn.reproduce.plan import PARTS, plan
from twbn.reproduce.run import Data, absent, run_cells
from twbn.reproduce.store import Store

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    from twbn.reproduce.plan import Cell, Size

__all__ = ["Reproduction", "reproduce", "write_page"]


@dataclass(frozen=True)
class Reproduction:
    """The outcome of a reproduction."""

    page: Path
    n_cells: int
    missing: Mapping[str, str]


def reproduce(
    parts: Sequence[str],
    size: Size,
    *,
    data: Path,
    folder: Path,
    n_jobs: int = 1,
    version: str,
    command: str,
    on_done: Callable[[Cell, int, int], None] | None = None,
) -> Reproduction:
    """Run the cells of the parts that are not in ``folder/results.csv`` and write the page.

    Parameters
    ----------
    parts
        Names in `PARTS`; an empty sequence means all.
    data
        Folder with ``uci/raw``, ``bif`` and ``density``. Data sets that are absent are skipped, and
        the page says so.
    folder
        Output folder for ``results.csv``, ``index.html``, ``page.md`` and the figures.
    on_done
        Called after every cell with (cell, cells done, total number of cells).
    """
    require_packages()  # before hours of work, not after them
    parts = list(parts) or list(PARTS)
    source = Data(data)
    cells = plan(parts, size)
    store = Store(folder / "results.csv", version=version, command=command)
    missing = absent(cells, source)
    present = [cell for cell in cells if cell.data not in missing]
    run_cells(present, store, source, n_jobs=n_jobs, on_done=on_done)
    return Reproduction(
        write_page(store, size, parts, folder, version, command, missing), len(present), missing
    )


def write_page(
    store: Store,
    size: Size,
    parts: Sequence[str],
    folder: Path,
    version: str,
    command: str,
    missing: Mapping[str, str],
) -> Path:
    """Draw the figures and write the page, as HTML and as Markdown."""
    pictures = {}
    if "figures" in parts:
        for k in (4, 10):
            pictures[f"figure{k}"] = relative_figure(store, size, k, folder)
    if "study" in parts:
        pictures["bounds"] = bounds_figure(store, size, folder)
    sections = page(store, size, parts, command=command, missing=missing, pictures=pictures)
    (folder / "page.md").write_text(to_markdown(TITLE, sections), encoding="utf-8")
    html = folder / "index.html"
    html.write_text(to_html(TITLE, sections, version=version), encoding="utf-8")
    return html
