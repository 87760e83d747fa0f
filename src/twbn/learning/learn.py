"""From rows, or scores, to a structure in one call."""

from __future__ import annotations

import math
import os
from functools import partial
from typing import TYPE_CHECKING, Any

from twbn.data.columns import MISSING
from twbn.data.discretize import SCORE
from twbn.data.frames import as_table
from twbn.data.read import read_table
from twbn.data.table import Table
from twbn.deadline import Deadline
from twbn.errors import Option, OptionError
from twbn.interrupts import deferred
from twbn.learning.checkpoint import Checkpoint
from twbn.learning.cuts import cut_by_score
from twbn.learning.new_rows import continued
from twbn.learning.rule_conflicts import refuse_conflicts
from twbn.learning.scored import left, polished, scored_for, told
from twbn.learning.scoring import ScoringOptions
from twbn.learning.structural_em import StructuralEm
from twbn.progress_bar import as_reporter
from twbn.scores.protocol import LocalScores
from twbn.scores.rules import RuleOptions, listed_pairs, listed_rules
from twbn.search.heuristic.polish import refuse_too_wide
from twbn.search.limit import WidthLimit, width_limit
from twbn.search.method import METHODS, Method, find_method
from twbn.search.relations import RELATIONS, Relations, make_relations
from twbn.search.run import DEFAULT_TIME_LIMIT, check_limits
from twbn.search.start import dag_to_start_from

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from twbn.data.discretize import Discretize
    from twbn.scores.kinds import ScoreOption
    from twbn.search.result import SearchResult, Status
    from twbn.search.run import Progress
    from twbn.search.start import Start

__all__ = ["learn"]

#: Fraction of the time limit that is reserved for polishing, if requested.
POLISH_SHARE = 0.1
#: Fraction of the time limit for each structure that cuts are chosen by.
CUT_SHARE = 0.1
#: Most rounds of structural EM, where cells are missing.
MAX_ROUNDS = 8


