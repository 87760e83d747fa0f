"""Probabilities far below the smallest double: nothing underflows, nothing overflows."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import twbn


def star(n_leaves: int, tiny: float) -> twbn.Network:
    """Return a root with two states whose leaves, in one bag with it, are rarely 'yes'."""
    names = [f"leaf{i}" for i in range(n_leaves)]
    return twbn.Network.from_tables(
        {"root": ["no", "yes"], **{name: ["no", "yes"] for name in names}},
        {"root": [], **{name: ["root"] for name in names}},
        {"root": [0.5, 0.5], **{name: [[1 - tiny, tiny]] * 2 for name in names}},
        twbn.TreeDecomposition((frozenset(range(n_leaves + 1)),)),
    )


def test_evidence_of_three_rare_events_in_one_bag_has_its_probability() -> None:
    engine = twbn.Inference(star(3, 1e-150))
    rare = {f"leaf{i}": "yes" for i in range(3)}
    assert engine.log_evidence(rare) == pytest.approx(3 * math.log(1e-150), rel=1e-12)
    assert engine.most_probable(rare) == {"root": "no", **rare}
    assert engine.query(["root"], rare).values == pytest.approx([0.5, 0.5], rel=1e-12)
    assert engine.marginals(rare)["root"].values == pytest.approx([0.5, 0.5], rel=1e-12)
    rows = {"root": ["no"], **{k: [v] for k, v in rare.items()}}
    assert engine.score_samples(rows)[0] == pytest.approx(
        math.log(0.5) + 3 * math.log(1e-150), rel=1e-12
    )
    assert engine.predict_proba(rows, "root")[0] == pytest.approx([0.5, 0.5], rel=1e-12)
    found = engine.marginal_map(["root"], rare)
    assert found.log_probability == pytest.approx(math.log(0.5) + 3 * math.log(1e-150), rel=1e-12)
    assert engine.sample_given(rare)["leaf1"] == "yes"


@pytest.mark.parametrize("value", [1e308, 1e-308, 5e-324])
def test_likelihoods_of_any_size_are_taken(value: float) -> None:
    engine = twbn.Inference(star(3, 0.25))
    soft = {f"leaf{i}": [value, value] for i in range(3)}
    assert engine.query(["root"], likelihood=soft).values == pytest.approx([0.5, 0.5])
    assert engine.marginals(likelihood=soft)["leaf0"]["yes"] == pytest.approx(0.25)
    assert engine.log_evidence({}, likelihood=soft) == pytest.approx(3 * math.log(value))


def exact_joint(network: twbn.Network) -> dict[tuple[int, ...], Fraction]:
    """Return the probability of every combination of states, in rational numbers."""
    joint = {}
    for codes in itertools.product(*(range(n) for n in network.n_states)):
        p = Fraction(1)
        for v, table in enumerate(network.tables):
            family = (*(codes[u] for u in network.dag.parents[v]), codes[v])
            p *= Fraction(float(table[family]))
        joint[codes] = p
    return joint


def log(p: Fraction) -> float:
    """Return the logarithm of a rational number of any size."""
    if p == 0:
        return -math.inf
    return math.log(p.numerator) - math.log(p.denominator)


@pytest.mark.parametrize("seed", range(40))
def test_random_networks_of_rare_events_agree_with_rational_numbers(seed: int) -> None:
    rng = np.random.default_rng(seed)
    n = int(rng.integers(3, 7))
    parents = {
        v: sorted(rng.permutation(v)[: int(rng.integers(0, min(v, 3) + 1))].tolist())
        for v in range(n)
    }
    tables: dict[str, Any] = {}
    for v in range(n):
        shape = (2,) * len(parents[v])
        # Powers of two, so that a table and its rest are exact; some entries are zero.
        small = 2.0 ** -rng.integers(1, 500, shape)
        small = np.where(rng.random(shape) < 0.1, 0.0, small)
        pair = np.stack([1.0 - small, small], axis=-1)
        flipped = rng.random(shape) < 0.5
        tables[f"v{v}"] = np.where(flipped[..., None], pair[..., ::-1], pair)
    network = twbn.Network.from_tables(
        {f"v{v}": ["a", "b"] for v in range(n)},
        {f"v{v}": [f"v{p}" for p in parents[v]] for v in range(n)},
        tables,
    )
    joint = exact_joint(network)
    engine = twbn.Inference(network)
    for _ in range(6):
        known = {v: int(rng.integers(0, 2)) for v in range(n) if rng.random() < 0.6}
        fitting = {c: p for c, p in joint.items() if all(c[v] == s for v, s in known.items())}
        total = sum(fitting.values(), Fraction(0))
        evidence = {f"v{v}": network.states[v][code] for v, code in known.items()}
        assert engine.log_evidence(evidence) == pytest.approx(log(total), rel=1e-9, abs=1e-9)
        row = np.full((1, n), -1, dtype=np.int32)
        for v, code in known.items():
            row[0, v] = code
        table = twbn.Table(network.names, network.codings, row)
        assert engine.score_samples(table)[0] == pytest.approx(log(total), rel=1e-9, abs=1e-9)
        if total == 0:
            continue
        marginals = engine.marginals(evidence)
        for v in range(n):
            share = sum((p for c, p in fitting.items() if c[v] == 0), Fraction(0)) / total
            assert marginals[f"v{v}"]["a"] == pytest.approx(float(share), rel=1e-9, abs=1e-300)
            if v not in known:
                asked = engine.query([f"v{v}"], evidence)["a"]
                assert asked == pytest.approx(float(share), rel=1e-9, abs=1e-300)
        best = engine.most_probable(evidence)
        codes = tuple(network.states[v].index(best[f"v{v}"]) for v in range(n))
        assert log(joint[codes]) == pytest.approx(log(max(fitting.values())), rel=1e-12)
        free = [v for v in range(n) if v not in known]
        if free:
            found = engine.marginal_map([f"v{free[0]}"], evidence)
            options = [sum((p for c, p in fitting.items() if c[free[0]] == s), Fraction(0))
                       for s in (0, 1)]  # fmt: skip
            assert found.log_probability == pytest.approx(log(max(options)), rel=1e-9, abs=1e-9)


def test_a_product_keeps_what_is_rare_in_one_factor_and_needed_in_another() -> None:
    from twbn.inference.beliefs import Beliefs, product

    def table(*values: float) -> Beliefs:
        return Beliefs((0,), np.array([values]), np.zeros(1))

    found = product([table(1.0, 1e-200), table(1.0, 1e-200), table(0.0, 1.0)], [0]).summed(())
    assert float(found.log[0] + np.log(found.plain()[0])) == pytest.approx(2 * math.log(1e-200))


@pytest.mark.slow
def test_a_bucket_of_thousands_of_tables_keeps_its_precision() -> None:
    # Every leaf is as likely as not, or nearly: none is small, all together are.
    leaves = [f"leaf{i}" for i in range(3000)]
    even, odd = [[0.9, 0.1], [0.5, 0.5]], [[0.5, 0.5], [0.95, 0.05]]
    network = twbn.Network.from_tables(
        {"c": [0, 1], **{name: [0, 1] for name in leaves}},
        {"c": [], **{name: ["c"] for name in leaves}},
        {"c": [0.5, 0.5], **{name: odd if i % 2 else even for i, name in enumerate(leaves)}},
    )
    engine = twbn.Inference(network)
    evidence = dict.fromkeys(leaves, 0)
    found = engine.marginal_map(["c"], evidence)
    expected = math.log(0.5) + 1500 * (math.log(0.5) + math.log(0.95))
    assert found.states == {"c": 1}
    assert found.log_probability == pytest.approx(expected, rel=1e-12)
    assert engine.most_probable(evidence)["c"] == 1
    assert engine.log_evidence(evidence) == pytest.approx(expected, rel=1e-9)


def test_likelihoods_may_span_more_than_a_double_does() -> None:
    network = twbn.Network.from_tables(
        {"a": ["x", "y"], "b": ["x", "y"]},
        {"a": [], "b": ["a"]},
        {"a": [1.0, 0.0], "b": [[0.25, 0.75], [0.5, 0.5]]},
    )
    engine = twbn.Inference(network)
    soft = {"a": [1e-200, 1e200]}
    assert engine.log_evidence({}, likelihood=soft) == pytest.approx(math.log(1e-200))
    assert engine.log_evidence({"a": "x"}, likelihood=soft) == pytest.approx(math.log(1e-200))
    assert engine.query(["b"], likelihood=soft)["y"] == pytest.approx(0.75)
    assert engine.marginals(likelihood=soft)["b"]["y"] == pytest.approx(0.75)
