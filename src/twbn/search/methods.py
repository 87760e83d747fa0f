"""The searches by name, and the one call that runs them."""

from __future__ import annotations

import time
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Protocol

from twbn.errors import OptionError
from twbn.interrupts import deferred
from twbn.scores.in_time import as_rows, scores_in_time
from twbn.scores.lazy import LazyScores
from twbn.scores.protocol import LocalScores
from twbn.scores.rules import within_treewidth
from twbn.search.anneal import anneal
from twbn.search.auto import auto
from twbn.search.checkpoint import Checkpoint
from twbn.search.dynamic import dp
from twbn.search.exact import exact
from twbn.search.exact_milp import milp, milp_paper
from twbn.search.ktree_dp import polish as polish_result
from twbn.search.ktree_dp import polish_within, refuse_too_wide
from twbn.search.maxsat import maxsat
from twbn.search.options import DEFAULT_TIME_LIMIT, check_budget, network_of
from twbn.search.sample import sample, sample_exact
from twbn.search.solver import require_solver
from twbn.search.tree import tree

if TYPE_CHECKING:
    import os
    from collections.abc import Iterable, Mapping, Sequence

    from twbn.scores.kinds import ScoreOption
    from twbn.search.options import Progress, Start
    from twbn.search.result import SearchResult

__all__ = ["METHODS", "Method", "learn"]

#: Share of the time limit that is kept for polishing, where that is asked for.
POLISH_SHARE = 0.1


class Method(Protocol):
    """The one signature of every search."""

    def __call__(
        self,
        scores: LocalScores,
        *,
        treewidth: int,
        time_limit: float | None = None,
        max_iterations: int | None = None,
        seed: int = 0,
        n_jobs: int | None = None,
        start: Start | None = None,
        on_progress: Progress | None = None,
    ) -> SearchResult:
        """Return the best network found."""
        ...


#: Every search by its name.
METHODS: Mapping[str, Method] = {
    "auto": auto,
    "anneal": anneal,
    "exact": exact,
    "dp": dp,
    "milp": milp,
    "milp-paper": milp_paper,
    "maxsat": maxsat,
    "sample": sample,
    "sample-exact": sample_exact,
    "tree": tree,
}


