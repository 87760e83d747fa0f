"""PACE files."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from oracle import random_graphs
from twbn import Graph, TreeDecomposition, read_gr, read_td, treewidth, write_gr, write_td
from twbn.errors import FileFormatError

if TYPE_CHECKING:
    from pathlib import Path

TRIANGLES = Graph.from_edges(4, [(0, 1), (1, 2), (0, 2), (1, 3), (2, 3)])
GOOD_TD = "c width 2\ns td 2 3 4\nb 1 1 2 3\nb 2 2 3 4\n1 2\n"


def write(path: Path, text: str) -> Path:
    path.write_text(text, encoding="utf-8")
    return path


def test_graphs_and_decompositions_survive_the_round_trip(tmp_path: Path) -> None:
    for graph in random_graphs(9, 20, seed=3):
        write_gr(graph, tmp_path / "g.gr", comment="a graph")
        assert read_gr(tmp_path / "g.gr") == graph
        proof = treewidth(graph).decomposition
        write_td(proof, 9, tmp_path / "g.td")
        assert read_td(tmp_path / "g.td", graph) == proof


def test_loops_repeated_edges_and_dimacs_are_read(tmp_path: Path) -> None:
    path = write(tmp_path / "g.gr", "c x\np tw 3 4\n1 2\n2 1\n3 3\n2 3\n")
    assert read_gr(path) == Graph.from_edges(3, [(0, 1), (1, 2)])
    path = write(tmp_path / "g.col", "p edge 3 2\ne 1 2\ne 2 3\n")
    assert read_gr(path) == Graph.from_edges(3, [(0, 1), (1, 2)])


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "no problem line"),
        ("1 2\n", "line 1: expected 'p tw VERTICES EDGES' first"),
        ("p tw 3\n", "line 1: expected 'p tw VERTICES EDGES'"),
        ("p tw 3 x\n", "line 1: expected a whole number, found 'x'"),
        ("p tw 3 1\np tw 3 1\n1 2\n", "line 2: a second problem line"),
        ("p tw 3 1\n1 4\n", "line 2: expected a vertex between 1 and 3, found 4"),
        ("p tw 3 1\n1 2 3\n", "line 2: expected two vertices"),
        ("p tw 3 2\n1 2\n", "2 edges were announced, found 1"),
    ],
)
def test_a_bad_graph_says_what_is_wrong(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(FileFormatError, match=message):
        read_gr(write(tmp_path / "g.gr", text))


def test_a_decomposition_is_read_and_checked(tmp_path: Path) -> None:
    proof = read_td(write(tmp_path / "g.td", GOOD_TD), TRIANGLES)
    assert proof == TreeDecomposition((frozenset({0, 1, 2}), frozenset({1, 2, 3})), ((0, 1),))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "no solution line"),
        ("b 1 1\n", "line 1: expected 's td BAGS LARGEST VERTICES' first"),
        (GOOD_TD.replace("s td 2 3 4", "s td 2 2 4"), "announced with 2 vertices, which is wrong"),
        (GOOD_TD.replace("b 2", "b 1"), "line 4: bag 1 occurs twice"),
        (GOOD_TD.replace("b 2 2 3 4\n", ""), "2 bags were announced, found 1"),
        (GOOD_TD.replace("1 2\n", "", 1).replace("1 2\n", ""), "not a tree|found"),
        (GOOD_TD.replace("b 2 2 3 4", "b 2 2 4"), r"edge \(2, 3\) is in no bag"),
        (GOOD_TD.replace("b 2 2 3 4", "b 2 2 3 9"), "expected a vertex between 1 and 4, found 9"),
        (GOOD_TD + "1 2 3\n", "expected two bags"),
    ],
)
def test_a_bad_decomposition_says_what_is_wrong(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(FileFormatError, match=message):
        read_td(write(tmp_path / "g.td", text), TRIANGLES)
