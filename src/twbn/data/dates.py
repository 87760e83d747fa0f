"""Dates among texts: in ISO 8601, or in one of the common orders if only one of them fits."""

from __future__ import annotations

import re
from datetime import datetime
from typing import TYPE_CHECKING, Any

import numpy as np

from twbn.data.coding import date_number
from twbn.data.written_numbers import MAX_ODD_TOKENS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

__all__ = ["ambiguous_date", "date_format", "days_of"]

_ISO_DATE = re.compile(
    r"[0-9]{4}-[0-9]{2}-[0-9]{2}"
    r"(?:[T ][0-9]{2}:[0-9]{2}(?::[0-9]{2}(?:\.[0-9]+)?)?(?:Z|[+-][0-9]{2}:?[0-9]{2})?)?"
)
_DATE_FORMATS = ("%Y/%m/%d", "%d.%m.%Y", "%d/%m/%Y", "%m/%d/%Y", "%d-%m-%Y", "%m-%d-%Y")
_TIMES = ("", " %H:%M", " %H:%M:%S")


def days_of(values: Sequence[Any]) -> NDArray[np.float64]:
    """Return the date that each text spells, in days since 1970, NaN where it spells none."""
    texts = [value.strip() if isinstance(value, str) else "" for value in values]
    iso = np.array([_ISO_DATE.fullmatch(text) is not None for text in texts])
    if iso.any():
        days = [date_number(text) if fits else None for text, fits in zip(texts, iso, strict=True)]
        return np.array([np.nan if day is None else day for day in days])
    best = np.full(len(texts), np.nan)
    fits = [_formatted(texts, day + time) for day in _DATE_FORMATS for time in _TIMES]
    known = [int((~np.isnan(days)).sum()) for days in fits]
    most = max(known)
    if most:
        equal = [days for days, n in zip(fits, known, strict=True) if n == most]
        if len(equal) == 1:  # else nobody knows what is day and what is month
            best = equal[0]
    return best


def date_format(values: Sequence[Any]) -> str:
    """Return the format of dates that are not in ISO 8601, as `strftime` takes it; else nothing."""
    texts = [value.strip() for value in values if isinstance(value, str)]
    patterns = [day + time for day in _DATE_FORMATS for time in _TIMES]
    known = [int((~np.isnan(_formatted(texts, pattern))).sum()) for pattern in patterns]
    iso = sum(_ISO_DATE.fullmatch(text) is not None for text in texts)
    return patterns[int(np.argmax(known))] if max(known) > iso else ""


def ambiguous_date(values: Sequence[Any]) -> str:
    """Return the first text if all are dates, but day and month may be either."""
    texts = [str(value).strip() for value in values]
    fits = [_formatted(texts, day + time) for day in _DATE_FORMATS for time in _TIMES]
    return texts[0] if sum(not np.isnan(days).any() for days in fits) > 1 else ""


def _formatted(texts: Sequence[str], pattern: str) -> NDArray[np.float64]:
    days = np.full(len(texts), np.nan)
    for i, text in enumerate(texts):
        try:
            moment = datetime.strptime(text, pattern)
        except ValueError:
            if i >= MAX_ODD_TOKENS and np.isnan(days[:i]).sum() > MAX_ODD_TOKENS:
                return np.full(len(texts), np.nan)
            continue
        days[i] = (moment - datetime(1970, 1, 1)).total_seconds() / 86400
    return days
