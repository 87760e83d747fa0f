"""Invariants of a network, checked when it is constructed."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import numpy as np

from twbn.data.invariants import check_text
from twbn.errors import DataError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from twbn.network.network import Network

__all__ = ["EXACT", "check_network", "summing_to_one"]

#: How far the sum of a row's probabilities may be from one; the row is then normalised, unless the
#: difference is only rounding of the sum itself.
EXACT, ROUNDING = 1e-9, 4 * np.finfo(np.float64).eps


def check_network(network: Network) -> None:
    """Raise DataError, naming the variable, unless the parts of a network fit together."""
    n = network.dag.n_vertices
    if n == 0:
        msg = "a network needs at least one variable"
        raise DataError(msg)
    if not len(network.names) == len(network.codings) == len(network.tables) == n:
        msg = (
            f"{len(network.names)} names, {len(network.codings)} codings and {len(network.tables)} "
            f"tables do not fit a graph of {n} variables"
        )
        raise DataError(msg)
    if len(set(network.names)) < n:
        twice = next(name for name, times in Counter(network.names).items() if times > 1)
        msg = f"two variables are called {twice!r}"
        raise DataError(msg)
    for v, table in enumerate(network.tables):
        name, states = network.names[v], network.states[v]
        check_text(name, "names of variables")
        for state in states:
            if isinstance(state, str):
                check_text(state, f"the states of {name!r}")
            elif not isinstance(state, int | float | np.number) or not np.isfinite(state):
                msg = f"the states of {name!r} must be finite numbers or texts, got {state!r}"
                raise DataError(msg)
        if not states or len(set(states)) < len(states):
            msg = f"the states of {name!r} must be distinct, and at least one: {list(states)}"
            raise DataError(msg)
        shape = tuple(network.n_states[u] for u in (*network.dag.parents[v], v))
        if table.shape != shape:
            msg = f"the table of {name!r} has shape {table.shape}, expected {shape}"
            raise DataError(msg)
        off = np.abs(table.sum(axis=-1) - 1)
        if not np.all(np.isfinite(table)) or table.min() < 0 or off.max() > EXACT:
            msg = (
                f"the table of {name!r} must have rows of probabilities that sum to one; "
                f"one is off by {np.max(off):.3g}"
            )
            raise DataError(msg)
    if network.decomposition is not None:
        network.decomposition.check(network.dag.moral_graph())
    _check_counts(network)


def _check_counts(network: Network) -> None:
    """Raise DataError unless counts have the shapes of the tables."""
    if network.counts is None:
        return
    shapes = [table.shape for table in network.counts.tables]
    if shapes != [table.shape for table in network.tables]:
        msg = f"the counts have the shapes {shapes}, which are not those of the tables"
        raise DataError(msg)


def summing_to_one(table: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the table with its rows normalised to sum to one, up to rounding."""
    sums = table.sum(axis=-1, keepdims=True)
    if np.abs(sums - 1).max() <= ROUNDING * table.shape[-1]:
        return table
    return np.asarray(table / sums)
