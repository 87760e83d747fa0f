"""Raw columns: texts, numbers or declared states, some cells missing, before they are coded."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

    from numpy.typing import NDArray

    from twbn.data.coding import State

__all__ = ["MISSING", "Column", "NumberColumn", "RawColumn", "is_missing", "plain_cell"]

#: The texts that stand for a missing cell by default: those of pandas' reader.
MISSING = (
    "", "#N/A", "#N/A N/A", "#NA", "-1.#IND", "-1.#QNAN", "-NaN", "-nan", "1.#IND", "1.#QNAN",
    "<NA>", "N/A", "NA", "NULL", "NaN", "None", "n/a", "nan", "null",
)  # fmt: skip


@dataclass(frozen=True)
class RawColumn:
    """A column: its distinct values and, for each row, the position of its value (-1: missing).

    If `ordered`, the order of the values is meaningful (as in an ARFF declaration) and is kept;
    otherwise, states are sorted. With a `tally` of the values, there is a row for each value of the
    column's `origin`, and it stands for all of its rows.
    """

    name: str
    values: tuple[State, ...]
    positions: NDArray[np.int32]
    ordered: bool = False
    tally: NDArray[np.int64] | None = None
    origin: RawColumn | None = None

    @classmethod
    def from_cells(cls, name: str, cells: Iterable[Any]) -> RawColumn:
        """Collect Python values; None and NaN are missing cells.

        Every distinct value is looked at once, so that a long column of few values is quick.
        """
        cells = list(cells)
        try:
            distinct = dict.fromkeys(cells)
        except TypeError:  # lists and the like
            cells = [str(cell) for cell in cells]
            distinct = dict.fromkeys(cells)
        plain = [plain_cell(value) for value in distinct]
        position_of: dict[State, int] = {}
        of_cell: dict[Any, int] = {}
        for value, state in zip(distinct, plain, strict=True):
            nothing = _is_nothing(state)
            of_cell[value] = -1 if nothing else position_of.setdefault(state, len(position_of))
        positions = np.fromiter(map(of_cell.__getitem__, cells), np.int32, len(cells))
        return cls(name, tuple(position_of), positions)

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return len(self.positions)

    @property
    def counts(self) -> NDArray[np.int64]:
        """Number of rows of each value."""
        if self.tally is not None:
            return self.tally
        known = self.positions[self.positions >= 0]
        return np.bincount(known, minlength=len(self.values))

    @property
    def n_cells(self) -> int:
        """Number of rows that the column stands for."""
        return self.n_rows if self.tally is None else int(self.tally.sum())

    def take(self, rows: NDArray[np.int64]) -> RawColumn:
        """Return some of the rows."""
        return replace(self, positions=self.positions[rows])

    def renamed(self, name: str) -> RawColumn:
        """Return the column under another name."""
        return replace(self, name=name)

    def without(self, texts: Collection[str]) -> RawColumn:
        """Return the column with the given texts taken as missing, blanks around them ignored."""
        gone = [isinstance(v, str) and v.strip() in texts for v in self.values]
        return self.dropping(np.array(gone, dtype=bool)) if any(gone) else self

    def dropping(self, gone: NDArray[np.bool_]) -> RawColumn:
        """Return the column with some of its values taken as missing."""
        moved = np.append(np.where(gone, -1, np.cumsum(~gone) - 1), -1).astype(np.int32)
        kept = tuple(value for value, out in zip(self.values, gone, strict=True) if not out)
        tally = None if self.tally is None else self.tally[~gone]
        return replace(self, values=kept, positions=moved[self.positions], tally=tally)

    def first_row(self, position: int) -> int:
        """Return the first row, counted from 1, that holds a value; 0 if that is not known."""
        row = int(np.argmax(self.positions == position))
        if self.tally is None:
            return row + 1
        return 0 if self.origin is None else self.origin.first_row(row)

    def tallied(self) -> RawColumn:
        """Return a column with one row for each value, which stands for all of its rows."""
        rows = np.arange(len(self.values), dtype=np.int32)
        return RawColumn(self.name, self.values, rows, self.ordered, self.counts, self)


@dataclass(frozen=True)
class NumberColumn:
    """A column of numbers: integers, or floats with NaN where a cell is missing.

    With `unit` ``"date"``, they are days since 1970-01-01. With a `tally`, each number stands for
    so many rows.
    """

    name: str
    numbers: NDArray[Any]
    unit: str = ""
    tally: NDArray[np.float64] | None = None
    origin: RawColumn | None = None

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return len(self.numbers)

    def take(self, rows: NDArray[np.int64]) -> NumberColumn:
        """Return some of the rows."""
        return replace(self, numbers=self.numbers[rows])

    def renamed(self, name: str) -> NumberColumn:
        """Return the column under another name."""
        return replace(self, name=name)

    def first_row(self, position: int) -> int:
        """Return the first row, counted from 1, of a number; 0 if that is not known."""
        if self.tally is None:
            return position + 1
        return 0 if self.origin is None else self.origin.first_row(position)

    @property
    def known(self) -> NDArray[Any]:
        """The numbers that are not missing."""
        return self.numbers if self.numbers.dtype.kind != "f" else self.numbers[~self.missing]

    @property
    def missing(self) -> NDArray[np.bool_]:
        """For each row, whether its number is missing."""
        if self.numbers.dtype.kind != "f":
            return np.zeros(len(self.numbers), dtype=bool)
        return np.asarray(np.isnan(self.numbers))


Column: TypeAlias = RawColumn | NumberColumn


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
    return plain.strip() in MISSING if isinstance(plain, str) else _is_nothing(plain)


def _is_nothing(value: State | None) -> bool:
    return value is None or (isinstance(value, float) and math.isnan(value))
