"""Exact inference against enumeration of every state."""

from __future__ import annotations

import itertools
import math
from typing import TYPE_CHECKING

import numpy as np
import pytest

from conftest import shared_path
from twbn import Table, learn
from twbn.errors import DataError, MemoryLimitError, OptionError, UnknownStateError
from twbn.graphs import Dag
from twbn.inference import Inference, JunctionTree
from twbn.network import Network, fit, read_network

if TYPE_CHECKING:
    from numpy.typing import NDArray

N_NETWORKS = 200


def random_network(seed: int, max_variables: int = 8) -> Network:
    """Return a network of two to four states with some zeros in its tables."""
    rng = np.random.default_rng([17, seed])
    n = int(rng.integers(1, max_variables + 1))
    label = rng.permutation(n)
    parents: list[tuple[int, ...]] = [()] * n
    for v in range(n):
        size = int(rng.integers(0, min(v, 3) + 1))
        parents[label[v]] = tuple(label[rng.choice(v, size, replace=False)].tolist())
    dag = Dag(tuple(parents))
    n_states = rng.integers(2, 5, n).tolist()
    tables = []
    for v in range(n):
        shape = tuple(n_states[p] for p in dag.parents[v])
        table = rng.dirichlet(np.ones(n_states[v]), size=shape)
        if seed % 3 == 0 and shape:
            table[(0,) * len(shape)] = np.eye(n_states[v])[0]
        tables.append(table)
    names = {f"v{v}": [f"s{i}" for i in range(n_states[v])] for v in range(n)}
    lists = {f"v{v}": [f"v{p}" for p in dag.parents[v]] for v in range(n)}
    return Network.from_tables(names, lists, {f"v{v}": t for v, t in enumerate(tables)})


def joint(network: Network) -> NDArray[np.float64]:
    """Return the probability of every state of all variables together, from the definition."""
    values = np.ones(network.n_states)
    for cell in itertools.product(*(range(r) for r in network.n_states)):
        for v, table in enumerate(network.tables):
            values[cell] *= table[tuple(cell[u] for u in (*network.dag.parents[v], v))]
    return values


def some_evidence(network: Network, rng: np.random.Generator) -> dict[str, str]:
    """Return evidence that a sampled row shows."""
    row = network.sample(1, seed=int(rng.integers(1000))).codes[0]
    chosen = rng.random(network.n_variables) < 0.4
    return {
        name: str(network.states[v][row[v]]) for v, name in enumerate(network.names) if chosen[v]
    }


def restricted(network: Network, values: NDArray[np.float64], evidence: dict[str, str]) -> None:
    """Set to zero, in place, what the evidence excludes."""
    for name, state in evidence.items():
        v = network.index(name)
        for code in range(network.n_states[v]):
            if code != network.state_code(v, state):
                values[(slice(None),) * v + (code,)] = 0


@pytest.mark.parametrize("block", range(10))
def test_answers_equal_enumeration(block: int) -> None:
    for seed in range(block, N_NETWORKS, 10):
        network = random_network(seed, max_variables=8 if seed % 4 == 0 else 6)
        rng = np.random.default_rng(seed)
        engine = Inference(network)
        evidence = some_evidence(network, rng)
        values = joint(network)
        restricted(network, values, evidence)
        assert engine.log_evidence(evidence) == pytest.approx(math.log(values.sum()), abs=1e-9)
        values /= values.sum()

        marginals = engine.marginals(evidence)
        everything = set(range(network.n_variables))
        for v, name in enumerate(network.names):
            expected = values.sum(axis=tuple(everything - {v}))
            assert marginals[name].values == pytest.approx(expected, abs=1e-9)
            assert engine.query([name], evidence).values == pytest.approx(expected, abs=1e-9)
        some = rng.permutation(network.n_variables)[:3].tolist()
        expected = values.sum(axis=tuple(everything - set(some)))
        expected = np.transpose(expected, np.argsort(np.argsort(some)))
        found = engine.query([network.names[v] for v in some], evidence)
        assert found.values == pytest.approx(expected, abs=1e-9)

        best = engine.most_probable(evidence)
        cell = tuple(network.state_code(v, best[name]) for v, name in enumerate(network.names))
        assert values[cell] == pytest.approx(values.max(), rel=1e-9)
        assert engine.most_probable(evidence) == best


