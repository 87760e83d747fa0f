"""A diagnosis of a table: what each column was taken for, what looks wrong, and what to do."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from twbn.data.coding import Bins, Categories
from twbn.data.findings import Finding, joined_remedies

if TYPE_CHECKING:
    from twbn.data.coding import Coding
    from twbn.data.table import Table

__all__ = ["ColumnDiagnosis", "Diagnosis", "diagnose"]

#: Columns say the same if one gives the other but for this share of the rows, and this share of
#: the rows where a guess would fail. At most so many rows are compared.
MAX_WRONG, MAX_WRONG_OF_GUESSES, MAX_ROWS = 0.01, 0.1, 10_000
#: Columns with fewer rows for each state are not compared.
LEAST_ROWS = 5
#: Tables of more columns are searched for equal columns only, not for nearly equal ones.
MAX_COMPARED = 300


@dataclass(frozen=True)
class ColumnDiagnosis:
    """What one column was taken for, and what was found about it."""

    name: str
    kind: str
    states: tuple[Any, ...]
    n_missing: int
    share_missing: float
    findings: tuple[Finding, ...] = ()

    def document(self) -> dict[str, Any]:
        """Return plain values."""
        return {
            "name": self.name,
            "kind": self.kind,
            "states": list(self.states),
            "n_missing": self.n_missing,
            "share_missing": self.share_missing,
            "findings": [finding.document() for finding in self.findings],
        }


@dataclass(frozen=True)
class Diagnosis:
    """What there is to know about a table before learning from it.

    `remedy` holds options of `read_table`, `as_table` and `learn` with which learning goes through.
    """

    n_rows: int
    columns: tuple[ColumnDiagnosis, ...]

    @property
    def findings(self) -> tuple[Finding, ...]:
        """All findings, column by column."""
        return tuple(finding for column in self.columns for finding in column.findings)

    @property
    def unusable(self) -> tuple[str, ...]:
        """The columns that cannot be learned from as they are."""
        return tuple(c.name for c in self.columns if any(f.unusable for f in c.findings))

    @property
    def remedy(self) -> dict[str, Any]:
        """Options with which every column that is left can be learned from."""
        return joined_remedies(finding for finding in self.findings if finding.unusable)

    def call(self, source: str = "source", **used: Any) -> str:
        """Return a call of Python that learns from the table.

        `used` are options of `as_table` that the table was made with, to be kept.
        """
        both = dict(used)
        for name, value in self.remedy.items():
            lists = isinstance(value, list) and isinstance(both.get(name), list | tuple)
            both[name] = [*both[name], *value] if lists else value
        options = "".join(f", {name}={value!r}" for name, value in both.items())
        return f"twbn.learn(twbn.as_table({source}{options}))"

    def document(self) -> dict[str, Any]:
        """Return plain values."""
        return {
            "n_rows": self.n_rows,
            "n_variables": len(self.columns),
            "n_missing": sum(column.n_missing for column in self.columns),
            "variables": [column.document() for column in self.columns],
            "unusable": list(self.unusable),
            "remedy": self.remedy,
        }

    def __str__(self) -> str:
        lines = [f"{self.n_rows:,} rows, {len(self.columns)} variables"]
        for column in self.columns:
            missing = f", {column.share_missing:.1%} missing" if column.n_missing else ""
            n_states = len(column.states)
            states = f"{n_states} state{'s' * (n_states != 1)}"
            lines.append(f"{column.name}: {column.kind}, {states}{missing}")
            lines += [f"  {finding.message}" for finding in column.findings]
        return "\n".join(lines)


def diagnose(table: Table) -> Diagnosis:
    """Return the diagnosis of a table; see `Table.diagnosis`.

    Linear in the number of cells, but for the search for nearly equal columns, which is quadratic
    in the number of columns.
    """
    found: dict[str, list[Finding]] = {name: [] for name in table.names}
    for finding in (*table.findings, *_near_duplicates(table)):
        found[finding.column].append(finding)
    columns = tuple(
        ColumnDiagnosis(
            name,
            _kind(table.codings[v]),
            tuple(table.states[v]),
            int(table.n_missing[v]),
            float(table.n_missing[v] / table.n_rows),
            tuple(found[name]),
        )
        for v, name in enumerate(table.names)
    )
    return Diagnosis(table.n_rows, columns)


def _kind(coding: Coding) -> str:
    """Return what a column was taken for."""
    if isinstance(coding, Bins):
        return "dates" if coding.unit == "date" else "numbers"
    assert isinstance(coding, Categories)
    if all(isinstance(state, bool) for state in coding.states):
        return "truth values"
    if all(isinstance(state, int | float) for state in coding.states):
        return "few numbers"
    return "states"


def _near_duplicates(table: Table) -> list[Finding]:
    """Return a finding for each column that says the same as one before it, in other words or not.

    Two columns say the same if, in nearly all rows, the state of one gives that of the other, and
    the other way round.
    """
    found: list[Finding] = []
    codes = table.codes[:: max(table.n_rows // MAX_ROWS, 1)]
    codes = np.where(codes < 0, table.n_states, codes)
    first: dict[bytes, int] = {}
    earlier: list[int] = []
    for v in range(table.n_variables):
        if table.n_states[v] < 2 or table.n_rows < LEAST_ROWS * table.n_states[v]:
            continue  # nothing, or too little, to compare
        key = hashlib.sha256(_by_appearance(codes[:, v]).tobytes()).digest()
        same = first.setdefault(key, v)
        if same == v and table.n_variables <= MAX_COMPARED:
            alike = (u for u in earlier if _say_the_same(table, codes, u, v))
            same = next(alike, v)
        if same == v:
            earlier.append(v)
            continue
        name, other = table.names[v], table.names[same]
        message = f"says the same as {other!r} in nearly every row"
        found.append(Finding(name, "near duplicate", message, remedy=(("drop", (name,)),)))
    return found


def _by_appearance(codes: np.ndarray[Any, np.dtype[np.int32]]) -> np.ndarray[Any, Any]:
    """Return codes numbered in the order in which they appear."""
    values, where, position = np.unique(codes, return_index=True, return_inverse=True)
    rank = np.empty(len(values), dtype=np.int32)
    rank[np.argsort(where)] = np.arange(len(values), dtype=np.int32)
    return np.asarray(rank[position.reshape(-1)])


def _say_the_same(table: Table, codes: np.ndarray[Any, Any], u: int, v: int) -> bool:
    if table.n_states[u] != table.n_states[v] or table.n_states[u] > 1000:
        return False
    n_u, n_v = int(table.n_states[u]) + 1, int(table.n_states[v]) + 1
    pairs = np.bincount(codes[:, u] * n_v + codes[:, v], minlength=n_u * n_v).reshape(n_u, n_v)
    n_rows = pairs.sum()
    for axis in (0, 1):
        wrong = n_rows - pairs.max(axis=axis).sum()
        guesses = n_rows - pairs.sum(axis=1 - axis).max()
        if wrong > min(MAX_WRONG * n_rows, MAX_WRONG_OF_GUESSES * guesses):
            return False
    return True
