"""Questions answered on what matters: against enumeration, against pyAgrum, in little memory."""

from __future__ import annotations

import itertools
import math
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from conftest import shared_path
from test_inference import NETWORKS, joint
from twbn import Inference, Network, Table, _core, read_network
from twbn.errors import DataError, MemoryLimitError, OptionError
from twbn.graphs import Dag
from twbn.inference import QueryCost

if TYPE_CHECKING:
    from numpy.typing import NDArray


def odd_network(seed: int, n: int | None = None, tiny: float = 0.0) -> Network:
    """Return a network of parts that are not connected, with zeros, one-state variables and rules.

    With `tiny`, zeros are that small instead.
    """
    rng = np.random.default_rng([31, seed])
    n = int(rng.integers(1, 8)) if n is None else n
    label = rng.permutation(n)
    parents: list[tuple[int, ...]] = [()] * n
    for v in range(n):
        size = int(rng.integers(0, min(v, 3) + 1)) if rng.random() < 0.8 else 0
        parents[label[v]] = tuple(sorted(label[rng.choice(v, size, replace=False)].tolist()))
    dag = Dag(tuple(parents))
    n_states = rng.integers(1, 4, n).tolist()
    names = {f"v{v}": [f"s{i}" for i in range(n_states[v])] for v in range(n)}
    tables = {}
    for v in range(n):
        shape = tuple(n_states[p] for p in dag.parents[v])
        table = rng.dirichlet(np.ones(n_states[v]), size=shape)
        kind = rng.random()
        if kind < 0.3:  # a rule: one state is certain
            table = np.eye(n_states[v])[rng.integers(0, n_states[v], shape)]
        elif kind < 0.6:
            table = np.where(rng.random(table.shape) < 0.3, 0.0, table)
            table[table.sum(axis=-1) == 0] = np.eye(n_states[v])[0]
        table = np.where(table == 0, tiny, table)
        tables[f"v{v}"] = table / table.sum(axis=-1, keepdims=True)
    lists = {f"v{v}": [f"v{p}" for p in dag.parents[v]] for v in range(n)}
    return Network.from_tables(names, lists, tables)


def log_joint(network: Network) -> NDArray[np.float64]:
    """Return the log-probability of every state of all variables together, from the definition."""
    values = np.zeros(network.n_states)
    with np.errstate(divide="ignore"):
        for cell in itertools.product(*(range(r) for r in network.n_states)):
            for v, table in enumerate(network.tables):
                values[cell] += np.log(table[tuple(cell[u] for u in (*network.dag.parents[v], v))])
    return values


def any_evidence(network: Network, rng: np.random.Generator) -> dict[str, Any]:
    """Return states at random, whether they are possible together or not."""
    chosen = rng.random(network.n_variables) < 0.4
    return {
        name: network.states[v][rng.integers(network.n_states[v])]
        for v, name in enumerate(network.names)
        if chosen[v]
    }


def soft_evidence(network: Network, rng: np.random.Generator) -> dict[str, list[float]]:
    chosen = rng.random(network.n_variables) < 0.2
    return {
        name: rng.uniform(0.1, 2.0, network.n_states[v]).tolist()
        for v, name in enumerate(network.names)
        if chosen[v]
    }


def weighed(
    network: Network,
    log_values: NDArray[np.float64],
    evidence: dict[str, str],
    soft: dict[str, list[float]],
) -> NDArray[np.float64]:
    """Return log-probabilities with what the evidence excludes at minus infinity."""
    values = log_values.copy()
    for v, name in enumerate(network.names):
        weights = np.array(soft.get(name, [1.0] * network.n_states[v]))
        if name in evidence:
            code = network.states[v].index(evidence[name])
            weights = np.where(np.arange(len(weights)) == code, weights, 0.0)
        with np.errstate(divide="ignore"):
            axes = [1] * values.ndim
            axes[v] = -1
            values = values + np.log(weights).reshape(axes)
    return values


def summed(log_values: NDArray[np.float64], kept: tuple[int, ...]) -> NDArray[np.float64]:
    """Return log-sums over all other variables; the axes follow `kept`."""
    others = tuple(v for v in range(log_values.ndim) if v not in kept)
    top = log_values.max()
    with np.errstate(divide="ignore"):
        left = np.log(np.exp(log_values - top).sum(axis=others)) + top
    order = sorted(kept)
    return np.transpose(left, [order.index(v) for v in kept])


