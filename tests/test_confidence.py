"""Confidence in arcs: frequencies by definition, the consensus, limits, and the command."""

from __future__ import annotations

import itertools
import json
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import twbn
from conftest import shared_path
from oracle import random_table
from twbn.cli import run
from twbn.errors import DataError, OptionError

if TYPE_CHECKING:
    from pathlib import Path

    from twbn.learning.arc_confidence import Confidence

TABLE = random_table(np.random.default_rng(0), 6, 300)


def some_confidence(**options: Any) -> Confidence:
    given: dict[str, Any] = {"treewidth": 2, "n": 12, "max_iterations": 500, **options}
    return twbn.confidence(TABLE, **given)


def test_frequencies_are_those_of_the_structures() -> None:
    found = some_confidence()
    assert found.n == found.n_asked == 12
    names = found.names
    for (u, v), (a, b) in zip(
        itertools.permutations(range(6), 2), itertools.permutations(names, 2), strict=True
    ):
        arcs = sum((u, v) in dag.arcs for dag in found.structures)
        joined = sum((u, v) in dag.arcs or (v, u) in dag.arcs for dag in found.structures)
        classes = [dag.cpdag() for dag in found.structures]
        compelled = sum((u, v) in one.directed for one in classes)
        free = sum((min(u, v), max(u, v)) in one.undirected for one in classes)
        assert found.arcs.get((a, b), 0) == arcs / 12
        assert found.of(a, b) == joined / 12
        assert found.compelled.get((a, b), 0) == compelled / 12
        pair = (a, b) if u < v else (b, a)
        assert found.reversible.get(pair, 0) == free / 12
    frame = found.to_frame("polars")
    assert frame.columns == ["parent", "child", "arc", "compelled", "reversible", "adjacent"]
    assert len(frame) == len(found.arcs)
    assert frame["adjacent"].to_list() == sorted(frame["adjacent"], reverse=True)


def test_resamples_are_those_of_a_learner_on_drawn_rows() -> None:
    found = some_confidence(seed=3)
    for number, dag in enumerate(found.structures):
        rng = np.random.default_rng([3, number])
        weights = rng.multinomial(300, np.full(300, 1 / 300)).astype(float)
        table = twbn.Table(TABLE.names, TABLE.codings, TABLE.codes, weights)
        seed = int(rng.integers(2**31))
        wanted = twbn.learn(table, treewidth=2, method="anneal", max_iterations=500, seed=seed)
        assert dag == wanted.dag


def test_one_seed_gives_one_answer_for_any_number_of_workers() -> None:
    one, two = some_confidence(seed=5), some_confidence(seed=5, n_jobs=2)
    assert one.structures == two.structures
    assert one.structures != some_confidence(seed=6).structures


def test_a_time_limit_is_kept_and_tells_what_it_left_out() -> None:
    found = twbn.confidence(TABLE, n=100_000, time_limit=0.5, n_jobs=2)
    assert 0 < found.n < 100_000
    assert "of 100000 resamples" in repr(found)


def test_structures_keep_limits_and_rules() -> None:
    a, b, c = TABLE.names[:3]
    found = some_confidence(treewidth=1, required=[(a, b)], forbidden=[(b, c)], max_states=20)
    assert found.arcs[a, b] == 1
    assert (b, c) not in found.arcs
    assert all(twbn.treewidth(dag.moral_graph()).upper <= 1 for dag in found.structures)
    agreed = found.consensus(time_limit=2)
    assert agreed.treewidth <= 1
    assert 0 in agreed.dag.parents[1]
    assert agreed.max_states == 20


def test_the_consensus_is_the_structure_of_most_agreement() -> None:
    found = some_confidence(treewidth=3, n=9)
    agreed = found.consensus(0.5, time_limit=5)
    assert agreed.status == "optimal"

    def agreement(dag: twbn.Dag) -> float:
        total = 0.0
        for u, v in dag.arcs:
            a, b = found.names[u], found.names[v]
            ahead = found.compelled.get((a, b), 0.0) - found.compelled.get((b, a), 0.0)
            total += found.of(a, b) - 0.5 + 0.5 * ahead
        return total

    assert agreed.score == pytest.approx(agreement(agreed.dag))
    for dag in found.structures:
        assert agreement(dag) <= agreed.score + 1e-9
    network = twbn.fit(agreed, TABLE)
    assert twbn.Inference(network).marginals()


def test_rows_with_weights_are_drawn_by_weight() -> None:
    weights = np.zeros(300)
    weights[:40] = 7.0
    heavy = twbn.Table(TABLE.names, TABLE.codings, TABLE.codes, weights)
    found = twbn.confidence(heavy, treewidth=2, n=8, max_iterations=300)
    few = twbn.Table(TABLE.names, TABLE.codings, TABLE.codes[:40])
    assert found.n == 8
    assert twbn.confidence(few, treewidth=2, n=8, max_iterations=300).n == 8


