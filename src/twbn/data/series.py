"""One column of a data frame, taken over as a whole where its type allows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from twbn.data.columns import NumberColumn, RawColumn, plain_cell

if TYPE_CHECKING:
    import narwhals as nw
    from numpy.typing import NDArray

    from twbn.data.columns import Column

__all__ = ["column_of_arrow", "column_of_series"]

SECONDS_A_DAY = 86400


def column_of_series(series: nw.Series[Any], name: str) -> Column:
    """Return a column of a frame; declared categories keep their order, observed or not."""
    import narwhals as nw

    dtype = series.dtype
    if dtype.is_decimal():
        series = series.cast(nw.Float64)
        dtype = series.dtype
    if dtype.is_numeric():
        return NumberColumn(name, _numbers(series.to_numpy()))
    if isinstance(dtype, nw.Datetime | nw.Date):
        return NumberColumn(name, _days(series.to_numpy()), unit="date")
    if isinstance(dtype, nw.Duration):
        return NumberColumn(name, _lengths(series.to_numpy()))
    declared = _declared(series)
    if declared is not None:
        return _with_order(_column_of_cells(series, name), declared)
    return _column_of_cells(series, name)


def column_of_arrow(array: Any, name: str) -> Column:
    """Return a column of an Arrow table; texts go through a dictionary, which Arrow makes fast."""
    import narwhals as nw
    import pyarrow as pa

    kind = array.type
    if pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_dictionary(kind):
        return RawColumn(name, *_dictionary(array))
    return column_of_series(nw.from_native(array, series_only=True), name)


def _dictionary(array: Any) -> tuple[tuple[Any, ...], NDArray[np.int32]]:
    """Return the distinct values of an Arrow array and the position of each cell's; -1: null."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if not pa.types.is_dictionary(array.type):
        try:
            array = pc.dictionary_encode(array)
        except pa.ArrowNotImplementedError:  # lists and the like
            column = RawColumn.from_cells("", array.to_pylist())
            return column.values, column.positions
    if isinstance(array, pa.ChunkedArray):
        array = array.unify_dictionaries().combine_chunks()
        if isinstance(array, pa.ChunkedArray):
            array = array.chunk(0)
    values = tuple(plain_cell(value) for value in array.dictionary.to_pylist())
    signed = array.indices.cast(pa.int64())
    positions = pc.fill_null(signed, -1).to_numpy(zero_copy_only=False).astype(np.int32)
    return values, positions


def _column_of_cells(series: nw.Series[Any], name: str) -> RawColumn:
    """Return a column of texts, truth values or whatever else a frame may hold."""
    native = series.to_native()
    if series.implementation.is_pandas() and str(native.dtype) in {"str", "string", "category"}:
        positions, values = native.factorize()
        plain = tuple(plain_cell(value) for value in values.tolist())
        return RawColumn(name, plain, np.asarray(positions, dtype=np.int32))
    if series.implementation.is_pyarrow():
        return RawColumn(name, *_dictionary(native))
    return RawColumn.from_cells(name, series.to_list())


def _declared(series: nw.Series[Any]) -> list[Any] | None:
    """Return the categories that a column declares, or None."""
    import narwhals as nw

    if isinstance(series.dtype, nw.Enum):
        return list(series.dtype.categories)
    if series.dtype == nw.Categorical and series.implementation.is_pandas():
        return list(series.to_native().cat.categories)
    return None


def _with_order(column: RawColumn, declared: list[Any]) -> RawColumn:
    states = tuple(plain_cell(state) for state in declared)
    position = {state: i for i, state in enumerate(states)}
    moved = np.array([*(position[value] for value in column.values), -1], dtype=np.int32)
    return RawColumn(column.name, states, moved[column.positions], ordered=True)


def _numbers(array: NDArray[Any]) -> NDArray[Any]:
    if array.dtype.kind in "iuf":
        return array
    return np.array([np.nan if plain_cell(x) is None else float(x) for x in array.tolist()])


def _lengths(durations: NDArray[Any]) -> NDArray[np.float64]:
    """Return durations as numbers of days; NaN where there is none."""
    exact = durations.astype("timedelta64[us]")
    return np.where(np.isnat(exact), np.nan, exact.astype(np.int64) / (1e6 * SECONDS_A_DAY))


def _days(moments: NDArray[Any]) -> NDArray[np.float64]:
    """Return moments as days since 1970; NaN where there is none."""
    seconds = moments.astype("datetime64[us]")
    days = seconds.astype(np.int64) / (1e6 * SECONDS_A_DAY)
    return np.where(np.isnat(seconds), np.nan, days)
