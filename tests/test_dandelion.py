"""Dandelion codes: a bijection, and uniform."""

from __future__ import annotations

import itertools
import math
from collections import Counter
from typing import TYPE_CHECKING, Any

import pytest

from twbn import DandelionCode, Graph, KTree, _core
from twbn.errors import GraphError, OptionError
from twbn.graphs import count_ktrees, sample_ktree

if TYPE_CHECKING:
    from collections.abc import Iterator

PAPER_CODE = DandelionCode(11, (2, 3, 9), ((0, 0), (2, 1), (8, 3), (8, 2), (1, 3), (5, 3)))
PAPER_EDGES = (
    "1-2 1-5 1-7 1-8 2-3 2-5 2-6 2-8 2-9 2-10 2-11 3-4 3-5 3-8 3-9 3-10 3-11 4-9 4-11 5-7 5-8 "
    "6-8 6-9 7-8 8-9 9-10 9-11"
)

#: All (n, k) with at most 20,000 codes, up to 30 labels.
SIZES = [(n, k) for n in range(3, 31) for k in range(1, n - 1) if count_ktrees(n, k) <= 20_000]


def all_codes(n: int, k: int) -> Iterator[DandelionCode]:
    symbols = [(0, 0)] + [(v, i) for v in range(1, n - k + 1) for i in range(1, k + 1)]
    for q in itertools.combinations(range(1, n + 1), k):
        for s in itertools.product(symbols, repeat=n - k - 2):
            yield DandelionCode(n, q, s)


def test_the_papers_example_decodes_and_encodes() -> None:
    tree = PAPER_CODE.decode()
    edges = " ".join(f"{u + 1}-{v + 1}" for u, v in sorted(tree.graph.edges))
    assert edges == PAPER_EDGES
    assert len(tree.graph.edges) == 27
    assert DandelionCode.of(tree) == PAPER_CODE


@pytest.mark.parametrize(("n", "k"), SIZES)
def test_decoding_is_a_bijection_onto_k_trees(n: int, k: int) -> None:
    found = set()
    for code in all_codes(n, k):
        tree = code.decode()
        assert tree.k == k  # a KTree is checked when it is made
        found.add(tree.graph.edges)
        assert DandelionCode.of(tree) == code
    assert len(found) == count_ktrees(n, k)


def check_all_codes_without_symbols(n: int) -> None:
    """Decode every code of k = n - 2: Q alone, whose k-tree lacks just the edge outside Q."""
    for a, b in itertools.combinations(range(1, n + 1), 2):
        q = [v for v in range(1, n + 1) if v not in (a, b)]
        root, vertices, parents, dropped = _core.dandelion_decode(n, n - 2, q, [], [])
        assert [v + 1 for v in root] == q
        assert sorted(vertices) == [a - 1, b - 1]
        assert parents == dropped == [-1, -1]


@pytest.mark.parametrize("n", [31, 64, 100, 200])
def test_large_codes_without_symbols_are_a_bijection_too(n: int) -> None:
    # Beyond 30 labels only k = n - 2 has at most 20,000 codes, up to n = 200; four of these n here.
    check_all_codes_without_symbols(n)
    for index in range(5):
        code = DandelionCode.sample(n, n - 2, seed=2, index=index)
        assert DandelionCode.of(code.decode()) == code


@pytest.mark.parametrize(("n", "k"), [(40, 1), (60, 5), (200, 198), (100, 96), (300, 4)])
def test_large_codes_round_trip(n: int, k: int) -> None:
    for index in range(20):
        code = DandelionCode.sample(n, k, seed=1, index=index)
        tree = code.decode()
        assert DandelionCode.of(tree) == code
        assert len(tree.graph.edges) == k * n - k * (k + 1) // 2
        assert DandelionCode.of(KTree.from_graph(tree.graph, k)) == code


@pytest.mark.slow
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_sampling_is_uniform_over_all_2_trees_on_6_vertices(seed: int) -> None:
    n_trees, per_tree = count_ktrees(6, 2), 30
    seen = Counter(
        sample_ktree(6, 2, seed=seed, index=index).graph.edges
        for index in range(n_trees * per_tree)
    )
    chi_square = sum((seen[edges] - per_tree) ** 2 / per_tree for edges in seen)
    chi_square += (n_trees - len(seen)) * per_tree
    freedom = n_trees - 1
    # Wilson and Hilferty: the cube root is nearly normal. |z| < 3.5 fails once in 2,000 seeds.
    z = ((chi_square / freedom) ** (1 / 3) - (1 - 2 / (9 * freedom))) / math.sqrt(2 / (9 * freedom))
    assert abs(z) < 3.5


def test_the_count_handles_the_small_cases() -> None:
    assert [count_ktrees(k, k) for k in (1, 2, 3)] == [1, 1, 1]
    assert [count_ktrees(k + 1, k) for k in (1, 2, 3)] == [1, 1, 1]
    assert count_ktrees(8, 1) == 8**6  # Cayley
    assert sample_ktree(4, 3) == KTree.complete(4)


@pytest.mark.parametrize(
    ("n", "q", "s", "message"),
    [
        (5, (2, 4), (), r"n - k - 2 = 1 symbols, got 0"),
        (5, (2, 4), ((1, 1), (1, 1)), "1 symbols, got 2"),
        (5, (2, 4), ((4, 1),), r"symbol 1 of S must be .* 1 <= v <= 3 .*got 4:1"),
        (5, (2, 4), ((1, 3),), r"1 <= i <= 2, got 1:3"),
        (5, (2, 4), ((0, 1),), "got 0:1"),
        (5, (2, 2), ((1, 1),), "distinct labels between 1 and 5"),
        (5, (2, 6), ((1, 1),), "distinct labels between 1 and 5"),
        (5, (), ((1, 1),), "a code needs k >= 1"),
        (5, (1, 2, 3, 4), (), "n >= k \\+ 2"),
    ],
)
def test_a_bad_code_is_refused(
    n: int, q: tuple[int, ...], s: tuple[tuple[int, int], ...], message: str
) -> None:
    with pytest.raises(GraphError, match=message):
        DandelionCode(n, q, s)


@pytest.mark.parametrize(
    ("n", "k", "message"), [(5, 0, "k must be at least 1"), (5, 5, "at least 7")]
)
def test_bad_sizes_are_refused(n: int, k: int, message: str) -> None:
    with pytest.raises(OptionError, match=message):
        DandelionCode.sample(n, k)


@pytest.mark.parametrize(
    ("q", "s"), [(("a", 4), ((1, 1),)), ((2, 4), ((1,),)), ((2, 4), ((0, "e"),))]
)
def test_a_code_of_other_things_than_numbers_is_refused(q: Any, s: Any) -> None:
    with pytest.raises(GraphError, match="Q must hold numbers and S pairs of numbers"):
        DandelionCode(5, q, s)


@pytest.mark.parametrize("seed", [-1, "x", 2**70])
def test_a_bad_seed_is_refused(seed: Any) -> None:
    with pytest.raises(OptionError, match="seed must be a whole number, 0 or more"):
        sample_ktree(6, 2, seed=seed)


def test_the_clique_has_no_code() -> None:
    with pytest.raises(GraphError, match="the one 3-tree on 4 vertices has no code"):
        DandelionCode.of(KTree.complete(4))


def test_a_graph_that_is_no_k_tree_is_refused() -> None:
    square = Graph.from_edges(4, [(0, 1), (1, 2), (2, 3), (3, 0)])
    with pytest.raises(GraphError, match="4 vertices and 4 edges is no 2-tree"):
        KTree.from_graph(square, 2)
