"""Parquet files."""

from __future__ import annotations

from typing import TYPE_CHECKING

from twbn.data.columns import RawColumn, plain_cell
from twbn.errors import FileFormatError, MemoryLimitError, MissingDependencyError

if TYPE_CHECKING:
    from pathlib import Path

    from twbn.data.read.options import ReadOptions

__all__ = ["read_parquet"]

#: Most cells read from a Parquet file: a huge table may compress to a tiny file.
MAX_CELLS = 2**31


def read_parquet(path: Path, options: ReadOptions) -> list[RawColumn]:
    """Return the columns of a Parquet file."""
    try:
        import pyarrow as pa
        import pyarrow.parquet as pq
    except ModuleNotFoundError:
        msg = "reading Parquet needs pyarrow: pip install pyarrow"
        raise MissingDependencyError(msg) from None
    try:
        size = pq.read_metadata(path)
        if size.num_rows * size.num_columns > MAX_CELLS:
            msg = (
                f"{path}: {size.num_rows:,} rows of {size.num_columns:,} columns are more than "
                f"{MAX_CELLS:,} cells"
            )
            raise MemoryLimitError(msg)
        frame = pq.read_table(path)
    except (pa.ArrowException, OSError) as error:
        msg = f"{path}: not a whole Parquet file ({error})"
        raise FileFormatError(msg) from None
    texts = frozenset(options.missing)
    return [
        RawColumn.from_cells(name, map(plain_cell, frame.column(i).to_pylist()), missing=texts)
        for i, name in enumerate(frame.column_names)
    ]
