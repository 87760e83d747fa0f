"""Networks: structure with parameters, mixtures of them, and their files."""

from twbn.network.fit import fit
from twbn.network.formats.files import read_network, write_network
from twbn.network.formats.mixtures import read_mixture, write_mixture
from twbn.network.mixture import Mixture
from twbn.network.network import Network

__all__ = [
    "Mixture",
    "Network",
    "fit",
    "read_mixture",
    "read_network",
    "write_mixture",
    "write_network",
]
