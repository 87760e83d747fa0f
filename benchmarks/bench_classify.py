"""Classification with defaults, five folds: accuracy and log-loss beside scikit-learn and pyAgrum.

python benchmarks/bench_classify.py [--only iris,wine] [--without-tan]

iris, wine, wdbc and digits come with scikit-learn; nursery, adult, letter, mushroom and zoo are
read as they are from TWBN_SHARED/uci/raw (by default ../shared).
"""

from __future__ import annotations

import argparse
import os
import time
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from sklearn.compose import make_column_transformer
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.impute import SimpleImputer
from sklearn.metrics import log_loss
from sklearn.model_selection import StratifiedKFold
from sklearn.naive_bayes import CategoricalNB, GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import KBinsDiscretizer, OrdinalEncoder

import twbn

if TYPE_CHECKING:
    from collections.abc import Iterator

RAW = Path(os.environ.get("TWBN_SHARED", Path(__file__).parents[2] / "shared")) / "uci" / "raw"
NAMES = ("twbn", "GaussianNB", "CategoricalNB", "HistGradientBoosting", "TAN (pyAgrum)")


def tables() -> Iterator[tuple[str, pd.DataFrame, np.ndarray[Any, Any]]]:
    from sklearn import datasets

    for name, load in (
        ("iris", datasets.load_iris),
        ("wine", datasets.load_wine),
        ("wdbc", datasets.load_breast_cancer),
        ("digits", datasets.load_digits),
    ):
        bunch = load(as_frame=True)
        yield name, bunch.data, bunch.target.to_numpy()
    for name, file, target, drop in (
        ("nursery", "nursery.arff", -1, []),
        ("adult", "adult.data", -1, []),
        ("letter", "letter.arff", -1, []),
        ("mushroom", "agaricus-lepiota.data", 0, []),
        ("zoo", "zoo.data", -1, ["animal_name"]),
    ):
        if not RAW.is_dir():
            print(f"{name}: no folder {RAW}")
            continue
        frame = _read(RAW / file).drop(columns=drop)
        label = frame.columns[target]
        yield name, frame.drop(columns=label), frame[label].to_numpy()


def _read(path: Path) -> pd.DataFrame:
    if path.suffix != ".arff":
        header = None if path.name in {"adult.data", "agaricus-lepiota.data"} else 0
        frame = pd.read_csv(path, header=header, skipinitialspace=True)
        return frame.rename(columns=str)
    lines = path.read_text(encoding="latin-1").splitlines()
    names = [line.split()[1] for line in lines if line.lower().startswith("@attribute")]
    first = next(i for i, line in enumerate(lines) if line.lower().startswith("@data"))
    rows = [line.split(",") for line in lines[first + 1 :] if line.strip() and line[0] != "%"]
    frame = pd.DataFrame(rows, columns=names)
    for name in names:
        numbers = pd.to_numeric(frame[name], errors="coerce")
        if not numbers.isna().any():
            frame[name] = numbers
    return frame


def peers(frame: pd.DataFrame) -> dict[str, Any]:
    texts = [c for c in frame if not pd.api.types.is_numeric_dtype(frame[c])]
    few = [c for c in frame if c in texts or frame[c].nunique() <= 10]
    many = [c for c in frame if c not in few]
    plain = make_column_transformer((_codes(), texts), remainder="passthrough")
    bins = KBinsDiscretizer(5, encode="ordinal", quantile_method="averaged_inverted_cdf")
    states = make_column_transformer(
        (_codes(), few), (make_pipeline(SimpleImputer(), bins), many), remainder="drop"
    )
    sizes = [int(frame[c].nunique()) + 2 for c in few] + [6] * len(many)
    return {
        "GaussianNB": make_pipeline(plain, SimpleImputer(), GaussianNB()),
        "CategoricalNB": make_pipeline(states, _NotNegative(), CategoricalNB(min_categories=sizes)),
        "HistGradientBoosting": make_pipeline(
            plain,
            HistGradientBoostingClassifier(
                random_state=0, categorical_features=list(range(len(texts))), early_stopping=False
            )
            if all(frame[c].nunique() < 255 for c in texts)
            else HistGradientBoostingClassifier(random_state=0),
        ),
    }


def _codes() -> OrdinalEncoder:
    return OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=-1)


