"""The coded table: names, states, integer codes."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from twbn.checks import unknown
from twbn.data.coding import Categories, Coded, Coding, State, coding_document
from twbn.data.fingerprint import fingerprint_of
from twbn.errors import DataError, MissingCellsError
from twbn.views import Viewed

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import ArrayLike, NDArray

__all__ = ["Table", "check_text", "checked_weights"]

MAX_STATES = 2**20


@dataclass(frozen=True, eq=False, repr=False)
class Table(Coded, Viewed):
    """Rows of discrete variables.

    Invariant: `codes[row, v]` is at least 0 and less than the number of states of variable v, or -1
    for a missing cell; names are distinct; weights, if any, are finite, not negative and not all
    zero.
    The arrays are read-only.

    Parameters
    ----------
    names
        Names of the variables.
    codings
        For each variable, its states and the rule that codes new rows in the same way.
    codes
        Integer array of shape (rows, variables).
    weights
        Optional weight of each row.

    Examples
    --------
    >>> table = Table.from_codes([[0, 1], [1, 0], [1, 1]], names=["a", "b"])
    >>> table
    Table(3 rows, 2 variables)
    >>> table.states
    ((0, 1), (0, 1))
    """

    names: tuple[str, ...]
    codings: tuple[Coding, ...]
    codes: NDArray[np.int32]
    weights: NDArray[np.float64] | None = None

    def __post_init__(self) -> None:
        codes = np.array(self.codes, dtype=np.int32, order="F", ndmin=2)
        codes.setflags(write=False)
        object.__setattr__(self, "names", tuple(self.names))
        object.__setattr__(self, "codings", tuple(self.codings))
        object.__setattr__(self, "codes", codes)
        _check_names(self.names)
        _check_codes(self.names, self.codings, codes)
        if self.weights is not None:
            object.__setattr__(self, "weights", checked_weights(self.weights, len(codes)))

    @classmethod
    def from_codes(
        cls,
        codes: ArrayLike,
        *,
        names: Sequence[str] | None = None,
        n_states: Sequence[int] | None = None,
        weights: ArrayLike | None = None,
    ) -> Table:
        """Return a table of given codes 0, 1, … (-1 is missing); the codes serve as states."""
        array = np.asarray(codes)
        if array.ndim != 2 or array.dtype.kind not in "iub":
            msg = (
                "codes must be a matrix of integers, "
                f"got {array.ndim} dimensions of type {array.dtype}"
            )
            raise DataError(msg)
        if not array.size:
            msg = f"a table needs rows and columns, got {array.shape[0]} by {array.shape[1]}"
            raise DataError(msg)
        if array.min() < -1 or array.max() >= MAX_STATES:
            bad = array.min() if array.min() < -1 else array.max()
            msg = f"codes must be between -1 (missing) and {MAX_STATES - 1}, got {bad}"
            raise DataError(msg)
        if names is None:
            names = [f"x{v}" for v in range(1, array.shape[1] + 1)]
        if n_states is None:
            n_states = [max(int(top) + 1, 2) for top in array.max(axis=0)]
        codings = [Categories(tuple(range(r))) for r in n_states]
        return cls(
            tuple(names),
            tuple(codings),
            array.astype(np.int32),
            weights,  # type: ignore[arg-type]
        )

    @classmethod
    def blank(cls, names: Sequence[str], codings: Sequence[Coding]) -> Table:
        """Return a table with one row of missing cells, as a coding for ``as_table(like=...)``."""
        return cls(tuple(names), tuple(codings), np.full((1, len(names)), -1, dtype=np.int32))

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return len(self.codes)

    @cached_property
    def n_states(self) -> NDArray[np.int32]:
        """Number of states of each variable."""
        return np.array([len(states) for states in self.states], dtype=np.int32)

    @property
    def total_weight(self) -> float:
        """Sum of the row weights, or the number of rows if there are no weights."""
        return float(self.n_rows if self.weights is None else self.weights.sum())

    @cached_property
    def n_missing(self) -> NDArray[np.int64]:
        """Number of missing cells of each variable."""
        return np.asarray(np.sum(self.codes < 0, axis=0), dtype=np.int64)

    @cached_property
    def fingerprint(self) -> str:
        """Hash of names, states, codes and weights that identifies this table."""
        weights = [] if self.weights is None else [self.weights]
        return fingerprint_of((*self.names, *map(repr, self.states)), [self.codes.T, *weights])

    @cached_property
    def coding(self) -> tuple[dict[str, Any], ...] | None:
        """How each column was coded, as plain values; None if any state is not a plain value.

        See `coding_document`.
        """
        documents = tuple(map(coding_document, self.codings))
        plain = all(
            isinstance(state, str | int | float)
            for coding in documents
            for state in coding["states"]
        )
        return documents if plain else None

    def index(self, name: str) -> int:
        """Return the position of the variable called `name`."""
        try:
            return self._positions[name]
        except (KeyError, TypeError):
            raise DataError(unknown("column", name, self.names), column=str(name)) from None

    def require_complete(self, purpose: str) -> None:
        """Raise MissingCellsError, naming the columns, if any cell is missing."""
        if not self.n_missing.any():
            return
        columns = [f"{self.names[v]} ({self.n_missing[v]})" for v in np.flatnonzero(self.n_missing)]
        shown = ", ".join(columns[:5]) + (f" and {len(columns) - 5} more" if columns[5:] else "")
        msg = (
            f"{purpose} needs complete rows, but {int(self.n_missing.sum())} cells are missing, "
            f"in {shown}; drop those rows with table.complete_rows(), fill the cells, "
            "or use learn_incomplete"
        )
        raise MissingCellsError(msg)

    def require_variation(self, purpose: str) -> None:
        """Raise DataError, naming the column, unless every variable has two states or more."""
        alone = np.flatnonzero(self.n_states < 2)
        if len(alone):
            name = self.names[alone[0]]
            msg = f"{purpose} needs two states or more, but column {name!r} has 1; drop it"
            raise DataError(msg, column=name)

    def complete_rows(self) -> Table:
        """Return the rows without a missing cell."""
        return self.take(np.flatnonzero((self.codes >= 0).all(axis=1)))

    def take(self, rows: ArrayLike) -> Table:
        """Return the given rows, with the same coding."""
        chosen = np.asarray(rows)
        weights = None if self.weights is None else self.weights[chosen]
        return replace(self, codes=self.codes[chosen], weights=weights)

    def select(self, names: Iterable[str]) -> Table:
        """Return the given variables, in the order given."""
        columns = [self.index(name) for name in names]
        return Table(
            tuple(self.names[v] for v in columns),
            tuple(self.codings[v] for v in columns),
            self.codes[:, columns],
            self.weights,
        )

    def with_weights(self, weights: ArrayLike | None) -> Table:
        """Return the table with other row weights."""
        return replace(self, weights=weights)  # type: ignore[arg-type]

    def decode(self) -> dict[str, list[State | None]]:
        """Return the states of every cell, column by column; None where missing."""
        columns: dict[str, list[State | None]] = {}
        for v, name in enumerate(self.names):
            labels: list[State | None] = [*self.states[v], None]  # code -1 finds None
            columns[name] = [labels[code] for code in self.codes[:, v]]
        return columns

    def equals(self, other: Table) -> bool:
        """Say whether names, codings, codes and weights are all equal."""
        same_weights = (self.weights is None) == (other.weights is None) and (
            self.weights is None or np.array_equal(self.weights, other.weights)  # type: ignore[arg-type]
        )
        return (
            self.names == other.names
            and self.codings == other.codings
            and np.array_equal(self.codes, other.codes)
            and same_weights
        )

    def __reduce__(self) -> tuple[Any, ...]:
        return (Table, (self.names, self.codings, self.codes, self.weights))  # read-only again

    def __repr__(self) -> str:
        extra = ", weighted" if self.weights is not None else ""
        missing = int(self.n_missing.sum())
        extra += f", {missing} cells missing" if missing else ""
        return f"Table({self.n_rows} rows, {self.n_variables} variables{extra})"


def checked_weights(weights: ArrayLike, n_rows: int) -> NDArray[np.float64]:
    """Return row weights as a read-only array, or raise DataError."""
    try:
        array = np.array(weights, dtype=np.float64)
    except (TypeError, ValueError):
        msg = f"weights must be numbers, got {weights!r}"
        raise DataError(msg) from None
    if array.shape != (n_rows,):
        msg = f"weights must be one per row: expected {n_rows}, got shape {array.shape}"
        raise DataError(msg)
    bad = np.flatnonzero(~np.isfinite(array) | (array < 0))
    if len(bad):
        msg = f"weights must be finite and not negative, got {array[bad[0]]} in row {bad[0] + 1}"
        raise DataError(msg)
    with np.errstate(over="ignore"):
        total = array.sum()
    if not 0 < total < np.inf:
        msg = f"weights must have a positive, finite sum, got {total}"
        raise DataError(msg)
    array.setflags(write=False)
    return array


def check_text(text: str, what: str) -> None:
    """Raise DataError if a text cannot be written to a file because it has a lone surrogate."""
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        msg = f"{what} must be text that can be written, got {text!r} with a lone surrogate"
        raise DataError(msg) from None


def _check_names(names: Sequence[str]) -> None:
    for name in names:
        if not isinstance(name, str) or not name:
            msg = f"column names must be non-empty text, got {name!r}"
            raise DataError(msg)
        check_text(name, "column names")
    repeated = [name for name, times in Counter(names).items() if times > 1]
    if repeated:
        times = names.count(repeated[0])
        msg = f"column names must be distinct, but {repeated[0]!r} occurs {times} times"
        raise DataError(msg)


def _check_codes(names: Sequence[str], codings: Sequence[Coding], codes: NDArray[np.int32]) -> None:
    if codes.ndim != 2 or len(names) != codes.shape[1] or len(codings) != len(names):
        msg = (
            f"{len(names)} names and {len(codings)} codings do not fit codes of shape {codes.shape}"
        )
        raise DataError(msg)
    if not codes.size:
        msg = f"a table needs rows and columns, got {codes.shape[0]} by {codes.shape[1]}"
        raise DataError(msg)
    lows, highs = codes.min(axis=0), codes.max(axis=0)
    for name, coding, low, high in zip(names, codings, lows, highs, strict=True):
        n_states = len(coding.states)
        if n_states < 1:
            msg = f"column {name!r} has no states, a variable needs at least 1"
            raise DataError(msg)
        for state in coding.states:
            if isinstance(state, str):
                check_text(state, f"the states of column {name!r}")
        if low < -1 or high >= n_states:
            bad = low if low < -1 else high
            msg = f"column {name!r} has {n_states} states, but holds the code {bad}"
            raise DataError(msg)
