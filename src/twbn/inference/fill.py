"""Imputation: the missing cells of rows filled in, all others left as they are."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, TypeAlias, get_args

import numpy as np

from twbn.data.build import build_table, read_for
from twbn.data.choose import NOTHING
from twbn.data.coding import Bins, date_text
from twbn.data.coding_options import CodingOptions
from twbn.data.columns import NumberColumn
from twbn.data.discretize import Discretize
from twbn.data.frames import columns_of, with_cells
from twbn.data.interpret import Parsing
from twbn.data.spelling import spelled_like
from twbn.data.table import Table
from twbn.errors import Option, OptionError
from twbn.inference.rows import complete, impute, predict_proba

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from twbn.data.columns import Column
    from twbn.inference.query import Inference
    from twbn.network.network import Network

__all__ = ["HOW", "Fill", "fill", "fill_columns"]

#: How a missing cell may be filled.
How: TypeAlias = Literal["mean", "mode", "draw"]
HOW: tuple[How, ...] = get_args(How)

#: How texts are read unless something else is said.
DEFAULT = Parsing()
#: The rows of a column to fill, and their values.
Fill: TypeAlias = tuple["NDArray[np.int64]", list[Any]]


def fill(engine: Inference, data: Any, *, how: str = "mean", seed: int = 0) -> Any:
    """Return data with missing cells filled in; see `twbn.Inference.impute`."""
    if how not in HOW:
        raise OptionError(Option("how"), f" must be one of {list(HOW)}, got {how!r}")
    if isinstance(data, Table):
        return complete(engine, data, seed=seed) if how == "draw" else impute(engine, data)
    columns = columns_of(data)
    found = fill_columns(engine, columns, how=how, seed=seed)
    return with_cells(data, [column.name for column in columns], found)


def fill_columns(
    engine: Inference,
    columns: Sequence[Column],
    *,
    how: str,
    seed: int = 0,
    parsing: Parsing = DEFAULT,
) -> dict[str, Fill]:
    """Return the rows to fill of each column that the network has, and the values."""
    network = engine.network
    options = CodingOptions(
        Discretize(),
        parsing,
        like=Table.blank(network.names, network.codings),
        unknown="missing",
        absent_ok=True,
    )
    table = build_table(columns, options, source="the table")
    rows = _rows_to_fill(network, columns, parsing)
    some = np.unique(np.concatenate(list(rows.values()) or [np.empty(0, dtype=np.int64)]))
    if not len(some):
        return {}
    asked = table.take(some)
    place = {name: np.searchsorted(some, chosen) for name, chosen in rows.items()}
    if how == "mean":
        values = {name: _expected(engine, asked.take(at), name) for name, at in place.items()}
    else:
        filled = complete(engine, asked, seed=seed) if how == "draw" else impute(engine, asked)
        values = {
            name: _decoded(network, network.index(name), filled.codes[at, network.index(name)])
            for name, at in place.items()
        }
    by_name = {column.name: column for column in columns}
    codings = dict(zip(network.names, network.codings, strict=True))
    return {
        name: (rows[name], spelled_like(by_name[name], codings[name], values[name], parsing))
        for name in rows
    }


def _rows_to_fill(
    network: Network, columns: Sequence[Column], parsing: Parsing
) -> dict[str, NDArray[np.int64]]:
    """Return the rows in which each column is missing; a state not seen before is not missing."""
    found = {}
    for column in columns:
        if column.name not in network.names:
            continue
        coding = network.codings[network.index(column.name)]
        if coding.states == (NOTHING,):  # nothing is known of it, and nothing can be filled in
            continue
        meant = read_for(column, coding, parsing)
        empty = meant.missing if isinstance(meant, NumberColumn) else meant.positions < 0
        if empty.any():
            found[column.name] = np.flatnonzero(empty)
    return found


def _expected(engine: Inference, rows: Table, name: str) -> list[Any]:
    """Return the posterior mean of a number, or the most probable state, in each row."""
    network = engine.network
    v = network.index(name)
    posterior = predict_proba(engine, rows, name)
    coding = network.codings[v]
    if not isinstance(coding, Bins):
        return _decoded(network, v, posterior.argmax(axis=1).astype(np.int32))
    return _numbers(coding, posterior @ np.asarray(coding.representatives))


def _decoded(network: Network, v: int, codes: NDArray[np.int32]) -> list[Any]:
    coding = network.codings[v]
    if isinstance(coding, Bins):
        return _numbers(coding, np.asarray(coding.representatives)[codes])
    return [coding.states[code] for code in codes.tolist()]


def _numbers(coding: Bins, numbers: NDArray[np.float64]) -> list[Any]:
    if coding.unit == "date":
        return [date_text(float(np.floor(number))) for number in numbers]
    return list(numbers.tolist())
