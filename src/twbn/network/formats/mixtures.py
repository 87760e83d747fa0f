"""Files of mixtures: twbn's own, or one network with a hidden root where that can hold it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from twbn.errors import FileFormatError, OptionError, TwbnError
from twbn.files import write_text
from twbn.network.formats.files import check_format, write_network
from twbn.network.formats.json import json_document, network_document, network_from_document
from twbn.network.mixture import Mixture

if TYPE_CHECKING:
    import os

__all__ = [
    "is_mixture",
    "mixture_document",
    "mixture_from_document",
    "read_mixture",
    "write_mixture",
]

FORMAT, VERSION = "twbn-mixture", 1


def write_mixture(
    mixture: Mixture, path: str | os.PathLike[str], *, component: str = "component"
) -> None:
    """Write a mixture to a file; the extension gives the format (``.gz`` may follow).

    ``.json`` keeps everything. Any other format of networks holds the mixture as one network whose
    root, called `component`, is hidden; see `Mixture.as_network` for where that is impossible.
    """
    if not isinstance(mixture, Mixture):
        msg = f"write_mixture writes a Mixture, got {type(mixture).__name__}"
        raise OptionError(msg)
    path = Path(path)
    ending = Path(path.stem).suffix if path.suffix == ".gz" else path.suffix
    if ending.lower() != ".json":
        check_format(path)
        write_network(mixture.as_network(component), path)
        return
    text = json.dumps(mixture_document(mixture), ensure_ascii=False, allow_nan=False)
    write_text(path, text + "\n")


def read_mixture(path: str | os.PathLike[str]) -> Mixture:
    """Return the mixture in a file written by `write_mixture` as JSON."""
    return mixture_from_document(json_document(path), str(path))


def mixture_document(mixture: Mixture) -> dict[str, Any]:
    """Return a mixture as plain values."""
    return {
        "format": FORMAT,
        "version": VERSION,
        "weights": mixture.weights.tolist(),
        "components": [network_document(network) for network in mixture.networks],
    }


def is_mixture(document: Any) -> bool:
    """Say whether plain values say that they are a mixture."""
    return isinstance(document, dict) and document.get("format") == FORMAT


def mixture_from_document(document: Any, source: str = "document") -> Mixture:
    """Return the mixture described by plain values, as returned by `mixture_document`."""
    if not is_mixture(document):
        msg = f"{source}: not a mixture of twbn (its format is not {FORMAT!r})"
        if isinstance(document, dict) and document.get("format") == "twbn-model":
            msg = f"{source}: one network, not a mixture; read_network reads it"
        raise FileFormatError(msg)
    if document.get("version") != VERSION:
        msg = (
            f"{source}: version {document.get('version')!r} of the mixture format is not known, "
            f"this twbn reads {VERSION}"
        )
        raise FileFormatError(msg)
    parts = document.get("components")
    if not isinstance(parts, list):
        msg = f"{source}: the entry 'components' must be a list of networks"
        raise FileFormatError(msg)
    networks = [
        network_from_document(part, f"{source}, component {i}")
        for i, part in enumerate(parts, start=1)
    ]
    try:
        return Mixture(document.get("weights"), networks)
    except TwbnError as error:
        msg = f"{source}: {error}"
        raise FileFormatError(msg) from None
    except (TypeError, ValueError, OverflowError):
        msg = f"{source}: the weights must be numbers, got {document.get('weights')!r}"
        raise FileFormatError(msg) from None
