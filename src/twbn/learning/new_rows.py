"""Rows that arrive after a structure was learned: coded as the earlier ones."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from twbn.data.frames import as_table
from twbn.data.table import Table
from twbn.errors import Option, OptionError
from twbn.network.fit import codings_of
from twbn.search.result import SearchResult

if TYPE_CHECKING:
    from collections.abc import Sequence

    from twbn.scores.protocol import LocalScores
    from twbn.search.start import Start

__all__ = ["NEW_ROWS", "Continued", "continued", "refuse_other_columns"]

#: What is said of a result that started from one of other rows.
NEW_ROWS = "the start was learned from other rows: only its structure and coding are used"


class Continued(NamedTuple):
    """What to learn from, where to start, and what to say of it."""

    data: LocalScores | Table
    start: Start | None
    notes: tuple[str, ...] = ()


def continued(source: Any, data: LocalScores | Table, start: Start | None) -> Continued:
    """Return rows coded like those of an earlier result, if they are others than those.

    Its cuts and states are kept, so that both structures are over the same variables; a state that
    it does not have is an error. Rows that were coded already are left as they are: the search then
    refuses a start that was learned from others.
    """
    unchanged = Continued(data, start)
    if not isinstance(start, SearchResult) or start.fingerprint is None or start.coding is None:
        return unchanged
    if not isinstance(data, Table) or isinstance(source, Table):
        return unchanged
    if data.fingerprint == start.fingerprint:
        return unchanged
    refuse_other_columns(data.names, start)
    codings = codings_of(start)
    assert codings is not None
    rows = as_table(source, like=Table.blank(start.names, codings))
    if rows.fingerprint == start.fingerprint:  # the same rows, cut as before
        return Continued(rows, start)
    return Continued(rows, start.but(fingerprint=None), (NEW_ROWS,))


def refuse_other_columns(names: Sequence[str], start: SearchResult) -> None:
    """Raise OptionError naming a column that only the new rows or the earlier ones have."""
    lacking = [name for name in start.names if name not in names]
    if lacking:
        raise OptionError(Option("start"), f" has the variable {lacking[0]!r}, the rows do not")
    more = [name for name in names if name not in start.names]
    if more:
        problem = f" has no variable {more[0]!r}, which the rows have; drop that column"
        raise OptionError(Option("start"), problem)
