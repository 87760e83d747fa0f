"""Mixtures: queries against the explicit joint, EM's objective, files, limits, the command."""

from __future__ import annotations

import itertools
import json
import math
import pickle
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import twbn
from twbn.errors import DataError, FileFormatError, GraphError, OptionError
from twbn.learning.mixture.gamma import digamma, log_gamma

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray


def random_network(rng: np.random.Generator, cards: list[int]) -> twbn.Network:
    """Return a network of random arcs, some of whose tables have zeros."""
    names = [f"v{i}" for i in range(len(cards))]
    order = rng.permutation(len(cards)).tolist()
    parents = {
        names[v]: sorted(names[u] for u in order[:i] if rng.random() < 0.5)[:3]
        for i, v in enumerate(order)
    }
    tables = {}
    for v, name in enumerate(names):
        shape = [cards[int(p[1:])] for p in parents[name]]
        table = rng.dirichlet(np.ones(cards[v]), shape)
        if rng.random() < 0.3:
            table = np.where(rng.random(table.shape) < 0.3, 0.0, table)
            table[..., 0] += 1e-3
            table /= table.sum(axis=-1, keepdims=True)
        tables[name] = table
    states = {name: [f"s{c}" for c in range(n)] for name, n in zip(names, cards, strict=True)}
    return twbn.Network.from_tables(states, parents, tables)


def random_mixture(rng: np.random.Generator) -> tuple[twbn.Mixture, NDArray[np.float64]]:
    """Return a mixture of up to six variables, and its joint distribution."""
    cards = rng.integers(2, 4, int(rng.integers(2, 7))).tolist()
    weights = np.maximum(rng.dirichlet(np.ones(int(rng.integers(1, 5)))), 1e-3)
    networks = [random_network(rng, cards) for _ in weights]
    mixture = twbn.Mixture(weights / weights.sum(), networks)
    cells = np.array(list(itertools.product(*map(range, cards))), dtype=np.int32)
    rows = twbn.Table(mixture.names, mixture.codings, cells)
    joint = sum(
        weight * np.exp(network.log_likelihood(rows))
        for weight, network in zip(mixture.weights, mixture.networks, strict=True)
    )
    return mixture, np.asarray(joint).reshape(cards)


def random_evidence(rng: np.random.Generator, joint: NDArray[np.float64]) -> dict[str, str]:
    return {
        f"v{i}": f"s{rng.integers(n)}" for i, n in enumerate(joint.shape) if rng.random() < 0.35
    }


def given(joint: NDArray[np.float64], evidence: dict[str, str]) -> NDArray[np.float64]:
    """Return the joint with all entries that contradict evidence set to zero."""
    kept = joint.copy()
    for name, state in evidence.items():
        axis, code = int(name[1:]), int(state[1:])
        kept[tuple(slice(None) if a != axis else np.arange(n) != code
                   for a, n in enumerate(joint.shape))] = 0.0  # fmt: skip
    return kept


@pytest.mark.parametrize("part", range(4))
def test_queries_are_those_of_the_explicit_joint(part: int) -> None:
    for seed in range(25 * part, 25 * part + 25):
        rng = np.random.default_rng(seed)
        mixture, joint = random_mixture(rng)
        engine = twbn.MixtureInference(mixture)
        evidence = random_evidence(rng, joint)
        kept = given(joint, evidence)
        total = kept.sum()
        if total == 0:
            with pytest.raises(DataError, match="the evidence has probability zero"):
                engine.marginals(evidence)
            continue
        assert math.exp(engine.log_evidence(evidence)) == pytest.approx(total, abs=1e-12)
        axes = range(joint.ndim)
        marginals = engine.marginals(evidence)
        for i in axes:
            wanted = kept.sum(axis=tuple(a for a in axes if a != i)) / total
            assert marginals[f"v{i}"].values == pytest.approx(wanted, abs=1e-12)
        pair = rng.choice(joint.ndim, 2, replace=False).tolist()
        found = engine.query([f"v{i}" for i in pair], evidence).values
        wanted = np.moveaxis(kept, pair, (0, 1)).sum(axis=tuple(range(2, joint.ndim))) / total
        assert found == pytest.approx(wanted, abs=1e-12)
        best = engine.explanation(evidence)
        assert best.exact
        assert math.exp(best.log_probability) == pytest.approx(kept.max(), abs=1e-12)
        codes = tuple(int(str(best.states[f"v{i}"])[1:]) for i in axes)
        assert kept[codes] == pytest.approx(kept.max(), abs=1e-12)
        shares = engine.components(evidence)
        parts = [
            weight * math.exp(twbn.Inference(network).log_evidence(evidence))
            for weight, network in zip(mixture.weights, mixture.networks, strict=True)
        ]
        assert shares == pytest.approx(np.array(parts) / sum(parts), abs=1e-12)


