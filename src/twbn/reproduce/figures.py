"""The figures of a reproduction, as SVG and PNG."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from twbn.errors import MissingDependencyError
from twbn.reproduce.plan import Cell, plan
from twbn.reproduce.published import OTHER_CODING, SAMPLED
from twbn.reproduce.tables import duration, label, runs, spread_of

if TYPE_CHECKING:
    from pathlib import Path

    from twbn.reproduce.plan import Size
    from twbn.reproduce.store import Store

__all__ = ["bounds_figure", "relative_figure"]

DRAWN = {
    "sample-exact": ("Version 1", "#7a7a7a", "v"),
    "sample": ("Version 2", "#0b62a4", "o"),
    "anneal": ("annealing", "#c1440e", "D"),
}
TICKS = (50, 60, 70, 80, 90, 95, 100, 105, 110, 120, 130, 150, 175, 200, 250, 300, 400)


def relative_figure(store: Store, size: Size, k: int, folder: Path) -> str:
    """Draw scores at one treewidth limit, relative to Version 2's median; return the file's name.

    On large data sets the integer program is far behind: there it is drawn as a hollow mark at the
    lower edge.
    """
    figure, (plot,) = _canvas(1)
    low = 100.0
    solved: list[_Mark] = []
    for i, data in enumerate(size.sets):
        reference = spread_of(runs(store, size, data, k, "sample"))
        if reference is None:
            continue
        for j, method in enumerate(DRAWN):
            found = spread_of(runs(store, size, data, k, method))
            if found is not None:
                spread = [100 * reference.median / value for value in found]
                low = min(low, _draw_spread(plot, i + 0.16 * (j - 1), method, spread))
        solved += _solver_marks(store, size, data, k, (i, reference.median))
        if data not in OTHER_CODING:
            printed = 100 * reference.median / SAMPLED["sample", k][data].median
            low = min(low, printed)
            plot.plot(
                [i + 0.32],
                [printed],
                marker="o",
                color="#0b62a4",
                markerfacecolor="none",
                linestyle="none",
                label=_once(plot, "Version 2, printed"),
            )
    _draw_marks(plot, solved, low - 2.0)
    _scale(plot, low - 2.0)
    plot.set_xticks(range(len(size.sets)), [label(data) for data in size.sets], rotation=30)
    plot.set_title(f"treewidth limit {k}; † not the paper's coding", fontsize=10)
    if plot.get_legend_handles_labels()[0]:
        plot.legend(fontsize=8, ncols=2)
    return _save(figure, folder, f"figure-treewidth-{k}")


class _Mark(NamedTuple):
    """A score that a solver reached: its position, height, shade and label."""

    x: float
    height: float
    shade: str
    name: str


def _draw_spread(plot: Any, x: float, method: str, spread: list[float]) -> float:
    """Draw best, worst and median of several seeds; return the worst."""
    name, colour, marker = DRAWN[method]
    best, worst, median = spread
    plot.errorbar(
        [x],
        [median],
        yerr=[[median - worst], [best - median]],
        color=colour,
        marker=marker,
        markersize=5,
        capsize=2,
        linestyle="none",
        label=_once(plot, name),
    )
    return worst


def _solver_marks(
    store: Store, size: Size, data: str, k: int, place: tuple[int, float]
) -> list[_Mark]:
    """Return what the integer program reached early and late, relative to a reference."""
    early, late = size.solver_seconds
    outcome = store.get(Cell("score", data, k, "milp-paper", seconds=late))
    if outcome is None or outcome.value is None:
        return []
    i, reference = place
    found = ((-0.4, early, "#8fc493", outcome.at(early)), (-0.3, late, "#2e7d32", outcome.value))
    return [
        _Mark(i + x, 100 * reference / value, shade, f"MILP, {duration(seconds)}")
        for x, seconds, shade, value in found
        if value is not None
    ]


def _draw_marks(plot: Any, marks: list[_Mark], low: float) -> None:
    for mark in marks:
        below = mark.height < low
        plot.plot(
            [mark.x],
            [max(mark.height, low)],
            marker="s",
            color=mark.shade,
            linestyle="none",
            markersize=4,
            markerfacecolor="none" if below else None,
            clip_on=False,
            label=_once(plot, f"{mark.name}, below the picture" if below else mark.name),
        )


def _scale(plot: Any, low: float) -> None:
    plot.axhline(100, color="#999999", linewidth=0.8, zorder=0)
    plot.set_yscale("log")
    plot.set_ylim(bottom=low)
    _, high = plot.get_ylim()
    ticks = [tick for tick in TICKS if low <= tick <= high]
    plot.set_yticks(ticks, [str(tick) for tick in ticks])
    plot.set_yticks([], minor=True)
    plot.set_ylabel("relative score, per cent (log scale)")


def bounds_figure(store: Store, size: Size, folder: Path) -> str:
    """Plot held-out likelihood and time per row by treewidth limit; return the file's name."""
    figure, axes = _canvas(2)
    cells = plan(["density"], size)
    for data in size.densities:
        points = []
        for cell in (cell for cell in cells if cell.data == data):
            outcome = store.get(cell)
            if outcome is not None and outcome.held_out is not None:
                points.append((cell.treewidth, outcome.held_out, 1e6 * (outcome.row_seconds or 0)))
        if points:
            bounds, likelihoods, times = zip(*points, strict=True)
            gains = [value - likelihoods[0] for value in likelihoods]
            axes[0].plot(bounds, gains, marker="o", markersize=4, label=data)
            axes[1].plot(bounds, times, marker="o", markersize=4, label=data)
    axes[0].set_ylabel("held-out log-likelihood a row,\nless that of the Chow–Liu tree")
    axes[1].set_ylabel("µs a row (30 % missing)")
    axes[1].set_ylim(bottom=0)
    for plot in axes:
        plot.set_xlabel("treewidth limit")
    if axes[0].get_legend_handles_labels()[0]:
        axes[0].legend(fontsize=8)
    return _save(figure, folder, "bounds")


def _once(plot: Any, name: str) -> str | None:
    """Return a name for the legend unless it is there already."""
    return None if name in plot.get_legend_handles_labels()[1] else name


def _canvas(n_plots: int) -> tuple[Any, list[Any]]:
    try:
        from matplotlib.figure import Figure
    except ImportError:
        msg = "figures need matplotlib; install twbn[figures]"
        raise MissingDependencyError(msg) from None
    figure = Figure(figsize=(9, 4.2), layout="constrained")
    axes = figure.subplots(1, n_plots, squeeze=False)[0]
    for plot in axes:
        plot.spines[["top", "right"]].set_visible(False)
        plot.grid(axis="y", alpha=0.3)
    return figure, list(axes)


def _save(figure: Any, folder: Path, name: str) -> str:
    import matplotlib as mpl

    # Neither a date nor random names: the same results give the same file.
    with mpl.rc_context({"svg.hashsalt": "twbn", "svg.fonttype": "none"}):
        figure.savefig(folder / f"{name}.svg", metadata={"Date": None})
    figure.savefig(folder / f"{name}.png", dpi=150)
    return f"{name}.svg"
