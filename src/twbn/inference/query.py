"""Questions to a network: posteriors, probabilities of evidence, most probable explanations."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from twbn.checks import checked_whole
from twbn.errors import DataError, OptionError
from twbn.inference.beliefs import Beliefs, scaled
from twbn.inference.junction_tree import (
    MAX_ENTRIES,
    JunctionTree,
    Likelihoods,
    look_at_the_clock,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from twbn.network.network import Network, State, Table

__all__ = ["Inference", "Posterior"]


@dataclass(frozen=True)
class Posterior:
    """A distribution over the joint states of some variables."""

    variables: tuple[str, ...]
    states: tuple[tuple[State, ...], ...]
    values: NDArray[np.float64]

    def __getitem__(self, state: Any) -> float:
        """Return the probability of a state, or of a tuple of states."""
        wanted = state if isinstance(state, tuple) else (state,)
        if len(wanted) != len(self.variables):
            msg = f"expected a state for each of {list(self.variables)}, got {state!r}"
            raise OptionError(msg)
        cell = []
        for name, states, one in zip(self.variables, self.states, wanted, strict=True):
            if one not in states:
                msg = f"{one!r} is no state of {name!r}: {list(states)}"
                raise DataError(msg)
            cell.append(states.index(one))
        return float(self.values[tuple(cell)])

    def to_dict(self) -> dict[State, float]:
        """Return {state: probability} of a single variable."""
        if len(self.variables) != 1:
            msg = f"{len(self.variables)} variables have joint states; use values"
            raise OptionError(msg)
        return dict(zip(self.states[0], self.values.tolist(), strict=True))


class Inference:
    """Exact answers from one network.

    Parameters
    ----------
    network
        A `Network`; its decomposition makes the junction tree, or greedy fill-in does.
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
            Names; the axes of the answer in this order.
        evidence
            State by variable: a mapping, a row of a frame (a Series) or a frame of one row. What is
            missing there (None, NaN, an empty text) is not known.
        likelihood
            Soft evidence: for a variable a number for each of its states, not all zero.
        """
        network = self.network
        if isinstance(variables, str):
            variables = [variables]
        wanted = [network.index(name) for name in variables]
        if not wanted or len(set(wanted)) < len(wanted):
            msg = f"variables must be distinct, and at least one, got {list(variables)}"
            raise OptionError(msg)
        known = network.known_codes(evidence)
        if len(wanted) == 1 and not likelihood and wanted[0] not in known:
            return self._single(wanted[0], known)
        given, _ = self._likelihoods(known, likelihood)
        found = self._checked(self.tree.collect(given, wanted), known)
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
        self._checked(beliefs[0], known)
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
        """Return the most probable state of all variables together.

        Among equals, the one whose states come first, bag by bag: always the same.
        """
        return self._named(self.best_codes(self.network.known_codes(evidence)))

    def log_possible(self, evidence: Any) -> float:
        """Return the log-probability of evidence, or raise DataError naming it if it is zero."""
        return self.log_possible_codes(self.network.known_codes(evidence))

    def log_possible_codes(self, known: Mapping[int, int]) -> float:
        """Return the same for codes by position."""
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
        codes = self._traced(self._likelihoods(known, None)[0], 1, known, None)[0]
        return dict(enumerate(codes.tolist()))

    def drawn_codes(self, known: Mapping[int, int], *, seed: int) -> dict[int, int]:
        """Return codes of all variables, by position, drawn from the distribution given some."""
        rng = np.random.default_rng(checked_whole("seed", seed, least=0))
        codes = self._traced(self._likelihoods(known, None)[0], 1, known, rng)[0]
        return dict(enumerate(codes.tolist()))

    def log_codes(self, rows: NDArray[np.int32]) -> NDArray[np.float64]:
        """Return the log-probability of rows of codes; what is negative is summed out."""
        return self.tree.row_messages().collect(np.ascontiguousarray(rows), 0)[1]

    def _named(self, codes: Mapping[int, int]) -> dict[str, State]:
        network = self.network
        return {name: network.states[v][codes[v]] for v, name in enumerate(network.names)}

    def predict_proba(self, data: Any, variable: str) -> NDArray[np.float64]:
        """Return the posterior of one variable in every row, given the row's other cells."""
        v = self.network.index(variable)
        data = self.network.encode(data, target=variable)
        n_states = self.network.n_states[v]
        rows = np.ascontiguousarray(data.codes, dtype=np.int32)
        posteriors, logs = self.tree.row_messages(v).collect(rows, n_states)
        self._check_possible(logs, data, v)
        return posteriors.reshape(-1, n_states)

    def impute(self, data: Any) -> Table:
        """Return the table with the missing cells of each row at their most probable states."""
        table = self.network.encode(data)
        self._check_possible(self.score_samples(table), table, -1)
        codes = np.array(table.codes)
        for rows, likelihoods in self._blocks(table):
            found = self._traced(likelihoods, len(rows), None, None)
            gaps = codes[rows] < 0
            codes[rows] = np.where(gaps, found, codes[rows])
        return replace(table, codes=codes)

    def score_samples(self, data: Any) -> NDArray[np.float64]:
        """Return the log-probability of every row's known cells."""
        return self.log_codes(self.network.encode(data).codes)

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
        """Return the likelihood of each state, the largest being one, and what that leaves out.

        The second number is the logarithm of the factor by which the true ones are larger.
        """
        network = self.network
        found: Likelihoods = {}
        log = 0.0
        for v, code in known.items():
            values = np.zeros((1, network.n_states[v]))
            values[0, code] = 1.0
            found[v] = values
        if likelihood is not None and not isinstance(likelihood, Mapping):
            msg = f"likelihood must be numbers by variable (a dict), got {likelihood!r}"
            raise OptionError(msg)
        for name, soft in (likelihood or {}).items():
            v = network.index(name)
            values = self._checked_likelihood(name, soft)
            if v in known:  # one number matters
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

    def _blocks(self, data: Table) -> Iterator[tuple[NDArray[np.int64], Likelihoods]]:
        """Yield rows of the data that are worked on together, with their evidence."""
        step = self.tree.rows_at_once()
        for first in range(0, data.n_rows, step):
            rows = np.arange(first, min(first + step, data.n_rows))
            likelihoods: Likelihoods = {}
            for v in range(self.network.n_variables):
                codes = data.codes[rows, v]
                if not (codes >= 0).any():
                    continue
                n = self.network.n_states[v]
                likelihoods[v] = np.vstack([np.eye(n), np.ones(n)])[codes]  # -1: the last, unknown
            yield rows, likelihoods

    def expected_counts(
        self, data: Any, *, deadline: float = math.inf
    ) -> tuple[list[NDArray[np.float64]], float] | None:
        """Return the expected counts of every family given the known cells, and their likelihood.

        Tables as the network has them: an axis for each parent, the variable's own last. None when
        ``time.perf_counter()`` passes the deadline, or Ctrl-C comes, before all rows are done.
        """
        network = self.network
        data = network.encode(data)
        counts = [np.zeros(table.shape) for table in network.tables]
        weights = np.ones(data.n_rows) if data.weights is None else data.weights
        total = 0.0
        for rows, likelihoods in self._blocks(data):
            try:
                beliefs = self.tree.calibrate(likelihoods, deadline=deadline)
            except TimeoutError:
                return None
            self._check_possible(np.broadcast_to(self._log(beliefs), len(rows)), data, -1, rows[0])
            total += float(weights[rows] @ np.broadcast_to(self._log(beliefs), len(rows)))
            for v in range(network.n_variables):
                belief = beliefs[self.tree.home[v]]
                family = (*network.dag.parents[v], v)
                kept = tuple(sorted(family))
                values = belief.summed(kept).plain()
                share = values / values.reshape(len(values), -1).sum(axis=1).reshape(
                    -1, *([1] * len(kept))
                )
                share = np.broadcast_to(share, (len(rows), *share.shape[1:]))
                summed = np.tensordot(weights[rows], share, axes=1)
                counts[v] += np.transpose(summed, [kept.index(u) for u in family])
        return counts, total

    def _log(self, beliefs: list[Beliefs]) -> NDArray[np.float64]:
        """Return the log-probability of the evidence of every row, from a calibrated root."""
        root = beliefs[0]
        sums = root.plain().reshape(len(root.values), -1).sum(axis=1)
        with np.errstate(divide="ignore"):
            return np.asarray(root.log + np.log(sums))

    def complete(self, data: Any, *, seed: int = 0, deadline: float = math.inf) -> Table:
        """Return the rows with the missing cells of each drawn from their posterior.

        TimeoutError when ``time.perf_counter()`` passes the deadline, or Ctrl-C comes, before.
        """
        rng = np.random.default_rng(checked_whole("seed", seed, least=0))
        table = self.network.encode(data)
        codes = np.array(table.codes)
        for rows, likelihoods in self._blocks(table):
            codes[rows] = self._traced(likelihoods, len(rows), None, rng, deadline)
        return replace(table, codes=codes)

    def _traced(
        self,
        likelihoods: Likelihoods,
        n_rows: int,
        known: Mapping[int, int] | None,
        rng: np.random.Generator | None,
        deadline: float = math.inf,
    ) -> NDArray[np.int32]:
        """Return the most probable codes of every row, or with `rng` codes drawn at random."""
        tree = self.tree
        parent, order = tree.orientation(0)
        by_bag = tree.by_bag(likelihoods)
        waiting: list[list[Beliefs]] = [[] for _ in tree.bags]
        beliefs: list[Beliefs] = [None] * len(tree.bags)  # type: ignore[list-item]
        for i in reversed(order):
            look_at_the_clock(deadline)
            beliefs[i] = tree.combine(i, waiting[i], by_bag[i])
            if parent[i] >= 0:
                kept = tuple(v for v in tree.bags[i] if v in tree.decomposition.bags[parent[i]])
                up = beliefs[i].maximised(kept) if rng is None else beliefs[i].summed(kept)
                waiting[parent[i]].append(up)
        self._checked(beliefs[order[0]], known)
        codes = np.full((n_rows, self.network.n_variables), -1, dtype=np.int32)
        every = np.arange(n_rows)
        for i in order:
            bag = tree.bags[i]
            free = [v for v in bag if codes[0, v] < 0]
            if not free:
                continue
            row = every if len(beliefs[i].values) > 1 else np.zeros(n_rows, dtype=np.intp)
            table = _given(beliefs[i], row, codes, free).reshape(n_rows, -1)
            best = table.argmax(axis=1) if rng is None else _drawn(table, rng)
            shape = tuple(self.network.n_states[v] for v in free)
            for v, found in zip(free, np.unravel_index(best, shape), strict=True):
                codes[:, v] = found
        return codes

    def _checked(self, found: Beliefs, known: Mapping[int, int] | None) -> Beliefs:
        """Refuse evidence that has probability zero, by name."""
        if np.isneginf(found.log).any() or found.values.max() == 0:
            self._refuse_impossible(known)
        return found

    def _refuse_impossible(self, known: Mapping[int, int] | None) -> NoReturn:
        names, states = self.network.names, self.network.states
        given = ", ".join(f"{names[v]}={states[v][code]}" for v, code in (known or {}).items())
        msg = f"the evidence has probability zero: {given or 'the likelihoods exclude all'}"
        raise DataError(msg)

    def _check_possible(
        self, logs: NDArray[np.float64], data: Table, left_out: int, first: int = 0
    ) -> None:
        """Refuse rows that have probability zero, by name; `first` is the number of the first."""
        bad = np.flatnonzero(~np.isfinite(logs))
        if len(bad):
            row = int(bad[0]) + int(first)
            known = [
                f"{name}={data.states[v][data.codes[row, v]]}"
                for v, name in enumerate(data.names)
                if data.codes[row, v] >= 0 and v != left_out
            ]
            msg = f"row {row + 1} has probability zero: {', '.join(known)}"
            raise DataError(msg)


