"""Hugin .net files."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from twbn.errors import FileFormatError
from twbn.network.parts import Parts, read_text, write_text

if TYPE_CHECKING:
    import os

    from twbn.network.network import Network

__all__ = ["read_hugin", "write_hugin"]

_COMMENT = re.compile(r"%[^\n]*")
_NODE = re.compile(r"(?:discrete\s+)?node\s+(?P<name>[^\s{]+)\s*\{(?P<body>[^}]*)\}")
_POTENTIAL = re.compile(r"potential\s*\((?P<family>[^)]*)\)\s*\{(?P<body>[^}]*)\}")
_STATES = re.compile(r"states\s*=\s*\((?P<states>.*?)\)\s*;", re.DOTALL)
_DATA = re.compile(r"data\s*=\s*(?P<data>[^;]*);")


def read_hugin(path: str | os.PathLike[str]) -> Network:
    """Return the network of a Hugin file with tables of numbers."""
    source = str(path)
    text = _COMMENT.sub("", read_text(path))
    parts = Parts(source)
    for node in _NODE.finditer(text):
        states = _STATES.search(node["body"])
        if states is None:
            msg = f"{source}: node {node['name']!r} has no states"
            raise FileFormatError(msg)
        if node["name"] in parts.states:
            msg = f"{source}: node {node['name']!r} is declared twice"
            raise FileFormatError(msg)
        words = re.findall(r'"([^"]*)"|([^\s"()]+)', states["states"])
        parts.states[node["name"]] = [quoted or bare for quoted, bare in words]
    for potential in _POTENTIAL.finditer(text):
        child, _, parents = potential["family"].partition("|")
        child = child.strip()
        if child in parts.tables:
            msg = f"{source}: the potential of {child!r} is given twice"
            raise FileFormatError(msg)
        parts.parents[child] = parents.split()
        data = _DATA.search(potential["body"])
        if data is None:
            msg = f"{source}: the potential of {child!r} has no data"
            raise FileFormatError(msg)
        words = re.sub(r"[(),]", " ", data["data"]).split()
        try:
            values = [float(word) for word in words]
        except ValueError as error:
            msg = f"{source}: the potential of {child!r}: {error}"
            raise FileFormatError(msg) from None
        parts.tables[child] = parts.reshaped(child, values)
    if not parts.states:
        msg = f"{source}: no nodes: this is not a Hugin file"
        raise FileFormatError(msg)
    return parts.network()


def write_hugin(network: Network, path: str | os.PathLike[str]) -> None:
    """Write a network as a Hugin file, with every digit."""
    for name in network.names:
        if re.search(r"[\s{}()|;%\"]", name):
            msg = f"a Hugin file cannot hold the name {name!r}: no blanks, brackets or quotes"
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
