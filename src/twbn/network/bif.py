"""BIF 0.15, the format of the Bayesian-network repository."""

from __future__ import annotations

import itertools
import re
import warnings
from typing import TYPE_CHECKING, NoReturn

import numpy as np

from twbn.errors import FileFormatError
from twbn.network.parts import Parts, read_text, state_kind, typed_states, write_text

if TYPE_CHECKING:
    import os
    from collections.abc import Iterable

    from numpy.typing import NDArray

    from twbn.network.network import Network

__all__ = ["read_bif", "write_bif"]

# Whitespace, commas and bars separate; names of the wild hold almost anything else.
_TOKEN = re.compile(
    r'//[^\n]*|/\*.*?\*/|[\s,|]+|"(?P<text>[^"]*)"|(?P<mark>[{}()\[\];])|(?P<word>[^\s,|{}()\[\];"]+)',
    re.DOTALL,
)
_UNSAFE = re.compile(r"[^A-Za-z0-9_.+<>=-]")


def read_bif(path: str | os.PathLike[str]) -> Network:
    """Return the network of a BIF file (also ``.bif.gz``).

    Rows by states, `table` and `default` forms; FileFormatError names line and column.
    """
    return _Reader(read_text(path), str(path)).network()


def write_bif(network: Network, path: str | os.PathLike[str]) -> dict[str, str]:
    """Write a network in row form with every digit; return what had to be renamed.

    Names and states keep only the characters that all readers take; others become ``_``.
    """
    renamed: dict[str, str] = {}
    names = _safe(network.names, renamed)
    states = [_safe(map(str, s), renamed) for s in network.states]
    lines = ["network twbn {", "}"]
    for v, name in enumerate(names):
        kind = state_kind(network.states[v])
        lines += [
            f"variable {name} {{",
            f"  type discrete [ {len(states[v])} ] {{ {', '.join(states[v])} }};",
            *([f"  property dtype = {kind} ;"] if kind != "str" else []),
            "}",
        ]
    for v, name in enumerate(names):
        parents = network.dag.parents[v]
        table = network.tables[v]
        given = " | " + ", ".join(names[p] for p in parents) if parents else ""
        lines.append(f"probability ( {name}{given} ) {{")
        rows = table.reshape(-1, table.shape[-1]).tolist()
        if parents:
            combinations = itertools.product(*(states[p] for p in parents))
            for values, row in zip(combinations, rows, strict=True):
                lines.append(f"  ({', '.join(values)}) {', '.join(map(repr, row))};")
        else:
            lines.append(f"  table {', '.join(map(repr, rows[0]))};")
        lines.append("}")
    write_text(path, "\n".join(lines) + "\n")
    if renamed:
        shown = ", ".join(f"{old!r} as {new!r}" for old, new in list(renamed.items())[:3])
        warnings.warn(f"BIF has no such characters: wrote {shown}", stacklevel=2)
    return renamed


def _safe(texts: Iterable[str], renamed: dict[str, str]) -> list[str]:
    """Return distinct texts of safe characters, and note which had to change."""
    found: list[str] = []
    for text in texts:
        safe = base = _UNSAFE.sub("_", text) or "_"
        number = 1
        while safe in found:
            number += 1
            safe = f"{base}_{number}"
        if safe != text:
            renamed[text] = safe
        found.append(safe)
    return found


