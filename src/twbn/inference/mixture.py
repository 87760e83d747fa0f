"""Exact answers from a mixture: those of its components, weighted by what explains the evidence."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from twbn.checks import checked_seed
from twbn.errors import OptionError
from twbn.inference.evidence import read_given, refuse_impossible, targets_of
from twbn.inference.mixture_explanation import Explanation, explained
from twbn.inference.posterior import Marginals, Posterior
from twbn.inference.query import Inference
from twbn.inference.row_questions import RowQuestions
from twbn.inference.rows import check_possible
from twbn.network.mixture import Mixture, logarithm_of_sum

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from twbn.data.coding import State
    from twbn.data.table import Table
    from twbn.deadline import Deadline

__all__ = ["MixtureInference"]


class MixtureInference(RowQuestions):
    """Exact answers from a mixture of networks, with the questions of `Inference`.

    Parameters
    ----------
    mixture
        A `Mixture`.
    **options
        As for `Inference`, of every component's engine.

    Notes
    -----
    A posterior is the mean of the components' posteriors, each weighted by the probability of its
    component given the evidence. Every answer takes one question, and the probability of the
    evidence, of every component.

    Examples
    --------
    >>> from twbn.network import Network
    >>> def coins(p):
    ...     return Network.from_tables(
    ...         {"a": ["head", "tail"], "b": ["head", "tail"]}, {"a": [], "b": []},
    ...         {"a": [p, 1 - p], "b": [p, 1 - p]},
    ...     )
    >>> engine = MixtureInference(Mixture([0.5, 0.5], [coins(0.9), coins(0.1)]))
    >>> round(engine.query(["b"], {"a": "head"})["head"], 2)
    0.82
    """

    def __init__(self, mixture: Mixture, **options: Any) -> None:
        if not isinstance(mixture, Mixture):
            msg = f"MixtureInference answers for a Mixture, got {type(mixture).__name__}"
            raise OptionError(msg)
        self.network = mixture  # type: ignore[assignment]
        self.mixture = mixture
        self._options = options
        self.engines = tuple(Inference(network, **options) for network in mixture.networks)
        self._logs = np.log(mixture.weights)

    def __reduce__(self) -> tuple[Any, ...]:
        return (_with_options, (self.mixture, self._options))

    def __repr__(self) -> str:
        return f"MixtureInference({self.mixture!r})"

    def query(
        self,
        variables: Sequence[str],
        evidence: Any = None,
        *,
        likelihood: Mapping[str, Sequence[float]] | None = None,
        do: Any = None,
    ) -> Posterior:
        """Return the joint posterior of some variables; see `Inference.query`."""
        shares, engines = self._shares(evidence, likelihood, do)
        first = self.mixture.networks[0]
        wanted = targets_of(first, variables)
        names = tuple(first.names[v] for v in wanted)
        values = sum(
            share * engine.query(names, evidence, likelihood=likelihood).values
            for share, engine in zip(shares, engines, strict=True)
            if share > 0
        )
        return Posterior(names, tuple(first.states[v] for v in wanted), np.asarray(values))

    def marginals(
        self,
        evidence: Any = None,
        *,
        likelihood: Mapping[str, Sequence[float]] | None = None,
        do: Any = None,
    ) -> Marginals:
        """Return the posterior of every variable, by name."""
        shares, engines = self._shares(evidence, likelihood, do)
        sums: dict[str, Posterior] = {}
        for share, engine in zip(shares, engines, strict=True):
            if share <= 0:
                continue
            for name, own in engine.marginals(evidence, likelihood=likelihood).items():
                before = sums[name].values if name in sums else 0.0
                sums[name] = Posterior(own.variables, own.states, before + share * own.values)
        return Marginals(sums)

    def log_evidence(
        self,
        evidence: Any,
        *,
        likelihood: Mapping[str, Sequence[float]] | None = None,
        do: Any = None,
    ) -> float:
        """Return the log-probability of evidence; minus infinity where it is impossible."""
        logs, _ = self._log_parts(evidence, likelihood, do)
        return float(logarithm_of_sum(logs))

    def components(
        self,
        evidence: Any = None,
        *,
        likelihood: Mapping[str, Sequence[float]] | None = None,
        do: Any = None,
    ) -> NDArray[np.float64]:
        """Return the probability of every component given evidence."""
        return self._shares(evidence, likelihood, do)[0]

    def most_probable(self, evidence: Any = None, *, do: Any = None) -> dict[str, State]:
        """Return the most probable joint state of all variables; see `explanation`."""
        return self.explanation(evidence, do=do).states

    def explanation(
        self, evidence: Any = None, *, do: Any = None, time_limit: float = 10.0
    ) -> Explanation:
        """Return the most probable states of all variables, with a bound on all others.

        Notes
        -----
        The states that are most probable in one component need not be so in the mixture. The search
        branches on variables in which the components' best states differ; it is exact unless the
        time limit ends it, and then the bound says how far it may be from the best.
        """
        engines = self._under(do, evidence)
        known = self.mixture.known_codes(evidence)
        self.components(evidence, do=do)  # impossible evidence is named here
        return explained(engines, self.mixture.weights, known, time_limit)

    def sample_given(self, evidence: Any, *, seed: int = 0, do: Any = None) -> dict[str, State]:
        """Return one row drawn from the distribution given evidence."""
        rng = np.random.default_rng(checked_seed(seed))
        shares, engines = self._shares(evidence, None, do)
        engine = engines[int(rng.choice(len(shares), p=shares))]
        return engine.sample_given(evidence, seed=int(rng.integers(2**63)))

    def under(self, do: Any, evidence: Any = None) -> Any:
        """Return the engine that answers as after an intervention in every component."""
        for engine in self.engines:
            engine.under(do, evidence)  # contradictions are named here
        return MixtureInference(self.mixture.intervene(do), **self._options)

    def responsibilities(self, data: Any) -> NDArray[np.float64]:
        """Return the probability of every component (across) for every row (down)."""
        logs = self._row_logs(self.mixture.encode(data).codes)
        totals = logarithm_of_sum(logs)
        if not np.all(np.isfinite(totals)):
            row = int(np.flatnonzero(~np.isfinite(totals))[0])
            refuse_impossible(self.mixture.networks[0], _codes_of(self.mixture.encode(data), row))
        return np.asarray(np.exp(logs - totals[:, None]))

    def answer_rows(
        self, rows: NDArray[np.int32], target: int | None
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return the posterior of a target for each row of codes, and logarithms."""
        found = [engine.answer_rows(rows, target) for engine in self.engines]
        logs = np.column_stack([log for _, log in found]) + self._logs
        totals = logarithm_of_sum(logs)
        if target is None:
            return found[0][0], totals
        with np.errstate(invalid="ignore"):
            shares = np.exp(logs - totals[:, None])
        shares[~np.isfinite(totals)] = 0.0
        values = sum(
            share[:, None] * np.where(share[:, None] > 0, own, 0.0)
            for share, (own, _) in zip(shares.T, found, strict=True)
        )
        return np.asarray(values), totals

    def joint_rows(
        self, table: Table, rng: np.random.Generator | None, deadline: Deadline | None = None
    ) -> NDArray[np.int32]:
        """Return codes of all variables for every row: drawn at random, or probable together.

        Without `rng`, each row gets the best of what its components find most probable.
        """
        logs = self._row_logs(table.codes)
        check_possible(logarithm_of_sum(logs), table)
        if rng is not None:
            return self._drawn_rows(table, logs, rng, deadline)
        best = np.full(table.n_rows, -np.inf)
        codes = np.array(table.codes)
        for i, engine in enumerate(self.engines):
            rows = np.flatnonzero(np.isfinite(logs[:, i]))
            if not len(rows):
                continue
            own = engine.joint_rows(table.take(rows), None, deadline)
            value = logarithm_of_sum(self._row_logs(own))
            better = value > best[rows]
            codes[rows[better]] = own[better]
            best[rows[better]] = value[better]
        return codes

    def _drawn_rows(
        self,
        table: Table,
        logs: NDArray[np.float64],
        rng: np.random.Generator,
        deadline: Deadline | None,
    ) -> NDArray[np.int32]:
        shares = np.exp(logs - logarithm_of_sum(logs)[:, None])
        steps = np.cumsum(shares, axis=1)
        drawn = (steps <= rng.random(table.n_rows)[:, None] * steps[:, -1:]).sum(axis=1)
        codes = np.array(table.codes)
        for i, engine in enumerate(self.engines):
            rows = np.flatnonzero(drawn == i)
            if len(rows):
                codes[rows] = engine.joint_rows(table.take(rows), rng, deadline)
        return codes

    def _row_logs(self, rows: NDArray[np.int32]) -> NDArray[np.float64]:
        """Return ln w P(row) of every row (down) by every component (across)."""
        return np.column_stack([engine.log_codes(rows) for engine in self.engines]) + self._logs

    def _under(self, do: Any, evidence: Any) -> Sequence[Inference]:
        if do is None:
            return self.engines
        return [engine.under(do, evidence) for engine in self.engines]

    def _log_parts(
        self, evidence: Any, likelihood: Any, do: Any
    ) -> tuple[NDArray[np.float64], Sequence[Inference]]:
        engines = self._under(do, evidence)
        logs = [engine.log_evidence(evidence, likelihood=likelihood) for engine in engines]
        return np.array(logs) + self._logs, engines

    def _shares(
        self, evidence: Any, likelihood: Any, do: Any
    ) -> tuple[NDArray[np.float64], Sequence[Inference]]:
        """Return the probability of every component given evidence, and the engines."""
        logs, engines = self._log_parts(evidence, likelihood, do)
        total = float(logarithm_of_sum(logs))
        if total == -math.inf:
            first = self.mixture.networks[0]
            known = read_given(first, evidence, likelihood).known
            refuse_impossible(first, known, likelihood or ())
        shares = np.exp(logs - total)
        return shares / shares.sum(), engines


def _with_options(mixture: Mixture, options: dict[str, Any]) -> MixtureInference:
    return MixtureInference(mixture, **options)


def _codes_of(table: Table, row: int) -> dict[int, int]:
    return {v: int(code) for v, code in enumerate(table.codes[row].tolist()) if code >= 0}
