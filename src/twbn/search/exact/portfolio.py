"""The exact portfolio, which picks the exact method that suits the problem."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from twbn.checks import half_of_memory
from twbn.errors import MemoryLimitError, Option, OptionError
from twbn.search.bound.companion import beside_bound
from twbn.search.exact.live_subsets import fits, live_subsets
from twbn.search.exact.milp import milp
from twbn.search.heuristic.anneal import anneal
from twbn.search.method import register, search_method
from twbn.search.relations import RELATIONS
from twbn.search.result import TracePoint
from twbn.search.run import DEFAULT_TIME_LIMIT

if TYPE_CHECKING:
    from twbn.scores.protocol import LocalScores
    from twbn.search.result import SearchResult
    from twbn.search.run import Run

__all__ = ["exact", "proved_by_subsets"]

#: Largest problems for which the integer program is tried: beyond, bounds by blocks are ahead.
MAX_MILP_VARIABLES, MAX_MILP_TREEWIDTH = 32, 2
#: Seconds that must be left for a second attempt to be worthwhile.
LEAST_SECONDS = 0.1
#: Share of the time for live subsets.
PROOF_SHARE = 0.9
#: Share of the time for annealing, beside a bound, before the integer program.
ANNEAL_SHARE = 0.5


@register
@search_method(
    "exact",
    "the optimum with a proof, by whatever fits",
    limits_states=True,
    keeps_relations=True,
    certify="keep the search tree, for a certificate",
)
def exact(scores: LocalScores, run: Run, *, certify: bool = False) -> SearchResult:
    """Return an optimal structure within the treewidth limit with a proof, or the best found.

    Notes
    -----
    Up to 25 variables, live subsets are searched, under a time limit with annealing beside them
    on one of several workers, and with annealing alone at the end. Otherwise, or in the remaining
    time if memory runs out: annealing beside a bound, and then, for up to 32 variables and a
    treewidth limit of 2, the integer program with cuts, which starts from what annealing has found.
    """
    if run.relations:
        return _within_relations(scores, run, certify=certify)
    bound, start = math.inf, run.first
    proved = proved_by_subsets(scores, _most_of(run), certify=certify)
    if proved is not None:
        if proved.status == "time_limit":
            return _annealed_from(proved, scores, run)
        left = run.deadline.left_or_forever
        if proved.status != "memory_limit" or (not run.unlimited and left < LEAST_SECONDS):
            return proved.but(method=run.method)
        bound, start = proved.bound, run.with_changes(start=proved).first
    elif certify:
        problem = f" needs the tables over all subsets of {run.n} variables to fit into memory"
        raise OptionError(Option("certificate"), problem)
    result = _without_tables(scores, run.with_changes(time_limit=run.time_limit, start=start))
    return result.but(
        method=run.method,
        bound=max(min(result.bound, bound), result.score),
        seconds=run.seconds,
    )


def _within_relations(scores: LocalScores, run: Run, *, certify: bool) -> SearchResult:
    """Return what the integer program finds: the exact method that keeps relations."""
    if certify:
        rule = next(name for name in RELATIONS if getattr(run, name))
        raise OptionError(Option("certificate"), " cannot be had with ", Option(rule))
    if run.max_states is not None:
        rule = next(name for name in RELATIONS if getattr(run, name))
        raise OptionError(Option(rule), " needs method 'anneal' beside ", Option("max_states"))
    rest = run.with_changes(time_limit=run.time_left_if_limited)
    return milp(scores, rest).but(method=run.method, seconds=run.seconds)


def _most_of(run: Run) -> Run:
    """Return the run with time for a proof; all of it if there is no limit."""
    if run.unlimited:
        return run
    return run.with_changes(time_limit=PROOF_SHARE * (run.time_left or LEAST_SECONDS))


def _annealed_from(proved: SearchResult, scores: LocalScores, run: Run) -> SearchResult:
    """Return what annealing makes of a structure in the last of the time, with the bound proved."""
    found = anneal(scores, run.with_changes(start=proved, time_limit=run.time_left))
    bound = max(proved.bound, found.score)
    n_iterations = proved.n_iterations + found.n_iterations
    return found.but(
        method=run.method,
        bound=bound,
        n_iterations=n_iterations,
        seconds=run.seconds,
        trace=(*proved.trace, TracePoint(run.seconds, n_iterations, found.score, bound)),
        notes=proved.notes,
    )


def proved_by_subsets(scores: LocalScores, run: Run, *, certify: bool) -> SearchResult | None:
    """Return what live subsets find, or None if their tables do not fit into memory."""
    if not fits(run.n, half_of_memory()):
        return None
    rest = run.with_changes(time_limit=run.time_left_if_limited)
    try:
        return live_subsets(scores, rest, certify=certify)
    except MemoryLimitError:
        return None


def _without_tables(scores: LocalScores, run: Run) -> SearchResult:
    """Return what annealing finds beside a bound, and the integer program after it."""
    if run.max_iterations is not None:
        # The result must not depend on the clock, so it cannot include a bound that stops by time.
        return anneal(scores, run)
    small = run.n <= MAX_MILP_VARIABLES and run.k <= MAX_MILP_TREEWIDTH
    with_program = small and run.max_states is None
    seconds = DEFAULT_TIME_LIMIT if run.unlimited else run.time_left or LEAST_SECONDS
    first = run.with_changes(time_limit=(ANNEAL_SHARE if with_program else 1.0) * seconds)
    result = beside_bound(
        lambda enough: anneal(scores, first.with_changes(enough=enough)),
        scores,
        treewidth=max(run.k, 1),
        time_limit=first.time_limit,
        seed=run.seed,
    )
    if not with_program or result.status in {"optimal", "interrupted"}:
        return result
    rest = run.with_changes(time_limit=run.time_left_if_limited, start=result)
    program = milp(scores, rest)
    return program.but(bound=max(min(program.bound, result.bound), program.score))
