"""The page of a network: a self-contained HTML file that answers queries."""

from __future__ import annotations

import math
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from twbn.data import as_table
from twbn.errors import DataError, MemoryLimitError, OptionError, VerificationError
from twbn.files import write_text
from twbn.inference import Inference, JunctionTree
from twbn.learning.parameters import fit
from twbn.network import Mixture, Network
from twbn.network.fit import coded_like
from twbn.report.arc_styles import arc_styles
from twbn.report.charts import trace_svg
from twbn.report.drawing import MAX_BARS, draw_decomposition, draw_network
from twbn.report.mixture_page import mixture_page
from twbn.report.template import render, require_packages
from twbn.scores import LazyScores, LocalScores
from twbn.scores.kinds import SCORES
from twbn.search.result import SearchResult

if TYPE_CHECKING:
    import os
    from collections.abc import Mapping, Sequence

    from twbn.data import Table
    from twbn.graphs import Dag, TreeDecomposition
    from twbn.learning.arc_confidence import Confidence
    from twbn.report.drawing import ArcStyles, Picture

__all__ = ["MAX_VARIABLES", "network_page", "write_report"]

#: Limits on the variables of a network that is drawn, and on the entries of a junction tree that
#: the page runs: a click takes tenths of a second at the limit, milliseconds for most networks.
MAX_VARIABLES = 500
MAX_ENTRIES = 2**21
#: Bars that a drawing has at most: beyond, it moves too slowly, and has names only.
MAX_ALL_BARS = 1500
#: The smallest probability with which a page answers queries: its script uses plain numbers.
LEAST_PROBABILITY = 1e-30


def write_report(
    source: SearchResult | Network | Mixture,
    path: str | os.PathLike[str],
    *,
    data: Any = None,
    scores: LocalScores | None = None,
    confidence: Confidence | None = None,
    title: str | None = None,
) -> None:
    """Write the page of a network: drawing, proof, scores, and a panel that answers queries.

    Parameters
    ----------
    source
        A result (also from `read_result`), a network, or a mixture, whose page shows what sets its
        components apart and their networks, without a panel.
    path
        The HTML file to write. It is self-contained and needs no connection.
    data
        The table that the network was learned from (anything that `as_table` accepts): it gives a
        result its parameters, which the panel needs.
    scores
        Local scores to show; by default they are computed from `data`.
    confidence
        How certain the arcs are (`twbn.confidence`): they are drawn accordingly.
    title
        Title of the page; by default the name of the file.

    Notes
    -----
    The panel runs the junction tree in the page: a click costs a few passes over its numbers, which
    the treewidth limits. Beyond 500 variables the page is a summary without drawings. A result read
    from a file is verified against the data, if they are given, and refused if it fails.
    """
    require_packages()
    path = Path(path)
    if isinstance(source, Mixture):
        if data is not None or scores is not None or confidence is not None:
            msg = "the page of a mixture shows neither data nor scores nor confidence"
            raise OptionError(msg)
        write_text(path, mixture_page(source, title=title or path.stem))
        return
    shown = {"data": data, "scores": scores, "confidence": confidence}
    page = network_page(source, **shown, title=title or path.stem)
    write_text(path, page)


