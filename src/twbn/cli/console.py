"""Console output of the commands."""

from __future__ import annotations

import json
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Protocol

from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn
from rich.status import Status

from twbn.errors import Option, Part, Setting, TwbnError
from twbn.progress_bar import bar_line

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from pathlib import Path

    from twbn.search.run import Progress as SearchProgress

__all__ = [
    "complain",
    "err",
    "escape",
    "flag",
    "out",
    "print_json",
    "progress_bar",
    "say_written",
    "search_status",
    "show_notes",
    "spelled",
]

#: Options whose names on the command line differ from those in Python.
FLAGS = {
    "roots": "--root",
    "leaves": "--leaf",
    "ancestors": "--ancestor",
    "non_ancestors": "--non-ancestor",
    "tiers": "--tier",
    "variables": "--query",
}

out = Console(highlight=False, soft_wrap=True, emoji=False)
err = Console(stderr=True, highlight=False, soft_wrap=True, emoji=False)


class Report(Protocol):
    """Shows how much of the work is done."""

    def __call__(self, done: int, total: int, /) -> None:
        """Show the progress."""
        ...


def spelled(error: TwbnError) -> str:
    """Return the message of an error in the words of the command line."""
    return error.spelled(_spell)


def _spell(part: Part) -> str:
    if isinstance(part, Option):
        return flag(part.name)
    if isinstance(part, Setting):
        values = part.value if isinstance(part.value, list) else [part.value]
        return " ".join(f"{flag(part.option)} {value!r}" for value in values)
    return str(part)


def flag(option: str) -> str:
    """Return the name of an option on the command line."""
    return FLAGS.get(option, "--" + option.replace("_", "-"))


def complain(message: str, code: int) -> int:
    """Print an error and return the exit code."""
    if message:  # empty when click has shown the help instead
        err.print(f"[bold red]error:[/] {escape(message)}")
    return code


def print_json(value: dict[str, Any]) -> None:
    """Print one object on one line."""
    print(json.dumps(value, ensure_ascii=False))


def show_notes(notes: Iterable[str]) -> None:
    """Print the notes of a result."""
    for note in notes:
        out.print(f"note: {escape(note)}")


def say_written(paths: Sequence[Path | None]) -> None:
    """Say which files were written."""
    for path in paths:
        if path is not None:
            out.print(f"written to {escape(str(path))}")


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


@contextmanager
def search_status(
    time_limit: float | None = None, *, quiet: bool
) -> Iterator[SearchProgress | None]:
    """Show a bar towards the limit, iterations and best score on a terminal; nothing in a pipe."""
    if quiet or not err.is_terminal:
        yield None
        return
    with Status("scoring parent sets", console=err) as status:
        yield lambda seconds, iterations, best: status.update(
            escape(bar_line(time_limit, seconds, iterations, best))
        )
