"""Live subsets against brute force and the reference program; certificates, whole and altered."""

from __future__ import annotations

import itertools
import math
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from oracle import random_graphs, random_table, treewidth_by_orders
from test_exact import optima
from twbn import ScoreTable, Table, compute_scores, learn, write_jkl
from twbn.cli import run as run_command
from twbn.errors import FileFormatError, MemoryLimitError, OptionError
from twbn.learning.certificate import check_certificate
from twbn.search import METHODS, write_result
from twbn.search.certificate import Branch, Proof, read_certificate, write_certificate
from twbn.search.certificate.checker import Limit, check_proof, is_wider
from twbn.search.exact import beside as beside_module
from twbn.search.exact.bags import dp
from twbn.search.exact.live_subsets import live_subsets, prove
from twbn.search.result_file import read_claims
from twbn.search.run import Run

if TYPE_CHECKING:
    from pathlib import Path

    from twbn import SearchResult
    from twbn.search.certificate.checker import Families


def families_of(scores: ScoreTable) -> Families:
    found = []
    for child in range(scores.n_variables):
        sets = [(sum(1 << p for p in parents), score) for score, parents in scores.sets(child)]
        found.append((np.array([m for m, _ in sets]), np.array([s for _, s in sets])))
    return found


def certified(scores: ScoreTable, k: int, **options: Any) -> SearchResult:
    """Return the optimum, after the checker has accepted its proof."""
    result = live_subsets(scores, treewidth=k, certify=True, **options)
    assert result.status == "optimal"
    assert result.proof is not None
    assert check_proof(result.proof, families_of(scores)).problems == []
    return result


def tied_scores(rng: np.random.Generator, n: int) -> ScoreTable:
    """Return random scores of few values, so that many structures are equally good."""
    sets: list[dict[tuple[int, ...], float]] = []
    for child in range(n):
        others = [v for v in range(n) if v != child]
        own: dict[tuple[int, ...], float] = {(): -float(rng.integers(4, 9))}
        for size in range(1, n):
            for parents in itertools.combinations(others, size):
                if rng.random() < 0.7:
                    own[parents] = -float(rng.integers(0, 9))
        sets.append(own)
    return ScoreTable.from_sets([f"v{v}" for v in range(n)], sets)


def wide_scores(rng: np.random.Generator, n: int) -> ScoreTable:
    """Return scores whose best structures are wide: pairs of parents at random, all welcome."""
    sets: list[dict[tuple[int, ...], float]] = []
    for child in range(n):
        others = [v for v in range(n) if v != child]
        own: dict[tuple[int, ...], float] = {(): -10.0}
        own |= {(p,): -rng.uniform(3, 9) for p in others}
        own |= {pair: -rng.uniform(0, 8) for pair in itertools.combinations(others, 2)}
        sets.append(own)
    return ScoreTable.from_sets([f"v{v}" for v in range(n)], sets)


@pytest.mark.parametrize("score", ["bdeu", "bic", "aic", "k2", "loglik"])
def test_five_variables_against_every_dag(score: str) -> None:
    rng = np.random.default_rng(len(score))
    table = random_table(rng, 5, 60, max_states=3, weighted=score == "bic")
    scores = compute_scores(table, max_parents=4, score=score)
    for k, best in enumerate(optima(scores), start=1):
        assert certified(scores, k).score == pytest.approx(best, abs=1e-6)


@pytest.mark.parametrize("seed", range(6))
def test_rules_are_kept(seed: int) -> None:
    rng = np.random.default_rng(seed)
    table = random_table(rng, 5, 80, max_states=3)
    a, b, c, d = (table.names[v] for v in rng.permutation(5)[:4])
    rules: dict[str, Any] = {"required": [(a, b)], "forbidden": [(c, d)], "leaves": [b]}
    scores = compute_scores(table, max_parents=4, **rules)
    for k, best in enumerate(optima(scores), start=1):
        result = certified(scores, k)
        assert result.score == pytest.approx(best, abs=1e-6)
        assert a in result.parents[b]
        assert c not in result.parents[d]


@pytest.mark.parametrize("block", range(4))
def test_ties_against_every_dag(block: int) -> None:
    for seed in range(50 * block, 50 * block + 50):
        scores = tied_scores(np.random.default_rng(seed), 4 if seed % 5 else 5)
        expected = optima(scores)
        k = 1 + seed % (scores.n_variables - 1)
        assert certified(scores, k).score == pytest.approx(expected[k - 1], abs=1e-6)


