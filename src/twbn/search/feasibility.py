"""Scores in which no network fits: why that is."""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np

from twbn.graphs.graph import Graph
from twbn.graphs.treewidth import lower_bound

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from twbn.scores.score_table import ScoreTable

__all__ = ["a_network", "conflict"]


def conflict(table: ScoreTable, treewidth: int) -> str | None:
    """Return why no network within the bound can have all its parent sets in a table, if so.

    None when nothing speaks against it: an answer, but no proof, that there is one. O(number of
    sets) for each variable without an empty set; nothing where all have one.
    """
    sizes = np.diff(table.set_offsets)
    smallest = np.minimum.reduceat(sizes, table.variable_offsets[:-1])
    if not smallest.any():
        return None
    families = [[frozenset(p) for _, p in table.sets(v)] for v in range(table.n_variables)]
    left = set(range(table.n_variables))
    while True:
        # Whoever has a set without the others left can come before them.
        free = {v for v in left if any(not parents & left for parents in families[v])}
        if not free:
            break
        left -= free
    if left:
        names = _listed([table.names[v] for v in sorted(left)])
        return f"required arcs form a cycle: each of {names} must have a parent among them"
    required = [frozenset.intersection(*sets) for sets in families]
    edges = [
        (a, b)
        for v, parents in enumerate(required)
        for a, b in combinations((v, *sorted(parents)), 2)
    ]
    width = lower_bound(Graph.from_edges(table.n_variables, edges))
    if width > treewidth:
        arcs = [
            f"{table.names[p]} -> {table.names[v]}" for v, ps in enumerate(required) for p in ps
        ]
        return (
            f"the required arcs {_listed(arcs)} alone have treewidth {width} or more; "
            f"the bound is {treewidth}"
        )
    return None


def a_network(table: ScoreTable) -> NDArray[np.int64]:
    """Return the families, by position, of an acyclic network with small parent sets.

    Whatever its treewidth; fewer families than variables when there is none.
    """
    left = set(range(table.n_variables))
    empty = np.flatnonzero(np.diff(table.set_offsets) == 0)
    if len(empty) == table.n_variables:
        return empty
    chosen: list[int] = []
    while True:
        done = set()
        for v in left:
            first = int(table.variable_offsets[v])
            usable = [
                (len(parents), first + t)
                for t, (_, parents) in enumerate(table.sets(v))
                if not left.intersection(parents)
            ]
            if usable:
                chosen.append(min(usable)[1])
                done.add(v)
        if not done:
            return np.array(chosen, dtype=np.int64)
        left -= done


def _listed(names: Sequence[str]) -> str:
    return ", ".join(names[:8]) + (", …" if len(names) > 8 else "")
