"""From raw columns to a coded table."""

from __future__ import annotations

import warnings
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from twbn.checks import unknown
from twbn.data.choose import choose_coding
from twbn.data.coding import Bins, Categories, date_text
from twbn.data.coding_options import UNUSABLE, CodingOptions
from twbn.data.columns import NumberColumn, RawColumn
from twbn.data.distinct import counted_values, distinct_numbers, positions_in
from twbn.data.interpret import Parsing, interpret, meaning, without_numbers
from twbn.data.invariants import checked_weights
from twbn.data.names import check_misnamed, with_names
from twbn.data.table import Table
from twbn.errors import DataError, Option, OptionError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from twbn.data.coding import Coding
    from twbn.data.coding_options import Unknown
    from twbn.data.columns import Column
    from twbn.data.findings import Finding

__all__ = ["build_table", "coded_by", "encode_column", "read_for"]


def build_table(columns: Sequence[Column], options: CodingOptions, *, source: str) -> Table:
    """Return the coded table of raw columns, with what was found about them.

    Columns that cannot be learned from (identifiers, free text) are coded, too, and marked as
    unusable; ``drop="unusable"`` leaves them out.
    """
    if not columns:
        msg = f"{source} has no columns"
        raise DataError(msg)
    if not columns[0].n_rows:
        msg = f"{source} has no rows"
        raise DataError(msg)
    columns, findings = with_names(columns)
    names = [column.name for column in columns]
    only_usable, dropped = _dropped(names, options)
    kept = [c for c in columns if c.name not in dropped and c.name != options.weight_name]
    weights = _weights(columns, options)
    if options.like is not None:
        return _code_like(kept, options, weights)
    if len(kept) < options.least_columns:
        names = [column.name for column in kept]
        msg = (
            f"{source} has {len(kept)} column{'' if kept else 's'} to use {names}, a network needs "
            "at least 2; is the delimiter right?"
        )
        raise DataError(msg)
    absent = [name for name in options.discretize.cut_points if name not in names]
    if absent:
        raise OptionError(unknown("column", absent[0], names))
    table = _fitted(kept, options, weights, findings)
    if not only_usable:
        return table
    usable = [name for name in table.names if name not in table.unusable]
    if len(usable) < 2:
        msg = f"{source} has {len(usable)} usable columns, a network needs at least 2"
        raise DataError(msg)
    return table.select(usable)


def _dropped(names: Sequence[str], options: CodingOptions) -> tuple[bool, list[str]]:
    """Return whether unusable columns are left out, and which columns are by name."""
    only_usable = UNUSABLE in options.drop and UNUSABLE not in names
    dropped = [name for name in options.drop if name != UNUSABLE or not only_usable]
    for name in (*dropped, *([options.weight_name] if options.weight_name else [])):
        if name not in names:
            raise OptionError(unknown("column", name, names))
    return only_usable, dropped


def _fitted(
    columns: Sequence[Column],
    options: CodingOptions,
    weights: NDArray[np.float64] | None,
    findings: Sequence[Finding],
) -> Table:
    """Return the table of columns whose codings are chosen from what they hold."""
    found = list(findings)
    # What depends on the values alone is done once for each value, not for each row.
    by_value = weights is None and options.discretize.method not in {"mdlp", "median"}
    typed: list[Column] = []
    rows: list[NDArray[np.int32] | None] = []
    for column in columns:
        short, of_rows = tallied(column) if by_value else (column, None)
        meant, more = meaning(short, options.parsing)
        typed.append(meant)
        rows.append(of_rows)
        found += more
    classes = _classes(typed, options)
    codings: list[Coding] = []
    codes = np.empty((columns[0].n_rows, len(columns)), dtype=np.int32, order="F")
    for v, column in enumerate(typed):
        coding, more = choose_coding(column, options, weights, classes)
        of_values = encode_column(column, coding)
        position = rows[v]
        codes[:, v] = of_values if position is None else np.append(of_values, -1)[position]
        explained = {finding.column for finding in found if finding.unusable}
        found += [finding for finding in more if finding.column not in explained]
        if isinstance(coding, Bins):
            coding = _centered(coding, column, of_values)
        codings.append(coding)
    codes.setflags(write=False)
    names = tuple(column.name for column in typed)
    return Table(names, tuple(codings), codes, weights, tuple(found))


