"""Mixtures with scikit-learn's interface: densities, clusters, and rows with gaps."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from sklearn.base import BaseEstimator, DensityMixin, OneToOneFeatureMixin, TransformerMixin
from sklearn.utils import check_random_state
from sklearn.utils.validation import _check_sample_weight, check_is_fitted

from twbn.checks import checked_time_limit
from twbn.data.frames import with_cells
from twbn.errors import DataError
from twbn.inference.fill import fill_columns
from twbn.inference.mixture import MixtureInference
from twbn.learning.density import DensityQuestions, filled_rows
from twbn.learning.features import checked_features, coded_features, weighed
from twbn.learning.mixture.learn import learn_mixture

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from twbn.data.discretize import Discretize
    from twbn.data.table import Table

__all__ = ["TreewidthMixture"]

#: Proposals of every search for each variable if there is neither a time limit nor a number.
ITERATIONS_PER_VARIABLE = 500


class TreewidthMixture(
    DensityQuestions,
    OneToOneFeatureMixin,  # type: ignore[misc]
    TransformerMixin,  # type: ignore[misc]
    DensityMixin,  # type: ignore[misc]
    BaseEstimator,  # type: ignore[misc]
):
    """A mixture of networks of bounded treewidth: a density estimator that clusters and imputes.

    Parameters
    ----------
    n_components
        How many networks, or ``"auto"``; see `twbn.learn_mixture`.
    treewidth, max_states, ess, max_parents, smoothing, n_bags, max_rounds, time_limit
        As for `twbn.learn_mixture`; the defaults suit clusters: trees, and a weak prior.
    max_iterations
        Proposals of every search for a structure. Without this and without a time limit: 500 for
        each variable, so that the same `random_state` gives the same mixture everywhere.
    discretize, bins, max_categories, unknown
        How columns become states, as for `TreewidthBN`.
    random_state, n_jobs
        As everywhere in scikit-learn.

    Attributes
    ----------
    mixture_, result_
        The mixture, and how it was reached.
    labels_
        The likeliest component of every row that it was fitted to.

    Examples
    --------
    >>> import numpy as np
    >>> rows = np.array([[0, 0, 0], [1, 1, 1]] * 20)
    >>> model = TreewidthMixture(2, treewidth=1, random_state=0).fit(rows)
    >>> len(set(model.predict(rows).tolist()))
    2
    """

    def __init__(
        self,
        n_components: int | Literal["auto"] = "auto",
        *,
        treewidth: int | None = 1,
        max_states: int | None = None,
        ess: float = 1.0,
        max_parents: int | Mapping[str, int] | None = None,
        smoothing: tuple[float, float] | None = None,
        n_bags: int = 1,
        time_limit: float | None = None,
        max_iterations: int | None = None,
        max_rounds: int | None = None,
        discretize: str | Discretize | None = None,
        bins: int | None = None,
        max_categories: int | None = None,
        unknown: str = "missing",
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.n_components = n_components
        self.treewidth = treewidth
        self.max_states = max_states
        self.ess = ess
        self.max_parents = max_parents
        self.smoothing = smoothing
        self.n_bags = n_bags
        self.time_limit = time_limit
        self.max_iterations = max_iterations
        self.max_rounds = max_rounds
        self.discretize = discretize
        self.bins = bins
        self.max_categories = max_categories
        self.unknown = unknown
        self.random_state = random_state
        self.n_jobs = n_jobs

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.string = True
        tags.input_tags.categorical = True
        return tags

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> TreewidthMixture:  # noqa: ARG002
        """Learn the mixture. `y` is ignored.

        After Ctrl-C, the best mixture so far is in the attributes when KeyboardInterrupt is raised.
        """
        limit = checked_time_limit(self.time_limit)
        features = checked_features(self, X, reset=True)
        if len(features.columns) < 2:
            msg = "a network needs 2 columns or more: n_features = 1"
            raise DataError(msg)
        weights = None if sample_weight is None else _check_sample_weight(sample_weight, X)
        weights, rows = weighed(weights)
        table = coded_features(self, features.take(rows), weights).determined()
        budget = self.max_iterations
        if budget is None and limit is None:
            budget = ITERATIONS_PER_VARIABLE * table.n_variables
        self.result_ = learn_mixture(
            table,
            n_components=self.n_components,
            treewidth=self.treewidth,
            max_states=self.max_states,
            ess=self.ess,
            max_parents=self.max_parents,
            smoothing=self.smoothing,
            n_bags=self.n_bags,
            time_limit=limit,
            max_iterations=budget,
            max_rounds=self.max_rounds,
            seed=int(check_random_state(self.random_state).randint(2**31 - 1)),
            n_jobs=self.n_jobs,
        )
        self.mixture_ = self.result_.mixture
        self.n_components_ = self.mixture_.n_components
        self.weights_ = np.array(self.mixture_.weights)
        self.n_iter_ = max(len(self.result_.trace), 1)
        self._engine = MixtureInference(self.mixture_)
        if self.result_.status == "interrupted":
            raise KeyboardInterrupt
        self.labels_ = self._shares(X).argmax(axis=1)
        return self

    def __getstate__(self) -> dict[str, Any]:
        # Compiled parts are made anew on demand.
        return {k: v for k, v in super().__getstate__().items() if k != "_engine"}

    def _inference(self) -> MixtureInference:
        check_is_fitted(self, "mixture_")
        if not hasattr(self, "_engine"):
            self._engine = MixtureInference(self.mixture_)
        return self._engine

    def _encoded(self, X: Any) -> Table:
        check_is_fitted(self, "mixture_")
        features = checked_features(self, X, reset=False)
        return features.coded_like(self.mixture_.networks[0], self.unknown)

    def _shares(self, X: Any) -> NDArray[np.float64]:
        return self._inference().responsibilities(self._encoded(X))

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Return the probability of every component for every row; missing cells are summed out."""
        return self._shares(X)

    def predict(self, X: Any) -> NDArray[np.int64]:
        """Return the likeliest component of every row; the first has the largest weight."""
        return np.asarray(self._shares(X).argmax(axis=1))

    def fit_predict(self, X: Any, y: Any = None, sample_weight: Any = None) -> NDArray[np.int64]:
        """Learn the mixture and return the likeliest component of every row. `y` is ignored."""
        return np.asarray(self.fit(X, y, sample_weight).labels_)

    def transform(self, X: Any) -> Any:
        """Return the rows with missing cells filled in given the others; known ones as they are.

        A missing number gets its posterior mean, any other cell its most probable state. A frame
        gives a frame, everything else an array.
        """
        engine = self._inference()
        features = checked_features(self, X, reset=False)
        found = fill_columns(engine, features.columns, how="mean")  # type: ignore[arg-type]
        filled = with_cells(features.source, features.names, found)
        return filled_rows(features, found, filled)
