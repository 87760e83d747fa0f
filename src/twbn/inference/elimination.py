"""Single questions, answered on the part of the network that matters, in memory that is known."""

from __future__ import annotations

import itertools
import math
import threading
import time
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from twbn import _core
from twbn.errors import MemoryLimitError
from twbn.inference.cost import QueryCost

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from numpy.typing import NDArray

    from twbn.network.network import Network

__all__ = ["Elimination", "Limits"]

#: Likelihoods of the states of some variables.
Soft = dict[int, "NDArray[np.float64]"]

#: Bytes of an entry, and seconds to form it, until that is measured.
ENTRY_BYTES, ENTRY_SECONDS = 8, 4e-9
#: Seconds for better orders than the first where that leaves many entries.
ORDER_SECONDS = 0.1
#: Entries above which it is worth looking at what the evidence implies.
DEAR_ENTRIES = 1e5
#: Entries above which a pass listens for Ctrl-C, which takes some time by itself.
WATCHED_ENTRIES = 1e6
#: Variables among which one is chosen to condition on.
N_CANDIDATES = 8
#: States tried to see whether evidence is possible, before its probability is computed.
MAX_TRIALS = 10_000
#: Seconds beyond which nobody waits; looking for a plan ends there.
HOPELESS_SECONDS = 1e10
#: Plans that are kept for questions about the same variables.
MAX_PLANS = 512


class Limits(NamedTuple):
    """What a single answer may take."""

    memory: float  # GiB
    seconds: float
    on_progress: Callable[[int, int], None] | None = None


class _Planned(NamedTuple):
    plan: _core.EliminationPlan
    conditioned: tuple[int, ...]
    n_passes: int


class _Asked(NamedTuple):
    targets: tuple[int, ...]
    known: tuple[int, ...]
    soft: tuple[int, ...]
    whole: bool  # where others are maximised over, the tables of all variables matter


