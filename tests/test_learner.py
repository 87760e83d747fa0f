"""Estimators and incomplete data."""

from __future__ import annotations

import pickle
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from conftest import shared_path
from test_inference import random_network
from twbn import Table
from twbn.deadline import Deadline
from twbn.errors import DataError, OptionError
from twbn.inference import Inference, JunctionTree
from twbn.learning import TreewidthBN, TreewidthClassifier, fit_incomplete, learn_incomplete
from twbn.learning.em import expected_counts
from twbn.network import Network, fit, read_network

if TYPE_CHECKING:
    from numpy.typing import NDArray

sklearn = pytest.importorskip("sklearn", reason="needs the extra twbn[sklearn]")
from sklearn.datasets import load_breast_cancer  # noqa: E402
from sklearn.exceptions import NotFittedError  # noqa: E402
from sklearn.model_selection import GridSearchCV, cross_val_score  # noqa: E402
from sklearn.pipeline import make_pipeline  # noqa: E402
from sklearn.preprocessing import StandardScaler  # noqa: E402
from sklearn.utils.estimator_checks import parametrize_with_checks  # noqa: E402


@parametrize_with_checks([TreewidthBN(), TreewidthClassifier()])  # type: ignore[untyped-decorator]
def test_scikit_learns_own_checks(estimator: Any, check: Any) -> None:
    check(estimator)


def with_gaps(table: Table, share: float, seed: int = 0) -> Table:
    """Return the table with a share of its cells missing completely at random."""
    gaps = np.random.default_rng(seed).random(table.codes.shape) < share
    return Table(table.names, table.codings, np.where(gaps, -1, table.codes).astype(np.int32))


# Estimators


def test_a_classifier_beats_guessing_in_a_pipeline() -> None:
    rows, y = load_breast_cancer(return_X_y=True)
    model = make_pipeline(StandardScaler(), TreewidthClassifier(treewidth=2, random_state=0))
    assert cross_val_score(model, rows, y, cv=3).mean() > 0.9


def test_a_grid_over_the_treewidth() -> None:
    rows, y = load_breast_cancer(return_X_y=True)
    grid = GridSearchCV(
        TreewidthClassifier(max_iterations=30_000, random_state=0), {"treewidth": [1, 3]}, cv=2
    )
    grid.fit(rows[:, :8], y)
    assert min(grid.cv_results_["mean_test_score"]) > 0.85
    assert grid.best_estimator_.treewidth_ <= grid.best_params_["treewidth"]


def test_frames_go_in_and_names_stay() -> None:
    pandas = pytest.importorskip("pandas")
    polars = pytest.importorskip("polars")
    rng = np.random.default_rng(0)
    a = rng.choice(["low", "high"], 200)
    columns = {"a": a, "b": np.where(rng.random(200) < 0.9, a, "low"), "c": rng.normal(size=200)}
    for kind in (pandas.DataFrame, polars.DataFrame):
        frame = kind(columns)
        model = TreewidthBN(treewidth=1, random_state=0).fit(frame)
        assert model.network_.names == ("a", "b", "c")
        assert model.parents_["b"] == ["a"] or model.parents_["a"] == ["b"]
        assert model.sample(4, random_state=1).shape == (4, 3)
        filled = model.transform(kind({"a": ["high", None], "b": [None, "low"], "c": [0.1, None]}))
        assert isinstance(filled, kind)
        assert list(filled["b"]) == ["high", "low"]
        assert filled["c"][0] == 0.1
        assert abs(filled["c"][1]) < 1


def test_what_is_learned_is_said_and_pickled() -> None:
    rows = random_network(44).sample(200, seed=1).codes
    model = TreewidthBN(treewidth=2, random_state=3).fit(rows)
    assert model.treewidth_ <= 2
    assert model.gap_ >= 0
    assert model.bound_ >= model.score_
    model.decomposition_.check(model.dag_.moral_graph())
    before = model.score_samples(rows)
    again = pickle.loads(pickle.dumps(model))
    assert np.array_equal(again.score_samples(rows), before)
    same = TreewidthBN(treewidth=2, random_state=3).fit(rows)
    assert same.dag_ == model.dag_
    assert model.score(rows) == pytest.approx(before.mean())


def test_bad_use_is_named() -> None:
    rows = np.array([[0, 0], [0, 1], [1, 0], [1, 1]] * 5)
    with pytest.raises(NotFittedError):
        TreewidthBN().score_samples(rows)
    model = TreewidthBN(random_state=0, unknown="error").fit(rows)
    with pytest.raises(DataError, match="unknown state 7"):
        model.score_samples([[7, 0]])
    with pytest.warns(UserWarning, match="not seen before are taken as missing: 7 of 'x0'"):
        found = TreewidthBN(random_state=0).fit(rows).score_samples([[7, 0]])
    assert found == pytest.approx(model.score_samples([[np.nan, 0]]))
    with pytest.raises(ValueError, match="3 features"):
        model.score_samples([[0, 0, 0]])
    with pytest.raises(OptionError, match="treewidth must be a whole number"):
        TreewidthBN(treewidth=0).fit(rows)


