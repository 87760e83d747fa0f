"""Parquet files."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from twbn.data.series import column_of_arrow
from twbn.errors import FileFormatError, MemoryLimitError, MissingDependencyError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from twbn.data.columns import Column

__all__ = ["parquet_chunks", "read_parquet"]

#: Most cells read from a Parquet file: a huge table may compress to a tiny file.
MAX_CELLS = 2**31


def read_parquet(path: Path) -> list[Column]:
    """Return the columns of a Parquet file."""
    file = _opened(path)
    size = file.metadata
    if size.num_rows * size.num_columns > MAX_CELLS:
        msg = (
            f"{path}: {size.num_rows:,} rows of {size.num_columns:,} columns are more than "
            f"{MAX_CELLS:,} cells; read_table(..., distinct=True) reads it in chunks"
        )
        raise MemoryLimitError(msg)
    import pyarrow as pa

    try:
        return _columns(file.read())
    except (pa.ArrowException, OSError) as error:
        raise _broken(path, error) from None


def parquet_chunks(path: Path, n_rows: int) -> Iterator[list[Column]]:
    """Yield the columns of at most `n_rows` rows at a time."""
    import pyarrow as pa

    try:
        for batch in _opened(path).iter_batches(batch_size=n_rows):
            yield _columns(pa.Table.from_batches([batch]))
    except (pa.ArrowException, OSError) as error:
        raise _broken(path, error) from None


def _columns(table: Any) -> list[Column]:
    names = table.column_names
    return [column_of_arrow(table.column(i), name) for i, name in enumerate(names)]


def _opened(path: Path) -> Any:
    try:
        import pyarrow as pa
        import pyarrow.parquet as pq
    except ModuleNotFoundError:
        msg = "reading Parquet needs pyarrow: pip install pyarrow"
        raise MissingDependencyError(msg) from None
    try:
        return pq.ParquetFile(path)
    except (pa.ArrowException, OSError) as error:
        raise _broken(path, error) from None


def _broken(path: Path, error: Exception) -> FileFormatError:
    return FileFormatError(f"{path}: not a whole Parquet file ({error})", path=str(path))