def tallied(column: Column) -> tuple[Column, NDArray[np.int32] | None]:
    """Return a column with one row for each value, and for each row of the column the one it is.

    A column of numbers with nearly as many values as rows is returned as it is, and None.
    """
    if isinstance(column, RawColumn):
        return column.tallied(), column.positions
    counted = counted_values(column.numbers)
    if counted is None:
        return column, None
    values, times, positions = counted
    return NumberColumn(column.name, values, column.unit, times.astype(np.float64)), positions


def coded_by(columns: Sequence[Column], options: CodingOptions, *, source: str) -> CodingOptions:
    """Return options with codings chosen from tallies of columns, for chunks to be coded alike."""
    names = [column.name for column in columns]
    only_usable, dropped = _dropped(names, options)
    kept = [c for c in columns if c.name not in dropped and c.name != options.weight_name]
    if options.discretize.method == "mdlp":
        problem = " 'mdlp' needs all rows at once; use 'quantile' for chunks"
        raise OptionError(Option("discretize"), problem)
    found: list[Finding] = []
    codings: list[Coding] = []
    for column in kept:
        meant, more = meaning(column, options.parsing)
        coding, others = choose_coding(meant, options, None, None)
        found += (*more, *others)
        if isinstance(coding, Bins) and isinstance(meant, NumberColumn):
            coding = _centered(coding, meant, coding.encode_numbers(meant.numbers))
        codings.append(coding)
    if len(kept) < options.least_columns:
        msg = f"{source} has {len(kept)} columns to use, a network needs at least 2"
        raise DataError(msg)
    like = Table(
        tuple(column.name for column in kept),
        tuple(codings),
        np.full((1, len(kept)), -1, dtype=np.int32),
        findings=tuple(found),
    )
    if only_usable:
        like = like.select([name for name in like.names if name not in like.unusable])
    return replace(options, like=like, drop=(), unknown="missing", quiet=True)


def _classes(columns: Sequence[Column], options: CodingOptions) -> NDArray[np.int32] | None:
    """Return the class of each row, for cuts that need it."""
    target = options.discretize.target
    if options.classes is not None:
        return options.classes
    if options.discretize.method != "mdlp" or target is None:
        return None
    column = next((column for column in columns if column.name == target), None)
    if column is None:
        raise OptionError(unknown("column", target, [column.name for column in columns]))
    if isinstance(column, RawColumn):
        return column.positions
    if distinct_numbers(column.known, options.discretize.max_distinct) is None:
        msg = f"column {target!r} is to be the class, but holds numbers with many values"
        raise OptionError(msg)
    values = distinct_numbers(column.known)
    assert values is not None
    return positions_in(column.numbers, values)


def _centered(bins: Bins, column: Column, codes: NDArray[np.int32]) -> Bins:
    """Return bins with the mean of the values in each; an empty one has the middle of its edges."""
    if not isinstance(column, NumberColumn):
        return bins
    known = codes >= 0
    numbers, codes = column.numbers[known].astype(np.float64), codes[known]
    n_bins = len(bins.edges) + 1
    tally = np.ones(len(codes)) if column.tally is None else column.tally[known]
    times = np.bincount(codes, weights=tally, minlength=n_bins)
    sums = np.bincount(codes, weights=numbers * tally, minlength=n_bins)
    edges = np.array([bins.edges[0], *bins.edges, bins.edges[-1]])
    middle = (edges[:-1] + edges[1:]) / 2
    centers = np.divide(sums, times, out=middle, where=times > 0)
    return replace(bins, centers=tuple(centers.tolist()))


