"""A first structure, for searches that improve one."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from twbn.errors import Option, OptionError
from twbn.graphs.dag import Dag
from twbn.graphs.decomposition import TreeDecomposition
from twbn.graphs.treewidth import treewidth as exact_treewidth
from twbn.scores.lazy import LazyScores
from twbn.scores.score_table import ScoreTable
from twbn.search.feasibility import a_structure, rules_of
from twbn.search.heuristic.chains import Chain, as_chain
from twbn.search.heuristic.sample import sample
from twbn.search.keeping import structure_that_keeps
from twbn.search.start import ProvedDag

if TYPE_CHECKING:
    from twbn.scores.protocol import LocalScores
    from twbn.search.run import Run

__all__ = ["first_chain", "first_structure"]


def first_structure(scores: LocalScores, run: Run) -> ProvedDag:
    """Return the given start or, if it is scored, the structure without arcs.

    Otherwise (some arcs are required) a structure with few more than the required parents, or one
    found by sampling. With relations, a structure that keeps them. OptionError if there is none.
    """
    if run.first is not None:
        return run.first
    if run.relations:
        return _that_keeps_relations(scores, run)
    empty = Dag.empty(run.n)
    if scores.total(empty) > -math.inf:
        graph = empty.moral_graph()
        return ProvedDag(empty, TreeDecomposition.from_elimination_order(graph, range(run.n)))
    required = _required(scores, run) if isinstance(scores, ScoreTable) else None
    if required is not None:
        return required
    try:
        found = sample(scores, treewidth=run.k or 1, max_iterations=1000, seed=run.seed)
    except OptionError as error:
        raise OptionError(*error.parts, "; or give a ", Option("start")) from None
    if not run.limit.allows_all(found.decomposition):
        problem = f" of {run.max_states:,}: no structure with the required arcs was found within it"
        raise OptionError(Option("max_states"), problem)
    return ProvedDag(found.dag, found.decomposition)


def first_chain(scores: LocalScores, run: Run) -> Chain:
    """Return the same as a chain."""
    if run.first is None and not run.relations and scores.total(Dag.empty(run.n)) > -math.inf:
        score = scores.total(Dag.empty(run.n))
        return Chain(score, [[] for _ in range(run.n)], list(range(run.n)))
    dag, proof = first_structure(scores, run)
    return as_chain(scores.total(dag), dag, proof)


def _that_keeps_relations(scores: LocalScores, run: Run) -> ProvedDag:
    """Return a structure that keeps all rules; OptionError if none is found."""
    lazy = isinstance(scores, LazyScores)
    rules = scores.rules if isinstance(scores, LazyScores) else rules_of(scores)
    try:
        dag = structure_that_keeps(rules, run.relations, run.limit, run.deadline)
    except TimeoutError:
        msg = (
            "found no structure that satisfies all the rules; one may still exist: relax a rule, "
            "or pass such a structure as "
        )
        raise OptionError(msg, Option("start")) from None
    if dag is None:
        msg = "no structure within the limit satisfies all the rules"
        if not lazy:
            msg += " and has its parent sets in the scores"
        raise OptionError(msg)
    proof = exact_treewidth(dag.moral_graph(), time_limit=2.0).decomposition
    if not run.limit.allows_all(proof) or scores.total(dag) == -math.inf:
        msg = (
            "the structure that was found for the rules is too wide, or has parent sets that were "
            "not scored; pass one as "
        )
        raise OptionError(msg, Option("start"))
    return ProvedDag(dag, proof)


def _required(table: ScoreTable, run: Run) -> ProvedDag | None:
    """Return a structure with few more than the required parents, if it is narrow enough."""
    families = a_structure(table)
    if len(families) < run.n:
        return None
    dag = Dag(tuple(table.parents_at(t) for t in np.sort(families)))
    proof = exact_treewidth(dag.moral_graph(), time_limit=2.0).decomposition
    return ProvedDag(dag, proof) if run.limit.allows_all(proof) else None
