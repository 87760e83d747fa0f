"""Interventions against the truncated factorisation, from the definition."""

from __future__ import annotations

import itertools
import json
import math
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import twbn
from test_relevance import any_evidence, odd_network, summed
from twbn.cli import run as run_command
from twbn.errors import DataError, UnknownStateError

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray


def truncated(network: twbn.Network, do: dict[str, Any]) -> NDArray[np.float64]:
    """Return log-probabilities of all states: the product of the tables of what is not set."""
    values = np.zeros(network.n_states)
    with np.errstate(divide="ignore"):
        for cell in itertools.product(*(range(r) for r in network.n_states)):
            for v, (name, table) in enumerate(zip(network.names, network.tables, strict=True)):
                if name in do:
                    same = network.states[v][cell[v]] == do[name]
                    values[cell] += 0.0 if same else -math.inf
                else:
                    family = (*network.dag.parents[v], v)
                    values[cell] += np.log(table[tuple(cell[u] for u in family)])
    return values


@pytest.mark.parametrize("block", range(10))
def test_interventions_are_truncated_factorisations(block: int) -> None:
    for seed in range(block, 200, 10):
        network = odd_network(seed, n=1 + seed % 8)
        rng = np.random.default_rng(seed)
        do = any_evidence(network, rng)
        evidence = {n: s for n, s in any_evidence(network, rng).items() if do.get(n, s) == s}
        values = truncated(network, do)
        for name, state in evidence.items():
            v = network.index(name)
            for code, other in enumerate(network.states[v]):
                if other != state:
                    values[(slice(None),) * v + (code,)] = -math.inf
        engine = twbn.Inference(network)
        if values.max() == -math.inf:
            with pytest.raises(DataError, match="probability zero"):
                engine.marginals(evidence, do=do)
            assert engine.log_evidence(evidence, do=do) == -math.inf
            continue
        total = float(summed(values, ()))
        assert engine.log_evidence(evidence, do=do) == pytest.approx(total, abs=1e-12)
        marginals = engine.marginals(evidence, do=do)
        for v, name in enumerate(network.names):
            expected = np.exp(summed(values, (v,)) - total)
            found = engine.query([name], evidence, do=do).values
            np.testing.assert_allclose(found, expected, rtol=0, atol=1e-12)
            np.testing.assert_allclose(marginals[name].values, expected, rtol=0, atol=1e-12)
        best = engine.most_probable(evidence, do=do)
        cell = tuple(network.state_code(v, best[name]) for v, name in enumerate(network.names))
        assert values[cell] == pytest.approx(values.max(), abs=1e-12)
        some = list(network.names[:2])
        explained = engine.marginal_map(some, evidence, do=do)
        expected_best = summed(values, tuple(range(len(some)))).max()
        assert explained.log_probability == pytest.approx(expected_best, abs=1e-9)


def smoking() -> twbn.Network:
    return twbn.Network.from_tables(
        {"gene": ["no", "yes"], "smoker": ["no", "yes"], "cancer": ["no", "yes"]},
        {"gene": [], "smoker": ["gene"], "cancer": ["gene", "smoker"]},
        {
            "gene": [0.7, 0.3],
            "smoker": [[0.8, 0.2], [0.3, 0.7]],
            "cancer": [[[0.99, 0.01], [0.95, 0.05]], [[0.9, 0.1], [0.6, 0.4]]],
        },
    )


def test_seeing_is_not_doing() -> None:
    engine = twbn.Inference(smoking())
    seen = engine.query(["cancer"], {"smoker": "yes"})["yes"]
    done = engine.query(["cancer"], do={"smoker": "yes"})["yes"]
    assert seen == pytest.approx((0.14 * 0.05 + 0.21 * 0.4) / 0.35)
    assert done == pytest.approx(0.7 * 0.05 + 0.3 * 0.4)
    # What is set says nothing of its causes.
    assert engine.query(["gene"], do={"smoker": "yes"})["yes"] == pytest.approx(0.3)
    rows = {"gene": ["no", "yes", None], "smoker": [None, None, None]}
    assert engine.predict_proba(rows, "cancer", do={"smoker": "yes"})[:, 1] == pytest.approx(
        [0.05, 0.4, done]
    )
    assert engine.under({"smoker": "yes"}) is engine.under({"smoker": "yes"})
    assert engine.sample_given({"cancer": "yes"}, do={"smoker": "no"}, seed=1)["smoker"] == "no"
    assert engine.cost(["gene"], do={"smoker": "yes"}).relevant == ("gene",)


