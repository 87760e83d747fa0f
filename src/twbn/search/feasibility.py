"""Why no structure fits the scores, when none does."""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np

from twbn.graphs.graph import Graph
from twbn.graphs.treewidth import contraction_degeneracy
from twbn.scores.rules import ParentRules
from twbn.scores.score_table import ScoreTable

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from twbn.scores.protocol import LocalScores

__all__ = ["a_structure", "conflict", "rules_of"]


def conflict(table: ScoreTable, treewidth: int) -> str | None:
    """Return why no structure within the limit has all its parent sets in a table, or None.

    None means that no conflict was found, which does not prove that such a structure exists.
    O(number of sets) for each variable without an empty set; no work if all variables have one.
    """
    smallest = np.minimum.reduceat(table.set_sizes, table.variable_offsets[:-1])
    if not smallest.any():
        return None
    families = [[frozenset(p) for _, p in table.sets(v)] for v in range(table.n_variables)]
    left = set(range(table.n_variables))
    while True:
        # A variable with a parent set disjoint from `left` can precede all of `left`.
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
    width = contraction_degeneracy(Graph.from_edges(table.n_variables, edges))
    if width > treewidth:
        arcs = [
            f"{table.names[p]} -> {table.names[v]}" for v, ps in enumerate(required) for p in ps
        ]
        return (
            f"the required arcs {_listed(arcs)} alone have treewidth {width} or more; "
            f"the limit is {treewidth}"
        )
    return None


def a_structure(table: ScoreTable) -> NDArray[np.int64]:
    """Return the families, by position, of an acyclic structure with small parent sets.

    Its treewidth is not limited. There are fewer families than variables if no structure exists.
    """
    left = set(range(table.n_variables))
    empty = np.flatnonzero(table.set_sizes == 0)
    if len(empty) == table.n_variables:
        return empty
    chosen: list[int] = []
    while True:
        done = set()
        for v in left:
            usable = [
                (len(table.parents_at(t)), t)
                for t in table.positions(v)
                if not left.intersection(table.parents_at(t))
            ]
            if usable:
                chosen.append(min(usable)[1])
                done.add(v)
        if not done:
            return np.array(chosen, dtype=np.int64)
        left -= done


def rules_of(scores: LocalScores) -> ParentRules:
    """Return the rules that the candidate sets of a table imply; of other scores, none."""
    n = scores.n_variables
    allowed = np.ones((n, n), dtype=np.uint8)
    np.fill_diagonal(allowed, 0)
    if not isinstance(scores, ScoreTable):
        return ParentRules(np.full(n, scores.max_parents, dtype=np.int32), allowed, ((),) * n)
    allowed[:] = 0
    allowed[np.repeat(scores.children, scores.set_sizes), scores.parents] = 1
    most = np.maximum.reduceat(scores.set_sizes, scores.variable_offsets[:-1]).astype(np.int32)
    required = tuple(
        tuple(sorted(frozenset.intersection(*(frozenset(p) for _, p in scores.sets(v)))))
        for v in range(n)
    )
    return ParentRules(most, allowed, required)


def _listed(names: Sequence[str]) -> str:
    return ", ".join(names[:8]) + (", …" if len(names) > 8 else "")
