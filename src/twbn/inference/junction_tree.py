"""Junction trees: exact messages over the bags of a tree decomposition, for many rows at once."""

from __future__ import annotations

import math
import threading
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from twbn import _core
from twbn.errors import MemoryLimitError, OptionError
from twbn.graphs.decomposition import TreeDecomposition
from twbn.graphs.treewidth import greedy_decomposition
from twbn.inference.beliefs import Beliefs, exact_product, product, quotient

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence

    from numpy.typing import NDArray

    from twbn.deadline import Deadline
    from twbn.graphs.treewidth.bounds import Heuristic
    from twbn.network.network import Network

__all__ = ["JunctionTree", "Likelihoods"]

#: Entries of all tables together, above which a tree is not built: 1 GiB of numbers.
MAX_ENTRIES = 2**27
#: Greedy decompositions to try if a network has none; fewer for many variables.
N_TRIES, MAX_TRIED_VARIABLES = 20, 2000
#: Entries of all tables with an axis for rows: 256 MiB.
MAX_BATCH_ENTRIES = 2**25
#: Entries of the compiled trees that are kept for later queries: 512 MiB.
MAX_KEPT_ENTRIES = 2**26
#: Neighbours of a bag; one with more is split, so that no product of messages underflows.
MAX_NEIGHBOURS = 16

#: For some variables, the likelihood of each state in each row: [rows or 1, states].
Likelihoods = dict[int, "NDArray[np.float64] | Beliefs"]