def test_rows_with_gaps_are_those_of_the_explicit_joint() -> None:
    for seed in range(40):
        rng = np.random.default_rng(1000 + seed)
        mixture, joint = random_mixture(rng)
        engine = twbn.MixtureInference(mixture)
        rows = mixture.sample(12, seed=seed)
        codes = np.where(rng.random(rows.codes.shape) < 0.4, -1, rows.codes).astype(np.int32)
        gaps = twbn.Table(rows.names, rows.codings, codes)
        target = int(rng.integers(joint.ndim))
        posteriors = engine.predict_proba(gaps, f"v{target}")
        likelihoods = engine.score_samples(gaps)
        filled = engine.complete(gaps, seed=seed).codes
        imputed = engine.impute(gaps).codes
        shares = engine.responsibilities(gaps)
        assert shares.sum(axis=1) == pytest.approx(np.ones(12))
        for i, row in enumerate(codes):
            evidence = {f"v{v}": f"s{c}" for v, c in enumerate(row) if c >= 0}
            kept = given(joint, evidence)
            assert math.exp(likelihoods[i]) == pytest.approx(kept.sum(), abs=1e-12)
            evidence.pop(f"v{target}", None)
            free = given(joint, evidence)
            others = tuple(a for a in range(joint.ndim) if a != target)
            assert posteriors[i] == pytest.approx(free.sum(axis=others) / free.sum(), abs=1e-12)
            for row_filled in (filled[i], imputed[i]):
                assert (row_filled[row >= 0] == row[row >= 0]).all()
                assert kept[tuple(row_filled)] > 0


def test_interventions_are_made_in_every_component() -> None:
    rng = np.random.default_rng(5)
    mixture, _ = random_mixture(rng)
    engine = twbn.MixtureInference(mixture)
    done = engine.query(["v1"], do={"v0": "s1"}).values
    wanted = sum(
        weight * twbn.Inference(network).query(["v1"], do={"v0": "s1"}).values
        for weight, network in zip(mixture.weights, mixture.networks, strict=True)
    )
    assert done == pytest.approx(np.asarray(wanted), abs=1e-12)
    after = twbn.MixtureInference(mixture.intervene({"v0": "s1"}))
    assert after.query(["v1"]).values == pytest.approx(done, abs=1e-12)
    with pytest.raises(DataError, match="is set to 's1' but observed as 's0'"):
        engine.query(["v1"], {"v0": "s0"}, do={"v0": "s1"})


def test_one_network_with_a_hidden_root_is_the_same_distribution(tmp_path: Path) -> None:
    n_held = 0
    for seed in range(30):
        rng = np.random.default_rng(seed)
        mixture, joint = random_mixture(rng)
        unions = {arc for network in mixture.networks for arc in network.dag.arcs}
        try:
            twbn.Dag.from_arcs(mixture.n_variables, unions)
        except GraphError:
            with pytest.raises(OptionError, match="arcs in opposite directions"):
                mixture.as_network("z")
            continue
        n_held += 1
        network = mixture.as_network("z")
        engine = twbn.Inference(network)
        assert engine.query(["v1", "v0"]).values == pytest.approx(
            joint.sum(axis=tuple(range(2, joint.ndim))).T, abs=1e-12
        )
        assert engine.query(["z"]).values == pytest.approx(mixture.weights)
        twbn.write_mixture(mixture, tmp_path / "m.xmlbif", component="z")
        again = twbn.read_network(tmp_path / "m.xmlbif")
        assert again.names[0] == "z"
    assert n_held > 5


