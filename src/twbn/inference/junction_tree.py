"""Junction trees: exact messages over the bags of a tree decomposition, for many rows at once."""

from __future__ import annotations

import math
import threading
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from twbn import _core
from twbn.errors import MemoryLimitError
from twbn.graphs.decomposition import TreeDecomposition
from twbn.inference.beliefs import Beliefs, exact_product, product, quotient
from twbn.inference.factors import compiled_factors

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

    from numpy.typing import NDArray

    from twbn.deadline import Deadline
    from twbn.network.network import Network

__all__ = ["JunctionTree", "Likelihoods"]

#: Entries of all tables together, above which a tree is not built: 1 GiB of numbers.
MAX_ENTRIES = 2**27
#: Seconds for better elimination orders than the first, as long as that leaves many entries; and
#: how many entries the tree of a network with a decomposition of its own may have for each
#: variable before others are tried.
ORDER_SECONDS, FEW_ENTRIES = 0.25, 200
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
        Of its own decomposition, if it has one, and those by greedy elimination orders, the one
        with the smallest tables is used.
    max_entries
        The largest sum of table sizes to accept; a larger one is a MemoryLimitError.
    factors
        The compiled tables of the network, if they are there already.
    refuse
        Whether a larger tree is refused here, or where its tables are needed.

    Notes
    -----
    `n_entries` is the cost of a query: the numbers that a pass touches for each row.
    """

    def __init__(
        self,
        network: Network,
        *,
        max_entries: int = MAX_ENTRIES,
        factors: _core.Factors | None = None,
        refuse: bool = True,
    ) -> None:
        self.network = network
        self.max_entries = max_entries
        self._lock = threading.Lock()
        self._row_messages: dict[int | None, _core.RowMessages] = {}
        self.factors = compiled_factors(network) if factors is None else factors
        self.decomposition = _with_few_neighbours(_smallest_decomposition(network))
        self.bags = tuple(tuple(sorted(bag)) for bag in self.decomposition.bags)
        self.n_entries = sum(map(self._size, self.bags))
        if refuse:
            self.refuse_if_too_large()

    @property
    def fits(self) -> bool:
        """Whether the tree has at most `max_entries` entries."""
        return self.n_entries <= self.max_entries

    def refuse_if_too_large(self) -> None:
        """Raise MemoryLimitError if the tree has more than `max_entries` entries."""
        if self.fits:
            return
        largest = max(map(self._size, self.bags))
        msg = (
            f"the junction tree has {self.n_entries:,} entries (width "
            f"{self.decomposition.width}, largest table {largest:,}), more than the limit of "
            f"{self.max_entries:,}; raise max_entries if there is memory for it"
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
        self.refuse_if_too_large()
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
        self.refuse_if_too_large()
        root = self.root_for(() if target is None else (target,))
        return _core.RowMessages(self._compiled_bags, *self._rooted(root), _number(target))

    def has_row_messages(self, target: int | None) -> bool:
        """Say whether a pass towards a variable is compiled already."""
        with self._lock:
            return target in self._row_messages

    @cached_property
    def calibration(self) -> _core.Calibration:
        """The compiled passes that give the marginals of all variables."""
        self.refuse_if_too_large()
        return _core.Calibration(self._compiled_bags, *self._rooted(0))

    @cached_property
    def _compiled_bags(self) -> _core.BagTree:
        home = np.array(self.home, dtype=np.int32)
        return _core.BagTree(self.factors, list(map(list, self.bags)), home)

    def _rooted(self, root: int) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
        """Return the bags from the root outwards, and the parent of each."""
        parent, order = self.orientation(root)
        return np.array(order, dtype=np.int32), np.array(parent, dtype=np.int32)

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
    """Return the decomposition with the smallest tables: the network's own, or one by an order."""
    own = network.decomposition
    if own is not None and _n_entries(own, network) <= FEW_ENTRIES * network.n_variables:
        return own
    graph = network.dag.moral_graph()
    n_states = list(map(float, network.n_states))
    order = _core.best_order(network.n_variables, graph.edge_array, n_states, 0, ORDER_SECONDS)
    found = TreeDecomposition.from_elimination_order(graph, order)
    if own is not None and _n_entries(own, network) <= _n_entries(found, network):
        return own
    return found


def _n_entries(decomposition: TreeDecomposition, network: Network) -> int:
    return sum(math.prod(network.n_states[v] for v in bag) for bag in decomposition.bags)


def _number(target: int | None) -> int:
    return -1 if target is None else target


def _unpickled(network: Network, max_entries: int) -> JunctionTree:
    return JunctionTree(network, max_entries=max_entries)