@pytest.mark.parametrize("seed", range(12))
def test_rows_with_gaps_are_answered_as_single_queries_are(seed: int) -> None:
    network = random_network(seed + 1000)
    rng = np.random.default_rng(seed)
    rows = network.sample(30, seed=seed)
    codes = np.where(rng.random(rows.codes.shape) < 0.4, -1, rows.codes)
    data = Table(rows.names, rows.codings, codes.astype(np.int32))
    engine = Inference(network)
    target = network.names[-1]
    found = engine.predict_proba(data, target)
    likelihoods = engine.score_samples(data)
    imputed = engine.impute(data)
    assert (imputed.codes >= 0).all()
    for row in range(len(codes)):
        known = {
            name: str(network.states[v][codes[row, v]])
            for v, name in enumerate(network.names)
            if codes[row, v] >= 0
        }
        assert likelihoods[row] == pytest.approx(engine.log_evidence(known), abs=1e-9)
        full = engine.most_probable(known)
        of_row = {
            name: network.states[v][imputed.codes[row, v]] for v, name in enumerate(network.names)
        }
        assert engine.log_evidence(of_row) == pytest.approx(engine.log_evidence(full), abs=1e-9)
        known.pop(target, None)
        assert found[row] == pytest.approx(engine.query([target], known).values, abs=1e-9)


@pytest.mark.parametrize("block", range(5))
def test_marginal_map_equals_enumeration(block: int) -> None:
    for seed in range(block, 100, 5):
        network = random_network(seed)
        rng = np.random.default_rng(seed)
        engine = Inference(network)
        evidence = some_evidence(network, rng)
        size = int(rng.integers(1, network.n_variables + 1))
        wanted = rng.permutation(network.n_variables)[:size].tolist()
        values = joint(network)
        restricted(network, values, evidence)
        others = tuple(v for v in range(network.n_variables) if v not in wanted)
        best = math.log(values.sum(axis=others).max())
        names = [network.names[v] for v in wanted]
        found = engine.marginal_map(names, evidence)
        assert found.exact
        assert found.log_probability == pytest.approx(best, abs=1e-9)
        assert found.cost == engine.marginal_map_cost(names, evidence)
        rough = engine.marginal_map(names, evidence, max_entries=0, time_limit=0.02)
        assert rough.log_probability <= best + 1e-9
        assert rough.bound >= best - 1e-9
        assert rough.log_probability == pytest.approx(engine.log_evidence(evidence | rough.states))


def test_soft_evidence_weighs_states() -> None:
    network = random_network(4)
    engine = Inference(network)
    name = network.names[0]
    weights = np.linspace(0.5, 1.0, network.n_states[0])
    values = joint(network)
    values = values * weights.reshape(-1, *([1] * (values.ndim - 1)))
    for v, other in enumerate(network.names):
        expected = values.sum(axis=tuple(u for u in range(network.n_variables) if u != v))
        found = engine.query([other], likelihood={name: weights.tolist()})
        assert found.values == pytest.approx(expected / expected.sum(), abs=1e-9)
    assert engine.log_evidence({}, likelihood={name: weights.tolist()}) == pytest.approx(
        math.log(values.sum()), abs=1e-9
    )


def test_a_thousand_variables_do_not_underflow() -> None:
    n = 1000
    names = {f"v{i}": ["a", "b", "c"] for i in range(n)}
    parents = {f"v{i}": [f"v{i - 1}"] if i else [] for i in range(n)}
    step = np.array([[0.8, 0.1, 0.1], [0.2, 0.5, 0.3], [0.1, 0.1, 0.8]])
    tables = {f"v{i}": step if i else [0.3, 0.3, 0.4] for i in range(n)}
    network = Network.from_tables(names, parents, tables)
    rows = network.sample(5, seed=1)
    engine = Inference(network)
    expected = network.log_likelihood(rows)
    assert expected.max() < -500
    assert engine.score_samples(rows) == pytest.approx(expected, rel=1e-12)
    evidence = {f"v{i}": network.states[i][rows.codes[0, i]] for i in range(0, n, 2)}
    assert np.isfinite(engine.log_evidence(evidence))
    assert engine.marginals(evidence)["v501"].values.sum() == pytest.approx(1.0)


def test_a_hub_with_a_thousand_children_does_not_underflow() -> None:
    n = 1000
    names = {"c": ["a", "b"], **{f"f{i}": ["x", "y"] for i in range(n)}}
    parents = {"c": [], **{f"f{i}": ["c"] for i in range(n)}}
    step = [[0.9, 0.1], [0.1, 0.9]]
    tables = {"c": np.array([0.5, 0.5]), **{f"f{i}": np.array(step) for i in range(n)}}
    engine = Inference(Network.from_tables(names, parents, tables))
    evidence = {f"f{i}": "xy"[i % 2] for i in range(n)}
    expected = n / 2 * math.log(0.09)
    assert engine.log_evidence(evidence) == pytest.approx(expected)
    assert engine.query(["c"], evidence).values == pytest.approx([0.5, 0.5])
    assert engine.marginals(evidence)["c"].values == pytest.approx([0.5, 0.5])
    assert engine.most_probable(evidence)["c"] in {"a", "b"}
    assert engine.marginal_map(["c"], evidence).log_probability == pytest.approx(
        expected + math.log(0.5)
    )