def test_files_keep_everything(tmp_path: Path) -> None:
    mixture, _ = random_mixture(np.random.default_rng(3))
    path = tmp_path / "m.json.gz"
    twbn.write_mixture(mixture, path)
    again = twbn.read_mixture(path)
    assert again.equals(mixture)
    assert pickle.loads(pickle.dumps(again)).equals(mixture)
    rows = mixture.sample(5, seed=1)
    one, two = (twbn.MixtureInference(m).score_samples(rows) for m in (mixture, again))
    assert one.tolist() == two.tolist()


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"format": "twbn-model"}, "one network, not a mixture"),
        ({"format": "x"}, "not a mixture of twbn"),
        ({"version": 9}, "version 9 of the mixture format"),
        ({"components": 3}, "'components' must be a list"),
        ({"components": []}, "non-empty sequence of Network"),
        ({"weights": [0.5, 0.6]}, "must sum to one"),
        ({"weights": [1.5, -0.5]}, "must be positive"),
        ({"weights": [1.0]}, "needs as many weights"),
        ({"weights": "x"}, "must be numbers"),
        ({"weights": None}, "weights"),
        ({"weights": [10**400, 1]}, "must be numbers"),
    ],
)
def test_files_that_are_wrong_are_refused(
    tmp_path: Path, change: dict[str, Any], words: str
) -> None:
    rng = np.random.default_rng(3)
    networks = [random_network(rng, [2, 3]) for _ in range(2)]
    path = tmp_path / "m.json"
    twbn.write_mixture(twbn.Mixture([0.4, 0.6], networks), path)
    path.write_text(json.dumps({**json.loads(path.read_text()), **change}))
    with pytest.raises(FileFormatError, match=words):
        twbn.read_mixture(path)


def test_what_is_no_mixture_is_refused() -> None:
    rng = np.random.default_rng(0)
    one, other = random_network(rng, [2, 2]), random_network(rng, [2, 3])
    for weights, networks, words in (
        ([0.5, 0.5], [one, other], "the same variables and states"),
        ([], [], "non-empty sequence of Network"),
        ([1.0], [one, one], "needs as many weights"),
        ([np.nan, 1.0], [one, one], "must be positive"),
        ([0.2, 0.2], [one, one], "must sum to one"),
    ):
        with pytest.raises(DataError, match=words):
            twbn.Mixture(weights, networks)
    with pytest.raises(OptionError, match="there is a variable called 'v0' already"):
        twbn.Mixture([1.0], [one]).as_network("v0")


def test_gamma_functions_agree_with_the_standard_library() -> None:
    x = 10.0 ** np.linspace(-9, 9, 500)
    wanted = np.array([math.lgamma(value) for value in x])
    assert log_gamma(x) == pytest.approx(wanted, rel=1e-12, abs=1e-12)
    special = pytest.importorskip("scipy.special")
    assert digamma(x) == pytest.approx(special.digamma(x), rel=1e-12, abs=1e-12)


def two_kinds(n: int, seed: int, n_variables: int = 6) -> tuple[twbn.Table, NDArray[np.int64]]:
    """Return rows of two kinds, and which kind each is."""
    rng = np.random.default_rng(seed)
    kind = rng.integers(0, 2, n)
    p = np.where(kind[:, None] == 1, 0.85, 0.2)
    codes = (rng.random((n, n_variables)) < p).astype(np.int32)
    names = [f"x{i}" for i in range(n_variables)]
    return twbn.Table.from_codes(codes, names=names), kind


