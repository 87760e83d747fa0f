"""Rows of codes, by passes over the junction tree or each on what matters for it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from twbn import _core
from twbn.inference.elimination import ENTRY_BYTES

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from twbn.inference.query import Inference

__all__ = ["answer_rows"]

#: Entries of a tree whose passes are not worth comparing with anything.
FEW_ENTRIES = 20_000
#: Rows by which the two ways are compared.
N_COMPARED = 16


def answer_rows(
    engine: Inference, rows: NDArray[np.int32], target: int | None
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the posterior of a target for each row of codes, and logarithms.

    Notes
    -----
    A pass over the junction tree shares what rows have in common but goes wherever there is
    evidence; elimination looks only at what matters for the row, and plans each anew. What some
    rows would cost decides, known beforehand from the sizes of tables.
    """
    n_states = 0 if target is None else engine.network.n_states[target]
    rows = np.ascontiguousarray(rows, dtype=np.int32)
    if _by_tree(engine, rows, target):
        values, logs = engine.tree.row_messages(target).collect(rows, n_states)
        return values.reshape(len(rows), n_states), logs
    number = -1 if target is None else target
    most = engine.elimination.limits.memory * 2**30 / ENTRY_BYTES
    values, logs = _core.eliminate_rows(engine.factors, number, rows, n_states, most)
    values = values.reshape(len(rows), n_states)
    for i in np.flatnonzero(np.isnan(logs)).tolist():  # those that take several passes
        known = {v: int(code) for v, code in enumerate(rows[i]) if code >= 0 and v != target}
        wanted = () if target is None else (target,)
        found, logs[i] = engine.elimination.answer(wanted, known, {})
        if logs[i] > -np.inf:
            logs[i] += np.log(found.sum())
            values[i] = found / found.sum() if wanted else values[i]
    return values, logs


def _by_tree(engine: Inference, rows: NDArray[np.int32], target: int | None) -> bool:
    """Say whether passes over the tree are cheaper for these rows."""
    tree = engine.tree
    if not tree.fits:
        return False
    if tree.n_entries <= FEW_ENTRIES or not len(rows):
        return True
    some = np.ascontiguousarray(rows[:: -(-len(rows) // N_COMPARED)])
    share = len(rows) / len(some)
    number = -1 if target is None else target
    by_elimination = share * _core.elimination_cost(engine.factors, number, some)
    if not tree.has_row_messages(target) and by_elimination < tree.n_entries:
        return False  # the first pass alone, over all bags, costs more
    return share * tree.row_messages(target).cost(some) < by_elimination
