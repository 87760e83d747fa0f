"""Limits on the joint states of a bag: against every DAG, in every place that keeps them."""

from __future__ import annotations

import itertools
import json
import math
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from oracle import all_dags, random_graphs, random_table
from test_live_subsets import families_of
from twbn import (
    Graph,
    Inference,
    LazyScores,
    ScoreTable,
    Table,
    TreewidthBN,
    _core,
    compute_scores,
    fit,
    learn,
    read_jkl,
    write_jkl,
)
from twbn.cli import run as run_command
from twbn.errors import OptionError, VerificationError
from twbn.search import METHODS, polish, read_result, write_result
from twbn.search.certificate.checker import Limit, check_proof, is_wider
from twbn.search.exact.live_subsets import live_subsets

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from twbn import SearchResult

ABLE = sorted(name for name, method in METHODS.items() if method.limits_states)


def fits(graph: Graph, k: int, n_states: Sequence[int], most: int) -> bool:
    """Say by trying all orders whether a graph has a decomposition within the limits."""
    for order in itertools.permutations(range(graph.n_vertices)):
        near = {v: set(around) for v, around in enumerate(graph.neighbours)}
        for v in order:
            around = near.pop(v)
            states = math.prod(n_states[u] for u in around) * n_states[v]
            if len(around) > k or states > most:
                break
            for u in around:
                near[u] = (near[u] | around) - {u, v}
        else:
            return True
    return False


def optimum(scores: ScoreTable, k: int, n_states: Sequence[int], most: int) -> float:
    """Return the best score of any DAG within the limits."""
    local = [{parents: s for s, parents in scores.sets(v)} for v in range(scores.n_variables)]
    ranked = sorted(
        ((sum(local[v].get(p, -math.inf) for v, p in enumerate(dag)), dag) for dag in all_dags(5)),
        reverse=True,
    )
    for score, dag in ranked:
        edges = {
            (min(a, b), max(a, b))
            for v, parents in enumerate(dag)
            for a, b in itertools.combinations((v, *parents), 2)
        }
        if fits(Graph.from_edges(5, sorted(edges)), k, n_states, most):
            return float(score)
    return -math.inf


def check(result: SearchResult, most: int, n_states: Sequence[int]) -> None:
    """Check a result from the definitions."""
    result.decomposition.check(result.dag.moral_graph())
    largest = max(math.prod(n_states[v] for v in bag) for bag in result.decomposition.bags)
    assert largest == result.largest_bag_states
    assert largest <= most


@pytest.mark.parametrize("seed", range(3))
def test_exact_search_and_annealing_against_every_dag(seed: int) -> None:
    rng = np.random.default_rng(seed)
    table = random_table(rng, 5, 70, max_states=6)
    states = table.n_states.tolist()
    scores = compute_scores(table, max_parents=4, score="aic")
    ordered = sorted(states)
    limits = [ordered[-1] * ordered[-2], math.prod(ordered[-3:]), math.prod(ordered[:4])]
    for k, most in itertools.product((1, 2, 4), [max(m, ordered[-1]) for m in limits]):
        expected = optimum(scores, k, states, most)
        proved = live_subsets(scores, treewidth=k, max_states=most, certify=True)
        assert proved.score == pytest.approx(expected, abs=1e-6)
        assert proved.status == "optimal"
        assert proved.proof is not None
        assert check_proof(proved.proof, families_of(scores), n_states=states).problems == []
        found = learn(scores, treewidth=k, max_states=most, method="anneal", max_iterations=30_000)
        assert found.score == pytest.approx(expected, abs=1e-6)
        check(proved, most, states)
        check(found, most, states)


def test_on_demand_gives_the_same() -> None:
    table = random_table(np.random.default_rng(7), 6, 90, max_states=5)
    options: dict[str, Any] = {"treewidth": 2, "max_states": 40, "method": "anneal"}
    options |= {"max_iterations": 40_000}
    known = learn(compute_scores(table, max_parents=2), **options)
    lazy = learn(LazyScores(table, max_parents=2), **options)
    assert lazy.score == pytest.approx(known.score)
    check(lazy, 40, table.n_states.tolist())


