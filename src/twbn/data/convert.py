"""Tables from whatever the user holds in memory, or from a file."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from twbn.data.columns import GAPS, CodingOptions, RawColumn, build_table, plain_cell
from twbn.data.discretize import Discretize
from twbn.data.names import check_misnamed
from twbn.data.read import ReadOptions, read_columns
from twbn.data.table import Table
from twbn.errors import DataError, OptionError

if TYPE_CHECKING:
    import narwhals as nw
    from numpy.typing import ArrayLike

__all__ = ["as_table", "read_table"]


def as_table(
    source: Any,
    *,
    names: Sequence[str] | None = None,
    discretize: str | Discretize = "median",
    drop: Sequence[str] = (),
    weights: str | ArrayLike | None = None,
    missing: Sequence[str] = GAPS,
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
        Column names of a NumPy matrix or of a file without header.
    discretize
        How numeric columns with many values are cut: ``"median"``, ``"quantile"``, ``"uniform"``
        or a `Discretize` with all details.
    drop
        Columns to leave out.
    weights
        Weight of each row, or the name of the column that holds it.
    missing
        Texts that mean a missing cell. None, NaN and nulls always do.
    like
        A table whose coding is to be used again; a state it does not know is an error.
    absent_ok
        With `like`: a column that is not there has its cells missing, instead of an error. If
        another column has almost its name, that is an error all the same; if there are columns
        that `like` does not have, a warning.
    target
        With `absent_ok`: the column that is to be predicted, and need not be there.

    Notes
    -----
    Numeric columns with at most ``Discretize.max_categories`` distinct values keep them as states.

    Examples
    --------
    >>> table = as_table({"smoker": ["no", "yes", "no"], "children": [2, 0, 2]})
    >>> table.states
    (('no', 'yes'), (0, 2))
    """
    if isinstance(source, str | os.PathLike):
        return read_table(
            source, names=names, discretize=discretize, drop=drop, weights=weights,
            missing=missing, like=like, absent_ok=absent_ok, target=target,
        )  # fmt: skip
    options = _options(discretize, drop, weights, like, absent_ok=absent_ok, target=target)
    if isinstance(source, Table):
        return _recoded(source, options)
    columns = _columns_of(source, names, missing)
    return build_table(columns, options, source="the table")


def read_table(
    path: str | os.PathLike[str],
    *,
    names: Sequence[str] | None = None,
    delimiter: str | None = None,
    header: bool | None = None,
    discretize: str | Discretize = "median",
    drop: Sequence[str] = (),
    weights: str | ArrayLike | None = None,
    missing: Sequence[str] = GAPS,
    like: Table | None = None,
    absent_ok: bool = False,
    target: str | None = None,
) -> Table:
    """Return the table of a file; the format follows from the ending of its name.

    ``.parquet``, ``.arff`` and ``.dat`` (BLIP) are read as such, everything else as delimited
    text, whose delimiter and header are found out unless `delimiter` and `header` say. The other
    parameters are those of `as_table`.
    """
    reading = ReadOptions(delimiter=delimiter, header=header, missing=tuple(missing))
    columns = read_columns(Path(path), reading)
    if names is not None:
        columns = _renamed(columns, names)
    options = _options(discretize, drop, weights, like, absent_ok=absent_ok, target=target)
    return build_table(columns, options, source=str(path))


def _options(
    discretize: str | Discretize,
    drop: Sequence[str],
    weights: str | ArrayLike | None,
    like: Table | None,
    *,
    absent_ok: bool,
    target: str | None,
) -> CodingOptions:
    if isinstance(drop, str):
        drop = (drop,)
    rule = discretize if isinstance(discretize, Discretize) else Discretize(discretize)  # type: ignore[arg-type]
    return CodingOptions(rule, tuple(drop), weights, like, absent_ok, target)


def _recoded(table: Table, options: CodingOptions) -> Table:
    """Return a coded table without the columns to drop, or coded like another."""
    for name in options.drop:
        table.index(name)
    kept = table.select([name for name in table.names if name not in options.drop])
    if isinstance(options.weights, str):
        msg = f"weights of a coded table must be numbers, got the column name {options.weights!r}"
        raise OptionError(msg)
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


def _renamed(columns: list[RawColumn], names: Sequence[str]) -> list[RawColumn]:
    if len(names) != len(columns):
        msg = f"expected {len(columns)} names, got {len(names)}"
        raise OptionError(msg)
    return [
        RawColumn(name, column.values, column.positions, column.ordered)
        for name, column in zip(names, columns, strict=True)
    ]


def _columns_of(
    source: Any, names: Sequence[str] | None, missing: Sequence[str]
) -> list[RawColumn]:
    if isinstance(source, Mapping):
        columns = _columns_of_mapping(source, missing)
        return columns if names is None else _renamed(columns, names)
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
    return columns if names is None else _renamed(columns, names)


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
