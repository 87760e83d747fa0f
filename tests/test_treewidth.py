"""Treewidth against brute force over elimination orders."""

from __future__ import annotations

import itertools

import networkx as nx
import numpy as np
import pytest

from conftest import shared_path
from oracle import random_graphs, treewidth_by_orders
from twbn import Graph, _core, read_gr, treewidth
from twbn.errors import MemoryLimitError, OptionError
from twbn.graphs import contraction_degeneracy, greedy_decomposition


def small_graphs() -> list[Graph]:
    """Return every graph of up to 6 vertices, up to isomorphism (208 of them)."""
    atlas = nx.graph_atlas_g()
    return [
        Graph.from_edges(g.number_of_nodes(), g.edges()) for g in atlas if g.number_of_nodes() <= 6
    ]


def decide(graph: Graph, k: int) -> str:
    answer, _, _ = _core.decide_treewidth(graph.n_vertices, graph.edge_array, k, 2**30, None)
    return answer


def test_all_small_graphs_agree_with_brute_force() -> None:
    graphs = small_graphs()
    assert len(graphs) == 209  # with the graph of no vertices
    for graph in graphs:
        if graph.n_vertices == 0:
            continue
        width = treewidth_by_orders(graph)
        result = treewidth(graph)
        assert (result.lower, result.upper, result.status) == (width, width, "optimal")
        result.decomposition.check(graph)
        assert result.decomposition.width == width
        assert contraction_degeneracy(graph) <= width <= greedy_decomposition(graph).width


def test_the_decision_is_right_for_every_width() -> None:
    # The decision alone, without the reductions and bounds that settle most graphs before it.
    for graph in small_graphs() + list(random_graphs(7, 40, seed=5)):
        if graph.n_vertices == 0 or len(list(graph.components())) > 1:
            continue
        width = treewidth_by_orders(graph)
        for k in range(graph.n_vertices):
            assert decide(graph, k) == ("yes" if k >= width else "no")


@pytest.mark.slow
def test_random_graphs_of_eight_vertices_agree_with_brute_force() -> None:
    for graph in random_graphs(8, 60, seed=6):
        result = treewidth(graph)
        result.decomposition.check(graph)
        assert result.lower == result.upper == treewidth_by_orders(graph)


@pytest.mark.parametrize(("rows", "columns"), [(3, 3), (4, 6), (5, 5), (6, 6), (7, 8)])
def test_grids_have_the_width_of_their_shorter_side(rows: int, columns: int) -> None:
    grid = nx.convert_node_labels_to_integers(nx.grid_2d_graph(rows, columns))
    result = treewidth(Graph.from_edges(rows * columns, grid.edges()))
    assert result.is_exact
    assert result.upper == min(rows, columns)


@pytest.mark.parametrize("k", [1, 2, 4, 7])
def test_partial_k_trees_stay_within_k(k: int) -> None:
    rng = np.random.default_rng(k)
    n = 60
    cliques = [list(range(k + 1))]
    edges = [(u, v) for v in range(k + 1) for u in range(v)]
    for v in range(k + 1, n):
        base = cliques[rng.integers(len(cliques))]
        kept = rng.permutation(base)[:k].tolist()
        edges += [(u, v) for u in kept]
        cliques.append([*kept, v])
    assert treewidth(Graph.from_edges(n, edges)).upper == k
    fewer = [edge for edge in edges if rng.random() < 0.8]
    result = treewidth(Graph.from_edges(n, fewer))
    assert result.is_exact
    assert result.upper <= k


@pytest.mark.parametrize(
    ("name", "width"),
    [
        ("cancer", 2), ("asia", 2), ("sachs", 3), ("child", 3), ("insurance", 6), ("alarm", 4),
        ("hailfinder", 4), ("hepar2", 6), ("win95pts", 8), ("pigs", 9), ("munin1", 10),
    ],
)  # fmt: skip
def test_moral_graphs_of_known_networks_are_decided(name: str, width: int) -> None:
    graph = read_gr(shared_path(f"bif/moral/{name}.gr"))
    result = treewidth(graph)
    assert (result.lower, result.upper, result.status) == (width, width, "optimal")
    result.decomposition.check(graph)