@pytest.mark.parametrize("n", [7, 8])
@pytest.mark.parametrize("seed", [0, 1])
def test_the_reference_program_agrees(n: int, seed: int) -> None:
    rng = np.random.default_rng([n, seed])
    table = random_table(rng, n, 200, max_states=3)
    scores = compute_scores(table, max_parents=4, score="aic")
    for k in (2, 3):
        expected = dp(scores, treewidth=k, prune=False)
        assert certified(scores, k).score == pytest.approx(expected.score, abs=1e-6)
        bad = live_subsets(scores, treewidth=k, start=expected, max_iterations=1)
        assert bad.score == pytest.approx(expected.score, abs=1e-6)


def test_a_poor_start_is_improved_and_workers_do_not_matter() -> None:
    rng = np.random.default_rng(5)
    scores = compute_scores(random_table(rng, 9, 300), max_parents=4, score="aic")
    one = live_subsets(scores, treewidth=2, n_jobs=1)
    two = live_subsets(scores, treewidth=2, n_jobs=2)
    assert one.dag == two.dag
    assert one.n_iterations == two.n_iterations
    from twbn import _core

    outcome, families, bound, *_ = _core.live_subsets(
        scores.index,
        scores.scores,
        _core.WidthLimit(2, math.inf, ()),
        one.score - 50,
        1e-6,
        [],
        [],
        2**30,
        False,
        2,
        None,
        None,
    )
    assert outcome == "solved"
    assert bound == pytest.approx(one.score)
    assert sum(scores.scores[families]) == pytest.approx(one.score)


def beside_a_poor_start(
    scores: ScoreTable, monkeypatch: pytest.MonkeyPatch, annealed: Any, **options: Any
) -> tuple[SearchResult, list[float]]:
    """Prove from a poor structure while `annealed` is what annealing does; return what is told."""
    monkeypatch.setattr(beside_module, "PATIENCE", 0.0)
    monkeypatch.setattr(beside_module, "anneal", annealed)
    told: list[float] = []
    run = Run(
        scores,
        treewidth=2,
        n_jobs=2,
        method="live-subsets",
        on_improvement=lambda result: told.append(result.score),
        **options,
    )
    poor = METHODS["sample"](scores, treewidth=2, max_iterations=1)
    return prove(scores, run, poor, gib=1.0, certify=True), told


def test_what_annealing_finds_beside_a_proof_is_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    scores = wide_scores(np.random.default_rng(5), 12)
    best = live_subsets(scores, treewidth=2, time_limit=600.0, n_jobs=1)
    runs = []

    def annealed(_: ScoreTable, run: Run) -> SearchResult:
        runs.append(run)
        return best

    result, told = beside_a_poor_start(scores, monkeypatch, annealed, time_limit=600.0)
    assert [run.workers for run in runs] == [1]
    assert told == [best.score]
    assert (result.status, result.dag) == ("optimal", best.dag)
    assert result.proof is not None
    assert check_proof(result.proof, families_of(scores)).problems == []
    # Without a limit of time, the structure must not depend on which of the two was first.
    beside_a_poor_start(scores, monkeypatch, annealed)
    assert len(runs) == 1


def test_a_failure_beside_a_proof_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    scores = wide_scores(np.random.default_rng(5), 12)

    def broken(*_: object) -> SearchResult:
        msg = "out of order"
        raise RuntimeError(msg)

    with pytest.raises(RuntimeError, match="out of order"):
        beside_a_poor_start(scores, monkeypatch, broken, time_limit=600.0)


def test_limits_are_kept_and_told() -> None:
    scores = wide_scores(np.random.default_rng(1), 8)
    best = live_subsets(scores, treewidth=2).score
    hard = wide_scores(np.random.default_rng(1), 13)
    stopped = live_subsets(hard, treewidth=2, time_limit=1e-5)
    assert stopped.status == "time_limit"
    assert stopped.bound > stopped.score
    with pytest.raises(MemoryLimitError, match="8 variables need"):
        live_subsets(scores, treewidth=2, memory_limit=1e-6)
    tight = live_subsets(scores, treewidth=2, memory_limit=0.00002)
    assert tight.status == "memory_limit"
    assert tight.bound >= best


@pytest.mark.parametrize("k", [1, 2, 3, 4])
def test_the_checker_knows_which_graphs_are_wide(k: int) -> None:
    for graph in random_graphs(7, 40, seed=k):
        edges = [(min(u, v), max(u, v)) for u in range(7) for v in graph.neighbours[u] if u < v]
        assert is_wider(edges, Limit(k)) == (treewidth_by_orders(graph) > k)


def branched() -> tuple[ScoreTable, Proof]:
    """Return a proof with several branches."""
    scores = wide_scores(np.random.default_rng(3), 7)
    proof = certified(scores, 2).proof
    assert proof is not None
    assert len(proof.branches) > 2
    return scores, proof


