"""Structure and parameters in one estimator, with scikit-learn's interface."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sklearn.base import BaseEstimator, OneToOneFeatureMixin, TransformerMixin
from sklearn.utils import check_random_state
from sklearn.utils.validation import _check_sample_weight, check_is_fitted

from twbn.checks import checked_time_limit
from twbn.data.frames import with_cells
from twbn.deadline import Deadline
from twbn.errors import DataError
from twbn.inference import Inference
from twbn.inference.fill import fill_columns
from twbn.interrupts import deferred
from twbn.learning.density import DensityQuestions, filled_rows
from twbn.learning.features import Features, checked_features, coded_features, weighed
from twbn.learning.learn import learn
from twbn.learning.refine import fit_refinement
from twbn.learning.structural_em import StructuralEm
from twbn.network.fit import fit as fit_parameters

if TYPE_CHECKING:
    from collections.abc import Mapping

    from twbn.data.discretize import Discretize
    from twbn.data.table import Table
    from twbn.network import Network
    from twbn.search import SearchResult

__all__ = ["TreewidthBN", "TreewidthEstimator"]

#: Iterations per variable if neither a time limit nor a number of iterations is given.
ITERATIONS_PER_VARIABLE = 20_000
#: Most rounds of structural EM, where cells are missing.
MAX_ROUNDS = 4


class TreewidthEstimator(BaseEstimator):  # type: ignore[misc]
    """What both estimators share: options, coding of rows, learning.

    Parameters
    ----------
    treewidth, max_states
        The limits on treewidth and on the joint states of a bag; see `twbn.learn`.
    structure_score, ess, max_parents
        What structures are judged by; see `twbn.compute_scores`. (An option called ``score`` would
        hide the method of that name.) None: ``"loglik"`` in a classifier, ``"bdeu"`` otherwise.
    method, time_limit, max_iterations
        The search and its budget; see `twbn.learn`. Without a budget: 20,000 iterations for each
        variable, so that the same `random_state` gives the same network everywhere.
    discretize, bins
        How numeric columns with many values are cut, see `twbn.as_table`; None: by ``"mdlp"`` in a
        classifier, by ``"quantile"`` otherwise.
    max_categories
        Most states of a column of texts; the rarest are grouped into one called ``"other"``.
    unknown
        A state that was not seen in fitting is taken as ``"missing"``, with one warning that names
        it, or is an ``"error"``.
    parameter_ess
        Equivalent sample size of the prior of the parameters; 0: maximum likelihood. None: 3 in a
        classifier, where the prior is the distribution given fewer parents, 1 otherwise.
    random_state, n_jobs
        As everywhere in scikit-learn.
    """

    _default_score = "bdeu"
    #: Share of the time left after coding that the search for a structure gets.
    _search_share = 0.9

    def __init__(
        self,
        treewidth: int | None = None,
        *,
        max_states: int | None = None,
        structure_score: str | None = None,
        ess: float = 1.0,
        max_parents: int | Mapping[str, int] | None = None,
        method: str = "auto",
        time_limit: float | None = None,
        max_iterations: int | None = None,
        discretize: str | Discretize | None = None,
        bins: int | None = None,
        max_categories: int | None = None,
        unknown: str = "missing",
        parameter_ess: float | None = None,
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.treewidth = treewidth
        self.max_states = max_states
        self.structure_score = structure_score
        self.ess = ess
        self.max_parents = max_parents
        self.method = method
        self.time_limit = time_limit
        self.max_iterations = max_iterations
        self.discretize = discretize
        self.bins = bins
        self.max_categories = max_categories
        self.unknown = unknown
        self.parameter_ess = parameter_ess
        self.random_state = random_state
        self.n_jobs = n_jobs

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.string = True
        tags.input_tags.categorical = True
        return tags

    def _search_options(self, n_variables: int, clock: Deadline) -> dict[str, Any]:
        """Return how a structure is searched for, as `twbn.learn` takes it.

        Coding the rows has taken some of the time; fitting the parameters will take some.
        """
        budget = self.max_iterations
        if budget is None and self.time_limit is None:
            budget = ITERATIONS_PER_VARIABLE * n_variables
        return {
            "treewidth": self.treewidth,
            "max_states": self.max_states,
            "score": self._default_score if self.structure_score is None else self.structure_score,
            "ess": self.ess,
            "max_parents": self.max_parents,
            "time_limit": None if clock.left is None else self._search_share * clock.left,
            "max_iterations": budget,
            "seed": int(check_random_state(self.random_state).randint(2**31 - 1)),
            "n_jobs": self.n_jobs,
            "method": self.method,
        }

    def _learn(self, table: Table, clock: Deadline) -> bool:
        """Learn structure and parameters from a coded table; return whether Ctrl-C came."""
        options = self._search_options(table.n_variables, clock) | self._rules(table)
        ess = 1.0 if self.parameter_ess is None else self.parameter_ess
        if table.n_missing.any():
            search = StructuralEm(table, learn, ess, options["seed"], clock)
            del options["time_limit"]
            found = search.run(options, MAX_ROUNDS)
            self._keep(found.result, found.network)
            return found.status == "interrupted"
        result = learn(table, **options)
        self._keep(result, fit_parameters(result, table, ess=ess))
        return result.status == "interrupted"

    def _rules(self, table: Table) -> dict[str, Any]:  # noqa: ARG002
        """Return what a structure must have, as `twbn.learn` takes it."""
        return {}

    def _keep(self, result: SearchResult, network: Network) -> None:
        """Set the fitted attributes."""
        self.network_ = network
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

    def _encoded(self, X: Any) -> Table:
        """Return rows coded like those that the network was learned from."""
        check_is_fitted(self, "network_")
        features = checked_features(self, X, reset=False)
        return features.coded_like(self.network_, self.unknown)


class TreewidthBN(
    DensityQuestions,
    OneToOneFeatureMixin,  # type: ignore[misc]
    TransformerMixin,  # type: ignore[misc]
    TreewidthEstimator,
):
    """A Bayesian network of bounded treewidth as a density estimator that also imputes.

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
        """Learn structure and parameters. `y` is ignored.

        After Ctrl-C, the best network so far is in the attributes when KeyboardInterrupt is raised.
        """
        clock = Deadline(checked_time_limit(self.time_limit))
        features = checked_features(self, X, reset=True)
        if len(features.columns) < 2:
            msg = "a network needs 2 columns or more: n_features = 1"
            raise DataError(msg)
        weights = None if sample_weight is None else _check_sample_weight(sample_weight, X)
        weights, rows = weighed(weights)
        table = coded_features(self, features.take(rows), weights).determined()
        with deferred():
            interrupted = self._learn(table, clock)
        if interrupted:
            raise KeyboardInterrupt
        coding = features.coding(self.network_, self.unknown)
        self.refinement_ = fit_refinement(self._engine, features.columns, coding, clock)
        return self

    def partial_fit(self, X: Any, y: Any = None, *, forget: float = 1.0) -> TreewidthBN:
        """Add the counts of more complete rows to the parameters; the structure stays.

        The first call is `fit`. With `forget` below 1, the counts so far are multiplied by it
        first. `y` is ignored.
        """
        if not hasattr(self, "network_"):
            return self.fit(X, y)
        self.network_ = self.network_.update(self._encoded(X), forget=forget)
        self._engine = Inference(self.network_)
        return self

    def transform(self, X: Any) -> Any:
        """Return the rows with missing cells filled in given the others; known ones as they are.

        A missing number gets its posterior mean, corrected by a regression on the row's other
        numbers; any other cell gets its most probable state. A frame gives a frame, everything else
        an array.
        """
        engine = self._inference()
        features: Features = checked_features(self, X, reset=False)
        found = fill_columns(engine, features.columns, how="mean")
        if self.refinement_ is not None and found.keys() & set(self.refinement_.names):
            coding = features.coding(self.network_, self.unknown)
            found |= self.refinement_.filled(engine, features.columns, coding)
        filled = with_cells(features.source, features.names, found)
        return filled_rows(features, found, filled)
