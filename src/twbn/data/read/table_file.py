"""Tables from files, whose format is given by the file extension."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from twbn.data.build import CodingOptions, build_table
from twbn.data.columns import MISSING
from twbn.data.names import renamed
from twbn.data.read.arff import read_arff
from twbn.data.read.dat import read_dat
from twbn.data.read.delimited import read_delimited
from twbn.data.read.options import ReadOptions
from twbn.data.read.parquet import read_parquet
from twbn.errors import Option, OptionError
from twbn.files import read_text, require_file

if TYPE_CHECKING:
    import os
    from collections.abc import Sequence

    from numpy.typing import ArrayLike

    from twbn.data.columns import RawColumn
    from twbn.data.discretize import Discretize
    from twbn.data.table import Table

__all__ = ["read_columns", "read_table", "table_of_file"]


def read_table(
    path: str | os.PathLike[str],
    *,
    names: Sequence[str] | None = None,
    delimiter: str | None = None,
    header: bool | None = None,
    discretize: str | Discretize = "median",
    drop: Sequence[str] = (),
    weights: str | ArrayLike | None = None,
    missing: Sequence[str] = MISSING,
    like: Table | None = None,
    absent_ok: bool = False,
    target: str | None = None,
) -> Table:
    """Return the table in a file; the file extension determines the format.

    ``.parquet``, ``.arff`` and ``.dat`` (BLIP) are read as such, everything else as delimited
    text, whose delimiter and header are detected unless `delimiter` and `header` are given. The
    other parameters are those of `as_table`.
    """
    reading = ReadOptions(delimiter=delimiter, header=header, missing=tuple(missing))
    options = CodingOptions.of(discretize, drop, weights, like, absent_ok=absent_ok, target=target)
    return table_of_file(path, reading, options, names)


def table_of_file(
    path: str | os.PathLike[str],
    reading: ReadOptions,
    options: CodingOptions,
    names: Sequence[str] | None = None,
) -> Table:
    """Return the table of a file, read and coded as the options say."""
    columns = read_columns(Path(path), reading)
    if names is not None:
        columns = renamed(columns, names)
    return build_table(columns, options, source=str(path))


def read_columns(path: Path, options: ReadOptions) -> list[RawColumn]:
    """Return the columns of a file, or raise FileFormatError naming the line."""
    if options.delimiter is not None and len(options.delimiter) != 1:
        problem = f" must be one character, got {options.delimiter!r}"
        raise OptionError(Option("delimiter"), problem)
    require_file(path)
    endings = [ending.lower() for ending in path.suffixes]
    kind = next((ending for ending in reversed(endings) if ending != ".gz"), "")
    if kind == ".parquet":
        return read_parquet(path, options)
    text = read_text(path, encodings=("utf-8-sig",))
    if kind == ".arff":
        return read_arff(path, text, options.missing)
    if kind == ".dat":
        return read_dat(path, text, options)
    return read_delimited(path, text, options)
