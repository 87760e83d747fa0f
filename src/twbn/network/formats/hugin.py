"""Hugin .net files."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from twbn.errors import FileFormatError
from twbn.files import read_text, write_text
from twbn.network.formats.parts import Parts
from twbn.network.formats.tokens import Tokens
from twbn.numerals import as_number

if TYPE_CHECKING:
    import os

    from twbn.network.network import Network

__all__ = ["read_hugin", "write_hugin"]

# A name may contain commas and equals signs.
_TOKEN = re.compile(
    r"%[^\n]*|\s+|\"(?P<text>[^\"]*)\"|(?P<mark>[{}()|;=])"
    r"|(?P<word>[^\s{}()|;\"%=]+(?:=[^\s{}()|;\"%=]+)*)"
)


def read_hugin(path: str | os.PathLike[str]) -> Network:
    """Return the network in a Hugin file with numeric tables; errors give the line and column."""
    tokens = Tokens(read_text(path), str(path), _TOKEN)
    parts = Parts(str(path))
    while tokens:
        word = tokens.next("a node or a potential")
        if word == "node":
            _read_node(tokens, parts)
        elif word == "potential":
            _read_potential(tokens, parts)
        elif word == "class":  # its block has the nodes
            while tokens.next("'{'") != "{":
                pass
        elif word == "{":
            _skip_block(tokens)
        elif word in {"continuous", "decision", "utility", "function"}:
            tokens.fail(f"a {word} node; only discrete nodes are read", back=1)
        # Everything else is the head of a block (net, discrete) or an attribute of a class.
    if not parts.states:
        msg = f"{path}: no nodes: this is not a Hugin file"
        raise FileFormatError(msg)
    return parts.network()


def _read_node(tokens: Tokens, parts: Parts) -> None:
    name = tokens.next("the name of a node")
    if name in parts.states:
        tokens.fail(f"node {name!r} is declared twice", back=1)
    states = _entries(tokens).get("states")
    if states is None:
        tokens.fail(f"node {name!r} has no states", back=1)
    parts.states[name] = [word for word in states if word not in {"(", ")"}]


def _read_potential(tokens: Tokens, parts: Parts) -> None:
    tokens.expect("(")
    family = [word for word in tokens.until(")") if word != "|"]
    if not family:
        tokens.fail("a potential that names no node", back=1)
    child = family[0]
    if child in parts.tables:
        tokens.fail(f"the potential of {child!r} is given twice", back=1)
    parts.parents[child] = family[1:]
    data = _entries(tokens).get("data")
    if data is None:
        tokens.fail(f"the potential of {child!r} has no data", back=1)
    numbers = [number for word in data for number in word.split(",") if number.strip("() ")]
    values = [as_number(number) for number in numbers]
    if None in values:
        tokens.fail(
            f"the potential of {child!r}: {numbers[values.index(None)]!r} is not a number", back=1
        )
    parts.tables[child] = parts.reshaped(child, [value for value in values if value is not None])


def _entries(tokens: Tokens) -> dict[str, list[str]]:
    """Take a block ``{ name = value; … }``; return the tokens of each value."""
    tokens.expect("{")
    entries: dict[str, list[str]] = {}
    words: list[str] = []
    while True:
        word = tokens.next("'}'")
        if word not in {";", "}"}:
            words.append(word)
            continue
        if len(words) > 1 and words[1] == "=":
            entries.setdefault(words[0], words[2:])
        elif words and "=" in words[0]:  # without blanks around it
            name, _, first = words[0].partition("=")
            entries.setdefault(name, [first, *words[1:]])
        words = []
        if word == "}":
            return entries


def _skip_block(tokens: Tokens) -> None:
    """Take the rest of a block, with the blocks inside it."""
    depth = 1
    while depth:
        word = tokens.next("'}'")
        depth += (word == "{") - (word == "}")


def write_hugin(network: Network, path: str | os.PathLike[str]) -> None:
    """Write a network as a Hugin file, at full precision."""
    for name in network.names:
        if re.search(r"[\s{}()|;%\"]|^=|=$|==", name):
            msg = (
                f"a Hugin file cannot hold the name {name!r}: no blanks, brackets or quotes, and "
                "equals signs only between other characters"
            )
            raise FileFormatError(msg)
    lines = ["net", "{", "}"]
    for v, name in enumerate(network.names):
        texts = [str(state) for state in network.states[v]]
        if any(set('"%{}();') & set(text) for text in texts):
            msg = f"a Hugin file cannot hold quotes, brackets, % or ; in a state of {name!r}"
            raise FileFormatError(msg)
        quoted = " ".join(f'"{text}"' for text in texts)
        lines += [f"node {name}", "{", f"  states = ({quoted});", "}"]
    for v, name in enumerate(network.names):
        given = " ".join(network.names[p] for p in network.dag.parents[v])
        values = " ".join(map(repr, network.tables[v].ravel().tolist()))
        lines += [
            f"potential ({name} | {given})" if given else f"potential ({name})",
            "{",
            f"  data = ({values});",
            "}",
        ]
    write_text(path, "\n".join(lines) + "\n")
