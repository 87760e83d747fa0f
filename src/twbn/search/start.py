"""Validation of the `start` option: a structure from which a search begins."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from twbn.errors import Option, OptionError
from twbn.graphs.dag import Dag
from twbn.graphs.treewidth import treewidth as exact_treewidth
from twbn.search.result import SearchResult

if TYPE_CHECKING:
    from twbn.graphs.decomposition import TreeDecomposition
    from twbn.scores.protocol import LocalScores
    from twbn.search.limit import WidthLimit

__all__ = ["ProvedDag", "Start", "checked_start", "dag_to_start_from"]

#: Fraction of the time limit, and most seconds, spent on decomposing a start without a proof.
PROOF_SHARE, PROOF_SECONDS = 0.2, 10.0


class ProvedDag(NamedTuple):
    """A structure with the decomposition that proves its width."""

    dag: Dag
    decomposition: TreeDecomposition


Start: TypeAlias = Dag | SearchResult | ProvedDag


def dag_to_start_from(start: Start) -> Dag:
    """Return the structure of a start, or raise OptionError if it is not a valid start."""
    if isinstance(start, Dag):
        return start
    if isinstance(start, SearchResult | ProvedDag):
        return start.dag
    problem = f" must be a Dag or a SearchResult, got {type(start).__name__}"
    raise OptionError(Option("start"), problem)


def checked_start(
    start: Start, scores: LocalScores, limit: WidthLimit, time_limit: float | None
) -> ProvedDag:
    """Return a start with a proof of its width, or raise OptionError saying what is wrong."""
    dag = dag_to_start_from(start)
    proof = None if isinstance(start, Dag) else start.decomposition
    if dag.n_vertices != scores.n_variables:
        problem = f" has {dag.n_vertices} variables, the scores have {scores.n_variables}"
        raise OptionError(Option("start"), problem)
    if isinstance(start, SearchResult):
        _check_same_data(start, scores)
    if scores.total(dag) == -math.inf:
        child = next(v for v, p in enumerate(dag.parents) if scores.local(v, p) == -math.inf)
        parents = [scores.names[p] for p in dag.parents[child]]
        problem = (
            f" has a parent set that is not in the scores: {parents} of {scores.names[child]!r}"
        )
        raise OptionError(Option("start"), problem)
    if proof is not None and limit.allows_all(proof):
        return ProvedDag(dag, proof)
    seconds = PROOF_SECONDS
    if time_limit is not None:
        seconds = min(PROOF_SECONDS, PROOF_SHARE * time_limit)
    found = exact_treewidth(dag.moral_graph(), time_limit=seconds)
    treewidth = limit.treewidth
    if found.lower > treewidth:
        problem = f" has treewidth {found.lower}, the limit is {treewidth}"
        raise OptionError(Option("start"), problem)
    if found.upper > treewidth:
        problem = (
            f" may be too wide: no decomposition of width {treewidth} was found in "
            f"{seconds:.1f} s, only one of width {found.upper}"
        )
        raise OptionError(Option("start"), problem)
    if limit.n_states is not None and not limit.allows_all(found.decomposition):
        states = found.decomposition.largest_states(limit.n_states)
        problem = (
            f" may be too wide: no decomposition with bags of at most {limit.max_states:,} joint "
            f"states was found, only one with {states:,}"
        )
        raise OptionError(Option("start"), problem)
    return ProvedDag(dag, found.decomposition)


def _check_same_data(start: SearchResult, scores: LocalScores) -> None:
    """Refuse a result learned from other data, since its score and bound would not hold here."""
    if start.names != tuple(scores.names):
        problem = " has other variables than the scores, or in another order"
        raise OptionError(Option("start"), problem)
    theirs, ours = start.fingerprint, scores.fingerprint
    if theirs is not None and theirs != ours:
        problem = (
            f" was learned from other data: its fingerprint is {theirs}, these have {ours}; "
            "its structure alone is taken with start=result.dag or, on the command line, --new-rows"
        )
        raise OptionError(Option("start"), problem)