def test_the_objective_never_falls() -> None:
    for seed in range(50):
        rng = np.random.default_rng(seed)
        n_variables = int(rng.integers(2, 7))
        codes = rng.integers(0, rng.integers(2, 4), (int(rng.integers(8, 80)), n_variables))
        codes[: len(codes) // 2, 0] = codes[: len(codes) // 2, 1]
        table = twbn.Table.from_codes(codes.astype(np.int32))
        found = twbn.learn_mixture(
            table, n_components=int(rng.integers(1, 5)), treewidth=1, max_iterations=50,
            max_rounds=4, seed=seed, ess=float(rng.choice([0.5, 2.0, 10.0])),
        )  # fmt: skip
        values = [point.objective for point in found.trace]
        for before, after in itertools.pairwise(values):
            assert after >= before - 1e-9 * abs(before), (seed, values)
        assert found.objective == pytest.approx(max(values))


def test_two_kinds_of_rows_are_told_apart() -> None:
    table, kind = two_kinds(600, 1)
    found = twbn.learn_mixture(table, n_components=2, treewidth=1, max_iterations=300, seed=1)
    shares = twbn.MixtureInference(found.mixture).responsibilities(table)
    right = np.mean((shares[:, 0] > 0.5) == (kind == 1))
    assert max(right, 1 - right) > 0.93
    assert all(network.decomposition is not None for network in found.mixture.networks)
    assert found.mixture.treewidth is not None
    assert found.mixture.treewidth <= 1


def test_the_number_of_components_is_found() -> None:
    table, _ = two_kinds(800, 2, 8)
    found = twbn.learn_mixture(table, treewidth=1, max_iterations=300, max_rounds=30, seed=0)
    assert found.mixture.n_components == 2
    alike = twbn.Table.from_codes(
        np.random.default_rng(0).integers(0, 2, (400, 5)).astype(np.int32)
    )
    one = twbn.learn_mixture(alike, treewidth=1, max_iterations=300, max_rounds=30, seed=0)
    assert one.mixture.n_components == 1


def test_one_seed_gives_one_mixture_for_any_number_of_workers() -> None:
    table, _ = two_kinds(200, 3)
    options: dict[str, Any] = {"n_components": 3, "treewidth": 2, "max_iterations": 200, "seed": 4}
    one = twbn.learn_mixture(table, n_jobs=1, **options)
    two = twbn.learn_mixture(table, n_jobs=2, **options)
    assert one.mixture.equals(two.mixture)
    assert [p.objective for p in one.trace] == [p.objective for p in two.trace]


def test_rows_that_are_held_out_choose_and_end_the_run() -> None:
    table, _ = two_kinds(900, 5)
    train, held_out = table.take(np.arange(600)), table.take(np.arange(600, 900))
    found = twbn.learn_mixture(
        train, n_components=3, treewidth=1, max_iterations=200, held_out=held_out, seed=2
    )
    assert found.held_out is not None
    mean = float(found.mixture.log_likelihood(held_out).mean())
    assert found.held_out == pytest.approx(mean)
    single = twbn.fit(twbn.learn(train, treewidth=1, max_iterations=2000), train)
    assert mean > float(single.log_likelihood(held_out).mean())
    with pytest.raises(OptionError, match="held_out must have the columns"):
        twbn.learn_mixture(
            train, n_components=1, max_iterations=10, held_out=held_out.select(["x1", "x2"])
        )


def test_missing_cells_are_summed_out() -> None:
    table, kind = two_kinds(500, 6)
    rng = np.random.default_rng(0)
    codes = np.where(rng.random(table.codes.shape) < 0.2, -1, table.codes).astype(np.int32)
    gaps = twbn.Table(table.names, table.codings, codes)
    found = twbn.learn_mixture(gaps, n_components=2, treewidth=1, max_iterations=200, seed=1)
    shares = twbn.MixtureInference(found.mixture).responsibilities(gaps)
    right = np.mean((shares[:, 0] > 0.5) == (kind == 1))
    assert max(right, 1 - right) > 0.85


def test_bags_weigh_the_same() -> None:
    table, _ = two_kinds(120, 7)
    found = twbn.learn_mixture(
        table, n_components=1, treewidth=1, max_iterations=100, n_bags=4, seed=1
    )
    assert found.mixture.weights == pytest.approx(np.full(4, 0.25))
    assert len({network.dag for network in found.mixture.networks}) > 1


def test_weights_of_rows_are_copies_of_rows() -> None:
    table, _ = two_kinds(60, 8)
    rng = np.random.default_rng(1)
    counts = rng.integers(1, 4, 60)
    copies = table.take(np.repeat(np.arange(60), counts))
    heavy = table.with_weights(counts.astype(float))
    options: dict[str, Any] = {"n_components": 2, "treewidth": 1, "max_iterations": 100}
    one, two = (twbn.learn_mixture(rows, **options) for rows in (copies, heavy))
    assert one.mixture.equals(two.mixture, tolerance=1e-12)


def test_a_time_limit_is_kept() -> None:
    table, _ = two_kinds(3000, 9, 20)
    found = twbn.learn_mixture(table, n_components=6, treewidth=3, time_limit=0.2, n_jobs=2)
    assert found.mixture.n_components >= 1
    assert found.status == "time_limit"


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"n_components": 0}, "n_components must be"),
        ({"n_components": "many"}, "n_components must be"),
        ({"treewidth": 0}, "treewidth must be"),
        ({"ess": 0}, "ess must be a positive number"),
        ({"smoothing": 3}, "smoothing must be two positive numbers"),
        ({"smoothing": (1.0, -1.0)}, "smoothing must be two positive numbers"),
        ({"n_bags": 0}, "n_bags must be"),
        ({"max_rounds": 0}, "max_rounds must be"),
    ],
)
def test_bad_options_are_named(options: dict[str, Any], words: str) -> None:
    table, _ = two_kinds(30, 0)
    with pytest.raises(OptionError, match=words):
        twbn.learn_mixture(table, **{"max_iterations": 10, **options})


