"""Raw columns: text or numbers, some cells missing, before they are coded."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from twbn.numerals import as_number

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

    from numpy.typing import NDArray

    from twbn.data.coding import State

__all__ = ["MISSING", "RawColumn", "is_missing", "plain_cell"]

#: The texts that stand for a missing cell by default.
MISSING = ("", "NA", "NaN", "nan", "null")

# Longer numbers are floats, and refused if they overflow.
_WHOLE = re.compile(r"[+-]?[0-9]{1,18}")
# Whole numbers are written without leading zeros; codes and labels (01234) may have them.
_PADDED = re.compile(r"[+-]?0[0-9]+")


@dataclass(frozen=True)
class RawColumn:
    """A column: its distinct values and, for each row, the position of its value (-1: missing).

    If `ordered`, the order of the values is meaningful (as in an ARFF declaration) and is kept;
    otherwise, states are sorted.
    """

    name: str
    values: tuple[State, ...]
    positions: NDArray[np.int32]
    ordered: bool = False

    @classmethod
    def from_cells(
        cls, name: str, cells: Iterable[State | None], *, missing: Collection[str] = ()
    ) -> RawColumn:
        """Collect Python values; None, NaN and the texts in `missing` are missing cells."""
        cells = list(cells)
        position_of: dict[State | None, int] = {}
        values: list[State] = []
        for value in dict.fromkeys(cells):
            if _stands_for_nothing(value, missing):
                position_of[value] = -1
            else:
                position_of[value] = len(values)
                values.append(value)  # type: ignore[arg-type]
        positions = np.fromiter(map(position_of.__getitem__, cells), np.int32, len(cells))
        return cls(name, tuple(values), positions)

    @property
    def is_numeric(self) -> bool:
        """Whether all values are numbers (booleans do not count)."""
        return all(isinstance(v, int | float) and not isinstance(v, bool) for v in self.values)

    def parsed(self) -> RawColumn:
        """Return the column with texts read as numbers, if every one of them is a number."""
        numbers: list[State] = []
        for value in self.values:
            number = _number(value) if isinstance(value, str) else value
            if number is None:
                return self
            numbers.append(number)
        # Different texts may be one number: "1" and "1.0".
        distinct = {number: i for i, number in enumerate(dict.fromkeys(numbers))}
        merged = np.array([distinct[number] for number in numbers] + [-1], dtype=np.int32)
        return RawColumn(self.name, tuple(distinct), merged[self.positions], self.ordered)

    def cells(self) -> list[State | None]:
        """Return the value of every row."""
        values: list[State | None] = [*self.values, None]
        return [values[p] for p in self.positions]


def plain_cell(value: object) -> Any:
    """Return a cell as text, number, boolean or None."""
    if value is None or isinstance(value, str | bool | float):
        return value
    if isinstance(value, int):
        return (
            value if abs(value) < 2**63 else float(f"{value:e}" if abs(value) < 10**300 else "inf")
        )
    if isinstance(value, np.generic):
        return plain_cell(value.item())
    if type(value).__name__ in {"NAType", "NaTType"}:  # missing cells of pandas
        return None
    if type(value).__name__ == "Decimal":
        return float(value)  # type: ignore[arg-type]
    return str(value)


def is_missing(value: object) -> bool:
    """Say whether a value means a missing cell: None, NaN, pandas' NA, or a text in `MISSING`.

    Examples
    --------
    >>> [is_missing(value) for value in (None, float("nan"), "", "NA", 0, "no")]
    [True, True, True, True, False, False]
    """
    if value is np.ma.masked:
        return True
    plain = plain_cell(value)
    return _stands_for_nothing(plain.strip() if isinstance(plain, str) else plain, MISSING)


def _stands_for_nothing(value: State | None, missing: Collection[str]) -> bool:
    if value is None:
        return True
    if isinstance(value, str):
        return value in missing
    return isinstance(value, float) and math.isnan(value)


def _number(text: str) -> int | float | None:
    text = text.strip()
    if _PADDED.fullmatch(text):
        return None
    return int(text) if _WHOLE.fullmatch(text) else as_number(text)
