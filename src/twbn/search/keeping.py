"""A structure that keeps all rules, whatever it scores, or the certainty that there is none."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from twbn.errors import GraphError
from twbn.graphs.dag import Dag
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

    from twbn.scores.rules import ParentRules
    from twbn.search.relations import Pair, Relations
    from twbn.solvers import Program

__all__ = ["MAX_DECIDED", "structure_that_keeps"]

#: Variables up to which a program decides whether there is a structure, and its seconds.
MAX_DECIDED, DECISION_SECONDS = 25, 10.0
#: Steps of the search by hand, variables on the way of a path that it tries, and seconds for the
#: width of what it finds.
MAX_STEPS, MAX_BETWEEN, WIDTH_SECONDS = 2_000, 40, 1.0


def structure_that_keeps(rules: ParentRules, relations: Relations, treewidth: int) -> Dag | None:
    """Return a structure within the treewidth limit that keeps all rules; None if there is none.

    TimeoutError if none was found and it is not certain that there is none.

    Notes
    -----
    First, a depth-first search adds the arcs that rules ask for, one way or another. If that fails
    and the variables are few, an integer program decides.
    """
    found = _by_hand(rules, relations, treewidth)
    if found is not None:
        return found
    n = len(rules.max_parents)
    if n <= MAX_DECIDED:
        return _by_program(rules, relations, treewidth)
    raise TimeoutError


def _by_hand(rules: ParentRules, relations: Relations, treewidth: int) -> Dag | None:
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
        if steps > MAX_STEPS:
            return None
        if i == len(goals):
            dag = Dag(tuple(tuple(sorted(ps)) for ps in parents))
            width = exact_treewidth(dag.moral_graph(), time_limit=WIDTH_SECONDS).upper
            return dag if width <= treewidth else None
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


def _by_program(rules: ParentRules, relations: Relations, treewidth: int) -> Dag | None:
    """Return a structure that an integer program finds, or None if that is infeasible."""
    from twbn.solvers.highs import solve_here

    program, arc = _rule_program(rules, relations, treewidth)
    status, x = solve_here(program, DECISION_SECONDS)
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
