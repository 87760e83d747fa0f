"""The tables of a network as the core sees them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from twbn import _core

if TYPE_CHECKING:
    from twbn.network.network import Network

__all__ = ["compiled_factors"]


def compiled_factors(network: Network) -> _core.Factors:
    """Return the tables of a network for the core, which reads them where they are."""
    return _core.Factors(
        list(network.n_states),
        list(map(list, network.dag.parents)),
        [table.ravel() for table in network.tables],
    )
