"""Boxes and arrows as SVG: networks, decompositions, k-trees."""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass
from typing import TYPE_CHECKING

from twbn.report.layout import layered
from twbn.report.template import render

if TYPE_CHECKING:
    from collections.abc import Sequence

    from twbn.graphs import Dag, TreeDecomposition

__all__ = ["Picture", "draw_decomposition", "draw_network", "shortened", "svg"]

FONT_SIZE = 13.0
LINE = 17.0
PADDING = 10.0
#: Names are cut to this width and bags to this many names; the title has the full text.
MAX_TEXT_WIDTH = 190.0
MAX_LINES = 12


@dataclass(frozen=True)
class Box:
    """A box with lines of text, its upper left corner, and its full text as a title."""

    x: float
    y: float
    width: float
    height: float
    lines: tuple[str, ...]
    title: str


@dataclass(frozen=True)
class Picture:
    """Boxes, and the paths between them."""

    boxes: tuple[Box, ...]
    paths: tuple[tuple[int, int, str], ...]  # tail, head, SVG path data
    width: float
    height: float


def draw_network(dag: Dag, names: Sequence[str]) -> Picture:
    """Return a network drawn in layers, arcs pointing down."""
    lines = [(shortened(name),) for name in names]
    titles = [
        f"{name}, parents: {', '.join(names[p] for p in parents)}" if parents else name
        for name, parents in zip(names, dag.parents, strict=True)
    ]
    return _picture(lines, titles, dag.arcs, layer_gap=44.0)


def draw_decomposition(decomposition: TreeDecomposition, names: Sequence[str]) -> Picture:
    """Return a tree of bags, the root on top."""
    lines, titles = [], []
    for bag in decomposition.bags:
        members = [names[v] for v in sorted(bag)]
        shown = [shortened(name) for name in members[:MAX_LINES]]
        if len(members) > MAX_LINES:
            shown.append(f"and {len(members) - MAX_LINES} more")
        lines.append(tuple(shown) or ("∅",))
        titles.append(", ".join(members) or "an empty bag")
    parents, _ = decomposition.rooted_at(_middle(decomposition))
    arcs = [(p, i) for i, p in enumerate(parents) if p >= 0]
    return _picture(lines, titles, arcs, layer_gap=30.0)


def svg(picture: Picture, *, label: str, arrows: bool = True) -> str:
    """Return a picture as a standalone SVG element."""
    return render("drawing.svg", picture=picture, label=label, arrows=arrows, alone=True)


def shortened(text: str, width: float = MAX_TEXT_WIDTH) -> str:
    """Return a text cut to a width in pixels, with an ellipsis if anything is lost."""
    text = " ".join(text.split()) or "(blank)"
    if _width(text) <= width:
        return text
    kept = ""
    for character in text:
        if _width(kept + character + "…") > width:
            break
        kept += character
    return kept + "…"


def _width(text: str) -> float:
    """Estimate the width of a text, erring on the wide side."""
    total = 0.0
    for character in text:
        if unicodedata.combining(character):
            continue
        if unicodedata.east_asian_width(character) in "WF":
            total += 1.1
        elif character in "mwMW@%…—" or character.isupper():
            total += 0.82
        elif character in "iljtf.,:;|!'()[] ":
            total += 0.42
        else:
            total += 0.62
    return total * FONT_SIZE


def _picture(
    lines: Sequence[tuple[str, ...]],
    titles: Sequence[str],
    arcs: Sequence[tuple[int, int]],
    *,
    layer_gap: float,
) -> Picture:
    widths = [max(map(_width, texts)) + 2 * PADDING for texts in lines]
    heights = [len(texts) * LINE + PADDING for texts in lines]
    tallest = max(heights)
    drawing = layered(arcs, widths, box_height=tallest, layer_gap=layer_gap)
    boxes = tuple(
        Box(
            round(float(x) - width / 2, 1),
            round(float(y) - height / 2, 1),
            round(width, 1),
            round(height, 1),
            texts,
            title,
        )
        for x, y, width, height, texts, title in zip(
            drawing.x, drawing.y, widths, heights, lines, titles, strict=True
        )
    )
    paths = []
    for (tail, head), bends in zip(arcs, drawing.bends, strict=True):
        begin, end = boxes[tail], boxes[head]
        points = [
            (begin.x + begin.width / 2, begin.y + begin.height),
            *bends,
            (end.x + end.width / 2, end.y),
        ]
        # An arc passes a row of boxes straight down: it bends only between the layers.
        paths.append((tail, head, _curve(points, tallest)))
    margin = 4.0
    return Picture(boxes, tuple(paths), drawing.width + margin, drawing.height + margin)


def _curve(points: Sequence[tuple[float, float]], row: float) -> str:
    (x, y), *rest = points
    path = f"M{x:.1f} {y:.1f}"
    for k, (to_x, to_y) in enumerate(rest):
        last = k == len(rest) - 1
        top = to_y if last else to_y - row / 2
        middle = (y + top) / 2
        path += f"C{x:.1f} {middle:.1f} {to_x:.1f} {middle:.1f} {to_x:.1f} {top:.1f}"
        if not last:
            path += f"V{to_y + row / 2:.1f}"
        x, y = to_x, to_y + row / 2
    return path


def _middle(decomposition: TreeDecomposition) -> int:
    """Return a bag in the middle of a longest path: the root of the flattest tree."""
    end = _farthest(decomposition, 0)
    parents, _ = decomposition.rooted_at(end)
    other = _farthest(decomposition, end)
    path = [other]
    while parents[path[-1]] >= 0:
        path.append(parents[path[-1]])
    return path[len(path) // 2]


def _farthest(decomposition: TreeDecomposition, root: int) -> int:
    parents, outwards = decomposition.rooted_at(root)
    depth = [0] * len(outwards)
    for bag in outwards:
        if parents[bag] >= 0:
            depth[bag] = depth[parents[bag]] + 1
    return max(range(len(depth)), key=lambda bag: (depth[bag], -bag))
