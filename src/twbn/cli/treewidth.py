"""The command that computes the treewidth of a graph."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

import twbn
from twbn.cli.console import err, escape, out, print_json
from twbn.cli.files import check_target
from twbn.cli.options import AsJson, OptionalOut, Seed, TimeLimit
from twbn.errors import Option, OptionError
from twbn.graphs.decomposition import higher_neighbours
from twbn.graphs.treewidth import TreewidthResult
from twbn.graphs.treewidth.program import treewidth_by_program
from twbn.interrupts import deferred

__all__ = ["treewidth"]


def treewidth(
    graph: Annotated[Path, typer.Argument(help="PACE .gr or DIMACS .col file.", metavar="GRAPH")],
    exact: Annotated[
        bool, typer.Option("--exact", help="Exact treewidth, not only bounds.")
    ] = False,
    method: Annotated[
        str, typer.Option(help="search, or milp (the paper's integer program, exact).")
    ] = "search",
    out_file: OptionalOut = None,
    time_limit: TimeLimit = None,
    memory_limit: Annotated[float, typer.Option(help="GiB.", metavar="GIB")] = 4.0,
    seed: Seed = 0,
    as_json: AsJson = False,
) -> None:
    """Bound the treewidth of a graph, or compute it; -o writes the decomposition (.td)."""
    check_target(out_file)
    read = twbn.read_gr(graph)
    if method not in {"search", "milp"}:
        raise OptionError(Option("method"), f" must be search or milp, got {method!r}")
    report = None
    if exact and not as_json and err.is_terminal:
        report = lambda low, high: err.print(f"between {low} and {high}")  # noqa: E731
    limits: dict[str, Any] = {"time_limit": time_limit, "seed": seed}
    with deferred():  # the bounds are reported and written even after Ctrl-C
        if method == "milp":
            exact, result = True, treewidth_by_program(read, **limits)
        else:
            result = twbn.treewidth(
                read, exact=exact, memory_limit=memory_limit, on_progress=report, **limits
            )
        if out_file is not None:
            twbn.write_td(result.decomposition, read.n_vertices, out_file)
    if as_json:
        print_json({**_facts(read, result), "out": None if out_file is None else str(out_file)})
        return
    shape = f"{read.n_vertices:,} vertices, {len(read.edges):,} edges"
    if result.is_exact:
        out.print(f"{shape}: treewidth {result.upper}")
    else:
        out.print(f"{shape}: treewidth between {result.lower} and {result.upper}")
        if exact:
            out.print(f"stopped: {result.status.replace('_', ' ')}")
        else:
            out.print("use --exact for the exact treewidth")
    if out_file is not None:
        out.print(f"tree decomposition of width {result.upper} written to {escape(str(out_file))}")


def _facts(graph: twbn.Graph, result: TreewidthResult) -> dict[str, object]:
    order = result.decomposition.elimination_order()
    return {
        "n_vertices": graph.n_vertices,
        "n_edges": len(graph.edges),
        "lower": result.lower,
        "upper": result.upper,
        "treewidth": result.upper if result.is_exact else None,
        "status": result.status,
        # Vertices are numbered as in the file; `chordalisation` has the edges that this order adds.
        "elimination_order": [v + 1 for v in order],
        "chordalisation": _added_edges(graph, order),
        "seconds": result.seconds,
    }


def _added_edges(graph: twbn.Graph, order: Sequence[int]) -> list[list[int]]:
    """Return the fill-in edges of a graph for an elimination order."""
    later = higher_neighbours(graph, order)
    edges = {tuple(sorted((u, v))) for u in order for v in later[u]} - set(graph.edges)
    return [[u + 1, v + 1] for u, v in sorted(edges)]
