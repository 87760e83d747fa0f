"""Tables from data in memory: data frames, matrices, dicts of columns."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import numpy as np

from twbn.data.build import build_table
from twbn.data.coding_options import CodingOptions
from twbn.data.columns import MISSING, NumberColumn, RawColumn, plain_cell
from twbn.data.interpret import Parsing
from twbn.data.names import check_misnamed, renamed
from twbn.data.read.options import ReadOptions
from twbn.data.read.table_file import table_of_file
from twbn.data.table import Table
from twbn.errors import DataError, Option, OptionError

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from twbn.data.columns import Column
    from twbn.data.discretize import Discretize

__all__ = ["as_table", "columns_of", "with_cells"]


def as_table(
    source: Any,
    *,
    names: Sequence[str] | None = None,
    discretize: str | Discretize = "quantile",
    bins: int | None = None,
    max_categories: int | None = None,
    drop: Sequence[str] | str = (),
    weights: str | ArrayLike | None = None,
    missing: Sequence[str] = MISSING,
    decimal: str = ".",
    thousands: str = "",
    like: Table | None = None,
    unknown: str = "error",
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
    discretize, bins
        How numeric columns with many values are cut: ``"quantile"`` or ``"uniform"`` (into `bins`
        intervals; by default, as many as suit the number of rows), ``"median"``, ``"mdlp"``, or a
        `Discretize` for full control.
    max_categories
        Most states of a column of texts; the rarest are grouped into one called ``"other"``.
    drop
        Columns to leave out; ``"unusable"``: all that cannot be learned from, such as identifiers.
    weights
        Weight of each row, or the name of the column that holds it.
    missing
        Texts that stand for a missing cell; by default, those of pandas' reader. None, NaN and
        nulls always do.
    decimal, thousands
        How numbers are written in texts: the decimal mark, and what separates thousands.
    like
        A table whose coding is reused.
    unknown
        With `like`: a state that the coding does not contain is an ``"error"``, or ``"missing"``
        with one warning.
    absent_ok
        With `like`: treat the cells of an absent column as missing, instead of raising an error.
        It is still an error if another column has almost the same name. If there are columns that
        `like` does not have, a warning is issued.
    target
        With `absent_ok`: the column to predict, which may be absent.

    Notes
    -----
    Numeric columns with at most ``Discretize.max_distinct`` distinct values keep them as states. A
    column that holds numbers but for up to three odd tokens is numeric and the tokens are missing;
    dates are numbers of days. What was done is in `Table.findings` and `Table.diagnosis`.

    Examples
    --------
    >>> table = as_table({"smoker": ["no", "yes", "no"], "children": [2, 0, 2]})
    >>> table.states
    (('no', 'yes'), (0, 2))
    """
    options = CodingOptions.of(
        discretize=discretize,
        bins=bins,
        max_categories=max_categories,
        drop=drop,
        weights=weights,
        parsing=Parsing(missing, decimal, thousands),
        like=like,
        unknown=unknown,
        absent_ok=absent_ok,
        target=target,
    )
    if isinstance(source, str | os.PathLike):
        return table_of_file(source, ReadOptions(), options, names)
    if isinstance(source, Table):
        return recoded(source, options)
    return build_table(columns_of(source, names), options, source="the table")


def recoded(table: Table, options: CodingOptions) -> Table:
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


def columns_of(source: Any, names: Sequence[str] | None = None) -> list[Column]:
    """Return the raw columns of data in memory."""
    if isinstance(source, Mapping):
        columns = _columns_of_mapping(source)
        return columns if names is None else renamed(columns, names)
    if isinstance(source, np.ndarray):
        return _columns_of_array(source, names)
    columns = _columns_of_frame(source)
    return columns if names is None else renamed(columns, names)


def _columns_of_frame(source: Any) -> list[Column]:
    import narwhals as nw

    from twbn.data.series import column_of_series

    if type(source).__name__ == "LazyFrame":
        msg = "cannot make a table from a lazy frame; give frame.collect()"
        raise DataError(msg)
    given = getattr(source, "columns", None)
    labels = None
    if type(source).__module__.split(".")[0] == "pandas" and given is not None:
        labels = [str(label) for label in given]  # numbers, tuples; some may occur twice
        source = source.set_axis(range(len(labels)), axis=1)
    frame = nw.from_native(source, eager_only=True, pass_through=True)
    if not isinstance(frame, nw.DataFrame):
        msg = (
            "cannot make a table from a value of type "
            f"{type(source).__module__}.{type(source).__qualname__}; expected a path, a pandas, "
            "polars or pyarrow frame, a NumPy matrix or a dict of columns"
        )
        raise DataError(msg)
    names = labels if labels is not None else frame.columns
    return [column_of_series(frame[:, i], name) for i, name in enumerate(names)]


