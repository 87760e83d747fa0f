"""Cuts chosen by the score: each variable's, given what its neighbours in the structure tell."""

from __future__ import annotations

import math
import os
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from twbn.data.coding import Bins
from twbn.data.columns import MISSING, NumberColumn
from twbn.data.frames import columns_of
from twbn.data.interpret import Parsing, meaning
from twbn.data.names import with_names
from twbn.data.read import ReadOptions, read_columns
from twbn.errors import Option, OptionError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from numpy.typing import NDArray

    from twbn.data.columns import Column
    from twbn.data.table import Table
    from twbn.graphs.dag import Dag
    from twbn.search import SearchResult

__all__ = ["FineColumn", "cut_by_score", "fine_columns", "recut"]

#: Intervals that cuts are chosen among, and the most that are kept.
FINE, MOST_STATES = 24, 8
#: Most rounds of learning a structure and cutting by it.
ROUNDS = 3
#: How texts are read unless something else is said.
DEFAULT = Parsing()


@dataclass(frozen=True)
class FineColumn:
    """A column of numbers cut finely: the edges, and the interval of each row (-1: missing)."""

    edges: NDArray[np.float64]
    codes: NDArray[np.int32]
    numbers: NDArray[np.float64]


def cut_by_score(
    source: Any,
    table: Table,
    search: Callable[[Table], SearchResult],
    reading: Mapping[str, Any],
) -> Table:
    """Return the table of raw data with cuts that suit a structure learned from it.

    A structure is searched for and the columns are cut by it, in turns, until no cut changes.
    `reading` has the options that the table was read with, under the names of `read_table`.
    """
    if reading.get("distinct"):
        problem = " 'score' needs all rows at once; use 'quantile' for chunks"
        raise OptionError(Option("discretize"), problem)
    if isinstance(source, str | os.PathLike):
        names = ("delimiter", "header", "encoding", "skip_rows")
        given = {name: reading[name] for name in names if name in reading}
        columns = read_columns(Path(source), ReadOptions(**given))
    else:
        columns = columns_of(source)
    parsing = Parsing(
        (*MISSING, *reading.get("missing", ())),
        reading.get("decimal", "."),
        reading.get("thousands", ""),
    )
    fine = fine_columns(with_names(columns)[0], table, parsing)
    for _ in range(ROUNDS):
        result = search(table)
        again = recut(table, result.dag, fine)
        if again.codings == table.codings or result.status == "interrupted":
            return again
        table = again
    return table


def fine_columns(
    columns: Sequence[Column], table: Table, parsing: Parsing = DEFAULT
) -> dict[int, FineColumn]:
    """Return the columns of a table that are cut, by position, cut as finely as cuts may become."""
    by_name = {column.name: column for column in columns}
    found = {}
    for v, (name, coding) in enumerate(zip(table.names, table.codings, strict=True)):
        if not isinstance(coding, Bins):
            continue
        column = by_name[name]
        column = meaning(column, parsing)[0]
        if not isinstance(column, NumberColumn):
            continue
        shares = np.arange(1, FINE) / FINE
        edges = np.unique(np.quantile(column.known.astype(np.float64), shares))
        edges = edges[edges < column.known.max()]
        if len(edges):
            numbers = column.numbers.astype(np.float64)
            codes = Bins(tuple(edges.tolist())).encode_numbers(numbers)
            found[v] = FineColumn(edges, codes, numbers)
    return found


def recut(table: Table, dag: Dag, fine: dict[int, FineColumn]) -> Table:
    """Return the table with every fine column cut anew, one after the other.

    Notes
    -----
    Friedman and Goldszmidt (1996): the cuts of a variable maximise what its states tell of its
    parents and its children, less half the logarithm of the rows for every parameter that a state
    takes. Both are sums over the states, so the best cuts come from a dynamic program over the fine
    intervals: O(m²) intervals for m fine ones, each with the counts of the variable's families.
    """
    for v, column in fine.items():
        edges = _best_edges(table, dag, v, column)
        old = table.codings[v]
        assert isinstance(old, Bins)
        if edges == old.edges:
            continue
        kept = np.searchsorted(column.edges, edges)
        codes = np.array(table.codes)
        codes[:, v] = np.where(
            column.codes < 0, -1, np.searchsorted(kept, column.codes, side="left")
        )
        codings = list(table.codings)
        codings[v] = Bins(
            edges, unit=old.unit, centers=_centers(column, codes[:, v], len(edges) + 1)
        )
        table = replace(table, codings=tuple(codings), codes=codes)
    return table


