"""Imputation of numbers: normalised RMSE beside scikit-learn's IterativeImputer and the mean.

python benchmarks/bench_impute.py [--share 0.2] [--repeats 3]

Cells of wine and wdbc are taken away at random; an error of 1 is that of filling in the mean.
"""

from __future__ import annotations

import argparse
import warnings

import numpy as np
from sklearn.datasets import load_breast_cancer, load_wine
from sklearn.experimental import enable_iterative_imputer  # noqa: F401
from sklearn.impute import IterativeImputer, SimpleImputer

import twbn


def main() -> None:
    warnings.simplefilter("ignore")
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--share", type=float, default=0.2)
    parser.add_argument("--repeats", type=int, default=3)
    options = parser.parse_args()
    for name, load in (("wine", load_wine), ("wdbc", load_breast_cancer)):
        rows = load().data
        scale = rows.std(axis=0)
        errors: dict[str, list[float]] = {}
        for seed in range(options.repeats):
            gone = np.random.default_rng(seed).random(rows.shape) < options.share
            gaps = np.where(gone, np.nan, rows)
            for peer, model in (
                ("twbn", twbn.TreewidthBN(random_state=seed)),
                ("IterativeImputer", IterativeImputer(random_state=seed, max_iter=20)),
                ("mean", SimpleImputer()),
            ):
                filled = model.fit_transform(gaps)
                error = ((filled - rows) / scale)[gone]
                errors.setdefault(peer, []).append(float(np.sqrt(np.mean(error**2))))
        line = ", ".join(f"{peer} {np.mean(values):.3f}" for peer, values in errors.items())
        print(f"{name}: {line}", flush=True)


if __name__ == "__main__":
    main()
