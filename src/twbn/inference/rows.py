"""Many rows at once: predictions, likelihoods, imputation, completions."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from twbn.checks import checked_seed
from twbn.errors import DataError
from twbn.inference.states import joint_codes

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from twbn.data.table import Table
    from twbn.deadline import Deadline
    from twbn.inference.junction_tree import JunctionTree, Likelihoods

__all__ = ["blocks", "check_possible", "complete", "impute", "log_codes", "predict_proba"]


def predict_proba(
    tree: JunctionTree, data: Any, variable: str, *, unknown: str = "missing"
) -> NDArray[np.float64]:
    """Return the posterior of one variable in every row, given the row's other cells."""
    network = tree.network
    v = network.index(variable)
    table = network.encode(data, target=variable, unknown=unknown)
    n_states = network.n_states[v]
    rows = np.ascontiguousarray(table.codes, dtype=np.int32)
    posteriors, logs = tree.row_messages(v).collect(rows, n_states)
    check_possible(logs, table, left_out=v)
    return posteriors.reshape(-1, n_states)


def log_codes(tree: JunctionTree, rows: NDArray[np.int32]) -> NDArray[np.float64]:
    """Return the log-probability of rows of codes; negative codes are summed out."""
    return tree.row_messages().collect(np.ascontiguousarray(rows), 0)[1]


def impute(tree: JunctionTree, data: Any) -> Table:
    """Return the table with the missing cells of each row set to their most probable states."""
    table = tree.network.encode(data)
    check_possible(log_codes(tree, table.codes), table)
    codes = np.array(table.codes)
    for rows, likelihoods in blocks(tree, table):
        found = joint_codes(tree, likelihoods, len(rows))
        codes[rows] = np.where(codes[rows] < 0, found, codes[rows])
    return replace(table, codes=codes)


def complete(
    tree: JunctionTree, data: Any, *, seed: int = 0, deadline: Deadline | None = None
) -> Table:
    """Return the rows with the missing cells of each drawn from their posterior.

    Raises TimeoutError if the deadline passes or Ctrl-C arrives before all rows are done.
    """
    rng = np.random.default_rng(checked_seed(seed))
    table = tree.network.encode(data)
    codes = np.array(table.codes)
    for rows, likelihoods in blocks(tree, table):
        codes[rows] = joint_codes(tree, likelihoods, len(rows), rng, deadline)
    return replace(table, codes=codes)


def blocks(tree: JunctionTree, table: Table) -> Iterator[tuple[NDArray[np.int64], Likelihoods]]:
    """Yield batches of rows that are processed together, with their evidence."""
    step = tree.rows_at_once()
    for first in range(0, table.n_rows, step):
        rows = np.arange(first, min(first + step, table.n_rows))
        likelihoods: Likelihoods = {}
        for v, n in enumerate(tree.network.n_states):
            codes = table.codes[rows, v]
            if (codes >= 0).any():
                likelihoods[v] = np.vstack([np.eye(n), np.ones(n)])[codes]  # -1: the last, unknown
        yield rows, likelihoods


def check_possible(
    logs: NDArray[np.float64], table: Table, *, left_out: int = -1, first: int = 0
) -> None:
    """Raise DataError for a row of probability zero; `first` is the table row of the first log."""
    bad = np.flatnonzero(~np.isfinite(logs))
    if len(bad):
        row = int(bad[0]) + int(first)
        known = [
            f"{name}={table.states[v][table.codes[row, v]]}"
            for v, name in enumerate(table.names)
            if table.codes[row, v] >= 0 and v != left_out
        ]
        msg = f"row {row + 1} has probability zero: {', '.join(known)}"
        raise DataError(msg, line=row + 1)
