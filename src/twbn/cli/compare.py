"""The command that compares two networks."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Annotated, Any

import typer

import twbn
from twbn.cli.console import escape, out, print_json, say_written
from twbn.cli.files import UNSET, check_page, coded_rows, read_result_or_network
from twbn.cli.options import AsJson, Missing
from twbn.errors import OptionError
from twbn.files import write_text
from twbn.graphs.differences import differences
from twbn.report.comparison_page import comparison_page, in_order_of

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
    first: Annotated[
        Path, typer.Argument(help="A network (.json, .bif, …) or a result.", metavar="A")
    ],
    second: Annotated[Path, typer.Argument(help="Second one, same variables.", metavar="B")],
    data: Annotated[
        Path | None,
        typer.Option("--data", help="Rows to compute both log-likelihoods on.", metavar="DATA"),
    ] = None,
    missing: Missing = None,
    page: Annotated[
        Path | None,
        typer.Option("-o", "--out", help="Page to write, with both drawings.", metavar="PAGE.html"),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Compare two networks: arcs, equivalence class, log-likelihood of rows.

    An arc is compelled if all equivalent networks have it in the same direction.
    """
    check_page(page, first, second, data)
    a, b = read_result_or_network(first), read_result_or_network(second)
    names = tuple(a.names)
    other = in_order_of(names, b)
    found = differences(a.dag, other)

    def named(arcs: Any) -> list[tuple[str, str]]:
        return sorted((names[u], names[v]) for u, v in arcs)

    report: dict[str, Any] = {
        "shared": named(found.shared),
        "reversed": named(found.reversed),
        "only_first": named(found.only_first),
        "only_second": named(found.only_second),
        "compelled_first": named(a.dag.cpdag().directed),
        "compelled_second": named(other.cpdag().directed),
        "equivalent": found.equivalent,
        "distance": found.distance,
    }
    means = None
    if data is not None:
        means = [_mean_likelihood(network, data, missing) for network in (a, b)]
        report |= {"log_likelihood_first": means[0], "log_likelihood_second": means[1]}
    if page is not None:
        same = first.name == second.name
        titles = (str(first), str(second)) if same else (first.name, second.name)
        content = comparison_page(a, b, likelihoods=means, titles=titles, title=page.stem)
        write_text(page, content)
    if as_json:
        print_json(report)
        return
    for key in SETS_OF_ARCS:
        arcs = report[key]
        out.print(f"{key.replace('_', ' in the ')}: {len(arcs)} arcs")
        if key != "shared":
            for u, v in arcs:
                out.print(f"  {escape(u)} -> {escape(v)}")
    if found.equivalent:
        out.print("equivalent")
    else:
        out.print(f"not equivalent: structural Hamming distance of the classes {found.distance}")
    if means is not None:
        texts = ["minus infinity" if mean is None else f"{mean:.6f}" for mean in means]
        out.print(f"mean log-likelihood: {texts[0]} and {texts[1]}")
    say_written([page])


def _mean_likelihood(
    network: twbn.Network | twbn.SearchResult, data: Path, missing: list[str] | None
) -> float | None:
    """Return the mean log-likelihood of the rows of a file; None if it is minus infinity."""
    if not isinstance(network, twbn.Network):
        msg = "--data compares networks with parameters; run twbn fit on the results first"
        raise OptionError(msg)
    rows = coded_rows(data, network, {**UNSET, "missing": missing or []})
    mean = float(twbn.Inference(network).score_samples(rows).mean())
    return mean if math.isfinite(mean) else None
