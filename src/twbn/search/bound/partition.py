"""Partitions of the variables into blocks that are tied within, and the families inside a block."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

import numpy as np

from twbn.scores.protocol import ScoringInfo
from twbn.scores.score_table import ScoreTable

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["partition", "restricted", "ties"]

#: Families so far below their child's best, in nats, say little about what is tied.
NEAR = 7.0
#: Variables from which a block is grown, and the least gain in ties for an exchange.
STARTS, LEAST_GAIN = 40, 1e-9


def partition(ties: NDArray[np.float64], size: int) -> list[list[int]]:
    """Return a partition into blocks of up to `size` variables with strong ties inside."""
    left = np.arange(len(ties))
    blocks = []
    while len(left) > size:
        among = ties[np.ix_(left, left)]
        inside = _tied_most(among, size)
        blocks.append(left[inside].tolist())
        left = left[~inside]
    return [*blocks, left.tolist()]


def ties(table: ScoreTable, values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return how strongly families tie each two variables: by those near the top with both."""
    n = table.n_variables
    tops = np.maximum.reduceat(values, table.variable_offsets[:-1])
    below = tops[table.children] - values
    near = np.flatnonzero(below < NEAR)
    weights = np.exp(-below[near])
    weights /= np.bincount(table.children[near], weights, minlength=n)[table.children[near]]
    sizes, starts = table.set_sizes[near], table.set_offsets[:-1][near]
    tied = np.zeros((n, n))
    for size in np.unique(sizes).tolist():
        of_size = sizes == size
        parents = table.parents[starts[of_size][:, None] + np.arange(size)]
        members = np.column_stack([table.children[near[of_size]], parents])
        for i, j in itertools.permutations(range(size + 1), 2):
            np.add.at(tied, (members[:, i], members[:, j]), weights[of_size])
    return tied


def _tied_most(ties: NDArray[np.float64], size: int) -> NDArray[np.bool_]:
    """Return which variables to take, tried from each of the most tied ones."""
    firsts = np.argsort(-ties.sum(axis=1), kind="stable")[:STARTS]
    tried = [_grown(ties, int(first), size) for first in firsts]
    return max(tried, key=lambda inside: float(ties[np.ix_(inside, inside)].sum()))


def _grown(ties: NDArray[np.float64], first: int, size: int) -> NDArray[np.bool_]:
    """Return which variables to take: one at a time, then exchanged for better ones."""
    inside = np.zeros(len(ties), dtype=bool)
    inside[first] = True
    while inside.sum() < size:
        pull = np.where(inside, -np.inf, ties[:, inside].sum(axis=1))
        inside[int(np.argmax(pull))] = True
    for _ in range(size * len(ties)):
        pull = ties[:, inside].sum(axis=1)
        gains = np.where(inside, -np.inf, pull)[None, :] - np.where(inside, pull, np.inf)[:, None]
        gains -= ties
        out, new = divmod(int(np.argmax(gains)), len(ties))
        if not gains[out, new] > LEAST_GAIN:
            break
        inside[out], inside[new] = False, True
    return inside


def restricted(table: ScoreTable, block: list[int], values: NDArray[np.float64]) -> ScoreTable:
    """Return the families of a block: each set of parents inside, with the best set around it."""
    bit = np.zeros(table.n_variables, dtype=np.int64)
    bit[block] = 1 << np.arange(len(block))
    sums = np.concatenate([[0], np.cumsum(bit[table.parents])])
    masks = sums[table.set_offsets[1:]] - sums[table.set_offsets[:-1]]
    sets, scores = [], []
    for child in block:
        own = slice(*table.variable_offsets[child : child + 2])
        inside, at = np.unique(masks[own], return_inverse=True)
        best = np.full(len(inside), -np.inf)
        np.maximum.at(best, at, values[own])
        order = np.argsort(-best, kind="stable")
        sets.append(inside[order])
        scores.append(best[order])
    has = (np.concatenate(sets)[:, None] >> np.arange(len(block)) & 1).astype(bool)
    return ScoreTable(
        tuple(table.names[v] for v in block),
        np.cumsum([0, *map(len, sets)]),
        np.concatenate(scores),
        np.concatenate([[0], np.cumsum(has.sum(axis=1))]),
        np.nonzero(has)[1].astype(np.int32),
        ScoringInfo(),
    )
