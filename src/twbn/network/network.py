"""Networks with their conditional tables."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from importlib import import_module
from typing import TYPE_CHECKING, Any

import numpy as np

from twbn.checks import checked_seed, checked_whole, unknown
from twbn.data.coding import Bins, Categories, Coded, State
from twbn.data.columns import is_missing
from twbn.data.frames import as_table
from twbn.data.table import Table
from twbn.errors import DataError, GraphError, MemoryLimitError, UnknownStateError
from twbn.graphs.dag import Dag
from twbn.network.evidence import as_mapping, set_codes
from twbn.network.invariants import check_network, summing_to_one
from twbn.views import Viewed

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import ArrayLike, NDArray

    from twbn.data.coding import Coding
    from twbn.graphs.decomposition import TreeDecomposition
    from twbn.network.counts import FamilyCounts

__all__ = ["Network"]

#: Limit on the number of cells drawn by one call of `sample`.
MAX_CELLS = 2**31


@dataclass(frozen=True, eq=False, repr=False)
class Network(Coded, Viewed):
    """A Bayesian network: a graph and, for every variable, its distribution given its parents.

    Invariant: `tables[v]` has one axis for each parent of v, in the order of ``dag.parents[v]``
    (ascending), and v's own axis last; it is not negative and sums to one along the last axis. The
    arrays are read-only. `decomposition`, if there is one, decomposes the moral graph.
    `data_options` tells how the file of the rows that it was fitted to was read, if there was one.
    `counts` are those that the tables come from, if they come from counts alone.

    Examples
    --------
    >>> rain = Network.from_tables(
    ...     {"rain": ["no", "yes"], "grass": ["dry", "wet"]},
    ...     {"rain": [], "grass": ["rain"]},
    ...     {"rain": [0.8, 0.2], "grass": [[0.9, 0.1], [0.2, 0.8]]},
    ... )
    >>> rain.table("grass")[1]
    array([0.2, 0.8])
    """

    dag: Dag
    names: tuple[str, ...]
    codings: tuple[Coding, ...]
    tables: tuple[NDArray[np.float64], ...]
    decomposition: TreeDecomposition | None = None
    data_options: Mapping[str, Any] = field(default_factory=dict)
    counts: FamilyCounts | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "names", tuple(map(str, self.names)))
        object.__setattr__(self, "codings", tuple(self.codings))
        tables = tuple(np.array(table, dtype=np.float64) for table in self.tables)
        object.__setattr__(self, "tables", tables)
        check_network(self)
        object.__setattr__(self, "dag", self.dag.named(self.names))
        object.__setattr__(self, "tables", tuple(map(summing_to_one, tables)))
        for table in self.tables:
            table.setflags(write=False)

    @classmethod
    def from_tables(
        cls,
        states: Mapping[str, Sequence[State]],
        parents: Mapping[str, Sequence[str]],
        tables: Mapping[str, ArrayLike],
        decomposition: TreeDecomposition | None = None,
    ) -> Network:
        """Return a network built from named parts; a table's axes follow `parents`."""
        names = tuple(states)
        position = {name: v for v, name in enumerate(names)}
        lists, arrays = [], []
        for name in names:
            if name not in parents or name not in tables:
                msg = f"variable {name!r} is missing from parents or from tables"
                raise DataError(msg)
            for parent in parents[name]:
                if parent not in position:
                    problem = unknown("variable", parent, names)
                    raise DataError(f"parents of {name!r}: ", problem, variable=name)
            given = [position[p] for p in parents[name]]
            array = np.asarray(tables[name], dtype=np.float64)
            if array.ndim != len(given) + 1:
                msg = (
                    f"the table of {name!r} has {array.ndim} axes, expected {len(given) + 1}: "
                    "one for each parent and one for the variable itself"
                )
                raise DataError(msg)
            order = np.argsort(given, kind="stable").tolist()
            lists.append(tuple(given))
            arrays.append(np.transpose(array, (*order, len(given))))
        try:
            dag = Dag(tuple(lists))
        except GraphError as error:
            raise error.with_names(names) from None
        codings = tuple(Categories(tuple(map(_plain, states[name]))) for name in names)
        return cls(dag, names, codings, tuple(arrays), decomposition)

    @cached_property
    def n_states(self) -> tuple[int, ...]:
        """Number of states of each variable."""
        return tuple(len(states) for states in self.states)

    @property
    def n_parameters(self) -> int:
        """Number of free parameters."""
        return sum(t.size // t.shape[-1] * (t.shape[-1] - 1) for t in self.tables)

    @property
    def parents(self) -> dict[str, list[str]]:
        """Parents of each variable, by name, in the order of its table's axes."""
        return {
            name: [self.names[p] for p in self.dag.parents[v]] for v, name in enumerate(self.names)
        }

    def index(self, name: str) -> int:
        """Return the position of a variable."""
        try:
            return self._positions[name if isinstance(name, str) else str(name)]
        except (KeyError, TypeError):
            raise DataError(unknown("variable", str(name), self.names)) from None

    def intervene(self, do: Any) -> Network:
        """Return the network after an intervention that sets some variables to states.

        What sets a variable takes the place of its parents: its arcs from them are gone, and its
        table is certain of the state. The moral graph only loses edges, so a decomposition that
        proves the treewidth still does.

        Examples
        --------
        >>> rain = Network.from_tables(
        ...     {"rain": ["no", "yes"], "grass": ["dry", "wet"]},
        ...     {"rain": [], "grass": ["rain"]},
        ...     {"rain": [0.8, 0.2], "grass": [[0.9, 0.1], [0.2, 0.8]]},
        ... )
        >>> rain.intervene({"grass": "wet"}).parents
        {'rain': [], 'grass': []}
        """
        codes = set_codes(self, do)
        parents = [() if v in codes else own for v, own in enumerate(self.dag.parents)]
        tables = [
            np.eye(self.n_states[v])[codes[v]] if v in codes else table
            for v, table in enumerate(self.tables)
        ]
        return replace(self, dag=Dag(tuple(parents)), tables=tuple(tables), counts=None)

    def update(self, data: Any, *, forget: float = 1.0) -> Network:
        """Return the network after more complete rows, whose counts are added to its own.

        Rows in ten chunks give the bits of all rows at once. With `forget` below 1, the counts so
        far are multiplied by it first, so that older rows matter less and less.

        Examples
        --------
        >>> import twbn
        >>> first = twbn.as_table({"a": [0, 0, 1, 1], "b": [0, 0, 1, 0]})
        >>> network = twbn.fit(twbn.Dag.from_arcs(2, [(0, 1)]), first, ess=0)
        >>> network.update({"a": [1, 1], "b": [1, 1]}).table("b").tolist()
        [[1.0, 0.0], [0.25, 0.75]]
        """
        return import_module("twbn.network.fit").updated(self, data, forget=forget)  # type: ignore[no-any-return]

    def state_code(self, variable: int, state: Any) -> int:
        """Return the code of a state; UnknownStateError suggests the nearest known state."""
        if not isinstance(state, str) and hasattr(state, "__len__"):
            msg = f"a state of {self.names[variable]!r} must be one value, got {state!r}"
            raise UnknownStateError(msg)
        states = self.states[variable]
        texts = [str(known) for known in states]
        if not is_missing(state):
            for code, known in enumerate(states):
                if known == state and isinstance(known, bool) == isinstance(state, bool):
                    return code
        if str(state) in texts:
            return texts.index(str(state))
        coding, name = self.codings[variable], self.names[variable]
        if isinstance(coding, Bins) and not is_missing(state):
            return int(coding.encode([state], name)[0])
        found = int(coding.find([state if isinstance(state, str) else str(state)])[0][0])
        if found >= 0:
            return found
        msg = unknown("state", str(state), texts, of=f" of variable {name!r}")
        raise UnknownStateError(msg, variable=name)

    def known_codes(self, evidence: Any) -> dict[int, int]:
        """Return the code of every observed variable, by position.

        Parameters
        ----------
        evidence
            A mapping from variable to state, a pandas Series, or a frame of one row. Missing values
            (None, NaN, an empty string) are unobserved; an unknown name or state is an error.
        """
        known: dict[int, int] = {}
        for name, state in as_mapping(evidence).items():
            v = self.index(name)
            if type(state) is str and state in self._texts[v]:  # the common case
                known[v] = self._texts[v][state]
            elif not is_missing(state):
                known[v] = self.state_code(v, state)
        return known

    def encode(self, data: Any, *, target: str | None = None, unknown: str = "error") -> Table:
        """Return data coded like this network; variables without a column are unknown.

        Columns that the network does not have are ignored, but one whose name is close to that of
        an absent variable is an error. If variables other than `target` are absent and the data
        have columns that the network lacks, a warning is issued. A state that the network does not
        have is an error that names it, or, with ``unknown="missing"``, not known, with one warning.
        """
        if isinstance(data, Table) and data.names == self.names:
            self.check_columns(data)
            return data
        like = Table.blank(self.names, self.codings)
        return as_table(data, like=like, absent_ok=True, target=target, unknown=unknown)

    def table(self, name: str) -> NDArray[np.float64]:
        """Return P(variable | parents): one axis per parent, the variable's own axis last."""
        return self.tables[self.index(name)]

    def log_likelihood(self, data: Any) -> NDArray[np.float64]:
        """Return the log-probability of every row of complete data with these variables."""
        data = self.encode(data)
        data.require_complete("the likelihood of rows")
        total = np.zeros(data.n_rows)
        with np.errstate(divide="ignore"):
            for v, table in enumerate(self.tables):
                family = (*self.dag.parents[v], v)
                total += np.log(table)[tuple(data.codes[:, u] for u in family)]
        return total

    def sample(self, n_rows: int, *, seed: int = 0) -> Table:
        """Return `n_rows` independent rows; the same seed gives the same rows."""
        n_rows = checked_whole("n_rows", n_rows, least=1)
        seed = checked_seed(seed)
        if n_rows * self.n_variables > MAX_CELLS:
            msg = (
                f"{n_rows:,} rows of {self.n_variables} variables are more than {MAX_CELLS:,} cells"
            )
            raise MemoryLimitError(msg)
        rng = np.random.default_rng(seed)
        codes = np.zeros((n_rows, self.n_variables), dtype=np.int32)
        for v in self.dag.topological_order:
            steps = np.cumsum(self.tables[v], axis=-1)[..., :-1]
            given = steps[tuple(codes[:, p] for p in self.dag.parents[v])]
            draw = rng.random(n_rows)
            codes[:, v] = np.sum(draw[:, None] >= given, axis=1)
        return Table(self.names, self.codings, codes)

    def with_arc(self, parent: str, child: str, table: ArrayLike | None = None) -> Network:
        """Return the network with an arc added; without `table`, the child ignores the new parent.

        `table` has one axis per parent, the new one included, ascending, and the child's axis last.
        """
        u, v = self.index(parent), self.index(child)
        if u in self.dag.parents[v]:
            msg = f"{parent!r} is a parent of {child!r} already"
            raise GraphError(msg)
        parents = tuple(sorted((*self.dag.parents[v], u)))
        if table is None:
            axis = parents.index(u)
            table = np.repeat(np.expand_dims(self.tables[v], axis), self.n_states[u], axis)
        return self._changed(v, parents, table)

    def without_arc(self, parent: str, child: str) -> Network:
        """Return the network without an arc; the child's table is averaged over that parent."""
        u, v = self.index(parent), self.index(child)
        if u not in self.dag.parents[v]:
            msg = f"{parent!r} is not a parent of {child!r}"
            raise GraphError(msg)
        axis = self.dag.parents[v].index(u)
        parents = tuple(p for p in self.dag.parents[v] if p != u)
        return self._changed(v, parents, self.tables[v].mean(axis=axis))

    def equals(self, other: Network, tolerance: float = 0.0) -> bool:
        """Return whether names, states, arcs and tables are the same, within a tolerance."""
        return (
            self.names == other.names
            and self.states == other.states
            and self.dag == other.dag
            and all(
                np.allclose(a, b, rtol=0, atol=tolerance)
                for a, b in zip(self.tables, other.tables, strict=True)
            )
        )

    def __repr__(self) -> str:
        return (
            f"Network({self.n_variables} variables, {len(self.dag.arcs)} arcs, "
            f"{self.n_parameters} parameters)"
        )

    @cached_property
    def _texts(self) -> tuple[dict[str, int], ...]:
        """The code of each state of each variable, by its text; the first of equal texts wins."""
        pairs = (reversed(list(enumerate(map(str, states)))) for states in self.states)
        return tuple({text: code for code, text in numbered} for numbered in pairs)

    def _changed(self, v: int, parents: tuple[int, ...], table: ArrayLike) -> Network:
        lists, tables = list(self.dag.parents), list(self.tables)
        lists[v] = parents
        tables[v] = np.asarray(table, dtype=np.float64)
        try:
            dag = Dag(tuple(lists))
        except GraphError as error:
            raise error.with_names(self.names) from None
        proof = self.decomposition
        if proof is not None and not any({v, *parents} <= bag for bag in proof.bags):
            proof = None
        return replace(self, dag=dag, tables=tuple(tables), decomposition=proof, counts=None)

    def check_columns(self, data: Table) -> None:
        """Raise DataError unless the table's columns and states match the network's."""
        if data.names != self.names:
            missing = [name for name in self.names if name not in data.names]
            detail = f"{missing[0]!r} is missing" if missing else "they come in another order"
            msg = f"the columns are not the network's variables: {detail}"
            raise DataError(msg)
        for v, name in enumerate(self.names):
            if tuple(map(str, data.states[v])) != tuple(map(str, self.states[v])):
                msg = (
                    f"column {name!r} has states {list(data.states[v])}, the network has "
                    f"{list(self.states[v])}; code the data alike with as_table(..., like=...)"
                )
                raise DataError(msg)


def _plain(state: Any) -> State:
    """Return a state as a plain Python value."""
    plain: State = state.item() if isinstance(state, np.generic) else state
    return plain
