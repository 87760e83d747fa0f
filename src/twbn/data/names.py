"""Columns that are there and columns that are wanted: which of them may be meant by which."""

from __future__ import annotations

import re
import warnings
from typing import TYPE_CHECKING

from twbn.errors import DataError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

__all__ = ["check_misnamed"]

#: Letters from which on a letter too many, too few or in the wrong place may be a slip.
LEAST_LETTERS = 5


def check_misnamed(columns: Sequence[str], wanted: Sequence[str], target: str | None) -> None:
    """Refuse columns whose names are misspelt; warn of wanted ones that are not there.

    Both only where there are columns that nobody wants: whoever leaves columns out and has no
    others knows what is left out. `target` need not be there. Linear in the number of letters.
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
    """Yield keys of which two names share one if they are a slip apart."""
    plain = _plain(name)
    if plain:
        yield plain
    if len(plain) >= LEAST_LETTERS:
        yield from (plain[:i] + plain[i + 1 :] for i in range(len(plain)))


def _one_slip(a: str, b: str) -> bool:
    """Say whether names differ in case and punctuation, in one letter more, or in two swapped.

    Numbers are not mistyped, and another letter makes another name: x1 and x2, min and max.
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
