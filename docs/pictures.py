"""The pictures of the documentation, drawn by twbn itself."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import matplotlib as mpl
from matplotlib.figure import Figure

import twbn
from twbn.report.drawing import draw_decomposition, draw_network, svg

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

__all__ = ["PICTURES", "draw_all"]

SPRINKLER = twbn.Network.from_tables(
    {"season": ["dry", "wet"], "rain": ["no", "yes"], "sprinkler": ["off", "on"],
     "grass": ["dry", "wet"], "slippery": ["no", "yes"]},
    {"season": [], "rain": ["season"], "sprinkler": ["season"], "grass": ["rain", "sprinkler"],
     "slippery": ["rain"]},
    {"season": [0.6, 0.4], "rain": [[0.9, 0.1], [0.4, 0.6]], "sprinkler": [[0.4, 0.6], [0.9, 0.1]],
     "grass": [[[1.0, 0.0], [0.1, 0.9]], [[0.2, 0.8], [0.01, 0.99]]],
     "slippery": [[1.0, 0.0], [0.3, 0.7]]},
)  # fmt: skip


def draw_all(folder: Path) -> None:
    """Draw every picture into a folder."""
    folder.mkdir(exist_ok=True)
    for name, draw in PICTURES.items():
        (folder / f"{name}.svg").unlink(missing_ok=True)
        draw(folder / f"{name}.svg")


def _network(path: Path) -> None:
    picture = draw_network(SPRINKLER.dag, SPRINKLER.names)
    path.write_text(svg(picture, label="A network of five variables"), encoding="utf-8")


def _junction_tree(path: Path) -> None:
    tree = twbn.Inference(SPRINKLER).tree.decomposition
    picture = draw_decomposition(tree, SPRINKLER.names)
    path.write_text(svg(picture, label="Its junction tree", arrows=False), encoding="utf-8")


def _ktree(path: Path) -> None:
    code = twbn.DandelionCode.sample(11, 3, seed=5)
    tree = code.decode().decomposition()
    names = [str(v + 1) for v in range(11)]
    picture = draw_decomposition(tree, names)
    path.write_text(svg(picture, label="The cliques of a 3-tree", arrows=False), encoding="utf-8")


def _races(path: Path) -> None:
    scores = twbn.compute_scores(twbn.datasets.load("wdbc"))
    results = [
        twbn.learn(scores, treewidth=4, method=method, max_iterations=n)
        for method, n in (("sample", 400_000), ("sample-exact", 2_500), ("anneal", 400_000))
    ]
    with _saved(path) as axes:
        twbn.plot_trace(*results, axes=axes)
        axes.set_ylim(-9500, -6700)


def _bound(path: Path) -> None:
    result = twbn.learn(twbn.datasets.load("wdbc"), treewidth=4, time_limit=4)
    with _saved(path) as axes:
        twbn.plot_trace(result, axes=axes)
        axes.set_ylim(-7100, -6700)


def _treewidths(path: Path) -> None:
    scores = twbn.compute_scores(twbn.datasets.load("wdbc"))
    results = [twbn.learn(scores, treewidth=k, time_limit=1) for k in (1, 2, 3, 4, 6, 8)]
    with _saved(path) as axes:
        twbn.plot_treewidth(results, axes=axes)
        axes.set_ylim(-7900, -6700)


class _saved:  # noqa: N801
    """Axes that become an SVG file."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._figure: Any = Figure(figsize=(7, 3.4), layout="constrained")

    def __enter__(self) -> Any:
        axes = self._figure.subplots()
        axes.spines[["top", "right"]].set_visible(False)
        return axes

    def __exit__(self, *_: object) -> None:
        with mpl.rc_context({"svg.fonttype": "none"}):
            self._figure.savefig(self._path, facecolor="white")


PICTURES: dict[str, Callable[[Path], None]] = {
    "network": _network,
    "junction-tree": _junction_tree,
    "ktree": _ktree,
    "races": _races,
    "bound": _bound,
    "treewidths": _treewidths,
}
