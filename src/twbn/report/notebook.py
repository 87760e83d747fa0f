"""HTML views of values for notebooks."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from uuid import uuid4

import numpy as np

from twbn.data import Table
from twbn.errors import MissingDependencyError, TwbnError
from twbn.graphs import Dag, KTree, TreeDecomposition
from twbn.inference import Inference, Marginals, MixtureInference, Posterior
from twbn.learning.arc_confidence import Confidence
from twbn.network import Mixture, Network
from twbn.report.arc_styles import arc_styles
from twbn.report.drawing import draw_decomposition, draw_network, svg
from twbn.report.mixture_page import mixture_view
from twbn.report.network_page import network_page
from twbn.report.template import render
from twbn.search.result import SearchResult

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["view"]

#: Larger values are described instead of drawn.
MAX_BOXES = 150
MAX_ROWS, MAX_COLUMNS = 5, 12
#: States of a posterior, and posteriors, that are shown.
MAX_STATES, MAX_POSTERIORS = 12, 24
#: Characters of a live panel: a notebook keeps them in its file.
MAX_PAGE = 1_000_000


def view(value: Any) -> str | None:
    """Return a value as HTML, or None where a package that this needs is missing."""
    try:
        if isinstance(value, Table):
            return _table(value)
        if isinstance(value, Posterior | Marginals):
            return _posteriors([value] if isinstance(value, Posterior) else list(value.values()))
        if isinstance(value, Mixture | MixtureInference):
            return mixture_view(value if isinstance(value, Mixture) else value.mixture)
        network = value.network if isinstance(value, Inference) else value
        page = _live_page(network) if isinstance(network, Network) else None
        name = f"twbn-{uuid4().hex}"  # of an element: the same value may be shown twice
        return render(
            "notebook.html", text=repr(value), drawing=_drawing(network), page=page, id=name
        )
    except MissingDependencyError:
        return None


def _live_page(network: Network) -> str | None:
    """Return the page of a network, or None where it would be too large for a notebook.

    A notebook that blocks scripts shows the drawing instead.
    """
    if not 0 < network.n_variables <= MAX_BOXES:
        return None
    try:
        page = network_page(network, title=repr(network), inline=True)
    except TwbnError:
        return None
    return page if 'id="model"' in page and len(page) <= MAX_PAGE else None


def _drawing(value: Any) -> str | None:
    if isinstance(value, Confidence):
        return _arcs(value)
    if isinstance(value, SearchResult | Network | Dag):
        dag = value if isinstance(value, Dag) else value.dag
        if not 0 < dag.n_vertices <= MAX_BOXES:
            return None
        names = dag.names or [str(v) for v in range(dag.n_vertices)]
        return svg(draw_network(dag, names), label="Network, arcs pointing down")
    decomposition = value.decomposition() if isinstance(value, KTree) else value
    if not isinstance(decomposition, TreeDecomposition):
        return None
    if not 0 < len(decomposition.bags) <= MAX_BOXES:
        return None
    names = [str(v) for v in range(max(max(bag, default=0) for bag in decomposition.bags) + 1)]
    picture = draw_decomposition(decomposition, names)
    return svg(picture, label="Tree decomposition", arrows=False)


def _arcs(confidence: Confidence) -> str | None:
    """Return the arcs of most resamples, the wider the more of them have one."""
    if not 0 < len(confidence.names) <= MAX_BOXES:
        return None
    dag = confidence.majority()
    styles = arc_styles(dag, confidence.names, confidence)
    picture = draw_network(dag, confidence.names, styles=styles)
    return svg(picture, label="Arcs found in most resamples, pointing down")


def _posteriors(values: Sequence[Posterior]) -> str:
    """Return distributions as bars, the likeliest states first where there are many."""
    shown = []
    n_left = 0
    for posterior in values[:MAX_POSTERIORS]:
        flat = posterior.values.ravel()
        cells = list(np.ndindex(*posterior.values.shape))
        order = np.arange(flat.size)
        if flat.size > MAX_STATES:
            order = np.argsort(-flat, kind="stable")[:MAX_STATES]
            n_left += flat.size - MAX_STATES
        rows = []
        for i in order.tolist():
            states = [str(own[c]) for own, c in zip(posterior.states, cells[i], strict=True)]
            rows.append((", ".join(states), float(flat[i])))
        shown.append((", ".join(posterior.variables), rows))
    more = [f"{n_left:,} further states"] if n_left else []
    if len(values) > MAX_POSTERIORS:
        more.append(f"{len(values) - MAX_POSTERIORS:,} further variables")
    return render("posterior.html", posteriors=shown, more=", ".join(more))


def _table(table: Table) -> str:
    """Return the first rows and columns, and how many there are."""
    names = table.names[:MAX_COLUMNS]
    rows = [
        ["" if code < 0 else str(table.states[v][code]) for v, code in enumerate(row)]
        for row in table.codes[:MAX_ROWS, :MAX_COLUMNS].tolist()
    ]
    gaps = int(table.n_missing.sum())
    return render(
        "table.html",
        names=names,
        rows=rows,
        more_columns=table.n_variables - len(names),
        more_rows=table.n_rows - len(rows),
        caption=f"{table.n_rows:,} rows, {table.n_variables:,} variables, {gaps:,} cells missing",
    )
