"""Boxes and arrows as SVG: networks, decompositions, k-trees."""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from twbn.report.layout import layered
from twbn.report.template import render

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from twbn.graphs import Dag, TreeDecomposition

__all__ = [
    "Picture",
    "draw_decomposition",
    "draw_network",
    "draw_side_by_side",
    "shortened",
    "svg",
]

FONT_SIZE = 13.0
LINE = 17.0
PADDING = 10.0
#: Names are cut to this width and bags to this many names; the title has the full text.
MAX_TEXT_WIDTH = 190.0
MAX_LINES = 12
#: Space between layers where only names are shown.
FAR_GAP = 30.0
#: Bars of states: their height, font size and most in a box; widths of labels and percentages.
BAR, SMALL, MAX_BARS = 16.0, 11.0, 7
MAX_LABEL_WIDTH, NUMBER_WIDTH, LEAST_WIDTH = 110.0, 62.0, 118.0


@dataclass(frozen=True)
class Bar:
    """A state of a variable in its box, with its probability before any evidence."""

    state: int
    label: str
    p: float


@dataclass(frozen=True)
class Box:
    """A box with lines of text, its upper left corner, its full text as a title, and its bars."""

    x: float
    y: float
    width: float
    height: float
    lines: tuple[str, ...]
    title: str
    bars: tuple[Bar, ...] = ()
    n_more: int = 0  # states without a bar
    far_y: float = 0.0  # where it is when only names are shown


@dataclass(frozen=True)
class Picture:
    """Boxes, and the paths between them."""

    boxes: tuple[Box, ...]
    paths: tuple[Path, ...]
    width: float
    height: float
    far_height: float = 0.0  # when only names are shown; 0 if that makes no difference


class Path(NamedTuple):
    """An arc from one box to another: SVG path data, and how to draw it."""

    tail: int
    head: int
    data: str
    kind: str = ""  # a class of the element, such as "reversible"
    weight: float = 1.0  # how certain it is
    upward: bool = False  # the data begin at the head
    far: str = ""  # the data when only names are shown


#: What an arc looks like: its kind and its weight, by tail and head.
ArcStyles: TypeAlias = "Mapping[tuple[int, int], tuple[str, float]]"
#: States and probabilities of every variable.
Beliefs: TypeAlias = "Sequence[Sequence[tuple[str, float]]]"


def draw_network(
    dag: Dag,
    names: Sequence[str],
    *,
    beliefs: Beliefs | None = None,
    styles: ArcStyles | None = None,
) -> Picture:
    """Return a network drawn in layers, arcs pointing down; with bars, if beliefs are given."""
    lines = [(shortened(name),) for name in names]
    titles = [_with_parents(name, ps, names) for name, ps in zip(names, dag.parents, strict=True)]
    bars = [_bars(states) for states in beliefs] if beliefs else [()] * len(names)
    more = [len(states) - len(own) for states, own in zip(beliefs or bars, bars, strict=True)]
    return _picture(
        lines, titles, dag.arcs, layer_gap=44.0, bars=bars, more=more, styles=styles, compact=True
    )


def draw_side_by_side(first: Dag, second: Dag, names: Sequence[str]) -> tuple[Picture, Picture]:
    """Return two networks with every variable at the same place.

    An arc in both has no kind; one that is reversed in the other network is "turned", and one that
    the other lacks is "own". Arcs of the first point down, those of the second where possible.
    """
    place = {v: i for i, v in enumerate(first.topological_order)}
    down = {(u, v) if place[u] < place[v] else (v, u) for u, v in (*first.arcs, *second.arcs)}
    lines = [(shortened(name),) for name in names]
    whole = _picture(lines, list(names), sorted(down), layer_gap=44.0, compact=True)
    return _side(whole, first, second, names), _side(whole, second, first, names)


