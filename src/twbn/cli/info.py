"""The command that shows how a table is read, what looks wrong, and what to do."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.table import Table as Grid

from twbn.cli.console import escape, flag, out, print_json
from twbn.cli.files import UNSET, read_data
from twbn.cli.options import AsJson, Data

if TYPE_CHECKING:
    from twbn.data.diagnosis import Diagnosis

__all__ = ["info", "learn_command"]

#: Most columns that are shown.
MAX_SHOWN = 60


def info(
    data: Data,
    reading: dict[str, Any],
    as_json: AsJson = False,
) -> None:
    """Show how a table is read, what looks wrong, and a command that learns from it."""
    table = read_data(data, reading)
    found = table.diagnosis()
    command = learn_command(data, reading, found)
    if as_json:
        print_json({**found.document(), "weighted": table.weights is not None, "command": command})
        return
    out.print(f"[bold]{escape(str(data))}[/]: {table.n_rows:,} rows, {table.n_variables} variables")
    out.print(_grid(found))
    if table.n_variables > MAX_SHOWN:
        out.print(f"… and {table.n_variables - MAX_SHOWN} more")
    for finding in found.findings:
        mark = "[red]unusable:[/]" if finding.unusable else "note:"
        mend = "" if finding.unusable else _mending(finding.remedy)
        out.print(f"{mark} {escape(finding.column)} {escape(finding.message)}{escape(mend)}")
    out.print(f"to learn: {escape(command)}")


def _mending(remedy: tuple[tuple[str, Any], ...]) -> str:
    """Return the options that would mend what is only worth a note."""
    words = []
    for name, value in remedy:
        items = value if isinstance(value, tuple) else (value,)
        words += [f"{flag(name)}={shlex.quote(str(item))}" for item in items[:3]]
        words += ["…"] if items[3:] else []
    return f" ({' '.join(words)})" if words else ""


def _grid(found: Diagnosis) -> Grid:
    """Return a line for each column: what it was taken for, its states, its missing cells."""
    grid = Grid(box=None, pad_edge=False)
    for title, side in (
        ("variable", "left"),
        ("taken for", "left"),
        ("states", "right"),
        ("missing", "right"),
        ("", "left"),
    ):
        grid.add_column(title, justify=side)  # type: ignore[arg-type]
    for column in found.columns[:MAX_SHOWN]:
        states = ", ".join(str(state) for state in column.states[:6])
        more = ", …" if len(column.states) > 6 else ""
        absent = f"{column.share_missing:.1%}" if column.n_missing else ""
        grid.add_row(
            escape(column.name),
            column.kind,
            str(len(column.states)),
            absent,
            escape(states + more),
        )
    return grid


def learn_command(data: Path, reading: dict[str, Any], found: Diagnosis) -> str:
    """Return a command that learns from a file, with the options that it needs."""
    options = {name: value for name, value in reading.items() if value != UNSET[name]}
    for name, value in found.remedy.items():
        options[name] = [*options.get(name, []), *value] if isinstance(value, list) else value
    words = ["twbn", "learn", str(data)]
    for name, value in options.items():
        if name == "header":
            words.append("--header" if value else "--no-header")
            continue
        if value is True:
            words.append(flag(name))
            continue
        for item in value if isinstance(value, list) else [value]:
            words += [flag(name), str(item)]
    return shlex.join(words)
