"""Parameter estimation from complete data."""

from __future__ import annotations

import math
import numbers
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from twbn.data.coding import coding_of
from twbn.data.frames import as_table
from twbn.data.table import Table
from twbn.errors import DataError, MemoryLimitError, Option, OptionError, UnknownStateError
from twbn.graphs.dag import Dag
from twbn.network.counts import FamilyCounts
from twbn.network.network import Network

if TYPE_CHECKING:
    from twbn.data.coding import Coding
    from twbn.graphs.decomposition import TreeDecomposition

__all__ = [
    "checked_ess",
    "coded_like",
    "codings_of",
    "dag_of",
    "fit",
    "updated",
]

#: Limit on the total number of entries of all tables.
MAX_ENTRIES = 2**28


def fit(
    structure: Any,
    data: Any,
    *,
    ess: float = 1.0,
    decomposition: TreeDecomposition | None = None,
) -> Network:
    """Return the network of a structure with its parameters estimated from complete data.

    See `twbn.fit`, which also takes rows with missing cells.
    """
    dag = dag_of(structure)
    table = coded_like(structure, data)
    checked_ess(ess)
    table.require_complete("fitting parameters")
    if decomposition is None and not isinstance(structure, Dag):
        decomposition = getattr(structure, "decomposition", None)
    _refuse_too_large(table, dag)
    counts = FamilyCounts.of(table, dag, ess)
    tables = counts.probabilities()
    return Network(dag, table.names, table.codings, tables, decomposition, counts=counts)


def checked_ess(ess: float) -> None:
    """Raise OptionError unless an equivalent sample size is a finite number of at least 0."""
    number = isinstance(ess, numbers.Real) and not isinstance(ess, bool)
    if not (number and math.isfinite(ess) and ess >= 0):
        problem = f" must be 0 (maximum likelihood) or more, got {ess!r}"
        raise OptionError(Option("ess"), problem)


def dag_of(structure: Any) -> Dag:
    """Return the graph of a structure: a `Dag`, a search result, or a result read from a file."""
    dag = structure if isinstance(structure, Dag) else getattr(structure, "dag", None)
    if not isinstance(dag, Dag):
        problem = f" must be a Dag or have one, got {type(structure).__name__}"
        raise OptionError(Option("structure"), problem)
    return dag


def coded_like(structure: Any, data: Any) -> Table:
    """Return data as a table of a structure's variables.

    A structure learned from data records how they were coded: numbers are cut at the same points,
    and states that do not occur in `data` are kept. A new state is an error.
    """
    dag = dag_of(structure)
    names = getattr(structure, "names", None)
    codings = None if _is_its_own(structure, data) else codings_of(structure)
    if names is None or codings is None:
        table = as_table(data)
    else:
        like = Table.blank(names, codings)
        table = data if _is_coded_as(data, like) else _recoded(data, like)
    if dag.n_vertices != table.n_variables:
        msg = f"the structure has {dag.n_vertices} variables, the data {table.n_variables} columns"
        raise DataError(msg)
    if names is not None and tuple(names) != table.names:
        msg = "the structure has other variables than the data, or in another order"
        raise DataError(msg)
    return table


def codings_of(structure: Any) -> list[Coding] | None:
    """Return the codings of a structure's data, or None if it does not record them."""
    codings = getattr(structure, "codings", None)  # of a network
    coding = getattr(structure, "coding", None)  # of a result, as plain values
    if codings is not None or coding is None:
        return None if codings is None else list(codings)
    try:
        pairs = zip(coding, structure.names, strict=True)
        return [coding_of(document, name) for document, name in pairs]
    except (KeyError, TypeError, ValueError) as error:
        msg = f"the coding of the structure is not valid: {error}"
        raise DataError(msg) from None


def _recoded(data: Any, like: Table) -> Table:
    """Return data coded like those that the structure was learned from."""
    try:
        return as_table(data, like=like)
    except UnknownStateError as error:
        if not isinstance(data, Table):
            raise
        msg = (
            f"the table is coded otherwise than the data of the structure ({error}); give the rows "
            "as they are, or as_table(rows, like=...)"
        )
        raise DataError(msg) from None


def _is_its_own(structure: Any, data: Any) -> bool:
    """Return whether `data` is the very table that a structure was learned from."""
    own = getattr(structure, "fingerprint", None)
    return isinstance(data, Table) and own is not None and data.fingerprint == own


def _is_coded_as(data: Any, like: Table) -> bool:
    return isinstance(data, Table) and (data.names, data.codings) == (like.names, like.codings)


def _refuse_too_large(table: Table, dag: Dag) -> None:
    """Raise MemoryLimitError, before allocating any table, if they would be too large."""
    sizes = [
        math.prod(int(table.n_states[u]) for u in (v, *parents))
        for v, parents in enumerate(dag.parents)
    ]
    if sum(sizes) > MAX_ENTRIES:
        v = int(np.argmax([float(size) for size in sizes]))
        msg = (
            f"the tables have {float(sum(sizes)):.3g} entries, more than {MAX_ENTRIES:,}; that of "
            f"{table.names[v]!r} with {len(dag.parents[v])} parents has {float(sizes[v]):.3g} of "
            "them: give it fewer parents, or its parents fewer states"
        )
        raise MemoryLimitError(msg)


def updated(network: Network, data: Any, *, forget: float) -> Network:
    """Return the network with the counts of more rows; see `Network.update`."""
    number = isinstance(forget, numbers.Real) and not isinstance(forget, bool)
    if not (number and 0 <= forget <= 1):
        raise OptionError(Option("forget"), f" must be between 0 and 1, got {forget!r}")
    if network.counts is None:
        msg = "the network has no counts to add to; fit it to complete rows, which keeps them"
        raise DataError(msg)
    table = coded_like(network, data)
    table.require_complete("updating parameters")
    more = FamilyCounts.of(table, network.dag, network.counts.ess)
    counts = network.counts.plus(more, float(forget))
    return replace(network, tables=counts.probabilities(), counts=counts)
