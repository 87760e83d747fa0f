"""Rows that arrive after a structure was learned: coded as the earlier ones."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from twbn.data.frames import as_table
from twbn.data.table import Table
from twbn.network.fit import codings_of
from twbn.search.result import SearchResult

if TYPE_CHECKING:
    from twbn.scores.protocol import LocalScores
    from twbn.search.start import Start

__all__ = ["Continued", "continued"]


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
    if data.fingerprint == start.fingerprint or set(data.names) != set(start.names):
        return unchanged
    codings = codings_of(start)
    assert codings is not None
    rows = as_table(source, like=Table.blank(start.names, codings))
    if rows.fingerprint == start.fingerprint:  # the same rows, cut as before
        return Continued(rows, start)
    note = "the start was learned from other rows: only its structure and coding are used"
    return Continued(rows, start.but(fingerprint=None), (note,))
