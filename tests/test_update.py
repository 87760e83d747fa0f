"""Networks that take more rows: counts kept, bit for bit."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import numpy as np
import pytest

import twbn
from test_inference import random_network
from twbn.cli import run as run_command
from twbn.errors import DataError, FileFormatError, OptionError

if TYPE_CHECKING:
    from pathlib import Path


def chunks_of(table: twbn.Table, n: int) -> list[twbn.Table]:
    return [table.take(rows) for rows in np.array_split(np.arange(table.n_rows), n)]


def tables_of(network: twbn.Network) -> list[bytes]:
    return [table.tobytes() for table in network.tables]


@pytest.mark.parametrize("seed", range(10))
@pytest.mark.parametrize("ess", [0.0, 1.0, 2.7])
def test_ten_chunks_give_the_bits_of_one_fit(seed: int, ess: float) -> None:
    true = random_network(seed)
    table = true.sample(500, seed=seed)
    whole = twbn.fit(true.dag, table, ess=ess)
    first, *rest = chunks_of(table, 10)
    network = twbn.fit(true.dag, first, ess=ess)
    for chunk in rest:
        network = network.update(chunk)
    assert tables_of(network) == tables_of(whole)
    assert network.counts is not None
    assert whole.counts is not None
    for ours, theirs in zip(network.counts.tables, whole.counts.tables, strict=True):
        assert ours.tobytes() == theirs.tobytes()


def test_older_rows_are_forgotten_by_their_factor() -> None:
    true = random_network(4)
    table = true.sample(300, seed=1)
    first, second, third = chunks_of(table, 3)
    network = (
        twbn.fit(true.dag, first, ess=1.5).update(second, forget=0.5).update(third, forget=0.25)
    )
    weights = np.concatenate([np.full(100, 0.125), np.full(100, 0.25), np.ones(100)])
    weighted = twbn.Table(table.names, table.codings, table.codes, weights)
    expected = twbn.fit(true.dag, weighted, ess=1.5)
    for ours, theirs in zip(network.tables, expected.tables, strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-13)
    last = twbn.fit(true.dag, third, ess=1.5)
    assert tables_of(network.update(third, forget=0.0)) == tables_of(last)


def test_counts_go_through_files(tmp_path: Path) -> None:
    true = random_network(6)
    table = true.sample(200, seed=1)
    first, second = chunks_of(table, 2)
    path = tmp_path / "net.json"
    twbn.write_network(twbn.fit(true.dag, first), path)
    network = twbn.read_network(path).update(second)
    assert tables_of(network) == tables_of(twbn.fit(true.dag, table))
    document = json.loads(path.read_text())
    name = next(iter(document["counts"]["families"]))
    document["counts"]["families"][name][0] += 5.0
    path.write_text(json.dumps(document))
    with pytest.raises(FileFormatError, match=f"the counts of '{name}' do not lead to its table"):
        twbn.read_network(path)


def test_changed_networks_have_no_counts() -> None:
    true = random_network(6)
    network = twbn.fit(true.dag, true.sample(50, seed=1))
    name = network.names[0]
    assert network.intervene({name: network.states[0][0]}).counts is None
    assert true.counts is None
    with pytest.raises(DataError, match="has no counts to add to; fit it to complete rows"):
        true.update(true.sample(5, seed=0))


def test_bad_updates_are_named() -> None:
    rows = {"a": ["x", "y", "x", "y"], "b": ["x", "y", "y", "x"]}
    network = twbn.fit(twbn.Dag.from_arcs(2, [(0, 1)]), twbn.as_table(rows))
    for factor in (-0.1, 1.5, "half", True):
        with pytest.raises(OptionError, match="forget must be between 0 and 1"):
            network.update(rows, forget=factor)  # type: ignore[arg-type]
    with pytest.raises(DataError, match="'z'"):
        network.update({"a": ["z"], "b": ["x"]})
    with pytest.raises(DataError, match="missing"):
        network.update({"a": ["x", None], "b": ["x", "y"]})


def test_estimators_and_commands_take_more_rows(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    a = rng.integers(0, 3, 400)
    rows = np.column_stack([a, (a + rng.integers(0, 2, 400)) % 3, rng.integers(0, 2, 400)])
    model = twbn.TreewidthBN(treewidth=1, time_limit=2, random_state=0)
    model.partial_fit(rows[:200])
    arcs = model.network_.dag.arcs
    model.partial_fit(rows[200:])
    assert model.network_.dag.arcs == arcs
    assert model.network_.counts is not None
    assert sum(model.network_.counts.tables[0].ravel()) == 400
    data = [tmp_path / "a.csv", tmp_path / "b.csv"]
    for path, part in zip(data, (rows[:200], rows[200:]), strict=True):
        path.write_text("a,b,c\n" + "".join(f"s{x},s{y},s{z}\n" for x, y, z in part.tolist()))
    result, net, new = (str(tmp_path / name) for name in ("r.json", "n.json", "new.json"))
    assert run_command(["learn", str(data[0]), "-k", "1", "--time-limit", "1", "-o", result]) == 0
    assert run_command(["fit", result, "--data", str(data[0]), "-o", net]) == 0
    assert run_command(["update", net, "--data", str(data[1]), "-o", new]) == 0
    counts = twbn.read_network(new).counts
    assert counts is not None
    assert counts.tables[0].sum() == 400
