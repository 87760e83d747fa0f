"""Thirty runs with iteration budgets, one line each: to compare two commits byte by byte.

Run it on both commits and compare the output: ``python benchmarks/same_results.py > lines``. Data
are the built-in example and, where they are, the UCI tables (TWBN_SHARED, by default ../shared).
"""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

import twbn

SHARED = Path(os.environ.get("TWBN_SHARED", Path(__file__).parents[2] / "shared"))


def digest(result: twbn.SearchResult) -> str:
    """Return a hash of structure, proof and, in full precision, the score."""
    parts = (
        result.dag.parents,
        [sorted(bag) for bag in result.decomposition.bags],
        result.decomposition.edges,
        float(result.score).hex(),
    )
    return hashlib.sha256(repr(parts).encode()).hexdigest()[:16]


def first_columns(table: twbn.Table, n: int) -> twbn.Table:
    return table.select(table.names[:n])


def main() -> None:
    wdbc = twbn.datasets.load("wdbc")
    scores = {
        "wdbc": twbn.compute_scores(wdbc, max_parents=3),
        "wdbc8": twbn.compute_scores(first_columns(wdbc, 8), score="bic", max_parents=3),
        "wdbc6": twbn.compute_scores(first_columns(wdbc, 6), score="k2", max_parents=4),
    }
    for name in ("zoo", "letter", "nursery"):
        if (SHARED / "uci").is_dir():
            scores[name] = twbn.compute_scores(
                twbn.datasets.load(name, folder=SHARED / "uci" / "raw"), max_parents=3
            )
    runs: list[tuple[str, str, int, int, int | None]] = []
    for seed in (0, 7):
        runs += [("wdbc", "anneal", k, seed, 300_000) for k in (2, 4, 10)]
        runs += [("wdbc", "sample", k, seed, 20_000) for k in (3, 6)]
        runs += [("wdbc8", "sample-exact", 3, seed, 300), ("wdbc", "tree", 1, seed, 1)]
        runs += [("wdbc8", "dp", 2, seed, 1), ("wdbc6", "exact", 2, seed, 500)]
        runs += [("wdbc6", "milp", 2, seed, 200), ("wdbc6", "milp-paper", 2, seed, 200)]
        runs += [("wdbc6", "maxsat", 2, seed, 300)]
    for name in ("zoo", "letter", "nursery"):
        runs += [(name, "auto", 3, 1, 200_000), (name, "anneal", 5, 2, 200_000)]
    for data, method, treewidth, seed, budget in runs:
        if data not in scores:
            continue
        result = twbn.learn(
            scores[data], method=method, treewidth=treewidth, seed=seed, max_iterations=budget
        )
        print(f"{data} {method} {treewidth} {seed} {result.score:.10f} {digest(result)}")


if __name__ == "__main__":
    main()