def test_a_time_limit_leaves_bounds_and_a_proof() -> None:
    # 70 vertices of degree 8: far beyond what half a second decides.
    random = nx.random_regular_graph(8, 70, seed=1)
    graph = Graph.from_edges(70, random.edges())
    result = treewidth(graph, time_limit=0.5)
    assert result.status == "time_limit"
    assert 8 <= result.lower < result.upper
    result.decomposition.check(graph)
    assert result.decomposition.width == result.upper


def test_little_memory_leaves_bounds() -> None:
    graph = Graph.from_edges(70, nx.random_regular_graph(8, 70, seed=1).edges())
    result = treewidth(graph, memory_limit=0.001)
    assert result.status == "memory_limit"
    assert result.lower < result.upper


def test_bounds_alone_are_bounds() -> None:
    graph = Graph.from_edges(70, nx.random_regular_graph(8, 70, seed=1).edges())
    result = treewidth(graph, exact=False)
    assert result.status == "heuristic"
    assert result.lower < result.upper


def test_many_components_and_lonely_vertices() -> None:
    graph = Graph.from_edges(12, [(0, 1), (1, 2), (2, 0), (4, 5), (6, 7), (7, 8), (8, 9), (9, 6)])
    result = treewidth(graph)
    assert result.upper == 2
    result.decomposition.check(graph)
    assert treewidth(Graph.from_edges(0, [])).upper == -1
    assert treewidth(Graph.from_edges(3, [])).upper == 0


def test_progress_reports_bounds_that_only_improve() -> None:
    seen: list[tuple[int, int]] = []
    grid = nx.convert_node_labels_to_integers(nx.grid_2d_graph(6, 6))
    treewidth(Graph.from_edges(36, grid.edges()), on_progress=lambda a, b: seen.append((a, b)))
    assert seen
    assert all(a[0] <= b[0] for a, b in itertools.pairwise(seen))


def test_the_same_seed_gives_the_same_decomposition() -> None:
    graph = Graph.from_edges(70, nx.random_regular_graph(6, 70, seed=3).edges())
    assert greedy_decomposition(graph, seed=4) == greedy_decomposition(graph, seed=4)


@pytest.mark.parametrize("heuristic", ["min-fill", "min-degree"])
def test_more_tries_are_never_wider(heuristic: str) -> None:
    graph = Graph.from_edges(70, nx.random_regular_graph(6, 70, seed=3).edges())
    one = greedy_decomposition(graph, heuristic=heuristic)  # type: ignore[arg-type]
    many = greedy_decomposition(graph, heuristic=heuristic, n_tries=30)  # type: ignore[arg-type]
    many.check(graph)
    assert many.width <= one.width


def test_a_graph_too_large_is_refused_with_what_fits() -> None:
    with pytest.raises(
        MemoryLimitError, match=r"300,000 vertices needs .* enough for 92,681 vertices"
    ):
        treewidth(Graph.from_edges(300_000, []), memory_limit=1)


def test_bad_options_are_refused() -> None:
    graph = Graph.complete(3)
    with pytest.raises(OptionError, match="seed must be a whole number, 0 or more, got -1"):
        treewidth(graph, seed=-1)
    with pytest.raises(
        OptionError, match="time_limit must be a positive number of seconds, got -1"
    ):
        treewidth(graph, time_limit=-1)
    with pytest.raises(OptionError, match="heuristic must be"):
        greedy_decomposition(graph, heuristic="best")  # type: ignore[arg-type]


@pytest.mark.parametrize("seed", [0, 1, 2, 398])
def test_progress_tells_bounds_of_the_whole_graph(seed: int) -> None:
    # Two parts with widths of their own; with the last seed the smaller one is decided first.
    rng = np.random.default_rng(seed)
    edges: list[tuple[int, int]] = []
    for first, n in ((0, 13), (13, 17)):
        n_edges = int(rng.integers(2 * n, 4 * n))
        edges += [(first + int(a), first + int(b)) for a, b in rng.integers(0, n, (n_edges, 2))]
    told: list[tuple[int, int]] = []
    found = treewidth(
        Graph.from_edges(30, edges), on_progress=lambda low, high: told.append((low, high))
    )
    width = found.upper
    assert found.lower == width
    assert all(low <= width <= high for low, high in told)
    assert told[-1] == (width, width)
    for before, after in itertools.pairwise(told):
        assert before != after
        assert before[0] <= after[0] <= after[1] <= before[1]
