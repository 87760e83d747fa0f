"""Plots of searches: score and bound over time, score against treewidth."""

from __future__ import annotations

import io
import math
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from twbn.errors import MissingDependencyError, OptionError

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from twbn.inference import Sensitivity
    from twbn.search.result import TracePoint

__all__ = ["Traced", "plot_sensitivity", "plot_trace", "plot_treewidth", "trace_svg"]

#: Placeholders, to be replaced by the colours of the page's style sheet.
INK, ACCENT, SECOND = "#010203", "#010204", "#010205"


class Traced(Protocol):
    """A search that kept its trace: a `SearchResult`, or a result file that was read."""

    @property
    def trace(self) -> Sequence[TracePoint]:
        """Every improvement."""
        ...

    @property
    def seconds(self) -> float:
        """How long the search took."""
        ...

    @property
    def method(self) -> str:
        """Its name."""
        ...


def plot_trace(*results: Traced, axes: Any = None) -> Any:
    """Plot score over time, with the upper bound for a single search; return matplotlib's axes.

    Parameters
    ----------
    *results
        One or more searches to compare.
    axes
        Where to draw; a new figure by default.

    Examples
    --------
    >>> import twbn
    >>> rows = {"a": [0, 0, 1, 1] * 9, "b": [0, 1, 0, 1] * 9, "c": [0, 0, 1, 1] * 9}
    >>> axes = plot_trace(twbn.learn(rows, treewidth=1, max_iterations=100))
    >>> axes.get_ylabel()
    'log score'
    """
    if not results or not all(result.trace for result in results):
        msg = "plot_trace needs at least one result, each with a trace"
        raise OptionError(msg)
    axes = _axes() if axes is None else axes
    for result in results:
        points = result.trace
        times = [point.seconds for point in points] + [result.seconds]
        scores = [point.score for point in points]
        name = result.method if len(results) > 1 else "score"
        (line,) = axes.step(times, scores + scores[-1:], where="post", label=name)
        bounds = [(p.seconds, p.bound) for p in points if math.isfinite(p.bound) and p.bound < 0]
        if bounds and len(results) == 1:
            when, heights = zip(*bounds, strict=True)
            axes.step(
                [*when, result.seconds],
                [*heights, heights[-1]],
                where="post",
                linestyle="--",
                color=line.get_color(),
                label="upper bound",
            )
    axes.set_xlim(left=0.0)
    axes.set_xlabel("seconds")
    axes.set_ylabel("log score")
    axes.legend()
    return axes


def plot_treewidth(results: Iterable[Any], axes: Any = None) -> Any:
    """Plot score and upper bound against the treewidth limit; return matplotlib's axes.

    Parameters
    ----------
    results
        Results of the same data at several treewidth limits.
    axes
        Where to draw; a new figure by default.
    """
    ordered = sorted(results, key=lambda result: result.treewidth_limit)
    if not ordered:
        msg = "plot_treewidth needs at least one result"
        raise OptionError(msg)
    axes = _axes() if axes is None else axes
    limits = [result.treewidth_limit for result in ordered]
    axes.plot(limits, [result.score for result in ordered], marker="o", label="score")
    # What bounds all structures of a larger limit bounds those of a smaller one, too.
    bounds = np.minimum.accumulate([result.bound for result in ordered][::-1])[::-1].tolist()
    proved = [point for point in zip(limits, bounds, strict=True) if math.isfinite(point[1])]
    if proved:
        axes.plot(*zip(*proved, strict=True), marker="v", linestyle="--", label="upper bound")
    axes.set_xlabel("treewidth limit")
    axes.set_ylabel("log score")
    axes.legend()
    return axes


def plot_sensitivity(sensitivity: Sensitivity, n: int = 10, axes: Any = None) -> Any:
    """Plot the parameters that matter most for a posterior (a tornado); return matplotlib's axes.

    Parameters
    ----------
    sensitivity
        What `Inference.sensitivity` returns.
    n
        How many parameters, the one that matters most on top.
    axes
        Where to draw; a new figure by default.
    """
    axes = _axes() if axes is None else axes
    rows = sensitivity.top(n)[::-1]
    labels = []
    for row in rows:
        given = ", ".join(f"{name}={state}" for name, state in row.parents.items())
        labels.append(f"{row.variable}={row.state}" + (f" | {given}" if given else ""))
    axes.barh(range(len(rows)), [row.derivative for row in rows])
    axes.set_yticks(range(len(rows)), labels)
    axes.axvline(0.0, linewidth=0.8, color="black")
    axes.set_xlabel(f"derivative of P({sensitivity.target}={sensitivity.state})")
    return axes


def trace_svg(result: Traced) -> str:
    """Return the plot of a trace as SVG in the colours of the page around it."""
    import matplotlib as mpl
    from cycler import cycler
    from matplotlib.figure import Figure

    colours = {
        "axes.edgecolor": INK,
        "axes.labelcolor": INK,
        "text.color": INK,
        "xtick.color": INK,
        "ytick.color": INK,
        "legend.edgecolor": INK,
        "svg.fonttype": "none",
        "svg.hashsalt": "twbn",
        "font.family": "sans-serif",
        "font.size": 11,
        "axes.prop_cycle": cycler(color=[ACCENT, SECOND]),
        "legend.framealpha": 0,
    }
    with mpl.rc_context(colours):
        figure = Figure(figsize=(7.2, 3.2), layout="constrained")
        axes = figure.subplots()
        axes.spines[["top", "right"]].set_visible(False)
        axes.patch.set_visible(False)
        figure.patch.set_visible(False)
        axes.ticklabel_format(useOffset=False, style="plain")
        plot_trace(result, axes=axes)
        # The first structure, usually without arcs, would flatten all that follows into a line.
        found = [p for p in result.trace if p.score > result.trace[0].score]
        later = [value for p in found for value in (p.score, p.bound) if value < 0]
        if len(found) > 1 and min(later) < max(later):
            margin = 0.08 * (max(later) - min(later))
            axes.set_ylim(min(later) - margin, max(later) + margin)
        text = io.StringIO()
        nothing = dict.fromkeys(("Date", "Creator", "Format", "Type"))
        figure.savefig(text, format="svg", metadata=nothing)
    drawn = text.getvalue()
    drawn = drawn[drawn.index("<svg") :]
    return (
        drawn.replace(INK, "currentColor")
        .replace(ACCENT, "var(--accent)")
        .replace(SECOND, "var(--known)")
    )


def _axes() -> Any:
    try:
        from matplotlib import pyplot as plt
    except ImportError:
        msg = "plots need matplotlib; install twbn[figures]"
        raise MissingDependencyError(msg) from None
    return plt.subplots()[1]
