"""Scoring by variable over a cluster."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from twbn import _core
from twbn.scores.kinds import scored_data

if TYPE_CHECKING:
    from twbn.cluster import Cluster
    from twbn.data.table import Table
    from twbn.scores.rules import ParentRules

__all__ = ["score_in_blocks"]

#: Blocks of variables for each worker, so that one slow block does not keep all waiting; with a
#: time limit, which every block has for itself, there is one.
BLOCKS_PER_WORKER = 4


def score_in_blocks(
    cluster: Cluster,
    table: Table,
    kind: tuple[Any, float],
    rules: ParentRules,
    prune: bool,
    budget: int,
    n_bytes: int,
    time_limit: float | None,
) -> _core.ScoredSets:
    """Return what `_core.score_parent_sets` does with a budget, a block of variables in each job.

    `kind` is the score and its equivalent sample size. For all sets there is no such thing: there
    the variables share their counts, and one machine does it faster than several apart.
    """
    n = table.n_variables
    per_worker = BLOCKS_PER_WORKER if time_limit is None else 1
    n_blocks = min(n, per_worker * cluster.n_workers)
    blocks = np.array_split(np.arange(n), n_blocks)
    options = (prune, budget, n_bytes, time_limit)
    jobs = [(table, kind, rules, int(b[0]), int(b[-1]) + 1, *options) for b in blocks]
    parts: list[_core.ScoredSets] = cluster.map(_score_block, jobs)
    return {
        "variable_offsets": _joined_offsets([part["variable_offsets"] for part in parts]),
        "scores": np.concatenate([part["scores"] for part in parts]),
        "set_offsets": _joined_offsets([part["set_offsets"] for part in parts]),
        "parents": np.concatenate([part["parents"] for part in parts]),
        "complete_size": min(part["complete_size"] for part in parts),
        "n_scored": sum(part["n_scored"] for part in parts),
        "n_skipped": sum(part["n_skipped"] for part in parts),
        "timed_out": any(part["timed_out"] for part in parts),
        "out_of_memory": any(part["out_of_memory"] for part in parts),
        "interrupted": any(part["interrupted"] for part in parts),
    }


def _score_block(
    table: Table,
    kind: tuple[Any, float],
    rules: ParentRules,
    first: int,
    last: int,
    prune: bool,
    budget: int,
    n_bytes: int,
    time_limit: float | None,
) -> _core.ScoredSets:
    """Score the variables first .. last - 1; the others get no parents, and are cut off."""
    mine = np.zeros(table.n_variables, dtype=bool)
    mine[first:last] = True
    found = _core.score_parent_sets(
        scored_data(table, *kind),
        np.where(mine, rules.max_parents, 0).astype(rules.max_parents.dtype),
        rules.allowed,
        [list(parents) if mine[v] else [] for v, parents in enumerate(rules.required)],
        prune,
        budget,
        1,
        n_bytes,
        time_limit,
        None,
    )
    sets = found["variable_offsets"][first : last + 1]
    members = found["set_offsets"][sets[0] : sets[-1] + 1]
    # The numbers of sets are those of all variables: each other one has the empty set alone.
    n_other = table.n_variables - (last - first)
    return {
        **found,
        "variable_offsets": sets - sets[0],
        "scores": found["scores"][sets[0] : sets[-1]],
        "set_offsets": members - members[0],
        "parents": found["parents"][members[0] : members[-1]],
        "n_scored": found["n_scored"] - n_other,
    }


def _joined_offsets(parts: list[Any]) -> Any:
    """Return the offsets of lists that follow one another."""
    joined = [parts[0]]
    for part in parts[1:]:
        joined.append(part[1:] + joined[-1][-1])
    return np.concatenate(joined)
