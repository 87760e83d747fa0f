"""Rules on structures from a small file."""

from __future__ import annotations

import tomllib
from typing import TYPE_CHECKING, Any

from twbn.checks import unknown
from twbn.errors import FileFormatError
from twbn.files import read_text

if TYPE_CHECKING:
    import os

__all__ = ["read_rules"]

#: What a file may say: pairs of variables, variables, groups of them.
PAIRS = ("required", "forbidden", "adjacent", "ancestors", "non_ancestors")
NAMES = ("roots", "leaves")
KEYS = (*PAIRS, *NAMES, "tiers", "max_parents")


def read_rules(path: str | os.PathLike[str]) -> dict[str, Any]:
    r"""Return the rules of a TOML file, as options of `learn`.

    The keys are those of `learn`: ``required``, ``forbidden``, ``adjacent``, ``ancestors`` and
    ``non_ancestors`` hold pairs such as ``["rain", "wet"]`` or ``"rain -> wet"``, ``roots`` and
    ``leaves`` names, ``tiers`` lists of names, and ``max_parents`` a number or a table
    ``{name = number}``. FileFormatError lists all that is wrong with a file.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     file = Path(folder, "rules.toml")
    ...     n = file.write_text('ancestors = ["rain -> wet"]\nroots = ["rain"]')
    ...     read_rules(file)
    {'ancestors': [('rain', 'wet')], 'roots': ['rain']}
    """
    try:
        content = tomllib.loads(read_text(path))
    except tomllib.TOMLDecodeError as error:
        msg = f"{path}: not a TOML file: {error}"
        raise FileFormatError(msg) from None
    rules: dict[str, Any] = {}
    problems: list[str] = []
    for key, value in content.items():
        try:
            rules[key] = _checked(key, value)
        except _BadRuleError as error:
            problems.append(str(error))
    if problems:
        msg = f"{path}: {'; '.join(problems)}"
        raise FileFormatError(msg)
    return rules


class _BadRuleError(Exception):
    """What is wrong with one rule."""


def _checked(key: str, value: Any) -> Any:
    if key in PAIRS:
        return [_pair(key, pair) for pair in _list(key, value, "of pairs of variables")]
    if key in NAMES:
        return _names(key, value)
    if key == "tiers":
        return [_names("a tier", tier) for tier in _list(key, value, "of lists of variables")]
    if key == "max_parents":
        sizes = list(value.values()) if isinstance(value, dict) else [value]
        if all(isinstance(size, int) and not isinstance(size, bool) for size in sizes):
            return value
        msg = f"max_parents must be a whole number, or one for each name, got {value!r}"
        raise _BadRuleError(msg)
    raise _BadRuleError(unknown("rule", key, KEYS))


def _list(key: str, value: Any, of: str) -> list[Any]:
    if isinstance(value, list):
        return value
    msg = f"{key} must be a list {of}, got {value!r}"
    raise _BadRuleError(msg)


def _names(key: str, value: Any) -> list[str]:
    names = _list(key, value, "of variables")
    for name in names:
        if not isinstance(name, str):
            msg = f"{key} must be a list of variables, got {name!r} in it"
            raise _BadRuleError(msg)
    return names


def _pair(key: str, value: Any) -> tuple[str, str]:
    """Return two names, given as a list or as a text with an arrow."""
    parts = value
    if isinstance(value, str):
        parts = [part.strip() for part in value.split("->")]
    pair = isinstance(parts, list) and len(parts) == 2
    if pair and all(isinstance(part, str) and part for part in parts):
        return parts[0], parts[1]
    msg = f'{key} takes pairs such as ["a", "b"] or "a -> b", got {value!r}'
    raise _BadRuleError(msg)
