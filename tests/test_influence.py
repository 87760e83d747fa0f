"""Influence and sensitivity against their definitions."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

import twbn
from conftest import shared_path
from test_relevance import any_evidence, log_joint, odd_network, summed, weighed
from twbn.cli import run as run_command
from twbn.errors import DataError, OptionError

if TYPE_CHECKING:
    from pathlib import Path


def with_parameter(
    network: twbn.Network, v: int, cell: tuple[int, ...], step: float
) -> twbn.Network:
    """Return the network with one parameter changed, the others of its row in proportion."""
    table = network.tables[v].copy()
    row = table[cell[:-1]]
    rest = 1.0 - row[cell[-1]]
    others = np.delete(np.arange(len(row)), cell[-1])
    shares = row[others] / rest if rest > 1e-15 else np.full(len(others), 1 / len(others))
    row[others] -= step * shares
    row[cell[-1]] += step
    tables = [table if u == v else own for u, own in enumerate(network.tables)]
    changed = replace(network)
    object.__setattr__(changed, "tables", tuple(tables))  # a step may leave the unit interval
    return changed


def posterior(network: twbn.Network, v: int, code: int, evidence: dict[str, Any]) -> float:
    """Return a posterior from the definition; tables may have entries below zero."""
    values = np.ones(network.n_states)
    for u, table in enumerate(network.tables):
        family = (*network.dag.parents[u], u)
        order = sorted(range(len(family)), key=family.__getitem__)
        shape = [network.n_states[w] if w in family else 1 for w in range(values.ndim)]
        values = values * np.transpose(table, order).reshape(shape)
    for name, state in evidence.items():
        u = network.index(name)
        mask = np.arange(network.n_states[u]) == network.states[u].index(state)
        values = values * mask.reshape([-1 if w == u else 1 for w in range(values.ndim)])
    kept = values.sum(axis=tuple(w for w in range(values.ndim) if w != v))
    return float(kept[code] / kept.sum())


@pytest.mark.parametrize("block", range(5))
def test_derivatives_are_finite_differences(block: int) -> None:
    n_checked = 0
    for seed in range(block, 60, 5):
        network = odd_network(seed, n=1 + seed % 6)
        rng = np.random.default_rng(seed)
        evidence = any_evidence(network, rng)
        v = int(rng.integers(network.n_variables))
        evidence.pop(network.names[v], None)
        if weighed(network, log_joint(network), evidence, {}).max() == -math.inf:
            continue
        code = int(rng.integers(network.n_states[v]))
        engine = twbn.Inference(network)
        found = engine.sensitivity(network.names[v], network.states[v][code], evidence)
        assert found.posterior == pytest.approx(posterior(network, v, code, evidence), abs=1e-12)
        for u, table in enumerate(network.tables):
            for cell in np.ndindex(*table.shape):
                if table.shape[-1] == 1:
                    assert found.derivatives[u][cell] == 0
                    continue
                step = 1e-5
                up, down = (
                    posterior(with_parameter(network, u, cell, sign * step), v, code, evidence)
                    for sign in (1, -1)
                )
                expected = (up - down) / (2 * step)
                assert found.derivatives[u][cell] == pytest.approx(expected, rel=1e-5, abs=1e-6)
                n_checked += 1
    assert n_checked > 50


@pytest.mark.parametrize("block", range(5))
def test_information_is_that_of_the_joint(block: int) -> None:
    for seed in range(block, 100, 5):
        network = odd_network(seed)
        rng = np.random.default_rng(seed)
        evidence = any_evidence(network, rng)
        v = int(rng.integers(network.n_variables))
        target = network.names[v]
        evidence.pop(target, None)
        values = weighed(network, log_joint(network), evidence, {})
        engine = twbn.Inference(network)
        if values.max() == -math.inf:
            with pytest.raises(DataError, match="probability zero"):
                engine.influence(target, evidence)
            continue
        found = engine.influence(target, evidence)
        values -= float(summed(values, ()))
        alone = np.exp(summed(values, (v,)))
        assert set(found.information) == set(network.names) - set(evidence) - {target}
        assert list(found.information.values()) == sorted(found.information.values(), reverse=True)
        for name, nats in found.information.items():
            u = network.index(name)
            both, other = np.exp(summed(values, (v, u))), np.exp(summed(values, (u,)))
            product = alone[:, None] * other[None, :]
            some = both > 0
            expected = float((both[some] * np.log(both[some] / product[some])).sum())
            assert nats == pytest.approx(expected, abs=1e-10)
        assert set(found.contributions) == set(evidence)
        for name, nats in found.contributions.items():
            rest = {other: state for other, state in evidence.items() if other != name}
            without = engine.query([target], rest).values
            some = alone > 0
            expected = float((alone[some] * np.log(alone[some] / without[some])).sum())
            assert nats == pytest.approx(expected, abs=1e-10)


def test_answers_come_out_as_frames() -> None:
    network = odd_network(11, n=5)
    engine = twbn.Inference(network)
    joint = engine.query(list(network.names[:2]))
    frame = joint.to_frame()
    assert isinstance(frame, pd.DataFrame)
    assert list(frame.columns) == [*network.names[:2], "probability"]
    assert frame["probability"].tolist() == joint.values.ravel().tolist()
    assert isinstance(joint.to_frame("polars"), pl.DataFrame)
    influence = engine.influence(network.names[0], {network.names[1]: network.states[1][0]})
    assert influence.to_frame()["role"].tolist().count("finding") == 1
    sensitivity = engine.sensitivity(network.names[0], network.states[0][0])
    assert len(sensitivity.to_frame("polars", n=3)) == len(sensitivity.top(3))
    with pytest.raises(OptionError, match="n must be"):
        sensitivity.top(-1)
    odd = twbn.Network.from_tables(
        {"probability": [0, "other"]}, {"probability": []}, {"probability": [0.25, 0.75]}
    )
    for kind in ("pandas", "polars", "pyarrow"):
        frame = twbn.Inference(odd).query(["probability"]).to_frame(kind)
        rows = twbn.as_table(frame)
        assert rows.names == ("probability", "probability_")
    with pytest.raises(OptionError, match="kind must be one of"):
        joint.to_frame("excel")
    with pytest.raises(DataError, match="is observed, so no parameter"):
        engine.sensitivity(
            network.names[0], network.states[0][0], {network.names[0]: network.states[0][0]}
        )


def test_derivatives_of_tables_that_imply_states(monkeypatch: pytest.MonkeyPatch) -> None:
    network = twbn.Network.from_tables(
        {name: ["0", "1"] for name in "axte"},
        {"a": [], "x": ["a"], "t": ["x"], "e": ["x"]},
        {
            "a": [0.4, 0.6],
            "x": [[0.8, 0.2], [0.3, 0.7]],
            "t": [[0.9, 0.1], [0.2, 0.8]],
            "e": [[1.0, 0.0], [0.3, 0.7]],
        },
    )
    expected = twbn.Inference(network).sensitivity("t", "1", {"e": "1"})
    assert abs(expected.derivatives[3]).max() > 0.5
    monkeypatch.setattr("twbn.inference.elimination.DEAR_ENTRIES", 0)
    found = twbn.Inference(network).sensitivity("t", "1", {"e": "1"})
    for ours, theirs in zip(found.derivatives, expected.derivatives, strict=True):
        np.testing.assert_allclose(ours, theirs, atol=1e-12)


def test_derivatives_of_tiny_parameters_are_numbers() -> None:
    network = twbn.Network.from_tables(
        {name: ["0", "1"] for name in "abc"},
        {"a": [], "b": ["a"], "c": ["b"]},
        {
            "a": [0.5, 0.5],
            "b": [[1.0, 1e-170], [1.0, 2e-170]],
            "c": [[1.0, 0.0], [0.3, 0.7]],
        },
    )
    found = twbn.Inference(network).sensitivity("a", "1", {"c": "1"})
    assert found.posterior == pytest.approx(2 / 3)
    for table in found.derivatives:
        assert np.isfinite(table).all()
    assert found.derivatives[1][1, 1] == pytest.approx(1 / 9 / 1e-170, rel=1e-6)


def test_commands_print_what_matters(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    network = twbn.Network.from_tables(
        {"rain": ["no", "yes"], "grass": ["dry", "wet"]},
        {"rain": [], "grass": ["rain"]},
        {"rain": [0.8, 0.2], "grass": [[0.9, 0.1], [0.2, 0.8]]},
    )
    path = tmp_path / "net.json"
    twbn.write_network(network, path)
    assert run_command(["influence", str(path), "-q", "rain", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["information"] == twbn.Inference(network).influence("rain").information
    assert run_command(["influence", str(path), "-q", "rain", "-e", "grass=wet"]) == 0
    assert "in nats\n  0.5" in capsys.readouterr().out
    assert run_command(["sensitivity", str(path), "-q", "rain=yes", "-e", "grass=wet"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("P(rain=yes) = 0.666667")
    # With x = P(wet | no) it is 0.16 / (0.16 + 0.8 x), whose derivative is -0.16 · 0.8 / 0.24².
    assert lines[1].split() == ["+2.222222", "0.900000", "grass=dry", "|", "rain=no"]
    assert lines[2].split() == ["-2.222222", "0.100000", "grass=wet", "|", "rain=no"]
    assert run_command(["sensitivity", str(path), "-q", "rain"]) == 2
    assert "--query must be VARIABLE=STATE, got 'rain'" in capsys.readouterr().err


def test_a_tornado_shows_the_largest_on_top() -> None:
    pytest.importorskip("matplotlib")
    engine = twbn.Inference(odd_network(11, n=5))
    network = engine.network
    found = engine.sensitivity(network.names[0], network.states[0][0])
    axes = twbn.plot_sensitivity(found, n=3)
    widths = [abs(bar.get_width()) for bar in axes.patches]
    assert widths == sorted(widths)
    assert widths[-1] == abs(found.top(1)[0].derivative)
    assert f"P({found.target}={found.state})" in axes.get_xlabel()


def test_a_larger_network_is_answered_for_all_its_parameters() -> None:
    network = twbn.read_network(shared_path("bif/hailfinder.bif"))
    engine = twbn.Inference(network)
    evidence = {"CompPlFcst": "IncCapDecIns", "Date": "Jul2_Jul15"}
    found = engine.influence("PlainsFcst", evidence)
    assert len(found.information) == 53
    state = network.states[network.index("PlainsFcst")][0]
    matters = engine.sensitivity("PlainsFcst", state, evidence)
    first = matters.top(5)[0]
    v = network.index(first.variable)
    cell = [network.state_code(p, first.parents[network.names[p]]) for p in network.dag.parents[v]]
    cell.append(network.state_code(v, first.state))
    step = 1e-6 if first.value < 0.5 else -1e-6
    moved = twbn.Inference(with_parameter(network, v, tuple(cell), step))
    after = moved.query(["PlainsFcst"], evidence)[state]
    assert (after - matters.posterior) / step == pytest.approx(first.derivative, rel=1e-3)
