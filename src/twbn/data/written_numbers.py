"""How numbers are written: with commas, with separators of thousands, with signs."""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING, Any

from twbn.data.findings import Finding

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = [
    "MAX_ODD_TOKENS",
    "SIGNS",
    "look_like_numbers",
    "plain_text",
    "sign_of",
    "without_sign",
    "without_thousands",
]

#: A column is numeric although so many different tokens in it are not numbers.
MAX_ODD_TOKENS = 3
#: Decimal marks and thousands separators that are tried.
_WRITTEN = ((".", ","), (",", "."), (",", ""), (",", " "), (".", " "), (".", "'"))
#: Signs that numbers are written with.
SIGNS = "$€£¥₹%"
#: So many different texts with the same letters behind a number are codes, not numbers with a unit.
FEW_CODES = 10
#: A number with a sign before it, or a sign or unit behind it.
_SIGNED = re.compile(
    r"-?(?:([$€£¥₹])\s?)?([0-9][0-9.,' ]*?)\s?([$€£¥₹%]|[^\W\d_/]{1,4}\.?|°[CF]?)?"
)
#: Blanks and minus signs of typesetters.
_PLAIN = {0x00A0: " ", 0x202F: " ", 0x2212: "-", 0x2013: "-"}


def look_like_numbers(name: str, values: Sequence[Any]) -> tuple[Finding, ...]:
    """Return what to say about texts that are numbers if these are written another way."""
    texts = [plain_text(value) for value in values if isinstance(value, str)]
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


def plain_text(text: str) -> str:
    r"""Return a text with plain blanks and minus signs, none around it.

    Examples
    --------
    >>> plain_text(" \u22121\u00a0000 ")
    '-1 000'
    """
    return text.translate(_PLAIN).strip()


def without_thousands(texts: Sequence[str], decimal: str, mark: str) -> list[str]:
    """Return texts without the separators of thousands, where these stand every three digits.

    Examples
    --------
    >>> without_thousands(["1.234,5", "1.5"], ",", ".")
    ['1234,5', '1.5']
    """
    apart, point = re.escape(mark), re.escape(decimal)
    grouped = re.compile(rf"[+-]?[0-9]{{1,3}}(?:{apart}[0-9]{{3}})+(?:{point}[0-9]*)?")
    return [text.replace(mark, "") if grouped.fullmatch(text) else text for text in texts]


def sign_of(values: Sequence[Any]) -> str:
    """Return the sign or unit that most texts have before or behind a number, if it is one."""
    found = [_SIGNED.fullmatch(plain_text(value)) for value in values if isinstance(value, str)]
    signs = Counter(match[1] or match[3] for match in found if match and match[2] != "0")
    if len(signs) != 1:  # none, several, or some numbers without
        return ""
    ((sign, times),) = signs.items()
    if not sign:
        return ""
    # A unit of letters may as well be part of a code, so few of them are left as they are.
    few = sign not in SIGNS and times <= FEW_CODES
    return "" if few or 2 * times <= len(values) else sign


def without_sign(value: Any, sign: str) -> Any:
    """Return a text without the sign before or behind it; ``-$5`` is -5, too."""
    if not isinstance(value, str):
        return value
    text = plain_text(value)
    minus = "-" if text[:1] == "-" else ""
    return minus + text.removeprefix(minus).removeprefix(sign).removesuffix(sign).strip()
