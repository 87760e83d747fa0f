"""Layout of a drawing: boxes in layers from top to bottom, arcs pointing down.

Follows Sugiyama, Tagawa and Toda (1981) as refined by Gansner, Koutsofios, North and Vo (1993):
layers that keep the arcs short, an order within each layer with few crossings, and positions that
keep the arcs straight. The first and the last step are linear programs (HiGHS); igraph finds the
order.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from twbn.errors import MissingDependencyError
from twbn.solvers import Job, ProgramBuilder, solve

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

__all__ = ["Drawing", "layered"]

#: Space between boxes, and the width of the lane of an arc that passes between them.
GAP, LANE = 18.0, 10.0
#: The shape of a compact drawing, roughly: width to height, and room that lanes take.
ASPECT = 3.4
#: Seconds for each linear program; after that, the order alone determines the positions.
PATIENCE = 20.0


@dataclass(frozen=True)
class Drawing:
    """The centre of every box, the lanes of every arc from tail to head, and the overall size.

    A lane is (x, top, bottom): where an arc passes a layer between boxes. `layer` is the row of
    every box, from the top, and `rows` are the rows of every lane.
    """

    x: NDArray[np.float64]
    y: NDArray[np.float64]
    lanes: tuple[tuple[tuple[float, float, float], ...], ...]
    width: float
    height: float
    layer: NDArray[np.int64]
    rows: tuple[tuple[int, ...], ...]

    def stacked(self, heights: Sequence[float], layer_gap: float) -> Drawing:
        """Return the drawing with boxes of other heights, in the same layers."""
        high = np.zeros(int(self.layer.max()) + 1)
        np.maximum.at(high, self.layer, np.asarray(heights, dtype=np.float64))
        top = np.cumsum(high + layer_gap) - high - layer_gap / 2
        lanes = tuple(
            tuple(
                (lane[0], float(top[row]), float(top[row] + high[row]))
                for lane, row in zip(own, rows, strict=True)
            )
            for own, rows in zip(self.lanes, self.rows, strict=True)
        )
        y = np.asarray(top[self.layer] + high[self.layer] / 2, dtype=np.float64)
        return replace(self, y=y, lanes=lanes, height=float(np.sum(high + layer_gap)))


def layered(
    arcs: Sequence[tuple[int, int]],
    widths: Sequence[float],
    heights: Sequence[float],
    *,
    layer_gap: float,
    compact: bool = False,
) -> Drawing:
    """Return a drawing of an acyclic graph with boxes of these sizes that do not overlap.

    Vertices without arcs are placed in rows of their own below the others. If `compact`, layers
    that are much wider than the drawing is high continue in the next one.
    """
    n = len(widths)
    area = sum((w + GAP) * (h + layer_gap) for w, h in zip(widths, heights, strict=True))
    widest = max(math.sqrt(ASPECT * area), *widths) if compact else math.inf
    tied = sorted({v for arc in arcs for v in arc})
    x, layer = np.zeros(n), np.zeros(n, dtype=np.int64)
    waypoints: list[list[tuple[float, int]]] = [[] for _ in arcs]
    n_layers = 0
    if arcs:
        place = {v: i for i, v in enumerate(tied)}
        mine = [(place[u], place[v]) for u, v in arcs]
        room = [widths[v] for v in tied]
        of_tied = _narrowed(_layers(len(tied), mine), mine, room, widest)
        found, waypoints = _places(mine, of_tied, room)
        x[tied], layer[tied] = found, of_tied
        n_layers = int(of_tied.max()) + 1
    right = float(max((x[v] + widths[v] / 2 for v in tied), default=0.0))
    alone = [v for v in range(n) if v not in set(tied)]
    _set_in_rows(alone, widths, max(right, min(widest, 900.0)), x, layer, n_layers)
    flat = Drawing(
        x,
        np.zeros(n),
        tuple(tuple((at, 0.0, 0.0) for at, _ in points) for points in waypoints),
        float(max(x[v] + widths[v] / 2 for v in range(n))),
        0.0,
        layer,
        tuple(tuple(row for _, row in points) for points in waypoints),
    )
    return flat.stacked(heights, layer_gap)


def _narrowed(
    layer: NDArray[np.int64],
    arcs: Sequence[tuple[int, int]],
    widths: Sequence[float],
    widest: float,
) -> NDArray[np.int64]:
    """Return layers in which arcs still point down, none much wider than asked.

    Boxes that a layer has no room for move to the next one, those with children last.
    """
    parents: list[list[int]] = [[] for _ in widths]
    n_children = [0] * len(widths)
    for tail, head in arcs:
        parents[head].append(tail)
        n_children[tail] += 1
    room: dict[int, float] = {}
    found = layer.copy()
    for v in sorted(range(len(widths)), key=lambda v: (layer[v], n_children[v] == 0, v)):
        row = max([int(found[p]) + 1 for p in parents[v]], default=int(layer[v]))
        row = max(row, int(layer[v]))
        while row in room and room[row] + widths[v] + GAP > widest:
            row += 1
        room[row] = room.get(row, 0.0) + widths[v] + GAP
        found[v] = row
    return found


def _layers(n: int, arcs: Sequence[tuple[int, int]]) -> NDArray[np.int64]:
    """Return a layer for each vertex such that arcs point down and their total length is minimal.

    The matrix is totally unimodular, so the vertices of the polytope are integral.
    """
    builder = ProgramBuilder()
    # A pull too weak to lengthen an arc, but enough to move each connected part to the top.
    lengths = np.full(n, -0.5 / n)
    for tail, head in arcs:
        lengths[tail] += 1
        lengths[head] -= 1
    columns = builder.add_columns(lengths, lower=0.0, upper=float(n), integer=False)
    builder.add_rows(columns[np.array(arcs)], [-1.0, 1.0], lower=1.0)
    solution = _solved(builder)
    if solution is not None:
        found = np.rint(solution).astype(np.int64)
        if all(found[head] > found[tail] for tail, head in arcs):
            lowest: NDArray[np.int64] = found - found.min()
            return lowest
    longest = np.zeros(n, dtype=np.int64)  # the solver failed: as deep as the longest path
    for _ in range(n):
        for tail, head in arcs:
            longest[head] = max(longest[head], longest[tail] + 1)
    return longest


def _places(
    arcs: Sequence[tuple[int, int]], layer: NDArray[np.int64], widths: Sequence[float]
) -> tuple[NDArray[np.float64], list[list[tuple[float, int]]]]:
    """Return the horizontal position of every vertex, and the waypoints of every arc."""
    layers, room = layer.tolist(), list(widths)
    chains: list[list[int]] = []
    for tail, head in arcs:  # an arc that spans layers passes through a lane in each
        chain = [tail]
        for between in range(layers[tail] + 1, layers[head]):
            chain.append(len(layers))
            layers.append(between)
            room.append(LANE)
        chains.append([*chain, head])
    links = [link for chain in chains for link in pairwise(chain)]
    rows = _order(links, layers)
    x = _straight(links, rows, room, len(widths))
    waypoints = [[(float(x[v]), layers[v]) for v in chain[1:-1]] for chain in chains]
    return x[: len(widths)], waypoints


def _order(links: Sequence[tuple[int, int]], layers: Sequence[int]) -> list[list[int]]:
    """Return the vertices of each layer from left to right, with few crossings."""
    try:
        import igraph
    except ImportError:
        msg = "drawings need igraph; install twbn[report]"
        raise MissingDependencyError(msg) from None
    graph = igraph.Graph(len(layers), list(links), directed=True)
    across = [point[0] for point in graph.layout_sugiyama(layers=list(layers), maxiter=200)]
    rows: list[list[int]] = [[] for _ in range(max(layers) + 1)]
    for v in sorted(range(len(layers)), key=lambda v: (across[v], v)):
        rows[layers[v]].append(v)
    return rows


def _straight(
    links: Sequence[tuple[int, int]], rows: Sequence[Sequence[int]], room: Sequence[float], n: int
) -> NDArray[np.float64]:
    """Return positions that keep order and spacing, with the links as vertical as possible."""
    builder = ProgramBuilder()
    total = sum(room) + GAP * len(room)
    # A slight pull to the left keeps unconnected parts from drifting apart.
    x = builder.add_columns(np.full(len(room), -1e-3), lower=0.0, upper=total, integer=False)
    # Lanes weigh more: a long arc with kinks is harder to follow than a short one that leans.
    weights = [1.0 + 2.0 * ((u >= n) + (v >= n)) for u, v in links]
    lean = builder.add_columns(-np.array(weights), lower=0.0, upper=total, integer=False)
    ends = x[np.array(links)]
    for sign in (1.0, -1.0):
        builder.add_rows(np.column_stack([lean, ends]), [1.0, sign, -sign], lower=0.0)
    for row in rows:
        pairs = list(pairwise(row))
        if pairs:
            apart = [(room[u] + room[v]) / 2 + GAP for u, v in pairs]
            builder.add_rows(x[np.array(pairs)], [-1.0, 1.0], lower=apart)
        builder.add_rows([[x[row[0]]]], 1.0, lower=room[row[0]] / 2)
    solution = _solved(builder)
    if solution is not None:
        return solution[: len(room)]
    places = np.zeros(len(room))  # the solver failed: side by side
    for row in rows:
        right = 0.0
        for v in row:
            places[v] = right + room[v] / 2
            right += room[v] + GAP
    return places


def _solved(builder: ProgramBuilder) -> NDArray[np.float64] | None:
    """Return the optimum of a linear program, or None if the solver failed."""
    solution = solve(Job(builder.build(), time_limit=PATIENCE))
    if solution.status == "interrupted":  # a search would keep its best; a drawing has none
        raise KeyboardInterrupt
    return solution.x


def _set_in_rows(
    vertices: Sequence[int],
    widths: Sequence[float],
    width: float,
    x: NDArray[np.float64],
    layer: NDArray[np.int64],
    first: int,
) -> None:
    """Place vertices side by side in as many rows as needed, from layer `first` on."""
    right, row = 0.0, first
    for v in vertices:
        if right and right + widths[v] > width:
            right, row = 0.0, row + 1
        x[v], layer[v] = right + widths[v] / 2, row
        right += widths[v] + GAP
