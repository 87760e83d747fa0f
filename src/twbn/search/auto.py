"""The default method, which chooses another method to suit the problem."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from twbn.errors import MemoryLimitError
from twbn.scores.score_table import ScoreTable
from twbn.search.bound.companion import beside_bound
from twbn.search.exact.portfolio import exact, proved_by_subsets
from twbn.search.heuristic.anneal import anneal
from twbn.search.heuristic.tree import refuse_too_large, tree
from twbn.search.method import register, search_method

if TYPE_CHECKING:
    from twbn.scores.protocol import LocalScores
    from twbn.search.result import SearchResult
    from twbn.search.run import Run

__all__ = ["auto"]

#: Most variables for which a proof is tried where rules join pairs of variables.
MAX_RELATED_VARIABLES = 10
#: Most variables for which a proof is tried first, and its fraction of the time.
MAX_PROOF_VARIABLES, PROOF_SHARE = 22, 0.6


@register
@search_method(
    "auto",
    "whatever suits the problem; the notes say what, and why",
    improves=True,
    limits_states=True,
    keeps_relations=True,
    on_demand=True,
    certify="keep the search tree, for a certificate",
)
def auto(scores: LocalScores, run: Run, *, certify: bool = False) -> SearchResult:
    """Return a structure found by the method that suits the problem; the notes say which, and why.

    Notes
    -----
    For treewidth one, `auto` finds the optimal tree. For few variables, it tries live subsets and,
    if these do not finish, spends the remaining time on annealing. Otherwise it runs annealing,
    alongside the bound of the relaxation if the limit is in seconds and the scores are a table.
    With `certify` it does what ``"exact"`` does.
    """
    if certify:
        result, reason = exact(scores, run, certify=True), "a proof, as a certificate is wanted"
    elif run.relations:
        result, reason = _within_relations(scores, run)
    else:
        result, reason = _by_what_suits(scores, run)
    return result.noted(f"auto: {reason}").but(method=run.method, seconds=run.seconds)


def _within_relations(scores: LocalScores, run: Run) -> tuple[SearchResult, str]:
    few = run.n <= MAX_RELATED_VARIABLES
    if few and run.max_states is None and run.max_iterations is None:
        rest = run.with_changes(time_limit=run.time_left)
        return exact(scores, rest), f"an integer program, as {run.n} variables are few"
    return anneal(scores, run), "annealing, as rules join pairs of variables"


def _by_what_suits(scores: LocalScores, run: Run) -> tuple[SearchResult, str]:
    if run.k <= 1 and run.first is None and _tree_fits(run.n):
        result = tree(scores, run.with_changes(time_limit=run.time_left))
        best = "the optimal" if result.status == "optimal" else "a"
        return result, f"{best} tree, as the treewidth limit is one"
    if run.max_iterations is not None:
        return anneal(scores, run), "annealing, as the budget is in iterations"
    rest = run.with_changes(time_limit=run.time_left)
    if scores.info.status != "complete" or not isinstance(scores, ScoreTable):
        on_demand = scores.info.status == "lazy"
        why = "scores are computed on demand" if on_demand else "not all parent sets were scored"
        return anneal(scores, rest), f"annealing, with the bound of the likelihood only, as {why}"
    if run.n > MAX_PROOF_VARIABLES:
        reason = f"annealing beside a bound, as {run.n} variables are too many for a quick proof"
        return _anneal_beside_bound(scores, run), reason
    left = run.time_left or 0.0
    first = run.with_changes(time_limit=PROOF_SHARE * left, on_improvement=None)
    proof = proved_by_subsets(scores, first, certify=False)
    if proof is not None and proof.status not in {"time_limit", "memory_limit"}:
        return proof, f"a proof, as {run.n} variables are few"
    reason = f"annealing beside a bound, as {run.n} variables are too hard for a quick proof"
    result = _anneal_beside_bound(scores, run, proof)
    bound = result.bound if proof is None else min(result.bound, proof.bound)
    return result.but(bound=max(bound, result.score)), reason


def _anneal_beside_bound(
    scores: LocalScores, run: Run, start: SearchResult | None = None
) -> SearchResult:
    left = run.time_left or math.inf
    changes = {"time_limit": left} if start is None else {"time_limit": left, "start": start}
    rest = run.with_changes(**changes)
    return beside_bound(
        lambda enough: anneal(scores, rest.with_changes(enough=enough)),
        scores,
        treewidth=max(run.k, 1),
        time_limit=left,
        seed=run.seed,
    )


def _tree_fits(n: int) -> bool:
    try:
        refuse_too_large(n)
    except MemoryLimitError:
        return False
    return True
