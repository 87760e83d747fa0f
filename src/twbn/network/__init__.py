"""Networks: structure with parameters, and their files."""

from twbn.network.fit import fit
from twbn.network.formats.files import read_network, write_network
from twbn.network.network import Network

__all__ = ["Network", "fit", "read_network", "write_network"]