def _columns_of_mapping(source: Mapping[Any, Any]) -> list[Column]:
    columns: list[Column] = []
    for name, cells in source.items():
        if isinstance(cells, str) or not isinstance(cells, Iterable):
            msg = f"column {name!r} must be a sequence of cells, got {cells!r}"
            raise DataError(msg)
        if isinstance(cells, np.ndarray) and cells.ndim == 1:
            columns.append(_column_of_array(str(name), cells))
        else:
            columns.append(RawColumn.from_cells(str(name), cells))
    for column in columns[1:]:
        if column.n_rows != columns[0].n_rows:
            msg = (
                f"columns must have equal lengths: {columns[0].name!r} has "
                f"{columns[0].n_rows} rows, {column.name!r} has {column.n_rows}"
            )
            raise DataError(msg)
    return columns


def _columns_of_array(source: np.ndarray[Any, Any], names: Sequence[str] | None) -> list[Column]:
    if source.ndim != 2:
        msg = f"the array must have 2 dimensions (rows, columns), got {source.ndim}"
        raise DataError(msg)
    if names is None:
        names = [f"x{v}" for v in range(1, source.shape[1] + 1)]
    if len(names) != source.shape[1]:
        msg = f"expected {source.shape[1]} names, got {len(names)}"
        raise OptionError(msg)
    return [_column_of_array(str(name), source[:, v]) for v, name in enumerate(names)]


def _column_of_array(name: str, cells: NDArray[Any]) -> Column:
    if cells.dtype.kind in "iuf":
        return NumberColumn(name, np.ascontiguousarray(cells))
    return RawColumn.from_cells(name, map(plain_cell, cells.tolist()))


def with_cells(
    source: Any, names: Sequence[str], cells: Mapping[str, tuple[Any, list[Any]]]
) -> Any:
    """Return data in memory with some cells replaced, as the same type; the source is unchanged.

    `names` are those of the columns in their order; `cells` has, for some of them, the rows to
    replace and their values.
    """
    if isinstance(source, Mapping):
        keys = dict(zip(names, source, strict=True))
        changed = {
            keys[name]: _changed(list(source[keys[name]]), *new) for name, new in cells.items()
        }
        return {key: changed.get(key, column) for key, column in source.items()}
    if isinstance(source, np.ndarray):
        plain = all(isinstance(value, int | float) for _, new in cells.values() for value in new)
        kind = source.dtype if plain and source.dtype.kind == "f" else object
        array = source.astype(kind)
        for name, (rows, values) in cells.items():
            array[rows, names.index(name)] = values
        return array
    import narwhals as nw

    frame = nw.from_native(source, eager_only=True)
    series = []
    for position, name in enumerate(names):
        column = frame[:, position]
        if name in cells:
            filled = _changed(column.to_list(), *cells[name])
            column = _series_like(column, filled, frame.implementation)
        series.append(column)
    return frame.with_columns(*series).to_native()


def _series_like(column: Any, cells: list[Any], implementation: Any) -> Any:
    """Return cells as a column of the same kind: categories, dates, and pandas' nullable types."""
    import narwhals as nw

    kept = nw.Enum | nw.Categorical | nw.Datetime | nw.Date | nw.Duration
    dtype = column.dtype if isinstance(column.dtype, kept) else None
    native = column.to_native()
    if implementation.is_pandas() and hasattr(native.dtype, "categories"):
        labels = {str(label): label for label in native.dtype.categories}
        cells = [labels.get(cell, cell) if isinstance(cell, str) else cell for cell in cells]
        named = {"index": native.index, "name": native.name}
        return nw.from_native(type(native)(cells, dtype=native.dtype, **named), series_only=True)
    if column.dtype.is_decimal():
        cells = [None if cell is None else float(cell) for cell in cells]
    if isinstance(column.dtype, nw.Datetime | nw.Date):
        cells = [_moment(cell, column.dtype) for cell in cells]
    if isinstance(column.dtype, nw.Duration):
        cells = [timedelta(days=cell) if isinstance(cell, float) else cell for cell in cells]
    new = nw.new_series(column.name, cells, dtype, backend=implementation)
    if dtype is None and implementation.is_pandas():
        given = column.to_native().dtype
        if not isinstance(given, np.dtype):  # nullable; whole numbers stay so if they can
            native = new.to_native()
            try:
                native = native.astype(given)
            except (TypeError, ValueError):
                native = native.convert_dtypes()
            return nw.from_native(native, series_only=True)
    return new


def _moment(cell: Any, dtype: Any) -> Any:
    """Return a date that was filled in as a text as what its column holds."""
    if not isinstance(cell, str):
        return cell
    moment = datetime.fromisoformat(cell)
    zone = getattr(dtype, "time_zone", None)
    if zone is not None:
        return moment.replace(tzinfo=UTC)
    return moment if hasattr(dtype, "time_unit") else moment.date()


def _changed(cells: list[Any], rows: Any, values: list[Any]) -> list[Any]:
    for row, value in zip(rows.tolist(), values, strict=True):
        cells[row] = value
    return cells