def engines(network: Network) -> dict[str, Inference]:
    """Return engines that answer in different ways."""
    return {
        "as it comes": Inference(network),
        "without a tree": Inference(network, max_entries=0),
        "in little memory": Inference(network, max_entries=0, memory_limit=144 / 2**30),
    }


@pytest.mark.parametrize("block", range(10))
def test_odd_networks_are_answered_as_by_enumeration(block: int) -> None:
    n_impossible = 0
    for seed in range(block, 500, 10):
        network = odd_network(seed)
        rng = np.random.default_rng(seed)
        evidence, soft = any_evidence(network, rng), soft_evidence(network, rng)
        values = weighed(network, log_joint(network), evidence, soft)
        targets = tuple(rng.permutation(network.n_variables)[: 1 + seed % 2].tolist())
        names = [network.names[v] for v in targets]
        for engine in engines(network).values():
            if values.max() == -math.inf:
                n_impossible += 1
                assert engine.log_evidence(evidence, likelihood=soft) == -math.inf
                for ask in (
                    lambda: engine.query(names, evidence, likelihood=soft),  # noqa: B023
                    lambda: engine.marginals(evidence, likelihood=soft),  # noqa: B023
                ):
                    with pytest.raises(DataError, match="the evidence has probability zero"):
                        ask()
                continue
            total = float(summed(values, ()))
            found = engine.log_evidence(evidence, likelihood=soft)
            assert found == pytest.approx(total, abs=1e-12)
            expected = np.exp(summed(values, targets) - total)
            answer = engine.query(names, evidence, likelihood=soft)
            np.testing.assert_allclose(answer.values, expected, rtol=0, atol=1e-12)
            marginals = engine.marginals(evidence, likelihood=soft)
            for v, name in enumerate(network.names):
                expected = np.exp(summed(values, (v,)) - total)
                np.testing.assert_allclose(marginals[name].values, expected, rtol=0, atol=1e-12)
    assert n_impossible > 10


@pytest.mark.parametrize("block", range(5))
def test_tiny_numbers_are_answered_as_by_sums_of_logarithms(block: int) -> None:
    for seed in range(block, 500, 5):
        network = odd_network(seed, tiny=1e-300)
        rng = np.random.default_rng(seed)
        evidence = any_evidence(network, rng)
        values = weighed(network, log_joint(network), evidence, {})
        total = float(summed(values, ()))
        v = int(rng.integers(network.n_variables))
        expected = np.exp(summed(values, (v,)) - total)
        for engine in engines(network).values():
            assert engine.log_evidence(evidence) == pytest.approx(total, rel=1e-12, abs=1e-12)
            found = engine.query([network.names[v]], evidence).values
            np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-12)
            found = engine.marginals(evidence)[network.names[v]].values
            np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-12)


def noting(function: Any, name: str, used: set[str]) -> Any:
    """Return a function that does the same and notes that it was called."""

    def called(*args: Any) -> Any:
        used.add(name)
        return function(*args)

    return called