def _marginal(belief: Beliefs, v: int) -> NDArray[np.float64]:
    """Return the table of one variable, up to a factor."""
    if belief.exponents is not None:
        return np.asarray(belief.summed((v,)).plain()[0])
    axes = tuple(k for k, u in enumerate(belief.variables) if u != v)
    return np.asarray(belief.values[0].sum(axis=axes))


def _given(
    belief: Beliefs, row: NDArray[np.intp], codes: NDArray[np.int32], free: Sequence[int]
) -> NDArray[np.float64]:
    """Return each row's table over the free variables, the others being what they are."""
    known = [v for v in belief.variables if v not in free]
    axes = (0, *(1 + belief.variables.index(v) for v in (*known, *free)))
    exponents = belief.exponents
    turned = Beliefs(
        (*known, *free),
        np.transpose(belief.values, axes),
        belief.log,
        None if exponents is None else np.transpose(exponents, axes),
    )
    return turned.at((row, *(codes[:, v] for v in known)))


def _drawn(table: NDArray[np.float64], rng: np.random.Generator) -> NDArray[np.int64]:
    """Return for each row of weights a position drawn in proportion to them."""
    steps = np.cumsum(table, axis=1)
    draw = rng.random(len(table)) * steps[:, -1]
    return np.asarray(np.minimum((steps <= draw[:, None]).sum(axis=1), table.shape[1] - 1))