def network_page(
    source: SearchResult | Network,
    *,
    data: Any = None,
    scores: LocalScores | None = None,
    confidence: Confidence | None = None,
    title: str,
    inline: bool = False,
) -> str:
    """Return the page of a network as HTML; see `write_report`.

    With `inline`, without the title and what comes after the panel, for a notebook.
    """
    result: SearchResult | None = None
    network: Network | None = None
    if isinstance(source, Network):
        network, names, dag = source, source.names, source.dag
        proof = source.decomposition or JunctionTree(source, max_entries=2**62).decomposition
    elif isinstance(source, SearchResult):
        result, names, dag, proof = source, source.names, source.dag, source.decomposition
    else:
        msg = f"a report is made of a result or a network, not of {type(source).__name__}"
        raise OptionError(msg)
    if data is not None and result is not None:
        table = _checked_table(data, result)
        network = fit(dag, table, decomposition=proof)
        if scores is None and result.score_name in SCORES and not table.n_missing.any():
            scores = LazyScores(
                table, score=result.score_name, ess=result.ess or 1.0, max_parents=None
            )
    if result is not None and not result.verified and scores is not None:
        _refuse(result.verify(scores))
    small = len(names) <= MAX_VARIABLES
    model, why_not = _model(network, small=small)
    checked = result is None or result.verified or scores is not None
    variables = _variables(network) if model is not None and network is not None else []
    styles = arc_styles(dag, names, confidence)
    facts = _facts(result, network, proof, dag, checked=checked)
    return render(
        "report.html",
        title=title,
        inline=inline,
        facts=facts,
        notes=() if result is None else result.notes,
        n_variables=len(names),
        max_variables=MAX_VARIABLES,
        small=small,
        network=_drawn(dag, names, variables, styles) if small else None,
        reversible=any(kind for kind, _ in styles.values()),
        weighted=confidence is not None,
        proof=draw_decomposition(proof, names) if small and not inline else None,
        width=max(proof.width, 0),
        bags=_bags(proof, names),
        trace=trace_svg(result) if result is not None and len(result.trace) > 1 else None,
        local=_local_scores(scores, dag, names),
        families=[(name, [names[p] for p in dag.parents[v]]) for v, name in enumerate(names)],
        model=model,
        why_not=why_not,
        variables=variables,
    )


def _drawn(
    dag: Dag,
    names: Sequence[str],
    variables: Sequence[Mapping[str, Any]],
    styles: ArcStyles,
) -> Picture:
    """Return the drawing of a network, with bars where there are not too many of them."""
    beliefs = [variable["states"] for variable in variables]
    n_bars = sum(min(len(states), MAX_BARS) for states in beliefs)
    return draw_network(
        dag, names, beliefs=beliefs if n_bars <= MAX_ALL_BARS else None, styles=styles
    )


def _refuse(problems: Sequence[str]) -> None:
    if problems:
        msg = f"the result is inconsistent with the data: {problems[0]}"
        raise VerificationError(msg)


def _checked_table(data: Any, result: SearchResult) -> Table:
    """Return the data as a table; raise DataError unless they are those of the result."""
    table = as_table(data)
    if table.names != tuple(result.names):
        odd = sorted(set(table.names) ^ set(result.names))
        which = f"{odd[0]!r} is only in one of them" if odd else "their order differs"
        msg = f"the data have other columns than the network has variables: {which}"
        raise DataError(msg)
    if table.fingerprint != result.fingerprint:
        with suppress(DataError):  # other rows are reported below
            table = coded_like(result, table)
    if result.fingerprint is not None and table.fingerprint != result.fingerprint:
        msg = "the data are not those that the network was learned from"
        raise DataError(msg)
    return table


