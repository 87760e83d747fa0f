"""How numbers are written: with commas, with separators of thousands, with signs."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from twbn.data.findings import Finding

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["MAX_ODD_TOKENS", "look_like_numbers", "sign_of", "without_sign"]

#: A column is numeric although so many different tokens in it are not numbers.
MAX_ODD_TOKENS = 3
#: Decimal marks and thousands separators that are tried.
_WRITTEN = ((".", ","), (",", "."), (",", ""), (",", " "), (".", " "), (".", "'"))
#: Signs that numbers are written with.
SIGNS = "$€£¥₹%"


def look_like_numbers(name: str, values: Sequence[Any]) -> tuple[Finding, ...]:
    """Return what to say about texts that are numbers if these are written another way."""
    texts = [value.strip() for value in values if isinstance(value, str)]
    if len(texts) < len(values):
        return ()
    for decimal, thousands in _WRITTEN:
        if not _written_with(texts, decimal, thousands):
            continue
        remedy = [("decimal", decimal)] if decimal != "." else []
        if thousands and _any_with(texts, thousands):
            remedy.append(("thousands", thousands))
            message = (
                f"holds numbers with thousands separators, such as {_with(texts, thousands)!r}"
            )
            return (Finding(name, "thousands separators", message, True, tuple(remedy)),)
        if remedy and _any_with(texts, decimal):
            message = f"holds numbers with decimal commas, such as {_with(texts, decimal)!r}"
            return (Finding(name, "decimal commas", message, True, tuple(remedy)),)
    return ()


def _written_with(texts: Sequence[str], decimal: str, thousands: str) -> bool:
    group = rf"[0-9]{{1,3}}(?:{re.escape(thousands)}[0-9]{{3}})+|[0-9]+" if thousands else r"[0-9]+"
    pattern = re.compile(rf"[+-]?(?:{group})(?:{re.escape(decimal)}[0-9]+)?(?:[eE][+-]?[0-9]+)?")
    odd = sum(pattern.fullmatch(text) is None for text in texts)
    return odd <= MAX_ODD_TOKENS and 2 * odd < len(texts)


def _with(texts: Sequence[str], mark: str) -> str:
    return next(text for text in texts if mark in text and text[:1] in "+-0123456789")


def _any_with(texts: Sequence[str], mark: str) -> bool:
    return any(mark in text and text[:1] in "+-0123456789" for text in texts)


def sign_of(values: Sequence[Any]) -> str:
    """Return the currency or per cent sign before or behind most of the texts, if it is one."""
    texts = [value.strip() for value in values if isinstance(value, str)]
    signs = {sign for text in texts for sign in SIGNS if sign in (text[:1], text[-1:])}
    if len(signs) != 1:
        return ""
    sign = signs.pop()
    return sign if 2 * sum(sign in (text[:1], text[-1:]) for text in texts) > len(values) else ""


def without_sign(value: Any, sign: str) -> Any:
    """Return a text without the sign before or behind it; ``-$5`` is -5, too."""
    if not isinstance(value, str):
        return value
    text = value.strip()
    minus = "-" if text[:1] == "-" else ""
    return minus + text.removeprefix(minus).removeprefix(sign).removesuffix(sign).strip()