@pytest.mark.parametrize("method", sorted(METHODS))
def test_every_method_keeps_the_limit_or_says_that_it_does_not(method: str) -> None:
    table = random_table(np.random.default_rng(3), 6, 60, max_states=5)
    options: dict[str, Any] = {"treewidth": 2, "max_states": 30, "time_limit": 0.5}
    if method in ABLE:
        check(learn(table, method=method, **options), 30, table.n_states.tolist())
        return
    with pytest.raises(OptionError, match=f"max_states is an option of anneal, .*{method}"):
        learn(table, method=method, **options)


def test_the_default_treewidth_is_what_the_states_imply() -> None:
    rng = np.random.default_rng(0)
    codes = rng.integers(0, 2, (200, 7))
    codes[:, 6] = codes[:, :5].sum(axis=1) % 2
    table = Table.from_codes(codes.astype(np.int32), n_states=[2] * 7)
    result = learn(table, max_states=64, score="loglik", time_limit=1)
    assert result.treewidth_limit == 5
    assert result.largest_bag_states == 64
    assert learn(table, time_limit=0.2).treewidth_limit == 4
    both = learn(table, treewidth=6, max_states=8, score="loglik", time_limit=1)
    assert (both.treewidth, both.treewidth_limit) == (2, 6)


def test_small_graphs_with_states() -> None:
    rng = np.random.default_rng(4)
    for graph in random_graphs(6, 60, seed=9):
        states = rng.integers(1, 6, 6).tolist()
        edges = [(u, v) for u in range(6) for v in graph.neighbours[u] if u < v]
        for k, most in ((5, 12), (5, 40), (2, 60), (3, 150)):
            if max(states) > most:
                continue
            expected = fits(graph, k, states, most)
            limit = _core.WidthLimit(k, float(most), states)
            assert (_core.small_elimination_order(edges, limit) is not None) == expected
            assert is_wider(edges, Limit(k, most, tuple(states))) == (not expected)


def test_a_certificate_with_another_limit_is_refused() -> None:
    table = random_table(np.random.default_rng(2), 6, 60, max_states=4)
    scores = compute_scores(table, max_parents=3, score="loglik")
    states = table.n_states.tolist()
    result = live_subsets(scores, treewidth=5, max_states=20, certify=True)
    proof = result.proof
    assert proof is not None
    assert proof.branches
    families = families_of(scores)
    assert check_proof(proof, families, n_states=states).problems == []
    assert check_proof(proof._replace(max_states=10_000), families, n_states=states).problems
    assert check_proof(proof, families).problems == [
        "the numbers of states of the variables are not known"
    ]


def test_bad_limits_are_told() -> None:
    table = random_table(np.random.default_rng(1), 5, 40, max_states=5)
    most = int(table.n_states.max())
    with pytest.raises(OptionError, match=f"must be at least {most}, as .* alone has"):
        learn(table, max_states=most - 1)
    with pytest.raises(OptionError, match="max_states must be a whole number"):
        learn(table, max_states=0)
    with pytest.raises(OptionError, match="polish does not keep a limit"):
        learn(table, max_states=20, polish=True, time_limit=1)
    result = learn(table, max_states=20, time_limit=0.2)
    with pytest.raises(OptionError, match="max_states cannot be kept while polishing"):
        polish(result, compute_scores(table))
    scores = compute_scores(table, max_parents=4, score="loglik")
    wide = learn(scores, treewidth=4, time_limit=0.5).dag
    with pytest.raises(OptionError, match=r"start may be too wide: .* joint states"):
        learn(scores, treewidth=4, max_states=20, start=wide, time_limit=1)