def learn(
    source: Any,
    *,
    treewidth: int = 4,
    method: str = "auto",
    score: ScoreOption = "bdeu",
    ess: float = 1.0,
    max_parents: int | Mapping[str, int] | None = 3,
    required: Iterable[tuple[str, str]] = (),
    forbidden: Iterable[tuple[str, str]] = (),
    tiers: Sequence[Iterable[str]] | None = None,
    roots: Iterable[str] = (),
    leaves: Iterable[str] = (),
    time_limit: float | None = None,
    max_iterations: int | None = None,
    seed: int = 0,
    n_jobs: int | None = None,
    start: Start | None = None,
    solver: str | None = None,
    cuts: str | None = None,
    polish: bool = False,
    checkpoint: str | os.PathLike[str] | None = None,
    data_options: Mapping[str, Any] | None = None,
    on_progress: Progress | None = None,
) -> SearchResult:
    """Learn a network of bounded treewidth; return it with its proof.

    Parameters
    ----------
    source
        Scores (a `ScoreTable` or `LazyScores`), or data: anything `as_table` takes.
    treewidth
        The bound. At or above the number of variables less one it does not bind.
    method
        A name in `METHODS`: ``"auto"`` (a proof for few variables, annealing beside a bound for
        more; the notes of the result say which), ``"anneal"`` (local search),
        ``"sample"`` (k-trees and orders at random, Version 2 of the paper), ``"sample-exact"``
        (k-trees at random, each searched exactly, Version 1), ``"tree"`` (treewidth one, optimal),
        ``"exact"`` (the optimum with a proof, by what fits), ``"dp"`` (by dynamic programming, for
        up to 15 variables or so), ``"milp"`` (by an integer program with cuts; anytime),
        ``"milp-paper"`` (the paper's program as printed), ``"maxsat"`` (by weighted MaxSAT).
    score, ess, max_parents
        How to score data; see `compute_scores`. Not used when `source` holds scores. Where all
        parent sets would take too long, or too much memory, the most promising ones are scored.
        Sets larger than the treewidth are in no network within the bound, and are not scored.
    required, forbidden, tiers, roots, leaves
        What the network must and must not have, for every method; see `compute_scores`.
    time_limit
        Seconds for the whole job, scoring included. 10 when `max_iterations` is not given either.
    max_iterations
        A budget in iterations gives the same answer on every machine and with any `n_jobs`.
    seed
        Of the random numbers.
    n_jobs
        Threads; None is one, -1 one per core. Inside ``joblib.parallel_config(backend="dask")``
        (or Ray) scoring and annealing use the cluster's workers instead.
    start
        A `Dag`, or an earlier result of the same data (also from `read_result`), within the bound;
        what is returned is no worse.
    solver, cuts
        For the integer programs; see `milp`.
    polish
        Search the decomposition of the result exactly in the end, also for parent sets that were
        not scored before; see `polish`. A tenth of the time limit is kept for it.
    checkpoint
        A file for the best result so far, replaced at most once a second while annealing, and at
        the end; on a cluster, after every round. ``start=read_result(file)`` goes on from it; a
        file that is there already is otherwise not touched.
    data_options
        How the data were read, to be noted in the checkpoint; see `write_result`.
    on_progress
        Called now and then with (seconds, iterations, best score).

    Examples
    --------
    >>> import twbn
    >>> rows = {"a": [0, 0, 1, 1] * 9, "b": [0, 1, 0, 1] * 9, "c": [0, 0, 1, 1] * 9}
    >>> result = learn(rows, treewidth=1, max_iterations=100)
    >>> result.treewidth, sorted(map(len, result.dag.parents))
    (1, [0, 0, 1])
    """
    begun = time.perf_counter()
    if not isinstance(method, str) or method not in METHODS:
        msg = f"unknown method {method!r}; expected one of {', '.join(METHODS)}"
        raise OptionError(msg)
    time_limit = check_budget(treewidth, time_limit, max_iterations, seed, n_jobs)
    extra = _solver_options(method, solver, cuts)
    keeper = None
    if checkpoint is not None:
        _require_checkpoints(method)
        keeper = Checkpoint(checkpoint, data_options, going_on=start is not None)
        extra["on_improvement"] = keeper.write
    if time_limit is None and max_iterations is None:
        time_limit = DEFAULT_TIME_LIMIT
    scoring: dict[str, Any] = {
        "required": list(required), "forbidden": list(forbidden), "tiers": tiers,
        "roots": list(roots), "leaves": list(leaves),
    }  # fmt: skip
    notes: tuple[str, ...] = ()
    if isinstance(source, LocalScores):
        _refuse_rules(scoring)
        scores: LocalScores = source
    else:
        # Required arcs that are too many for the treewidth are told as such.
        small = max_parents if scoring["required"] else within_treewidth(max_parents, treewidth)
        scoring |= {"score": score, "ess": ess, "max_parents": small}
        source = as_rows(source)
        scores, notes = scores_in_time(
            source, **scoring, n_jobs=n_jobs, time_limit=_left(time_limit, begun),
            keep=None if start is None else network_of(start)[0],
        )  # fmt: skip
        if scores.info.status == "interrupted":
            raise KeyboardInterrupt
    if polish:  # before the search
        refuse_too_wide(scores.n_variables, max(min(treewidth, scores.n_variables - 1), 1))
    with deferred():  # from here on there is something to keep
        seconds = _left(time_limit, begun)
        if polish and seconds is not None:
            seconds -= POLISH_SHARE * seconds
        result = METHODS[method](
            scores, treewidth=treewidth, time_limit=seconds, max_iterations=max_iterations,
            seed=seed, n_jobs=n_jobs, start=start, on_progress=on_progress, **extra,
        )  # fmt: skip
        if polish and result.status != "interrupted":
            search = polish_within
            if scores is not source and scores.info.status != "complete":
                # With sets that were not scored before, of which nothing was proved.
                search, scores = polish_result, LazyScores(source, **scoring)
            result = search(result, scores, time_limit=_left(time_limit, begun))
        if notes:
            result = replace(result, scores=scores, notes=(*notes, *result.notes))
        return result if keeper is None else _kept(result, scores, keeper)


def _require_checkpoints(method: str) -> None:
    """Refuse a method that has no network to tell of before its end."""
    if method not in {"auto", "anneal"}:
        msg = f"checkpoint is an option of auto and anneal, not of method {method!r}"
        raise OptionError(msg)


def _refuse_rules(rules: Mapping[str, Any]) -> None:
    """Refuse rules for the scoring of data where the scores are there already."""
    given = [name for name, rule in rules.items() if rule]
    if given:
        msg = f"{given[0]} has no effect on ready scores; give it to compute_scores"
        raise OptionError(msg)


def _kept(result: SearchResult, scores: LocalScores, keeper: Checkpoint) -> SearchResult:
    """Write a result to its checkpoint; return it with a note if that was not possible."""
    keeper.write(result)
    if keeper.failure is None:
        return result
    note = f"the checkpoint was not written: {keeper.failure}"
    return replace(result, scores=scores, notes=(*result.notes, note))


def _left(time_limit: float | None, begun: float) -> float | None:
    """Return the seconds that are left of a time limit, some in any case."""
    return None if time_limit is None else max(time_limit - (time.perf_counter() - begun), 0.01)


def _solver_options(method: str, solver: str | None, cuts: str | None) -> dict[str, Any]:
    """Return the options of a method besides those that all have, or raise OptionError."""
    given = {"solver": solver, "cuts": cuts}
    extra = {name: value for name, value in given.items() if value is not None}
    takes = {"milp": {"solver", "cuts"}, "milp-paper": {"solver"}}.get(method, set())
    for name in extra:
        if name not in takes:
            owners = "milp" if name == "cuts" else "milp and milp-paper"
            msg = f"{name} is an option of {owners}, not of method {method!r}"
            raise OptionError(msg)
    if solver is not None:
        require_solver(solver)
    return extra
