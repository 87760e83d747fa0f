"""A classifier with scikit-learn's interface."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import ClassifierMixin
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import _check_sample_weight, validate_data

from twbn.data.coding import Categories
from twbn.data.table import Table
from twbn.errors import DataError
from twbn.learning.estimator import TreewidthEstimator, weighed

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

__all__ = ["TreewidthClassifier"]


class TreewidthClassifier(ClassifierMixin, TreewidthEstimator):  # type: ignore[misc]
    """A Bayesian network of bounded treewidth that predicts one of its variables.

    Examples
    --------
    >>> import numpy as np
    >>> rows = np.array([[0, 0], [0, 1], [1, 0], [1, 1]] * 10)
    >>> model = TreewidthClassifier(random_state=0).fit(rows, rows[:, 0] == 1)
    >>> model.predict([[1, 0]])
    array([ True])
    """

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> TreewidthClassifier:
        """Learn the joint network of features and class."""
        rows, y = validate_data(
            self, X, y, dtype=None, ensure_all_finite="allow-nan", ensure_min_samples=2
        )
        if rows.dtype.kind == "c":
            msg = "Complex data not supported"
            raise DataError(msg)
        check_classification_targets(y)
        self.classes_, codes = np.unique(y, return_inverse=True)
        if len(self.classes_) < 2:
            msg = f"y has one class only, {self.classes_[0]!r}; a classifier needs 2 or more"
            raise DataError(msg)
        weights = None if sample_weight is None else _check_sample_weight(sample_weight, X)
        if weights is not None and len(np.unique(codes[weights > 0])) < 2:
            msg = "the rows with a weight above 0 have one class only; a classifier needs 2 or more"
            raise DataError(msg)
        names = self._names()
        weights, (rows, codes) = weighed(weights, np.asarray(rows), codes)
        table = self._coded(rows, weights)
        self.class_name_ = next(name for name in _class_names() if name not in names)
        states = tuple(range(len(self.classes_)))
        self._learn(
            Table(
                (*table.names, self.class_name_),
                (*table.codings, Categories(states)),
                np.column_stack([table.codes, codes.astype(np.int32)]),
                table.weights,
            )
        )
        return self

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Return the posterior of every class in every row; missing cells are summed out."""
        engine = self._inference()
        rows = self._rows(X, reset=False)
        table = self.network_.encode(dict(zip(self._names(), rows.T, strict=True)))
        return engine.predict_proba(table, self.class_name_)

    def predict_log_proba(self, X: Any) -> NDArray[np.float64]:
        """Return the logarithms of `predict_proba`."""
        with np.errstate(divide="ignore"):
            return np.asarray(np.log(self.predict_proba(X)))

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the most probable class of every row."""
        best = self.predict_proba(X).argmax(axis=1)
        return np.asarray(self.classes_[best])


def _class_names() -> Iterator[str]:
    yield "y"
    for number in itertools.count(1):
        yield f"y_{number}"
