"""Values at the edge: huge priors, single states, pickles, names that formats cannot hold."""

from __future__ import annotations

import copy
import json
import math
import pickle
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import pytest

import twbn
from twbn.deadline import Deadline
from twbn.errors import DataError, FileFormatError, MemoryLimitError, OptionError
from twbn.learning import fit_incomplete
from twbn.learning.em import expected_counts

if TYPE_CHECKING:
    from pathlib import Path

RAIN: Any = twbn.Network.from_tables(
    {"rain": ["no", "yes"], "grass": ["dry", "wet"]},
    {"rain": [], "grass": ["rain"]},
    {"rain": [0.8, 0.2], "grass": [[0.9, 0.1], [0.2, 0.8]]},
)


def engine() -> Any:
    return twbn.Inference(RAIN)


# BDeu with large equivalent sample sizes

COUNTS = np.array([[4.0, 3.0], [2.0, 1.0]])


def bdeu(counts: np.ndarray, ess: float) -> float:
    """Return the BDeu score of the columns given the rows, in rational steps of the gamma function.

    ln Γ(n + a) − ln Γ(a) is the sum of ln(a + i) for i < n: no cancellation, whatever a is.
    """
    rows, columns = counts.shape
    total = 0.0
    for row in counts:
        for count in row:
            alpha = ess / (rows * columns)
            total += math.fsum(math.log(alpha + i) for i in range(int(count)))
        total -= math.fsum(math.log(ess / rows + i) for i in range(int(row.sum())))
    return total


@pytest.mark.parametrize("ess", [1e-300, 1e-12, 0.5, 9.0, 50.0, 1e3, 1e6, 1e8, 1e12, 1e15, 1e300])
def test_bdeu_is_right_for_any_equivalent_sample_size(ess: float) -> None:
    cells = [(p, c) for p in (0, 1) for c in (0, 1) for _ in range(int(COUNTS[p, c]))]
    table = twbn.Table.from_codes(np.array(cells), names=["parent", "child"])
    scores = twbn.compute_scores(table, ess=ess, prune=False)
    assert scores.local(1, (0,)) == pytest.approx(bdeu(COUNTS, ess), rel=1e-11)
    alone = COUNTS.sum(axis=0, keepdims=True)
    assert scores.local(1, ()) == pytest.approx(bdeu(alone, ess), rel=1e-11)


def test_a_huge_sample_size_makes_every_row_equally_likely() -> None:
    table = twbn.Table.from_codes(np.array([[0, 1], [1, 0]] * 10))
    scores = twbn.compute_scores(table, ess=1e15)
    assert scores.local(0, ()) == pytest.approx(20 * math.log(0.5), rel=1e-12)


# Variables with one state


@pytest.fixture
def constant() -> twbn.Network:
    return twbn.Network.from_tables(
        {"a": ["only"], "b": ["x", "y"]},
        {"a": [], "b": ["a"]},
        {"a": [1.0], "b": [[0.25, 0.75]]},
    )


def test_one_state_is_enough_to_be_sampled_and_asked(constant: twbn.Network) -> None:
    asked = twbn.Inference(constant)
    rows = constant.sample(50, seed=1)
    assert rows.states[0] == ("only",)
    assert asked.score_samples(rows) == pytest.approx(constant.log_likelihood(rows))
    assert asked.predict_proba({"a": ["only", None]}, "b")[1].tolist() == [0.25, 0.75]
    assert asked.predict_proba({"b": ["x"]}, "a").tolist() == [[1.0]]
    assert asked.impute({"a": [None, "only"], "b": ["x", None]})["b"] == ["x", "y"]
    assert asked.complete({"b": ["x", None]}).n_missing.sum() == 0


# Pickles


