"""UAI model files: tables without names."""

from __future__ import annotations

import re
import warnings
from typing import TYPE_CHECKING, Literal

import numpy as np

from twbn.errors import FileFormatError, OptionError
from twbn.files import read_text, write_text
from twbn.network.formats.parts import Parts
from twbn.numerals import as_number

if TYPE_CHECKING:
    import os
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from twbn.network.network import Network

__all__ = ["Dialect", "read_uai", "write_uai"]

#: How others write the table of a variable with two or more parents.
Dialect = Literal["uai", "agrum", "pgmpy"]
DIALECTS: tuple[Dialect, ...] = ("uai", "agrum", "pgmpy")


def read_uai(path: str | os.PathLike[str], *, dialect: Dialect = "uai") -> Network:
    """Return the network of a UAI file; variables are called x0, x1, …, states 0, 1, ….

    Parameters
    ----------
    dialect
        ``"uai"`` as specified: the child is last in its scope and the last variable of the scope
        changes fastest. ``"agrum"``: parents of the table are in the reverse order of the scope.
        ``"pgmpy"``: the same, and the child is the slowest index of the table.
    """
    if dialect not in DIALECTS:
        msg = f"dialect must be one of {list(DIALECTS)}, got {dialect!r}"
        raise OptionError(msg)
    text = read_text(path)
    source = str(path)
    if dialect == "uai" and "#" in text:
        warnings.warn(
            f"{source}: comments as aGrUM writes them; if it did, dialect='agrum' reads its tables",
            stacklevel=2,
        )
    lines = (re.sub(r"#.*", "", line) for line in text.splitlines())
    listed = [w for line in lines if not re.match(r"c(\s|$)", line) for w in line.split()]
    words = iter(listed)
    kind = next(words, "")
    if kind != "BAYES":
        msg = f"{source}: a Bayesian network begins with BAYES, got {kind or 'nothing'!r}"
        raise FileFormatError(msg)
    # No count can exceed the number of words: every item counted takes at least one word.
    most = len(listed)
    n = _whole(words, "number of variables", source, most)
    sizes = [_whole(words, "number of states", source, most) for _ in range(n)]
    n_functions = _whole(words, "number of functions", source, most)
    if n_functions != n:
        msg = f"{source}: {n} variables have {n_functions} functions, expected one for each"
        raise FileFormatError(msg)
    scopes = [
        [
            _whole(words, "variable", source, most)
            for _ in range(_whole(words, "scope", source, most))
        ]
        for _ in range(n)
    ]
    parts = Parts(source, {f"x{v}": list(range(size)) for v, size in enumerate(sizes)})
    for scope in scopes:
        if not scope or max(scope) >= n or len(set(scope)) < len(scope):
            msg = f"{source}: the scope {scope} must hold distinct variables in 0..{n - 1}"
            raise FileFormatError(msg)
        count = _whole(words, "number of values", source, most)
        values = [_number(words, source) for _ in range(count)]
        _add_function(parts, scope, values, dialect)
    if (rest := next(words, None)) is not None:
        msg = f"{source}: unexpected {rest!r} after the last table"
        raise FileFormatError(msg)
    return parts.network()


def write_uai(network: Network, path: str | os.PathLike[str], *, dialect: Dialect = "uai") -> None:
    """Write a network as UAI; names and states are lost, as the format has none."""
    if dialect not in DIALECTS:
        msg = f"dialect must be one of {list(DIALECTS)}, got {dialect!r}"
        raise OptionError(msg)
    lines = ["BAYES", str(network.n_variables), " ".join(map(str, network.n_states))]
    lines.append(str(network.n_variables))
    for v, parents in enumerate(network.dag.parents):
        lines.append(" ".join(map(str, (len(parents) + 1, *parents, v))))
    for table in network.tables:
        values = table
        if dialect == "agrum":
            values = np.transpose(table, (*range(table.ndim - 2, -1, -1), table.ndim - 1))
        elif dialect == "pgmpy":
            values = np.transpose(table)
        lines += ["", str(table.size), " ".join(map(repr, values.ravel().tolist()))]
    write_text(path, "\n".join(lines) + "\n")


def _add_function(parts: Parts, scope: list[int], values: list[float], dialect: Dialect) -> None:
    child = f"x{scope[-1]}"
    if child in parts.tables:
        msg = f"{parts.source}: {child} is the last variable of two scopes"
        raise FileFormatError(msg)
    parts.parents[child] = [f"x{v}" for v in scope[:-1]]
    table: NDArray[np.float64] = parts.reshaped(child, values)
    if dialect == "agrum":
        shape = table.shape[:-1][::-1] + table.shape[-1:]
        axes = (*range(table.ndim - 2, -1, -1), table.ndim - 1)
        table = np.transpose(table.reshape(shape), axes)
    elif dialect == "pgmpy":
        table = np.transpose(table.reshape(table.shape[::-1]))
    parts.tables[child] = table


def _whole(words: Iterator[str], what: str, source: str, most: int) -> int:
    word = next(words, None)
    if word is None or not (word.isascii() and word.isdigit()) or len(word) > 18:
        msg = f"{source}: expected a {what}, got {word or 'the end'!r}"
        raise FileFormatError(msg)
    if int(word) > most:
        msg = f"{source}: a {what} of {int(word):,} does not go with a file of {most:,} words"
        raise FileFormatError(msg)
    return int(word)


def _number(words: Iterator[str], source: str) -> float:
    word = next(words, None)
    number = None if word is None else as_number(word)
    if number is None:
        msg = f"{source}: expected a probability, got {word or 'the end'!r}"
        raise FileFormatError(msg)
    return number
