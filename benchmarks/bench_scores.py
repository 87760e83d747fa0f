"""Local scores: sets per second, memory, and the ratio to pgmpy and pyAgrum on the same sets.

Run by `make bench`. Data: the folder named by TWBN_SHARED, by default ../shared beside the
project; what is not there is made up at the same size, and said so.
"""

from __future__ import annotations

import itertools
import os
import resource
import subprocess
import sys
import time
from pathlib import Path

import numpy as np

import twbn

SHARED = Path(os.environ.get("TWBN_SHARED", Path(__file__).parents[2] / "shared"))
SIZES = {"community": (1994, 100), "letter": (20000, 17)}


def load(name: str) -> tuple[twbn.Table, str]:
    path = SHARED / "uci" / "binary" / f"{name}.csv"
    if path.exists():
        return twbn.read_table(path), name
    rows, columns = SIZES[name]
    codes = np.random.default_rng(0).integers(0, 2, (rows, columns))
    return twbn.Table.from_codes(codes), f"random bits, sized like {name}"


def score_in_own_process(name: str, n_jobs: int) -> tuple[float, float, int, int]:
    """Return seconds, peak GiB, sets scored and sets kept, measured in a fresh process."""
    command = [sys.executable, __file__, "--one", name, str(n_jobs)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    seconds, peak, n_scored, n_kept = done.stdout.split()
    return float(seconds), float(peak), int(n_scored), int(n_kept)


def print_one(name: str, n_jobs: int) -> None:
    table, _ = load(name)
    start = time.perf_counter()
    scores = twbn.compute_scores(table, score="bdeu", ess=1, max_parents=3, n_jobs=n_jobs)
    seconds = time.perf_counter() - start
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    print(seconds, peak, scores.info.n_scored, scores.n_sets)


def print_own_speed() -> None:
    print("BDeu, at most 3 parents, pruned (best of 3)")
    titles = ("workers", "seconds", "peak GiB", "sets", "kept", "sets/s")
    print(f"{'data':12}" + "".join(f"{title:>12}" for title in titles))
    for name in SIZES:
        for n_jobs in (1, 2, 4):
            runs = [score_in_own_process(name, n_jobs) for _ in range(3)]
            seconds, peak, n_scored, n_kept = min(runs)
            rate = n_scored / seconds
            print(
                f"{name:12}{n_jobs:12}{seconds:12.3f}{peak:12.2f}{n_scored:12,}{n_kept:12,}"
                f"{rate:12,.0f}"
            )


def print_ratios() -> None:
    """Each library scores the same families of the same table with BDeu, ess 1."""
    table, label = load("community")
    names = list(table.names)
    rng = np.random.default_rng(0)
    families: list[tuple[int, list[int]]] = []
    while len(families) < 2000:
        child, *parents = rng.choice(len(names), size=1 + len(families) % 4, replace=False).tolist()
        families.append((child, sorted(parents)))
    few = families[:200]

    # Ours on the same footing: one look-up after another, from Python, nothing remembered.
    lazy = twbn.LazyScores(table)
    start = time.perf_counter()
    ours = [lazy.local(child, parents) for child, parents in families]
    single = (time.perf_counter() - start) / len(families)
    # Ours as it is used: all sets at once.
    full = twbn.compute_scores(table, max_parents=3)
    bulk = full.info.seconds / full.info.n_scored

    print(f"\nBDeu per parent set, one core, {label}, {table.n_rows} rows")
    print(f"{'':34}{'us/set':>10}{'ratio to all sets at once':>28}{'one by one':>12}")
    print(f"{'twbn, all sets at once':34}{bulk * 1e6:10.4f}{1:28.1f}")
    print(f"{'twbn, one by one':34}{single * 1e6:10.4f}{single / bulk:28.1f}{1:12.1f}")
    for peer in (pgmpy_scores, pyagrum_scores):
        sample = few if peer is pgmpy_scores else families
        try:
            theirs, seconds = peer(table, sample)
        except ImportError as error:
            print(f"{peer.__name__.removesuffix('_scores'):34}not installed ({error.name})")
            continue
        differences = [abs(a - b) for a, b in zip(ours, theirs, strict=False)]
        for (_, parents), difference in zip(sample, differences, strict=True):
            assert parents or difference < 1e-5, f"{peer.__name__}: not the same score"
        each = seconds / len(sample)
        name = f"{peer.__name__.removesuffix('_scores')} ({len(sample)} sets)"
        print(
            f"{name:34}{each * 1e6:10.2f}{each / bulk:28,.0f}{each / single:12.1f}"
            f"   largest difference {max(differences):.1e}"
        )
    # pgmpy divides the prior by the observed cells only, pyAgrum approximates ln Γ near zero.


def pgmpy_scores(
    table: twbn.Table, families: list[tuple[int, list[int]]]
) -> tuple[list[float], float]:
    import pandas as pd
    from pgmpy.structure_score import BDeu

    frame = pd.DataFrame({n: pd.Categorical(c) for n, c in table.decode().items()})
    peer = BDeu(frame, equivalent_sample_size=1)
    named = [(table.names[c], tuple(table.names[p] for p in ps)) for c, ps in families]
    start = time.perf_counter()
    scores = [float(peer.local_score(child, parents)) for child, parents in named]
    return scores, time.perf_counter() - start


def pyagrum_scores(
    table: twbn.Table, families: list[tuple[int, list[int]]]
) -> tuple[list[float], float]:
    import pandas as pd
    import pyagrum

    frame = pd.DataFrame({n: [str(s) for s in c] for n, c in table.decode().items()})
    learner = pyagrum.BNLearner(frame)
    learner.useScoreBDeu()
    learner.useNoPrior()  # a prior here would count twice
    named = [(table.names[c], [table.names[p] for p in ps]) for c, ps in families]
    start = time.perf_counter()
    scores = [learner.score(child, parents) for child, parents in named]
    seconds = time.perf_counter() - start
    return [s * np.log(2) for s in scores], seconds  # pyAgrum takes logarithms to base 2


def print_best_first() -> None:
    print("\nwide table, best-first exploration with 2,000 sets per variable, 2 workers")
    for n_variables in (500, 2000):
        codes = np.random.default_rng(1).integers(0, 2, (2000, n_variables))
        for v in range(1, n_variables):  # each column follows one near it
            follows = np.random.default_rng(v).random(2000) < 0.7
            codes[follows, v] = codes[follows, max(0, v - 1 - v % 7)]
        start = time.perf_counter()
        scores = twbn.compute_scores(twbn.Table.from_codes(codes), budget=2000, n_jobs=2)
        seconds = time.perf_counter() - start
        print(
            f"{n_variables:5} variables: {seconds:6.2f} s, {scores.info.n_scored:,} sets scored, "
            f"{scores.n_sets:,} kept, best sum {scores.best().sum():.1f} "
            f"(no arcs {scores.total([()] * n_variables):.1f})"
        )


def print_all_families_check() -> None:
    """The fast path and the single path agree on every family of a small table."""
    table, _ = load("letter")
    full = twbn.compute_scores(table, max_parents=2, prune=False)
    lazy = twbn.LazyScores(table, max_parents=2)
    worst = max(
        abs(full.local(child, parents) - lazy.local(child, parents))
        for child in range(table.n_variables)
        for size in range(3)
        for parents in itertools.combinations(
            [v for v in range(table.n_variables) if v != child], size
        )
    )
    print(f"\nlargest difference between the two ways of counting, letter: {worst:.2e}")


if __name__ == "__main__":
    if sys.argv[1:2] == ["--one"]:
        print_one(sys.argv[2], int(sys.argv[3]))
    else:
        print_own_speed()
        print_ratios()
        print_best_first()
        print_all_families_check()
