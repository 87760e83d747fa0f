"""Bounds by blocks: some variables at a time, with acyclicity and treewidth taken exactly."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from twbn import _core
from twbn.checks import half_of_memory
from twbn.search.bound.partition import partition, restricted, ties
from twbn.search.heuristic.anneal import anneal
from twbn.search.result import TOLERANCE
from twbn.search.run import Run

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from twbn.deadline import Deadline
    from twbn.scores.score_table import ScoreTable
    from twbn.search.bound.multipliers import Multipliers
    from twbn.search.bound.pricing import Pricing

__all__ = ["BlockBound"]

#: Most variables of a block.
MAX_BLOCK = _core.max_live_variables
#: Proposals, for each variable, of the annealing that finds what a block cannot go below.
PROPOSALS = 60_000
#: The first step down, as a share of the way to what is within reach, and the least; by how much
#: the logarithm of the time grows with that share, until it is measured; the share of the time left
#: that later steps are planned to take, and that a step may take. No step is deeper than twice the
#: one before.
FIRST_STEP, LEAST_STEP, GROWTH, STEP_SHARE, TRIAL_SHARE = 0.05, 0.004, 7.0, 0.4, 0.7
#: Most partitions that are tried.
PARTITIONS = 4


class _Block(NamedTuple):
    table: ScoreTable
    clusters: list[int]  # inside the block, as masks, and their prices
    prices: list[float]
    reach: float  # the score of a good structure: the bound cannot go below


class _Partition(NamedTuple):
    rest: float  # what the prices add
    blocks: list[_Block]

    @property
    def reach(self) -> float:
        return self.rest + sum(block.reach for block in self.blocks)


class BlockBound:
    """Bounds at given prices of clusters: the sum over blocks of the best that is possible there.

    The moral graph of a structure, restricted to a block of variables, has no greater treewidth,
    and the families of a block, restricted to it, have no cycle. So no structure is worth more than
    the sum, over the blocks, of the best structure within the limit whose families are worth what
    they are at these prices with any parents outside. That is a problem for live subsets
    (`core/exact/live_search.h`), in which the prices of clusters inside a block say what the
    variables that are not yet placed may add.

    Parameters
    ----------
    pricing, multipliers
        What families are worth.
    value
        The bound to improve on.
    stop
        Called now and then; it raises an error to end the work.
    """

    def __init__(
        self,
        table: ScoreTable,
        pricing: Pricing,
        multipliers: Multipliers,
        k: int,
        value: float,
        *,
        n_jobs: int,
        deadline: Deadline,
        seed: int,
        stop: Callable[[], None],
    ) -> None:
        self._table = table
        self._pricing = pricing
        self._multipliers = multipliers
        self._k = k
        self._limit = _core.WidthLimit(k, math.inf, ())
        self._n_jobs = n_jobs
        self._deadline = deadline
        self._seed = seed
        self._stop = stop
        self._value = value
        self._size = MAX_BLOCK

    def bounds(self) -> Iterator[float]:
        """Yield better and better bounds; ends when no partition that is tried improves on them."""
        for found in self._partitions():
            if found.reach > self._value - TOLERANCE * abs(self._value):
                continue  # even if all blocks were solved
            for bound in self._bounds_of(found):
                self._value = min(self._value, bound)
                yield bound

    def _partitions(self) -> Iterator[_Partition]:
        """Yield partitions by the ties between variables, and by these ties with some noise."""
        tied = ties(self._table, self._pricing.values(self._multipliers))
        rng = np.random.default_rng(self._seed)
        for number in range(PARTITIONS):
            noise = np.triu(rng.exponential(size=tied.shape), 1)
            blocks = partition(tied * (noise + noise.T) if number else tied, self._size)
            yield self._partition(blocks)
            if len(blocks) == 1:
                break

    def _partition(self, blocks: list[list[int]]) -> _Partition:
        insides = [frozenset(block) for block in blocks]
        within: list[list[tuple[tuple[int, ...], float]]] = [[] for _ in blocks]
        across: dict[tuple[int, ...], float] = {}
        for members, price in self._multipliers.clusters.items():
            here = [i for i, inside in enumerate(insides) if inside.issuperset(members)]
            if here:
                within[here[0]].append((members, price))
            else:
                across[members] = price
        outer = self._multipliers.with_clusters(across)
        values = self._pricing.values(outer)
        tables = [restricted(self._table, block, values) for block in blocks]
        found = []
        for table, block, clusters in zip(tables, blocks, within, strict=True):
            # Without any price, the whole block is a cluster that costs nothing.
            priced = clusters or [(tuple(block), 0.0)]
            place = {v: number for number, v in enumerate(block)}
            masks = [sum(1 << place[v] for v in members) for members, _ in priced]
            prices = [price for _, price in priced]
            found.append(_Block(table, masks, prices, self._annealed(table)))
        found.sort(key=lambda block: block.table.n_variables)  # the hard ones get what is left
        return _Partition(outer.constant(self._k), found)

    def _bounds_of(self, found: _Partition) -> Iterator[float]:
        slack = self._value - found.reach
        tops = [math.inf] * len(found.blocks)
        for number, block in enumerate(found.blocks):
            share = self._deadline.share(1 / (len(tops) - number))
            for bound in self._lowered(block, block.reach + slack, share):
                tops[number] = min(tops[number], bound)
                if max(tops) < math.inf:
                    yield found.rest + sum(tops)

    def _annealed(self, table: ScoreTable) -> float:
        """Return the score of a good structure of a block."""
        run = Run(
            table,
            treewidth=self._k,
            max_iterations=PROPOSALS * table.n_variables,
            time_limit=self._deadline.share(0.1).left,
            seed=self._seed,
            n_jobs=self._n_jobs,
        )
        self._stop()
        return anneal(table, run).score

    def _lowered(self, block: _Block, top: float, deadline: Deadline) -> Iterator[float]:
        """Yield bounds of a block: structures above a step are ruled out, then above a lower one.

        The steps go from about `top` to what is within reach. The higher a step, the fewer sets are
        live and the faster is a node; the time that a step takes grows about exponentially with its
        depth, and the last two say how deep the next may be.
        """
        done: list[tuple[float, float]] = []
        share, failed = 0.0, 1.0 + LEAST_STEP
        while share < 1 and not deadline.passed:
            deeper = _next_share(done, STEP_SHARE * deadline.left_or_forever)
            deeper = min(deeper, (share + failed) / 2) if failed <= 1 else deeper
            if deeper - share < LEAST_STEP and share:
                return
            began = deadline.seconds
            least = block.reach if deeper >= 1 else top - deeper * (top - block.reach)
            solved, bound = self._solved(block, least, deadline.share(TRIAL_SHARE))
            yield bound
            if not solved:
                failed = deeper
                continue
            if bound > least + TOLERANCE * abs(least):
                return  # this structure is the best
            share = deeper
            done.append((share, math.log(max(deadline.seconds - began, 1e-3))))

    def _solved(self, block: _Block, least: float, deadline: Deadline) -> tuple[bool, float]:
        """Return whether a block was solved in time, and a bound of at least `least`."""
        outcome, families, bound, *_ = _core.live_subsets(
            block.table.index,
            block.table.scores,
            self._limit,
            least,
            TOLERANCE * abs(least),
            block.clusters,
            block.prices,
            int(half_of_memory() * 2**30),
            False,
            self._n_jobs,
            deadline.left,
            lambda _n_nodes: self._stop(),
        )
        if outcome == "solved":
            return True, float(block.table.scores[families].sum()) if families else least
        return False, max(float(bound), least)


def _next_share(done: list[tuple[float, float]], seconds: float) -> float:
    """Return how deep a step may be to take so many seconds, by the last two steps."""
    if not done:
        return FIRST_STEP
    share, log_seconds = done[-1]
    growth = GROWTH
    if len(done) > 1:
        share_before, log_before = done[-2]
        growth = max((log_seconds - log_before) / (share - share_before), GROWTH / 4)
    deeper = (math.log(max(seconds, 1e-3)) - log_seconds) / growth
    return min(share + min(max(deeper, share / 8), share), 1.0)
