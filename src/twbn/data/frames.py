"""Tables from data in memory: data frames, matrices, dicts of columns."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from twbn.data.build import CodingOptions, build_table
from twbn.data.columns import MISSING, RawColumn, plain_cell
from twbn.data.names import check_misnamed, renamed
from twbn.data.read.options import ReadOptions
from twbn.data.read.table_file import table_of_file
from twbn.data.table import Table
from twbn.errors import DataError, Option, OptionError

if TYPE_CHECKING:
    import narwhals as nw
    from numpy.typing import ArrayLike

    from twbn.data.discretize import Discretize

__all__ = ["as_table"]


def as_table(
    source: Any,
    *,
    names: Sequence[str] | None = None,
    discretize: str | Discretize = "median",
    drop: Sequence[str] = (),
    weights: str | ArrayLike | None = None,
    missing: Sequence[str] = MISSING,
    like: Table | None = None,
    absent_ok: bool = False,
    target: str | None = None,
) -> Table:
    """Return `source` as a coded table.

    Parameters
    ----------
    source
        A Table, a path (CSV, TSV, Parquet, ARFF, BLIP ``.dat``), a pandas, polars or pyarrow
        frame, a NumPy matrix, or a dict of columns.
    names
        Column names of a NumPy matrix or of a file without a header.
    discretize
        How numeric columns with many values are cut: ``"median"``, ``"quantile"``, ``"uniform"``
        or a `Discretize` for full control.
    drop
        Columns to leave out.
    weights
        Weight of each row, or the name of the column that holds it.
    missing
        Texts that stand for a missing cell. None, NaN and nulls always count as missing.
    like
        A table whose coding is reused; a state that the coding does not contain is an error.
    absent_ok
        With `like`: treat the cells of an absent column as missing, instead of raising an error.
        It is still an error if another column has almost the same name. If there are columns that
        `like` does not have, a warning is issued.
    target
        With `absent_ok`: the column to predict, which may be absent.

    Notes
    -----
    Numeric columns with at most ``Discretize.max_categories`` distinct values keep them as states.

    Examples
    --------
    >>> table = as_table({"smoker": ["no", "yes", "no"], "children": [2, 0, 2]})
    >>> table.states
    (('no', 'yes'), (0, 2))
    """
    options = CodingOptions.of(discretize, drop, weights, like, absent_ok=absent_ok, target=target)
    if isinstance(source, str | os.PathLike):
        return table_of_file(source, ReadOptions(missing=tuple(missing)), options, names)
    if isinstance(source, Table):
        return _recoded(source, options)
    columns = _columns_of(source, names, missing)
    return build_table(columns, options, source="the table")


def _recoded(table: Table, options: CodingOptions) -> Table:
    """Return a coded table without the dropped columns, and recoded if `like` is given."""
    for name in options.drop:
        table.index(name)
    kept = table.select([name for name in table.names if name not in options.drop])
    if isinstance(options.weights, str):
        problem = f" of a coded table must be numbers, got the column name {options.weights!r}"
        raise OptionError(Option("weights"), problem)
    if options.weights is not None:
        kept = kept.with_weights(options.weights)
    like = options.like
    if like is None:
        return table if kept.names == table.names and options.weights is None else kept
    if options.absent_ok:
        check_misnamed(kept.names, like.names, options.target)
    columns = []
    for name, coding in zip(like.names, like.codings, strict=True):
        if options.absent_ok and name not in kept.names:
            columns.append(np.full(kept.n_rows, -1, dtype=np.int32))
            continue
        v = kept.index(name)
        if kept.codings[v] == coding:
            columns.append(kept.codes[:, v])
            continue
        codes = coding.encode(kept.states[v], name)
        columns.append(np.append(codes, np.int32(-1))[kept.codes[:, v]])
    return Table(like.names, like.codings, np.column_stack(columns), kept.weights)


def _columns_of(
    source: Any, names: Sequence[str] | None, missing: Sequence[str]
) -> list[RawColumn]:
    if isinstance(source, Mapping):
        columns = _columns_of_mapping(source, missing)
        return columns if names is None else renamed(columns, names)
    if isinstance(source, np.ndarray):
        return _columns_of_array(source, names, missing)
    import narwhals as nw

    try:
        frame = nw.from_native(source, eager_only=True, pass_through=True)
    except nw.exceptions.DuplicateError:
        repeated = [str(c) for c, times in Counter(source.columns).items() if times > 1]
        msg = f"column names must be distinct, but {repeated[0]!r} occurs twice or more"
        raise DataError(msg) from None
    if not isinstance(frame, nw.DataFrame):
        msg = (
            "cannot make a table from a value of type "
            f"{type(source).__module__}.{type(source).__qualname__}; expected a path, a pandas, "
            "polars or pyarrow frame, a NumPy matrix or a dict of columns"
        )
        raise DataError(msg)
    columns = [_column_of_series(frame[:, i], frozenset(missing)) for i in range(frame.shape[1])]
    return columns if names is None else renamed(columns, names)


def _column_of_series(series: nw.Series[Any], gaps: frozenset[str]) -> RawColumn:
    """Return one column of a frame; declared categories keep their order, observed or not."""
    import narwhals as nw

    column = RawColumn.from_cells(series.name, map(plain_cell, series.to_list()), missing=gaps)
    if isinstance(series.dtype, nw.Enum):
        declared = list(series.dtype.categories)
    elif series.dtype == nw.Categorical and series.implementation.is_pandas():
        declared = series.to_native().cat.categories.tolist()
    else:
        return column
    states = tuple(plain_cell(state) for state in declared)
    position = {state: i for i, state in enumerate(states)}
    moved = np.array([position[value] for value in column.values] + [-1], dtype=np.int32)
    return RawColumn(column.name, states, moved[column.positions], ordered=True)


def _columns_of_mapping(source: Mapping[Any, Any], missing: Sequence[str]) -> list[RawColumn]:
    gaps = frozenset(missing)
    columns = []
    for name, cells in source.items():
        if isinstance(cells, str) or not isinstance(cells, Iterable):
            msg = f"column {name!r} must be a sequence of cells, got {cells!r}"
            raise DataError(msg)
        columns.append(RawColumn.from_cells(str(name), map(plain_cell, cells), missing=gaps))
    for column in columns[1:]:
        if len(column.positions) != len(columns[0].positions):
            msg = (
                f"columns must have equal lengths: {columns[0].name!r} has "
                f"{len(columns[0].positions)} rows, {column.name!r} has {len(column.positions)}"
            )
            raise DataError(msg)
    return columns


def _columns_of_array(
    source: np.ndarray[Any, Any], names: Sequence[str] | None, missing: Sequence[str]
) -> list[RawColumn]:
    if source.ndim != 2:
        msg = f"the array must have 2 dimensions (rows, columns), got {source.ndim}"
        raise DataError(msg)
    if names is None:
        names = [f"x{v}" for v in range(1, source.shape[1] + 1)]
    if len(names) != source.shape[1]:
        msg = f"expected {source.shape[1]} names, got {len(names)}"
        raise OptionError(msg)
    gaps = frozenset(missing)
    return [
        RawColumn.from_cells(str(name), map(plain_cell, source[:, v].tolist()), missing=gaps)
        for v, name in enumerate(names)
    ]
