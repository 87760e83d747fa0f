"""k-trees, their cliques and completions, and the best network inside one."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pytest

from oracle import all_dags, random_graphs, random_table
from twbn import Dag, KTree, LazyScores, TreeDecomposition, compute_scores, treewidth
from twbn.errors import GraphError, MemoryLimitError, OptionError
from twbn.graphs import sample_ktree
from twbn.scores import ScoreTable
from twbn.search import best_dag_inside
from twbn.search.heuristic.polish import refuse_too_wide


def test_a_k_tree_has_the_treewidth_k() -> None:
    for k in (1, 2, 3, 5):
        tree = sample_ktree(12, k, seed=k)
        tree.decomposition().check(tree.graph)
        assert tree.decomposition().width == k
        assert treewidth(tree.graph).upper == k
        assert all(tree.graph.is_clique(clique) for clique in tree.cliques)
        assert nx.is_chordal(nx.Graph(list(tree.graph.edges)))


@pytest.mark.parametrize(
    ("root", "attachments", "message"),
    [
        ((0, 1), ((2, (0, 1)),), r"each of 0\.\.3 once"),
        ((0, 1), ((2, (0, 1)), (3, (0,))), r"3 is attached to \[0\], not to 2"),
        ((0, 1), ((2, (0, 3)), (3, (0, 1))), "not to 2 vertices before it"),
        ((0, 1, 2, 3), (), "at least 5 vertices"),
        ((0, 1), ((2, (0, 0)), (3, (0, 1))), r"2 is attached to \[0, 0\], not to 2"),
        ((), tuple((v, ()) for v in range(4)), "the root clique is empty"),
    ],
)
def test_what_is_no_k_tree_is_refused(
    root: tuple[int, ...], attachments: tuple[tuple[int, tuple[int, ...]], ...], message: str
) -> None:
    with pytest.raises(GraphError, match=message):
        KTree(4, root, attachments)


def test_an_attachment_needs_a_clique() -> None:
    with pytest.raises(GraphError, match=r"3 is attached to \[0, 4\], which is no clique"):
        KTree(5, (0, 1), ((2, (0, 1)), (4, (1, 2)), (3, (0, 4))))


def test_every_decomposition_completes_to_a_k_tree() -> None:
    for graph in random_graphs(9, 60, seed=3):
        proof = treewidth(graph).decomposition
        for k in range(max(proof.width, 1), 9):
            tree = KTree.containing(proof, 9, k)
            assert tree.k == k
            assert graph.edges <= tree.graph.edges
            assert all(any(bag <= clique for clique in tree.cliques) for bag in proof.bags)


def test_a_decomposition_too_wide_is_refused() -> None:
    proof = TreeDecomposition((frozenset({0, 1, 2}),))
    with pytest.raises(GraphError, match="width 2 fits into no 1-tree"):
        KTree.containing(proof, 3, 1)


def test_containing_a_network_means_its_moral_graph() -> None:
    tree = KTree(4, (0, 1), ((2, (0, 1)), (3, (1, 2))))
    assert tree.contains(Dag.from_arcs(4, [(0, 2), (1, 2), (2, 3)]))
    assert not tree.contains(Dag.from_arcs(4, [(0, 1), (3, 1)]))  # joins 0 and 3


def best_inside(tree: KTree, scores: ScoreTable) -> float:
    """Return the best score over every DAG inside the k-tree."""
    n = scores.n_variables
    local = [{parents: s for s, parents in scores.sets(v)} for v in range(n)]
    best = -np.inf
    for parents in all_dags(n):
        total = sum(local[v].get(p, -np.inf) for v, p in enumerate(parents))
        if total > best and tree.contains(Dag(parents)):
            best = total
    return best


@pytest.mark.parametrize("n", [3, 4, 5])
def test_the_best_network_inside_a_k_tree_agrees_with_brute_force(n: int) -> None:
    rng = np.random.default_rng(n)
    for k in range(1, n):
        for index in range(4):
            tree = sample_ktree(n, k, seed=5, index=index)
            table = random_table(rng, n, int(rng.integers(5, 60)), max_states=3)
            for max_parents in (1, 2, n - 1):
                scores = compute_scores(table, max_parents=max_parents, score="bic")
                dag, score = best_dag_inside(tree, scores)
                assert tree.contains(dag)
                assert score == pytest.approx(best_inside(tree, scores))
                lazy = LazyScores(table, max_parents=max_parents, score="bic")
                assert best_dag_inside(tree, lazy)[1] == pytest.approx(score)


def test_random_scores_without_structure_agree_too() -> None:
    # Scores that no data could give: every set kept, ties likely, some families missing.
    rng = np.random.default_rng(8)
    for trial in range(20):
        n, k = 5, 1 + trial % 4
        sets = []
        for v in range(n):
            others = [u for u in range(n) if u != v]
            families: dict[tuple[int, ...], float] = {(): -float(rng.integers(5, 20))}
            for _ in range(8):
                size = int(rng.integers(1, 5))
                members = tuple(sorted(rng.choice(others, size, replace=False).tolist()))
                families[members] = -float(rng.integers(1, 20))
            sets.append(families)
        scores = ScoreTable.from_sets([f"v{v}" for v in range(n)], sets)
        tree = sample_ktree(n, k, seed=trial)
        assert best_dag_inside(tree, scores)[1] == pytest.approx(best_inside(tree, scores))


def test_scores_without_empty_sets_are_searched_where_they_can_be() -> None:
    sets: list[dict[tuple[int, ...], float]] = [{(): -1.0}, {(0,): -2.0}, {(): -1.0, (1,): -0.5}]
    scores = ScoreTable.from_sets(["a", "b", "c"], sets)
    dag, score = best_dag_inside(KTree(3, (1,), ((0, (1,)), (2, (1,)))), scores)
    assert (dag.parents, score) == (((), (0,), (1,)), -3.5)
    with pytest.raises(OptionError, match="no structure inside this k-tree"):
        best_dag_inside(KTree(3, (2,), ((0, (2,)), (1, (2,)))), scores)


def test_too_wide_is_refused_with_what_would_fit() -> None:
    with pytest.raises(MemoryLimitError, match=r"treewidth 12 on 100 .*; treewidth 7 would fit"):
        refuse_too_wide(100, 12, memory_limit=4)


def test_a_tree_as_deep_as_it_is_large_is_traced() -> None:
    n = 40_000
    sets: list[dict[tuple[int, ...], float]] = [
        {(): -2.0, (v - 1,): -1.0} if v else {(): -2.0} for v in range(n)
    ]
    scores = ScoreTable.from_sets([f"v{v}" for v in range(n)], sets)
    path = KTree(n, (0,), tuple((v, (v - 1,)) for v in range(1, n)))
    dag, score = best_dag_inside(path, scores)
    assert score == -n - 1
    assert dag.parents[-1] == (n - 2,)
