"""Structure learning from rows with missing cells, by structural EM."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from twbn.checks import checked_whole
from twbn.data.frames import as_table
from twbn.deadline import Deadline
from twbn.interrupts import keeps_best
from twbn.learning.learn import learn
from twbn.learning.structural_em import IncompleteResult, StructuralEm
from twbn.search.run import check_limits

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

__all__ = ["IncompleteResult", "learn_incomplete"]

#: Time limit in seconds if neither a time limit nor a number of iterations is given.
DEFAULT_SECONDS = 60.0


@keeps_best
def learn_incomplete(
    data: Any,
    *,
    treewidth: int | None = None,
    max_states: int | None = None,
    score: str = "bdeu",
    ess: float = 1.0,
    parameter_ess: float = 1.0,
    max_parents: int | Mapping[str, int] | None = None,
    method: str = "anneal",
    time_limit: float | None = None,
    max_iterations: int | None = None,
    max_rounds: int = 8,
    seed: int = 0,
    n_jobs: int | None = None,
    on_progress: Callable[[float, int, float], None] | None = None,
) -> IncompleteResult:
    """Return a network learned from rows with missing cells, by structural EM.

    Parameters
    ----------
    treewidth, max_states, score, ess, max_parents, method, max_iterations, seed, n_jobs
        As for `twbn.learn`, for the search of every round.
    parameter_ess
        Equivalent sample size of the prior of the parameters.
    time_limit
        Seconds for the whole run; 60 if `max_iterations` is not given either.
    max_rounds
        Maximum number of rounds; the run ends earlier when a round brings no improvement.
    on_progress
        Called after every round with (seconds, round, criterion).

    Notes
    -----
    Each round draws several completions of every row from the exact posterior given the row's known
    cells, learns a structure from the weighted completions (whose counts are the expected counts up
    to sampling noise), and fits its parameters by EM to the original, incomplete data. Rounds are
    compared by the likelihood of the known cells minus BIC's penalty and the best one is kept, so
    the result never gets worse.
    """
    table = as_table(data).determined()
    table.require_usable("learning")
    limit = check_limits(treewidth, time_limit, max_iterations, seed, n_jobs)
    if limit is None and max_iterations is None:
        limit = DEFAULT_SECONDS
    search = StructuralEm(table, learn, parameter_ess, seed, Deadline(limit), on_progress)
    options = {
        "treewidth": treewidth,
        "max_states": max_states,
        "score": score,
        "ess": ess,
        "max_parents": max_parents,
        "method": method,
        "max_iterations": max_iterations,
        "seed": seed,
        "n_jobs": n_jobs,
    }
    return search.run(options, checked_whole("max_rounds", max_rounds, least=1))