def learn(
    data: Any,
    *,
    treewidth: int | None = None,
    max_states: int | None = None,
    method: str | Method = "auto",
    score: ScoreOption = "bdeu",
    ess: float = 1.0,
    max_parents: int | Mapping[str, int] | None = None,
    required: Iterable[tuple[str, str]] = (),
    forbidden: Iterable[tuple[str, str]] = (),
    tiers: Sequence[Iterable[str]] | None = None,
    roots: Iterable[str] = (),
    leaves: Iterable[str] = (),
    adjacent: Iterable[tuple[str, str]] = (),
    ancestors: Iterable[tuple[str, str]] = (),
    non_ancestors: Iterable[tuple[str, str]] = (),
    time_limit: float | None = None,
    max_iterations: int | None = None,
    seed: int = 0,
    n_jobs: int | None = None,
    start: Start | None = None,
    polish: bool = False,
    checkpoint: str | os.PathLike[str] | None = None,
    certificate: str | os.PathLike[str] | None = None,
    drop: Sequence[str] | str = (),
    discretize: str | Discretize = "quantile",
    data_options: Mapping[str, Any] | None = None,
    on_progress: Progress | bool | None = None,
    **method_options: Any,
) -> SearchResult:
    """Learn a structure of bounded treewidth; return it with its proof.

    Parameters
    ----------
    data
        Anything `as_table` takes, or scores (a `ScoreTable` or `LazyScores`). Where cells are
        missing, the structure is learned by structural EM, and a note of the result says so; see
        `learn_incomplete`, which returns the network, too.
    treewidth
        The treewidth limit: 4 by default or, if only `max_states` is given, what that implies. With
        the number of variables minus one, or more, there is no limit.
    max_states
        The limit on the joint states of a bag of the decomposition, alone or with `treewidth`: it
        bounds the memory of exact inference. Kept by ``"auto"``, ``"anneal"``, ``"exact"``,
        ``"live-subsets"`` and ``"tree"``.
    method
        A name in `METHODS`, or a `Method` of your own: ``"auto"`` (a proof for few variables,
        annealing and a bound for more; the notes of the result say which), ``"anneal"`` (local
        search), ``"sample"`` (k-trees and orders at random, Version 2 of the paper),
        ``"sample-exact"`` (k-trees at random, each searched exactly, Version 1), ``"tree"``
        (treewidth one, optimal), ``"exact"`` (the optimum with a proof, by whatever fits), ``"dp"``
        (dynamic programming, for up to 15 variables or so), ``"milp"`` (an integer program with
        cuts; anytime), ``"milp-paper"`` (the paper's program as printed), ``"maxsat"`` (weighted
        MaxSAT).
    score, ess
        How to score data; see `compute_scores`. Not used when `data` are scores.
    max_parents
        The largest parent set; by default the treewidth limit, as larger ones cannot occur within
        it (3 for a function of your own). Methods ``"auto"`` and ``"anneal"`` score parent sets on
        demand where scoring all of them would take too long or too much memory; the others then
        take sets of at most 3 parents or, if these are too many as well, the most promising ones.
    required, forbidden, tiers, roots, leaves
        Rules on arcs, kept by every method; see `compute_scores`.
    adjacent, ancestors, non_ancestors
        Pairs of variables that an arc must join in either direction; pairs (a, b) where a path of
        arcs must, or must not, lead from a to b. Kept by ``"auto"``, ``"anneal"``, ``"exact"`` and
        ``"milp"``. `read_rules` reads all of these rules from a file.
    time_limit
        Seconds for the whole job, scoring included. 10 when `max_iterations` is not given either.
    max_iterations
        A budget in iterations gives the same answer on every machine and with any `n_jobs`.
    seed
        Seed of the random numbers.
    n_jobs
        Threads; None is one, -1 one per core. Inside ``joblib.parallel_config(backend="dask")``
        (or Ray) scoring and annealing use the cluster's workers instead.
    start
        A `Dag`, or an earlier result (also from `read_result`), within the limit; the result
        never scores lower. Rows that arrived later (a frame, a file, columns) are coded like
        those of the earlier result; a coded `Table` must be the one it was learned from.
    polish
        Finally search the decomposition of the result exactly, including parent sets that were not
        scored before; see `polish`. A tenth of the time limit is reserved for this.
    checkpoint
        A file for the best result so far, replaced at most once a second while annealing, and at
        the end; on a cluster, after every round. ``start=read_result(file)`` continues from it; an
        existing file is otherwise refused.
    certificate
        A file for the proof that the result is optimal, which ``twbn verify`` checks; for methods
        ``"auto"``, ``"exact"`` and ``"live-subsets"``, and for rows without missing cells.
    drop
        Columns to leave out; ``"unusable"``: all that cannot be learned from, such as identifiers,
        which are an error otherwise.
    discretize
        How numbers are cut, see `as_table`; or ``"score"``: each variable's cuts are chosen given
        its neighbours in a structure learned before (Friedman and Goldszmidt, 1996), for which up
        to three tenths of the time limit are reserved.
    data_options
        How the data file was read, under the names of `read_table`, to be stored with the result;
        set by the command line.
    on_progress
        Called periodically with (seconds, iterations, best score). True shows a bar towards the
        time limit in a terminal or notebook, and nothing elsewhere.
    **method_options
        Options of the method itself, such as ``solver="scip"`` of ``"milp"``;
        ``METHODS[name].options`` lists them.

    Examples
    --------
    >>> import twbn
    >>> rows = {"a": [0, 0, 1, 1] * 9, "b": [0, 1, 0, 1] * 9, "c": [0, 0, 1, 1] * 9}
    >>> result = learn(rows, treewidth=1, max_iterations=100)
    >>> result.treewidth, sorted(map(len, result.dag.parents))
    (1, [0, 0, 1])
    """
    search = find_method(method)
    limit = check_limits(treewidth, time_limit, max_iterations, seed, n_jobs)
    clock = Deadline(DEFAULT_TIME_LIMIT if limit is None and max_iterations is None else limit)
    proving = {} if certificate is None else {"certify": True}
    options = search.checked_options({**method_options, **proving})
    keeper = _keeper(checkpoint, search, data_options, continuing=start is not None)
    given = RuleOptions(max_parents, required, forbidden, tiers, roots, leaves)
    rules = ScoringOptions(score, ess, **listed_rules(given))
    relations = zip(RELATIONS, (adjacent, ancestors, non_ancestors), strict=True)
    pairs = {name: tuple(listed_pairs(name, listed)) for name, listed in relations}
    search.refuse_relations(pairs)
    limits = {"treewidth": treewidth, "max_states": max_states, **pairs}
    budget = {**limits, "max_iterations": max_iterations, "seed": seed, "n_jobs": n_jobs}
    report, shown = as_reporter(on_progress, clock.time_limit)
    usable = _usable(data, drop, discretize, rules._asdict() | budget, clock, data_options or {})
    data, start, notes = continued(data, usable, start)
    widest = _widest(data, treewidth, max_states, search)
    related = make_relations(data.names, **pairs)
    _refuse_early(data, widest, related, polish=polish, certify=certificate is not None)
    if isinstance(data, Table):
        refuse_conflicts(data.names, rules.rules, related, widest, clock)
    if isinstance(data, Table) and data.n_missing.any():
        asked = {**rules._asdict(), **budget, **options, "method": search, "polish": polish}
        return _from_incomplete(data, asked, clock, start, keeper, data_options, report, notes)
    scored = scored_for(data, rules, widest, search, options | budget, clock, start)
    with deferred(), shown:  # from here on there is something to keep
        result = search(
            scored.scores,
            time_limit=left(clock, 1 - POLISH_SHARE if polish else 1.0),
            start=start,
            on_progress=report,
            on_improvement=None if keeper is None else keeper.write,
            **budget,
            **options,
        )
        if polish and result.status != "interrupted":
            result = polished(result, scored, rules, left(clock))
        result = told(result.noted(*notes), scored, data_options, certificate)
        return result if keeper is None else keeper.finish(result)


