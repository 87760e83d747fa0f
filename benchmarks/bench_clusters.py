"""Clusters: mixtures of networks beside Gaussian mixtures, judged by classes that neither has seen.

python benchmarks/bench_clusters.py [--seeds 10] [--data zoo wine digits]

Prints the adjusted Rand index, the mean of all seeds. zoo: TWBN_SHARED, by default ../shared beside
the project; wine and digits come with scikit-learn.
"""

from __future__ import annotations

import argparse
import os
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sklearn.datasets import load_digits, load_wine
from sklearn.metrics import adjusted_rand_score
from sklearn.mixture import GaussianMixture

import twbn

SHARED = Path(os.environ.get("TWBN_SHARED", Path(__file__).parents[2] / "shared"))


def data_sets() -> dict[str, tuple[pd.DataFrame, Any]]:
    """Return frames without their classes, and the classes."""
    found = {}
    path = SHARED / "uci" / "raw" / "zoo.data"
    if path.exists():
        rows = pd.read_csv(path)
        found["zoo"] = rows.iloc[:, 1:-1].astype(int), rows.iloc[:, -1]
    else:
        print(f"zoo: no data at {path}")
    wine = load_wine(as_frame=True)
    found["wine"] = (wine.data, wine.target)
    digits = load_digits(as_frame=True)
    found["digits"] = (digits.data, digits.target)
    return found


def gaussian(rows: Any, classes: Any, seed: int) -> Any:
    """Return the index of the better kind of Gaussian mixture: full, or diagonal covariances."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return max(
            adjusted_rand_score(
                classes,
                GaussianMixture(
                    len(set(classes)), covariance_type=kind, reg_covar=1e-3, random_state=seed
                ).fit_predict(rows),
            )
            for kind in ("full", "diag")
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--data", nargs="+", default=["zoo", "wine", "digits"])
    wanted = parser.parse_args()
    print(f"adjusted Rand index, mean of {wanted.seeds} seeds")
    titles = ("mixture", "Gaussian", "one-hot")
    print(f"{'data':8}" + "".join(f"{title:>10}" for title in titles))
    for name, (frame, classes) in data_sets().items():
        if name not in wanted.data:
            continue
        one_hot = pd.get_dummies(twbn.as_table(frame).to_frame().astype(str)).to_numpy(float)
        ours, raw, hot = [], [], []
        for seed in range(wanted.seeds):
            model = twbn.TreewidthMixture(
                len(set(classes)), random_state=seed, n_jobs=wanted.workers
            ).fit(frame)
            ours.append(adjusted_rand_score(classes, model.labels_))
            raw.append(gaussian(frame.to_numpy(float), classes, seed))
            hot.append(gaussian(one_hot, classes, seed))
        line = "".join(f"{np.mean(values):10.3f}" for values in (ours, raw, hot))
        print(f"{name:8}{line}", flush=True)


if __name__ == "__main__":
    main()
