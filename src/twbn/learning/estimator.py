"""Structure and parameters in one estimator, with scikit-learn's interface."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import BaseEstimator, OneToOneFeatureMixin, TransformerMixin
from sklearn.utils import check_random_state
from sklearn.utils.validation import _check_sample_weight, check_is_fitted, validate_data

from twbn.data.coding import Bins
from twbn.data.discretize import Discretize
from twbn.data.frames import as_table
from twbn.errors import DataError
from twbn.inference import Inference
from twbn.learning.incomplete import learn_incomplete
from twbn.learning.learn import learn
from twbn.network import fit as fit_parameters

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from twbn.data.table import Table

__all__ = ["TreewidthBN", "TreewidthEstimator", "weighed"]

#: Iterations per variable if neither a time limit nor a number of iterations is given.
ITERATIONS_PER_VARIABLE = 20_000
#: Weights that are whole numbers repeat their rows, up to this many rows in total.
MAX_REPEATED = 10_000_000


class TreewidthEstimator(BaseEstimator):  # type: ignore[misc]
    """What both estimators share: options, coding of rows, learning.

    Parameters
    ----------
    treewidth
        The treewidth limit.
    structure_score, ess, max_parents
        What structures are judged by; see `twbn.compute_scores`. (An option called ``score`` would
        hide the method of that name.)
    method, time_limit, max_iterations
        The search and its budget; see `twbn.learn`. Without a budget: 20,000 iterations for each
        variable, so that the same `random_state` gives the same network everywhere.
    discretize
        How numeric columns with many values are cut.
    parameter_ess
        Equivalent sample size of the prior of the parameters; 0: maximum likelihood.
    random_state, n_jobs
        As everywhere in scikit-learn.
    """

    def __init__(
        self,
        treewidth: int = 4,
        *,
        structure_score: str = "bdeu",
        ess: float = 1.0,
        max_parents: int | Mapping[str, int] | None = 3,
        method: str = "auto",
        time_limit: float | None = None,
        max_iterations: int | None = None,
        discretize: str = "median",
        parameter_ess: float = 1.0,
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.treewidth = treewidth
        self.structure_score = structure_score
        self.ess = ess
        self.max_parents = max_parents
        self.method = method
        self.time_limit = time_limit
        self.max_iterations = max_iterations
        self.discretize = discretize
        self.parameter_ess = parameter_ess
        self.random_state = random_state
        self.n_jobs = n_jobs

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.string = True
        tags.input_tags.categorical = True
        return tags

    def _rows(self, X: Any, *, reset: bool) -> NDArray[Any]:
        rows = validate_data(
            self,
            X,
            reset=reset,
            dtype=None,
            ensure_all_finite="allow-nan",
            ensure_min_samples=2 if reset else 1,
        )
        if rows.dtype.kind == "c":
            msg = "Complex data not supported"
            raise DataError(msg)
        return np.asarray(rows)

    def _names(self) -> list[str]:
        if hasattr(self, "feature_names_in_"):
            return [str(name) for name in self.feature_names_in_]
        return [f"x{v}" for v in range(self.n_features_in_)]

    def _coded(self, rows: NDArray[Any], weights: NDArray[np.float64] | None) -> Table:
        """Return the rows as a table; columns with fractions are cut, even with few values."""
        names = self._names()
        rule = Discretize(self.discretize)  # type: ignore[arg-type]
        cuts = {}
        for name, column in zip(names, rows.T, strict=True):
            numbers = _fractions(column)
            if numbers is not None:
                cuts[name] = rule.fit(numbers[np.isfinite(numbers)]).edges
        # A table has two columns or more; a single feature joins its class later.
        alone = len(names) == 1
        table = as_table(
            np.column_stack([rows, rows]) if alone else rows,
            names=[*names, f"{names[0]}_copy"] if alone else names,
            discretize=replace(rule, cut_points=cuts),
            weights=weights,
        )
        return table.select(names) if alone else table

    def _learn(self, table: Table) -> None:
        """Learn structure and parameters from a coded table; set the fitted attributes."""
        seed = int(check_random_state(self.random_state).randint(2**31 - 1))
        budget = self.max_iterations
        if budget is None and self.time_limit is None:
            budget = ITERATIONS_PER_VARIABLE * table.n_variables
        options: dict[str, Any] = {
            "treewidth": self.treewidth,
            "score": self.structure_score,
            "ess": self.ess,
            "max_parents": self.max_parents,
            "time_limit": self.time_limit,
            "max_iterations": budget,
            "seed": seed,
            "n_jobs": self.n_jobs,
            "method": self.method,
        }
        if table.n_missing.any():
            found = learn_incomplete(table, parameter_ess=self.parameter_ess, **options)
            result, self.network_ = found.result, found.network
        else:
            result = learn(table, **options)
            self.network_ = fit_parameters(result, table, ess=self.parameter_ess)
        self.result_ = result
        self.dag_ = result.dag
        self.parents_ = result.parents
        self.edges_ = [(result.names[a], result.names[b]) for a, b in result.dag.arcs]
        self.states_ = dict(zip(self.network_.names, self.network_.states, strict=True))
        self.elimination_order_ = [
            result.names[v] for v in result.decomposition.elimination_order()
        ]
        self.score_ = result.score
        self.bound_ = result.bound
        self.gap_ = result.gap
        self.treewidth_ = result.treewidth
        self.decomposition_ = result.decomposition
        self.n_iter_ = max(result.n_iterations, 1)
        self.fit_time_ = result.seconds
        self._engine = Inference(self.network_)

    def __getstate__(self) -> dict[str, Any]:
        # Junction trees hold compiled parts; they are rebuilt on demand.
        return {k: v for k, v in super().__getstate__().items() if k != "_engine"}

    def _inference(self) -> Inference:
        check_is_fitted(self, "network_")
        if not hasattr(self, "_engine"):
            self._engine = Inference(self.network_)
        return self._engine


class TreewidthBN(OneToOneFeatureMixin, TransformerMixin, TreewidthEstimator):  # type: ignore[misc]
    """A Bayesian network of bounded treewidth as a density estimator that also imputes.

    The parameters are those of `twbn.learn` and `twbn.fit`, under scikit-learn's names.

    Attributes
    ----------
    network_, result_
        The network, and the result of the search with its proof.
    score_, bound_, gap_, treewidth_, decomposition_, dag_, parents_
        Attributes of the result; see `twbn.SearchResult`.

    Examples
    --------
    >>> import numpy as np
    >>> rows = np.array([[0, 0, 1], [0, 0, 0], [1, 1, 1], [1, 1, 0]] * 10)
    >>> model = TreewidthBN(treewidth=1, random_state=0).fit(rows)
    >>> model.treewidth_
    1
    >>> model.transform(np.array([[0, np.nan, 1]]))
    array([[0., 0., 1.]])
    """

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> TreewidthBN:  # noqa: ARG002
        """Learn structure and parameters. `y` is ignored."""
        rows = self._rows(X, reset=True)
        if rows.shape[1] < 2:
            msg = "a network needs 2 columns or more: n_features = 1"
            raise DataError(msg)
        weights = None if sample_weight is None else _check_sample_weight(sample_weight, X)
        weights, (rows,) = weighed(weights, rows)
        table = self._coded(rows, weights)
        self._learn(table)
        self.fill_values_ = _fill_values(rows, table)
        return self

    def score_samples(self, X: Any) -> NDArray[np.float64]:
        """Return the log-likelihood of each row; missing cells are summed out."""
        return self._inference().score_samples(self._encoded(X))

    def score(self, X: Any, y: Any = None) -> float:  # noqa: ARG002
        """Return the mean log-likelihood of the rows, in natural logarithms; higher is better."""
        return float(self.score_samples(X).mean())

    def sample(self, n_samples: int = 1, random_state: Any = None) -> NDArray[Any]:
        """Return rows drawn from the network, as values of the columns it was fitted to."""
        check_is_fitted(self, "network_")
        seed = int(check_random_state(random_state).randint(2**31 - 1))
        codes = self.network_.sample(n_samples, seed=seed).codes
        return self._decoded(codes)

    def transform(self, X: Any) -> NDArray[Any]:
        """Return the rows with missing cells set to their most probable values given the others.

        Known cells are unchanged; a missing cell of a discretised column gets the median of its
        interval.
        """
        engine = self._inference()
        rows = self._rows(X, reset=False)
        table = self._encoded_rows(rows)
        filled = self._decoded(engine.impute(table).codes)
        gaps = table.codes < 0
        if rows.dtype.kind in "fiub" and filled.dtype.kind in "fiub":
            return np.where(gaps, filled, rows).astype(np.float64)
        return np.where(gaps, filled, rows.astype(object))

    def _encoded(self, X: Any) -> Table:
        check_is_fitted(self, "network_")
        return self._encoded_rows(self._rows(X, reset=False))

    def _encoded_rows(self, rows: NDArray[Any]) -> Table:
        return self.network_.encode(dict(zip(self._names(), rows.T, strict=True)))

    def _decoded(self, codes: NDArray[np.int32]) -> NDArray[Any]:
        columns = [np.asarray(values)[codes[:, v]] for v, values in enumerate(self.fill_values_)]
        if all(column.dtype.kind in "fiub" for column in columns):
            return np.column_stack(columns).astype(np.float64)
        return np.column_stack([column.astype(object) for column in columns])


def _fill_values(rows: NDArray[Any], table: Table) -> list[list[Any]]:
    """Return, for each column and state, the value that stands for it."""
    found: list[list[Any]] = []
    for v, coding in enumerate(table.codings):
        if not isinstance(coding, Bins):
            found.append(list(coding.states))
            continue
        numbers = rows[:, v].astype(np.float64)
        numbers = np.where(np.isnan(numbers), np.nanmedian(numbers), numbers)
        inside = [numbers[table.codes[:, v] == code] for code in range(len(coding.states))]
        middle = float(np.median(numbers))
        found.append([float(np.median(part)) if len(part) else middle for part in inside])
    return found


def _fractions(column: NDArray[Any]) -> NDArray[np.float64] | None:
    """Return the numbers of a column, nan where missing, if some are not whole; else None."""
    try:
        numbers = column.astype(np.float64)
    except (TypeError, ValueError):
        return None
    known = numbers[np.isfinite(numbers)]
    if len(np.unique(known)) < 2 or np.all(known == np.round(known)):
        return None
    return numbers


def weighed(
    weights: NDArray[np.float64] | None, *arrays: NDArray[Any]
) -> tuple[NDArray[np.float64] | None, list[NDArray[Any]]]:
    """Return weights and rows without rows of weight zero; whole-number weights repeat rows.

    Counting repeated rows is faster than adding up weights, and exact.
    """
    if weights is None:
        return None, list(arrays)
    if np.any(weights < 0):
        msg = f"sample_weight must not be negative, got {weights.min()}"
        raise DataError(msg)
    counts = np.round(weights)
    if np.array_equal(counts, weights) and counts.sum() <= MAX_REPEATED:
        return None, [np.repeat(array, counts.astype(int), axis=0) for array in arrays]
    return weights[weights > 0], [array[weights > 0] for array in arrays]
