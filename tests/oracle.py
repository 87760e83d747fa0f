"""Definitions, written out slowly: what the fast code is compared with."""

from __future__ import annotations

import itertools
import math
from functools import cache
from typing import TYPE_CHECKING

import numpy as np

from twbn import Graph, Table

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from twbn.scores import ScoreTable

ParentSets = tuple[tuple[int, ...], ...]


def local_score(table: Table, child: int, parents: Sequence[int], score: str, ess: float) -> float:
    """Return a local score from the textbook formulas, with lgamma and plain loops."""
    r = len(table.states[child])
    q = math.prod(len(table.states[p]) for p in parents)
    weights = np.ones(table.n_rows) if table.weights is None else table.weights
    counts: dict[tuple[int, ...], list[float]] = {}
    for row, weight in zip(table.codes, weights, strict=True):
        counts.setdefault(tuple(row[list(parents)]), [0.0] * r)[row[child]] += weight
    n = float(weights.sum())
    if score in {"bic", "aic", "loglik"}:
        likelihood = sum(
            c * math.log(c / sum(cell)) for cell in counts.values() for c in cell if c > 0
        )
        penalty = {"bic": 0.5 * math.log(n), "aic": 1.0, "loglik": 0.0}[score]
        return float(likelihood - penalty * q * (r - 1))
    assert score in {"bdeu", "k2"}, f"the oracle has no definition of {score!r}"
    total = 0.0
    for cell in counts.values():
        prior = ess / (q * r) if score == "bdeu" else 1.0
        total += math.lgamma(r * prior) - math.lgamma(r * prior + sum(cell))
        total += sum(math.lgamma(prior + c) - math.lgamma(prior) for c in cell)
    return float(total)


@cache
def all_dags(n: int) -> tuple[ParentSets, ...]:
    """Return every DAG on n vertices (543 for 4, 29281 for 5)."""
    found: set[ParentSets] = set()
    for order in itertools.permutations(range(n)):
        choices = [
            [s for size in range(i + 1) for s in itertools.combinations(sorted(order[:i]), size)]
            for i in range(n)
        ]
        for picked in itertools.product(*choices):
            parents: list[tuple[int, ...]] = [()] * n
            for vertex, chosen in zip(order, picked, strict=True):
                parents[vertex] = chosen
            found.add(tuple(parents))
    return tuple(found)


def best_dag_score(scores: ScoreTable) -> float:
    """Return the best total over every DAG whose families are all in the table."""
    n = scores.n_variables
    local = [{parents: s for s, parents in scores.sets(v)} for v in range(n)]
    nothing = -math.inf
    return max(
        sum(local[v].get(parents, nothing) for v, parents in enumerate(dag)) for dag in all_dags(n)
    )


def random_table(
    rng: np.random.Generator,
    n_variables: int,
    n_rows: int,
    *,
    max_states: int = 4,
    weighted: bool = False,
) -> Table:
    """Return a table whose columns depend on each other, so that parents matter."""
    n_states = rng.integers(2, max_states + 1, n_variables)
    codes = np.empty((n_rows, n_variables), dtype=np.int32)
    for v in range(n_variables):
        codes[:, v] = rng.integers(0, n_states[v], n_rows)
        if v:
            source = rng.integers(0, v)
            follows = rng.random(n_rows) < 0.7
            codes[follows, v] = codes[follows, source] % n_states[v]
    weights = rng.uniform(0.0, 3.0, n_rows) if weighted else None
    return Table.from_codes(codes, n_states=n_states.tolist(), weights=weights)


def treewidth_by_orders(graph: Graph) -> int:
    """Return the least width over all elimination orders, by trying them all."""
    best = graph.n_vertices - 1
    for order in itertools.permutations(range(graph.n_vertices)):
        near = {v: set(around) for v, around in enumerate(graph.neighbours)}
        width = 0
        for v in order:
            around = near.pop(v)
            width = max(width, len(around))
            if width >= best:
                break
            for u in around:
                near[u] |= around
                near[u] -= {u, v}
        else:
            best = width
    return best


def random_graphs(n: int, count: int, seed: int) -> Iterator[Graph]:
    """Yield graphs on n vertices with densities spread evenly."""
    rng = np.random.default_rng(seed)
    pairs = list(itertools.combinations(range(n), 2))
    for i in range(count):
        density = (i + 0.5) / count
        yield Graph.from_edges(n, [p for p in pairs if rng.random() < density])
