"""What would tell most about a variable, and what the findings have told."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from twbn.frame_out import frame_of
from twbn.inference.evidence import read_given
from twbn.inference.marginals import all_marginals

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from twbn.inference.query import Inference

__all__ = ["Influence", "influence"]


@dataclass(frozen=True)
class Influence:
    """How much variables tell about a target, in nats, the most first.

    Attributes
    ----------
    information
        For each variable that is not observed, the information to expect from observing it: its
        mutual information with the target given the evidence.
    contributions
        For each finding, how far the posterior moves when it is left out: the Kullback-Leibler
        divergence of the posterior from the one without it.
    """

    target: str
    information: dict[str, float]
    contributions: dict[str, float]

    def to_frame(self, kind: str = "pandas") -> Any:
        """Return variables, their role and nats as a frame of pandas or polars."""
        rows = [
            *((name, "unobserved", nats) for name, nats in self.information.items()),
            *((name, "finding", nats) for name, nats in self.contributions.items()),
        ]
        names, roles, nats = zip(*rows, strict=True) if rows else ((), (), ())
        return frame_of({"variable": names, "role": roles, "nats": nats}, kind)


def influence(engine: Inference, target: str, evidence: Any) -> Influence:
    """Return what would tell most about a target, and what each finding has told.

    Notes
    -----
    All marginals are computed for each state of the target, which gives its joint distribution with
    every other variable: as many calibrations as it has states, and one question for each finding.
    """
    network = engine.network
    v = network.index(target)
    known = read_given(network, evidence, None).known
    known.pop(v, None)
    posterior = engine.query([target], _named(engine, known)).values
    plain, _ = all_marginals(engine, known, {})
    information = np.zeros(network.n_variables)
    for code in np.flatnonzero(posterior).tolist():
        given, _ = all_marginals(engine, {**known, v: code}, {})
        for u in range(network.n_variables):
            information[u] += posterior[code] * _divergence(given[u], plain[u])
    contributions = {}
    for u in known:
        others = {w: c for w, c in known.items() if w != u}
        without = engine.query([target], _named(engine, others)).values
        contributions[network.names[u]] = _divergence(posterior, without)
    free = [u for u in range(network.n_variables) if u != v and u not in known]
    return Influence(
        target,
        _largest_first({network.names[u]: max(float(information[u]), 0.0) for u in free}),
        _largest_first(contributions),
    )


def _named(engine: Inference, codes: dict[int, int]) -> dict[str, Any]:
    network = engine.network
    return {network.names[u]: network.states[u][code] for u, code in codes.items()}


def _divergence(p: NDArray[np.float64], q: NDArray[np.float64]) -> float:
    """Return the Kullback-Leibler divergence of q from p, in nats; p is zero wherever q is."""
    some = (p > 0) & (q > 0)
    return float(np.sum(p[some] * np.log(p[some] / q[some])))


def _largest_first(values: dict[str, float]) -> dict[str, float]:
    return dict(sorted(values.items(), key=lambda item: -item[1]))
