"""How often arcs and edges occur among structures, and the structure that agrees with most."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import combinations
from math import comb
from typing import TYPE_CHECKING, Any

from twbn.checks import unknown
from twbn.errors import DataError, Option, OptionError
from twbn.frame_out import frame_of
from twbn.graphs.dag import Dag
from twbn.learning.learn import learn
from twbn.scores.protocol import ScoringInfo
from twbn.scores.rules import RuleOptions, make_rules
from twbn.scores.score_table import ScoreTable
from twbn.search.relations import RELATIONS, Relations, is_ancestor
from twbn.views import Viewed

if TYPE_CHECKING:
    from collections.abc import Mapping

    from twbn.search.result import SearchResult

__all__ = ["COLUMNS", "Confidence", "checked_share"]

#: Parent sets of a variable among which the consensus chooses, at most: of those candidates with
#: most agreement.
MAX_SETS = 5_000
#: How much the direction of an arc counts beside whether it is there.
WEIGHT_OF_DIRECTION = 0.5
#: Columns of the frame.
COLUMNS = ("parent", "child", "arc", "compelled", "reversible", "adjacent")

Pair = tuple[str, str]


@dataclass(frozen=True, repr=False)
class Confidence(Viewed):
    """Frequencies of arcs among structures that were learned from resampled rows.

    Attributes
    ----------
    names
        The variables.
    structures
        One structure of each resample.
    n_asked, n
        Resamples asked for, and done; `interrupted` if Ctrl-C ended them.
    arcs
        Of (parent, child): the share of structures with this arc.
    compelled
        Of (parent, child): the share in which all equivalent structures have this arc, too.
    reversible
        Of two variables, in the order of `names`: the share in which they are joined by an arc that
        an equivalent structure has the other way round.
    adjacent
        Of two variables, in the order of `names`: the share in which an arc joins them.
    """

    names: tuple[str, ...]
    structures: tuple[Dag, ...]
    n_asked: int
    treewidth_limit: int
    max_states: int | None = None
    seed: int = 0
    seconds: float = 0.0
    info: ScoringInfo | None = field(default=None, repr=False)
    rules: RuleOptions = field(default=RuleOptions(max_parents=None), repr=False)
    relations: Relations = field(default=Relations(), repr=False)
    interrupted: bool = False

    @property
    def n(self) -> int:
        """Number of resamples."""
        return len(self.structures)

    @cached_property
    def arcs(self) -> Mapping[Pair, float]:
        """The share of structures with each arc, largest first."""
        return self._shares(Counter(arc for dag in self.structures for arc in dag.arcs))

    @cached_property
    def adjacent(self) -> Mapping[Pair, float]:
        """The share of structures in which two variables are joined, largest first."""
        pairs = (min((u, v), (v, u)) for dag in self.structures for u, v in dag.arcs)
        return self._shares(Counter(pairs))

    @cached_property
    def compelled(self) -> Mapping[Pair, float]:
        """The share of structures in which an arc is compelled, largest first."""
        return self._shares(Counter(arc for one in self._classes for arc in one.directed))

    @cached_property
    def reversible(self) -> Mapping[Pair, float]:
        """The share of structures in which an edge may have either direction, largest first."""
        return self._shares(Counter(edge for one in self._classes for edge in one.undirected))

    @cached_property
    def _classes(self) -> list[Any]:
        return [dag.cpdag() for dag in self.structures]

    def _shares(self, counts: Counter[tuple[int, int]]) -> Mapping[Pair, float]:
        ordered = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
        return {(self.names[u], self.names[v]): count / self.n for (u, v), count in ordered}

    def _edge(self, u: str, v: str) -> Pair:
        return (u, v) if self._position[u] < self._position[v] else (v, u)

    @cached_property
    def _position(self) -> Mapping[str, int]:
        return {name: i for i, name in enumerate(self.names)}

    def of(self, a: str, b: str) -> float:
        """Return the share of structures in which two variables are joined by an arc."""
        for name in (a, b):
            if name not in self._position:
                raise DataError(unknown("variable", name, self.names), variable=name)
        return self.adjacent.get(self._edge(a, b), 0.0)

    def majority(self, threshold: float = 0.5) -> Dag:
        """Return the arcs whose ends more structures than this share join, for a drawing.

        The more certain ones first; an arc points as in most structures, or is left out where it
        would close a cycle. Unlike that of `consensus`, its treewidth may be beyond the limit.
        """
        checked_share(threshold)
        parents: list[set[int]] = [set() for _ in self.names]
        for u, v, share, _, _, adjacent in self.rows():
            a, b = self._position[u], self._position[v]
            ours = adjacent > threshold and share >= self.arcs.get((v, u), 0.0)
            if ours and a not in parents[b] and not is_ancestor(parents, b, a):
                parents[b].add(a)
        return Dag(tuple(map(tuple, parents)), self.names)

    def rows(self) -> list[tuple[str, str, float, float, float, float]]:
        """Return every arc that occurs: parent, child and the four shares; most certain first."""
        found = [
            (
                u,
                v,
                share,
                self.compelled.get((u, v), 0.0),
                self.reversible.get(self._edge(u, v), 0.0),
                self.adjacent[self._edge(u, v)],
            )
            for (u, v), share in self.arcs.items()
        ]
        return sorted(found, key=lambda row: (-row[5], -row[2]))

    def to_frame(self, kind: str = "pandas") -> Any:
        """Return every arc that occurs, with its frequencies, as a frame; most certain first."""
        columns = list(zip(*self.rows(), strict=True)) or [()] * len(COLUMNS)
        return frame_of(dict(zip(COLUMNS, columns, strict=True)), kind)

    def consensus(
        self, threshold: float = 0.5, *, treewidth: int | None = None, **options: Any
    ) -> SearchResult:
        """Learn the structure that agrees best with all of these, within the limits; with a proof.

        Parameters
        ----------
        threshold
            Two variables gain by an arc between them if more structures than this share have one.
        treewidth
            The treewidth limit: by default that of the structures.
        **options
            Further options of `learn`, such as `time_limit`.

        Notes
        -----
        An arc gains its edge's share less the threshold, plus half of what its direction is ahead
        of the other among the equivalence classes. The structure with the largest sum is searched
        with `learn`, which says how far it is from the best.
        """
        checked_share(threshold)
        limit = self.treewidth_limit if treewidth is None else treewidth
        options.setdefault("max_states", self.max_states)
        for kind, pairs in zip(RELATIONS, self.relations.pairs, strict=True):
            options.setdefault(kind, [(self.names[a], self.names[b]) for a, b in pairs])
        return learn(self._agreement(threshold, limit), treewidth=limit, **options)

    def _agreement(self, threshold: float, largest: int) -> ScoreTable:
        """Return what every parent set with a gain contributes to the agreement."""
        rules = make_rules(self.names, self.rules)
        gains: list[dict[int, float]] = [
            dict.fromkeys(needed, -threshold) for needed in rules.required
        ]
        for (a, b), share in self.adjacent.items():
            for parent, child in ((a, b), (b, a)):
                u, v = self._position[parent], self._position[child]
                ahead = self.compelled.get((parent, child), 0.0)
                ahead -= self.compelled.get((child, parent), 0.0)
                gain = share - threshold + WEIGHT_OF_DIRECTION * ahead
                if rules.allowed[v, u] and (gain > 0 or u in gains[v]):
                    gains[v][u] = gain
        for first, second in self.relations.adjacent:  # an arc joins them, whatever it gains
            for u, v in ((first, second), (second, first)):
                if rules.allowed[v, u]:
                    gains[v].setdefault(u, -threshold)
        sets: list[dict[tuple[int, ...], float]] = []
        for v, gain_of in enumerate(gains):
            needed = rules.required[v]
            free = sorted(gain_of.keys() - set(needed), key=lambda u: (-gain_of[u], u))
            most = max(min(largest, int(rules.max_parents[v])) - len(needed), 0)
            free = free[: _n_candidates(len(free), most)]
            chosen = (
                (*needed, *more)
                for size in range(min(most, len(free)) + 1)
                for more in combinations(free, size)
            )
            sets.append({tuple(sorted(c)): sum(gain_of[u] for u in c) for c in chosen})
        info = replace(self.info or ScoringInfo(), score="agreement", ess=None)
        return ScoreTable.from_sets(self.names, sets, info)

    def __repr__(self) -> str:
        done = f"{self.n}" if self.n == self.n_asked else f"{self.n} of {self.n_asked}"
        return f"Confidence({done} resamples, {len(self.names)} variables, {len(self.arcs)} arcs)"


def checked_share(threshold: Any) -> None:
    """Raise OptionError unless a threshold is a share below one."""
    number = isinstance(threshold, int | float) and not isinstance(threshold, bool)
    if not number or not 0 <= threshold < 1:
        problem = f" must be at least 0 and less than 1, got {threshold!r}"
        raise OptionError(Option("threshold"), problem)


def _n_candidates(n: int, most: int) -> int:
    """Return of how many candidates all sets of up to `most` are few enough."""
    while n > most and sum(comb(n, size) for size in range(most + 1)) > MAX_SETS:
        n -= 1
    return n
