"""A classifier with scikit-learn's interface."""

from __future__ import annotations

import itertools
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import ClassifierMixin
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import _check_sample_weight, _check_y, check_consistent_length

from twbn.checks import checked_time_limit
from twbn.data.coding import Categories
from twbn.data.table import Table
from twbn.deadline import Deadline
from twbn.errors import DataError
from twbn.interrupts import deferred
from twbn.learning.estimator import TreewidthEstimator
from twbn.learning.features import checked_features, coded_features, weighed
from twbn.learning.learn import learn
from twbn.learning.smoothing import fit_smoothed

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

__all__ = ["TreewidthClassifier"]

#: Rows that the distribution given fewer parents weighs, unless something else is said.
STRENGTH = 3.0


class TreewidthClassifier(ClassifierMixin, TreewidthEstimator):  # type: ignore[misc]
    """A Bayesian network of bounded treewidth that predicts one of its variables.

    The class is a parent of every feature, and what else the features tell of each other is learned
    within the limits: an augmented naive Bayes classifier. For a network without this shape, use
    `twbn.learn` or `TreewidthBN` with the class as a column.

    Examples
    --------
    >>> import numpy as np
    >>> rows = np.array([[0, 0], [0, 1], [1, 0], [1, 1]] * 10)
    >>> model = TreewidthClassifier(random_state=0).fit(rows, rows[:, 0] == 1)
    >>> model.predict([[1, 0]])
    array([ True])
    """

    _default_score = "loglik"
    _search_share = 0.7  # every feature has the class as a parent, so parameters take longer

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> TreewidthClassifier:
        """Learn the joint network of features and class.

        After Ctrl-C, the best network so far is in the attributes when KeyboardInterrupt is raised.
        """
        if y is None:
            msg = f"{type(self).__name__} requires y to be passed, but the target y is None"
            raise DataError(msg)
        clock = Deadline(checked_time_limit(self.time_limit))
        features = checked_features(self, X, reset=True)
        y = _check_y(_without_nullable(y), estimator=self)
        check_classification_targets(y)
        check_consistent_length(features.source, y)
        self.classes_, codes = np.unique(y, return_inverse=True)
        if len(self.classes_) < 2:
            msg = f"y has one class only, {self.classes_[0]!r}; a classifier needs 2 or more"
            raise DataError(msg)
        weights = None if sample_weight is None else _check_sample_weight(sample_weight, X)
        if weights is not None and len(np.unique(codes[weights > 0])) < 2:
            msg = "the rows with a weight above 0 have one class only; a classifier needs 2 or more"
            raise DataError(msg)
        weights, rows = weighed(weights)
        classes = codes.astype(np.int32) if rows is None else codes[rows].astype(np.int32)
        table = coded_features(self, features.take(rows), weights, classes)
        self.class_name_ = next(name for name in _class_names() if name not in table.names)
        states = tuple(range(len(self.classes_)))
        joint = Table(
            (*table.names, self.class_name_),
            (*table.codings, Categories(states)),
            np.column_stack([table.codes, classes]),
            table.weights,
        )
        with deferred():
            interrupted = self._learn(joint.determined(), clock)
        if interrupted:
            raise KeyboardInterrupt
        return self

    def _rules(self, table: Table) -> dict[str, Any]:
        # A table of one state tells nothing of the class, and the class nothing of it.
        features = [name for v, name in enumerate(table.names[:-1]) if table.n_states[v] > 1]
        required = [(self.class_name_, name) for name in features]
        return {"required": required, "roots": [self.class_name_]}

    def _learn(self, table: Table, clock: Deadline) -> bool:
        # EM would take as long as the tables are large; what a feature lacks is drawn given the
        # class for the structure, and left out of the counts for the parameters.
        options = self._search_options(table.n_variables, clock) | self._rules(table)
        result = learn(_filled_given_class(table, options["seed"]), **options)
        strength = STRENGTH if self.parameter_ess is None else self.parameter_ess
        first = table.n_variables - 1
        self._keep(result, fit_smoothed(result, table, first=first, strength=strength))
        return result.status == "interrupted"

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Return the posterior of every class in every row; missing cells are summed out."""
        engine = self._inference()
        return engine.predict_proba(self._encoded(X), self.class_name_)

    def predict_log_proba(self, X: Any) -> NDArray[np.float64]:
        """Return the logarithms of `predict_proba`."""
        with np.errstate(divide="ignore"):
            return np.asarray(np.log(self.predict_proba(X)))

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the most probable class of every row."""
        best = self.predict_proba(X).argmax(axis=1)
        return np.asarray(self.classes_[best])


def _without_nullable(y: Any) -> Any:
    """Return labels of pandas' nullable types as integers or truth values, which they are."""
    plain = getattr(getattr(y, "dtype", None), "numpy_dtype", None)
    if not isinstance(plain, np.dtype) or plain.kind not in "iub" or y.isna().any():
        return y
    return y.to_numpy(dtype=plain)


def _filled_given_class(table: Table, seed: int) -> Table:
    """Return a table with missing cells drawn from the known ones of the row's class, the last."""
    if not table.n_missing.any():
        return table
    rng = np.random.default_rng(seed)
    codes = np.array(table.codes)
    classes = codes[:, -1]
    for v in np.flatnonzero(table.n_missing):
        for label in np.unique(classes):
            rows = np.flatnonzero(classes == label)
            known = rows[codes[rows, v] >= 0]
            empty = rows[codes[rows, v] < 0]
            others = known if len(known) else np.flatnonzero(table.codes[:, v] >= 0)
            if len(empty):
                codes[empty, v] = table.codes[rng.choice(others, len(empty)), v]
    return replace(table, codes=codes)


def _class_names() -> Iterator[str]:
    yield "y"
    for number in itertools.count(1):
        yield f"y_{number}"
