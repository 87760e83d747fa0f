"""Commands on tables: how they are read, and their scores."""

from __future__ import annotations

from typing import Annotated

import typer
from rich.table import Table as Grid

import twbn
from twbn.cli.options import (
    AsJson,
    BinCount,
    Cut,
    Data,
    Delimiter,
    Drop,
    Ess,
    Header,
    Jobs,
    MaxParents,
    MemoryLimit,
    Missing,
    Out,
    Score,
    TimeLimit,
    Weights,
)
from twbn.cli.shared import (
    as_options,
    check_target,
    data_options,
    escape,
    out,
    print_json,
    progress_bar,
    read_data,
)
from twbn.errors import MemoryLimitError, OptionError
from twbn.interrupts import deferred

__all__ = ["info", "score"]


def info(
    data: Data,
    delimiter: Delimiter = None,
    header: Header = None,
    discretize: Cut = "median",
    bins: BinCount = 4,
    drop: Drop = None,
    weights: Weights = None,
    missing: Missing = None,
    as_json: AsJson = False,
) -> None:
    """Show how a table is read: its variables, their states, its gaps."""
    options = data_options(delimiter, header, discretize, bins, drop, weights, missing)
    table = read_data(data, options)
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
        gaps = str(table.n_missing[v]) if table.n_missing[v] else ""
        grid.add_row(escape(table.names[v]), str(table.n_states[v]), gaps, escape(states + more))
    out.print(grid)
    if table.n_variables > 60:
        out.print(f"… and {table.n_variables - 60} more")


def score(
    data: Data,
    kind: Score = "bdeu",
    ess: Ess = 1.0,
    max_parents: MaxParents = 3,
    out_file: Out = None,
    budget: Annotated[
        int | None,
        typer.Option(help="Wide tables: explore this many sets per variable instead of all."),
    ] = None,
    names: Annotated[
        bool, typer.Option("--names", help="Write names instead of positions.")
    ] = False,
    keep_all: Annotated[bool, typer.Option("--no-prune", help="Keep dominated sets.")] = False,
    delimiter: Delimiter = None,
    header: Header = None,
    discretize: Cut = "median",
    bins: BinCount = 4,
    drop: Drop = None,
    weights: Weights = None,
    missing: Missing = None,
    time_limit: TimeLimit = None,
    memory_limit: MemoryLimit = None,
    jobs: Jobs = 1,
    as_json: AsJson = False,
) -> None:
    """Score parent sets and write them as a .jkl file."""
    options = data_options(delimiter, header, discretize, bins, drop, weights, missing)
    table = read_data(data, options)
    check_target(out_file)
    with deferred():  # what is complete is written, whenever Ctrl-C comes
        with progress_bar("scoring parent sets", quiet=as_json) as report:
            try:
                scores = twbn.compute_scores(
                    table, score=kind, ess=ess, max_parents=max_parents, prune=not keep_all,
                    budget=budget, n_jobs=jobs, time_limit=time_limit, memory_limit=memory_limit,
                    on_progress=report,
                )  # fmt: skip
            except MemoryLimitError as error:
                raise OptionError(as_options(str(error))) from None
        if out_file is not None:
            twbn.write_jkl(scores, out_file, names=names)
    facts = scores.statistics()
    if as_json:
        print_json({**facts, "out": None if out_file is None else str(out_file)})
        return
    out.print(
        f"{facts['score']}: {facts['n_sets']:,} parent sets of {facts['n_variables']} variables "
        f"kept, {facts['n_scored']:,} scored in {facts['seconds']:.2f} s"
    )
    out.print(
        f"by size: {', '.join(f'{n:,} of {size}' for size, n in enumerate(facts['sets_by_size']))}"
    )
    out.print(f"network without arcs: {facts['empty_network']:.4f}")
    if facts["status"] not in {"complete", "budget"}:
        out.print(
            f"stopped early ({facts['status'].replace('_', ' ')}): "
            f"all sets of at most {facts['complete_size']} parents are in"
        )
    if out_file is not None:
        out.print(f"written to {escape(str(out_file))}")
