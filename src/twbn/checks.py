"""Argument checks shared by all functions: time limits, whole numbers, workers, memory, names."""

from __future__ import annotations

import difflib
import math
import numbers
import os
import re
from typing import TYPE_CHECKING, Any, overload

from twbn.errors import Option, OptionError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

__all__ = [
    "FOREVER",
    "checked_data_options",
    "checked_memory_limit",
    "checked_n_jobs",
    "checked_seed",
    "checked_time_limit",
    "checked_whole",
    "half_of_memory",
    "unknown",
]

#: Seconds that mean "as long as it takes": some thirty years.
FOREVER = 1e9

#: Units in which a memory limit may be written, in GiB.
_MEMORY_UNITS = {
    f"{letter}{i}B": (1024.0 if i else 1000.0) ** power / 2**30
    for power, letter in enumerate("KMGT", start=1)
    for i in ("I", "")
}

#: The options with which a data file may have been read, and the types of their values.
_DATA_OPTIONS: Mapping[str, tuple[type, ...]] = {
    "delimiter": (str, type(None)),
    "header": (bool, type(None)),
    "encoding": (str, type(None)),
    "skip_rows": (int,),
    "discretize": (str,),
    "bins": (int, type(None)),
    "max_categories": (int, type(None)),
    "drop": (list,),
    "weights": (str, type(None)),
    "missing": (list,),
    "decimal": (str,),
    "thousands": (str,),
    "distinct": (bool,),
}


@overload
def checked_time_limit(seconds: float) -> float: ...
@overload
def checked_time_limit(seconds: None) -> None: ...
@overload
def checked_time_limit(seconds: float | None) -> float | None: ...
def checked_time_limit(seconds: float | None) -> float | None:
    """Return a time limit in seconds, or raise OptionError; None means no limit.

    Examples
    --------
    >>> checked_time_limit(5), checked_time_limit(1e308)
    (5.0, 1000000000.0)
    """
    if seconds is None:
        return None
    if not (_is_number(seconds) and 0 < seconds < math.inf):
        problem = f" must be a positive number of seconds, got {seconds!r}"
        raise OptionError(Option("time_limit"), problem)
    return float(min(seconds, FOREVER))


def checked_whole(name: str, value: object, *, least: int, most: float = math.inf) -> int:
    """Return an option that is a whole number, or raise OptionError naming it."""
    good = isinstance(value, numbers.Integral) and not isinstance(value, bool)
    if not good or not least <= value <= most:  # type: ignore[operator]
        problem = f" must be a whole number, {least} or more, got {value!r}"
        raise OptionError(Option(name), problem)
    return int(value)  # type: ignore[call-overload, no-any-return]


def checked_seed(seed: object) -> int:
    """Return a seed, or raise OptionError."""
    return checked_whole("seed", seed, least=0, most=2**63 - 1)


def checked_n_jobs(n_jobs: int | None) -> int:
    """Return the number of threads; None means 1, -1 means one per core.

    Examples
    --------
    >>> checked_n_jobs(None), checked_n_jobs(3)
    (1, 3)
    """
    if n_jobs is None:
        return 1
    good = isinstance(n_jobs, numbers.Integral) and not isinstance(n_jobs, bool)
    if not good or n_jobs == 0 or n_jobs < -1:
        problem = f" must be a positive number, -1 (all cores) or None (one), got {n_jobs!r}"
        raise OptionError(Option("n_jobs"), problem)
    if n_jobs > 0:
        return int(n_jobs)
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def checked_memory_limit(gib: float | str | None) -> float:
    """Return a memory limit in GiB, by default half of the machine's memory.

    Examples
    --------
    >>> checked_memory_limit(1.5), checked_memory_limit("512 MiB")
    (1.5, 0.5)
    """
    if gib is None:
        return half_of_memory()
    if isinstance(gib, str):
        written = re.fullmatch(r"\s*(\d+\.?\d*|\.\d+)\s*([KMGT]i?B)?\s*", gib, re.IGNORECASE)
        size = float(written[1]) * _MEMORY_UNITS[(written[2] or "GiB").upper()] if written else 0
        if not 0 < size < math.inf:
            units = "KiB, MiB, GiB or TiB"
            problem = f" must be a number of GiB or a text such as '500MiB' ({units}), got {gib!r}"
            raise OptionError(Option("memory_limit"), problem)
        return size
    if not (_is_number(gib) and 0 < gib < math.inf):
        problem = f" must be a positive, finite number of GiB, got {gib!r}"
        raise OptionError(Option("memory_limit"), problem)
    return float(gib)


def half_of_memory() -> float:
    """Return half of the machine's memory, in GiB."""
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**31
    except (AttributeError, ValueError, OSError):
        return 2.0


def unknown(kind: str, name: object, known: Sequence[str], *, of: str = "") -> str:
    """Return the message for a name that does not exist, with the nearest one that does.

    `of` says what it is a name of, such as ``" of variable 'smoker'"``.

    Examples
    --------
    >>> unknown("column", "somker", ["age", "smoker"])
    "unknown column 'somker'; did you mean 'smoker'?"
    """
    near = difflib.get_close_matches(str(name), known, n=1)
    if near:
        return f"unknown {kind} {name!r}{of}; did you mean {near[0]!r}?"
    shown = ", ".join(map(repr, known[:12])) + (", …" if len(known) > 12 else "")
    return f"unknown {kind} {name!r}{of}; expected one of {shown}"


def _is_number(value: object) -> bool:
    return isinstance(value, numbers.Real) and not isinstance(value, bool)


def checked_data_options(options: Any) -> dict[str, Any]:
    """Return how a data file was read, as a file says it; raise ValueError if it cannot be."""
    for key, value in dict(options).items():
        lists_texts = not isinstance(value, list) or all(isinstance(v, str) for v in value)
        if not isinstance(value, _DATA_OPTIONS.get(key, ())) or not lists_texts:
            msg = f"data option {key!r} has the value {value!r}"
            raise ValueError(msg)
    return dict(options)
