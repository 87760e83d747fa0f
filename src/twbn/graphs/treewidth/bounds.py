"""Quick bounds on the treewidth: greedy eliminations above, contractions below."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import numpy as np

from twbn import _core
from twbn.checks import checked_seed
from twbn.deadline import Deadline
from twbn.errors import Option, OptionError
from twbn.graphs.decomposition import TreeDecomposition
from twbn.graphs.treewidth.reduction import MaskGraph

if TYPE_CHECKING:
    from twbn.graphs.graph import Graph

__all__ = ["contraction_degeneracy", "greedy_decomposition", "narrowest"]

Heuristic = Literal["min-fill", "min-degree"]

_GIVE_UP_NEVER = 2**30


def greedy_decomposition(
    graph: Graph, *, heuristic: Heuristic = "min-fill", seed: int = 0, n_tries: int = 1
) -> TreeDecomposition:
    """Return the narrowest decomposition of `n_tries` greedy eliminations with random tie-breaking.

    Examples
    --------
    >>> from twbn import Graph
    >>> greedy_decomposition(Graph.from_edges(4, [(0, 1), (1, 2), (2, 3), (3, 0)])).width
    2
    """
    if heuristic not in ("min-fill", "min-degree"):
        problem = f" must be 'min-fill' or 'min-degree', got {heuristic!r}"
        raise OptionError(Option("heuristic"), problem)
    return narrowest(graph, heuristic, seed, n_tries, Deadline())


def narrowest(
    graph: Graph, heuristic: Heuristic, seed: int, n_tries: int, deadline: Deadline
) -> TreeDecomposition:
    """Return the narrowest of several greedy decompositions; the first is always completed."""
    seed = checked_seed(seed)
    best_width, best_order = _GIVE_UP_NEVER, np.empty(0, dtype=np.int32)
    # With a deadline, a quick order comes first so that there is always a result.
    limited = deadline.time_limit is not None
    rules = (["min-degree"] if limited else []) + [heuristic] * max(n_tries, 1)
    for attempt, rule in enumerate(rules):
        if limited and attempt and deadline.passed:
            break
        width, order = _core.greedy_elimination(
            graph.n_vertices,
            graph.edge_array,
            rule == "min-fill",
            seed + attempt,
            best_width - 1,
            deadline.left if attempt else None,
        )
        if width < best_width:
            best_width, best_order = width, order
    return TreeDecomposition.from_elimination_order(graph, best_order.tolist())


def contraction_degeneracy(graph: Graph) -> int:
    """Return a lower bound on the treewidth, found by greedy contraction.

    Notes
    -----
    Contracting an edge never increases the treewidth, which is at least the minimum degree. A
    vertex of minimum degree is contracted into the neighbour with which it shares the fewest
    neighbours (MMD+ with the least-c rule; Bodlaender, Koster and Wolle, 2006).

    Examples
    --------
    >>> from twbn import Graph
    >>> contraction_degeneracy(Graph.complete(5))
    4
    """
    return MaskGraph.of(graph).contraction_degeneracy()