class _NotNegative:
    """Codes from 0 on: an unknown category is one of its own."""

    def fit(self, *_: Any) -> _NotNegative:
        return self

    def transform(self, X: Any) -> Any:
        return np.asarray(X) + 1

    def __sklearn_is_fitted__(self) -> bool:
        return True


class Tan:
    """pyAgrum's TAN on cuts by MDLP; the cuts are ours, as pyAgrum's take two classes only."""

    def fit(self, frame: pd.DataFrame, y: Any) -> Tan:
        from pyagrum.lib.discreteTypeProcessor import DiscreteTypeProcessor
        from pyagrum.skbn import BNClassifier

        rule = twbn.Discretize("mdlp", target="y")
        table = twbn.as_table(frame.assign(y=[f"c{label}" for label in y]), discretize=rule)
        self.table = table.select(table.names[:-1])
        self.classes_, classes = np.unique(y, return_inverse=True)
        self.model = BNClassifier(
            learningMethod="TAN",
            prior="Smoothing",
            priorWeight=1,
            type_processor=DiscreteTypeProcessor(
                defaultDiscretizationMethod="NoDiscretization",
                defaultNumberOfBins=None,
                discretizationThreshold=1000,
            ),
        )
        # Padded, so that the order of texts is that of the classes, whoever sorts them.
        self.model.fit(self._codes(frame), np.array([f"c{label:03}" for label in classes]))
        return self

    def predict_proba(self, frame: pd.DataFrame) -> Any:
        found = self.model.predict_proba(self._codes(frame))
        return np.asarray(found)

    def _codes(self, frame: pd.DataFrame) -> pd.DataFrame:
        """Return the codes as texts; what is missing or new is the most frequent."""
        coded = twbn.as_table(frame, like=self.table, unknown="missing").codes
        known = self.table.codes
        usual = [np.bincount(column[column >= 0]).argmax() for column in known.T]
        seen = [np.isin(column, known[:, v]) & (column >= 0) for v, column in enumerate(coded.T)]
        cells = np.where(np.column_stack(seen), coded, usual)
        return pd.DataFrame(cells.astype(str), columns=[f"v{v}" for v in range(cells.shape[1])])


def judged(model: Any, frame: pd.DataFrame, y: Any) -> tuple[float, float]:
    """Return mean accuracy and log-loss over five folds."""
    folds = StratifiedKFold(5, shuffle=True, random_state=0)
    right, losses = [], []
    for train, test in folds.split(frame, y):
        model.fit(frame.iloc[train], y[train])
        found = model.predict_proba(frame.iloc[test])
        classes = np.asarray(getattr(model, "classes_", np.unique(y)))
        right.append(np.mean(classes[found.argmax(axis=1)] == y[test]))
        losses.append(log_loss(y[test], np.clip(found, 1e-15, 1), labels=classes))
    return float(np.mean(right)), float(np.mean(losses))


def main() -> None:
    warnings.simplefilter("ignore")
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", default="")
    parser.add_argument("--without-tan", action="store_true")
    options = parser.parse_args()
    print(f"{'':10}" + "".join(f"{name:>24}" for name in NAMES) + f"{'seconds':>10}")
    means: dict[str, list[float]] = {name: [] for name in NAMES}
    for name, frame, y in tables():
        if options.only and name not in options.only.split(","):
            continue
        start = time.perf_counter()
        results = {"twbn": judged(twbn.TreewidthClassifier(random_state=0), frame, y)}
        taken = time.perf_counter() - start
        for peer, model in peers(frame).items():
            results[peer] = judged(model, frame, y)
        if not options.without_tan:
            try:
                results[NAMES[-1]] = judged(Tan(), frame, y)
            except Exception as error:
                print(f"{name}: TAN failed: {error}"[:100])
        cells = [results.get(peer, (float("nan"),) * 2) for peer in NAMES]
        print(f"{name:10}" + "".join(f"{a:15.4f} {loss:8.3f}" for a, loss in cells), end="")
        print(f"{taken:10.1f}", flush=True)
        for peer, (accuracy, _) in results.items():
            means[peer].append(accuracy)
    print(f"{'mean':10}" + "".join(f"{np.mean(means[name]):15.4f} {'':8}" for name in NAMES))


if __name__ == "__main__":
    main()
