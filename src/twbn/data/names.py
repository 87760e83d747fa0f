"""Columns that are there and columns that are wanted: which of them may be meant by which."""

from __future__ import annotations

import difflib
import warnings
from typing import TYPE_CHECKING

from twbn.errors import DataError

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["check_misnamed"]

#: How alike two names must be for the one to be taken for a misspelling of the other.
ALIKE = 0.75


def check_misnamed(columns: Sequence[str], wanted: Sequence[str], target: str | None) -> None:
    """Refuse columns whose names are misspelt; warn of wanted ones that are not there.

    Both only where there are columns that nobody wants: whoever leaves columns out and has no
    others knows what is left out. `target` need not be there.
    """
    here, known = set(columns), set(wanted)
    absent = [name for name in wanted if name not in here and name != target]
    others = [name for name in columns if name not in known]
    if not absent or not others:
        return
    for name in others:
        near = _nearest(name, absent)
        if near is not None:
            msg = f"no variable is called {name!r}; rename the column to {near!r}, or drop it"
            raise DataError(msg)
    msg = f"no column for {_listed(absent)}, taken as unknown; {_listed(others)} left out"
    warnings.warn(msg, stacklevel=2)


def _nearest(name: str, names: Sequence[str]) -> str | None:
    """Return the name that another is a misspelling of, if there is one."""
    plain = {_letters(known): known for known in names}
    if _letters(name) in plain:
        return plain[_letters(name)]
    near = difflib.get_close_matches(name, names, n=1, cutoff=ALIKE)
    if not near or len(name) < 4:
        return None
    # x1 and x2 are two names, not one with a slip: digits are not mistyped.
    same = [[c for c in text if c.isdigit()] for text in (name, near[0])]
    return near[0] if same[0] == same[1] else None


def _letters(name: str) -> str:
    return "".join(c for c in name.casefold() if c.isalnum())


def _listed(names: Sequence[str]) -> str:
    return ", ".join(map(repr, names[:5])) + (f" and {len(names) - 5} more" if names[5:] else "")
