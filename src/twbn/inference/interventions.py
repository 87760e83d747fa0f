"""Engines of networks in which some variables are set to states."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any

from twbn.errors import DataError
from twbn.network.evidence import set_codes

if TYPE_CHECKING:
    from collections.abc import Callable

    from twbn.inference.query import Inference
    from twbn.network.network import Network

__all__ = ["Interventions"]

#: Engines that are kept.
MAX_ENGINES = 16


class Interventions:
    """The engines of the last few interventions; several threads may ask at once."""

    def __init__(self, make: Callable[[Network], Inference]) -> None:
        self._make = make
        self._lock = threading.Lock()
        self._engines: dict[tuple[tuple[int, int], ...], Inference] = {}

    def engine(self, network: Network, do: Any, evidence: Any) -> Inference:
        """Return the engine after an intervention; DataError if evidence contradicts it."""
        set_to = set_codes(network, do)
        for v, code in network.known_codes(evidence).items():
            if set_to.get(v, code) != code:
                name, states = network.names[v], network.states[v]
                msg = f"{name!r} is set to {states[set_to[v]]!r} but observed as {states[code]!r}"
                raise DataError(msg, variable=name)
        key = tuple(sorted(set_to.items()))
        with self._lock:
            found = self._engines.get(key)
        if found is None:
            found = self._make(network.intervene(do))
            with self._lock:
                while len(self._engines) >= MAX_ENGINES:
                    self._engines.pop(next(iter(self._engines)))
                self._engines[key] = found
        return found