def _usable(
    source: Any,
    drop: Sequence[str] | str,
    discretize: str | Discretize,
    options: Mapping[str, Any],
    clock: Deadline,
    reading: Mapping[str, Any],
) -> LocalScores | Table:
    """Return scores as they are, data as a table whose columns can all be learned from."""
    if isinstance(source, LocalScores):
        for name, given in (("drop", drop), ("discretize", discretize != "quantile")):
            if given:
                problem = " has no effect on existing scores; give it to as_table"
                raise OptionError(Option(name), problem)
        return source
    if isinstance(source, Table) and discretize != "quantile":
        raise OptionError(Option("discretize"), " has no effect on a table that is coded already")
    rule = "quantile" if discretize == SCORE else discretize
    if reading and isinstance(source, str | os.PathLike):
        left_out = [drop] if isinstance(drop, str) else drop
        more = {**reading, "discretize": rule, "drop": [*reading.get("drop", ()), *left_out]}
        more["missing"] = (*MISSING, *reading.get("missing", ()))
        table = read_table(source, **more).determined()
    else:
        table = as_table(source, drop=drop, discretize=rule).determined()
    table.require_usable("learning")
    if discretize != SCORE:
        return table
    share = None if clock.time_limit is None else CUT_SHARE * clock.time_limit
    search = partial(learn, **options, time_limit=share, method="anneal")
    return cut_by_score(source, table, search, reading)


def _widest(
    data: LocalScores | Table, treewidth: int | None, max_states: int | None, search: Method
) -> WidthLimit:
    """Return what a bag may hold, or raise OptionError."""
    if max_states is not None:
        search.refuse_states()
    n_states = data.n_states.tolist() if isinstance(data, Table) else data.info.n_states
    return width_limit(treewidth, max_states, data.names, n_states)


def _refuse_early(
    data: LocalScores | Table,
    widest: WidthLimit,
    related: Relations,
    *,
    polish: bool,
    certify: bool,
) -> None:
    """Raise an error, before any work is done, for what cannot be had of these data."""
    if polish:
        if widest.max_states is not None:
            problem = " does not keep a limit on joint states"
            raise OptionError(Option("polish"), problem)
        if related:
            raise OptionError(Option("polish"), " does not keep rules on pairs of variables")
        refuse_too_wide(data.n_variables, max(widest.effective(data.n_variables).treewidth, 1))
    if certify and isinstance(data, Table) and data.n_missing.any():
        raise OptionError(Option("certificate"), " needs rows without missing cells")


def _from_incomplete(
    table: Table,
    options: dict[str, Any],
    clock: Deadline,
    start: Start | None,
    keeper: Checkpoint | None,
    data_options: Mapping[str, Any] | None,
    on_progress: Progress | None,
    notes: tuple[str, ...],
) -> SearchResult:
    """Return a structure learned from rows with missing cells, by structural EM."""
    n_missing = int(table.n_missing.sum())
    with deferred():
        search = StructuralEm(
            table,
            learn,
            parameter_ess=1.0,
            seed=options["seed"],
            clock=clock,
            on_progress=on_progress,
            start=None if start is None else dag_to_start_from(start),
        )
        found = search.run(options, MAX_ROUNDS)
        rounds = len(found.trace)
        note = (
            f"{n_missing:,} missing cells: structural EM, {rounds} round{'s' * (rounds != 1)}; the "
            "score is that of rows with these cells drawn from the network"
        )
        result = found.result.but(
            notes=(note, *notes, *found.result.notes),
            seconds=clock.seconds,
            data_options=dict(data_options or {}),
            status="interrupted" if found.status == "interrupted" else _unproved(found.result),
            bound=math.inf,
            fingerprint=table.fingerprint,
        )
        return result if keeper is None else keeper.finish(result)


def _unproved(result: SearchResult) -> Status:
    """Return the status of a result whose rows were drawn: no proof about them is one."""
    return "iteration_limit" if result.status == "optimal" else result.status


def _keeper(
    path: str | os.PathLike[str] | None,
    method: Method,
    data_options: Mapping[str, Any] | None,
    *,
    continuing: bool,
) -> Checkpoint | None:
    if path is None:
        return None
    if not method.improves:  # it has no structure to report before its end
        owners = sorted(name for name, other in METHODS.items() if other.improves)
        problem = f" is an option of {' and '.join(owners)}, not of method {method.name!r}"
        raise OptionError(Option("checkpoint"), problem)
    return Checkpoint(path, data_options, continuing=continuing)
