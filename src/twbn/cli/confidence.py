"""The command that says how certain the arcs of a network are."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

import twbn
from twbn.cli.console import escape, out, print_json, progress_bar, say_written
from twbn.cli.files import check_page, check_target, check_writes_csv, read_data, write_csv
from twbn.cli.options import (
    AsJson,
    Data,
    Ess,
    Jobs,
    LargestFamilies,
    MaxIterations,
    MaxStates,
    OptionalOut,
    Page,
    Score,
    Seed,
    TimeLimit,
    TreewidthIfAny,
)
from twbn.errors import OptionError
from twbn.files import writing
from twbn.interrupts import deferred
from twbn.learning.arc_confidence import COLUMNS, checked_share
from twbn.report import write_report
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
    n_shown: Annotated[int, typer.Option("--show", help="Number of arcs to print.", min=0)] = 20,
    threshold: Annotated[
        float | None,
        typer.Option(
            help="The consensus joins two variables if more than this share of resamples does; 0.5."
        ),
    ] = None,
    consensus: Annotated[
        Path | None,
        typer.Option(help="Write the structure that agrees best, with its proof.", metavar="FILE"),
    ] = None,
    report: Page = None,
    out_file: OptionalOut = None,
    as_json: AsJson = False,
    structure_rules: dict[str, Any] | None = None,
) -> None:
    """Print how often arcs are found when the rows are resampled; -o writes all arcs to a CSV file.

    --consensus writes the structure that agrees best with all resamples, --report its page.
    """
    share = 0.5 if threshold is None else threshold
    wanted = consensus is not None or report is not None
    _check(data, out_file, consensus, report, threshold, consensus_wanted=wanted)
    rules = dict(structure_rules or {})
    if max_parents is not None:
        rules["max_parents"] = max_parents
    table = read_data(data, reading)
    with deferred(), progress_bar("resamples", quiet=as_json) as bar:
        found = twbn.confidence(
            table,
            treewidth=treewidth,
            max_states=max_states,
            n=n_resamples,
            score=kind,
            ess=ess,
            **rules,
            time_limit=time_limit,
            max_iterations=max_iterations,
            seed=seed,
            n_jobs=n_jobs,
            on_progress=bar,
        )
    rows = found.rows()
    if out_file is not None:
        with writing(out_file) as file:
            write_csv(file, COLUMNS, rows)
    agreed = found.consensus(share, seed=seed, n_jobs=n_jobs) if wanted else None
    if agreed is not None and consensus is not None:
        write_result(agreed, consensus)
    if agreed is not None and report is not None:
        network = twbn.fit(agreed, table) if not table.n_missing.any() else agreed
        write_report(network, report, confidence=found, title=data.stem)
    if as_json:
        arcs = [dict(zip(COLUMNS, row, strict=True)) for row in rows]
        print_json({"n": found.n, "n_asked": found.n_asked, "arcs": arcs})
        return
    why = "interrupted" if found.interrupted else "there was no time for more"
    less = "" if found.n == found.n_asked else f" of {found.n_asked}: {why}"
    out.print(f"{found.n} resamples{less}, in {found.seconds:.1f} s")
    out.print("adjacent  this direction  arc")
    for parent, child, arc, _, _, adjacent in rows[:n_shown]:
        out.print(f"{adjacent:8.1%}  {arc:14.1%}  {escape(parent)} -> {escape(child)}")
    if len(rows) > n_shown:
        out.print(f"and {len(rows) - n_shown:,} more, less certain")
    if agreed is not None:
        n_arcs = len(agreed.dag.arcs)
        out.print(f"consensus: {n_arcs} arcs, treewidth {agreed.treewidth}, {agreed.status}")
    say_written([out_file, consensus, report])


def _check(
    data: Path,
    out_file: Path | None,
    consensus: Path | None,
    report: Path | None,
    threshold: float | None,
    *,
    consensus_wanted: bool,
) -> None:
    """Raise OptionError, before any work is done, for what would fail in the end."""
    check_writes_csv(out_file)
    for path in (out_file, consensus):
        check_target(path)
    check_page(report, data)
    if consensus is not None and consensus.suffix != ".json":
        name = consensus.with_suffix(".json").name
        msg = f"{consensus}: a structure is written as JSON; name the file {name}"
        raise OptionError(msg)
    if threshold is not None and not consensus_wanted:
        msg = "--threshold is for the consensus; give --consensus FILE.json, too"
        raise OptionError(msg)
    checked_share(0.5 if threshold is None else threshold)