def _code_like(
    columns: Sequence[Column], options: CodingOptions, weights: NDArray[np.float64] | None
) -> Table:
    like = options.like
    assert like is not None
    by_name = {column.name: column for column in columns}
    if not by_name.keys() & set(like.names):
        raise DataError(unknown("column", like.names[0], list(by_name)), column=like.names[0])
    if options.absent_ok:
        check_misnamed(list(by_name), like.names, options.target)
    absent = [name for name in like.names if name not in by_name]
    if absent and not options.absent_ok:
        text = unknown("column", absent[0], list(by_name))
        more = f"; {len(absent)} columns that are expected are not there" if absent[1:] else ""
        raise DataError(text, more, column=absent[0])
    codes = np.full((columns[0].n_rows, len(like.names)), -1, dtype=np.int32, order="F")
    new: list[str] = []
    for v, (name, coding) in enumerate(zip(like.names, like.codings, strict=True)):
        if name in by_name:
            column = read_for(by_name[name], coding, options.parsing)
            codes[:, v] = encode_column(column, coding, options.unknown, new)
    if new and not options.quiet:
        shown = ", ".join(new[:5]) + (f" and {len(new) - 5} more" if new[5:] else "")
        warnings.warn(f"states not seen before are taken as missing: {shown}", stacklevel=4)
    codes.setflags(write=False)
    return Table(like.names, like.codings, codes, weights)


def read_for(column: Column, coding: Coding, parsing: Parsing) -> Column:
    """Return a column with its texts read as its coding expects; known states are not missing."""
    if isinstance(column, NumberColumn):
        return without_numbers(column, parsing)
    states = frozenset(str(state) for state in coding.states)
    parsing = replace(parsing, missing=[text for text in parsing.missing if text not in states])
    column = column.without(frozenset(parsing.missing))
    if isinstance(coding, Categories):
        if not all(isinstance(s, int | float) and not isinstance(s, bool) for s in coding.states):
            return column
    elif any(isinstance(v, str) and v in states for v in column.values):
        return column  # the labels of intervals
    meant = interpret(column, parsing)[0]
    return meant if isinstance(meant, NumberColumn) else column


def encode_column(
    column: Column, coding: Coding, on_unknown: Unknown = "error", new: list[str] | None = None
) -> NDArray[np.int32]:
    """Return the codes of a column; unknown states are an error, or missing and told in `new`."""
    if isinstance(column, NumberColumn):
        if isinstance(coding, Bins):
            numbers = column.numbers
            if numbers.dtype.kind != "f" or not np.isinf(numbers).any():
                return coding.encode_numbers(numbers)
        distinct = distinct_numbers(column.known)
        assert distinct is not None
        values, positions = distinct.tolist(), positions_in(column.numbers, distinct)
        if column.unit == "date":
            values = [date_text(value) for value in values]
    else:
        values, positions = list(column.values), column.positions
    codes, odd = coding.find(values)
    if odd.any():
        odd &= np.bincount(positions[positions >= 0], minlength=len(values)) > 0
    if odd.any():
        first = values[int(np.argmax(odd))]
        if on_unknown == "error":
            raise coding.unknown_state(first, column.name)
        if new is not None:
            others = f" and {int(odd.sum()) - 1} more" if odd.sum() > 1 else ""
            new.append(f"{first!r}{others} of {column.name!r}")
    return np.append(codes, np.int32(-1))[positions]


def _weights(columns: Sequence[Column], options: CodingOptions) -> NDArray[np.float64] | None:
    if options.weights is None:
        return None
    if not isinstance(options.weights, str):
        return checked_weights(options.weights, columns[0].n_rows)
    name = options.weights
    column = next(c for c in columns if c.name == name)
    if isinstance(column, RawColumn):
        column = interpret(column, options.parsing)[0]
    if not isinstance(column, NumberColumn) or column.missing.any():
        msg = f"column {name!r} is to hold row weights, but not all of its cells are numbers"
        raise DataError(msg, column=name)
    return checked_weights(column.numbers, column.n_rows)
