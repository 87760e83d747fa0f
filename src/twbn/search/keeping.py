"""A structure that keeps all rules, whatever it scores, or the certainty that there is none."""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np

from twbn import interrupts
from twbn.deadline import Deadline
from twbn.errors import GraphError
from twbn.graphs.dag import Dag
from twbn.graphs.graph import Graph
from twbn.graphs.treewidth import contraction_degeneracy
from twbn.graphs.treewidth import treewidth as exact_treewidth
from twbn.graphs.treewidth.program import (
    close_triangles,
    limit_width,
    order_columns,
    orient_by_order,
)
from twbn.search.exact.relation_rows import keep_relations
from twbn.search.relations import is_ancestor
from twbn.solvers import ProgramBuilder

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from twbn.scores.rules import ParentRules
    from twbn.search.limit import WidthLimit
    from twbn.search.relations import Pair, Relations
    from twbn.solvers import Program

__all__ = ["MAX_DECIDED", "contradicts", "structure_that_keeps"]

#: Variables up to which a program decides whether there is a structure, and its seconds.
MAX_DECIDED, DECISION_SECONDS = 25, 10.0
#: Steps of the search by hand, its share of the time, its seconds where there is no limit,
#: variables on the way of a path that it tries, and seconds for the width of what it finds.
MAX_STEPS, HAND_SHARE, HAND_SECONDS, MAX_BETWEEN, WIDTH_SECONDS = 2_000, 0.4, 5.0, 40, 1.0


def structure_that_keeps(
    rules: ParentRules, relations: Relations, limit: WidthLimit, clock: Deadline
) -> Dag | None:
    """Return a structure within the limit that keeps all rules; None if there is none.

    TimeoutError if none was found and it is not certain that there is none; KeyboardInterrupt where
    Ctrl-C was pressed, as there is nothing to keep yet.

    Notes
    -----
    What contradicts itself at once (`contradicts`) needs no search. Then a depth-first search adds
    the arcs that rules ask for, one way or another. If that fails and the variables are few, an
    integer program decides.
    """
    if contradicts(rules, relations, limit.treewidth):
        return None
    found = _by_hand(rules, relations, limit, _seconds(clock, HAND_SHARE, HAND_SECONDS))
    if found is not None:
        return found
    n = len(rules.max_parents)
    if n > MAX_DECIDED or clock.passed:
        raise TimeoutError
    found = _by_program(rules, relations, limit.treewidth, _seconds(clock, 1.0, DECISION_SECONDS))
    if found is not None and not _is_within(found, limit):
        raise TimeoutError  # the program knows of variables in a bag, not of their states
    return found


def contradicts(rules: ParentRules, relations: Relations, treewidth: int) -> bool:
    """Say whether rules contradict each other in a way that is seen without a search.

    Cycles of required arcs and ancestors, paths that must not or cannot be, pairs that no arc may
    join, and required edges whose treewidth is too large. O(n³).
    """
    n = len(rules.max_parents)
    above = np.zeros((n, n), dtype=bool)
    edges: set[tuple[int, int]] = set(relations.adjacent)
    for child, needed in enumerate(rules.required):
        if len(needed) > rules.max_parents[child]:
            return True
        if not all(rules.allowed[child, parent] for parent in needed):
            return True
        above[list(needed), child] = True
        edges |= set(combinations((child, *needed), 2))
    for a, b in relations.ancestors:
        above[a, b] = True
    above = _closed(above)
    if above.diagonal().any() or any(above[a, b] for a, b in relations.non_ancestors):
        return True
    possible = rules.allowed.T.astype(bool) & ~above.T  # [parent, child]
    for a, b in relations.non_ancestors:
        possible[a, b] = False
    if any(not (possible[a, b] or possible[b, a]) for a, b in relations.adjacent):
        return True
    reach = _closed(possible)
    if any(not reach[a, b] for a, b in relations.ancestors):
        return True
    return contraction_degeneracy(Graph.from_edges(n, edges)) > treewidth


