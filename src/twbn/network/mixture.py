"""Mixtures: weighted sums of networks over the same variables."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property, reduce
from typing import TYPE_CHECKING, Any

import numpy as np

from twbn.checks import checked_seed, checked_whole
from twbn.data.coding import Categories, Coded
from twbn.data.table import Table
from twbn.errors import DataError, GraphError, MemoryLimitError, OptionError
from twbn.graphs.dag import Dag
from twbn.network.network import MAX_CELLS, Network
from twbn.views import Viewed

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import ArrayLike, NDArray

    from twbn.data.coding import Coding

__all__ = ["Mixture", "logarithm_of_sum"]

#: Entries of the tables of a mixture that is written as one network.
MAX_ENTRIES = 2**24


@dataclass(frozen=True, eq=False, repr=False)
class Mixture(Coded, Viewed):
    """A mixture of Bayesian networks: P(x) is the weighted sum of the P(x) of its components.

    Invariant: at least one network, all over the same variables with the same states; the weights
    are positive and sum to one, the largest first. If every network has treewidth k at most, exact
    questions cost as many times those to one network as there are components.

    Examples
    --------
    >>> def coins(p):
    ...     return Network.from_tables(
    ...         {"a": ["head", "tail"], "b": ["head", "tail"]}, {"a": [], "b": []},
    ...         {"a": [p, 1 - p], "b": [p, 1 - p]},
    ...     )
    >>> mixture = Mixture([0.5, 0.5], [coins(0.9), coins(0.1)])
    >>> np.exp(mixture.log_likelihood({"a": ["head"], "b": ["head"]})).round(2)
    array([0.41])
    """

    weights: NDArray[np.float64]
    networks: tuple[Network, ...]
    names: tuple[str, ...]
    codings: tuple[Coding, ...]

    def __init__(self, weights: ArrayLike, networks: Sequence[Network]) -> None:
        networks = tuple(networks) if isinstance(networks, Iterable) else ()
        if not networks or not all(isinstance(network, Network) for network in networks):
            msg = "networks must be a non-empty sequence of Network objects"
            raise DataError(msg)
        try:
            values = np.array(weights, dtype=np.float64)
        except (TypeError, ValueError):
            msg = f"the weights of a mixture must be numbers, got {weights!r}"
            raise DataError(msg) from None
        if values.shape != (len(networks),):
            msg = f"a mixture of {len(networks)} networks needs as many weights, got {values.shape}"
            raise DataError(msg)
        if not np.all(np.isfinite(values)) or (values <= 0).any():
            msg = f"the weights of a mixture must be positive, got {values.tolist()}"
            raise DataError(msg)
        if abs(values.sum() - 1) > 1e-6:
            msg = f"the weights of a mixture must sum to one, got {values.sum():g}"
            raise DataError(msg)
        first = networks[0]
        for other in networks[1:]:
            if other.names != first.names or other.states != first.states:
                msg = "the networks of a mixture must have the same variables and states"
                raise DataError(msg)
        order = np.argsort(-values, kind="stable")
        values = values[order] / values.sum()
        values.setflags(write=False)
        object.__setattr__(self, "weights", values)
        object.__setattr__(self, "networks", tuple(networks[i] for i in order))
        object.__setattr__(self, "names", first.names)
        object.__setattr__(self, "codings", first.codings)

    @property
    def n_components(self) -> int:
        """Number of networks."""
        return len(self.networks)

    @property
    def n_states(self) -> tuple[int, ...]:
        """Number of states of each variable."""
        return self.networks[0].n_states

    @property
    def n_variables(self) -> int:
        """Number of variables."""
        return len(self.names)

    @property
    def data_options(self) -> Mapping[str, Any]:
        """How the file of the rows that it was fitted to was read, if there was one."""
        return self.networks[0].data_options

    @property
    def n_parameters(self) -> int:
        """Number of free parameters, the weights included."""
        return sum(n.n_parameters for n in self.networks) + self.n_components - 1

    @cached_property
    def treewidth(self) -> int | None:
        """The largest proved treewidth of a component; None where one has no decomposition."""
        proofs = [network.decomposition for network in self.networks]
        return max((max(p.width, 0) for p in proofs if p), default=0) if all(proofs) else None

    def index(self, name: str) -> int:
        """Return the position of a variable."""
        return self.networks[0].index(name)

    def encode(self, data: Any, **options: Any) -> Table:
        """Return data coded like the networks; see `Network.encode`."""
        return self.networks[0].encode(data, **options)

    def known_codes(self, evidence: Any) -> dict[int, int]:
        """Return the code of every observed variable; see `Network.known_codes`."""
        return self.networks[0].known_codes(evidence)

    def log_likelihood(self, data: Any) -> NDArray[np.float64]:
        """Return the log-probability of every row of complete data."""
        return logarithm_of_sum(self.component_log_likelihoods(data))

    def component_log_likelihoods(self, data: Any) -> NDArray[np.float64]:
        """Return ln w P(row) of every complete row (down) by every component (across)."""
        table = self.encode(data)
        parts = [network.log_likelihood(table) for network in self.networks]
        return np.column_stack(parts) + np.log(self.weights)

    def sample(self, n_rows: int, *, seed: int = 0) -> Table:
        """Return `n_rows` independent rows; the same seed gives the same rows."""
        n_rows = checked_whole("n_rows", n_rows, least=1)
        if n_rows * self.n_variables > MAX_CELLS:
            msg = (
                f"{n_rows:,} rows of {self.n_variables} variables are more than {MAX_CELLS:,} cells"
            )
            raise MemoryLimitError(msg)
        rng = np.random.default_rng(checked_seed(seed))
        drawn = rng.choice(self.n_components, n_rows, p=self.weights)
        codes = np.empty((n_rows, self.n_variables), dtype=np.int32)
        for i, network in enumerate(self.networks):
            rows = np.flatnonzero(drawn == i)
            if len(rows):
                own = int(rng.integers(2**63))
                codes[rows] = network.sample(len(rows), seed=own).codes
        return Table(self.names, self.codings, codes)

    def intervene(self, do: Any) -> Mixture:
        """Return the mixture after an intervention in every component; see `Network.intervene`."""
        return Mixture(self.weights, [network.intervene(do) for network in self.networks])

    def as_network(self, name: str = "component") -> Network:
        """Return the same distribution as one network with the component as a hidden root.

        Every variable has the root as a parent and all the parents that it has in some component.
        OptionError where these close a cycle; MemoryLimitError where the tables become too large.
        The result has no decomposition: its treewidth may be much larger than the components'.
        """
        if name in self.names:
            msg = f"there is a variable called {name!r} already; give the root another name"
            raise OptionError(msg)
        unions = [
            sorted(set().union(*(network.dag.parents[v] for network in self.networks)))
            for v in range(self.n_variables)
        ]
        try:
            dag = Dag(((), *((0, *(p + 1 for p in parents)) for parents in unions)))
        except GraphError:
            msg = (
                "the components have arcs in opposite directions, so no single network holds the "
                "mixture; write it as JSON"
            )
            raise OptionError(msg) from None
        self._refuse_large(unions)
        tables = [self.weights, *(self._joined(v, parents) for v, parents in enumerate(unions))]
        root = Categories(tuple(f"c{i + 1}" for i in range(self.n_components)))
        return Network(dag, (name, *self.names), (root, *self.codings), tuple(tables))

    def _refuse_large(self, unions: Sequence[Sequence[int]]) -> None:
        for v, parents in enumerate(unions):
            size = self.n_components * math.prod(self.n_states[u] for u in (*parents, v))
            if size > MAX_ENTRIES:
                msg = (
                    f"as one network, {self.names[v]!r} has {len(parents)} parents and a table of "
                    f"{size:,} entries, more than {MAX_ENTRIES:,}; write the mixture as JSON"
                )
                raise MemoryLimitError(msg)

    def _joined(self, v: int, parents: Sequence[int]) -> NDArray[np.float64]:
        """Return the table of a variable given the component and all parents."""
        shape = tuple(self.n_states[u] for u in (*parents, v))
        slices = []
        for network in self.networks:
            own = network.dag.parents[v]
            axes = tuple(i for i, u in enumerate(parents) if u not in own)
            slices.append(np.broadcast_to(np.expand_dims(network.tables[v], axes), shape))
        return np.stack(slices)

    def equals(self, other: object, tolerance: float = 0.0) -> bool:
        """Return whether weights and networks are the same, within a tolerance."""
        if not isinstance(other, Mixture) or self.n_components != other.n_components:
            return False
        pairs = zip(self.networks, other.networks, strict=True)
        same = np.allclose(self.weights, other.weights, rtol=0, atol=tolerance)
        return same and all(a.equals(b, tolerance) for a, b in pairs)

    def __reduce__(self) -> tuple[Any, ...]:
        return (Mixture, (self.weights, self.networks))

    def __repr__(self) -> str:
        return (
            f"Mixture({self.n_components} component{'s' * (self.n_components != 1)}, "
            f"{self.n_variables} variables, {self.n_parameters} parameters)"
        )


def logarithm_of_sum(logs: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the logarithm of the sum of exponentials along the last axis.

    Examples
    --------
    >>> float(logarithm_of_sum(np.log(np.array([0.25, 0.5]))).round(6))
    -0.287682
    """
    return np.asarray(reduce(np.logaddexp, np.moveaxis(logs, -1, 0)))