def test_a_used_inference_can_be_pickled_and_copied() -> None:
    used = twbn.Inference(RAIN, max_entries=1000)
    used.predict_proba({"grass": ["wet"]}, "rain")
    used.marginals({"grass": "wet"})
    for again in (pickle.loads(pickle.dumps(used)), copy.deepcopy(used)):
        assert again.query(["rain"], {"grass": "wet"}).to_dict() == pytest.approx(
            used.query(["rain"], {"grass": "wet"}).to_dict()
        )
        assert again.tree.max_entries == 1000


def squared(table: twbn.Table, child: int, parents: tuple[int, ...]) -> float:
    return -float(table.n_rows + child + len(parents) ** 2)


@pytest.mark.parametrize("score", ["bdeu", squared])
def test_used_lazy_scores_can_be_pickled_and_copied(score: Any) -> None:
    rows = {"a": [0, 1, 0, 1], "b": [0, 1, 1, 0], "c": [1, 1, 0, 0]}
    scores = twbn.LazyScores(rows, score=score, forbidden=[("a", "b")])
    result = twbn.learn(scores, treewidth=1, max_iterations=50)
    for again in (pickle.loads(pickle.dumps(scores)), copy.deepcopy(scores)):
        assert again.total(result.dag) == scores.total(result.dag)
        assert again.local(1, [0]) == -math.inf
        assert again.fingerprint == scores.fingerprint


# Frames, and errors that are ours


def test_frames_are_taken_where_tables_are() -> None:
    frame = pd.DataFrame({"grass": ["wet", "dry"], "rain": ["yes", "no"]})
    asked = engine()
    assert RAIN.log_likelihood(frame) == pytest.approx(np.log([0.16, 0.72]))
    gaps = frame.assign(rain=[None, "no"])
    assert asked.complete(gaps).n_missing.sum() == 0
    found = expected_counts(asked.tree, gaps, Deadline())
    assert found is not None
    assert found[0][0].sum() == pytest.approx(2.0)


@pytest.mark.parametrize(
    ("ask", "error"),
    [
        (lambda: RAIN.sample(2.5), "n_rows must be a whole number, 1 or more, got 2.5"),
        (lambda: RAIN.sample("3"), "n_rows must be a whole number, 1 or more, got '3'"),
        (lambda: RAIN.sample(3, seed=0.5), "seed must be a whole number, 0 or more, got 0.5"),
        (
            lambda: engine().query(["grass"], likelihood={"rain": ["low", "high"]}),
            "the likelihood of 'rain' must be 2 numbers",
        ),
        (
            lambda: engine().query(["grass"], likelihood={"rain": [[1], [1, 2]]}),
            "the likelihood of 'rain' must be 2 numbers",
        ),
    ],
)  # fmt: skip
def test_options_of_the_wrong_kind_are_named(ask: Any, error: str) -> None:
    with pytest.raises(OptionError, match=error):
        ask()


def test_tables_that_would_not_fit_are_refused_before_they_are_made() -> None:
    codes = np.arange(1000)[:, None].repeat(8, axis=1)
    table = twbn.Table.from_codes(codes)
    dag = twbn.Dag.from_arcs(8, [(v, 7) for v in range(7)])
    with pytest.raises(MemoryLimitError, match="'x8' with 7 parents has 1e\\+24 of them"):
        twbn.fit(dag, table)


@pytest.mark.parametrize(
    "ask",
    [
        lambda: engine().marginals({"rain": ["yes"]}),
        lambda: engine().marginals({"rain": np.array([1, 2])}),
        lambda: engine().marginals({0: "yes"}),
        lambda: engine().query([0]),
        lambda: engine().query([["rain"]]),
        lambda: engine().predict_proba({"grass": ["wet"]}, None),
        lambda: engine().query(["grass"], likelihood={"rain": [10**400, 1]}),
        lambda: engine().query(["grass"], likelihood=[("rain", [1, 2])]),
        lambda: engine().complete({"grass": ["wet"]}, seed=1.5),
        lambda: engine().sample_given({}, seed="5"),
        lambda: twbn.fit(RAIN.dag, RAIN.sample(5), ess="1"),  # type: ignore[arg-type]
        lambda: twbn.compute_scores(RAIN.sample(5), memory_limit="x"),  # type: ignore[arg-type]
        lambda: twbn.Discretize(bins=2.5),  # type: ignore[arg-type]
        lambda: twbn.compute_scores(RAIN.sample(5), score=lambda *_: "x"),  # type: ignore[arg-type]
        lambda: fit_incomplete(RAIN.dag, RAIN.sample(5), start="x"),  # type: ignore[arg-type]
        lambda: engine().marginal_map([]),
        lambda: twbn.Network.from_tables({"a": [None, "y"]}, {"a": []}, {"a": [0.5, 0.5]}),  # type: ignore[list-item]
    ],
)  # fmt: skip
def test_whatever_is_wrong_the_error_is_ours(ask: Any) -> None:
    with pytest.raises(twbn.TwbnError):
        ask()


