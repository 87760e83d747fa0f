"""Networks: parameters, rows, edits, files."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

import numpy as np
import pytest

from conftest import shared_path
from oracle import random_table
from test_inference import NETWORKS, random_network
from twbn import Table, as_table, learn
from twbn.errors import DataError, FileFormatError, GraphError, OptionError
from twbn.graphs import Dag
from twbn.inference import Inference
from twbn.network import Network, exchange, fit, read_network, write_network

if TYPE_CHECKING:
    from pathlib import Path

TINY = Network.from_tables(
    {"rain": ["no", "yes"], "sprinkler": ["off", "on"], "grass": ["dry", "damp", "wet"]},
    {"rain": [], "sprinkler": ["rain"], "grass": ["sprinkler", "rain"]},
    {
        "rain": [0.8, 0.2],
        "sprinkler": [[0.6, 0.4], [0.99, 0.01]],
        "grass": [[[0.9, 0.1, 0.0], [0.2, 0.3, 0.5]], [[0.1, 0.3, 0.6], [0.0, 0.1, 0.9]]],
    },
)
ENDINGS = (".json", ".json.gz", ".bif", ".bif.gz", ".xmlbif", ".uai", ".net")


# Parameters


def test_maximum_likelihood_is_the_share_of_the_rows() -> None:
    table = random_table(np.random.default_rng(1), 5, 300)
    dag = Dag.from_arcs(5, [(0, 2), (1, 2), (2, 3), (4, 3)])
    network = fit(dag, table, ess=0)
    for v in range(5):
        family = (*dag.parents[v], v)
        for cell in itertools.product(*(range(int(table.n_states[u])) for u in family)):
            given = np.all(table.codes[:, family[:-1]] == cell[:-1], axis=1)
            both = given & (table.codes[:, v] == cell[-1])
            share = both.sum() / given.sum() if given.sum() else 1 / table.n_states[v]
            assert network.tables[v][cell] == pytest.approx(share)


def test_smoothing_spreads_its_sample_size_over_the_table() -> None:
    table = as_table({"a": [0, 0, 1, 1, 1], "b": [0, 1, 1, 1, 1]})
    network = fit(Dag.from_arcs(2, [(0, 1)]), table, ess=2.0)
    assert network.table("a") == pytest.approx([3 / 7, 4 / 7])
    assert network.table("b") == pytest.approx(np.array([[0.5, 0.5], [0.5 / 4, 3.5 / 4]]))


def test_weighted_rows_count_by_their_weight() -> None:
    once = Table.from_codes([[0], [1]], weights=[3.0, 1.0])
    assert fit(Dag.empty(1), once, ess=0).table("x1") == pytest.approx([0.75, 0.25])


def test_bad_fits_are_refused() -> None:
    table = random_table(np.random.default_rng(1), 3, 20)
    with pytest.raises(DataError, match="the structure has 2 variables, the data 3 columns"):
        fit(Dag.empty(2), table)
    with pytest.raises(OptionError, match="ess must be 0"):
        fit(Dag.empty(3), table, ess=-1)
    with pytest.raises(OptionError, match="structure must be a Dag or have one, got str"):
        fit("x", table)
    codes = table.codes.copy()
    codes[0, 0] = -1
    with pytest.raises(DataError, match="missing"):
        fit(Dag.empty(3), Table(table.names, table.codings, codes))


def test_likelihood_and_samples_agree_with_the_tables() -> None:
    rows = TINY.sample(50_000, seed=1)
    assert np.array_equal(rows.codes, TINY.sample(50_000, seed=1).codes)
    shares = np.bincount(rows.codes[:, 2], minlength=3) / rows.n_rows
    assert shares == pytest.approx([0.5036, 0.2036, 0.2928], abs=0.01)
    r, s, g = rows.codes[0]
    expected = np.log(0.8 if r == 0 else 0.2) + np.log(TINY.table("sprinkler")[r, s])
    expected += np.log(TINY.tables[2][r, s, g])
    assert TINY.log_likelihood(rows)[0] == pytest.approx(expected)


# Edits


def test_an_arc_comes_and_goes_with_its_table() -> None:
    less = TINY.without_arc("rain", "grass")
    assert less.parents["grass"] == ["sprinkler"]
    assert less.table("grass")[0] == pytest.approx([0.55, 0.2, 0.25])
    more = less.with_arc("rain", "grass")
    assert more.table("grass")[0] == pytest.approx(more.table("grass")[1])
    with pytest.raises(GraphError, match=r"cycle: .*grass"):
        TINY.with_arc("grass", "rain")
    with pytest.raises(GraphError, match="is a parent of 'grass' already"):
        TINY.with_arc("rain", "grass")
    with pytest.raises(GraphError, match="'grass' is not a parent of 'rain'"):
        TINY.without_arc("grass", "rain")


def test_wrong_tables_are_named() -> None:
    states = {"a": ["x", "y"]}
    with pytest.raises(DataError, match="'a' must have rows of probabilities that sum to one"):
        Network.from_tables(states, {"a": []}, {"a": [0.5, 0.6]})
    with pytest.raises(DataError, match=r"'a' has shape \(3,\), expected \(2,\)"):
        Network.from_tables(states, {"a": []}, {"a": [0.5, 0.25, 0.25]})
    with pytest.raises(DataError, match="parents of 'a': unknown variable 'b'"):
        Network.from_tables(states, {"a": ["b"]}, {"a": [[0.5, 0.5]]})


# Files


@pytest.mark.parametrize("dialect", ["agrum", "pgmpy"])
def test_dialects_are_read_as_they_are_written(dialect: str, tmp_path: Path) -> None:
    for seed in range(10):
        network = random_network(seed)
        write_network(network, tmp_path / "x.uai", dialect=dialect)
        again = read_network(tmp_path / "x.uai", dialect=dialect)
        for a, b in zip(network.tables, again.tables, strict=True):
            assert np.array_equal(a, b)


@pytest.mark.parametrize("ending", ENDINGS)
def test_files_keep_every_bit(ending: str, tmp_path: Path) -> None:
    for number, network in enumerate([TINY, *(random_network(seed) for seed in range(20))]):
        file = tmp_path / f"{number}{ending}"
        write_network(network, file)
        again = read_network(file)
        assert again.dag == network.dag
        for a, b in zip(network.tables, again.tables, strict=True):
            assert np.array_equal(a, b)
        if ending != ".uai":
            assert again.equals(network)


@pytest.mark.filterwarnings("ignore:.*were made to sum to one", "ignore:BIF does not allow")
@pytest.mark.parametrize("name", NETWORKS)
def test_networks_of_the_repository_go_through_every_format(name: str, tmp_path: Path) -> None:
    network = read_network(shared_path(f"bif/{name}.bif"))
    for ending in (".bif", ".xmlbif", ".uai", ".json", ".net"):
        write_network(network, tmp_path / f"x{ending}")
        again = read_network(tmp_path / f"x{ending}")
        assert again.dag == network.dag
        for a, b in zip(network.tables, again.tables, strict=True):
            assert np.array_equal(a, b)
        if ending in {".json", ".xmlbif", ".net"}:
            assert again.equals(network)


@pytest.mark.parametrize(
    ("file", "options"),
    [
        ("tiny.bif", {}), ("tiny_table.bif", {}), ("tiny_default.bif", {}), ("tiny.bifxml", {}),
        ("tiny.net", {}), ("tiny.uai", {}), ("tiny_agrum.uai", {"dialect": "agrum"}),
        ("tiny_pgmpy.uai", {"dialect": "pgmpy"}),
    ],
)  # fmt: skip
@pytest.mark.filterwarnings("ignore:.*comments as aGrUM", "ignore:.*made to sum to one")
def test_examples_of_every_dialect_say_the_same(file: str, options: dict[str, str]) -> None:
    network = read_network(shared_path(f"formats/examples/{file}"), **options)
    found = Inference(network).marginals()
    answers = sorted(np.round(p.values, 6).tolist() for p in found.values())
    assert answers == [[0.5036, 0.2036, 0.2928], [0.678, 0.322], [0.8, 0.2]]


@pytest.mark.parametrize("ending", [".bif", ".xmlbif", ".json"])
def test_numbers_and_truth_values_stay_what_they_are(ending: str, tmp_path: Path) -> None:
    network = Network.from_tables(
        {"n": [0, 1, 2], "f": [0.5, 1.5], "b": [False, True], "t": ["0", "1"]},
        {name: [] for name in "nfbt"},
        {"n": [0.2, 0.3, 0.5], "f": [0.5, 0.5], "b": [0.1, 0.9], "t": [0.4, 0.6]},
    )
    write_network(network, tmp_path / f"x{ending}")
    again = read_network(tmp_path / f"x{ending}")
    assert again.states == network.states
    assert [type(s[0]) for s in again.states] == [int, float, bool, str]


def test_json_keeps_types_bins_and_the_proof(tmp_path: Path) -> None:
    rng = np.random.default_rng(4)
    table = as_table(
        {"x": rng.normal(size=200), "n": rng.integers(0, 3, 200), "b": [True, False] * 100}
    )
    result = learn(table, treewidth=1, max_iterations=100)
    network = fit(result, table)
    write_network(network, tmp_path / "n.json")
    again = read_network(tmp_path / "n.json")
    assert again.codings == network.codings
    assert again.states == network.states
    assert [type(s[0]) for s in again.states] == [type(s[0]) for s in network.states]
    assert again.decomposition == result.decomposition


@pytest.mark.parametrize("library", ["networkx", "pgmpy", "pyagrum"])
def test_networks_go_to_other_libraries_and_back(library: str) -> None:
    pytest.importorskip(library)
    there, back = getattr(exchange, f"to_{library}"), getattr(exchange, f"from_{library}")
    for network in (TINY, *(random_network(seed) for seed in range(6))):
        again = back(there(network))
        assert sorted(again.names) == sorted(network.names)
        ours = Inference(network).marginals()
        theirs = Inference(again).marginals()
        for name in network.names:
            assert theirs[name].values == pytest.approx(ours[name].values, abs=1e-9)


def test_graphviz_gets_every_arc() -> None:
    text = exchange.to_dot(TINY)
    assert '"rain" -> "grass";' in text
    assert text.count("->") == 3


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", [n for n in NETWORKS if n != "child"])  # its states begin with <
def test_pyagrum_reads_the_repository_from_our_files(name: str, tmp_path: Path) -> None:
    gum = pytest.importorskip("pyagrum", reason="pyAgrum is not installed")
    network = read_network(shared_path(f"bif/{name}.bif"))
    for ending, tolerance in ((".bif", 1e-6), (".bifxml", 1e-6)):  # it reads single precision
        file = tmp_path / f"x{ending}"
        write_network(network, file)
        theirs = exchange.from_pyagrum(gum.loadBN(str(file)))
        for v, variable in enumerate(network.names):
            order = [theirs.names.index(network.names[u]) for u in network.dag.parents[v]]
            table = theirs.table(variable)
            axes = np.argsort(np.argsort(order, kind="stable"), kind="stable").tolist()
            found = np.transpose(table, (*axes, len(axes)))
            assert found == pytest.approx(network.tables[v], abs=tolerance)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", ["asia", "cancer", "sachs", "child", "alarm"])
def test_pgmpy_reads_the_repository_from_our_files(name: str, tmp_path: Path) -> None:
    readers = pytest.importorskip("pgmpy.readwrite", reason="pgmpy is not installed")
    network = read_network(shared_path(f"bif/{name}.bif"))
    ours = Inference(network).marginals()
    for ending, reader in ((".bif", readers.BIFReader), (".xmlbif", readers.XMLBIFReader)):
        file = tmp_path / f"x{ending}"
        write_network(network, file)
        theirs = Inference(exchange.from_pgmpy(reader(str(file)).get_model())).marginals()
        for variable in network.names:
            assert theirs[variable].values == pytest.approx(ours[variable].values, abs=1e-9)


def test_other_libraries_read_what_we_write(tmp_path: Path) -> None:
    gum = pytest.importorskip("pyagrum", reason="pyAgrum is not installed")
    for ending in (".bif", ".bifxml"):
        write_network(TINY, tmp_path / f"t{ending}")
        theirs = gum.loadBN(str(tmp_path / f"t{ending}"))
        lazy = gum.LazyPropagation(theirs)
        lazy.makeInference()
        assert lazy.posterior("grass").toarray() == pytest.approx(
            [0.5036, 0.2036, 0.2928], abs=1e-6
        )


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "no variables"),
        ("hello", "line 1, column 1: expected network, variable or probability, got 'hello'"),
        ("network x {\n}\nvariable a {\n type discrete [ 3 ] { u, v };\n}",
         "'a' has 2 states, its type says 3"),
        ("variable a { type discrete [ 2 ] { u, v }; }", "variable 'a' has no probabilities"),
        ("variable a { type discrete [ 2 ] { u, v }; }\nprobability ( a ) { table 0.5, x ; }",
         "line 2, column 32: 'x' is not a number"),
        ("variable a { type discrete [ 2 ] { u, v }; }\nprobability ( a ) { table 0.5, 0.2 ; }",
         "the probabilities of 'a' sum to 0.7, not 1"),
        ("variable a { type discrete [ 2 ] { u, v }; }\nprobability ( a | b ) { table 1 ; }",
         "'b' is not declared as a variable"),
        ("variable a { type discrete [ 2 ] { u, v }; }\nprobability ( a ) { table 0.5, 0.5",
         "the file ends"),
        ("variable a { type discrete [ 1 ] { u }; }\nvariable b { type discrete [ 1 ] { u }; }\n"
         "probability ( a | b ) { (u) 1; }\nprobability ( b | a ) { (u) 1; }", "cycle: "),
    ],
)  # fmt: skip
def test_bif_errors_say_where(text: str, message: str, tmp_path: Path) -> None:
    file = tmp_path / "bad.bif"
    file.write_text(text)
    with pytest.raises(FileFormatError) as caught:
        read_network(file)
    assert message in str(caught.value)
    assert "bad.bif" in str(caught.value)


def test_other_bad_files_are_refused(tmp_path: Path) -> None:
    bomb = tmp_path / "bomb.xml"
    bomb.write_text('<!DOCTYPE B [<!ENTITY a "aaaa">]><BIF><NETWORK>&a;</NETWORK></BIF>')
    with pytest.raises(FileFormatError, match="declares the XML entity 'a'"):
        read_network(bomb)
    newer = tmp_path / "new.json"
    newer.write_text('{"format": "twbn-model", "version": 2}')
    with pytest.raises(FileFormatError, match="version 2 of the model format is not known"):
        read_network(newer)
    with pytest.raises(OptionError, match="unknown network format"):
        read_network(tmp_path / "x.doc")
    for ending in (".bif", ".json"):
        with pytest.raises(FileFormatError, match=rf"x\{ending}: no such file"):
            read_network(tmp_path / f"x{ending}")
    (tmp_path / "m.uai").write_text("MARKOV 1 2 1 1 0 2 0.5 0.5")
    with pytest.raises(FileFormatError, match="begins with BAYES, got 'MARKOV'"):
        read_network(tmp_path / "m.uai")


def test_rows_nearly_summing_to_one_are_mended_with_a_warning(tmp_path: Path) -> None:
    file = tmp_path / "near.bif"
    file.write_text(
        "variable a { type discrete [ 3 ] { u, v, w }; }\n"
        "probability ( a ) { table 0.333, 0.333, 0.333 ; }\n"
    )
    with pytest.warns(UserWarning, match="made to sum to one"):
        network = read_network(file)
    assert network.table("a").sum() == pytest.approx(1.0, abs=1e-12)