def _centers(column: FineColumn, codes: NDArray[np.int32], n_states: int) -> tuple[float, ...]:
    """Return the mean of the numbers in each interval."""
    known = codes >= 0
    times = np.bincount(codes[known], minlength=n_states)
    sums = np.bincount(codes[known], weights=column.numbers[known], minlength=n_states)
    return tuple((sums / np.maximum(times, 1)).tolist())


def _best_edges(table: Table, dag: Dag, v: int, column: FineColumn) -> tuple[float, ...]:
    """Return the cuts of one variable with the best score, given the codes of all others."""
    n_fine = len(column.edges) + 1
    known = column.codes >= 0
    gains = np.zeros((n_fine, n_fine + 1))  # of the interval of fine ones from i to j - 1
    price = 0.0
    log_rows = 0.5 * math.log(max(int(known.sum()), 2))
    families = [(dag.parents[v], None)] + [
        (tuple(p for p in dag.parents[c] if p != v), c)
        for c in range(dag.n_vertices)
        if v in dag.parents[c]
    ]
    for others, child in families:
        joint, n_joint = _combined(table, others)
        if child is None:  # what the parents tell of the variable is what it tells of them
            group, n_group, target, n_target = np.zeros_like(joint), 1, joint, n_joint
        else:
            target, n_target = table.codes[:, child].astype(np.int64), int(table.n_states[child])
            group, n_group = joint, n_joint
        if n_target < 2:
            continue
        rows = known & (target >= 0) & (group >= 0)
        cells = (column.codes[rows].astype(np.int64) * n_group + group[rows]) * n_target
        shape = (n_fine, n_group, n_target)
        weights = None if table.weights is None else table.weights[rows]
        flat = np.bincount(cells + target[rows], weights=weights, minlength=math.prod(shape))
        below = np.concatenate([np.zeros((1, *shape[1:])), np.cumsum(flat.reshape(shape), axis=0)])
        price += log_rows * n_group * (n_target - 1)
        for i in range(n_fine):
            inside = below[i + 1 :] - below[i]
            total = inside.sum(axis=2, keepdims=True)
            shares = np.divide(inside, total, out=np.ones_like(inside), where=inside > 0)
            gains[i, i + 1 :] += (inside * np.log(shares)).sum(axis=(1, 2))
    if price == 0:  # nothing to tell: the cuts stay
        old = table.codings[v]
        assert isinstance(old, Bins)
        return old.edges
    return _dynamic_program(gains, price, column.edges)


def _combined(table: Table, variables: Sequence[int]) -> tuple[NDArray[np.int64], int]:
    """Return the joint state of some variables in each row, -1 where one is missing."""
    joint = np.zeros(table.n_rows, dtype=np.int64)
    size = 1
    missing = np.zeros(table.n_rows, dtype=bool)
    for u in variables:
        n_states = int(table.n_states[u])
        joint = joint * n_states + np.maximum(table.codes[:, u], 0)
        missing |= table.codes[:, u] < 0
        size *= n_states
    return np.where(missing, -1, joint), size


def _dynamic_program(
    gains: NDArray[np.float64], price: float, edges: NDArray[np.float64]
) -> tuple[float, ...]:
    """Return the cuts into two intervals or more with the best sum of gains less prices."""
    n_fine = len(gains)
    best = np.full((MOST_STATES + 1, n_fine + 1), -np.inf)
    came = np.zeros((MOST_STATES + 1, n_fine + 1), dtype=np.int64)
    best[0, 0] = 0.0
    for n_states in range(1, min(MOST_STATES, n_fine) + 1):
        for end in range(n_states, n_fine + 1):
            found = best[n_states - 1, :end] + gains[:end, end] - price
            came[n_states, end] = int(np.argmax(found))
            best[n_states, end] = found[came[n_states, end]]
    n_states = 2 + int(np.argmax(best[2:, n_fine]))
    cuts, end = [], n_fine
    for left in range(n_states, 1, -1):
        end = int(came[left, end])
        cuts.append(float(edges[end - 1]))
    return tuple(reversed(cuts))