def test_an_intervention_keeps_the_proof() -> None:
    table = odd_network(3, n=8).sample(200, seed=1)
    network = twbn.fit(twbn.learn(table, treewidth=2, max_iterations=10_000), table)
    assert network.decomposition is not None
    name = network.names[5]
    after = network.intervene({name: network.states[5][0]})
    assert after.decomposition == network.decomposition
    after.decomposition.check(after.dag.moral_graph())
    assert after.parents[name] == []


def test_compelled_arcs_are_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    names = {name: ["0", "1"] for name in "abcd"}
    parents = {"a": [], "b": [], "c": ["a", "b"], "d": ["c"]}
    half = np.full((2, 2, 2), 0.5)
    tables: dict[str, Any] = {"a": [0.5, 0.5], "b": [0.3, 0.7], "c": half, "d": np.eye(2)}
    collider = twbn.Network.from_tables(names, parents, tables)
    chain = twbn.Network.from_tables(
        names,
        {"a": [], "b": ["a"], "c": ["b"], "d": ["c"]},
        {"a": [0.5, 0.5], "b": np.eye(2), "c": np.eye(2), "d": np.eye(2)},
    )
    paths = [str(tmp_path / "a.json"), str(tmp_path / "b.json")]
    for network, path in zip((collider, chain), paths, strict=True):
        twbn.write_network(network, path)
    assert run_command(["compare", *paths, "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert report["compelled_first"] == [["a", "c"], ["b", "c"], ["c", "d"]]
    assert report["compelled_second"] == []
    assert run_command(["compare", *paths]) == 0
    assert "compelled in the first: 3 arcs\n  a -> c\n" in capsys.readouterr().out


def test_bad_interventions_are_named() -> None:
    engine = twbn.Inference(smoking())
    with pytest.raises(DataError, match="'smoker' is set to 'yes' but observed as 'no'"):
        engine.query(["cancer"], {"smoker": "no"}, do={"smoker": "yes"})
    with pytest.raises(DataError, match="unknown variable 'smokr'; did you mean 'smoker'"):
        engine.marginals(do={"smokr": "yes"})
    with pytest.raises(UnknownStateError, match="'yess' of variable 'smoker'; did you mean 'yes'"):
        engine.most_probable(do={"smoker": "yess"})
    with pytest.raises(DataError, match="do must be states by variable"):
        engine.marginals(do=["smoker"])
    with pytest.raises(DataError, match="do sets 'smoker' to no state"):
        engine.marginals(do={"smoker": None})
    with pytest.raises(DataError, match="row 2 has smoker=no, but do sets smoker to 'yes'"):
        engine.predict_proba({"smoker": ["yes", "no"]}, "cancer", do={"smoker": "yes"})


def test_commands_take_interventions(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path, rows = tmp_path / "net.json", tmp_path / "rows.csv"
    twbn.write_network(smoking(), path)
    rows.write_text("gene\nno\nyes\n")
    net = str(path)
    assert run_command(["query", net, "-q", "cancer", "--do", "smoker=yes", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["cancer"]["yes"] == pytest.approx(0.155)
    assert run_command(["mpe", net, "--do", "smoker=yes", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["states"]["smoker"] == "yes"
    assert run_command(["map", net, "-q", "gene", "--do", "smoker=yes", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["states"] == {"gene": "no"}
    asked = ["predict", str(rows), "--net", net, "-q", "cancer", "--do", "smoker=yes"]
    assert run_command(asked) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [float(line.split(",")[2]) for line in lines[1:]] == pytest.approx([0.05, 0.4])
    assert run_command(["query", net, "-q", "cancer", "--do", "smoker"]) == 2
    assert "--do must be VARIABLE=STATE, got 'smoker'" in capsys.readouterr().err
    assert run_command(["query", net, "-q", "cancer", "-e", "smoker=no", "--do", "smoker=yes"]) == 1
    assert "'smoker' is set to 'yes' but observed as 'no'" in capsys.readouterr().err


def test_a_row_that_contradicts_what_is_set_is_named() -> None:
    rows = {"a": [0, 1, 1, 0] * 9, "b": [0, 1, 1, 1] * 9}
    engine = twbn.Inference(twbn.fit(twbn.Dag(((), (0,))), rows, ess=1.0))
    with pytest.raises(DataError, match="row 2 has a=1, but do sets a to 0; leave that column out"):
        engine.predict_proba({"a": [0, 1], "b": [0, 0]}, "b", do={"a": 0})
    left_out = engine.predict_proba({"b": [None, None]}, "b", do={"a": 0})
    assert left_out[0] == pytest.approx(engine.query(["b"], do={"a": 0}).values)
