"""The command that shows how a table is read."""

from __future__ import annotations

from typing import Any

from rich.table import Table as Grid

from twbn.cli.console import escape, out, print_json
from twbn.cli.files import read_data
from twbn.cli.options import AsJson, Data

__all__ = ["info"]


def info(
    data: Data,
    reading: dict[str, Any],
    as_json: AsJson = False,
) -> None:
    """Show how a table is read: its variables, their states, its missing cells."""
    table = read_data(data, reading)
    if as_json:
        print_json(
            {
                "n_rows": table.n_rows,
                "n_variables": table.n_variables,
                "n_missing": int(table.n_missing.sum()),
                "weighted": table.weights is not None,
                "variables": [
                    {"name": name, "states": list(states), "n_missing": int(missing_cells)}
                    for name, states, missing_cells in zip(
                        table.names, table.states, table.n_missing, strict=True
                    )
                ],
            }
        )
        return
    out.print(f"[bold]{escape(str(data))}[/]: {table.n_rows:,} rows, {table.n_variables} variables")
    grid = Grid(box=None, pad_edge=False)
    for title, side in (
        ("variable", "left"),
        ("states", "right"),
        ("missing", "right"),
        ("", "left"),
    ):
        grid.add_column(title, justify=side)  # type: ignore[arg-type]
    for v in range(min(table.n_variables, 60)):
        states = ", ".join(str(state) for state in table.states[v][:6])
        more = ", …" if len(table.states[v]) > 6 else ""
        absent = str(table.n_missing[v]) if table.n_missing[v] else ""
        grid.add_row(escape(table.names[v]), str(table.n_states[v]), absent, escape(states + more))
    out.print(grid)
    if table.n_variables > 60:
        out.print(f"… and {table.n_variables - 60} more")