class _Reader:
    """A reader by recursive descent over the tokens of one file."""

    def __init__(self, text: str, source: str) -> None:
        self._text = text
        self._source = source
        self._tokens: list[str] = []
        self._places: list[int] = []
        self._at = 0
        self._parts = Parts(source)
        position = 0
        for match in _TOKEN.finditer(text):
            if match.start() != position:
                self._fail("a quote or comment that does not end", position)
            position = match.end()
            token = match["mark"] or match["word"] or match["text"]
            if token is not None:
                self._tokens.append(token)
                self._places.append(match.start())
        if position != len(text):
            self._fail("a quote or comment that does not end", position)

    def network(self) -> Network:
        while self._at < len(self._tokens):
            kind = self._next("network, variable or probability")
            if kind == "network":
                while self._next("{") != "{":
                    pass
                while self._peek() != "}":
                    self._skip_property()
                self._expect("}")
            elif kind == "variable":
                self._variable()
            elif kind == "probability":
                self._probability()
            else:
                self._at -= 1
                self._fail(f"expected network, variable or probability, got {kind!r}")
        if not self._parts.states:
            self._fail("no variables: this is not a BIF file")
        return self._parts.network()

    def _variable(self) -> None:
        name = self._next("the name of a variable")
        if name in self._parts.states:
            self._fail(f"variable {name!r} is declared twice", back=1)
        self._expect("{")
        states: list[str] = []
        kind = "str"
        while self._peek() != "}":
            word = self._next("type or property")
            if word == "property":
                words = self._until(";")
                if words[:2] == ["dtype", "="] and len(words) == 3:
                    kind = words[2]
                continue
            if word != "type":
                self._fail(f"expected type or property, got {word!r}", back=1)
            self._expect("discrete")
            self._expect("[")
            count = self._next("the number of states")
            self._expect("]")
            self._expect("{")
            states = [*self._until("}")]
            self._expect(";")
            if count != str(len(states)):
                msg = f"variable {name!r} has {len(states)} states, its type says {count}"
                self._fail(msg, back=2)
        self._expect("}")
        if not states:
            self._fail(f"variable {name!r} has no states", back=1)
        self._parts.states[name] = typed_states(states, kind)

    def _probability(self) -> None:
        self._expect("(")
        family = self._until(")")
        if not family:
            self._fail("probability of no variable", back=1)
        child, parents = family[0], family[1:]
        if child in self._parts.tables:
            self._fail(f"the probabilities of {child!r} are given twice", back=1)
        self._parts.parents[child] = parents
        shape = self._parts.shape(child)
        table = np.full(shape, np.nan)
        default: list[float] | None = None
        codes = [
            {str(s): i for i, s in enumerate(self._parts.states[parent])} for parent in parents
        ]
        self._expect("{")
        while self._peek() != "}":
            word = self._next("a row, table or default")
            if word == "property":
                self._until(";")
            elif word == "default":
                default = self._numbers(shape[-1], child)
            elif word == "table":
                # The child is the slowest index here.
                values = np.array(self._numbers(table.size, child))
                table = np.moveaxis(values.reshape(shape[-1], *shape[:-1]), 0, -1)
            elif word == "(":
                row = self._row(parents, codes, child)
                table[row] = self._numbers(shape[-1], child)
            else:
                self._fail(f"expected a row, table or default, got {word!r}", back=1)
        self._expect("}")
        self._parts.tables[child] = self._filled(table, default, child)

    def _row(self, parents: list[str], codes: list[dict[str, int]], child: str) -> tuple[int, ...]:
        first = self._at
        states = self._until(")")
        if len(states) != len(parents):
            msg = f"a row of {child!r} names {len(states)} states for {len(parents)} parents"
            self._fail(msg, back=1)
        found = []
        for i, state in enumerate(states):
            if state not in codes[i]:
                self._at = first + i
                msg = f"{state!r} is no state of {parents[i]!r}: {', '.join(codes[i])}"
                self._fail(msg)
            found.append(codes[i][state])
        return tuple(found)

    def _filled(
        self, table: NDArray[np.float64], default: list[float] | None, child: str
    ) -> NDArray[np.float64]:
        missing = np.isnan(table).any(axis=-1)
        if missing.any():
            if default is None:
                where = tuple(int(i) for i in np.argwhere(missing)[0])
                given = ", ".join(
                    f"{parent}={self._parts.states[parent][i]}"
                    for parent, i in zip(self._parts.parents[child], where, strict=True)
                )
                self._fail(f"{child!r} has no probabilities for {given or 'itself'}", back=1)
            table[missing] = default
        return table

    def _numbers(self, count: int, child: str) -> list[float]:
        first = self._at
        words = self._until(";")
        values = [number for word in words if (number := _number(word)) is not None]
        if len(values) != len(words):
            bad = next(i for i, word in enumerate(words) if _number(word) is None)
            self._at = first + bad
            self._fail(f"{words[bad]!r} is not a number")
        if len(values) != count:
            self._at = first
            self._fail(f"{child!r} has {len(values)} probabilities here, expected {count}")
        return values

    def _skip_property(self) -> None:
        self._expect("property")
        self._until(";")

    def _until(self, mark: str) -> list[str]:
        first = self._at
        while self._next(repr(mark)) != mark:
            pass
        return self._tokens[first : self._at - 1]

    def _peek(self) -> str:
        if self._at >= len(self._tokens):
            self._fail("the file ends inside a block")
        return self._tokens[self._at]

    def _next(self, wanted: str) -> str:
        if self._at >= len(self._tokens):
            self._fail(f"the file ends, expected {wanted}")
        self._at += 1
        return self._tokens[self._at - 1]

    def _expect(self, token: str) -> None:
        found = self._next(repr(token))
        if found != token:
            self._fail(f"expected {token!r}, got {found!r}", back=1)

    def _fail(self, message: str, place: int | None = None, back: int = 0) -> NoReturn:
        """Raise the error at a place in the text, or at a token before the next one."""
        if place is None:
            at = self._at - back
            place = self._places[at] if 0 <= at < len(self._places) else len(self._text)
        line = self._text.count("\n", 0, place) + 1
        column = place - (self._text.rfind("\n", 0, place) + 1) + 1
        msg = f"{self._source}, line {line}, column {column}: {message}"
        raise FileFormatError(msg)


def _number(word: str) -> float | None:
    try:
        return float(word)
    except ValueError:
        return None