def test_missing_cells_are_drawn_along_with_their_rows() -> None:
    codes = TABLE.codes.copy()
    codes[::9, 2] = -1
    holey = twbn.Table(TABLE.names, TABLE.codings, codes)
    assert twbn.confidence(holey, treewidth=2, n=3, max_iterations=300).n == 3


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"n": 0}, "n must be"),
        ({"treewidth": 0}, "treewidth must be"),
        ({"required": [("x1", "x9")]}, "unknown variable 'x9'"),
    ],
)
def test_bad_options_are_named(options: dict[str, Any], words: str) -> None:
    with pytest.raises(OptionError, match=words):
        some_confidence(**options)


def test_bad_questions_are_named() -> None:
    found = some_confidence(n=2)
    with pytest.raises(OptionError, match="threshold must be at least 0 and less than 1, got 1"):
        found.consensus(1)
    with pytest.raises(DataError, match="unknown variable 'x9'"):
        found.of("x1", "x9")


def test_the_command_writes_frequencies_and_the_consensus(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    data, out, agreed = tmp_path / "data.csv", tmp_path / "arcs.csv", tmp_path / "agreed.json"
    rows = [
        ",".join(TABLE.names),
        *(",".join(f"s{c}" for c in row) for row in TABLE.codes.tolist()),
    ]
    data.write_text("\n".join(rows))
    command = ["confidence", str(data), "-k", "2", "-n", "6", "--max-iterations", "300"]
    assert run([*command, "-o", str(out), "--consensus", str(agreed)]) == 0
    told = capsys.readouterr().out
    assert told.startswith("6 resamples, in")
    assert "consensus: " in told
    lines = out.read_text().splitlines()
    assert lines[0] == "parent,child,arc,compelled,reversible,adjacent"
    assert len(lines) > 3
    assert twbn.read_result(agreed).treewidth <= 2
    assert run([*command, "--json"]) == 0
    content = json.loads(capsys.readouterr().out)
    assert content["n"] == 6
    assert [arc["parent"] for arc in content["arcs"]] == [line.split(",")[0] for line in lines[1:]]
    assert run([*command, "--consensus", str(agreed), "--threshold", "2"]) == 2


def test_certain_arcs_are_in_the_network_that_rows_came_from() -> None:
    with pytest.warns(UserWarning, match="made to sum to one"):
        alarm = twbn.read_network(shared_path("bif/alarm.bif"))
    found = twbn.confidence(alarm.sample(3000, seed=1), n=8, time_limit=8, n_jobs=2, max_parents=3)
    joined = {frozenset((alarm.names[u], alarm.names[v])) for u, v in alarm.dag.arcs}
    sure = [frozenset(arc) for arc, share in found.arcs.items() if share >= 0.8]
    assert len(sure) > 20
    assert np.mean([arc in joined for arc in sure]) >= 0.75


def test_resamples_and_their_consensus_keep_rules_on_pairs() -> None:
    a, b, c = TABLE.names[:3]
    rules: dict[str, Any] = {"adjacent": [(a, b)], "ancestors": [(a, c)]}
    found = some_confidence(**rules)
    for dag in found.structures:
        assert 0 in dag.parents[1] or 1 in dag.parents[0]
    agreed = found.consensus(0.9, time_limit=5)
    assert 0 in agreed.dag.parents[1] or 1 in agreed.dag.parents[0]


def test_a_consensus_of_wide_structures_stays_small() -> None:
    table = random_table(np.random.default_rng(1), 25, 60)
    found = twbn.confidence(table, treewidth=8, n=6, max_iterations=3000)
    agreed = found.consensus(0.0, time_limit=2)
    assert agreed.treewidth <= 8


def test_ctrl_c_keeps_what_is_done(monkeypatch: pytest.MonkeyPatch) -> None:
    done = []

    def learned_once(*args: Any, **options: Any) -> Any:
        done.append(1)
        if len(done) == 4:  # pressed while a resample is scored
            monkeypatch.setattr("twbn.interrupts.pending", lambda: True)
            raise KeyboardInterrupt
        return twbn.learn(*args, **options)

    monkeypatch.setattr("twbn.learning.bootstrap.learn", learned_once)
    found = some_confidence(n=50)
    assert found.n == 3
    assert found.interrupted


def test_the_command_refuses_before_it_begins(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    data = tmp_path / "data.csv"
    data.write_text("a,b\n" + "0,1\n1,0\n" * 20)
    command = ["confidence", str(data), "-k", "1", "-n", "3", "--max-iterations", "10"]
    for more, words in (
        (["--consensus", "x.bif"], "a structure is written as JSON"),
        (["--threshold", "0.4"], "--threshold is for the consensus"),
        (["--threshold", "2", "--consensus", "x.json"], "must be at least 0 and less than 1"),
        (["--report", "x.json"], "pages are written as HTML"),
    ):
        assert run([*command, *more]) == 2
        assert words in " ".join(capsys.readouterr().err.split())
    page = tmp_path / "page.html"
    assert run([*command, "--required", "a->b", "--report", str(page)]) == 0
    assert "a -> b" in capsys.readouterr().out
    assert "wider arcs" in page.read_text(encoding="utf-8")
