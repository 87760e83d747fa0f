"""The structure that annealing begins with."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from twbn.errors import Option, OptionError
from twbn.graphs.dag import Dag
from twbn.graphs.treewidth import treewidth as exact_treewidth
from twbn.scores.score_table import ScoreTable
from twbn.search.feasibility import a_structure
from twbn.search.heuristic.chains import Chain, as_chain
from twbn.search.heuristic.sample import sample

if TYPE_CHECKING:
    from twbn.scores.protocol import LocalScores
    from twbn.search.run import Run

__all__ = ["first_chain"]


def first_chain(scores: LocalScores, run: Run) -> Chain:
    """Return the structure to begin with: the given start or, if scored, the one without arcs."""
    if run.first is not None:
        dag, proof = run.first
        return as_chain(scores.total(dag), dag, proof)
    empty = Dag.empty(run.n)
    score = scores.total(empty)
    if score > -math.inf:
        return Chain(score, [[] for _ in range(run.n)], list(range(run.n)))
    required = _required(scores, run) if isinstance(scores, ScoreTable) else None
    if required is not None:
        return required
    try:
        found = sample(scores, treewidth=run.treewidth, max_iterations=1000, seed=run.seed)
    except OptionError as error:
        raise OptionError(*error.parts, "; or give a ", Option("start")) from None
    return as_chain(found.score, found.dag, found.decomposition)


def _required(table: ScoreTable, run: Run) -> Chain | None:
    """Return a structure with few more than the required parents, if it is narrow enough."""
    families = a_structure(table)
    if len(families) < run.n:
        return None
    dag = Dag(tuple(table.parents_at(t) for t in np.sort(families)))
    width = exact_treewidth(dag.moral_graph(), time_limit=2.0)
    if width.upper > run.k:
        return None
    return as_chain(table.total(dag), dag, width.decomposition)
