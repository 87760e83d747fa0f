"""Graph files: PACE `.gr` and `.td`, DIMACS `.col`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from twbn.errors import FileFormatError, GraphError
from twbn.files import read_text, write_text
from twbn.graphs.decomposition import TreeDecomposition
from twbn.graphs.graph import Graph

if TYPE_CHECKING:
    import os
    from collections.abc import Iterator

__all__ = ["read_gr", "read_td", "write_gr", "write_td"]


def read_gr(path: str | os.PathLike[str]) -> Graph:
    """Return the graph of a PACE `.gr` or DIMACS `.col` file; vertices 1..n become 0..n-1.

    Loops and repeated edges are dropped.
    """
    path = Path(path)
    n_vertices, n_edges = -1, 0
    edges: list[tuple[int, int]] = []
    for line, tokens in _lines(path):
        if tokens[0] == "p":
            if n_vertices >= 0:
                msg = f"{path}, line {line}: a second problem line"
                raise FileFormatError(msg)
            if len(tokens) != 4 or tokens[1] not in {"tw", "edge", "col"}:
                found = " ".join(tokens)
                msg = f"{path}, line {line}: expected 'p tw VERTICES EDGES', found {found!r}"
                raise FileFormatError(msg)
            n_vertices, n_edges = (_whole(path, line, token) for token in tokens[2:])
            continue
        if n_vertices < 0:
            found = " ".join(tokens)
            msg = f"{path}, line {line}: expected 'p tw VERTICES EDGES' first, found {found!r}"
            raise FileFormatError(msg)
        ends = tokens[1:] if tokens[0] == "e" else tokens
        if len(ends) != 2:
            msg = f"{path}, line {line}: expected two vertices, found {' '.join(tokens)!r}"
            raise FileFormatError(msg)
        u, v = (_vertex(path, line, token, n_vertices) for token in ends)
        edges.append((u, v))
    if n_vertices < 0:
        msg = f"{path}: no problem line 'p tw VERTICES EDGES'"
        raise FileFormatError(msg)
    if len(edges) != n_edges:
        msg = f"{path}: {n_edges} edges were announced, found {len(edges)}"
        raise FileFormatError(msg)
    return Graph.from_edges(n_vertices, edges)


def write_gr(graph: Graph, path: str | os.PathLike[str], *, comment: str = "") -> None:
    """Write a graph as PACE `.gr`."""
    lines = [f"c {comment}"] if comment else []
    lines.append(f"p tw {graph.n_vertices} {len(graph.edges)}")
    lines += [f"{u + 1} {v + 1}" for u, v in sorted(graph.edges)]
    write_text(path, "\n".join(lines) + "\n")


def read_td(path: str | os.PathLike[str], graph: Graph | None = None) -> TreeDecomposition:
    """Return the tree decomposition of a PACE `.td` file, checked against `graph` if given."""
    path = Path(path)
    head: tuple[int, int, int] | None = None
    bags: dict[int, frozenset[int]] = {}
    edges: list[tuple[int, int]] = []
    for line, tokens in _lines(path):
        if tokens[0] == "s":
            if head is not None or len(tokens) != 5 or tokens[1] != "td":
                msg = f"{path}, line {line}: expected one 's td BAGS LARGEST VERTICES'"
                raise FileFormatError(msg)
            n_bags, largest, n_vertices = (_whole(path, line, token) for token in tokens[2:])
            head = (n_bags, largest, n_vertices)
            continue
        if head is None:
            msg = f"{path}, line {line}: expected 's td BAGS LARGEST VERTICES' first"
            raise FileFormatError(msg)
        if tokens[0] == "b":
            number = _vertex(path, line, tokens[1] if len(tokens) > 1 else "", head[0], "bag")
            if number in bags:
                msg = f"{path}, line {line}: bag {number + 1} occurs twice"
                raise FileFormatError(msg)
            bags[number] = frozenset(_vertex(path, line, t, head[2]) for t in tokens[2:])
            continue
        if len(tokens) != 2:
            msg = f"{path}, line {line}: expected two bags, found {' '.join(tokens)!r}"
            raise FileFormatError(msg)
        a, b = (_vertex(path, line, token, head[0], "bag") for token in tokens)
        edges.append((a, b))
    if head is None:
        msg = f"{path}: no solution line 's td BAGS LARGEST VERTICES'"
        raise FileFormatError(msg)
    if len(bags) != head[0]:
        msg = f"{path}: {head[0]} bags were announced, found {len(bags)}"
        raise FileFormatError(msg)
    if max((len(bag) for bag in bags.values()), default=0) != head[1]:
        msg = f"{path}: the largest bag was announced with {head[1]} vertices, which is wrong"
        raise FileFormatError(msg)
    try:
        decomposition = TreeDecomposition(tuple(bags[i] for i in range(head[0])), tuple(edges))
        if graph is not None:
            decomposition.check(graph)
    except GraphError as error:
        raise FileFormatError(f"{path}: {error}") from None
    return decomposition


def write_td(
    decomposition: TreeDecomposition, n_vertices: int, path: str | os.PathLike[str]
) -> None:
    """Write a tree decomposition of a graph of `n_vertices` as PACE `.td`."""
    lines = [f"s td {len(decomposition.bags)} {decomposition.width + 1} {n_vertices}"]
    lines += [
        " ".join(["b", str(i), *(str(v + 1) for v in sorted(bag))])
        for i, bag in enumerate(decomposition.bags, start=1)
    ]
    lines += [f"{a + 1} {b + 1}" for a, b in decomposition.edges]
    write_text(path, "\n".join(lines) + "\n")


def _lines(path: Path) -> Iterator[tuple[int, list[str]]]:
    for line, text in enumerate(read_text(path).splitlines(), start=1):
        tokens = text.split()
        if tokens and tokens[0] != "c":
            yield line, tokens


def _whole(path: Path, line: int, token: str) -> int:
    if not (token.isascii() and token.isdigit() and len(token) < 10):
        msg = f"{path}, line {line}: expected a whole number, found {token!r}"
        raise FileFormatError(msg)
    return int(token)


def _vertex(path: Path, line: int, token: str, limit: int, what: str = "vertex") -> int:
    number = _whole(path, line, token)
    if not 1 <= number <= limit:
        msg = f"{path}, line {line}: expected a {what} between 1 and {limit}, found {number}"
        raise FileFormatError(msg)
    return number - 1
