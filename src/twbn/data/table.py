"""The coded table: names, states, integer codes."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from twbn.checks import unknown
from twbn.data.coding import Categories, Coded, Coding, State, coding_document
from twbn.data.diagnosis import diagnose
from twbn.data.findings import findings_of, joined_remedies
from twbn.data.fingerprint import fingerprint_of
from twbn.data.invariants import check_codes, check_names, checked_weights
from twbn.errors import DataError, MissingCellsError, Setting
from twbn.frame_out import frame_of, unused
from twbn.views import Viewed

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import ArrayLike, NDArray

    from twbn.data.diagnosis import Diagnosis
    from twbn.data.findings import Finding

__all__ = ["Table"]

MAX_STATES = 2**20
#: Most columns that an error lists.
MAX_SHOWN = 20


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
    findings
        What was found about the columns when they were coded; see `diagnosis`.

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
    findings: tuple[Finding, ...] = ()

    def __post_init__(self) -> None:
        codes = self.codes
        if not _is_sealed(codes):
            codes = np.array(codes, dtype=np.int32, order="F", ndmin=2)
            codes.setflags(write=False)
        object.__setattr__(self, "names", tuple(self.names))
        object.__setattr__(self, "codings", tuple(self.codings))
        object.__setattr__(self, "codes", codes)
        check_names(self.names)
        check_codes(self.names, self.codings, codes)
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

    @property
    def unusable(self) -> dict[str, Finding]:
        """The columns that cannot be learned from as they are, and why."""
        return {finding.column: finding for finding in self.findings if finding.unusable}

    def require_usable(self, purpose: str) -> None:
        """Raise DataError, naming every column that cannot be learned from and what to do."""
        if not self.unusable:
            return
        found = list(self.unusable.items())
        what = f"column {found[0][0]!r}, which {found[0][1].message}"
        if found[1:]:
            shown = "; ".join(f"{name!r} {finding.message}" for name, finding in found[:MAX_SHOWN])
            more = f"; and {len(found) - MAX_SHOWN} more" if found[MAX_SHOWN:] else ""
            what = f"{len(found)} columns: {shown}{more}"
        remedy = joined_remedies(self.unusable.values())
        parts: list[str | Setting] = [f"{purpose} cannot use {what}. Set "]
        for option, value in remedy.items():
            parts += [Setting(option, value), ", "]
        every = "all of them" if found[1:] else "it"
        parts += [f"or leave {every} out with ", Setting("drop", "unusable")]
        raise DataError(*parts, column=next(iter(self.unusable)))

    def determined(self) -> Table:
        """Return the table with the missing cells of columns that have one state filled in."""
        alone = (self.n_states == 1) & (self.n_missing > 0)
        if not alone.any():
            return self
        codes = np.array(self.codes)
        codes[:, alone] = 0
        return replace(self, codes=codes)

    def diagnosis(self) -> Diagnosis:
        """Return what every column was taken for, what looks wrong, and what to do about it."""
        return diagnose(self)

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
            findings_of(self.findings, (self.names[v] for v in columns)),
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

    def to_frame(self, kind: str = "pandas") -> Any:
        """Return the states of every cell as a frame of pandas or polars, or a pyarrow table.

        Weights of rows come as a last column, ``weight``.
        """
        columns: dict[str, Any] = dict(self.decode())
        if self.weights is not None:
            columns[unused("weight", columns)] = self.weights.tolist()
        return frame_of(columns, kind)

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
        arrays = (self.codes, self.weights)  # read-only again
        return (Table, (self.names, self.codings, *arrays, self.findings))

    def __repr__(self) -> str:
        extra = ", weighted" if self.weights is not None else ""
        missing = int(self.n_missing.sum())
        extra += f", {missing} cells missing" if missing else ""
        return f"Table({self.n_rows} rows, {self.n_variables} variables{extra})"


def _is_sealed(codes: NDArray[np.int32]) -> bool:
    """Say whether codes are as a table keeps them, and nobody else can write to them."""
    return (
        isinstance(codes, np.ndarray)
        and codes.ndim == 2
        and codes.dtype == np.int32
        and codes.flags.f_contiguous
        and codes.flags.owndata
        and not codes.flags.writeable
    )
