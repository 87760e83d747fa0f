"""The linear relaxation of structure learning, grown column by column and cut by cut."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from twbn import _core
from twbn.deadline import Deadline
from twbn.search.bound.multipliers import Multipliers, most_edges
from twbn.solvers.job import Job, Relaxed
from twbn.solvers.process import SolverDiedError, SolverProcess

if TYPE_CHECKING:
    import threading
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from twbn.scores.score_table import ScoreTable

__all__ = ["Relaxation"]


class Relaxation:
    """A restricted linear program over families, with its rows, in a solver process.

    Maximise the total score of families with weights pi subject to these rows: the weights of each
    variable's families sum to one (convexity); in every cluster of variables, at least one takes
    its parents from outside (clusters); and, if `treewidth` is given, the edges that the families
    need are no more than a graph of that treewidth can have (arc, pair and dense-set rows over edge
    columns). Methods raise TimeoutError when the deadline passes.

    Only some families are columns and only some rows are present; `multipliers` are valid for all.
    """

    def __init__(
        self,
        table: ScoreTable,
        treewidth: int | None,
        deadline: Deadline | None = None,
    ) -> None:
        self._table = table
        self._deadline = deadline or Deadline()
        self._n = n = table.n_variables
        self._k = treewidth
        self._parents = _padded_parents(table)
        self._child = table.children
        self._families = np.empty(0, dtype=np.int64)  # by column
        self._has = np.zeros(table.n_sets, dtype=bool)
        self._blocked = np.zeros(table.n_sets, dtype=bool)
        self._column = np.empty(0, dtype=np.int64)
        self._members = np.zeros((0, n + 1), dtype=bool)  # of the clusters; column n is for padding
        self._cluster_rows: list[int] = []
        self._age = np.empty(0, dtype=np.int64)  # rounds since a cluster's price was last non-zero
        self._pairs: dict[tuple[int, ...], int] = {}
        self._dense: list[list[int]] = []
        self._dense_rows: list[int] = []
        self._n_rows = self._n_columns = 0
        self._process = SolverProcess()
        try:
            self._begin()
        except BaseException:
            self.close()
            raise
        self.x = np.empty(0)
        self._duals = np.empty(0)

    def _begin(self) -> None:
        """Send the initial rows."""
        n = self._n
        self._process.send(Job(None))
        self._send_rows(
            [np.empty(0, dtype=np.int32)] * n, [np.empty(0)] * n, np.ones(n), np.ones(n)
        )
        if self._k is not None:
            self._edge = np.full((n, n), -1, dtype=np.int64)
            self._arc_row = np.full((n, n), -1, dtype=np.int64)
            self._add_edges()

    def close(self) -> None:
        """End the solver process."""
        self._process.end()

    # Building the program

    def _add_edges(self) -> None:
        first, second = np.triu_indices(self._n, 1)
        m = len(first)
        empty = np.empty(0, dtype=np.int32)
        self._send_columns(np.zeros(m), np.ones(m), [empty] * m, [np.empty(0)] * m)
        self._edge[first, second] = self._edge[second, first] = np.arange(m)
        rows = [np.array([c], dtype=np.int32) for c in range(m)]
        self._arc_row[first, second] = self._arc_row[second, first] = self._n_rows + np.arange(m)
        self._send_rows(rows, [np.array([-1.0])] * m, np.full(m, -np.inf), np.zeros(m))

    def add_families(self, sets: NDArray[np.int64]) -> int:
        """Add families, by their positions in the table; return how many are new."""
        new = np.unique(sets[~self._has[sets]])
        if not len(new):
            return 0
        self._has[new] = True
        rows, values = [], []
        for number, s in enumerate(new):
            if number % 1000 == 0:
                self._deadline.check()
            child, parents = self._child[s], self._parents[s]
            inside = self._members[:, child] & ~self._members[:, parents].any(axis=1)
            at = [int(child), *np.array(self._cluster_rows, dtype=np.int64)[inside]]
            own = parents[parents < self._n]
            if self._k is not None:
                at += self._arc_row[child, own].tolist()
                for i, b in enumerate(own):
                    for a in own[:i]:
                        row = self._pairs.get((int(child), int(a), int(b)))
                        if row is not None:
                            at.append(row)
            rows.append(np.array(at, dtype=np.int32))
            values.append(np.ones(len(at)))
        self._families = np.concatenate([self._families, new])
        columns = self._n_columns + np.arange(len(new))
        self._column = np.concatenate([self._column, columns])
        upper = np.where(self._blocked[new], 0.0, np.inf)
        self._send_columns(self._table.scores[new], upper, rows, values)
        return len(new)

    def add_clusters(self, clusters: Sequence[Sequence[int]]) -> None:
        """Add the cuts of clusters of variables."""
        inside = np.zeros((len(clusters), self._n + 1), dtype=bool)
        rows = []
        child, parents = self._child[self._families], self._parents[self._families]
        for i, members in enumerate(clusters):
            inside[i, list(members)] = True
            holds = inside[i, child] & ~inside[i, parents].any(axis=1)
            rows.append(self._column[holds].astype(np.int32))
        self._members = np.concatenate([self._members, inside])
        self._age = np.concatenate([self._age, np.zeros(len(clusters), dtype=np.int64)])
        self._cluster_rows += range(self._n_rows, self._n_rows + len(clusters))
        ones = np.ones(len(clusters))
        self._send_rows(rows, [np.ones(len(r)) for r in rows], ones, np.full(len(rows), np.inf))

    def add_dense_sets(self, sets: Sequence[Sequence[int]]) -> None:
        """Add the rows that limit the number of edges inside sets of variables."""
        assert self._k is not None
        rows, limits = [], []
        for members in sets:
            a, b = np.triu_indices(len(members), 1)
            who = np.array(members)
            rows.append(self._edge[who[a], who[b]].astype(np.int32))
            limits.append(float(most_edges(len(members), self._k)))
        self._dense += [list(members) for members in sets]
        self._dense_rows += range(self._n_rows, self._n_rows + len(rows))
        lower = np.full(len(rows), -np.inf)
        self._send_rows(rows, [np.ones(len(r)) for r in rows], lower, np.array(limits))

    def add_broken_pairs(self, least: float = 1e-4) -> int:
        """Add the rows of co-parent pairs that the solution violates; return how many."""
        weights: dict[tuple[int, int, int], float] = {}
        for column in np.flatnonzero(self.x[self._column] > 1e-9):
            s = self._families[column]
            own = self._parents[s][self._parents[s] < self._n]
            for i, b in enumerate(own):
                for a in own[:i]:
                    key = (int(self._child[s]), int(a), int(b))
                    weight = float(self.x[self._column[column]])
                    weights[key] = weights.get(key, 0.0) + weight
        broken = [
            key
            for key, weight in weights.items()
            if key not in self._pairs and weight > self.x[self._edge[key[1], key[2]]] + least
        ]
        rows, values = [], []
        child, parents = self._child[self._families], self._parents[self._families]
        for i, (c, a, b) in enumerate(broken):
            holds = (child == c) & (parents == a).any(axis=1) & (parents == b).any(axis=1)
            columns = self._column[holds]
            rows.append(np.concatenate([columns, [self._edge[a, b]]]).astype(np.int32))
            values.append(np.concatenate([np.ones(len(columns)), [-1.0]]))
            self._pairs[c, a, b] = self._n_rows + i
        if broken:
            self._send_rows(rows, values, np.full(len(rows), -np.inf), np.zeros(len(rows)))
        return len(broken)

    def allow(self, blocked: NDArray[np.bool_]) -> None:
        """Let no family that is blocked, and all others, have a weight; for all later ones, too."""
        before, self._blocked = self._blocked, blocked
        changed = np.flatnonzero((before != blocked)[self._families])
        if len(changed):
            upper = np.where(blocked[self._families[changed]], 0.0, np.inf)
            columns = self._column[changed].astype(np.int32)
            self._process.send(("limits", columns, upper))

    # Solving, and reading the solution

    def drop_idle_clusters(self, rounds: int) -> None:
        """Remove the cuts whose price has been zero for `rounds` rounds of cuts."""
        self._age = np.where(-self._duals[self._cluster_rows] > 1e-9, 0, self._age + 1)
        idle = self._age >= rounds
        if idle.sum() < len(idle) / 4:
            return
        gone = np.array(self._cluster_rows, dtype=np.int64)[idle]
        self._process.send(("delete", np.sort(gone).astype(np.int32)))
        left = np.ones(self._n_rows, dtype=bool)
        left[gone] = False
        place = np.cumsum(left) - 1  # new position of each remaining row
        self._cluster_rows = place[np.array(self._cluster_rows, dtype=np.int64)[~idle]].tolist()
        self._pairs = {key: int(place[row]) for key, row in self._pairs.items()}
        self._dense_rows = place[self._dense_rows].tolist() if self._dense_rows else []
        if self._k is not None:
            self._arc_row = np.where(self._arc_row >= 0, place[self._arc_row], -1)
        self._members, self._age = self._members[~idle], self._age[~idle]
        self._duals = self._duals[left]
        self._n_rows = int(left.sum())

    def solve(
        self, strategy: Literal["primal", "dual"], stop: threading.Event | None = None
    ) -> None:
        """Solve, by the primal or the dual simplex method.

        TimeoutError when the time is over, or `stop` is set.
        """
        self._process.send(("solve", strategy))
        found = self._process.receive(self._deadline, stop)
        assert isinstance(found, Relaxed)
        if found.status != "Optimal":
            msg = f"the relaxation could not be solved: {found.status}"
            raise SolverDiedError(msg)
        self.x, self._duals = found.x, found.duals

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return self._n_rows

    def used(self) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """Return the families in the solution and their weights."""
        some = np.flatnonzero(self.x[self._column] > 1e-9)
        return self._families[some], self.x[self._column[some]]

    def lacks(self, first: int, last: int) -> NDArray[np.bool_]:
        """Return, for a range of families of the table, which are not in the program."""
        return ~self._has[first:last]

    def prices(self) -> NDArray[np.float64]:
        """Return the price of every variable's convexity row."""
        return self._duals[: self._n]

    def multipliers(self) -> Multipliers:
        """Return the prices of all other rows."""
        clusters = -self._duals[self._cluster_rows]
        prices = {
            tuple(np.flatnonzero(self._members[i, :-1]).tolist()): float(clusters[i])
            for i in np.flatnonzero(clusters > 1e-9)
        }
        if self._k is None:
            return Multipliers(prices)
        arcs = np.where(self._arc_row >= 0, self._duals[self._arc_row], 0.0).clip(min=0.0)
        pairs = {key: float(self._duals[row]) for key, row in self._pairs.items()}
        rows = zip(self._dense, self._dense_rows, strict=True)
        dense = {tuple(members): float(self._duals[row]) for members, row in rows}
        return Multipliers(
            prices,
            arcs,
            {key: price for key, price in pairs.items() if price > 1e-9},
            {key: price for key, price in dense.items() if price > 1e-9},
        )

    def find_clusters(
        self, *, n_steps: int, tenure: int, max_cuts: int, seed: int, time_limit: float | None
    ) -> list[list[int]]:
        """Return clusters whose cuts the solution breaks."""
        used = np.flatnonzero(self.x[self._column] > 1e-9)
        sets = self._families[used]
        parents = self._parents[sets]
        own = parents < self._n
        found = _core.find_clusters(
            self._n,
            self._child[sets].astype(np.int32),
            self.x[self._column[used]],
            np.concatenate([[0], own.sum(axis=1).cumsum()]).astype(np.int64),
            parents[own].astype(np.int32),
            n_steps,
            tenure,
            1e-3,
            max_cuts,
            seed,
            time_limit,
        )
        return [members for _, members in found]

    def find_dense_sets(
        self, *, n_steps: int, max_cuts: int, seed: int, time_limit: float | None
    ) -> list[list[int]]:
        """Return sets of variables with more edges in the solution than the treewidth allows."""
        assert self._k is not None
        edges = np.where(self._edge >= 0, self.x[self._edge], 0.0)
        found = _core.find_dense_sets(
            self._n, edges, self._k, n_steps, 1e-3, max_cuts, seed, time_limit
        )
        return [members for _, members in found]

    def _send_rows(self, columns: Any, values: Any, lower: Any, upper: Any) -> None:
        self._n_rows += len(lower)
        self._process.send(("rows", lower, upper, *_compressed(columns, values)))

    def _send_columns(self, objective: Any, upper: Any, rows: Any, values: Any) -> None:
        self._n_columns += len(objective)
        self._process.send(("columns", objective, upper, *_compressed(rows, values)))


def _compressed(
    places: Sequence[NDArray[np.int32]], values: Sequence[NDArray[np.float64]]
) -> tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.float64]]:
    """Return starts, positions and values of a sparse matrix by rows (or by columns)."""
    starts = np.concatenate([[0], np.cumsum([len(p) for p in places])])[:-1].astype(np.int32)
    empty = not places
    return (
        starts,
        np.empty(0, dtype=np.int32) if empty else np.concatenate(places).astype(np.int32),
        np.empty(0) if empty else np.concatenate(values).astype(np.float64),
    )


def _padded_parents(table: ScoreTable) -> NDArray[np.int64]:
    """Return the parents of every set as one matrix, filled up with the number of variables."""
    matrix = np.full((table.n_sets, max(table.max_parents, 1)), table.n_variables)
    row = np.repeat(np.arange(table.n_sets), table.set_sizes)
    matrix[row, np.arange(len(row)) - table.set_offsets[row]] = table.parents
    return matrix
