"""Network files, in the format given by the file extension."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from twbn.errors import OptionError
from twbn.network.formats.bif import read_bif, write_bif
from twbn.network.formats.hugin import read_hugin, write_hugin
from twbn.network.formats.json import read_json, write_json
from twbn.network.formats.uai import read_uai, write_uai
from twbn.network.formats.xmlbif import read_xmlbif, write_xmlbif
from twbn.network.network import Network

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Mapping


__all__ = ["FORMATS", "check_format", "read_network", "write_network"]

#: Reader and writer by file extension.
FORMATS: Mapping[str, tuple[Callable[..., Network], Callable[..., Any]]] = {
    ".json": (read_json, write_json),
    ".bif": (read_bif, write_bif),
    ".xmlbif": (read_xmlbif, write_xmlbif),
    ".bifxml": (read_xmlbif, write_xmlbif),
    ".xml": (read_xmlbif, write_xmlbif),
    ".uai": (read_uai, write_uai),
    ".net": (read_hugin, write_hugin),
}


def read_network(path: str | os.PathLike[str], **options: Any) -> Network:
    """Return the network in a file; the extension gives the format (``.gz`` may follow)."""
    return _format(path)[0](path, **options)


def write_network(network: Network, path: str | os.PathLike[str], **options: Any) -> None:
    """Write a network to a file; the extension gives the format (``.gz`` may follow)."""
    if not isinstance(network, Network):
        msg = f"write_network writes a Network, got {type(network).__name__}"
        raise OptionError(msg)
    _format(path)[1](network, path, **options)


def check_format(path: str | os.PathLike[str]) -> None:
    """Raise OptionError unless the extension is that of a format of networks."""
    _format(path)


def _format(path: str | os.PathLike[str]) -> tuple[Callable[..., Network], Callable[..., Any]]:
    path = Path(path)
    ending = Path(path.stem).suffix if path.suffix == ".gz" else path.suffix
    if ending.lower() not in FORMATS:
        msg = f"{path}: unknown network format {ending!r}; expected {', '.join(FORMATS)}"
        raise OptionError(msg)
    return FORMATS[ending.lower()]
