"""How good networks get in ten seconds, beside what others have published or reached.

Run by `make bench-quality`. Data: TWBN_SHARED, by default ../shared beside the project.
"""

from __future__ import annotations

import argparse
import os
import statistics
from pathlib import Path

import twbn

SHARED = Path(os.environ.get("TWBN_SHARED", Path(__file__).parents[2] / "shared"))

# The paper's best of all methods (3 hours of CPLEX, or ten runs of ten minutes), at bounds 4 and
# 10; None where its coding of the data is another. Then what a prototype of annealing reached.
UCI: dict[str, dict[int, tuple[float | None, float]]] = {
    "nursery": {4: (-72159.27, -72159.2738), 10: (-72159.27, -72159.2738)},
    "breast": {4: (-2685.24, -2685.2475), 10: (-2685.24, -2685.2475)},
    "housing": {4: (-3159.1, -3159.1071), 10: (-3159.1, -3159.1071)},
    "zoo": {4: (-562.35, -562.357), 10: (-561.54, -561.548)},
    "letter": {4: (-184308.01, -184308.01), 10: (-183972.77, -183972.78)},
    "mushroom": {4: (None, -55816.9), 10: (None, -55146.8)},
    "wdbc": {4: (-6994.85, -6934.9), 10: (-6893.55, -6865.1)},
    "audio": {4: (None, -2086.4), 10: (None, -2067.8)},
    "hill": {4: (-1112.05, -859.23), 10: (-980.06, -857.02)},
    "community": {4: (-92433.71, -79642.0), 10: (-89556.12, -78979.0)},
}
# Score files: bound, seconds, the best of the peers (BLIP, BN-SLIM, ETL), and the prototype.
FILES = {
    "syn30": (4, 10, -23551.1, -23476.4),
    "syn100": (4, 10, -89690.3, -88566.6),
    "syn500": (4, 30, -457913.2, -447067.8),
    "alarm-5000": (5, 10, -53929.2, -53826.4),
    "munin1-5000": (5, 30, -240524.7, -230895.2),
    "pigs-5000": (5, 30, -1815369.9, -1693856.9),
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--seconds", type=float, help="instead of 10, or 30 for large files")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--data", nargs="+", default=[*UCI, *FILES])
    wanted = parser.parse_args()
    print(
        f"annealing, {wanted.workers} workers, {wanted.seeds} seeds; * every seed reaches the goal"
    )
    print(
        f"{'data':12}{'k':>3}{'s':>4}{'best':>14}{'median':>14}{'worst':>14}{'goal':>14}{'others':>14}"
    )
    for name in wanted.data:
        if name in UCI:
            path = SHARED / "uci" / "binary" / f"{name}.csv"
            cases = [(k, 10.0, *goals) for k, goals in UCI[name].items()]
        else:
            path = SHARED / "scores" / f"{name}.jkl"
            cases = [FILES[name]]
        if not path.exists():
            print(f"{name:12}no data at {path}")
            continue
        max_parents = 2 if name in {"hill", "community"} else 3
        scores = (
            twbn.read_jkl(path)
            if path.suffix == ".jkl"
            else twbn.compute_scores(path, max_parents=max_parents, n_jobs=wanted.workers)
        )
        for k, seconds, others, goal in cases:
            run(scores, name, k, wanted.seconds or seconds, others, goal, wanted)


def run(
    scores: twbn.ScoreTable,
    name: str,
    k: int,
    seconds: float,
    others: float | None,
    goal: float,
    wanted: argparse.Namespace,
) -> None:
    found = sorted(
        twbn.learn(
            scores, treewidth=k, method="anneal", time_limit=seconds, seed=seed,
            n_jobs=wanted.workers,
        ).score
        for seed in range(wanted.seeds)
    )  # fmt: skip
    line = "".join(f"{s:14.3f}" for s in (found[-1], statistics.median(found), found[0], goal))
    beside = f"{others:14.2f}" if others is not None else f"{'other coding':>14}"
    reached = "*" if found[0] >= goal - 5e-6 * abs(goal) else ""
    print(f"{name:12}{k:3}{seconds:4.0f}{line}{beside} {reached}", flush=True)


if __name__ == "__main__":
    main()
