"""The command that scores parent sets."""

from __future__ import annotations

from typing import Annotated, Any

import typer

import twbn
from twbn.cli.console import out, print_json, progress_bar, say_written
from twbn.cli.files import check_target, read_data
from twbn.cli.options import (
    AsJson,
    Data,
    Ess,
    Jobs,
    MaxParents,
    MemoryLimit,
    OptionalOut,
    Score,
    TimeLimit,
)
from twbn.interrupts import deferred

__all__ = ["score"]


def score(
    data: Data,
    reading: dict[str, Any],
    kind: Score = "bdeu",
    ess: Ess = 1.0,
    max_parents: MaxParents = 3,
    out_file: OptionalOut = None,
    budget: Annotated[
        int | None,
        typer.Option(help="Wide tables: explore this many sets per variable instead of all."),
    ] = None,
    names: Annotated[
        bool, typer.Option("--names", help="Write names instead of positions.")
    ] = False,
    keep_all: Annotated[bool, typer.Option("--no-prune", help="Keep dominated sets.")] = False,
    time_limit: TimeLimit = None,
    memory_limit: MemoryLimit = None,
    n_jobs: Jobs = 1,
    as_json: AsJson = False,
) -> None:
    """Score parent sets and write them as a .jkl file."""
    table = read_data(data, reading)
    check_target(out_file)
    with deferred():  # what is complete is written even after Ctrl-C
        with progress_bar("scoring parent sets", quiet=as_json) as report:
            scores = twbn.compute_scores(
                table,
                score=kind,
                ess=ess,
                max_parents=max_parents,
                prune=not keep_all,
                budget=budget,
                n_jobs=n_jobs,
                time_limit=time_limit,
                memory_limit=memory_limit,
                on_progress=report,
            )
        if out_file is not None:
            twbn.write_jkl(scores, out_file, names=names)
    facts = scores.statistics()
    if as_json:
        print_json({**facts, "out": None if out_file is None else str(out_file)})
    else:
        _show(facts)
        say_written([out_file])


def _show(facts: dict[str, Any]) -> None:
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
            f"all sets of at most {facts['complete_size']} parents were scored"
        )
