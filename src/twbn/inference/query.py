"""Queries on a network: posteriors, probabilities of evidence, most probable states."""

from __future__ import annotations

import math
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any

import numpy as np

from twbn.checks import FOREVER, checked_memory_limit, checked_seed, checked_time_limit
from twbn.errors import OptionError
from twbn.inference.elimination import Elimination, Limits
from twbn.inference.evidence import read_given, refuse_impossible, targets_of
from twbn.inference.factors import compiled_factors
from twbn.inference.influence import Influence, influence
from twbn.inference.interventions import Interventions
from twbn.inference.junction_tree import MAX_ENTRIES, JunctionTree
from twbn.inference.map import (
    MAX_MAP_ENTRIES,
    MapCost,
    MapLimits,
    MapResult,
    map_cost,
    marginal_map,
)
from twbn.inference.marginals import all_marginals
from twbn.inference.posterior import Marginals, Posterior
from twbn.inference.row_questions import RowQuestions
from twbn.inference.sensitivity import Sensitivity, sensitivity
from twbn.inference.states import codes_given

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from numpy.typing import NDArray

    from twbn.data.coding import State
    from twbn.inference.cost import QueryCost
    from twbn.network.network import Network

__all__ = ["Inference"]

#: Seconds that one answer may take, by the prediction.
TIME_LIMIT = 600.0
#: Bytes that passes over a junction tree take for each of its entries.
TREE_BYTES = 16


