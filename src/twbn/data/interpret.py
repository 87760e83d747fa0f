"""What the texts of a column mean: numbers, dates, truth values, or just texts."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from datetime import datetime
from typing import TYPE_CHECKING, Any

import numpy as np

from twbn.data.coding import date_number
from twbn.data.columns import MISSING, NumberColumn, RawColumn
from twbn.data.findings import Finding
from twbn.errors import Option, OptionError
from twbn.numerals import as_number

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from twbn.data.columns import Column

__all__ = ["Parsing", "interpret", "meaning", "without_numbers"]

#: A column is numeric although so many different tokens in it are not numbers.
MAX_ODD_TOKENS = 3
#: With few different numbers, this share of the cells may hold odd tokens.
MAX_ODD_SHARE, FEW_NUMBERS = 0.2, 10

_TRUTH = {"true": True, "false": False}
_PADDED = re.compile(r"^[+-]?0[0-9]+$", re.MULTILINE)
_PLAIN_NUMBERS = frozenset("0123456789+-.eE\n")
_ISO_DATE = re.compile(
    r"[0-9]{4}-[0-9]{2}-[0-9]{2}"
    r"(?:[T ][0-9]{2}:[0-9]{2}(?::[0-9]{2}(?:\.[0-9]+)?)?(?:Z|[+-][0-9]{2}:?[0-9]{2})?)?"
)
_DATE_FORMATS = ("%Y/%m/%d", "%d.%m.%Y", "%d/%m/%Y", "%m/%d/%Y", "%d-%m-%Y", "%m-%d-%Y")
#: Decimal marks and thousands separators that are tried.
_WRITTEN = ((".", ","), (",", "."), (",", ""), (",", " "), (".", " "), (".", "'"))
_TIMES = ("", " %H:%M", " %H:%M:%S")


@dataclass(frozen=True)
class Parsing:
    """How texts are read: which mean a missing cell, and how numbers are written."""

    missing: Sequence[str] = MISSING
    decimal: str = "."
    thousands: str = ""

    @property
    def missing_numbers(self) -> list[float]:
        """The numbers among the texts that mean a missing cell: -999 is -999.0, too."""
        numbers = (as_number(text) for text in self.missing)
        return [number for number in numbers if number is not None]

    def __post_init__(self) -> None:
        texts = [self.missing] if isinstance(self.missing, str) else self.missing
        object.__setattr__(self, "missing", tuple(str(text) for text in texts))
        for name, mark, least in (("decimal", self.decimal, 1), ("thousands", self.thousands, 0)):
            if not isinstance(mark, str) or not least <= len(mark) <= 1:
                raise OptionError(Option(name), f" must be one character, got {mark!r}")
        if self.decimal == self.thousands:
            problem = f" must differ from the decimal mark, got {self.thousands!r}"
            raise OptionError(Option("thousands"), problem)


def interpret(column: RawColumn, parsing: Parsing) -> tuple[Column, tuple[Finding, ...]]:
    """Return a column with its texts read as what they mean, and what there is to say about it.

    Numbers are numbers where all texts are, or all but a few odd tokens, which are then missing;
    so are dates. The cost is linear in the number of distinct values.
    """
    column = _without_missing(column, parsing)
    if column.ordered or not column.values:
        return column, ()
    if not any(isinstance(value, str) for value in column.values):
        return _untyped(column), ()
    numbers = _numbers(column.values, parsing)
    odd = np.isnan(numbers)
    if not odd.any():
        return _numeric(column, numbers), ()
    if _are_truths(column.values):
        values = [_TRUTH[v.casefold()] if isinstance(v, str) else v for v in column.values]
        return _merged(column, values), ()
    if _is_nearly_all(column, odd):
        return _numeric(column, numbers), (_odd_tokens(column, odd),)
    return _as_dates(column)


def meaning(column: Column, parsing: Parsing) -> tuple[Column, tuple[Finding, ...]]:
    """Return the same as `interpret` for any column: numbers may stand for missing cells, too."""
    if isinstance(column, RawColumn):
        return interpret(column, parsing)
    return without_numbers(column, parsing), ()


def without_numbers(column: NumberColumn, parsing: Parsing) -> NumberColumn:
    """Return numbers without those that stand for a missing cell."""
    gone = np.isin(column.numbers, parsing.missing_numbers) if parsing.missing_numbers else None
    if gone is None or not gone.any():
        return column
    return replace(column, numbers=np.where(gone, np.nan, column.numbers.astype(np.float64)))


def _without_missing(column: RawColumn, parsing: Parsing) -> RawColumn:
    """Return a column without the texts, and the numbers in any spelling, that mean nothing."""
    texts, numbers = frozenset(parsing.missing), parsing.missing_numbers
    gone = [
        (isinstance(v, str) and v.strip() in texts)
        or (bool(numbers) and (as_number(v) if isinstance(v, str) else v) in numbers)
        for v in column.values
    ]
    return column.dropping(np.array(gone, dtype=bool)) if any(gone) else column


def _as_dates(column: RawColumn) -> tuple[Column, tuple[Finding, ...]]:
    """Return a column of dates as numbers of days, or any other as it is."""
    days = _days(column.values)
    odd = np.isnan(days)
    if _is_nearly_all(column, odd):
        found = [Finding(column.name, "dates", "holds dates, read as numbers of days")]
        found += [_odd_tokens(column, odd)] if odd.any() else []
        return replace(_numeric(column, days), unit="date"), tuple(found)
    return column, _look_like_numbers(column)


def _untyped(column: RawColumn) -> Column:
    """Return a column without texts: numbers as such, truth values and mixtures as states."""
    if any(isinstance(value, bool) for value in column.values):
        return column
    values = np.array(column.values)
    if values.dtype.kind not in "iuf":
        values = values.astype(np.float64)
    return _numeric(column, values)


def _numeric(column: RawColumn, of_values: NDArray[Any]) -> NumberColumn:
    tally = None
    if column.tally is not None:
        tally = np.append(column.tally, 0)[column.positions].astype(np.float64)
    if (column.positions >= 0).all() and of_values.dtype.kind != "f":
        numbers = of_values[column.positions]
    else:
        numbers = np.append(of_values, np.nan)[column.positions]
    return NumberColumn(column.name, numbers, tally=tally, origin=column.origin)


def _merged(column: RawColumn, values: Sequence[Any]) -> RawColumn:
    """Return a column with other values, of which several may now be equal."""
    distinct = {value: i for i, value in enumerate(dict.fromkeys(values))}
    moved = np.array([*(distinct[value] for value in values), -1], dtype=np.int32)
    tally = column.tally
    if tally is not None:
        tally = np.bincount(moved[:-1], weights=tally).astype(np.int64)
    positions = moved[column.positions]
    return replace(column, values=tuple(distinct), positions=positions, tally=tally)


def _numbers(values: Sequence[Any], parsing: Parsing) -> NDArray[np.float64]:
    """Return the number that each value spells, NaN where it spells none.

    If some have leading zeros (01234), all are codes, not numbers.
    """
    texts = [value.strip() if isinstance(value, str) else repr(value) for value in values]
    if parsing.thousands:
        texts = [text.replace(parsing.thousands, "") for text in texts]
    if parsing.decimal != ".":
        texts = [text.replace(parsing.decimal, ".") for text in texts]
    if _are_codes(texts):
        return np.full(len(texts), np.nan)
    if _PLAIN_NUMBERS.issuperset("\n".join(texts)):
        try:
            return np.array(texts, dtype=np.float64)
        except ValueError:
            pass  # only some are numbers
    found = [as_number(text) for text in texts]
    return np.array([np.nan if number is None else number for number in found], dtype=np.float64)


def _are_codes(texts: Sequence[str]) -> bool:
    """Say whether some text is a whole number with leading zeros, which no program writes."""
    return _PADDED.search("\n".join(texts)) is not None


def _are_truths(values: Sequence[Any]) -> bool:
    """Say whether all are truth values as pandas reads them: True, TRUE, true and so on."""
    return all(
        isinstance(value, bool)
        or (isinstance(value, str) and value in {"True", "TRUE", "true", "False", "FALSE", "false"})
        for value in values
    )


def _is_nearly_all(column: RawColumn, odd: NDArray[np.bool_]) -> bool:
    """Say whether the values that are not odd make the column, and the odd ones are tokens."""
    n_odd, n_others = int(odd.sum()), int((~odd).sum())
    if n_odd == 0:
        return True
    if n_odd > MAX_ODD_TOKENS or n_others <= n_odd:
        return False
    if n_odd == 1 and column.values[int(np.argmax(odd))] == "?":
        return True
    counts = column.counts
    share = float(counts[odd].sum() / counts.sum())
    return n_others > FEW_NUMBERS or share <= MAX_ODD_SHARE


def _odd_tokens(column: RawColumn, odd: NDArray[np.bool_]) -> Finding:
    tokens = [column.values[i] for i in np.flatnonzero(odd)]
    n_cells = int(column.counts[odd].sum())
    row = column.first_row(int(np.argmax(odd)))
    message = (
        f"holds {', '.join(map(repr, tokens))} among its values, taken as missing in {n_cells:,} "
        f"cell{'s' * (n_cells != 1)}" + (f", first in row {row}" if row else "")
    )
    return Finding(column.name, "odd tokens", message, remedy=(("missing", tuple(tokens)),))


def _days(values: Sequence[Any]) -> NDArray[np.float64]:
    """Return the date that each text spells, in days since 1970, NaN where it spells none."""
    texts = [value.strip() if isinstance(value, str) else "" for value in values]
    iso = np.array([_ISO_DATE.fullmatch(text) is not None for text in texts])
    if iso.any():
        days = [date_number(text) if fits else None for text, fits in zip(texts, iso, strict=True)]
        return np.array([np.nan if day is None else day for day in days])
    best = np.full(len(texts), np.nan)
    fits = [_formatted(texts, day + time) for day in _DATE_FORMATS for time in _TIMES]
    known = [int((~np.isnan(days)).sum()) for days in fits]
    most = max(known)
    if most:
        equal = [days for days, n in zip(fits, known, strict=True) if n == most]
        if len(equal) == 1:  # else nobody knows what is day and what is month
            best = equal[0]
    return best


def _formatted(texts: Sequence[str], pattern: str) -> NDArray[np.float64]:
    days = np.full(len(texts), np.nan)
    for i, text in enumerate(texts):
        try:
            moment = datetime.strptime(text, pattern)
        except ValueError:
            if i >= MAX_ODD_TOKENS and np.isnan(days[:i]).sum() > MAX_ODD_TOKENS:
                return np.full(len(texts), np.nan)
            continue
        days[i] = (moment - datetime(1970, 1, 1)).total_seconds() / 86400
    return days


def _look_like_numbers(column: RawColumn) -> tuple[Finding, ...]:
    """Return what to say about texts that another way of writing numbers would explain."""
    texts = [value.strip() for value in column.values if isinstance(value, str)]
    if len(texts) < len(column.values):
        return ()
    for decimal, thousands in _WRITTEN:
        if not _written_with(texts, decimal, thousands):
            continue
        remedy = [("decimal", decimal)] if decimal != "." else []
        if thousands and _any_with(texts, thousands):
            remedy.append(("thousands", thousands))
            message = (
                f"holds numbers with thousands separators, such as {_with(texts, thousands)!r}"
            )
            return (Finding(column.name, "thousands separators", message, True, tuple(remedy)),)
        if remedy and _any_with(texts, decimal):
            message = f"holds numbers with decimal commas, such as {_with(texts, decimal)!r}"
            return (Finding(column.name, "decimal commas", message, True, tuple(remedy)),)
    return ()


def _written_with(texts: Sequence[str], decimal: str, thousands: str) -> bool:
    group = rf"[0-9]{{1,3}}(?:{re.escape(thousands)}[0-9]{{3}})+|[0-9]+" if thousands else r"[0-9]+"
    pattern = re.compile(rf"[+-]?(?:{group})(?:{re.escape(decimal)}[0-9]+)?(?:[eE][+-]?[0-9]+)?")
    odd = sum(pattern.fullmatch(text) is None for text in texts)
    return odd <= MAX_ODD_TOKENS and 2 * odd < len(texts)


def _with(texts: Sequence[str], mark: str) -> str:
    return next(text for text in texts if mark in text and text[:1] in "+-0123456789")


def _any_with(texts: Sequence[str], mark: str) -> bool:
    return any(mark in text and text[:1] in "+-0123456789" for text in texts)