def _facts(
    result: SearchResult | None,
    network: Network | None,
    proof: TreeDecomposition,
    dag: Dag,
    *,
    checked: bool,
) -> list[tuple[str, str]]:
    """Return facts about a network; claims of a file that were not checked are marked."""
    facts = [("variables", f"{dag.n_vertices:,}"), ("arcs", f"{len(dag.arcs):,}")]
    limit = "" if result is None else f" (limit {result.treewidth_limit})"
    facts.append(("treewidth", f"at most {max(proof.width, 0)}{limit}, proved below"))
    states = _largest_bag(result, network, proof)
    if states is not None:
        most = None if result is None else result.max_states
        limit = "" if most is None else f" (limit {most:,})"
        facts.append(("largest bag", f"{states:,} joint states{limit}"))
    if network is not None:
        facts.append(("parameters", f"{network.n_parameters:,}"))
    if result is None:
        return facts
    kind = result.score_name + ("" if result.ess is None else f", ess {result.ess:g}")
    claim = "" if checked else ", as the file says"
    facts.append((f"score ({kind})", f"{result.score:.4f}{claim}"))
    # Proofs cover the scored parent sets only: those within `max_parents` and the rules.
    if result.status == "optimal":
        proved = "optimal: no structure of the scored parent sets is better within the limit"
        facts.append(("standing", proved + claim))
    elif result.gap_percent < 100:
        distance = (
            f"no structure of the scored parent sets within the limit is more than "
            f"{result.gap:.2f} nats ({result.gap_percent:.2f} %) better"
        )
        facts.append(("standing", distance + claim))
    some = "iteration" if result.n_iterations == 1 else "iterations"
    effort = f"{result.n_iterations:,} {some} in {result.seconds:.1f} s"
    facts.append(("search", f"{result.method}, {effort}, seed {result.seed}"))
    return facts


def _largest_bag(
    result: SearchResult | None, network: Network | None, proof: TreeDecomposition
) -> int | None:
    """Return the joint states of the largest bag, or None if they are not known."""
    if network is not None:
        return proof.largest_states(network.n_states)
    return None if result is None else result.largest_bag_states


def _bags(proof: TreeDecomposition, names: Sequence[str]) -> list[tuple[int, str]]:
    """Return every bag with the number of the one above it (0 for the root), counted from 1."""
    parents, _ = proof.rooted_at(0)
    return [
        (parents[i] + 1, ", ".join(names[v] for v in sorted(bag)))
        for i, bag in enumerate(proof.bags)
    ]


def _local_scores(
    scores: LocalScores | None, dag: Dag, names: Sequence[str]
) -> list[tuple[str, str, float, float | None]] | None:
    """Return for each variable its parents, its local score, and what the parents gain."""
    if scores is None:
        return None
    rows = []
    for v, name in enumerate(names):
        parents = ", ".join(names[p] for p in dag.parents[v])
        local, alone = scores.local(v, dag.parents[v]), scores.local(v, ())
        rows.append((name, parents, local, local - alone if math.isfinite(alone) else None))
    return rows


def _model(network: Network | None, *, small: bool) -> tuple[dict[str, Any] | None, str]:
    """Return what the script needs to answer queries, or the reason why it cannot."""
    if network is None:
        return None, "The structure has no parameters here: give the data (--data) to get them."
    if not small:
        return None, f"Panels are made for up to {MAX_VARIABLES} variables; ask with twbn query."
    try:
        tree = JunctionTree(network, max_entries=MAX_ENTRIES)
    except MemoryLimitError:
        entries = JunctionTree(network, max_entries=2**62).n_entries
        why = f"its junction tree has {entries:,} numbers, more than {MAX_ENTRIES:,}"
        return None, f"Too large for a page: {why}. Ask with twbn query."
    least = min(float(np.min(t, where=t > 0, initial=1.0)) for t in network.tables)
    if least < LEAST_PROBABILITY:
        return None, f"A probability of {least:.1g} is too small for a page. Use twbn query."
    up, order = tree.orientation(0)
    return {
        "names": list(network.names),
        "states": [[str(state) for state in states] for states in network.states],
        "parents": [list(parents) for parents in network.dag.parents],
        "tables": [table.ravel().tolist() for table in network.tables],
        "bags": [list(bag) for bag in tree.bags],
        "home": list(tree.home),
        "up": list(up),
        "order": list(order),
        "entries": tree.n_entries,
    }, ""


def _variables(network: Network) -> list[dict[str, Any]]:
    """Return every variable with its states and their probabilities before any evidence."""
    marginals = Inference(network).marginals()
    found = []
    for name, states in zip(network.names, network.states, strict=True):
        values = list(marginals[name].to_dict().values())
        found.append({"name": name, "states": list(zip(map(str, states), values, strict=True))})
    return found
