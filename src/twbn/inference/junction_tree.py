"""Junction trees: exact messages over the bags of a tree decomposition, for many rows at once."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from twbn import _core
from twbn.errors import MemoryLimitError, OptionError
from twbn.graphs.decomposition import TreeDecomposition
from twbn.graphs.treewidth import upper_bound

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Mapping, Sequence

    from numpy.typing import NDArray

    from twbn.graphs.treewidth import Heuristic
    from twbn.network.network import Network

__all__ = ["Beliefs", "JunctionTree", "Likelihoods"]

#: Entries of all tables together, above which a tree is not built: 1 GiB of numbers.
MAX_ENTRIES = 2**27
#: Greedy decompositions to choose from, where a network brings none; fewer for many variables.
N_TRIES, MAX_TRIED_VARIABLES = 20, 2000
#: Entries of all tables with an axis for rows: 256 MiB.
MAX_BATCH_ENTRIES = 2**25
#: Entries of the compiled trees that are kept for further questions: 512 MiB.
MAX_KEPT_ENTRIES = 2**26
#: Neighbours of a bag; one with more is split, so that no product of messages underflows.
MAX_NEIGHBOURS = 16

#: For some variables, the likelihood of each state in each row: [rows or 1, states].
Likelihoods = dict[int, "NDArray[np.float64]"]


@dataclass(frozen=True)
class Beliefs:
    """A table over `variables` for every row, up to a factor per row whose logarithm is `log`."""

    variables: tuple[int, ...]
    values: NDArray[np.float64]  # [rows or 1, states of each variable]
    log: NDArray[np.float64]  # [rows or 1]


class JunctionTree:
    """The bags of a decomposition with the tables of a network multiplied into them.

    Parameters
    ----------
    network
        Its own decomposition is used, or one by greedy fill-in where it has none.
    max_entries
        The largest sum of table sizes to accept; more is refused with the number.

    Notes
    -----
    `n_entries` is the cost of a query: the numbers that a pass touches for each row.
    """

    def __init__(self, network: Network, *, max_entries: int = MAX_ENTRIES) -> None:
        self.network = network
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
    def potentials(self) -> tuple[NDArray[np.float64], ...]:
        """For each bag the product of the tables whose home it is, with an axis for rows."""
        potentials = [np.ones([1, *(self.network.n_states[v] for v in bag)]) for bag in self.bags]
        for v, table in enumerate(self.network.tables):
            family = (*self.network.dag.parents[v], v)
            i = self.home[v]
            order = sorted(range(len(family)), key=family.__getitem__)
            spread = _spread(np.transpose(table, order)[None], sorted(family), self.bags[i])
            potentials[i] = potentials[i] * spread
        return tuple(potentials)

    def collect(
        self,
        likelihoods: Likelihoods,
        keep: Collection[int] = (),
        *,
        maximise: bool = False,
    ) -> Beliefs:
        """Return the belief over the variables in `keep`, after one pass towards them.

        Everything else is summed out (or maximised over). The cost is that of all bags, and of
        tables that hold variables of `keep` from several bags, which is checked beforehand.
        """
        root = self.root_for(keep)
        parent, order = self.orientation(root)
        wanted = set(keep)
        self._refuse_too_wide(parent, order, wanted)
        reduce = np.max if maximise else np.sum
        waiting: list[list[Beliefs]] = [[] for _ in self.bags]
        evidence = self.by_bag(likelihoods)
        for i in reversed(order):
            belief = self.combine(i, waiting[i], evidence[i])
            above = set(self.bags[parent[i]]) if parent[i] >= 0 else set()
            kept = tuple(v for v in belief.variables if v in above or v in wanted)
            message = self.reduced(belief, kept, reduce)
            if parent[i] < 0:
                return message
            waiting[parent[i]].append(message)
        msg = "a network without variables has no beliefs"
        raise OptionError(msg)

    def calibrate(self, likelihoods: Likelihoods) -> list[Beliefs]:
        """Return the belief of every bag, after a pass to the root and one back."""
        parent, order = self.orientation(0)
        evidence = self.by_bag(likelihoods)
        waiting: list[list[Beliefs]] = [[] for _ in self.bags]
        beliefs: list[Beliefs] = [None] * len(self.bags)  # type: ignore[list-item]
        sent: dict[int, Beliefs] = {}
        for i in reversed(order):
            beliefs[i] = self.combine(i, waiting[i], evidence[i])
            if parent[i] >= 0:
                kept = tuple(v for v in self.bags[i] if v in self.decomposition.bags[parent[i]])
                sent[i] = self.reduced(beliefs[i], kept, np.sum)
                waiting[parent[i]].append(sent[i])
        for i in order[1:]:
            up = sent[i]
            down = self.reduced(beliefs[parent[i]], up.variables, np.sum)
            # What the child has sent is taken out again; where it was zero, so is the rest.
            ratio = np.divide(
                down.values, up.values, out=np.zeros(_joint_shape(down.values, up.values)),
                where=up.values > 0,
            )  # fmt: skip
            values = beliefs[i].values * _spread(ratio, up.variables, self.bags[i])
            beliefs[i] = _rescaled(Beliefs(self.bags[i], values, down.log))
        return beliefs

    def combine(self, i: int, messages: Iterable[Beliefs], evidence: Likelihoods) -> Beliefs:
        """Return a bag's table times the messages and the evidence it gets."""
        messages = list(messages)
        variables = sorted({*self.bags[i], *(v for m in messages for v in m.variables)})
        values = _spread(self.potentials[i], self.bags[i], variables)
        log = np.zeros(1)
        for message in messages:
            values = values * _spread(message.values, message.variables, variables)
            log = log + message.log
        for v, likelihood in evidence.items():
            values = values * _spread(likelihood, (v,), variables)
        return _rescaled(Beliefs(tuple(variables), values, log))

    def row_messages(self, target: int | None = None) -> _core.RowMessages:
        """Return the compiled pass towards one variable, or for the probability of rows alone."""
        if target not in self._row_messages:
            while len(self._row_messages) * self.n_entries > MAX_KEPT_ENTRIES:
                self._row_messages.pop(next(iter(self._row_messages)))
            root = self.root_for(() if target is None else (target,))
            parent, order = self.orientation(root)
            place = {bag: i for i, bag in enumerate(order)}
            sizes = [len(self.bags[i]) for i in order]
            self._row_messages[target] = _core.RowMessages(
                np.array(self.network.n_states, dtype=np.int32),
                np.array([place.get(parent[i], -1) for i in order], dtype=np.int32),
                np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64),
                np.array([v for i in order for v in self.bags[i]], dtype=np.int32),
                np.concatenate([self.potentials[i].ravel() for i in order]),
                -1 if target is None else target,
            )
        return self._row_messages[target]

    @cached_property
    def _row_messages(self) -> dict[int | None, _core.RowMessages]:
        return {}

    def rows_at_once(self) -> int:
        """Return how many rows fit into one pass."""
        each = 2 * self.n_entries + sum(self.network.n_states)
        return max(1, MAX_BATCH_ENTRIES // each)

    def root_for(self, keep: Collection[int]) -> int:
        """Return the bag that holds the most of some variables."""
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

    def by_bag(self, likelihoods: Mapping[int, NDArray[np.float64]]) -> list[Likelihoods]:
        """Return the evidence that each bag is to multiply in."""
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

    def reduced(
        self, belief: Beliefs, kept: tuple[int, ...], reduce: Callable[..., Any]
    ) -> Beliefs:
        """Return a belief over fewer variables; the others are summed out or maximised over."""
        axes = tuple(1 + k for k, v in enumerate(belief.variables) if v not in kept)
        values = reduce(belief.values, axis=axes) if axes else belief.values
        return _rescaled(Beliefs(kept, values, belief.log))

    def __repr__(self) -> str:
        return (
            f"JunctionTree(width {self.decomposition.width}, {len(self.bags)} bags, "
            f"{self.n_entries:,} entries)"
        )


def _with_few_neighbours(decomposition: TreeDecomposition) -> TreeDecomposition:
    """Return the decomposition with copies of bags in a row where one has many neighbours."""
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
    """Return the decomposition with the smallest tables of several greedy ones."""
    graph = network.dag.moral_graph()

    def n_entries(decomposition: TreeDecomposition) -> int:
        sizes = network.n_states
        return sum(math.prod(sizes[v] for v in bag) for bag in decomposition.bags)

    n_tries = max(1, min(N_TRIES, MAX_TRIED_VARIABLES // max(graph.n_vertices, 1)))
    rules: tuple[Heuristic, ...] = ("min-fill", "min-degree")
    tried = (
        upper_bound(graph, heuristic=rule, seed=seed) for seed in range(n_tries) for rule in rules
    )
    return min(tried, key=n_entries)


def _spread(
    values: NDArray[np.float64], variables: Sequence[int], over: Sequence[int]
) -> NDArray[np.float64]:
    """Return a table with axes of length one where `over` has more variables (both ascending)."""
    sizes = iter(values.shape[1:])
    present = set(variables)
    return values.reshape(values.shape[0], *(next(sizes) if v in present else 1 for v in over))


def _rescaled(belief: Beliefs) -> Beliefs:
    """Divide each row's table by its largest entry, and remember it: no product underflows."""
    values = belief.values
    largest = values.reshape(len(values), -1).max(axis=1)
    safe = np.where(largest > 0, largest, 1.0)
    with np.errstate(divide="ignore"):
        log = belief.log + np.log(largest)
    return Beliefs(belief.variables, values / safe.reshape(-1, *([1] * (values.ndim - 1))), log)


def _joint_shape(a: NDArray[np.float64], b: NDArray[np.float64]) -> tuple[int, ...]:
    return np.broadcast_shapes(a.shape, b.shape)