class JunctionTree:
    """The bags of a decomposition with the tables of a network multiplied into them.

    Parameters
    ----------
    network
        Its own decomposition is used, or one by greedy fill-in where it has none.
    max_entries
        The largest sum of table sizes to accept; a larger one is a MemoryLimitError.

    Notes
    -----
    `n_entries` is the cost of a query: the numbers that a pass touches for each row.
    """

    def __init__(self, network: Network, *, max_entries: int = MAX_ENTRIES) -> None:
        self.network = network
        self.max_entries = max_entries
        self._lock = threading.Lock()
        self._row_messages: dict[int | None, _core.RowMessages] = {}
        self.decomposition: TreeDecomposition = (
            network.decomposition
            if network.decomposition is not None
            else _smallest_decomposition(network)
        )
        self.decomposition = _with_few_neighbours(self.decomposition)
        self.bags = tuple(tuple(sorted(bag)) for bag in self.decomposition.bags)
        sizes = [self._size(bag) for bag in self.bags]
        self.n_entries = sum(sizes)
        if self.n_entries > max_entries:
            msg = (
                f"the junction tree has {self.n_entries:,} entries (width "
                f"{self.decomposition.width}, largest table {max(sizes):,}), more than the limit "
                f"of {max_entries:,}; raise max_entries if there is memory for it"
            )
            raise MemoryLimitError(msg)

    @cached_property
    def home(self) -> tuple[int, ...]:
        """For each variable the smallest bag that holds its family."""
        bags_of: list[list[int]] = [[] for _ in self.network.names]
        for i, bag in enumerate(self.bags):
            for v in bag:
                bags_of[v].append(i)
        found = []
        for v, parents in enumerate(self.network.dag.parents):
            family = {v, *parents}
            inside = [i for i in bags_of[v] if family <= self.decomposition.bags[i]]
            found.append(min(inside, key=lambda i: (self._size(self.bags[i]), i)))
        return tuple(found)

    @cached_property
    def potentials(self) -> tuple[Beliefs, ...]:
        """For each bag the product of the tables whose home it is, with an axis for rows."""
        network = self.network
        tables: list[list[Beliefs]] = [
            [Beliefs(bag, np.ones([1, *(network.n_states[v] for v in bag)]), np.zeros(1))]
            for bag in self.bags
        ]
        for v, table in enumerate(network.tables):
            family = (*network.dag.parents[v], v)
            order = sorted(range(len(family)), key=family.__getitem__)
            axes = np.transpose(table, order)[None]
            tables[self.home[v]].append(Beliefs(tuple(sorted(family)), axes, np.zeros(1)))
        return tuple(exact_product(held, bag) for held, bag in zip(tables, self.bags, strict=True))

    def collect(
        self,
        likelihoods: Likelihoods,
        keep: Collection[int] = (),
        *,
        maximise: bool = False,
    ) -> Beliefs:
        """Return the belief over the variables in `keep`, after one pass towards them.

        Everything else is summed out (or maximised over). The cost is that of all bags, plus
        that of tables that hold variables of `keep` from several bags, checked beforehand.
        """
        root = self.root_for(keep)
        parent, order = self.orientation(root)
        wanted = set(keep)
        self._refuse_too_wide(parent, order, wanted)
        waiting: list[list[Beliefs]] = [[] for _ in self.bags]
        evidence = self.by_bag(likelihoods)
        for i in reversed(order):
            belief = self.combine(i, waiting[i], evidence[i])
            above = set(self.bags[parent[i]]) if parent[i] >= 0 else set()
            kept = tuple(v for v in belief.variables if v in above or v in wanted)
            message = belief.maximised(kept) if maximise else belief.summed(kept)
            if parent[i] < 0:
                return message
            waiting[parent[i]].append(message)
        msg = "a network without variables has no beliefs"
        raise OptionError(msg)

    def upward(
        self,
        likelihoods: Likelihoods,
        *,
        maximise: bool = False,
        deadline: Deadline | None = None,
    ) -> tuple[list[Beliefs], dict[int, Beliefs]]:
        """Return the belief of every bag after a pass to the root, and the message it sent.

        Raises TimeoutError if the deadline passes or Ctrl-C arrives before it is done.
        """
        parent, order = self.orientation(0)
        evidence = self.by_bag(likelihoods)
        waiting: list[list[Beliefs]] = [[] for _ in self.bags]
        beliefs: list[Beliefs] = [None] * len(self.bags)  # type: ignore[list-item]
        sent: dict[int, Beliefs] = {}
        for i in reversed(order):
            if deadline is not None:
                deadline.check()
            beliefs[i] = self.combine(i, waiting[i], evidence[i])
            if parent[i] >= 0:
                kept = tuple(v for v in self.bags[i] if v in self.decomposition.bags[parent[i]])
                sent[i] = beliefs[i].maximised(kept) if maximise else beliefs[i].summed(kept)
                waiting[parent[i]].append(sent[i])
        return beliefs, sent

    def calibrate(
        self, likelihoods: Likelihoods, *, deadline: Deadline | None = None
    ) -> list[Beliefs]:
        """Return the belief of every bag, after a pass to the root and one back.

        Raises TimeoutError if the deadline passes or Ctrl-C arrives before it is done.
        """
        parent, order = self.orientation(0)
        beliefs, sent = self.upward(likelihoods, deadline=deadline)
        for i in order[1:]:
            if deadline is not None:
                deadline.check()
            up = sent[i]
            down = beliefs[parent[i]].summed(up.variables)
            # The child's own message is divided out; where that is zero, so is the quotient.
            ratio = quotient(down, up)
            belief = product([replace(beliefs[i], log=np.zeros(1)), ratio], self.bags[i])
            beliefs[i] = replace(belief, log=down.log)
        return beliefs

    def combine(self, i: int, messages: Iterable[Beliefs], evidence: Likelihoods) -> Beliefs:
        """Return the product of a bag's table with its incoming messages and its evidence."""
        known = [
            given if isinstance(given, Beliefs) else Beliefs((v,), given, np.zeros(1))
            for v, given in evidence.items()
        ]
        factors = [self.potentials[i], *messages, *known]
        return product(factors, sorted({v for factor in factors for v in factor.variables}))

    def row_messages(self, target: int | None = None) -> _core.RowMessages:
        """Return the compiled pass towards one variable, or for the probability of rows alone."""
        with self._lock:
            found = self._row_messages.get(target)
        if found is not None:
            return found
        made = self._compiled(target)
        with self._lock:
            kept = self._row_messages
            while kept and len(kept) * self.n_entries > MAX_KEPT_ENTRIES:
                kept.pop(next(iter(kept)))
            return kept.setdefault(target, made)

    def _compiled(self, target: int | None) -> _core.RowMessages:
        root = self.root_for(() if target is None else (target,))
        parent, order = self.orientation(root)
        place = {bag: i for i, bag in enumerate(order)}
        sizes = [len(self.bags[i]) for i in order]
        tables = [self.potentials[i] for i in order]
        exponents = np.empty(0, dtype=np.int32)
        if any(table.exponents is not None for table in tables):
            exponents = np.concatenate(
                [
                    np.zeros(t.values.size, np.int32)
                    if t.exponents is None
                    else np.clip(t.exponents, -(2**30), 2**30).astype(np.int32).ravel()
                    for t in tables
                ]
            )
        return _core.RowMessages(
            np.array(self.network.n_states, dtype=np.int32),
            np.array([place.get(parent[i], -1) for i in order], dtype=np.int32),
            np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64),
            np.array([v for i in order for v in self.bags[i]], dtype=np.int32),
            np.concatenate([table.values.ravel() for table in tables]),
            exponents,
            -1 if target is None else target,
        )

    def rows_at_once(self) -> int:
        """Return how many rows fit into one pass."""
        each = 2 * self.n_entries + sum(self.network.n_states)
        return max(1, MAX_BATCH_ENTRIES // each)

    def root_for(self, keep: Collection[int]) -> int:
        """Return the bag that holds the most variables of `keep`."""
        wanted = set(keep)
        return max(
            range(len(self.bags)),
            key=lambda i: (len(wanted & self.decomposition.bags[i]), -self._size(self.bags[i]), -i),
        )

    def orientation(self, root: int) -> tuple[list[int], list[int]]:
        """Return the parent of each bag, and the bags from the root outwards."""
        if root not in self._orientations:
            self._orientations[root] = self.decomposition.rooted_at(root)
        return self._orientations[root]

    @cached_property
    def _orientations(self) -> dict[int, tuple[list[int], list[int]]]:
        return {}

    def by_bag(self, likelihoods: Likelihoods) -> list[Likelihoods]:
        """Return, for each bag, the evidence to multiply into it."""
        found: list[Likelihoods] = [{} for _ in self.bags]
        for v, likelihood in likelihoods.items():
            found[self.home[v]][v] = likelihood
        return found

    def _refuse_too_wide(
        self, parent: Sequence[int], order: Sequence[int], wanted: set[int]
    ) -> None:
        """Refuse a query whose variables, carried from bag to bag, make a table too large."""
        carried: list[set[int]] = [set() for _ in self.bags]
        for i in reversed(order):
            variables = carried[i] | set(self.bags[i])
            size = self._size(variables)
            if size > MAX_ENTRIES:
                msg = (
                    f"a table over {len(wanted)} variables of different bags would have "
                    f"{size:,} entries, more than {MAX_ENTRIES:,}; ask for fewer at once"
                )
                raise MemoryLimitError(msg)
            if parent[i] >= 0:
                carried[parent[i]] |= variables & wanted

    def _size(self, variables: Iterable[int]) -> int:
        size = 1
        for v in variables:
            size *= self.network.n_states[v]
        return size

    def __reduce__(self) -> tuple[Any, ...]:
        # Compiled and cached parts are rebuilt on demand.
        return (_unpickled, (self.network, self.max_entries))

    def __repr__(self) -> str:
        return (
            f"JunctionTree(width {self.decomposition.width}, {len(self.bags)} bags, "
            f"{self.n_entries:,} entries)"
        )


def _with_few_neighbours(decomposition: TreeDecomposition) -> TreeDecomposition:
    """Return the decomposition with each bag of many neighbours split into a chain of copies."""
    adjacent: list[list[int]] = [[] for _ in decomposition.bags]
    for a, b in decomposition.edges:
        adjacent[a].append(b)
        adjacent[b].append(a)
    if max(map(len, adjacent), default=0) <= MAX_NEIGHBOURS:
        return decomposition
    bags = list(decomposition.bags)
    edges: list[tuple[int, int]] = []
    copy_for: dict[tuple[int, int], int] = {}
    for i, neighbours in enumerate(adjacent):
        here = i
        for number, j in enumerate(neighbours):
            if number and number % (MAX_NEIGHBOURS - 2) == 0:
                bags.append(decomposition.bags[i])
                edges.append((here, len(bags) - 1))
                here = len(bags) - 1
            copy_for[i, j] = here
    edges += [(copy_for[a, b], copy_for[b, a]) for a, b in decomposition.edges]
    return TreeDecomposition(tuple(bags), tuple(edges))


def _smallest_decomposition(network: Network) -> TreeDecomposition:
    """Return, of several greedy decompositions, the one with the smallest tables."""
    graph = network.dag.moral_graph()

    def n_entries(decomposition: TreeDecomposition) -> int:
        sizes = network.n_states
        return sum(math.prod(sizes[v] for v in bag) for bag in decomposition.bags)

    n_tries = max(1, min(N_TRIES, MAX_TRIED_VARIABLES // max(graph.n_vertices, 1)))
    rules: tuple[Heuristic, ...] = ("min-fill", "min-degree")
    tried = (
        greedy_decomposition(graph, heuristic=rule, seed=seed)
        for seed in range(n_tries)
        for rule in rules
    )
    return min(tried, key=n_entries)


def _unpickled(network: Network, max_entries: int) -> JunctionTree:
    return JunctionTree(network, max_entries=max_entries)
