"""Networks within a limit on the joint states of a bag, beside the best published.

python benchmarks/bench_states.py [--seconds 60] [--seeds 5]

Score files and networks: TWBN_SHARED, by default ../shared beside the project. Published: BN-SLIM
and others, up to 90 minutes (Peruvemba Ramaswamy and Szeider, 2021).
"""

from __future__ import annotations

import argparse
import os
import warnings
from pathlib import Path

import twbn

SHARED = Path(os.environ.get("TWBN_SHARED", Path(__file__).parents[2] / "shared"))
LIMITS = (500, 5_000, 50_000)
PUBLISHED = {
    "alarm": (-53809.2, -53781.3, -53781.3),
    "munin1": (-240770.8, -239234.9, -237240.4),
    "pigs": (-1730867.3, -1730867.3, -1730867.3),
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--workers", type=int, default=2)
    wanted = parser.parse_args()
    print(f"{wanted.seconds:g} s, {wanted.workers} workers, {wanted.seeds} seeds")
    titles = ("worst", "best", "published", "largest bag")
    print(f"{'scores':8}{'limit':>8}" + "".join(f"{title:>14}" for title in titles))
    for name, published in PUBLISHED.items():
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # rows of the file that do not quite sum to one
            network = twbn.read_network(SHARED / "bif" / f"{name}.bif")
        scores = twbn.read_jkl(SHARED / "scores" / f"{name}-5000.jkl", n_states=network.n_states)
        for limit, other in zip(LIMITS, published, strict=True):
            found = []
            for seed in range(wanted.seeds):
                result = twbn.learn(
                    scores,
                    max_states=limit,
                    method="anneal",
                    time_limit=wanted.seconds,
                    n_jobs=wanted.workers,
                    seed=seed,
                )
                problems = result.verify(scores)
                if problems:
                    raise SystemExit("\n".join(problems))
                found.append((result.score, result.decomposition.largest_states(network.n_states)))
            worst, best = min(found), max(found)
            line = f"{worst[0]:14.1f}{best[0]:14.1f}{other:14.1f}{max(s for _, s in found):14,}"
            print(f"{name:8}{limit:8,}{line}", flush=True)


if __name__ == "__main__":
    main()
