"""The command that reruns the paper's experiments."""

from __future__ import annotations

import os
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

import twbn
from twbn.checks import checked_n_jobs
from twbn.cli.console import err, escape, out
from twbn.cli.options import Jobs
from twbn.errors import Option, OptionError
from twbn.reproduce import PARTS, SIZES
from twbn.reproduce import reproduce as run_reproduction

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from twbn.reproduce import Cell

__all__ = ["reproduce"]

ABOUT = "; ".join(f"{name}: {what}" for name, what in PARTS.items())


def reproduce(
    parts: Annotated[
        list[str] | None, typer.Argument(help=f"{ABOUT}. All by default.", metavar="[PART]...")
    ] = None,
    size: Annotated[
        str,
        typer.Option(help="quick (minutes), standard (an hour), paper (its own budgets)."),
    ] = "quick",
    budget: Annotated[
        float | None, typer.Option(help="Seconds for each run, overriding the size.")
    ] = None,
    data: Annotated[
        Path, typer.Option(help="Folder with uci/raw, bif and density.", envvar="TWBN_SHARED")
    ] = Path("../shared"),
    folder: Annotated[
        Path | None,
        typer.Option("-o", "--out", help="Folder for results.csv and the page.", metavar="FOLDER"),
    ] = None,
    n_jobs: Jobs = -1,
) -> None:
    """Rerun the paper's tables and figures; rerun the same command to resume."""
    if size not in SIZES:
        problem = f" must be one of {', '.join(SIZES)}, got {size!r}"
        raise OptionError(Option("size"), problem)
    chosen = SIZES[size] if budget is None else SIZES[size].scaled(budget)
    target = folder or Path("reproduction") / size
    if target.exists() and not target.is_dir():
        msg = f"{target} is not a folder"
        raise OptionError(msg)
    command = " ".join(["twbn reproduce", *(parts or []), f"--size {size}"])
    command += "" if budget is None else f" --budget {budget:g}"
    try:
        with _progress() as report:
            done = run_reproduction(
                parts or [],
                chosen,
                data=data,
                folder=target,
                n_jobs=checked_n_jobs(n_jobs),
                version=twbn.__version__,
                command=command,
                on_done=report,
            )
    except KeyboardInterrupt:
        # Runs in other threads cannot be interrupted; what is finished is on the disk.
        err.print("interrupted; finished runs are kept; rerun the same command to resume")
        os._exit(1)
    for name, reason in done.missing.items():
        out.print(f"no data for {escape(name)}: {escape(reason)}")
    out.print(f"{done.n_cells} runs; the page is {escape(str(done.page))}")


@contextmanager
def _progress() -> Iterator[Callable[[Cell, int, int], None]]:
    """Show a progress bar on a terminal, and an occasional line in a pipe."""
    if not err.is_terminal:
        yield (
            lambda cell, n, of: (
                err.print(f"{n} of {of}: {cell.study} {cell.data} {cell.treewidth} {cell.method}")
                if n % 25 == 0 or n == of
                else None
            )
        )
        return
    columns = (TextColumn("{task.description:40}"), BarColumn(), MofNCompleteColumn())
    with Progress(*columns, TimeElapsedColumn(), console=err) as bar:
        task = bar.add_task("starting")
        yield lambda cell, n, of: bar.update(
            task,
            completed=n,
            total=of,
            description=f"{cell.study}: {cell.data}, limit {cell.treewidth}, {cell.method}",
        )