def test_bad_questions_are_named() -> None:
    network = Network.from_tables(
        {"rain": ["no", "yes"], "grass": ["dry", "wet"]},
        {"rain": [], "grass": ["rain"]},
        {"rain": [1.0, 0.0], "grass": [[0.9, 0.1], [0.2, 0.8]]},
    )
    engine = Inference(network)
    with pytest.raises(DataError, match="unknown variable 'rian'; did you mean 'rain'"):
        engine.query(["rian"])
    with pytest.raises(UnknownStateError, match="'yess' of variable 'rain'; did you mean 'yes'"):
        engine.query(["grass"], {"rain": "yess"})
    with pytest.raises(DataError, match="the evidence has probability zero: rain=yes"):
        engine.query(["grass"], {"rain": "yes"})
    with pytest.raises(DataError, match="the evidence has probability zero: rain=yes"):
        engine.most_probable({"rain": "yes"})
    with pytest.raises(OptionError, match="must be distinct"):
        engine.query(["grass", "grass"])
    with pytest.raises(
        OptionError, match="must be 2 numbers, not negative and not all zero, got \\[1, 2, 3\\]"
    ):
        engine.query(["grass"], likelihood={"rain": [1, 2, 3]})
    assert engine.log_evidence({"rain": "yes"}) == -math.inf


def test_rows_of_probability_zero_are_named() -> None:
    network = Network.from_tables(
        {"rain": ["no", "yes"], "grass": ["dry", "wet"]},
        {"rain": [], "grass": ["rain"]},
        {"rain": [0.5, 0.5], "grass": [[0.9, 0.1], [0.0, 1.0]]},
    )
    rows = Table(network.names, network.codings, np.array([[0, -1], [1, 0]], dtype=np.int32))
    engine = Inference(network)
    with pytest.raises(DataError, match="row 2 has probability zero: rain=yes, grass=dry"):
        engine.impute(rows)
    assert engine.score_samples(rows)[1] == -math.inf


def test_a_tree_that_is_too_large_is_refused_with_the_number() -> None:
    network = random_network(8)
    with pytest.raises(MemoryLimitError, match=r"the junction tree has [\d,]+ entries"):
        JunctionTree(network, max_entries=3)


def test_a_learned_network_answers_within_its_own_decomposition() -> None:
    table = random_network(12, max_variables=8).sample(300, seed=3)
    result = learn(table, treewidth=2, max_iterations=20_000, method="anneal")
    network = fit(result, table)
    tree = JunctionTree(network)
    assert tree.decomposition == result.decomposition
    assert max(map(len, tree.bags)) <= 3


NETWORKS = [
    "alarm",
    "andes",
    "asia",
    "cancer",
    "child",
    "hailfinder",
    "hepar2",
    "insurance",
    "munin1",
    "pigs",
    "sachs",
    "win95pts",
]


@pytest.mark.filterwarnings("ignore:.*were made to sum to one")
@pytest.mark.parametrize("name", [name for name in NETWORKS if name != "munin1"])  # takes GiB
def test_marginals_are_those_of_pyagrum(name: str) -> None:
    gum = pytest.importorskip("pyagrum", reason="pyAgrum is not installed")
    network = read_network(shared_path(f"bif/{name}.bif"))
    theirs = gum.BayesNet()
    for v, variable in enumerate(network.names):
        theirs.add(gum.LabelizedVariable(variable, variable, list(map(str, network.states[v]))))
    for parent, child in network.dag.arcs:
        theirs.addArc(network.names[parent], network.names[child])
    for v, variable in enumerate(network.names):
        parents = network.dag.parents[v]
        for cell in itertools.product(*(range(network.n_states[p]) for p in parents)):
            given = {network.names[p]: code for p, code in zip(parents, cell, strict=True)}
            row = network.tables[v][cell].tolist()
            if given:
                theirs.cpt(variable)[given] = row
            else:
                theirs.cpt(variable).fillWith(row)
    lazy = gum.LazyPropagation(theirs)
    rows = network.sample(2, seed=3).codes
    chosen = range(0, network.n_variables, 4)
    for evidence in ({}, *({network.names[v]: int(row[v]) for v in chosen} for row in rows)):
        lazy.setEvidence(evidence)
        lazy.makeInference()
        named = {u: network.states[network.index(u)][code] for u, code in evidence.items()}
        found = Inference(network).marginals(named)
        for variable in network.names:
            expected = lazy.posterior(variable).toarray()
            assert found[variable].values == pytest.approx(expected, abs=1e-9)
