"""Tables from whatever the user holds in memory, or from a file."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from twbn.data.columns import CodingOptions, RawColumn, build_table
from twbn.data.discretize import Discretize
from twbn.data.read import ReadOptions, read_columns
from twbn.data.table import Table
from twbn.errors import DataError, OptionError

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

__all__ = ["as_table", "read_table"]

# The texts that stand for a gap in text files, unless told otherwise.
GAPS = ("", "NA", "NaN", "nan", "null")


def as_table(
    source: Any,
    *,
    names: Sequence[str] | None = None,
    discretize: str | Discretize = "median",
    drop: Sequence[str] = (),
    weights: str | ArrayLike | None = None,
    missing: Sequence[str] = GAPS,
    like: Table | None = None,
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
            missing=missing, like=like,
        )  # fmt: skip
    if isinstance(source, Table) and like is None:
        table = source.select([n for n in source.names if n not in set(drop)]) if drop else source
        return table if weights is None else table.with_weights(_weight_array(weights))
    columns = _columns_of(source, names, missing)
    return build_table(columns, _options(discretize, drop, weights, like), source="the table")


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
    return build_table(columns, _options(discretize, drop, weights, like), source=str(path))


def _options(
    discretize: str | Discretize,
    drop: Sequence[str],
    weights: str | ArrayLike | None,
    like: Table | None,
) -> CodingOptions:
    if isinstance(drop, str):
        drop = (drop,)
    rule = discretize if isinstance(discretize, Discretize) else Discretize(discretize)  # type: ignore[arg-type]
    checked = weights if weights is None or isinstance(weights, str) else _weight_array(weights)
    return CodingOptions(rule, tuple(drop), checked, like)


def _weight_array(weights: str | ArrayLike) -> np.ndarray[Any, np.dtype[np.float64]]:
    if isinstance(weights, str):
        msg = f"weights of a coded table must be numbers, got the column name {weights!r}"
        raise OptionError(msg)
    try:
        return np.asarray(weights, dtype=np.float64)
    except (TypeError, ValueError):
        msg = f"weights must be numbers, got {weights!r}"
        raise DataError(msg) from None


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
    if isinstance(source, Table):
        return [RawColumn.from_cells(name, cells) for name, cells in source.decode().items()]
    if isinstance(source, Mapping):
        return _columns_of_mapping(source, missing)
    if isinstance(source, np.ndarray):
        return _columns_of_array(source, names, missing)
    import narwhals as nw

    frame = nw.from_native(source, eager_only=True, pass_through=True)
    if not isinstance(frame, nw.DataFrame):
        msg = (
            "cannot make a table from a value of type "
            f"{type(source).__module__}.{type(source).__qualname__}; expected a path, a pandas, "
            "polars or pyarrow frame, a NumPy matrix or a dict of columns"
        )
        raise DataError(msg)
    gaps = frozenset(missing)
    return [
        RawColumn.from_cells(str(name), map(_plain, frame[:, i].to_list()), missing=gaps)
        for i, name in enumerate(frame.columns)
    ]


def _columns_of_mapping(source: Mapping[Any, Any], missing: Sequence[str]) -> list[RawColumn]:
    gaps = frozenset(missing)
    columns = [
        RawColumn.from_cells(str(name), map(_plain, list(cells)), missing=gaps)
        for name, cells in source.items()
    ]
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
        RawColumn.from_cells(str(name), map(_plain, source[:, v].tolist()), missing=gaps)
        for v, name in enumerate(names)
    ]


def _plain(value: Any) -> Any:
    """Return a cell as text, number, truth value or None."""
    if value is None or isinstance(value, str | bool | int | float):
        return value
    if isinstance(value, np.generic):
        return _plain(value.item())
    if type(value).__name__ in {"NAType", "NaTType"}:  # the gaps of pandas
        return None
    return str(value)