class Inference(RowQuestions):
    """Exact answers from one network.

    Parameters
    ----------
    network
        A `Network`; its decomposition, or one by greedy fill-in, gives the junction tree.
    max_entries
        Limit for the junction tree, where one is needed; see `JunctionTree`.
    memory_limit
        Memory for one answer, in GiB or as a text such as ``"500MiB"``; by default half of the
        machine's. What takes more is computed in several passes (see `cost`).
    time_limit
        Seconds that a single question may take, as predicted; a longer one is refused at once.
    on_progress
        Called with (passes done, passes in all) where an answer takes several passes.

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

    def __init__(
        self,
        network: Network,
        *,
        max_entries: int = MAX_ENTRIES,
        memory_limit: float | str | None = None,
        time_limit: float = TIME_LIMIT,
        on_progress: Callable[[int, int], None] | None = None,
    ) -> None:
        if not hasattr(network, "dag"):
            hint = "; ask a mixture with MixtureInference" * hasattr(network, "networks")
            msg = f"Inference answers for a Network, got {type(network).__name__}{hint}"
            raise OptionError(msg)
        self.network = network
        self._max_entries = max_entries
        seconds = checked_time_limit(time_limit) or FOREVER
        limits = Limits(checked_memory_limit(memory_limit), seconds, on_progress)
        self.factors = compiled_factors(network)
        self.elimination = Elimination(network, self.factors, limits)
        self._interventions = Interventions(partial(_engine, max_entries, limits))

    def __repr__(self) -> str:
        return f"Inference({self.network!r})"

    def __reduce__(self) -> tuple[Any, ...]:
        # Compiled parts are made anew.
        return (_engine, (self._max_entries, self.elimination.limits, self.network))

    @cached_property
    def tree(self) -> JunctionTree:
        """The junction tree, made when an answer needs it first."""
        in_memory = int(self.elimination.limits.memory * 2**30 / TREE_BYTES)
        most = min(self._max_entries, in_memory)
        return JunctionTree(self.network, max_entries=most, factors=self.factors, refuse=False)

    def query(
        self,
        variables: Sequence[str],
        evidence: Any = None,
        *,
        likelihood: Mapping[str, Sequence[float]] | None = None,
        do: Any = None,
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
        do
            Interventions, in the form of evidence: these variables are set to states, whatever
            their parents say (see `under`).
        """
        if do is not None:
            return self.under(do, evidence).query(variables, evidence, likelihood=likelihood)
        network = self.network
        wanted = targets_of(network, variables)
        known, soft, scale = read_given(network, evidence, likelihood)
        for v in set(wanted) & set(known):  # its axis is asked for: what is known becomes certain
            soft[v] = np.eye(network.n_states[v])[known[v]]
        free = {v: code for v, code in known.items() if v not in wanted}
        values, log = self.elimination.answer(wanted, free, soft)
        if log + scale == -math.inf:
            refuse_impossible(network, known, likelihood or ())
        return Posterior(
            tuple(network.names[v] for v in wanted),
            tuple(network.states[v] for v in wanted),
            values / values.sum(),
        )

    def cost(
        self,
        variables: Sequence[str],
        evidence: Any = None,
        *,
        likelihood: Mapping[str, Sequence[float]] | None = None,
        do: Any = None,
    ) -> QueryCost:
        """Return what `query` takes, without computing it; without variables, `log_evidence`."""
        if do is not None:
            return self.under(do, evidence).cost(variables, evidence, likelihood=likelihood)
        network = self.network
        wanted = targets_of(network, variables, least=0)
        known, soft, _ = read_given(network, evidence, likelihood)
        certain = {v: np.eye(network.n_states[v])[known[v]] for v in set(wanted) & set(known)}
        free = {v: code for v, code in known.items() if v not in wanted}
        return self.elimination.cost(wanted, free, {**soft, **certain})

    def marginals(
        self,
        evidence: Any = None,
        *,
        likelihood: Mapping[str, Sequence[float]] | None = None,
        do: Any = None,
    ) -> Marginals:
        """Return the posterior of every variable, by name; ``.to_frame()`` makes it a frame."""
        if do is not None:
            return self.under(do, evidence).marginals(evidence, likelihood=likelihood)
        network = self.network
        known, soft, scale = read_given(network, evidence, likelihood)
        found, log = all_marginals(self, known, soft) if known or soft else self._prior
        if log + scale == -math.inf:
            refuse_impossible(network, known, likelihood or ())
        return Marginals(
            (name, Posterior((name,), (network.states[v],), found[v].copy()))
            for v, name in enumerate(network.names)
        )

    def log_evidence(
        self,
        evidence: Any,
        *,
        likelihood: Mapping[str, Sequence[float]] | None = None,
        do: Any = None,
    ) -> float:
        """Return the log-probability of evidence; minus infinity where it is impossible."""
        if do is not None:
            return self.under(do, evidence).log_evidence(evidence, likelihood=likelihood)
        known, soft, scale = read_given(self.network, evidence, likelihood)
        values, log = self.elimination.answer((), known, soft)
        return log + scale + (math.log(float(values)) if log > -math.inf else 0.0)

    def most_probable(self, evidence: Any = None, *, do: Any = None) -> dict[str, State]:
        """Return the most probable joint state of all variables.

        Ties are broken deterministically: bag by bag, the states that come first win.
        """
        if do is not None:
            return self.under(do, evidence).most_probable(evidence)
        return self._named(self.best_codes(self.network.known_codes(evidence)))

    def marginal_map(
        self,
        variables: Sequence[str],
        evidence: Any = None,
        *,
        max_entries: int = MAX_MAP_ENTRIES,
        time_limit: float = 10.0,
        seed: int = 0,
        do: Any = None,
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
        if do is not None:
            return marginal_map(self.under(do, evidence), variables, evidence, limits)
        return marginal_map(self, variables, evidence, limits)

    def marginal_map_cost(self, variables: Sequence[str], evidence: Any = None) -> MapCost:
        """Return the cost of an exact answer from `marginal_map`, without computing it."""
        return map_cost(self.network, variables, evidence)

    def under(self, do: Any, evidence: Any = None) -> Inference:
        """Return the engine that answers as after an intervention (`Network.intervene`).

        Evidence that contradicts what is set is a DataError.
        """
        return self._interventions.engine(self.network, do, evidence)

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
            refuse_impossible(self.network, known)
        return value

    def sample_given(self, evidence: Any, *, seed: int = 0, do: Any = None) -> dict[str, State]:
        """Return one row drawn from the distribution given evidence."""
        if do is not None:
            return self.under(do, evidence).sample_given(evidence, seed=seed)
        return self._named(self.drawn_codes(self.network.known_codes(evidence), seed=seed))

    def best_codes(self, known: Mapping[int, int]) -> dict[int, int]:
        """Return the most probable code of every variable, by position, given some of them."""
        return codes_given(self, known, None)

    def drawn_codes(self, known: Mapping[int, int], *, seed: int) -> dict[int, int]:
        """Return codes of all variables, by position, drawn from the distribution given some."""
        return codes_given(self, known, np.random.default_rng(checked_seed(seed)))

    def influence(self, target: str, evidence: Any = None) -> Influence:
        """Return what would tell most about a target, and what each finding has told."""
        return influence(self, target, evidence)

    def sensitivity(self, target: str, state: Any, evidence: Any = None) -> Sensitivity:
        """Return the derivative of a state's posterior with respect to every parameter."""
        return sensitivity(self, target, state, evidence)

    def _named(self, codes: Mapping[int, int]) -> dict[str, State]:
        network = self.network
        return {name: network.states[v][codes[v]] for v, name in enumerate(network.names)}

    @cached_property
    def _prior(self) -> tuple[list[NDArray[np.float64]], float]:
        return all_marginals(self, {}, {})


def _engine(max_entries: int, limits: Limits, network: Network) -> Inference:
    memory, seconds, on_progress = limits
    return Inference(
        network,
        max_entries=max_entries,
        memory_limit=memory,
        time_limit=seconds,
        on_progress=on_progress,
    )
