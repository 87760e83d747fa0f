"""Tables from files, whose format is given by the file extension."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from twbn.checks import checked_whole
from twbn.data.build import build_table
from twbn.data.coding_options import CodingOptions
from twbn.data.columns import MISSING
from twbn.data.interpret import Parsing
from twbn.data.names import renamed
from twbn.data.read.arff import read_arff
from twbn.data.read.chunks import distinct_table
from twbn.data.read.dat import read_dat
from twbn.data.read.delimited import read_delimited, sniff_delimiter
from twbn.data.read.options import ReadOptions
from twbn.data.read.parquet import read_parquet
from twbn.errors import Option, OptionError
from twbn.files import read_bytes, require_file

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import ArrayLike

    from twbn.data.columns import Column
    from twbn.data.discretize import Discretize
    from twbn.data.table import Table

__all__ = ["delimiter_of", "read_columns", "read_table", "table_of_file"]


def read_table(
    path: str | os.PathLike[str] | Sequence[str | os.PathLike[str]],
    *,
    distinct: bool = False,
    names: Sequence[str] | None = None,
    delimiter: str | None = None,
    header: bool | None = None,
    encoding: str | None = None,
    skip_rows: int = 0,
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
    on_progress: Callable[[int, int], None] | None = None,
) -> Table:
    """Return the table in a file; the file extension determines the format.

    ``.parquet``, ``.arff`` and ``.dat`` (BLIP) are read as such, everything else as delimited
    text, whose delimiter and header are detected unless `delimiter` and `header` are given. Text is
    UTF-8, or UTF-16 with a byte order mark, unless `encoding` says otherwise. `skip_rows` is the
    number of lines above the table, such as a title.

    With `distinct`, a file of delimited text or Parquet that is larger than memory, or several of
    them with the same columns, are read in chunks, twice, and collapsed to weighted distinct rows;
    `on_progress` is then called with the bytes done and the bytes in total. The other parameters
    are those of `as_table`.
    """
    reading = ReadOptions(delimiter, header, encoding, skip_rows)
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
    if distinct:
        several = [path] if isinstance(path, str | os.PathLike) else list(path)
        return distinct_table([Path(p) for p in several], reading, options, names, on_progress)
    if not isinstance(path, str | os.PathLike):
        raise OptionError(Option("distinct"), " must be True to read several files")
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


def read_columns(path: Path, options: ReadOptions) -> list[Column]:
    """Return the columns of a file, or raise FileFormatError naming the line."""
    if options.delimiter is not None and len(options.delimiter) != 1:
        problem = f" must be one character, got {options.delimiter!r}"
        raise OptionError(Option("delimiter"), problem)
    checked_whole("skip_rows", options.skip_rows, least=0)
    require_file(path)
    endings = [ending.lower() for ending in path.suffixes]
    kind = next((ending for ending in reversed(endings) if ending != ".gz"), "")
    if kind == ".parquet":
        return read_parquet(path)
    content = read_bytes(path, encoding=options.encoding)
    if kind == ".arff":
        return list(read_arff(path, content.decode("utf-8")))
    if kind == ".dat":
        return list(read_dat(path, content.decode("utf-8")))
    return list(read_delimited(path, content, options))


def delimiter_of(path: Path, options: ReadOptions) -> str:
    """Return the delimiter of a file of delimited text; a comma for all other files."""
    if {ending.lower() for ending in path.suffixes} & {".parquet", ".arff", ".dat"}:
        return ","
    return options.delimiter or sniff_delimiter(read_bytes(path, encoding=options.encoding))