# Incomplete data


def family_posterior(network: Network, row: NDArray[np.int32], v: int) -> NDArray[np.float64]:
    """Return the posterior of a family in one row, by queries for every cell."""
    engine = Inference(network)
    known = {name: network.states[u][row[u]] for u, name in enumerate(network.names) if row[u] >= 0}
    family = [network.names[u] for u in (*network.dag.parents[v], v)]
    return engine.query(family, known).values


def test_expected_counts_are_sums_of_posteriors() -> None:
    for seed in range(6):
        network = random_network(seed + 50, max_variables=6)
        table = with_gaps(network.sample(15, seed=seed), 0.4, seed)
        found = expected_counts(JunctionTree(network), table, Deadline())
        assert found is not None
        counts, log_likelihood = found
        for v in range(network.n_variables):
            expected = sum(family_posterior(network, row, v) for row in table.codes)
            assert counts[v] == pytest.approx(np.asarray(expected), abs=1e-8)
        assert log_likelihood == pytest.approx(Inference(network).score_samples(table).sum())


def test_completions_follow_the_posterior() -> None:
    network = random_network(31, max_variables=4)
    row = network.sample(1, seed=2).codes.copy()
    row[0, 1:] = -1
    rows = Table(network.names, network.codings, np.repeat(row, 20_000, axis=0))
    drawn = Inference(network).complete(rows, seed=5).codes
    known = {network.names[0]: network.states[0][row[0, 0]]}
    for v in range(1, network.n_variables):
        shares = np.bincount(drawn[:, v], minlength=network.n_states[v]) / len(drawn)
        expected = Inference(network).query([network.names[v]], known).values
        assert shares == pytest.approx(expected, abs=0.02)


@pytest.mark.parametrize("ess", [0.0, 1.0])
def test_em_never_falls_and_beats_its_start(ess: float) -> None:
    for seed in range(4):
        network = random_network(seed + 70, max_variables=6)
        table = with_gaps(network.sample(200, seed=seed), 0.3, seed)
        found = fit_incomplete(network.dag, table, ess=ess)
        rises = np.diff(found.trace)
        assert (rises >= -1e-7 * abs(found.trace[0])).all()
        assert found.converged
        assert found.log_likelihood == pytest.approx(
            Inference(found.network).score_samples(table).sum(), rel=1e-4
        )


def test_em_keeps_to_its_time_and_says_what_it_reached() -> None:
    network = random_network(44)
    table = with_gaps(network.sample(3000, seed=1), 0.3)
    for limits in ({"max_iterations": 2}, {"time_limit": 0.001}):
        found = fit_incomplete(network.dag, table, **limits)
        actual = Inference(found.network).score_samples(table).sum()
        assert found.log_likelihood == pytest.approx(actual, rel=1e-9)
    assert expected_counts(JunctionTree(network), table, Deadline(0.0)) is None


def test_em_on_complete_rows_is_the_plain_fit() -> None:
    network = random_network(5)
    table = network.sample(100, seed=1)
    assert fit_incomplete(network.dag, table).network.equals(fit(network.dag, table))


def test_structural_em_recovers_likelihood() -> None:
    network = random_network(44, max_variables=8)
    table, new = network.sample(800, seed=1), network.sample(800, seed=2)
    gaps = with_gaps(table, 0.2)
    seen: list[float] = []
    found = learn_incomplete(
        gaps, treewidth=3, max_iterations=20_000, on_progress=lambda *report: seen.append(report[2])
    )
    assert list(found.trace) == sorted(found.trace)
    assert seen == list(found.trace)
    truth = network.log_likelihood(new).mean()
    assert found.network.log_likelihood(new).mean() > truth * 1.02


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:.*were made to sum to one")
def test_alarm_with_gaps_is_learned_nearly_as_well_as_without() -> None:
    network = read_network(shared_path("bif/alarm.bif"))
    table, new = network.sample(1500, seed=1), network.sample(2000, seed=2)
    found = learn_incomplete(
        with_gaps(table, 0.1), treewidth=4, max_iterations=150_000, max_rounds=3
    )
    held_out = found.network.log_likelihood(new).mean()
    assert held_out > 1.06 * network.log_likelihood(new).mean()  # negative: within 6 %
