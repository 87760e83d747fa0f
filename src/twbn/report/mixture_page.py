"""The page of a mixture: how large its components are, what sets each apart, and their networks."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from twbn.inference import Inference, MixtureInference
from twbn.report.drawing import draw_network, svg
from twbn.report.template import render

if TYPE_CHECKING:
    from collections.abc import Sequence

    from twbn.inference.posterior import Marginals
    from twbn.network.mixture import Mixture

__all__ = ["mixture_page", "mixture_view"]

#: Variables that are named for each component, and variables of a network that is drawn.
MAX_NAMED, MAX_DRAWN = 6, 150
#: Components that are shown, the largest.
MAX_COMPONENTS = 40


class _Distinction(NamedTuple):
    """A variable whose distribution in a component differs from that of the mixture."""

    variable: str
    state: str
    here: float
    overall: float
    distance: float


def mixture_page(mixture: Mixture, *, title: str) -> str:
    """Return the page of a mixture as HTML."""
    return render("mixture.html", title=title, **_described(mixture, drawn=True))


def mixture_view(mixture: Mixture) -> str:
    """Return the table of a mixture's components, for a notebook."""
    return render("mixture-view.html", text=repr(mixture), **_described(mixture, drawn=False))


def _described(mixture: Mixture, *, drawn: bool) -> dict[str, Any]:
    overall = MixtureInference(mixture).marginals()
    components = []
    for weight, network in list(zip(mixture.weights.tolist(), mixture.networks, strict=True))[
        :MAX_COMPONENTS
    ]:
        drawing = None
        if drawn and network.n_variables <= MAX_DRAWN:
            picture = draw_network(network.dag, network.names)
            drawing = svg(picture, label="Network of the component, arcs pointing down")
        components.append(
            {
                "weight": weight,
                "distinctions": _distinctions(Inference(network).marginals(), overall),
                "n_arcs": len(network.dag.arcs),
                "treewidth": None if network.decomposition is None else network.decomposition.width,
                "drawing": drawing,
            }
        )
    return {
        "mixture": mixture,
        "components": components,
        "n_hidden": mixture.n_components - len(components),
    }


def _distinctions(here: Marginals, overall: Marginals) -> Sequence[_Distinction]:
    """Return the variables that differ most, each by the state that is more probable here."""
    found = []
    for name, own in here.items():
        other = overall[name].values
        gain = own.values - other
        s = int(np.argmax(gain))
        found.append(
            _Distinction(
                name,
                str(own.states[0][s]),
                float(own.values[s]),
                float(other[s]),
                float(np.abs(gain).sum() / 2),
            )
        )
    found.sort(key=lambda one: -one.distance)
    return [one for one in found[:MAX_NAMED] if one.distance > 0.01]
