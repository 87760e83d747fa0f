"""Tree decompositions: the checker and the way from orders and back."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from oracle import random_graphs
from twbn import Graph, TreeDecomposition
from twbn.errors import GraphError
from twbn.graphs import elimination_width

SQUARE = Graph.from_edges(4, [(0, 1), (1, 2), (2, 3), (3, 0)])


def decomposition(bags: list[set[int]], *edges: tuple[int, int]) -> TreeDecomposition:
    return TreeDecomposition(tuple(frozenset(bag) for bag in bags), edges)


def test_a_right_decomposition_passes() -> None:
    proof = decomposition([{0, 1, 2}, {0, 2, 3}], (0, 1))
    proof.check(SQUARE)
    assert proof.width == 2


@pytest.mark.parametrize(
    ("proof", "message"),
    [
        (decomposition([{0, 1, 2}]), "vertex 3 is in no bag"),
        (decomposition([{0, 1, 2}, {2, 3}], (0, 1)), r"edge \(0, 3\) is in no bag"),
        (
            decomposition([{0, 1}, {1, 2, 3}, {0, 3}], (0, 1), (1, 2)),
            "the bags of vertex 0 are not connected",
        ),
        (decomposition([{0, 1, 2, 3, 9}]), "bag 0 has vertex 9"),
    ],
)
def test_each_axiom_is_checked(proof: TreeDecomposition, message: str) -> None:
    with pytest.raises(GraphError, match=message):
        proof.check(SQUARE)


@pytest.mark.parametrize(
    "edges", [[], [(0, 1)], [(0, 1), (1, 2), (2, 0)], [(0, 1), (0, 1)], [(0, 1), (1, 5)]]
)
def test_bags_must_form_a_tree(edges: list[tuple[int, int]]) -> None:
    with pytest.raises(GraphError, match=r"not a tree|does not fit"):
        decomposition([{0}, {1}, {2}], *edges)


def test_orders_and_decompositions_turn_into_each_other() -> None:
    rng = np.random.default_rng(0)
    for graph in random_graphs(9, 60, seed=1):
        order = rng.permutation(9).tolist()
        proof = TreeDecomposition.from_elimination_order(graph, order)
        proof.check(graph)
        assert proof.width == elimination_width(graph, order)
        back = proof.elimination_order()
        assert sorted(back) == list(range(9))
        assert elimination_width(graph, back) <= proof.width


def test_no_bag_lies_inside_its_neighbour() -> None:
    for graph in random_graphs(8, 40, seed=2):
        proof = TreeDecomposition.from_elimination_order(graph, range(8))
        for a, b in proof.edges:
            assert not proof.bags[a] <= proof.bags[b]
            assert not proof.bags[b] <= proof.bags[a]


def test_an_order_must_be_complete() -> None:
    with pytest.raises(GraphError, match=r"each of 0\.\.3 once"):
        TreeDecomposition.from_elimination_order(SQUARE, [0, 1, 2])


def test_graphs_check_their_edges() -> None:
    with pytest.raises(GraphError, match=r"edge \(0, 4\) does not fit"):
        Graph.from_edges(3, [(0, 4)])


def test_components_and_cliques() -> None:
    graph = Graph.from_edges(6, [(0, 1), (1, 2), (0, 2), (3, 4)])
    assert sorted(map(sorted, graph.components())) == [[0, 1, 2], [3, 4], [5]]
    assert graph.is_clique([0, 1, 2])
    assert not graph.is_clique([2, 3])
    assert len(Graph.complete(5).edges) == len(list(itertools.combinations(range(5), 2)))
