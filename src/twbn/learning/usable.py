"""Data as a table whose columns can all be learned from."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from twbn.data.frames import as_table
from twbn.data.table import Table

if TYPE_CHECKING:
    from collections.abc import Sequence

    from twbn.data.discretize import Discretize

__all__ = ["usable_table"]


def usable_table(data: Any, drop: Sequence[str] | str, discretize: str | Discretize) -> Table:
    """Return data as a table; DataError names the columns that nothing can be learned from."""
    if isinstance(data, Table):
        table = data.determined()
    else:
        table = as_table(data, drop=drop, discretize=discretize).determined()
    table.require_usable("learning")
    return table
