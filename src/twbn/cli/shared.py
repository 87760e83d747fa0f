"""What the commands do alike: read, report, print, refuse."""

from __future__ import annotations

import json
import re
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Protocol

from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

import twbn
from twbn.data.columns import GAPS
from twbn.data.discretize import Discretize
from twbn.errors import OptionError, TwbnError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

__all__ = [
    "as_options",
    "check_target",
    "complain",
    "data_options",
    "err",
    "escape",
    "out",
    "print_json",
    "progress_bar",
    "read_data",
]

#: Options of functions that have other names on the command line.
OPTIONS = {
    "time_limit": "--time-limit",
    "max_iterations": "--iterations",
    "max_parents": "--max-parents",
    "memory_limit": "--memory-limit",
    "n_jobs": "--jobs",
    "n_rows": "--rows",
    "seed": "--seed",
    "ess": "--ess",
    "budget": "--budget",
    "treewidth": "--treewidth",
}

out = Console(highlight=False, soft_wrap=True, emoji=False)
err = Console(stderr=True, highlight=False, soft_wrap=True, emoji=False)


class Report(Protocol):
    """Shows how much of the work is done."""

    def __call__(self, done: int, total: int, /) -> None:
        """Show it."""
        ...


def data_options(
    delimiter: str | None,
    header: bool | None,
    discretize: str,
    bins: int,
    drop: list[str] | None,
    weights: str | None,
    missing: list[str] | None,
) -> dict[str, Any]:
    """Collect how a table is to be read; `read_data` takes it, and a result file keeps it."""
    return {
        "delimiter": "\t" if delimiter in {"\\t", "tab"} else delimiter,
        "header": header,
        "discretize": discretize,
        "bins": bins,
        "drop": drop or [],
        "weights": weights,
        "missing": missing or [],
    }


def read_data(path: Path, options: dict[str, Any], like: twbn.Table | None = None) -> twbn.Table:
    """Read a table, coded like another if one is given; errors speak of command-line options."""
    try:
        return twbn.read_table(
            path,
            delimiter=options.get("delimiter"),
            header=options.get("header"),
            discretize=Discretize(options.get("discretize", "median"), bins=options.get("bins", 4)),
            drop=options.get("drop", ()),
            weights=options.get("weights"),
            missing=(*GAPS, *options.get("missing", ())),
            like=like,
        )
    except TwbnError as error:
        raise type(error)(as_options(str(error))) from None


def check_target(path: Path | None) -> None:
    """Refuse a file that cannot be written before any work is done."""
    if path is not None and not path.parent.is_dir():
        msg = f"{path.parent} is not a folder"
        raise OptionError(msg)
    if path is not None and path.is_dir():
        msg = f"{path} is a folder, not a file to write"
        raise OptionError(msg)


def as_options(message: str) -> str:
    """Say an error's advice in the words of the command line."""
    message = re.sub(r"drop=\['([^']*)'\]", r"--drop '\1'", message)
    message = re.sub(r"^(\w+)(?= must be)", lambda name: OPTIONS.get(name[1], name[1]), message)
    return message.replace("max_parents=", "--max-parents ").replace("budget=", "--budget ")


@contextmanager
def progress_bar(title: str, *, quiet: bool) -> Iterator[Report | None]:
    """Show a bar on a terminal; nothing in a pipe."""
    if quiet or not err.is_terminal:
        yield None
        return
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        TextColumn("{task.percentage:>3.0f} %"),
    )
    with Progress(*columns, TimeElapsedColumn(), console=err, transient=True) as bar:
        task = bar.add_task(title)
        yield lambda done, total: bar.update(task, completed=done, total=total)


def print_json(value: dict[str, Any]) -> None:
    """Print one object on one line."""
    print(json.dumps(value, ensure_ascii=False))


def complain(message: str, code: int) -> int:
    """Print an error and return the exit code."""
    if message:  # none when click has shown the help instead
        err.print(f"[bold red]error:[/] {escape(message)}")
    return code