def _closed(above: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Return the transitive closure of a relation."""
    closed = above.copy()
    for v in range(len(closed)):
        closed |= np.outer(closed[:, v], closed[v])
    return closed


def _seconds(clock: Deadline, share: float, most: float) -> Deadline:
    return Deadline(min(share * clock.left_or_forever, most))


def _is_within(dag: Dag, limit: WidthLimit) -> bool:
    found = exact_treewidth(dag.moral_graph(), time_limit=WIDTH_SECONDS)
    return limit.allows_all(found.decomposition)


def _by_hand(
    rules: ParentRules, relations: Relations, limit: WidthLimit, clock: Deadline
) -> Dag | None:
    """Return a structure of required arcs and those that relations ask for, or None."""
    parents = [set(needed) for needed in rules.required]
    goals = [*(("adjacent", pair) for pair in relations.adjacent)]
    goals += [("ancestors", pair) for pair in relations.ancestors]
    steps = 0

    def keeps(added: list[Pair]) -> bool:
        for a, b in added:
            if len(parents[b]) > rules.max_parents[b] or is_ancestor(parents, b, a):
                return False
        return not any(is_ancestor(parents, a, b) for a, b in relations.non_ancestors)

    def complete(i: int) -> Dag | None:
        nonlocal steps
        steps += 1
        if interrupts.pending():
            raise KeyboardInterrupt
        if steps > MAX_STEPS or clock.passed:
            return None
        if i == len(goals):
            dag = Dag(tuple(tuple(sorted(ps)) for ps in parents))
            return dag if _is_within(dag, limit) else None
        kind, (a, b) = goals[i]
        for path in _ways(kind, a, b, parents, rules):
            added = [(u, v) for u, v in path if u not in parents[v]]
            for u, v in added:
                parents[v].add(u)
            found = complete(i + 1) if keeps(added) else None
            for u, v in added:
                parents[v].discard(u)
            if found is not None:
                return found
        return None

    for child, needed in enumerate(parents):
        if len(needed) > rules.max_parents[child] or not all(
            rules.allowed[child, u] for u in needed
        ):
            return None
    try:
        Dag(tuple(tuple(sorted(ps)) for ps in parents))
    except GraphError:  # the required arcs close a cycle
        return None
    return complete(0) if keeps([]) else None


def _ways(
    kind: str, a: int, b: int, parents: list[set[int]], rules: ParentRules
) -> Iterator[list[Pair]]:
    """Yield arcs whose addition reaches a goal, the fewest first."""
    met = a in parents[b] or b in parents[a] if kind == "adjacent" else is_ancestor(parents, a, b)
    if met:
        yield []
        return
    if rules.allowed[b, a]:
        yield [(a, b)]
    if kind == "adjacent":
        if rules.allowed[a, b]:
            yield [(b, a)]
        return
    between = np.flatnonzero(rules.allowed[:, a] & rules.allowed[b, :])
    known = [w for w in between.tolist() if a in parents[w] or w in parents[b]]
    for w in [*known, *(w for w in between.tolist() if w not in known)][:MAX_BETWEEN]:
        yield [(a, w), (w, b)]


def _by_program(
    rules: ParentRules, relations: Relations, treewidth: int, clock: Deadline
) -> Dag | None:
    """Return a structure that an integer program finds, or None if that is infeasible."""
    from twbn.solvers.highs import solve_here

    program, arc = _rule_program(rules, relations, treewidth)
    status, x = solve_here(program, clock.left or DECISION_SECONDS)
    if interrupts.pending():
        raise KeyboardInterrupt
    if status == "infeasible":
        return None
    if x is None:
        raise TimeoutError
    n = len(arc)
    chosen = [[u for u in range(n) if u != v and x[arc[u, v]] > 0.5] for v in range(n)]
    return _without_needless(Dag(tuple(map(tuple, chosen))), rules, relations)


def _rule_program(
    rules: ParentRules, relations: Relations, treewidth: int
) -> tuple[Program, np.ndarray[tuple[int, int], np.dtype[np.int64]]]:
    """Return the program of all structures that keep the rules, and the columns of the arcs."""
    n = len(rules.max_parents)
    build = ProgramBuilder()
    u, v = np.nonzero(~np.eye(n, dtype=bool))
    arc = np.full((n, n), -1, dtype=np.int64)
    arc[u, v] = build.add_columns(
        np.zeros(len(u)), lower=0, upper=rules.allowed[v, u], integer=True
    )
    place = build.add_columns(np.zeros(n), lower=0, upper=n, integer=False)
    build.add_rows(np.column_stack([arc[u, v], place[u], place[v]]), [n + 1.0, 1.0, -1.0], upper=n)
    for child, needed in enumerate(rules.required):
        others = [w for w in range(n) if w != child]
        build.add_rows([arc[others, child]], 1.0, upper=float(rules.max_parents[child]))
        for parent in needed:
            build.add_rows([[arc[parent, child]]], 1.0, lower=1.0)
    keep_relations(build, arc, relations)
    if treewidth < n - 1:
        y, z = order_columns(build, n)
        limit_width(build, y, treewidth)
        orient_by_order(build, y, z)
        close_triangles(build, y)
        edges = np.column_stack([arc[u, v], y[u, v], y[v, u]])
        build.add_rows(edges, [1.0, -1.0, -1.0], upper=0.0)
        triples = [
            (a, b, c) for a in range(n) for b in range(a) for c in range(n) if c not in (a, b)
        ]
        if triples:
            a, b, c = np.array(triples).T
            rows = np.column_stack([arc[a, c], arc[b, c], y[a, b], y[b, a]])
            build.add_rows(rows, [1.0, 1.0, -1.0, -1.0], upper=1.0)
    return build.build(), arc


def _without_needless(dag: Dag, rules: ParentRules, relations: Relations) -> Dag:
    """Return a structure without the arcs that no rule needs."""
    parents = [set(ps) for ps in dag.parents]
    for u, v in dag.arcs:
        if u in rules.required[v]:
            continue
        parents[v].discard(u)
        if any(True for _ in relations.broken([tuple(ps) for ps in parents])):
            parents[v].add(u)
    return Dag(tuple(tuple(sorted(ps)) for ps in parents))