class Elimination:
    """Answers questions about one network by variable elimination.

    Only the tables of variables that can change the answer are touched. If the messages do not fit
    into memory, some variables are conditioned on: there is one pass for each of their joint
    states, and the answers are added up. That is exact, too.

    Several threads may ask at once.
    """

    def __init__(self, network: Network, factors: _core.Factors, limits: Limits) -> None:
        self._network = network
        self._factors = factors
        self.limits = limits
        self._lock = threading.Lock()
        self._plans: dict[_Asked, _Planned] = {}

    def cost(self, targets: Sequence[int], known: Mapping[int, int], soft: Soft) -> QueryCost:
        """Return what an answer takes, without computing it."""
        return self._cost_of(self._best_plan(targets, known, soft, whole=False)[0])

    def relevant(self, targets: Sequence[int], known: Mapping[int, int]) -> list[int]:
        """Return the variables whose tables can change an answer."""
        asked = _Asked(tuple(targets), tuple(sorted(known)), (), whole=False)
        return self._plan(asked, (), 0.0).relevant

    def answer(
        self,
        targets: Sequence[int],
        known: Mapping[int, int],
        soft: Soft,
        *,
        maximise: bool = False,
        check: bool = True,
    ) -> tuple[NDArray[np.float64], float]:
        """Return a table over the targets, its largest entry about one, and the log of its scale.

        The log is minus infinity where the evidence is impossible; without `check`, only where that
        shows in the tables of the answer.
        """
        planned, codes = self._best_plan(targets, known, soft, whole=maximise)
        given = list(soft.items())
        plan = planned.plan
        if planned.n_passes == 1:
            watched = plan.n_entries > WATCHED_ENTRIES
            if watched:
                self._refuse_too_long(ENTRY_SECONDS * plan.n_entries)
            values, log = plan.run(codes, given, maximise, watched, None)
        else:
            seconds = ENTRY_SECONDS * plan.n_entries * planned.n_passes
            self._refuse_too_long(seconds, planned.n_passes)
            values, log = self._conditioned(planned, codes, given, maximise=maximise)
        asked = check and bool(targets) and log > -math.inf
        if asked and not self._rest_possible(plan, codes, given, known, soft):
            log = -math.inf
        return values.reshape([self._network.n_states[v] for v in targets]), log

    def _rest_possible(
        self,
        plan: _core.EliminationPlan,
        codes: NDArray[np.int32],
        given: list[tuple[int, NDArray[np.float64]]],
        known: Mapping[int, int],
        soft: Soft,
    ) -> bool:
        """Say whether evidence without influence on the answer is possible."""
        if not given and not known:
            return True
        found = _core.is_possible(self._factors, codes, given, plan.relevant, MAX_TRIALS)
        return self.answer((), known, soft)[1] > -math.inf if found is None else found

    def _conditioned(
        self,
        planned: _Planned,
        codes: NDArray[np.int32],
        given: list[tuple[int, NDArray[np.float64]]],
        *,
        maximise: bool,
    ) -> tuple[NDArray[np.float64], float]:
        """Return the sum of (or the largest of) the answers for all states conditioned on."""
        states = [range(self._network.n_states[v]) for v in planned.conditioned]
        total, total_log = np.zeros(1), -math.inf
        fixed = codes.copy()
        begun = time.perf_counter()
        for number, some in enumerate(itertools.product(*states)):
            fixed[list(planned.conditioned)] = some
            values, log = planned.plan.run(fixed, given, maximise, True, None)
            if log > -math.inf:
                top = max(log, total_log)
                scaled = values * math.exp(log - top)
                before = total * math.exp(total_log - top) if total_log > -math.inf else 0.0
                total = np.maximum(before, scaled) if maximise else before + scaled
                total_log = top
            if self.limits.on_progress is not None:
                self.limits.on_progress(number + 1, planned.n_passes)
            each = (time.perf_counter() - begun) / (number + 1)
            if number == 0 and each * planned.n_passes > 2 * self.limits.seconds:
                self._refuse_too_long(each * planned.n_passes, planned.n_passes)
        return np.broadcast_to(total, values.shape), total_log

    def _best_plan(
        self, targets: Sequence[int], known: Mapping[int, int], soft: Soft, *, whole: bool
    ) -> tuple[_Planned, NDArray[np.int32]]:
        """Return a plan, and the codes that it takes.

        Where an answer is dear, what the evidence implies with certainty, as rules and other zeros
        of tables tell, counts as known: that takes variables out of the tables.
        """
        codes = np.full(self._network.n_variables, -1, dtype=np.int32)
        for v, code in known.items():
            codes[v] = code
        planned = self._planned(targets, known, soft, whole=whole)
        if planned.plan.n_entries * planned.n_passes <= DEAR_ENTRIES or not (known or soft):
            return planned, codes
        implied = _core.implied_codes(self._factors, codes, list(soft.items()))
        kept = dict.fromkeys((*targets, *soft), -1)
        more = {v: int(implied[v]) for v in np.flatnonzero(implied >= 0).tolist() if v not in kept}
        if len(more) == len(known):
            return planned, codes
        other = self._planned(targets, more, soft, whole=whole)
        if other.plan.n_entries * other.n_passes >= planned.plan.n_entries * planned.n_passes:
            return planned, codes
        for v, code in more.items():
            codes[v] = code
        return other, codes

    def _planned(
        self,
        targets: Sequence[int],
        known: Mapping[int, int],
        soft: Mapping[int, object],
        *,
        whole: bool,
    ) -> _Planned:
        asked = _Asked(tuple(targets), tuple(sorted(known)), tuple(sorted(soft)), whole)
        with self._lock:
            found = self._plans.get(asked)
        if found is None:
            found = self._fitted(asked)
            with self._lock:
                while len(self._plans) >= MAX_PLANS:
                    self._plans.pop(next(iter(self._plans)))
                self._plans[asked] = found
        return found

    def _plan(
        self, asked: _Asked, fixed: Sequence[int] = (), seconds: float = ORDER_SECONDS
    ) -> _core.EliminationPlan:
        targets, known, soft = map(list, asked[:3])
        return _core.EliminationPlan(
            self._factors, targets, known, soft, list(fixed), asked.whole, seconds
        )

    def _fitted(self, asked: _Asked) -> _Planned:
        """Return a plan that fits into memory: variables are conditioned on until it does.

        Each is the one, of those in the largest tables, that shrinks memory and work most for the
        number of its states. Gives up when that would take longer than anyone waits.
        """
        most = self.limits.memory * 2**30
        n_states = self._network.n_states
        answer = math.prod(n_states[v] for v in asked.targets)
        if ENTRY_BYTES * answer > most:
            msg = (
                f"the answer is a table of {float(min(answer, 10**300)):,.3g} entries, more than "
                f"fit into {self.limits.memory:g} GiB; ask for fewer variables at once"
            )
            raise MemoryLimitError(msg)
        fixed: list[int] = []
        plan = self._plan(asked)
        n_passes = 1
        while ENTRY_BYTES * plan.peak > most:
            if ENTRY_SECONDS * float(n_passes) * plan.n_entries > HOPELESS_SECONDS and fixed:
                self._refuse_too_long(HOPELESS_SECONDS)
            candidates = [v for v in plan.wide_variables if n_states[v] > 1][:N_CANDIDATES]
            if not candidates:
                msg = (
                    f"the answer takes messages of {plan.peak:,.3g} entries, more than fit into "
                    f"{self.limits.memory:g} GiB; ask for fewer variables at once"
                )
                raise MemoryLimitError(msg)
            found = []
            for v in candidates:
                other = self._plan(asked, [*fixed, v], 0.0)
                shrunk = _log_ratio(plan.peak, other.peak) + _log_ratio(
                    plan.n_entries, other.n_entries
                )
                found.append((shrunk / math.log(n_states[v]), v, other))
            _, v, plan = max(found, key=lambda each: each[:2])
            fixed.append(v)
            n_passes *= n_states[v]
        if fixed:
            better = self._plan(asked, fixed)
            plan = min(plan, better, key=lambda each: each.peak)
        return _Planned(plan, tuple(fixed), n_passes)

    def _cost_of(self, planned: _Planned) -> QueryCost:
        plan, names = planned.plan, self._network.names
        n_entries = plan.n_entries * planned.n_passes
        return QueryCost(
            relevant=tuple(names[v] for v in plan.relevant),
            width=plan.width,
            n_entries=n_entries,
            n_bytes=int(ENTRY_BYTES * plan.peak),
            conditioned=tuple(names[v] for v in planned.conditioned),
            n_passes=planned.n_passes,
            seconds=ENTRY_SECONDS * n_entries,
        )

    def _refuse_too_long(self, seconds: float, n_passes: int = 1) -> None:
        """Raise MemoryLimitError, with the time predicted, if an answer takes more than it may."""
        if seconds <= self.limits.seconds:
            return
        time = f"about {seconds:,.3g} s" if seconds < HOPELESS_SECONDS else "centuries"
        passes = f" in {n_passes:,} passes" if n_passes > 1 else ""
        msg = (
            f"the answer takes {time} within {self.limits.memory:g} GiB{passes}, more than "
            f"time_limit={self.limits.seconds:g}; give Inference a larger time_limit or "
            "memory_limit, or more evidence"
        )
        raise MemoryLimitError(msg)


def _log_ratio(before: float, after: float) -> float:
    """Return the logarithm of a ratio; sizes beyond all numbers count as equal."""
    if not (before < math.inf and after < math.inf):
        return 0.0 if after == math.inf else 1e3
    return math.log(before / after)
