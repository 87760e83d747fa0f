"""Parameters from complete data."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from twbn.data.convert import as_table
from twbn.errors import DataError, OptionError
from twbn.graphs.dag import Dag
from twbn.network.network import Network

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from twbn.data.table import Table
    from twbn.graphs.decomposition import TreeDecomposition

__all__ = ["family_counts", "fit", "table_from_counts"]


def fit(
    structure: Any,
    data: Any,
    *,
    ess: float = 1.0,
    decomposition: TreeDecomposition | None = None,
) -> Network:
    """Return the network of a structure with its parameters estimated from complete data.

    Parameters
    ----------
    structure
        A `Dag` or anything with a `dag` (a search result), whose variables are the table's columns.
    data
        A Table or anything `as_table` takes; weighted rows count by their weight.
    ess
        Equivalent sample size of the Dirichlet prior, spread evenly over each table as in BDeu.
        0: maximum likelihood, and uniform where the parents were never seen so.
    decomposition
        Kept with the network; by default the structure's own, if it has one.

    Examples
    --------
    >>> table = as_table({"a": [0, 0, 1, 1], "b": [0, 0, 1, 0]})
    >>> fit(Dag.from_arcs(2, [(0, 1)]), table, ess=0).table("b").tolist()
    [[1.0, 0.0], [0.5, 0.5]]
    """
    table = as_table(data)
    dag = structure if isinstance(structure, Dag) else getattr(structure, "dag", None)
    if not isinstance(dag, Dag):
        msg = f"structure must be a Dag or have one, got {type(structure).__name__}"
        raise OptionError(msg)
    if dag.n_vertices != table.n_variables:
        msg = f"the structure has {dag.n_vertices} variables, the data {table.n_variables} columns"
        raise DataError(msg)
    names = getattr(structure, "names", table.names)
    if tuple(names) != table.names:
        msg = "the structure has other variables than the data, or in another order"
        raise DataError(msg)
    if not (np.isfinite(ess) and ess >= 0):
        msg = f"ess must be 0 (maximum likelihood) or more, got {ess!r}"
        raise OptionError(msg)
    table.require_complete("fitting parameters")
    if decomposition is None and not isinstance(structure, Dag):
        decomposition = getattr(structure, "decomposition", None)
    tables = tuple(
        table_from_counts(family_counts(table, v, dag.parents[v]), ess) for v in range(len(names))
    )
    return Network(dag, table.names, table.codings, tables, decomposition)


def family_counts(table: Table, child: int, parents: tuple[int, ...]) -> NDArray[np.float64]:
    """Return how often each combination occurs: an axis for each parent, the child's own last."""
    family = (*parents, child)
    shape = tuple(int(table.n_states[u]) for u in family)
    cells = np.ravel_multi_index(tuple(table.codes[:, u] for u in family), shape)
    counts = np.bincount(cells, weights=table.weights, minlength=int(np.prod(shape)))
    return counts.reshape(shape).astype(np.float64)


def table_from_counts(counts: NDArray[np.float64], ess: float) -> NDArray[np.float64]:
    """Return the mean of the Dirichlet posterior; rows without counts and prior are uniform."""
    counts = counts + ess / counts.size
    sums = counts.sum(axis=-1, keepdims=True)
    uniform = 1.0 / counts.shape[-1]
    return np.asarray(np.divide(counts, sums, out=np.full_like(counts, uniform), where=sums > 0))