def test_wide_components_go_on_from_their_own_proofs() -> None:
    rng = np.random.default_rng(0)
    hidden = rng.integers(0, 2, (400, 4))
    codes = (hidden[:, rng.integers(0, 4, 30)] ^ (rng.random((400, 30)) < 0.15)).astype(np.int32)
    table = twbn.Table.from_codes(codes)
    found = twbn.learn_mixture(
        table, n_components=2, treewidth=8, time_limit=4.0, max_rounds=6, seed=1
    )
    assert found.mixture.treewidth is not None
    assert found.mixture.treewidth <= 8


def test_small_weights_of_rows_count() -> None:
    table, _ = two_kinds(300, 1)
    light = table.with_weights(np.full(300, 0.0077))
    options: dict[str, Any] = {"n_components": 1, "treewidth": 2, "max_iterations": 2000}
    found = twbn.learn_mixture(light, **options)
    alone = twbn.learn(light, treewidth=2, ess=10.0, max_iterations=20_000, method="anneal")
    assert found.objective == pytest.approx(alone.score, abs=0.5)


def test_many_components_keep_the_time_limit() -> None:
    rng = np.random.default_rng(0)
    table = twbn.Table.from_codes(rng.integers(0, 2, (1500, 60)).astype(np.int32))
    found = twbn.learn_mixture(table, n_components=100, time_limit=0.5)
    assert found.status == "time_limit"
    # The shortest searches of all components take longer: those not reached begin without arcs.
    assert any(not network.dag.arcs for network in found.mixture.networks)


@pytest.mark.parametrize("where", ["data", "held_out"])
def test_ctrl_c_keeps_the_best_so_far(where: str, monkeypatch: pytest.MonkeyPatch) -> None:
    table, _ = two_kinds(300, 2)
    codes = table.codes.copy()
    codes[::7, 0] = -1
    gaps = twbn.Table(table.names, table.codings, codes)
    data, other = (gaps, None) if where == "data" else (table, gaps)
    monkeypatch.setattr("twbn.interrupts.pending", lambda: len(rounds) >= 2)
    rounds: list[int] = []

    def press(*_: Any) -> None:
        rounds.append(1)

    asked = twbn.MixtureInference.score_samples

    def interrupted(self: Any, rows: Any) -> Any:
        if len(rounds) >= 2:
            raise KeyboardInterrupt
        return asked(self, rows)

    monkeypatch.setattr(twbn.MixtureInference, "score_samples", interrupted)
    found = twbn.learn_mixture(
        data, n_components=2, treewidth=1, max_iterations=100, held_out=other, on_progress=press
    )
    assert found.status == "interrupted"
    assert found.mixture.n_components >= 1


def test_mix_ups_of_networks_and_mixtures_are_named(tmp_path: Path) -> None:
    network: Any = random_network(np.random.default_rng(0), [2, 2])
    mixture: Any = twbn.Mixture([1.0], [network])
    cases: list[tuple[Any, str]] = [
        (lambda: twbn.Inference(mixture), "ask a mixture with MixtureInference"),
        (lambda: twbn.MixtureInference(network), "answers for a Mixture, got Network"),
        (lambda: twbn.write_network(mixture, tmp_path / "a.json"), "writes a Network, got Mixture"),
        (lambda: twbn.write_mixture(network, tmp_path / "a.json"), "writes a Mixture, got Network"),
        (lambda: twbn.write_mixture(mixture, tmp_path / "a.txt"), "unknown network format '.txt'"),
    ]
    for call, words in cases:
        with pytest.raises(OptionError, match=words):
            call()
    assert not mixture.equals(network)
    twbn.write_mixture(mixture, tmp_path / "m.json")
    with pytest.raises(FileFormatError, match="a mixture, and only single networks are taken"):
        twbn.read_network(tmp_path / "m.json")
