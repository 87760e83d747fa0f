"""What arcs look like: compelled or reversible, certain or not."""

from __future__ import annotations

from typing import TYPE_CHECKING

from twbn.errors import DataError, Option, OptionError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from twbn.graphs import Dag
    from twbn.learning.arc_confidence import Confidence
    from twbn.report.drawing import ArcStyles

__all__ = ["arc_styles"]

#: Vertices up to which the equivalence class is computed for a drawing.
MAX_VERTICES = 500


def arc_styles(dag: Dag, names: Sequence[str], confidence: Confidence | None = None) -> ArcStyles:
    """Return the kind and the weight of every arc; the weight is one without confidence."""
    if confidence is not None and not hasattr(confidence, "structures"):
        problem = f" is what twbn.confidence returns, got {type(confidence).__name__}"
        raise OptionError(Option("confidence"), problem)
    if confidence is not None and set(confidence.names) != set(names):
        odd = sorted(set(confidence.names) ^ set(names))[0]
        msg = f"confidence is of other variables than the network has: {odd!r} is in one of them"
        raise DataError(msg)
    free = dag.cpdag().undirected if dag.n_vertices <= MAX_VERTICES else frozenset()
    return {
        (u, v): (
            "reversible" if (min(u, v), max(u, v)) in free else "",
            1.0 if confidence is None else confidence.of(names[u], names[v]),
        )
        for u, v in dag.arcs
    }
