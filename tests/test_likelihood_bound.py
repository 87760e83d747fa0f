"""The bound that needs no local scores: no structure at all exceeds it."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

from oracle import random_table
from twbn import Dag, LazyScores, Table, compute_scores, learn
from twbn.learning.scoring import best_of
from twbn.scores.kinds import SCORES
from twbn.scores.likelihood_bound import likelihood_bound

ALL_DAGS_OF_3 = [
    [[p for p in range(3) if matrix[p][v]] for v in range(3)]
    for bits in itertools.product((0, 1), repeat=6)
    for matrix in [np.insert(np.array(bits), [0, 3, 6], 0).reshape(3, 3)]
    if not any((np.linalg.matrix_power(matrix, k).diagonal() > 0).any() for k in (2, 3))
]


@pytest.mark.parametrize("score", SCORES)
@pytest.mark.parametrize("weighted", [False, True])
def test_no_structure_exceeds_it(score: str, weighted: bool) -> None:
    assert len(ALL_DAGS_OF_3) == 25
    for seed in range(40):
        rng = np.random.default_rng(seed)
        table = random_table(rng, 3, int(rng.integers(2, 60)), max_states=4)
        if weighted:
            weights = rng.choice([0.0, 0.25, 1.0, 7.0], table.n_rows)
            weights[0] = 1.0
            table = Table(table.names, table.codings, table.codes, weights)
        for ess in (0.1, 1.0, 50.0):
            scores = LazyScores(table, score=score, ess=ess, max_parents=None)
            best = max(map(scores.total, ALL_DAGS_OF_3))
            assert best <= likelihood_bound(table, score)
            assert scores.trivial_bound() == likelihood_bound(table, score)


def test_a_complete_structure_attains_it_by_log_likelihood() -> None:
    table = random_table(np.random.default_rng(1), 4, 30)
    full = LazyScores(table, score="loglik", max_parents=None).total([[], [0], [0, 1], [0, 1, 2]])
    assert full == pytest.approx(likelihood_bound(table, "loglik"))


def test_nothing_is_claimed_for_a_function_or_for_less_than_one_row() -> None:
    table = random_table(np.random.default_rng(2), 3, 10)
    assert likelihood_bound(table, lambda *_: 0.0) == math.inf
    light = Table(table.names, table.codings, table.codes, np.full(10, 0.05))
    assert likelihood_bound(light, "bic") == math.inf
    assert likelihood_bound(light, "bdeu") < 0


def test_scores_on_demand_come_with_it_at_once() -> None:
    rng = np.random.default_rng(3)
    table = Table.from_codes(rng.integers(0, 2, (500, 200)).astype(np.int32))
    result = learn(table, treewidth=6, max_iterations=2000)
    assert result.bound == pytest.approx(-500 * math.log(500))
    assert result.score < result.bound
    some = compute_scores(table, budget=20)
    assert some.trivial_bound() == likelihood_bound(table, "bdeu")


def test_a_selection_of_all_sets_keeps_the_bound_of_all() -> None:
    table = random_table(np.random.default_rng(4), 6, 100)
    every = compute_scores(table, max_parents=3)
    assert best_of(every, 2).trivial_bound() == every.trivial_bound()
    dag = Dag.from_arcs(6, [])
    assert every.total(dag) <= every.trivial_bound()
