"""Parameters of a structure, whether cells are missing or not."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from twbn.data.distinct_rows import DistinctRows
from twbn.data.table import Table
from twbn.errors import DataError, Option, OptionError
from twbn.learning.em import fit_incomplete
from twbn.network.fit import coded_like, codings_of
from twbn.network.fit import fit as fit_complete

if TYPE_CHECKING:
    from twbn.graphs.decomposition import TreeDecomposition
    from twbn.network import Network

__all__ = ["fit"]


def fit(
    structure: Any,
    data: Any,
    *,
    ess: float = 1.0,
    decomposition: TreeDecomposition | None = None,
    time_limit: float | None = None,
) -> Network:
    """Return the network of a structure with its parameters estimated from data.

    Parameters
    ----------
    structure
        A `Dag`, or an object with a `dag` attribute such as a search result (also one read by
        `read_result`). Its variables must be the table's columns.
    data
        A `Table` or anything that `as_table` accepts; weighted rows count by their weight. Rows
        that the structure was not learned from are coded like those it was learned from. An
        iterator, such as ``pandas.read_csv(file, chunksize=100_000)``, gives the rows in chunks,
        of which only the distinct ones are kept in memory. Where cells are missing, the parameters
        are found by EM; see `fit_incomplete`.
    ess
        Equivalent sample size of the Dirichlet prior, spread evenly over each table as in BDeu.
        With 0, the estimate is maximum likelihood, and uniform for parent configurations that do
        not occur in the data.
    decomposition
        Decomposition to store with the network; by default the structure's own, if it has one.
    time_limit
        Seconds for EM, where cells are missing.

    Examples
    --------
    >>> from twbn import Dag, as_table
    >>> table = as_table({"a": [0, 0, 1, 1], "b": [0, 0, 1, 0]})
    >>> fit(Dag.from_arcs(2, [(0, 1)]), table, ess=0).table("b").tolist()
    [[1.0, 0.0], [0.5, 0.5]]
    """
    table = _of_chunks(structure, data) if isinstance(data, Iterator) else data
    table = coded_like(structure, table).determined()
    if table.n_missing.any():
        network = fit_incomplete(structure, table, ess=ess, time_limit=time_limit).network
    else:
        network = fit_complete(structure, table, ess=ess, decomposition=decomposition)
    changes: dict[str, Any] = {"data_options": getattr(structure, "data_options", {})}
    if decomposition is not None:
        changes["decomposition"] = decomposition
    return replace(network, **changes) if any(changes.values()) else network


def _of_chunks(structure: Any, chunks: Iterator[Any]) -> Table:
    """Return the distinct rows of chunks, each coded like the structure's own data."""
    codings = codings_of(structure)
    if codings is None:
        problem = " in chunks need a structure that records how its data were coded: a result of "
        raise OptionError(Option("data"), problem, "learn, or a network")
    rows = DistinctRows(Table.blank(structure.names, codings))
    some = False
    for chunk in chunks:
        rows.add(coded_like(structure, chunk))
        some = True
    if not some:
        msg = "there are no rows: the chunks have come to an end already"
        raise DataError(msg)
    return rows.table()