def test_a_masked_value_is_no_evidence() -> None:
    masked = engine().marginals({"rain": np.ma.masked})
    assert np.allclose(masked["grass"].values, engine().query(["grass"]).values)


# Starts of EM


def test_em_refuses_a_start_of_another_structure() -> None:
    rows = {"rain": ["no", "yes", None, "no"], "grass": ["dry", "wet", "wet", None]}
    with pytest.raises(OptionError, match="start has another structure: 'grass' has the parents"):
        fit_incomplete(twbn.Dag.empty(2), rows, start=RAIN)
    found = fit_incomplete(RAIN.dag, rows, start=RAIN, max_iterations=2)
    assert found.network.dag == RAIN.dag


# What formats can hold


def named(name: str, state: str = "x") -> twbn.Network:
    return twbn.Network.from_tables({name: [state, "y"]}, {name: []}, {name: [0.5, 0.5]})


@pytest.mark.parametrize("text", [" a", "a ", "a\x01b", "a\x0bb", "a\rb", "\ufffe", "\x00"])
@pytest.mark.parametrize("where", ["name", "state"])
def test_xmlbif_refuses_what_it_would_not_read_again(tmp_path: Path, text: str, where: str) -> None:
    network = named(text) if where == "name" else named("a", text)
    with pytest.raises(FileFormatError, match="an XMLBIF file cannot hold the"):
        twbn.write_network(network, tmp_path / "x.xmlbif")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("text", ["a b", "<&>", "é\u4e2d", "a\tb", "a\nb", "1=2", "x,y"])
@pytest.mark.parametrize("ending", ["xmlbif", "json"])
def test_other_texts_are_read_as_they_were(tmp_path: Path, text: str, ending: str) -> None:
    path = tmp_path / f"x.{ending}"
    for network in (named(text), named("a", text)):
        twbn.write_network(network, path)
        assert twbn.read_network(path).equals(network)


@pytest.mark.parametrize("name", ["a=b", "a,b", "x.1", "é"])
def test_hugin_holds_odd_names(tmp_path: Path, name: str) -> None:
    path = tmp_path / "x.net"
    network = named(name, "s t,=u")
    twbn.write_network(network, path)
    assert twbn.read_network(path).equals(network)


def test_hugin_files_of_others_are_read(tmp_path: Path) -> None:
    path = tmp_path / "x.net"
    path.write_text(
        "net { node_size = (80 40); }\n"
        'discrete node A { label = "a {b}"; position=(1 2); states = ( "no" "yes" ); }\n'
        "% node Z { states = (1 2); }\n"
        "node B\n{\n states=(low high);\n}\n"
        "potential ( A ) { data = ( 0.25, 0.75 ); }\n"
        "potential (B|A) { data = ((0.5 0.5)(0.1,0.9)); }\n",
        encoding="utf-8",
    )
    network = twbn.read_network(path)
    assert network.states == (("no", "yes"), ("low", "high"))
    assert network.table("B").tolist() == [[0.5, 0.5], [0.1, 0.9]]
    nodes = "node A { states = (x y) } node B { states = (u v); label = q }"
    tables = "potential (A) { data=0.25 0.75; } potential (B|A) { data = (.5 .5 .1 .9) }"
    path.write_text(f"class K {{ inputs = (); {nodes} {tables} }}\n", encoding="utf-8")
    assert twbn.read_network(path).tables[1].tolist() == [[0.5, 0.5], [0.1, 0.9]]
    path.write_text("continuous node A { }\n", encoding="utf-8")
    with pytest.raises(FileFormatError, match="line 1, column 1: a continuous node"):
        twbn.read_network(path)


