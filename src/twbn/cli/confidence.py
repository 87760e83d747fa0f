"""The command that says how certain the arcs of a network are."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

import twbn
from twbn.cli.console import escape, out, print_json, progress_bar, say_written
from twbn.cli.files import check_target, check_writes_csv, read_data, write_csv
from twbn.cli.options import (
    AsJson,
    Data,
    Ess,
    Jobs,
    LargestFamilies,
    MaxIterations,
    MaxStates,
    OptionalOut,
    Score,
    Seed,
    TimeLimit,
    TreewidthIfAny,
)
from twbn.files import writing
from twbn.interrupts import deferred
from twbn.learning.arc_confidence import COLUMNS
from twbn.search import write_result

__all__ = ["confidence"]


def confidence(
    data: Data,
    reading: dict[str, Any],
    treewidth: TreewidthIfAny = None,
    max_states: MaxStates = None,
    n_resamples: Annotated[int, typer.Option("-n", help="Resamples of the rows.", min=1)] = 200,
    kind: Score = "bdeu",
    ess: Ess = 1.0,
    max_parents: LargestFamilies = None,
    time_limit: TimeLimit = None,
    max_iterations: MaxIterations = None,
    seed: Seed = 0,
    n_jobs: Jobs = 1,
    n_shown: Annotated[int, typer.Option("--show", help="Arcs to print.", min=0)] = 20,
    threshold: Annotated[
        float, typer.Option(help="Share of resamples from which the consensus joins variables.")
    ] = 0.5,
    consensus: Annotated[
        Path | None,
        typer.Option(help="Write the structure that agrees best, with its proof.", metavar="FILE"),
    ] = None,
    out_file: OptionalOut = None,
    as_json: AsJson = False,
) -> None:
    """Print how often each arc is found again when the rows are drawn anew; -o writes all (CSV)."""
    check_writes_csv(out_file)
    for path in (out_file, consensus):
        check_target(path)
    table = read_data(data, reading)
    with deferred(), progress_bar("resamples", quiet=as_json) as bar:
        found = twbn.confidence(
            table,
            treewidth=treewidth,
            max_states=max_states,
            n=n_resamples,
            score=kind,
            ess=ess,
            max_parents=max_parents,
            time_limit=time_limit,
            max_iterations=max_iterations,
            seed=seed,
            n_jobs=n_jobs,
            on_progress=bar,
        )
    agreed = None if consensus is None else found.consensus(threshold, seed=seed, n_jobs=n_jobs)
    rows = found.rows()
    if out_file is not None:
        with writing(out_file) as file:
            write_csv(file, COLUMNS, rows)
    if agreed is not None and consensus is not None:
        write_result(agreed, consensus)
    if as_json:
        arcs = [dict(zip(COLUMNS, row, strict=True)) for row in rows]
        print_json({"n": found.n, "n_asked": found.n_asked, "arcs": arcs})
        return
    less = "" if found.n == found.n_asked else f" of {found.n_asked}: there was no time for more"
    out.print(f"{found.n} resamples{less}, in {found.seconds:.1f} s")
    out.print("joined  this way  arc")
    for parent, child, arc, _, _, adjacent in rows[:n_shown]:
        out.print(f"{adjacent:6.1%}  {arc:8.1%}  {escape(parent)} -> {escape(child)}")
    if len(rows) > n_shown:
        out.print(f"and {len(rows) - n_shown:,} more, less certain")
    if agreed is not None:
        n_arcs = len(agreed.dag.arcs)
        out.print(f"consensus: {n_arcs} arcs, treewidth {agreed.treewidth}, {agreed.status}")
    say_written([out_file, consensus])