def _side(whole: Picture, own: Dag, other: Dag, names: Sequence[str]) -> Picture:
    """Return the part of a picture of two networks that shows one of them."""
    ours, theirs = set(own.arcs), set(other.arcs)
    paths = []
    for path in whole.paths:
        upward = (path.tail, path.head) not in ours
        tail, head = (path.head, path.tail) if upward else (path.tail, path.head)
        if (tail, head) in ours:
            kind = "turned" if (head, tail) in theirs else "own"
            kind = "" if (tail, head) in theirs else kind
            paths.append(path._replace(tail=tail, head=head, kind=kind, upward=upward))
    boxes = tuple(
        replace(box, title=_with_parents(name, parents, names))
        for box, name, parents in zip(whole.boxes, names, own.parents, strict=True)
    )
    return replace(whole, boxes=boxes, paths=tuple(paths))


def _with_parents(name: str, parents: Sequence[int], names: Sequence[str]) -> str:
    return f"{name}, parents: {', '.join(names[p] for p in parents)}" if parents else name


def _bars(states: Sequence[tuple[str, float]]) -> tuple[Bar, ...]:
    """Return the bars of a variable; of many states only the first."""
    most = len(states) if len(states) <= MAX_BARS else MAX_BARS - 1
    return tuple(
        Bar(s, shortened(state, MAX_LABEL_WIDTH), p) for s, (state, p) in enumerate(states[:most])
    )


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
    bars: Sequence[tuple[Bar, ...]] = (),
    more: Sequence[int] = (),
    styles: ArcStyles | None = None,
    compact: bool = False,
) -> Picture:
    bars, more = bars or [()] * len(lines), more or [0] * len(lines)
    widths = [
        max(max(map(_width, texts)) + 2 * PADDING, _bars_width(own) if own else 0.0)
        for texts, own in zip(lines, bars, strict=True)
    ]
    heights = [
        len(texts) * LINE + PADDING + (BAR * (len(own) + bool(rest)) + 4 if own else 0)
        for texts, own, rest in zip(lines, bars, more, strict=True)
    ]
    drawing = layered(arcs, widths, heights, layer_gap=layer_gap, compact=compact)
    # Where bars are too small to read, they are left out and the layers move together.
    low = [len(texts) * LINE + PADDING for texts in lines]
    far = drawing.stacked(low, FAR_GAP) if any(bars) else None
    boxes = tuple(
        Box(
            round(float(drawing.x[v]) - widths[v] / 2, 1),
            round(float(drawing.y[v]) - heights[v] / 2, 1),
            round(widths[v], 1),
            round(heights[v], 1),
            lines[v],
            titles[v],
            bars[v],
            more[v],
            0.0 if far is None else round(float(far.y[v]) - low[v] / 2, 1),
        )
        for v in range(len(lines))
    )
    paths = []
    for i, (tail, head) in enumerate(arcs):
        begin, end = boxes[tail], boxes[head]
        x, to_x = begin.x + begin.width / 2, end.x + end.width / 2
        data = _curve((x, begin.y + begin.height), drawing.lanes[i], (to_x, end.y))
        path = Path(tail, head, data, *(styles or {}).get((tail, head), ("", 1.0)))
        if far is not None:
            curve = _curve((x, begin.far_y + low[tail]), far.lanes[i], (to_x, end.far_y))
            path = path._replace(far=curve)
        paths.append(path)
    margin = 4.0
    size = (drawing.width + margin, drawing.height + margin)
    return Picture(boxes, tuple(paths), *size, 0.0 if far is None else far.height + margin)


def _bars_width(bars: Sequence[Bar]) -> float:
    """Return the width of a box with bars: their labels, and room for a percentage."""
    labels = max(_width(bar.label) for bar in bars) * SMALL / FONT_SIZE
    return max(labels + NUMBER_WIDTH + 2 * PADDING, LEAST_WIDTH)


def _curve(
    first: tuple[float, float],
    lanes: Sequence[tuple[float, float, float]],
    last: tuple[float, float],
) -> str:
    """Return the path of an arc: straight down through layers of boxes, curved between them."""
    x, y = first
    path = f"M{x:.1f} {y:.1f}"
    for to_x, top, bottom in [*lanes, (*last, last[1])]:
        middle = (y + top) / 2
        path += f"C{x:.1f} {middle:.1f} {to_x:.1f} {middle:.1f} {to_x:.1f} {top:.1f}"
        if bottom > top:
            path += f"V{bottom:.1f}"
        x, y = to_x, bottom
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
