"""Matching the columns of a table with the expected ones, including misspelt names."""

from __future__ import annotations

import itertools
import re
import warnings
from typing import TYPE_CHECKING

from twbn.data.findings import Finding
from twbn.errors import DataError, OptionError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from twbn.data.columns import Column

__all__ = ["check_misnamed", "renamed", "with_names"]

#: Shortest name in which an extra, missing or misplaced letter is taken for a typing error.
LEAST_LETTERS = 5


def check_misnamed(columns: Sequence[str], wanted: Sequence[str], target: str | None) -> None:
    """Raise DataError if a column name is misspelt; warn about wanted columns that are absent.

    Both apply only if the data has columns that are not wanted: if columns are merely left out, the
    caller is assumed to know. `target` may be absent. Linear in the number of letters.
    """
    here, known = set(columns), set(wanted)
    absent = [name for name in wanted if name not in here and name != target]
    others = [name for name in columns if name not in known]
    if not absent or not others:
        return
    spelt: dict[str, str] = {}
    for name in absent:
        for key in _misspellings(name):
            spelt.setdefault(key, name)
    for name in others:
        near = next((spelt[key] for key in _misspellings(name) if key in spelt), None)
        if near is not None and _one_slip(name, near):
            msg = f"no variable is called {name!r}; rename the column to {near!r}, or leave it out"
            raise DataError(msg)
    msg = f"no column for {_listed(absent)}, taken as unknown; {_listed(others)} left out"
    warnings.warn(msg, stacklevel=2)


def _misspellings(name: str) -> Iterator[str]:
    """Yield keys such that two names that are one typing error apart share a key."""
    plain = _plain(name)
    if plain:
        yield plain
    if len(plain) >= LEAST_LETTERS:
        yield from (plain[:i] + plain[i + 1 :] for i in range(len(plain)))


def _one_slip(a: str, b: str) -> bool:
    """Say whether names differ only in case and punctuation, one extra letter or two swapped ones.

    A different number or a substituted letter makes a different name: x1 and x2, min and max.
    """
    if re.findall(r"\d+", a) != re.findall(r"\d+", b):
        return False
    a, b = _plain(a), _plain(b)
    if len(a) != len(b):
        return True  # they share a key: one letter more or less
    differing = [i for i in range(len(a)) if a[i] != b[i]]
    if len(differing) != 2:
        return not differing
    i, j = differing
    return j == i + 1 and a[i] == b[j] and a[j] == b[i]


def _plain(name: str) -> str:
    return re.sub(r"[\W_]+", " ", name.casefold()).strip()


def _listed(names: Sequence[str]) -> str:
    return ", ".join(map(repr, names[:5])) + (f" and {len(names) - 5} more" if names[5:] else "")


def renamed(columns: Sequence[Column], names: Sequence[str]) -> list[Column]:
    """Return the columns with new names."""
    if len(names) != len(columns):
        msg = f"expected {len(columns)} names, got {len(names)}"
        raise OptionError(msg)
    return [column.renamed(str(name)) for name, column in zip(names, columns, strict=True)]


def with_names(columns: Sequence[Column]) -> tuple[list[Column], list[Finding]]:
    """Return the columns under names that are not empty and not repeated, and what was renamed.

    The names are those that pandas' reader gives: ``Unnamed: 0``, ``a.1``.
    """
    taken = {column.name for column in columns}
    seen: set[str] = set()
    named: list[Column] = []
    findings = []
    for position, column in enumerate(columns):
        name = column.name
        if not name:
            name = _free(f"Unnamed: {position}", taken, seen)
            message = f"is column {position + 1}, which has no name"
            findings.append(Finding(name, "unnamed", message))
        elif name in seen:
            times = next(n for n in itertools.count(1) if f"{name}.{n}" not in taken | seen)
            message = f"is column {position + 1}, the name {name!r} being taken"
            name = f"{name}.{times}"
            findings.append(Finding(name, "duplicate name", message))
        seen.add(name)
        named.append(column if name == column.name else column.renamed(name))
    return named, findings


def _free(name: str, taken: set[str], seen: set[str]) -> str:
    used = taken | seen
    others = (f"{name}.{n}" for n in itertools.count(1))
    return name if name not in used else next(other for other in others if other not in used)
