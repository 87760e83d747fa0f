"""BIF 0.15, the format of the Bayesian-network repository."""

from __future__ import annotations

import itertools
import math
import re
import warnings
from typing import TYPE_CHECKING

import numpy as np

from twbn.files import read_text, write_text
from twbn.network.formats.parts import MAX_UNWRITTEN, Parts, state_kind, typed_states
from twbn.network.formats.tokens import Tokens
from twbn.numerals import as_number

if TYPE_CHECKING:
    import os
    from collections.abc import Iterable

    from numpy.typing import NDArray

    from twbn.network.network import Network

__all__ = ["read_bif", "write_bif"]

# Whitespace, commas and bars are separators; names in real files hold almost anything else.
_TOKEN = re.compile(
    r"//[^\n]*|/\*.*?(?:\*/|(?P<unclosed>\Z))|[\s,|]+"
    r'|"(?P<text>[^"]*)"|(?P<mark>[{}()\[\];])|(?P<word>[^\s,|{}()\[\];"]+)',
    re.DOTALL,
)
_UNSAFE = re.compile(r"[^A-Za-z0-9_.+<>=-]")


def read_bif(path: str | os.PathLike[str]) -> Network:
    """Return the network of a BIF file (also ``.bif.gz``).

    Reads rows by parent states, and the `table` and `default` forms. FileFormatError gives the line
    and column of an error.
    """
    return _Reader(read_text(path), str(path)).network()


def write_bif(network: Network, path: str | os.PathLike[str]) -> dict[str, str]:
    """Write a network in row form, at full precision; return the names that had to change.

    Names and states keep only characters that all readers accept; others become ``_``.
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
        warnings.warn(f"BIF does not allow some characters: wrote {shown}", stacklevel=2)
    return renamed


def _safe(texts: Iterable[str], renamed: dict[str, str]) -> list[str]:
    """Return distinct texts of safe characters; record in `renamed` those that had to change."""
    found: dict[str, int] = {}  # with the last number used for texts like it
    for text in texts:
        safe = base = _UNSAFE.sub("_", text) or "_"
        number = found.get(base, 1)
        while safe in found:
            number += 1
            safe = f"{base}_{number}"
        found[safe] = 1
        found[base] = number
        if safe != text:
            renamed[text] = safe
    return list(found)


class _Reader:
    """A recursive-descent parser over the tokens of one file."""

    def __init__(self, text: str, source: str) -> None:
        self._tokens = Tokens(text, source, _TOKEN)
        self._parts = Parts(source)
        self._n_unwritten = 0  # entries of tables that a `default` may have to fill

    def network(self) -> Network:
        while self._tokens:
            kind = self._tokens.next("network, variable or probability")
            if kind == "network":
                while self._tokens.next("{") != "{":
                    pass
                while self._tokens.peek() != "}":
                    self._skip_property()
                self._tokens.expect("}")
            elif kind == "variable":
                self._variable()
            elif kind == "probability":
                self._probability()
            else:
                self._tokens.fail(
                    f"expected network, variable or probability, got {kind!r}", back=1
                )
        if not self._parts.states:
            self._tokens.fail("no variables: this is not a BIF file")
        return self._parts.network()

    def _variable(self) -> None:
        name = self._tokens.next("the name of a variable")
        if name in self._parts.states:
            self._tokens.fail(f"variable {name!r} is declared twice", back=1)
        self._tokens.expect("{")
        states: list[str] = []
        kind = "str"
        while self._tokens.peek() != "}":
            word = self._tokens.next("type or property")
            if word == "property":
                words = self._tokens.until(";")
                if words[:2] == ["dtype", "="] and len(words) == 3:
                    kind = words[2]
                continue
            if word != "type":
                self._tokens.fail(f"expected type or property, got {word!r}", back=1)
            self._tokens.expect("discrete")
            self._tokens.expect("[")
            count = self._tokens.next("the number of states")
            self._tokens.expect("]")
            self._tokens.expect("{")
            states = [*self._tokens.until("}")]
            self._tokens.expect(";")
            if count != str(len(states)):
                msg = f"variable {name!r} has {len(states)} states, its type says {count}"
                self._tokens.fail(msg, back=2)
        self._tokens.expect("}")
        if not states:
            self._tokens.fail(f"variable {name!r} has no states", back=1)
        self._parts.states[name] = typed_states(states, kind)

    def _probability(self) -> None:
        self._tokens.expect("(")
        family = self._tokens.until(")")
        if not family:
            self._tokens.fail("a probability block that names no variable", back=1)
        child, parents = family[0], family[1:]
        if child in self._parts.tables:
            self._tokens.fail(f"the probabilities of {child!r} are given twice", back=1)
        self._parts.parents[child] = parents
        shape = self._parts.shape(child)
        self._refuse_unwritten(child, math.prod(shape))
        table = np.full(shape, np.nan)
        default: list[float] | None = None
        codes = [
            {str(s): i for i, s in enumerate(self._parts.states[parent])} for parent in parents
        ]
        self._tokens.expect("{")
        while self._tokens.peek() != "}":
            word = self._tokens.next("a row, table or default")
            if word == "property":
                self._tokens.until(";")
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
                self._tokens.fail(f"expected a row, table or default, got {word!r}", back=1)
        self._tokens.expect("}")
        self._parts.tables[child] = self._filled(table, default, child)

    def _refuse_unwritten(self, child: str, n_entries: int) -> None:
        """Refuse tables that are far larger than the file, which a `default` row makes possible."""
        self._n_unwritten += n_entries
        if self._n_unwritten > MAX_UNWRITTEN + len(self._tokens):
            msg = (
                f"with the {n_entries:,} probabilities of {child!r} the tables have more entries "
                f"than the file could hold and more than {MAX_UNWRITTEN:,}"
            )
            self._tokens.fail(msg, back=1)

    def _row(self, parents: list[str], codes: list[dict[str, int]], child: str) -> tuple[int, ...]:
        states = self._tokens.until(")")
        if len(states) != len(parents):
            msg = f"a row of {child!r} names {len(states)} states for {len(parents)} parents"
            self._tokens.fail(msg, back=1)
        found = []
        for i, state in enumerate(states):
            if state not in codes[i]:
                msg = f"{state!r} is not a state of {parents[i]!r}: {', '.join(codes[i])}"
                self._tokens.fail(msg, back=len(states) - i + 1)
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
                self._tokens.fail(f"{child!r} has no probabilities for {given or 'itself'}", back=1)
            table[missing] = default
        return table

    def _numbers(self, count: int, child: str) -> list[float]:
        words = self._tokens.until(";")
        values = [number for word in words if (number := as_number(word)) is not None]
        if len(values) != len(words):
            bad = next(i for i, word in enumerate(words) if as_number(word) is None)
            self._tokens.fail(f"{words[bad]!r} is not a number", back=len(words) - bad + 1)
        if len(values) != count:
            self._tokens.fail(
                f"{child!r} has {len(values)} probabilities here, expected {count}",
                back=len(words) + 1,
            )
        return values

    def _skip_property(self) -> None:
        self._tokens.expect("property")
        self._tokens.until(";")
