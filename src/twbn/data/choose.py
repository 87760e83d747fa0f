"""How a column is coded: as the states it has, or cut into intervals; and what looks wrong."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from twbn.data.coding import Bins, Categories, date_text
from twbn.data.columns import NumberColumn
from twbn.data.distinct import distinct_numbers
from twbn.data.findings import Finding
from twbn.errors import DataError, Option

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from twbn.data.coding import Coding, State
    from twbn.data.coding_options import CodingOptions
    from twbn.data.columns import Column, RawColumn

__all__ = ["NOTHING", "OTHER", "choose_coding"]

#: The state that stands for all rare ones.
OTHER = "other"
#: The only state of a column without values.
NOTHING = "unknown"
#: From this many states on, a column of states is told to have many.
MANY_STATES = 50
#: Words that a line of totals begins with.
TOTALS = frozenset(("total", "totals", "sum", "subtotal", "gesamt", "summe", "somme", "totale"))
#: Numbers, with either sign, that often stand for missing cells.
MISSING_CODES = frozenset((9.0, 99.0, 999.0, 9999.0, 99999.0, 8888.0, 888.0))
#: Numbers that count so many rows are row numbers, whatever the column is called.
MANY_ROWS = 20
#: A column of texts is free text, or identifies rows, if it has more states than this share of the
#: rows, and not only a few.
UNUSABLE_SHARE, FEW_STATES = 0.5, 20


def choose_coding(
    column: Column,
    options: CodingOptions,
    weights: NDArray[np.float64] | None,
    classes: NDArray[np.int32] | None,
) -> tuple[Coding, tuple[Finding, ...]]:
    """Return the coding that fits a column, and what there is to say about the column."""
    if isinstance(column, NumberColumn):
        return _of_numbers(column, options, weights, classes)
    if column.values and column.name in options.discretize.cut_points:
        msg = f"column {column.name!r} has cut points but holds states such as {column.values[0]!r}"
        raise DataError(msg, column=column.name)
    return _of_states(column, options)


def _of_numbers(
    column: NumberColumn,
    options: CodingOptions,
    weights: NDArray[np.float64] | None,
    classes: NDArray[np.int32] | None,
) -> tuple[Coding, tuple[Finding, ...]]:
    name, rule = column.name, options.discretize
    known = column.known
    if not len(known):
        return _nothing(name)
    if known.dtype.kind == "f" and np.isinf(known).any():
        where = int(np.argmax(np.isinf(column.numbers)))
        row = column.first_row(where)
        place = f", row {row}" if row else ""
        msg = f"column {name!r}{place}: numbers must be finite, got {column.numbers[where]}"
        raise DataError(msg, "; to take it as missing, list it in ", Option("missing"), column=name)
    if name in rule.cut_points:
        return Bins(tuple(rule.cut_points[name]), rule.at_least, column.unit), ()
    few = distinct_numbers(known, max(rule.max_distinct, 1))
    counted = (*_if_row_numbers(column), *_if_missing_code(column))
    if (
        few is not None
        and not any(f.unusable for f in counted)
        and not (options.cut_fractions and _has_fractions(few))
    ):
        states = _number_states(few, column.unit)
        return Categories(states), (*_if_constant(name, states), *counted)
    inside = ~column.missing
    weights = column.tally if column.tally is not None else weights
    bins = rule.fit(
        known,
        weights=None if weights is None else weights[inside],
        classes=None if classes is None else classes[inside],
    )
    edges = np.unique(np.floor(bins.edges)) if _are_whole_days(column) else bins.edges
    return Bins(tuple(float(edge) for edge in edges), bins.at_least, column.unit), counted


def _are_whole_days(column: NumberColumn) -> bool:
    return column.unit == "date" and not _has_fractions(column.known)


def _has_fractions(values: NDArray[np.generic]) -> bool:
    return len(values) > 1 and values.dtype.kind == "f" and bool(np.any(values != np.floor(values)))


def _number_states(values: NDArray[np.generic], unit: str) -> tuple[State, ...]:
    """Return numbers as states: dates as dates, whole numbers as integers."""
    if unit == "date":
        return tuple(date_text(value) for value in values.tolist())
    whole = values.dtype.kind != "f" or bool(np.all(values == np.floor(values)))
    if whole and values.dtype.kind == "f" and np.abs(values).max() < 2**63:
        return tuple(int(value) for value in values.tolist())
    return tuple(values.tolist())


def _of_states(column: RawColumn, options: CodingOptions) -> tuple[Coding, tuple[Finding, ...]]:
    name, n_rows = column.name, column.n_cells
    if not len(column.values):
        return _nothing(name)
    if column.ordered:
        return Categories(column.values), _if_constant(name, column.values)
    if len({str(value) for value in column.values}) < len(column.values):
        msg = f"column {name!r} mixes values that look alike, such as 1 and '1'; make them one type"
        raise DataError(msg, column=name)
    n_states = len(column.values)
    most = options.max_categories
    if most is not None and n_states > most:
        return _grouped(column, most)
    states = tuple(sorted(column.values, key=_sort_key))
    found = [*_if_total(column)]
    if n_states > max(UNUSABLE_SHARE * n_rows, FEW_STATES) or n_states == n_rows > 2:
        return Categories(states), (*found, _unusable(column))
    if n_states >= MANY_STATES:
        message = f"has {n_states} states; rare ones can be grouped into {OTHER!r}"
        remedy = (("max_categories", FEW_STATES),)
        found.append(Finding(name, "many states", message, remedy=remedy))
    return Categories(states), (*found, *_if_constant(name, states), *_if_alike(name, states))


def _unusable(column: RawColumn) -> Finding:
    """Return the finding about a column with nearly as many states as rows."""
    name, n_states = column.name, len(column.values)
    drop = (("drop", (name,)),)
    if n_states == column.n_cells:
        message = f"has {n_states:,} values, each of them once, like an identifier"
        return Finding(name, "identifier", message, True, drop)
    words = np.mean([len(str(value).split()) for value in column.values[:1000]])
    message = f"has {n_states:,} different values in {column.n_cells:,} rows"
    if words >= 3:
        return Finding(name, "free text", f"{message}, like free text", True, drop)
    return Finding(name, "identifier", f"{message}, like an identifier", True, drop)


def _grouped(column: RawColumn, most: int) -> tuple[Coding, tuple[Finding, ...]]:
    """Return the coding of a column whose rare states are one."""
    order = np.argsort(-column.counts, kind="stable")
    kept = [column.values[i] for i in order[: most - 1] if column.values[i] != OTHER]
    message = f"has {len(column.values)} states, of which the {len(kept)} most frequent are kept"
    states = (*sorted(kept, key=_sort_key), OTHER)
    return Categories(states, others=True), (Finding(column.name, "grouped", message),)


def _nothing(name: str) -> tuple[Coding, tuple[Finding, ...]]:
    message = "has no values: all its cells are missing"
    finding = Finding(name, "all missing", message, remedy=(("drop", (name,)),))
    return Categories((NOTHING,), others=True), (finding,)


def _if_constant(name: str, states: Sequence[State]) -> tuple[Finding, ...]:
    if len(states) > 1:
        return ()
    message = f"is constant: every value is {states[0]!r}"
    return (Finding(name, "constant", message, remedy=(("drop", (name,)),)),)


def _if_total(column: RawColumn) -> tuple[Finding, ...]:
    """Return a finding if the last row says that it is a total."""
    origin = column.origin or column
    last = int(origin.positions[-1]) if origin.n_rows else -1
    text = str(origin.values[last]).casefold() if last >= 0 else ""
    words = text.replace(":", " ").split()
    if not words or words[0] not in TOTALS or origin.counts[last] > 1:
        return ()
    message = f"holds {origin.values[last]!r} in the last row: is that a line of totals?"
    return (Finding(column.name, "total", message),)


def _if_alike(name: str, states: Sequence[State]) -> tuple[Finding, ...]:
    """Return a finding if some texts differ in nothing but case, blanks and full stops."""
    first: dict[str, State] = {}
    for state in states:
        if not isinstance(state, str):
            continue
        key = "".join(state.casefold().replace(".", "").replace("_", " ").split())
        other = first.setdefault(key, state)
        if other is not state:
            message = f"has states that look alike, such as {other!r} and {state!r}"
            return (Finding(name, "states alike", message),)
    return ()


def _if_row_numbers(column: NumberColumn) -> tuple[Finding, ...]:
    """Return a finding if the numbers only count the rows."""
    numbers = column.numbers
    least = 3 if column.name.startswith("Unnamed: ") else MANY_ROWS
    if len(numbers) < least or column.unit or numbers[1] - numbers[0] != 1:
        return ()
    if column.tally is not None and column.tally.max() > 1:
        return ()
    if not np.all(np.diff(numbers) == 1):
        return ()
    message = f"counts the rows, from {numbers[0]:g} to {numbers[-1]:g}"
    remedy = (("drop", (column.name,)),)
    return (Finding(column.name, "row numbers", message, unusable=True, remedy=remedy),)


def _if_missing_code(column: NumberColumn) -> tuple[Finding, ...]:
    """Return a finding if the least or largest number looks like a code for a missing cell."""
    known = column.known
    if column.unit or len(known) < MANY_ROWS:
        return ()
    for code in (known.min(), known.max()):
        rest = known[known != code]
        if abs(float(code)) not in MISSING_CODES or not len(rest):
            continue
        apart = min(abs(float(code) - rest.min()), abs(float(code) - rest.max()))
        if apart > 3 * max(float(rest.max()) - float(rest.min()), 1.0):
            message = f"holds {code:g} far from its other numbers, like a code for missing cells"
            remedy = (("missing", (f"{code:g}",)),)
            return (Finding(column.name, "missing code", message, remedy=remedy),)
    return ()


def _sort_key(state: State) -> tuple[bool, float, str]:
    if isinstance(state, str):
        return (True, 0.0, state)
    return (False, float(state), "")
