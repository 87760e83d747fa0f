"""Directed acyclic graphs and their equivalence classes."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

import pytest

from oracle import all_dags
from twbn import Dag
from twbn.errors import GraphError

if TYPE_CHECKING:
    from twbn.graphs import Cpdag


def test_a_cycle_is_named() -> None:
    with pytest.raises(GraphError, match=r"directed cycle: .*(0 -> 1 -> 2|1 -> 2 -> 0)"):
        Dag(((2,), (0,), (1,), ()))


@pytest.mark.parametrize(
    ("parents", "message"),
    [
        (((), (5,)), r"vertex 1 has parent 5, expected 0\.\.1"),
        (((), (-1,)), "vertex 1 has parent -1"),
        (((), (0, 0)), "vertex 1 has the parent 0 twice"),
        (((0,),), "directed cycle: 0 -> 0"),
    ],
)
def test_bad_parents_are_refused(parents: tuple[tuple[int, ...], ...], message: str) -> None:
    with pytest.raises(GraphError, match=message):
        Dag(parents)


def test_every_order_puts_parents_first() -> None:
    for parents in all_dags(4):
        dag = Dag(parents)
        position = {v: i for i, v in enumerate(dag.topological_order)}
        assert len(position) == 4
        assert all(position[a] < position[b] for a, b in dag.arcs)


def test_there_are_as_many_classes_as_known() -> None:
    # Markov equivalence classes of labelled DAGs: 11 on 3 vertices, 185 on 4.
    for n, n_classes in ((3, 11), (4, 185)):
        classes: dict[Cpdag, list[Dag]] = defaultdict(list)
        for parents in all_dags(n):
            dag = Dag(parents)
            classes[dag.cpdag()].append(dag)
        assert len(classes) == n_classes
        for cpdag, members in classes.items():
            # Directed means: directed alike in every member; undirected: both ways occur.
            shared = frozenset.intersection(*(frozenset(d.arcs) for d in members))
            assert cpdag.directed == shared
            assert all(members[0].is_equivalent(d) for d in members)


def test_equivalence_is_skeleton_and_v_structures() -> None:
    chain, fork, collider = (
        Dag.from_arcs(3, arcs) for arcs in ([(0, 1), (1, 2)], [(1, 0), (1, 2)], [(0, 1), (2, 1)])
    )
    assert chain.is_equivalent(fork)
    assert not chain.is_equivalent(collider)
    assert collider.moral_graph().has_edge(0, 2)


def test_arcs_and_children_mirror_the_parents() -> None:
    for parents in all_dags(4):
        dag = Dag(parents)
        assert Dag.from_arcs(4, dag.arcs) == dag
        assert all(p in dag.parents[c] for p, cs in enumerate(dag.children) for c in cs)
