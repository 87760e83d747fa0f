"""The page that shows two networks side by side."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from twbn.errors import DataError, MemoryLimitError, OptionError
from twbn.files import write_text
from twbn.graphs import Dag
from twbn.graphs.differences import differences
from twbn.inference import Inference, JunctionTree
from twbn.network import Network
from twbn.report.drawing import draw_side_by_side
from twbn.report.template import render, require_packages
from twbn.search.result import SearchResult

if TYPE_CHECKING:
    import os
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from twbn.graphs.differences import Differences

__all__ = ["MAX_VARIABLES", "comparison_page", "write_comparison"]

#: Most variables that are drawn.
MAX_VARIABLES = 500
#: Entries of a junction tree up to which marginals are compared.
MAX_ENTRIES = 2**24


def write_comparison(
    first: SearchResult | Network,
    second: SearchResult | Network,
    path: str | os.PathLike[str],
    *,
    data: Any = None,
    titles: tuple[str, str] = ("first", "second"),
) -> None:
    """Write a page with two networks side by side and what differs between them.

    Parameters
    ----------
    first, second
        Networks or results over the same variables, in any order.
    path
        The HTML file to write. It is self-contained and needs no connection.
    data
        Rows (anything that `Inference.score_samples` takes) whose mean log-likelihood is compared,
        if both have parameters.
    titles
        What to call them.

    Notes
    -----
    Both drawings have every variable at the same place, so that arcs can be compared by eye, and
    are moved and zoomed together.
    """
    require_packages()
    path = Path(path)
    means = None if data is None else [_mean_likelihood(source, data) for source in (first, second)]
    page = comparison_page(first, second, likelihoods=means, titles=titles, title=path.stem)
    write_text(path, page)


def comparison_page(
    first: SearchResult | Network,
    second: SearchResult | Network,
    *,
    likelihoods: Sequence[float | None] | None = None,
    titles: tuple[str, str] = ("first", "second"),
    title: str,
) -> str:
    """Return the page of two networks as HTML; see `write_comparison`.

    `likelihoods` are the mean log-likelihoods of some rows by each.
    """
    for source in (first, second):
        if not isinstance(source, SearchResult | Network):
            msg = f"networks and results can be compared, got {type(source).__name__}"
            raise OptionError(msg)
    names = tuple(first.names)
    other = in_order_of(names, second)
    found = differences(first.dag, other)
    pictures = draw_side_by_side(first.dag, other, names) if len(names) <= MAX_VARIABLES else None
    moved = _moved(first, second)
    return render(
        "comparison.html",
        title=title,
        titles=titles,
        names=names,
        facts=[_facts(source) for source in (first, second)],
        likelihoods=None if likelihoods is None else [_said(mean) for mean in likelihoods],
        found=found,
        pictures=pictures,
        families=_families(names, first.dag, other, moved),
        moved=moved is not None,
        arcs=_named_arcs(names, found, titles),
    )


def in_order_of(names: Sequence[str], source: SearchResult | Network) -> Dag:
    """Return the structure of another network with its vertices in the order of these names."""
    if set(names) != set(source.names):
        odd = sorted(set(names) ^ set(source.names))[0]
        msg = f"only one of the networks has the variable {odd!r}"
        raise DataError(msg, variable=odd)
    place = {name: v for v, name in enumerate(names)}
    parents: list[tuple[int, ...]] = [()] * len(place)
    for name, members in zip(source.names, source.dag.parents, strict=True):
        parents[place[name]] = tuple(place[source.names[p]] for p in members)
    return Dag(tuple(parents))


def _facts(source: SearchResult | Network) -> list[tuple[str, str]]:
    facts = [("arcs", f"{len(source.dag.arcs):,}")]
    if isinstance(source, SearchResult):
        facts.append(("treewidth", f"at most {source.treewidth}"))
        facts.append((f"score ({source.score_name})", f"{source.score:.4f}"))
        return facts
    proof = source.decomposition or JunctionTree(source, max_entries=2**62).decomposition
    facts.append(("treewidth", f"at most {max(proof.width, 0)}"))
    facts.append(("parameters", f"{source.n_parameters:,}"))
    return facts


def _mean_likelihood(source: SearchResult | Network, data: Any) -> float:
    if not isinstance(source, Network):
        msg = "rows can be compared only by networks with parameters; fit the results first"
        raise OptionError(msg)
    return float(Inference(source).score_samples(data).mean())


def _said(mean: float | None) -> str:
    return "minus infinity" if mean is None or not np.isfinite(mean) else f"{mean:.6f}"


def _moved(
    first: SearchResult | Network, second: SearchResult | Network
) -> dict[str, float] | None:
    """Return how far the marginals of each variable are apart (total variation).

    None unless both are networks of the same states that exact inference suits.
    """
    if not isinstance(first, Network) or not isinstance(second, Network):
        return None
    states = dict(zip(second.names, second.states, strict=True))
    if any(set(own) != set(states[v]) for v, own in zip(first.names, first.states, strict=True)):
        return None
    try:
        ours = Inference(first, max_entries=MAX_ENTRIES).marginals()
        theirs = Inference(second, max_entries=MAX_ENTRIES).marginals()
    except MemoryLimitError:
        return None
    return {name: _distance(ours[name].to_dict(), theirs[name].to_dict()) for name in first.names}


def _distance(ours: dict[Any, float], theirs: dict[Any, float]) -> float:
    values: NDArray[np.float64] = np.array([p - theirs[state] for state, p in ours.items()])
    return float(np.abs(values).sum() / 2)


def _families(
    names: Sequence[str], first: Dag, second: Dag, moved: dict[str, float] | None
) -> list[tuple[str, str, str, bool, float | None]]:
    """Return for each variable its parents in both, whether these differ, and how far it moved."""
    return [
        (
            name,
            ", ".join(names[p] for p in ours),
            ", ".join(names[p] for p in theirs),
            ours != theirs,
            None if moved is None else moved[name],
        )
        for name, ours, theirs in zip(names, first.parents, second.parents, strict=True)
    ]


def _named_arcs(
    names: Sequence[str], found: Differences, titles: tuple[str, str]
) -> list[tuple[str, list[str]]]:
    """Return the arcs that differ, under the words for how they do."""
    groups = (
        (f"only in “{titles[0]}”", found.only_first),
        (f"only in “{titles[1]}”", found.only_second),
        (f"as in “{titles[0]}”, reversed in “{titles[1]}”", found.reversed),
    )
    return [(what, [f"{names[u]} → {names[v]}" for u, v in arcs]) for what, arcs in groups]
