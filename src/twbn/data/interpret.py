"""What the texts of a column mean: numbers, dates, truth values, or just texts."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from twbn.data.columns import MISSING, NumberColumn, RawColumn
from twbn.data.dates import ambiguous_date, days_of
from twbn.data.findings import Finding
from twbn.data.written_numbers import (
    MAX_ODD_TOKENS,
    look_like_numbers,
    plain_text,
    sign_of,
    without_sign,
    without_thousands,
)
from twbn.errors import Option, OptionError
from twbn.numerals import as_number

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from twbn.data.columns import Column

__all__ = ["Parsing", "interpret", "meaning", "without_numbers"]

#: With few different numbers, this share of the cells may hold odd tokens.
MAX_ODD_SHARE, FEW_NUMBERS = 0.2, 10

_TRUTH = {"true": True, "false": False}
_PADDED = re.compile(r"^[+-]?0[0-9]+$", re.MULTILINE)
_PLAIN_NUMBERS = frozenset("0123456789+-.eE\n")


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
    return _with_signs(column, parsing) or _as_dates(column)


def _with_signs(column: RawColumn, parsing: Parsing) -> tuple[Column, tuple[Finding, ...]] | None:
    """Return a column of numbers with a currency or per cent sign, or None if it is none."""
    sign = sign_of(column.values)
    if not sign:
        return None
    bare = [without_sign(value, sign) for value in column.values]
    numbers = _numbers(bare, parsing)
    odd = np.isnan(numbers)
    said = Finding(column.name, "signs", f"holds numbers with {sign!r}, read without it")
    if _is_nearly_all(column, odd):
        tokens = (_odd_tokens(column, odd),) if odd.any() else ()
        return _numeric(column, numbers), (said, *tokens)
    found = look_like_numbers(column.name, bare)
    return (column, (said, *found)) if found else None


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
    days = days_of(column.values)
    odd = np.isnan(days)
    if _is_nearly_all(column, odd):
        found = [Finding(column.name, "dates", "holds dates, read as numbers of days")]
        found += [_odd_tokens(column, odd)] if odd.any() else []
        return replace(_numeric(column, days), unit="date"), tuple(found)
    if _holds_mostly_numbers(column):
        return column, (_mostly_numbers(column),)
    text = ambiguous_date(column.values)
    if text:
        message = (
            f"holds dates such as {text!r} whose day and month cannot be told apart; written like "
            "2024-12-31 they are read as dates"
        )
        return column, (Finding(column.name, "ambiguous dates", message),)
    return column, look_like_numbers(column.name, column.values)


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
    texts = [plain_text(value) if isinstance(value, str) else repr(value) for value in values]
    if parsing.thousands:
        texts = without_thousands(texts, parsing.decimal, parsing.thousands)
    if parsing.decimal != "." and any(parsing.decimal in text for text in texts):
        texts = [
            text.replace(".", "?").replace(parsing.decimal, ".") if isinstance(value, str) else text
            for text, value in zip(texts, values, strict=True)
        ]
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


def _holds_mostly_numbers(column: RawColumn) -> bool:
    """Say whether most cells are numbers of many values, but too many tokens are not."""
    odd = np.isnan(_numbers(column.values, Parsing()))
    share = float(column.counts[odd].sum() / column.counts.sum())
    return int((~odd).sum()) > FEW_NUMBERS and share <= MAX_ODD_SHARE


def _mostly_numbers(column: RawColumn) -> Finding:
    odd = np.isnan(_numbers(column.values, Parsing()))
    tokens = tuple(str(column.values[i]) for i in np.flatnonzero(odd))
    shown = ", ".join(map(repr, tokens[:5])) + (", …" if tokens[5:] else "")
    message = f"holds numbers, but also {len(tokens)} other texts ({shown}), so it is not cut"
    return Finding(column.name, "odd tokens", message, remedy=(("missing", tokens),))


def _odd_tokens(column: RawColumn, odd: NDArray[np.bool_]) -> Finding:
    tokens = [column.values[i] for i in np.flatnonzero(odd)]
    n_cells = int(column.counts[odd].sum())
    row = column.first_row(int(np.argmax(odd)))
    message = (
        f"holds {', '.join(map(repr, tokens))} among its values, taken as missing in {n_cells:,} "
        f"cell{'s' * (n_cells != 1)}" + (f", first in row {row}" if row else "")
    )
    return Finding(column.name, "odd tokens", message, remedy=(("missing", tuple(tokens)),))