def test_altered_proofs_are_refused() -> None:
    scores, proof = branched()
    families = families_of(scores)

    def wrong(branches: Any, score: float = proof.score, k: int = 2) -> str:
        found = check_proof(Proof(k, score, tuple(branches)), families).problems
        assert found
        return found[0]

    first, *others = proof.branches
    for i in range(len(first.children)):  # a leaf or a whole case removed
        rest = first.children[:i] + first.children[i + 1 :]
        assert "obstruction" in wrong([Branch(first.number, rest), *others])
    assert "missing" in wrong([first, *others[1:]])
    inner = next(i for i, child in enumerate(first.children) if child[2] is not None)
    cut = [*first.children]
    cut[inner] = (*cut[inner][:2], None)
    assert "above the score" in wrong([Branch(first.number, tuple(cut)), *others])
    lower = proof.score - 1e-3 * abs(proof.score)
    assert "above the score" in wrong(proof.branches, lower)
    assert "obstruction" in wrong(proof.branches, k=6)
    assert "obstruction" in wrong([Branch(first.number, ((0, 99, None), *first.children)), *others])
    assert "not met" in wrong([*proof.branches, Branch(999, first.children)])
    assert "same number" in wrong([*proof.branches, first])


def test_certificates_go_through_files_and_commands(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rng = np.random.default_rng(3)
    codes = random_table(rng, 8, 400, max_states=3).codes
    data, result = tmp_path / "d.csv", tmp_path / "r.json"
    rows = "\n".join(",".join(f"s{code}" for code in row) for row in codes.tolist())
    data.write_text("a,b,c,d,e,f,g,h\n" + rows + "\n", encoding="utf-8")
    proof = tmp_path / "p.jsonl.gz"
    told = ["learn", str(data), "-k", "2", "--score", "aic", "-o", str(result)]
    assert run_command([*told, "--certificate", str(proof), "--required", "a->b"]) == 0
    checking = ["verify", str(result), "--data", str(data), "--certificate", str(proof)]
    assert run_command(checking) == 0
    assert "proved optimal" in capsys.readouterr().out
    certificate = read_certificate(proof)
    assert certificate.candidates["required"] == [["a", "b"]]

    other = Proof(2, certificate.proof.score + 5, certificate.proof.branches)
    write_certificate(certificate._replace(proof=other), proof)
    assert run_command(checking) == 1
    assert "the certificate is for the score" in capsys.readouterr().err
    branches = certificate.proof.branches[:-1]
    write_certificate(certificate._replace(proof=other._replace(branches=branches)), proof)
    assert run_command(checking) == 1

    plain = tmp_path / "p.jsonl"
    write_certificate(certificate, plain)
    text = plain.read_text(encoding="utf-8")
    plain.write_text(text.replace("null", "0", 1), encoding="utf-8")
    with pytest.raises(FileFormatError, match="checksum"):
        read_certificate(plain)
    plain.write_text(text[:50], encoding="utf-8")
    with pytest.raises(FileFormatError, match="not a certificate"):
        read_certificate(plain)


def test_certificates_of_score_files(tmp_path: Path) -> None:
    scores, _ = branched()
    path, proof = tmp_path / "s.jkl", tmp_path / "p.jsonl.gz"
    write_jkl(scores, path, names=True)
    result = learn(scores, treewidth=2, method="exact", certificate=proof)
    write_result(result, tmp_path / "r.json")
    claims = read_claims(tmp_path / "r.json")
    assert not check_certificate(read_certificate(proof), claims, scores).problems
    told = ["verify", str(tmp_path / "r.json"), "--data", str(path), "--certificate", str(proof)]
    assert run_command(told) == 0


def test_what_cannot_be_certified_is_told(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    table = random_table(rng, 5, 50)
    path = tmp_path / "p.jsonl"
    with pytest.raises(OptionError, match="certify"):
        learn(table, method="anneal", certificate=path, max_iterations=10)
    codes = np.array(table.codes)
    codes[0, 0] = -1
    with pytest.raises(OptionError, match="missing cells"):
        learn(Table(table.names, table.codings, codes), certificate=path)
    wide = random_table(rng, 30, 50, max_states=2)
    with pytest.raises(OptionError, match="30 variables"):
        learn(wide, method="exact", certificate=path, max_parents=1, time_limit=1)
    hard = wide_scores(rng, 9)
    little: dict[str, Any] = {"method": "live-subsets", "memory_limit": 0.00002}
    result = learn(hard, treewidth=2, certificate=path, **little)
    assert not path.exists()
    assert "no certificate" in result.notes[-1]


def test_the_portfolio_is_exact_and_auto_proves() -> None:
    rng = np.random.default_rng(2)
    scores = compute_scores(random_table(rng, 10, 300), max_parents=3)
    best = {k: dp(scores, treewidth=k).score for k in (2, 3)}
    for k, method in itertools.product(best, ("exact", "auto", "live-subsets")):
        result = METHODS[method](scores, treewidth=k, time_limit=60)
        assert result.status == "optimal"
        assert math.isclose(result.score, best[k], rel_tol=1e-9)