def test_required_arcs_that_no_bag_can_hold_are_told() -> None:
    table = Table.from_codes(
        np.random.default_rng(0).integers(0, 4, (50, 4)).astype(np.int32), n_states=[4] * 4
    )
    a, b, c, _ = table.names
    required = [(a, c), (b, c)]
    with pytest.raises(OptionError, match=f"max_states of 16 allows no parent set of '{c}'"):
        learn(table, treewidth=3, max_states=16, required=required, time_limit=1)
    kept = learn(table, max_states=64, required=required, time_limit=0.5)
    assert {a, b} <= set(kept.parents[c])


def test_score_files_need_numbers_of_states(tmp_path: Path) -> None:
    table = random_table(np.random.default_rng(5), 5, 80, max_states=4)
    path = tmp_path / "scores.jkl"
    write_jkl(compute_scores(table), path, names=True)
    with pytest.raises(OptionError, match="needs the number of states of every variable"):
        learn(read_jkl(path), max_states=12)
    by_name = dict(zip(table.names, table.n_states.tolist(), strict=True))
    for n_states in (by_name, list(by_name.values())):
        scores = read_jkl(path, n_states=n_states)
        check(learn(scores, max_states=12, time_limit=0.3), 12, list(by_name.values()))
    with pytest.raises(OptionError, match="n_states has 2 entries for 5 variables"):
        read_jkl(path, n_states=[2, 2])
    with pytest.raises(OptionError, match=f"no entry for '{table.names[0]}'"):
        read_jkl(path, n_states={"x": 2})


def test_the_command_line_keeps_files_true(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    table = random_table(np.random.default_rng(6), 6, 120, max_states=4)
    data, scores = tmp_path / "data.csv", tmp_path / "scores.jkl"
    rows = [",".join(table.names), *(",".join(f"s{c}" for c in row) for row in table.codes)]
    data.write_text("\n".join(rows) + "\n")
    net, out = tmp_path / "net.bif", tmp_path / "result.json"
    run_command(["learn", str(data), "--max-states", "24", "--time-limit", "1", "-o", str(out)])
    assert "joint states (limit 24)" in capsys.readouterr().out
    run_command(["verify", str(out), "--data", str(data)])
    assert "joint states" in capsys.readouterr().out
    run_command(["fit", str(out), "--data", str(data), "-o", str(net)])
    network = fit(read_result(out), data)
    assert max(math.prod(b) for b in bag_shapes(network)) <= 24

    run_command(["score", str(data), "-o", str(scores)])
    command = ["learn", str(scores), "--max-states", "24", "--time-limit", "1", "-o", str(out)]
    assert run_command(command) == 2
    assert "--states-from" in capsys.readouterr().err
    assert run_command([*command, "--states-from", str(net)]) == 0
    assert run_command(["verify", str(out), "--data", str(scores), "--states-from", str(net)]) == 0

    document = json.loads(out.read_text())
    document["max_states"] = document["largest_bag_states"] - 1
    out.write_text(json.dumps(document))
    capsys.readouterr()
    assert run_command(["verify", str(out), "--data", str(scores)]) == 1
    assert "joint states, the limit is" in capsys.readouterr().err
    with pytest.raises(VerificationError, match="joint states"):
        read_result(out)


def bag_shapes(network: Any) -> list[list[int]]:
    tree = Inference(network).tree
    return [[network.n_states[v] for v in bag] for bag in tree.bags]


def test_estimators_and_result_files(tmp_path: Path) -> None:
    rng = np.random.default_rng(8)
    rows = rng.integers(0, 5, (300, 6))
    rows[:, 5] = (rows[:, 0] + rows[:, 1]) % 5
    rows[:, 4] = (rows[:, 2] + rows[:, 3]) % 5
    model = TreewidthBN(max_states=30, random_state=0, max_iterations=20_000).fit(rows)
    assert (model.result_.largest_bag_states or 99) <= 30
    path = tmp_path / "result.json"
    write_result(model.result_, path)
    again = read_result(path)
    assert again.max_states == 30
    assert again.n_states == model.result_.n_states
    assert again.largest_bag_states == model.result_.largest_bag_states
