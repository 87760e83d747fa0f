"""Time to proof: live subsets beside the program over bags and HiGHS with cuts, in one run.

python benchmarks/bench_proofs.py [--sizes 10 14 18 22] [--limit 60] [--treewidth 3] [--jobs 2]

Random subsets of columns of community and audio (binary, from TWBN_SHARED/uci/raw, by default
../shared), of growing size; a line for each, and a picture of how the times grow (proofs.svg).
"""

from __future__ import annotations

import argparse
import os
import time
from pathlib import Path

import numpy as np

import twbn

METHODS = ("live-subsets", "dp", "milp")


def seconds_to_proof(
    scores: twbn.ScoreTable, method: str, treewidth: int, limit: float, jobs: int
) -> float | None:
    """Return the time that a proof took, or None if there was none in time."""
    start = time.perf_counter()
    try:
        result = twbn.learn(
            scores, treewidth=treewidth, method=method, time_limit=limit, n_jobs=jobs
        )
    except twbn.errors.MemoryLimitError:
        return None
    return time.perf_counter() - start if result.status == "optimal" else None


def draw(times: dict[tuple[str, str], list[tuple[int, float]]], path: Path) -> None:
    """Draw how the times grow."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(6, 4))
    axes = figure.subplots()
    for (data, method), points in times.items():
        style = {"live-subsets": "o-", "dp": "s--", "milp": "^:"}[method]
        axes.plot(*zip(*sorted(points), strict=True), style, label=f"{data}, {method}")
    axes.set(xlabel="variables", ylabel="seconds to proof", yscale="log")
    axes.legend()
    figure.savefig(path)
    print(f"drawn in {path}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sizes", type=int, nargs="*", default=[10, 12, 14, 16, 18, 20, 22, 24])
    parser.add_argument("--limit", type=float, default=60.0)
    parser.add_argument("--treewidth", type=int, default=3)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--picture", type=Path, default=Path("proofs.svg"))
    options = parser.parse_args()
    folder = Path(os.environ.get("TWBN_SHARED", "../shared")) / "uci" / "raw"
    times: dict[tuple[str, str], list[tuple[int, float]]] = {}
    print(f"{'data':10} {'n':>3} " + " ".join(f"{method:>14}" for method in METHODS))
    for data in ("community", "audio"):
        table = twbn.datasets.load(data, folder=folder)
        for n in options.sizes:
            columns = np.random.default_rng(n).choice(table.n_variables, n, replace=False)
            some = table.select([table.names[v] for v in sorted(columns)])
            scores = twbn.compute_scores(some, max_parents=3, n_jobs=options.jobs)
            line = []
            for method in METHODS:
                found = seconds_to_proof(
                    scores, method, options.treewidth, options.limit, options.jobs
                )
                if found is not None:
                    times.setdefault((data, method), []).append((n, found))
                line.append(f"{'–' if found is None else f'{found:.2f} s':>14}")
            print(f"{data:10} {n:3} " + " ".join(line), flush=True)
    draw(times, options.picture)


if __name__ == "__main__":
    main()
