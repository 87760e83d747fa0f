"""The command that compares two networks."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Annotated

import typer

import twbn
from twbn.cli.console import escape, out, print_json
from twbn.cli.files import UNSET, coded_rows
from twbn.cli.options import AsJson, Missing
from twbn.errors import OptionError

__all__ = ["compare"]

#: The lists of arcs that are printed, in this order.
SETS_OF_ARCS = (
    "shared",
    "reversed",
    "only_first",
    "only_second",
    "compelled_first",
    "compelled_second",
)


def compare(
    first: Annotated[Path, typer.Argument(help="A network.", metavar="A")],
    second: Annotated[Path, typer.Argument(help="Second network, same variables.", metavar="B")],
    data: Annotated[
        Path | None, typer.Option("--data", help="Table to score both on.", metavar="DATA")
    ] = None,
    missing: Missing = None,
    as_json: AsJson = False,
) -> None:
    """Compare two networks: arcs, equivalence class, log-likelihood of rows.

    An arc is compelled if all equivalent networks have it in the same direction.
    """
    a, b = twbn.read_network(first), twbn.read_network(second)
    if set(a.names) != set(b.names):
        odd = sorted(set(a.names) ^ set(b.names))[0]
        msg = f"only one of the networks has the variable {odd!r}"
        raise OptionError(msg)
    arcs_a = {(a.names[u], a.names[v]) for u, v in a.dag.arcs}
    arcs_b = {(b.names[u], b.names[v]) for u, v in b.dag.arcs}
    reversed_arcs = {(u, v) for u, v in arcs_a if (v, u) in arcs_b}
    same_order = twbn.Dag(tuple(tuple(a.index(p) for p in b.parents[name]) for name in a.names))
    report = {
        "shared": sorted(arcs_a & arcs_b),
        "reversed": sorted(reversed_arcs),
        "only_first": sorted(arcs_a - arcs_b - reversed_arcs),
        "only_second": sorted((u, v) for u, v in arcs_b - arcs_a if (v, u) not in arcs_a),
        "compelled_first": _compelled(a),
        "compelled_second": _compelled(b),
        "equivalent": a.dag.is_equivalent(same_order),
    }
    if data is not None:
        for key, network in (("first", a), ("second", b)):
            values = twbn.Inference(network).score_samples(
                coded_rows(data, network, {**UNSET, "missing": missing or []})
            )
            mean = float(values.mean())
            report[f"log_likelihood_{key}"] = mean if math.isfinite(mean) else None
    if as_json:
        print_json(report)
        return
    for key in SETS_OF_ARCS:
        arcs = report[key]
        assert isinstance(arcs, list)
        out.print(f"{key.replace('_', ' in the ')}: {len(arcs)} arcs")
        if key != "shared":
            for u, v in arcs:
                out.print(f"  {escape(u)} -> {escape(v)}")
    out.print("equivalent" if report["equivalent"] else "not equivalent")
    if data is not None:
        means = [report["log_likelihood_first"], report["log_likelihood_second"]]
        texts = ["minus infinity" if mean is None else f"{mean:.6f}" for mean in means]
        out.print(f"mean log-likelihood: {texts[0]} and {texts[1]}")


def _compelled(network: twbn.Network) -> list[tuple[str, str]]:
    """Return the arcs that all members of the equivalence class share, by name."""
    names = network.names
    return sorted((names[u], names[v]) for u, v in network.dag.cpdag().directed)
