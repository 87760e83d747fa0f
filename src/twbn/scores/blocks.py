"""Scoring by variable over a cluster."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from twbn import _core
from twbn.scores.kinds import scored_data

if TYPE_CHECKING:
    from twbn.cluster import Cluster
    from twbn.data.table import Table
    from twbn.scores.rules import ParentRules

__all__ = ["BlockOptions", "score_in_blocks"]

#: Blocks of variables per worker, so that one slow block does not hold up the rest. With a time
#: limit, which applies to each block separately, each worker gets one block.
BLOCKS_PER_WORKER = 4


class BlockOptions(NamedTuple):
    """How to score: the score and its equivalent sample size, rules, budget, limits."""

    kind: tuple[str, float]
    rules: ParentRules
    prune: bool
    budget: int
    n_bytes: int
    time_limit: float | None


def score_in_blocks(cluster: Cluster, table: Table, options: BlockOptions) -> _core.ScoredSets:
    """Return what `_core.score_parent_sets` returns with a budget, scoring one block per job.

    Scoring all sets is not distributed: the variables then share their counts, and one machine is
    faster than several that do not.
    """
    n = table.n_variables
    per_worker = BLOCKS_PER_WORKER if options.time_limit is None else 1
    blocks = np.array_split(np.arange(n), min(n, per_worker * cluster.n_workers))
    jobs = [(table, options, int(b[0]), int(b[-1]) + 1) for b in blocks]
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


def _score_block(table: Table, options: BlockOptions, first: int, last: int) -> _core.ScoredSets:
    """Score the variables first .. last - 1; the others get no parents and are dropped."""
    rules = options.rules
    mine = np.zeros(table.n_variables, dtype=bool)
    mine[first:last] = True
    found = _core.score_parent_sets(
        scored_data(table, *options.kind),
        np.where(mine, rules.max_parents, 0).astype(rules.max_parents.dtype),
        rules.allowed,
        [list(parents) if mine[v] else [] for v, parents in enumerate(rules.required)],
        options.prune,
        options.budget,
        1,
        options.n_bytes,
        options.time_limit,
        None,
    )
    sets = found["variable_offsets"][first : last + 1]
    members = found["set_offsets"][sets[0] : sets[-1] + 1]
    # The counts cover all variables; each variable outside the block has only the empty set.
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
