"""Networks with their conditional tables."""

from __future__ import annotations

import difflib
from collections import Counter
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from twbn.checks import checked_whole
from twbn.data.columns import is_missing
from twbn.data.convert import as_table
from twbn.data.discretize import Bins, Categories, State
from twbn.data.table import Table, check_text
from twbn.errors import DataError, GraphError, MemoryLimitError, UnknownStateError
from twbn.graphs.dag import Dag
from twbn.network.evidence import as_mapping
from twbn.views import Viewed

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import ArrayLike, NDArray

    from twbn.data.discretize import Coding
    from twbn.graphs.decomposition import TreeDecomposition

__all__ = ["Network", "State", "Table"]

#: Cells that are drawn at once.
MAX_CELLS = 2**31
#: How far from one the probabilities of a row may sum; they are then made to sum to one, unless
#: what they are off by is rounding of the sum itself.
EXACT, ROUNDING = 1e-9, 4 * np.finfo(np.float64).eps


@dataclass(frozen=True, eq=False, repr=False)
class Network(Viewed):
    """A Bayesian network: a graph and, for every variable, its distribution given its parents.

    Invariant: `tables[v]` has one axis for each parent of v, in the order of ``dag.parents[v]``
    (ascending), and v's own axis last; it is not negative and sums to one along the last axis. The
    arrays are read-only. `decomposition`, if there is one, decomposes the moral graph.

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

    def __post_init__(self) -> None:
        object.__setattr__(self, "names", tuple(map(str, self.names)))
        object.__setattr__(self, "codings", tuple(self.codings))
        tables = tuple(np.array(table, dtype=np.float64) for table in self.tables)
        object.__setattr__(self, "tables", tables)
        self._check()
        object.__setattr__(self, "tables", tuple(map(_summing_to_one, tables)))
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
        """Return the network of named parts; a table's axes are its parents in the order given."""
        names = tuple(states)
        position = {name: v for v, name in enumerate(names)}
        lists, arrays = [], []
        for name in names:
            if name not in parents or name not in tables:
                msg = f"variable {name!r} has no parents or no table"
                raise DataError(msg)
            for parent in parents[name]:
                if parent not in position:
                    raise DataError(f"parents of {name!r}: " + unknown("variable", parent, names))
            given = [position[p] for p in parents[name]]
            array = np.asarray(tables[name], dtype=np.float64)
            if array.ndim != len(given) + 1:
                msg = (
                    f"the table of {name!r} has {array.ndim} axes, expected {len(given) + 1}: "
                    "one for each parent, and its own"
                )
                raise DataError(msg)
            order = np.argsort(given, kind="stable").tolist()
            lists.append(tuple(given))
            arrays.append(np.transpose(array, (*order, len(given))))
        try:
            dag = Dag(tuple(lists))
        except GraphError as error:
            raise GraphError(_with_names(str(error), names)) from None
        codings = tuple(Categories(tuple(map(_plain, states[name]))) for name in names)
        return cls(dag, names, codings, tuple(arrays), decomposition)

    @property
    def n_variables(self) -> int:
        """Number of variables."""
        return len(self.names)

    @cached_property
    def states(self) -> tuple[tuple[State, ...], ...]:
        """States of each variable, in the order of their codes."""
        return tuple(tuple(coding.states) for coding in self.codings)

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
            return self._positions[name]
        except (KeyError, TypeError):
            raise DataError(unknown("variable", str(name), self.names)) from None

    def state_code(self, variable: int, state: Any) -> int:
        """Return the code of a state; UnknownStateError names the nearest one."""
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
        coding = self.codings[variable]
        if isinstance(coding, Bins) and not is_missing(state):
            return int(coding.encode([state], self.names[variable])[0])
        msg = unknown("state", str(state), texts) + f" (of variable {self.names[variable]!r})"
        raise UnknownStateError(msg)

    def known_codes(self, evidence: Any) -> dict[int, int]:
        """Return the code of every variable that evidence knows, by position.

        Parameters
        ----------
        evidence
            State by variable: a mapping, a pandas Series, or a frame of one row. What is missing
            (None, NaN, an empty text) is not known; a name or state that does not exist is an
            error.
        """
        known: dict[int, int] = {}
        for name, state in as_mapping(evidence).items():
            v = self.index(name)
            if type(state) is str and state in self._texts[v]:  # the common case
                known[v] = self._texts[v][state]
            elif not is_missing(state):
                known[v] = self.state_code(v, state)
        return known

    def encode(self, data: Any, *, target: str | None = None) -> Table:
        """Return data coded by this network's rules; columns that are not there are unknown.

        Columns that the network does not have are left out. Where a column has almost the name of a
        variable that is not there, that is an error, and where variables other than `target` are
        not there although other columns are, a warning. New states are an error that names them.
        """
        if isinstance(data, Table) and data.names == self.names:
            self.check_columns(data)
            return data
        like = Table.blank(self.names, self.codings)
        return as_table(data, like=like, absent_ok=True, target=target)

    def table(self, name: str) -> NDArray[np.float64]:
        """Return P(variable | parents): an axis for each parent, and the variable's own last."""
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
        """Return independent rows, the same for the same seed."""
        n_rows = checked_whole("n_rows", n_rows, least=1)
        seed = checked_whole("seed", seed, least=0)
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
        """Return the network with one more arc; without a table the child does not depend on it.

        `table` has the axes of the new parents, ascending, and the child's own last.
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
        """Say whether names, states, arcs and tables are the same, within a tolerance."""
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
        """The code of each state of each variable by its text; the first of those alike."""
        pairs = (reversed(list(enumerate(map(str, states)))) for states in self.states)
        return tuple({text: code for code, text in numbered} for numbered in pairs)

    @cached_property
    def _positions(self) -> dict[str, int]:
        return {name: v for v, name in enumerate(self.names)}

    def _changed(self, v: int, parents: tuple[int, ...], table: ArrayLike) -> Network:
        lists, tables = list(self.dag.parents), list(self.tables)
        lists[v] = parents
        tables[v] = np.asarray(table, dtype=np.float64)
        try:
            dag = Dag(tuple(lists))
        except GraphError as error:
            raise GraphError(_with_names(str(error), self.names)) from None
        proof = self.decomposition
        if proof is not None and not any({v, *parents} <= bag for bag in proof.bags):
            proof = None
        return replace(self, dag=dag, tables=tuple(tables), decomposition=proof)

    def check_columns(self, data: Table) -> None:
        """Raise DataError unless the table's columns and states are the network's."""
        if data.names != self.names:
            missing = [name for name in self.names if name not in data.names]
            detail = f"{missing[0]!r} is missing" if missing else "they come in another order"
            msg = f"the columns are not the network's variables: {detail}"
            raise DataError(msg)
        for v, name in enumerate(self.names):
            if tuple(map(str, data.states[v])) != tuple(map(str, self.states[v])):
                msg = (
                    f"column {name!r} has states {list(data.states[v])}, the network has "
                    f"{list(self.states[v])}; code it alike (as_table(..., like=...))"
                )
                raise DataError(msg)

    def _check(self) -> None:
        n = self.dag.n_vertices
        if n == 0:
            msg = "a network needs a variable"
            raise DataError(msg)
        if not len(self.names) == len(self.codings) == len(self.tables) == n:
            msg = (
                f"{len(self.names)} names, {len(self.codings)} codings and {len(self.tables)} "
                f"tables do not fit a graph of {n} variables"
            )
            raise DataError(msg)
        if len(set(self.names)) < n:
            twice = next(name for name, times in Counter(self.names).items() if times > 1)
            msg = f"two variables are called {twice!r}"
            raise DataError(msg)
        for v, table in enumerate(self.tables):
            name, states = self.names[v], self.states[v]
            check_text(name, "names of variables")
            for state in states:
                if isinstance(state, str):
                    check_text(state, f"the states of {name!r}")
                elif not isinstance(state, int | float | np.number) or not np.isfinite(state):
                    msg = f"the states of {name!r} must be finite numbers or texts, got {state!r}"
                    raise DataError(msg)
            if not states or len(set(states)) < len(states):
                msg = f"the states of {name!r} must be distinct, and at least one: {list(states)}"
                raise DataError(msg)
            shape = tuple(self.n_states[u] for u in (*self.dag.parents[v], v))
            if table.shape != shape:
                msg = f"the table of {name!r} has shape {table.shape}, expected {shape}"
                raise DataError(msg)
            off = np.abs(table.sum(axis=-1) - 1)
            if not np.all(np.isfinite(table)) or table.min() < 0 or off.max() > EXACT:
                msg = (
                    f"the table of {name!r} must have rows of probabilities that sum to one; "
                    f"one is off by {np.max(off):.3g}"
                )
                raise DataError(msg)
        if self.decomposition is not None:
            self.decomposition.check(self.dag.moral_graph())


def _plain(state: Any) -> State:
    """Return a state without numpy around it."""
    plain: State = state.item() if isinstance(state, np.generic) else state
    return plain


def _summing_to_one(table: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return a table whose rows sum to one as closely as floating-point numbers do."""
    sums = table.sum(axis=-1, keepdims=True)
    if np.abs(sums - 1).max() <= ROUNDING * table.shape[-1]:
        return table
    return np.asarray(table / sums)


def unknown(kind: str, name: str, known: Sequence[str]) -> str:
    """Say that a name is not known, with the nearest one."""
    near = difflib.get_close_matches(name, known, n=1, cutoff=0.5)
    if near:
        return f"unknown {kind} {name!r}; did you mean {near[0]!r}?"
    shown = ", ".join(map(repr, known[:8])) + (", …" if len(known) > 8 else "")
    return f"unknown {kind} {name!r}; there are {shown}"


def _with_names(message: str, names: Sequence[str]) -> str:
    """Say a cycle by names instead of numbers."""
    head, colon, cycle = message.partition("cycle: ")
    if not colon:
        return message
    return head + colon + " -> ".join(names[int(v)] for v in cycle.split(" -> "))