@pytest.mark.parametrize("way", ["adapted tree", "one by one"])
def test_marginals_are_the_same_any_way(way: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("twbn.inference.marginals.FEW_ENTRIES", -1)
    many = math.inf if way == "adapted tree" else -math.inf
    monkeypatch.setattr("twbn.inference.marginals.MANY_ENTRIES", many)
    monkeypatch.setattr("twbn.inference.marginals.PASSES", 0 if way == "adapted tree" else 1e9)
    used: set[str] = set()
    for name in ("adapted_marginals", "EliminationPlan"):
        monkeypatch.setattr(_core, name, noting(getattr(_core, name), name, used))
    for tiny in (0.0, 1e-300):
        for seed in range(100):
            network = odd_network(seed, tiny=tiny)
            rng = np.random.default_rng(seed)
            evidence, soft = any_evidence(network, rng), soft_evidence(network, rng)
            values = weighed(network, log_joint(network), evidence, soft)
            if values.max() == -math.inf:
                with pytest.raises(DataError, match="probability zero"):
                    Inference(network).marginals(evidence, likelihood=soft)
                continue
            marginals = Inference(network).marginals(evidence, likelihood=soft)
            for v, name in enumerate(network.names):
                expected = np.exp(summed(values, (v,)) - float(summed(values, ())))
                np.testing.assert_allclose(marginals[name].values, expected, rtol=0, atol=1e-12)
    assert used == {"adapted_marginals" if way == "adapted tree" else "EliminationPlan"}


@pytest.mark.parametrize("seed", range(20))
def test_states_of_all_variables_without_a_tree(seed: int) -> None:
    network = odd_network(seed)
    evidence = any_evidence(network, np.random.default_rng(seed))
    values = weighed(network, log_joint(network), evidence, {})
    for engine in engines(network).values():
        if values.max() == -math.inf:
            with pytest.raises(DataError, match="probability zero"):
                engine.most_probable(evidence)
            continue
        best = engine.most_probable(evidence)
        cell = tuple(network.state_code(v, best[name]) for v, name in enumerate(network.names))
        assert values[cell] == pytest.approx(values.max(), abs=1e-12)
        drawn = engine.sample_given(evidence, seed=seed)
        cell = tuple(network.state_code(v, drawn[name]) for v, name in enumerate(network.names))
        assert values[cell] > -math.inf


@pytest.mark.parametrize("seed", range(10))
def test_rows_are_the_same_either_way(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    network = odd_network(seed, n=7)
    rng = np.random.default_rng(seed)
    codes = np.column_stack([rng.integers(-1, r, 60) for r in network.n_states]).astype(np.int32)
    rows = {way: engine.answer_rows(codes, None)[1] for way, engine in engines(network).items()}
    possible = rows["as it comes"] > -math.inf
    for logs in rows.values():
        np.testing.assert_allclose(logs[possible], rows["as it comes"][possible], atol=1e-12)
        assert (logs[~possible] == -math.inf).all()
    target = int(rng.integers(7))
    answers = {way: engine.answer_rows(codes, target) for way, engine in engines(network).items()}
    first, first_logs = answers["as it comes"]
    for values, logs in answers.values():
        np.testing.assert_allclose(values, first, rtol=0, atol=1e-12)
        assert ((logs == -math.inf) == (first_logs == -math.inf)).all()
    # Compared by their costs, too.
    monkeypatch.setattr("twbn.inference.row_answers.FEW_ENTRIES", 0)
    values, _ = Inference(network).answer_rows(codes, target)
    np.testing.assert_allclose(values, first, rtol=0, atol=1e-12)


def grid(side: int, n_states: int = 2) -> Network:
    """Return a grid in which each variable depends on the one above and the one to its left."""
    rng = np.random.default_rng(side)
    names = {f"v{i}_{j}": list(map(str, range(n_states))) for i in range(side) for j in range(side)}
    parents, tables = {}, {}
    for i, j in itertools.product(range(side), range(side)):
        own = [f"v{a}_{b}" for a, b in ((i - 1, j), (i, j - 1)) if min(a, b) >= 0]
        parents[f"v{i}_{j}"] = own
        tables[f"v{i}_{j}"] = rng.dirichlet(np.ones(n_states), size=(n_states,) * len(own))
    return Network.from_tables(names, parents, tables)


def test_only_what_matters_is_touched() -> None:
    network = grid(12)
    engine = Inference(network)
    first = engine.cost(["v0_5"])
    assert set(first.relevant) == {f"v0_{j}" for j in range(6)}
    assert first.n_entries < 100
    separated = engine.cost(["v0_5"], {"v0_4": "0", "v11_11": "1"})
    assert len(separated.relevant) > 130  # the last corner knows of everything above it
    alone = engine.cost(["v0_5"], {"v0_4": "0"})
    assert alone.relevant == ("v0_5",)
    assert engine.cost([], {"v0_4": "0"}).relevant == tuple(f"v0_{j}" for j in range(5))
    assert "tree" not in vars(engine)  # it is not made for single questions


def test_an_answer_that_does_not_fit_is_found_by_conditioning() -> None:
    network = grid(12)
    evidence = {"v11_11": "1", "v11_0": "0"}
    target = ["v6_6"]
    whole = Inference(network)
    cost = whole.cost(target, evidence)
    assert cost.n_passes == 1
    told: list[tuple[int, int]] = []
    small = Inference(
        network,
        memory_limit=cost.n_bytes / 8 / 2**30,
        on_progress=lambda done, n: told.append((done, n)),
    )
    predicted = small.cost(target, evidence)
    assert predicted.n_passes == 2 ** len(predicted.conditioned) > 1
    assert predicted.n_bytes <= cost.n_bytes / 8
    assert str(predicted.n_passes) in str(predicted)
    expected = whole.query(target, evidence).values
    np.testing.assert_allclose(small.query(target, evidence).values, expected, rtol=1e-12)
    assert told == [(i + 1, predicted.n_passes) for i in range(predicted.n_passes)]
    assert small.log_evidence(evidence) == pytest.approx(whole.log_evidence(evidence), rel=1e-12)


def test_conditioning_equals_enumeration() -> None:
    n_conditioned = 0
    for seed in range(150):
        network = odd_network(seed, n=8)
        rng = np.random.default_rng(seed)
        evidence, soft = any_evidence(network, rng), soft_evidence(network, rng)
        name = next((name for name in network.names if name not in evidence), network.names[0])
        evidence.pop(name, None)
        values = weighed(network, log_joint(network), evidence, soft)
        if values.max() == -math.inf:
            continue
        cost = Inference(network).cost([name], evidence, likelihood=soft)
        small = Inference(network, max_entries=0, memory_limit=max(cost.n_bytes / 2, 48) / 2**30)
        n_conditioned += small.cost([name], evidence, likelihood=soft).n_passes > 1
        expected = np.exp(summed(values, (network.index(name),)) - float(summed(values, ())))
        found = small.query([name], evidence, likelihood=soft).values
        np.testing.assert_allclose(found, expected, rtol=0, atol=1e-12)
    assert n_conditioned >= 10


def test_what_takes_too_long_is_refused_with_its_time() -> None:
    network = grid(20)
    engine = Inference(network, memory_limit="1MiB", time_limit=1e-4)
    with pytest.raises(MemoryLimitError, match=r"takes about .* s within 0.000976562 GiB in"):
        engine.query(["v10_10"], {"v19_19": "1"})
    names = [f"v{i}_{i}" for i in range(20)]
    with pytest.raises(MemoryLimitError, match="ask for fewer variables at once"):
        Inference(network, memory_limit="1MiB").query(names)


@pytest.mark.parametrize(
    "limit", ["much", "-1GiB", "0 GiB", "1PB", "2G", "9" * 400 + "GiB", 0, -1.0, math.inf]
)
def test_memory_limits_are_checked(limit: Any) -> None:
    with pytest.raises(OptionError, match="memory_limit must be"):
        Inference(grid(2), memory_limit=limit)


def wide_network(n_roots: int, n_states: int, n_children: int) -> tuple[Network, dict[str, str]]:
    """Return roots that observed children tie together, far beyond any machine."""
    rng = np.random.default_rng(0)
    names = {f"r{i}": list(map(str, range(n_states))) for i in range(n_roots)}
    parents: dict[str, list[str]] = {name: [] for name in names}
    tables: dict[str, Any] = {name: np.full(n_states, 1 / n_states) for name in names}
    for i in range(n_children):
        pair = [f"r{j}" for j in sorted(rng.choice(n_roots, 2, replace=False).tolist())]
        names[f"e{i}"], parents[f"e{i}"] = ["0", "1"], pair
        tables[f"e{i}"] = rng.dirichlet([1.0, 1.0], size=(n_states, n_states))
    network = Network.from_tables(names, parents, tables)
    return network, {f"e{i}": "1" for i in range(n_children)}


@pytest.mark.parametrize(("n_roots", "n_states"), [(60, 64), (120, 2), (63, 2), (64, 2)])
def test_what_no_machine_can_hold_is_refused(n_roots: int, n_states: int) -> None:
    network, evidence = wide_network(n_roots, n_states, 8 * n_roots)
    engine = Inference(network, memory_limit="1GiB", time_limit=5)
    with pytest.raises(MemoryLimitError, match="the answer takes"):
        engine.query(["r0"], evidence)
    with pytest.raises(MemoryLimitError, match="the answer takes"):
        engine.score_samples({name: [state] for name, state in evidence.items()})
    roots = [f"r{i}" for i in range(n_roots)]
    with pytest.raises(MemoryLimitError, match="ask for fewer variables at once"):
        engine.query(roots)


def test_the_memory_limit_holds_for_trees() -> None:
    network = grid(7)
    small = Inference(network, memory_limit="1KiB")
    assert not small.tree.fits
    evidence = {"v6_6": "1"}
    found, expected = small.marginals(evidence), Inference(network).marginals(evidence)
    for name in network.names:
        np.testing.assert_allclose(found[name].values, expected[name].values, atol=1e-12)


def test_answers_are_not_shared() -> None:
    engine = Inference(odd_network(3, n=4))
    name = engine.network.names[0]
    first = engine.marginals()[name].values
    kept = first.copy()
    first[:] = 7
    assert (engine.marginals()[name].values == kept).all()


def test_impossible_evidence_is_found_where_nothing_is_left_to_ask() -> None:
    network = Network.from_tables(
        {"a": ["0", "1"], "b": ["0", "1"]},
        {"a": [], "b": ["a"]},
        {"a": [1.0, 0.0], "b": [[0.5, 0.5], [0.5, 0.5]]},
    )
    for engine in engines(network).values():
        with pytest.raises(DataError, match="probability zero: a=1, b=0"):
            engine.most_probable({"a": "1", "b": "0"})
        with pytest.raises(DataError, match="probability zero: a=0, the likelihood of a"):
            engine.query(["b"], {"a": "0"}, likelihood={"a": [0.0, 1.0]})


def test_questions_name_variables_in_any_form() -> None:
    engine = Inference(odd_network(3, n=4))
    name = engine.network.names[1]
    expected = engine.query([name])
    for asked in (name, (name,), iter([name])):
        found = engine.query(asked)  # type: ignore[arg-type]
        assert found.variables == (name,)
        assert (found.values == expected.values).all()
    assert engine.cost(name).relevant == engine.cost([name]).relevant
    for ask in (engine.query, engine.cost):
        with pytest.raises(OptionError, match="must be distinct"):
            ask([name, name])
        with pytest.raises(OptionError, match="must be names of variables, got None"):
            ask(None)  # type: ignore[arg-type]


def test_impossible_evidence_is_found_where_it_changes_nothing() -> None:
    # An exclusive or of two coins that are both known: far from the target, and hard to see.
    network = Network.from_tables(
        {name: ["0", "1"] for name in ("a", "b", "xor", "target")},
        {"a": [], "b": [], "xor": ["a", "b"], "target": []},
        {
            "a": [0.5, 0.5],
            "b": [0.5, 0.5],
            "xor": [[[1, 0], [0, 1]], [[0, 1], [1, 0]]],
            "target": [0.2, 0.8],
        },
    )
    engine = Inference(network)
    with pytest.raises(DataError, match="probability zero: a=1, b=1, xor=1"):
        engine.query(["target"], {"a": "1", "b": "1", "xor": "1"})
    assert engine.query(["target"], {"a": "1", "xor": "1"}).values.tolist() == [0.2, 0.8]
    rows = Table(network.names, network.codings, np.array([[1, 1, 1, -1]], dtype=np.int32))
    with pytest.raises(DataError, match="row 1 has probability zero"):
        Inference(network, max_entries=0).predict_proba(rows, "target")


def test_what_evidence_implies_counts_as_known(monkeypatch: pytest.MonkeyPatch) -> None:
    # A grid of rules, each cell the exclusive or of two before it: a known border implies the rest.
    side = 9
    cells = [(i, j) for i in range(side) for j in range(side)]
    names = {f"v{i}_{j}": ["0", "1"] for i, j in cells}
    xor = [[[1, 0], [0, 1]], [[0, 1], [1, 0]]]
    parents: dict[str, list[str]] = {}
    tables: dict[str, Any] = {}
    for i, j in cells:
        inner = i > 0 and j > 0
        parents[f"v{i}_{j}"] = [f"v{i - 1}_{j}", f"v{i}_{j - 1}"] if inner else []
        tables[f"v{i}_{j}"] = xor if inner else [0.3, 0.7]
    for i in range(side):
        names[f"seen{i}"], parents[f"seen{i}"] = ["0", "1"], [f"v{i}_{side - 1}"]
        tables[f"seen{i}"] = [[0.9, 0.1], [0.2, 0.8]]
    network = Network.from_tables(names, parents, tables)
    border = {f"v{i}_{j}": "1" for i, j in cells if (i == 0 or j == 0) and (i, j) != (5, 0)}
    evidence = border | {f"seen{i}": "1" for i in range(side)}
    monkeypatch.setattr("twbn.inference.elimination.DEAR_ENTRIES", math.inf)
    plain = Inference(network)
    expected = plain.query(["v5_0"], evidence)
    dear = plain.cost(["v5_0"], evidence)
    monkeypatch.setattr("twbn.inference.elimination.DEAR_ENTRIES", 0)
    engine = Inference(network)
    assert engine.cost(["v5_0"], evidence).n_entries < dear.n_entries
    assert engine.query(["v5_0"], evidence).values == pytest.approx(expected.values, abs=1e-12)
    assert engine.log_evidence(evidence) == pytest.approx(plain.log_evidence(evidence), abs=1e-12)
    for seed in range(200):
        other = odd_network(seed)
        rng = np.random.default_rng(seed)
        some, soft = any_evidence(other, rng), soft_evidence(other, rng)
        values = weighed(other, log_joint(other), some, soft)
        if values.max() == -math.inf:
            with pytest.raises(DataError, match="probability zero"):
                Inference(other).query([other.names[0]], some, likelihood=soft)
            continue
        found = Inference(other).query([other.names[0]], some, likelihood=soft).values
        expected_values = np.exp(summed(values, (0,)) - float(summed(values, ())))
        np.testing.assert_allclose(found, expected_values, rtol=0, atol=1e-12)


def test_hard_riddles_are_solved_by_trying_states() -> None:
    # Colours of a ring of odd length: no two neighbours alike, which two colours cannot do.
    n = 7
    names = {f"c{i}": ["red", "blue"] for i in range(n)} | {
        f"d{i}": ["alike", "different"] for i in range(n)
    }
    parents: dict[str, list[str]] = {f"c{i}": [] for i in range(n)} | {
        f"d{i}": [f"c{i}", f"c{(i + 1) % n}"] for i in range(n)
    }
    differs = [[[1, 0], [0, 1]], [[0, 1], [1, 0]]]
    tables = {f"c{i}": [0.5, 0.5] for i in range(n)} | {f"d{i}": differs for i in range(n)}
    names["other"], parents["other"], tables["other"] = ["x", "y"], [], [0.5, 0.5]
    network = Network.from_tables(names, parents, tables)
    engine = Inference(network)
    ring = {f"d{i}": "different" for i in range(n)}
    with pytest.raises(DataError, match="probability zero"):
        engine.query(["other"], ring)
    ring["d0"] = "alike"
    assert engine.query(["other"], ring).values.tolist() == [0.5, 0.5]


@pytest.mark.filterwarnings("ignore:.*were made to sum to one")
@pytest.mark.parametrize("name", NETWORKS)
def test_single_questions_are_those_of_pyagrum(name: str) -> None:
    gum = pytest.importorskip("pyagrum", reason="pyAgrum is not installed")
    network = read_network(shared_path(f"bif/{name}.bif"))
    net = gum.BayesNet()
    for v, variable in enumerate(network.names):
        net.add(gum.RangeVariable(variable, variable, 0, network.n_states[v] - 1))
    for parent, child in network.dag.arcs:
        net.addArc(network.names[parent], network.names[child])
    for v, variable in enumerate(network.names):
        table = net.cpt(variable)
        family = [*network.dag.parents[v], v]
        order = [family.index(network.index(axis)) for axis in reversed(table.names)]
        table[:] = np.ascontiguousarray(np.transpose(network.tables[v], order))
    rng = np.random.default_rng(3)
    engine = Inference(network)
    for number, row in enumerate(network.sample(6, seed=3).codes):
        chosen = rng.permutation(network.n_variables)[: 1 + (0, 3, 10)[number % 3] + 2].tolist()
        target, soft, known = chosen[0], chosen[1:3], chosen[3:]
        hard = {network.names[v]: int(row[v]) for v in known}
        weights = {network.names[v]: rng.uniform(0.1, 1, network.n_states[v]) for v in soft}
        lazy = gum.LazyPropagation(net)
        lazy.setTargets({network.names[target]})
        lazy.setEvidence(hard | {name: weight.tolist() for name, weight in weights.items()})
        lazy.makeInference()
        expected = lazy.posterior(network.names[target]).toarray()
        found = engine.query(
            [network.names[target]],
            {name: network.states[network.index(name)][code] for name, code in hard.items()},
            likelihood={name: weight.tolist() for name, weight in weights.items()},
        )
        np.testing.assert_allclose(found.values, expected, rtol=0, atol=1e-9)


def test_a_joint_is_the_product_of_the_tables() -> None:
    network = odd_network(5, n=6)
    values = joint(network)
    found = Inference(network).query(list(network.names)).values
    np.testing.assert_allclose(found, values, rtol=0, atol=1e-12)
    assert isinstance(Inference(network).cost(list(network.names)), QueryCost)
