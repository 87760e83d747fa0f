"""HTML views of tables, graphs, results and networks for notebooks."""

from __future__ import annotations

from typing import Any

from twbn.data import Table
from twbn.errors import MissingDependencyError
from twbn.graphs import Dag, KTree, TreeDecomposition
from twbn.network import Network
from twbn.report.drawing import draw_decomposition, draw_network, svg
from twbn.report.template import render
from twbn.search.result import SearchResult

__all__ = ["view"]

#: Larger values are described instead of drawn.
MAX_BOXES = 150
MAX_ROWS, MAX_COLUMNS = 5, 12


def view(value: Any) -> str | None:
    """Return a value as HTML, or None where a package that this needs is missing."""
    try:
        if isinstance(value, Table):
            return _table(value)
        return render("notebook.html", text=repr(value), drawing=_drawing(value))
    except MissingDependencyError:
        return None


def _drawing(value: Any) -> str | None:
    if isinstance(value, (SearchResult, Network, Dag)):
        dag = value if isinstance(value, Dag) else value.dag
        if not 0 < dag.n_vertices <= MAX_BOXES:
            return None
        names = [str(v) for v in range(dag.n_vertices)] if isinstance(value, Dag) else value.names
        return svg(draw_network(dag, names), label="Network, arcs pointing down")
    decomposition = value.decomposition() if isinstance(value, KTree) else value
    if not isinstance(decomposition, TreeDecomposition):
        return None
    if not 0 < len(decomposition.bags) <= MAX_BOXES:
        return None
    names = [str(v) for v in range(max(max(bag, default=0) for bag in decomposition.bags) + 1)]
    picture = draw_decomposition(decomposition, names)
    return svg(picture, label="Tree decomposition", arrows=False)


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
