"""How the values of a column of texts are written, so that others can be written alike."""

from __future__ import annotations

import re
from datetime import datetime
from typing import TYPE_CHECKING, Any

import numpy as np

from twbn.data.coding import Bins, Categories, date_text
from twbn.data.columns import NumberColumn, RawColumn
from twbn.data.dates import date_format
from twbn.data.interpret import interpret
from twbn.data.written_numbers import plain_text, sign_of

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from twbn.data.coding import Coding
    from twbn.data.columns import Column
    from twbn.data.interpret import Parsing

__all__ = ["spelled_like"]


def spelled_like(
    column: Column, coding: Coding, values: Sequence[Any], parsing: Parsing
) -> list[Any]:
    """Return values of a variable as the texts of a column write them.

    Numbers get as many decimals, the decimal mark and the sign that the column has, dates its
    format. Values of a column without texts are returned as they are.
    """
    if isinstance(column, NumberColumn) or not any(isinstance(v, str) for v in column.values):
        return list(values)
    short = column.tallied()
    meant = interpret(short, parsing)[0]
    if not isinstance(meant, NumberColumn):
        return list(values)
    if isinstance(coding, Categories):
        known = dict(zip(_states(meant), short.values, strict=True))
        return [known.get(value, value) for value in values]
    spell = _date_speller(column) if isinstance(coding, Bins) and coding.unit else None
    spell = spell or _number_speller(column, parsing)
    return [spell(value) for value in values]


def _states(meant: NumberColumn) -> list[Any]:
    """Return the numbers of a column as states of a coding would be."""
    if meant.unit == "date":
        return [None if np.isnan(x) else date_text(float(x)) for x in meant.numbers]
    return [int(x) if x == np.floor(x) else float(x) for x in meant.numbers]


def _date_speller(column: RawColumn) -> Callable[[Any], str]:
    pattern = date_format(column.values)

    def spell(text: Any) -> str:
        if not pattern:
            return str(text)
        return datetime.fromisoformat(text).strftime(pattern)

    return spell


def _number_speller(column: RawColumn, parsing: Parsing) -> Callable[[Any], str]:
    sign = sign_of(column.values)
    texts = [plain_text(value) for value in column.values if isinstance(value, str)]
    point = re.escape(parsing.decimal)
    found = [re.search(rf"{point}([0-9]+)", text) for text in texts]
    decimals = max((len(match[1]) for match in found if match), default=0)
    scientific = any(re.search(r"[0-9][eE][+-]?[0-9]", text) for text in texts)
    signed = next((text for text in texts if sign and sign in text), "")
    before = signed.startswith((sign, f"-{sign}")) if sign else False
    blank = " " if sign and f" {sign}" in signed else ""

    def spell(number: Any) -> str:
        text = repr(float(number)) if scientific else f"{float(number):.{decimals}f}"
        text = text.replace(".", parsing.decimal)
        return f"{sign}{text}" if before else f"{text}{blank}{sign}"

    return spell
