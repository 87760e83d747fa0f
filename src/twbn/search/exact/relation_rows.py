"""Rows that keep the rules on pairs of variables, for programs with a column for each arc."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from twbn.search.relations import Relations
    from twbn.solvers import ProgramBuilder

__all__ = ["keep_relations"]


def keep_relations(build: ProgramBuilder, arc: NDArray[np.int64], relations: Relations) -> None:
    """Add rows that keep the relations; ``arc[u, v]`` is the column of u -> v, -1 for u = v.

    An ancestor sends one unit of flow along arcs. Otherwise, the first variable and all of its
    descendants are marked, and the second one is not. O(n²) rows for each rule on ancestors.
    """
    for a, b in relations.adjacent:
        build.add_rows([[arc[a, b], arc[b, a]]], 1.0, lower=1.0)
    for a, b in relations.ancestors:
        _flow(build, arc, a, b)
    for a, b in relations.non_ancestors:
        _separate(build, arc, a, b)


def _flow(build: ProgramBuilder, arc: NDArray[np.int64], source: int, sink: int) -> None:
    n = len(arc)
    u, v = np.nonzero(~np.eye(n, dtype=bool))
    flow = np.full((n, n), -1, dtype=np.int64)
    flow[u, v] = build.add_columns(np.zeros(len(u)), lower=0, upper=1, integer=False)
    build.add_rows(np.column_stack([flow[u, v], arc[u, v]]), [1.0, -1.0], upper=0.0)
    for w in range(n):
        others = [x for x in range(n) if x != w]
        out = float(w == source) - float(w == sink)
        places = [*flow[w, others], *flow[others, w]]
        build.add_rows([places], [*[1.0] * (n - 1), *[-1.0] * (n - 1)], lower=out, upper=out)


def _separate(build: ProgramBuilder, arc: NDArray[np.int64], above: int, below: int) -> None:
    n = len(arc)
    marked = build.add_columns(np.zeros(n), lower=0, upper=1, integer=False)
    build.add_rows([[marked[above]]], 1.0, lower=1.0, upper=1.0)
    build.add_rows([[marked[below]]], 1.0, lower=0.0, upper=0.0)
    u, v = np.nonzero(~np.eye(n, dtype=bool))
    rows = np.column_stack([marked[v], marked[u], arc[u, v]])
    build.add_rows(rows, [1.0, -1.0, -1.0], lower=-1.0)
