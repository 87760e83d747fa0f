"""Queries on a network: posteriors, probabilities of evidence, most probable states."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from twbn.checks import checked_seed
from twbn.errors import DataError, Option, OptionError
from twbn.inference.beliefs import Beliefs, scaled
from twbn.inference.fill import fill
from twbn.inference.junction_tree import MAX_ENTRIES, JunctionTree, Likelihoods
from twbn.inference.map import (
    MAX_MAP_ENTRIES,
    MapCost,
    MapLimits,
    MapResult,
    map_cost,
    marginal_map,
)
from twbn.inference.posterior import Posterior
from twbn.inference.rows import complete, log_codes, predict_proba
from twbn.inference.states import ImpossibleError, joint_codes

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from twbn.data.coding import State
    from twbn.data.table import Table
    from twbn.network.network import Network

__all__ = ["Inference"]


class Inference:
    """Exact answers from one network.

    Parameters
    ----------
    network
        A `Network`; its decomposition, or one by greedy fill-in, gives the junction tree.
    max_entries
        Limit for the junction tree; see `JunctionTree`.

    Examples
    --------
    >>> from twbn.network import Network
    >>> rain = Network.from_tables(
    ...     {"rain": ["no", "yes"], "grass": ["dry", "wet"]},
    ...     {"rain": [], "grass": ["rain"]},
    ...     {"rain": [0.8, 0.2], "grass": [[0.9, 0.1], [0.2, 0.8]]},
    ... )
    >>> engine = Inference(rain)
    >>> round(engine.query(["rain"], {"grass": "wet"})["yes"], 6)
    0.666667
    >>> engine.most_probable({"grass": "wet"})
    {'rain': 'yes', 'grass': 'wet'}
    """

    def __init__(self, network: Network, *, max_entries: int = MAX_ENTRIES) -> None:
        self.network = network
        self.tree = JunctionTree(network, max_entries=max_entries)

    def query(
        self,
        variables: Sequence[str],
        evidence: Any = None,
        *,
        likelihood: Mapping[str, Sequence[float]] | None = None,
    ) -> Posterior:
        """Return the joint posterior of some variables.

        Parameters
        ----------
        variables
            Names of variables; the axes of the answer follow this order.
        evidence
            A mapping from variable to state, a row of a frame (a Series) or a frame of one row.
            Missing values (None, NaN, an empty string) are unobserved.
        likelihood
            Soft evidence: for a variable, one number for each of its states, not all zero.
        """
        network = self.network
        if isinstance(variables, str):
            variables = [variables]
        wanted = [network.index(name) for name in variables]
        if not wanted or len(set(wanted)) < len(wanted):
            problem = f" must be distinct, and at least one, got {list(variables)}"
            raise OptionError(Option("variables"), problem)
        known = network.known_codes(evidence)
        if len(wanted) == 1 and not likelihood and wanted[0] not in known:
            return self._single(wanted[0], known)
        given, _ = self._likelihoods(known, likelihood)
        found = self.tree.collect(given, wanted)
        self._check_possible(found, known)
        values = found.plain()[0] / found.plain()[0].sum()
        order = [found.variables.index(v) for v in wanted]
        return Posterior(
            tuple(variables),
            tuple(network.states[v] for v in wanted),
            np.transpose(values, order),
        )

    def marginals(
        self,
        evidence: Any = None,
        *,
        likelihood: Mapping[str, Sequence[float]] | None = None,
    ) -> dict[str, Posterior]:
        """Return the posterior of every variable; two passes over the tree."""
        known = self.network.known_codes(evidence)
        given, _ = self._likelihoods(known, likelihood)
        beliefs = self.tree.calibrate(given) if given else self._prior
        self._check_possible(beliefs[0], known)
        found = {}
        for v, name in enumerate(self.network.names):
            values = _marginal(beliefs[self.tree.home[v]], v)
            states = self.network.states[v]
            found[name] = Posterior((name,), (states,), values / values.sum())
        return found

    def log_evidence(
        self,
        evidence: Any,
        *,
        likelihood: Mapping[str, Sequence[float]] | None = None,
    ) -> float:
        """Return the log-probability of evidence; minus infinity where it is impossible."""
        given, log = self._likelihoods(self.network.known_codes(evidence), likelihood)
        found = self.tree.collect(given)
        with np.errstate(divide="ignore"):
            return float(np.log(found.values[0]) + found.log[0]) + log

    def most_probable(self, evidence: Any = None) -> dict[str, State]:
        """Return the most probable joint state of all variables.

        Ties are broken deterministically: bag by bag, the states that come first win.
        """
        return self._named(self.best_codes(self.network.known_codes(evidence)))

    def marginal_map(
        self,
        variables: Sequence[str],
        evidence: Any = None,
        *,
        max_entries: int = MAX_MAP_ENTRIES,
        time_limit: float = 10.0,
        seed: int = 0,
    ) -> MapResult:
        """Return the most probable states of some variables given evidence; the rest is summed out.

        Parameters
        ----------
        evidence
            State by variable: a mapping, a row of a frame (a Series) or a frame of one row.
        max_entries
            If all tables together have at most this many entries (see `marginal_map_cost`), the
            answer is exact: the variables to sum out are eliminated first. Otherwise, coordinate
            ascent from several starts finds states, and mini-buckets of this size bound every
            other answer.
        time_limit
            Seconds for the search if the answer is not exact; Ctrl-C ends it early.
        """
        limits = MapLimits(max_entries, time_limit, seed)
        return marginal_map(self, variables, evidence, limits)

    def marginal_map_cost(self, variables: Sequence[str], evidence: Any = None) -> MapCost:
        """Return the cost of an exact answer from `marginal_map`, without computing it."""
        return map_cost(self.network, variables, evidence)

    def log_possible(self, evidence: Any) -> float:
        """Return the log-probability of evidence, or raise DataError naming it if it is zero."""
        return self.log_possible_codes(self.network.known_codes(evidence))

    def log_possible_codes(self, known: Mapping[int, int]) -> float:
        """Return the same as `log_possible`, for evidence given as codes by position."""
        row = np.full((1, self.network.n_variables), -1, dtype=np.int32)
        for v, code in known.items():
            row[0, v] = code
        value = float(self.log_codes(row)[0])
        if value == -np.inf:
            self._refuse_impossible(known)
        return value

    def sample_given(self, evidence: Any, *, seed: int = 0) -> dict[str, State]:
        """Return one row drawn from the distribution given evidence."""
        return self._named(self.drawn_codes(self.network.known_codes(evidence), seed=seed))

    def best_codes(self, known: Mapping[int, int]) -> dict[int, int]:
        """Return the most probable code of every variable, by position, given some of them."""
        return self._joint(known, None)

    def drawn_codes(self, known: Mapping[int, int], *, seed: int) -> dict[int, int]:
        """Return codes of all variables, by position, drawn from the distribution given some."""
        return self._joint(known, np.random.default_rng(checked_seed(seed)))

    def log_codes(self, rows: NDArray[np.int32]) -> NDArray[np.float64]:
        """Return the log-probability of rows of codes; negative codes are summed out."""
        return log_codes(self.tree, rows)

    def predict_proba(
        self, data: Any, variable: str, *, unknown: str = "missing"
    ) -> NDArray[np.float64]:
        """Return the posterior of one variable in every row, given the row's other cells.

        A state that the network does not have is taken as ``"missing"``, with one warning that
        names it, or is an ``"error"``.
        """
        return predict_proba(self.tree, data, variable, unknown=unknown)

    def impute(self, data: Any, *, how: str = "mean", seed: int = 0) -> Any:
        """Return data with the missing cells of each row filled in, all others as they are.

        Parameters
        ----------
        data
            A frame, a matrix, a dict of columns or a `Table`; what comes in comes out.
        how
            ``"mean"``: for a number that was cut into intervals its posterior mean, for any other
            cell its most probable state given the row. ``"mode"``: the jointly most probable states
            of the row. ``"draw"``: drawn from the posterior. A `Table` holds no numbers, so there
            ``"mean"`` is ``"mode"``. A number is represented by the mean of its interval.
        seed
            Seed of ``"draw"``.
        """
        return fill(self.tree, data, how=how, seed=seed)

    def complete(self, data: Any, *, seed: int = 0) -> Table:
        """Return the table with the missing cells of each row drawn from their posterior."""
        return complete(self.tree, data, seed=seed)

    def score_samples(self, data: Any) -> NDArray[np.float64]:
        """Return the log-probability of every row's known cells."""
        return self.log_codes(self.network.encode(data).codes)

    def _joint(self, known: Mapping[int, int], rng: np.random.Generator | None) -> dict[int, int]:
        """Return codes of all variables given some: the most probable, or drawn at random."""
        try:
            codes = joint_codes(self.tree, self._likelihoods(known, None)[0], 1, rng)[0]
        except ImpossibleError:
            self._refuse_impossible(known)
        return dict(enumerate(codes.tolist()))

    def _named(self, codes: Mapping[int, int]) -> dict[str, State]:
        network = self.network
        return {name: network.states[v][codes[v]] for v, name in enumerate(network.names)}

    @cached_property
    def _prior(self) -> list[Beliefs]:
        return self.tree.calibrate({})

    def _single(self, v: int, known: Mapping[int, int]) -> Posterior:
        """Return the posterior of one variable that is not known."""
        network = self.network
        row = np.full((1, network.n_variables), -1, dtype=np.int32)
        for u, code in known.items():
            row[0, u] = code
        values, log = self.tree.row_messages(v).collect(row, network.n_states[v])
        if not np.isfinite(log[0]):
            self._refuse_impossible(known)
        return Posterior((network.names[v],), (network.states[v],), values)

    def _likelihoods(
        self, known: Mapping[int, int], likelihood: Mapping[str, Sequence[float]] | None
    ) -> tuple[Likelihoods, float]:
        """Return the likelihood of each state, scaled to a maximum of one, and a log scale.

        The second value is the logarithm of the factor by which the true likelihoods are larger.
        """
        network = self.network
        found: Likelihoods = {}
        log = 0.0
        for v, code in known.items():
            values = np.zeros((1, network.n_states[v]))
            values[0, code] = 1.0
            found[v] = values
        if likelihood is not None and not isinstance(likelihood, Mapping):
            problem = f" must map variables to numbers (a dict), got {likelihood!r}"
            raise OptionError(Option("likelihood"), problem)
        for name, soft in (likelihood or {}).items():
            v = network.index(name)
            values = self._checked_likelihood(name, soft)
            if v in known:  # only one number matters
                value = float(values[0, known[v]])
                log += math.log(value) if value > 0 else -math.inf
                continue
            given = scaled((v,), values)
            log += float(given.log[0])
            found[v] = replace(given, log=np.zeros(1))
        return found, log

    def _checked_likelihood(self, name: str, soft: Any) -> NDArray[np.float64]:
        n_states = self.network.n_states[self.network.index(name)]
        try:
            values = np.array(soft, dtype=np.float64).reshape(1, -1)
        except (TypeError, ValueError, OverflowError):
            values = np.empty((1, 0))
        if values.shape != (1, n_states) or not (
            np.all(np.isfinite(values)) and values.min() >= 0 and values.max() > 0
        ):
            msg = (
                f"the likelihood of {name!r} must be {n_states} numbers, "
                f"not negative and not all zero, got {soft!r}"
            )
            raise OptionError(msg)
        return values

    def _check_possible(self, found: Beliefs, known: Mapping[int, int]) -> None:
        """Raise DataError, naming the evidence, if it has probability zero."""
        if found.is_impossible:
            self._refuse_impossible(known)

    def _refuse_impossible(self, known: Mapping[int, int]) -> NoReturn:
        names, states = self.network.names, self.network.states
        given = ", ".join(f"{names[v]}={states[v][code]}" for v, code in known.items())
        msg = f"the evidence has probability zero: {given or 'the likelihoods exclude every state'}"
        raise DataError(msg)


def _marginal(belief: Beliefs, v: int) -> NDArray[np.float64]:
    """Return the table of one variable, up to a factor."""
    if belief.exponents is not None:
        return np.asarray(belief.summed((v,)).plain()[0])
    axes = tuple(k for k, u in enumerate(belief.variables) if u != v)
    return np.asarray(belief.values[0].sum(axis=axes))
