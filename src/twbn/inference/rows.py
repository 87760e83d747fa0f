"""Many rows at once: predictions, likelihoods, imputation, completions."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from twbn.checks import checked_seed
from twbn.errors import DataError
from twbn.inference.states import codes_given, joint_codes
from twbn.network.evidence import set_codes

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from twbn.data.table import Table
    from twbn.deadline import Deadline
    from twbn.inference.junction_tree import JunctionTree, Likelihoods
    from twbn.inference.query import Inference
    from twbn.network.network import Network

__all__ = [
    "blocks",
    "check_possible",
    "complete",
    "impute",
    "joint_rows",
    "predict_proba",
    "refuse_contradiction",
]


def predict_proba(
    engine: Inference, data: Any, variable: str, *, unknown: str = "missing"
) -> NDArray[np.float64]:
    """Return the posterior of one variable in every row, given the row's other cells."""
    network = engine.network
    v = network.index(variable)
    table = network.encode(data, target=variable, unknown=unknown)
    posteriors, logs = engine.answer_rows(table.codes, v)
    check_possible(logs, table, left_out=v)
    return posteriors


def refuse_contradiction(network: Network, table: Table, do: Any) -> None:
    """Raise DataError for the first row that says something else of a variable that is set."""
    for v, code in set_codes(network, do).items():
        others = np.flatnonzero((table.codes[:, v] >= 0) & (table.codes[:, v] != code))
        if len(others):
            name, states = network.names[v], network.states[v]
            row = int(others[0])
            msg = (
                f"row {row + 1} has {name}={states[table.codes[row, v]]}, but do sets {name} to "
                f"{states[code]!r}; leave that column out"
            )
            raise DataError(msg, line=row + 1)


def impute(engine: Inference, data: Any) -> Table:
    """Return the table with the missing cells of each row set to their most probable states."""
    table = engine.network.encode(data)
    check_possible(engine.log_codes(table.codes), table)
    codes = np.array(table.codes)
    found = engine.joint_rows(table, None)
    return replace(table, codes=np.where(codes < 0, found, codes))


def complete(
    engine: Inference, data: Any, *, seed: int = 0, deadline: Deadline | None = None
) -> Table:
    """Return the rows with the missing cells of each drawn from their posterior.

    Raises TimeoutError if the deadline passes or Ctrl-C arrives before all rows are done.
    """
    rng = np.random.default_rng(checked_seed(seed))
    table = engine.network.encode(data)
    return replace(table, codes=engine.joint_rows(table, rng, deadline))


def joint_rows(
    engine: Inference, table: Table, rng: np.random.Generator | None, deadline: Deadline | None
) -> NDArray[np.int32]:
    """Return codes of all variables for every row: the most probable, or drawn at random."""
    codes = np.array(table.codes)
    if not engine.tree.fits:  # row by row, variable by variable
        for row in codes:
            if deadline is not None:
                deadline.check()
            known = {v: int(code) for v, code in enumerate(row) if code >= 0}
            found = codes_given(engine, known, rng)
            row[:] = [found[v] for v in range(len(row))]
        return codes
    for rows, likelihoods in blocks(engine.tree, table):
        codes[rows] = joint_codes(engine.tree, likelihoods, len(rows), rng, deadline)
    return codes


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