@pytest.mark.parametrize("state", ["NaN", "Infinity"])
def test_states_that_json_cannot_write_are_not_read(tmp_path: Path, state: str) -> None:
    path = tmp_path / "x.json"
    twbn.write_network(named("a"), path)
    path.write_text(path.read_text(encoding="utf-8").replace('"x"', state), encoding="utf-8")
    with pytest.raises(FileFormatError, match="must be finite"):
        twbn.read_network(path)
    with pytest.raises(DataError, match="must be finite numbers or texts"):
        twbn.Network.from_tables({"a": [float("nan"), 1.0]}, {"a": []}, {"a": [0.5, 0.5]})


@pytest.mark.parametrize("ending", ["bif", "json", "xmlbif", "uai", "net"])
def test_rows_that_are_a_little_off_are_made_to_sum_to_one(tmp_path: Path, ending: str) -> None:
    path = tmp_path / f"x.{ending}"
    twbn.write_network(twbn.Network.from_tables(
        {"a": ["x", "y"]}, {"a": []}, {"a": [0.25, 0.75]}
    ), path)  # fmt: skip
    text = path.read_text(encoding="utf-8")
    path.write_text(text.replace("0.75", "0.7500000005"), encoding="utf-8")
    table = twbn.read_network(path).tables[0]
    assert table.sum() == 1.0
    assert table[0] == 0.25 / 1.0000000005


def test_rows_that_sum_to_one_but_for_rounding_keep_their_bits(tmp_path: Path) -> None:
    tables = np.random.default_rng(0).dirichlet(np.ones(7), size=200)
    network = twbn.Network.from_tables(
        {"a": list(range(200)), "b": list(range(7))},
        {"a": [], "b": ["a"]},
        {"a": np.full(200, 1 / 200), "b": tables},
    )
    assert np.array_equal(network.table("b"), tables)
    for ending in ("bif", "json", "uai"):
        path = tmp_path / f"x.{ending}"
        twbn.write_network(network, path)
        assert np.array_equal(twbn.read_network(path).tables[1], tables)


@pytest.mark.parametrize("number", ["0_5", "٠.5", "nan", "0x1"])
@pytest.mark.parametrize("ending", ["bif", "xmlbif", "uai", "net"])
def test_numbers_of_files_are_numbers(tmp_path: Path, number: str, ending: str) -> None:
    path = tmp_path / f"x.{ending}"
    twbn.write_network(named("a"), path)
    text = path.read_text(encoding="utf-8")
    path.write_text(text.replace("0.5", number, 1), encoding="utf-8")
    with pytest.raises(FileFormatError, match=r"number|probability"):
        twbn.read_network(path)


def test_a_result_keeps_its_attributes_in_a_file(tmp_path: Path) -> None:
    rows = {"a": [0, 0, 1, 1] * 5, "b": [0, 1, 0, 1] * 5, "c": [0, 0, 1, 1] * 5}
    result = twbn.learn(rows, treewidth=1)
    path = tmp_path / "result.json"
    twbn.write_result(result, path)
    claimed = twbn.read_result(path)
    table = twbn.as_table(rows)
    assert twbn.fit(claimed, table).equals(twbn.fit(result, table))
    document = json.loads(path.read_text(encoding="utf-8"))
    document["parents"]["a"] = ["b"]
    document["parents"]["b"] = ["a"]
    path.write_text(json.dumps(document), encoding="utf-8")
    with pytest.raises(ValueError, match="cycle"):
        twbn.fit(twbn.read_result(path), table)
