"""XMLBIF 0.3."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING
from xml.etree.ElementTree import Element, SubElement, TreeBuilder, indent, tostring
from xml.parsers import expat

from twbn.errors import FileFormatError
from twbn.files import read_text, write_text
from twbn.network.formats.parts import Parts, state_kind, typed_states
from twbn.numerals import as_number

if TYPE_CHECKING:
    import os

    from twbn.network.network import Network

__all__ = ["read_xmlbif", "write_xmlbif"]

# Characters that XML 1.0 does not allow, and the carriage return, which parsers replace.
_UNWRITABLE = re.compile("[\x00-\x08\x0b-\x1f\ufffe\uffff]")


def read_xmlbif(path: str | os.PathLike[str]) -> Network:
    """Return the network of an XMLBIF file. Files that declare entities are refused."""
    source = str(path)
    root = _parsed(read_text(path), source)
    network = root if root.tag == "NETWORK" else root.find("NETWORK")
    if network is None:
        msg = f"{source}: not XMLBIF, it has no NETWORK"
        raise FileFormatError(msg)
    parts = Parts(source)
    for variable in network.findall("VARIABLE"):
        name = _text(variable, "NAME", source)
        if name in parts.states:
            msg = f"{source}: variable {name!r} is declared twice"
            raise FileFormatError(msg)
        outcomes = variable.findall("OUTCOME") or variable.findall("VALUE")
        texts = [(outcome.text or "").strip() for outcome in outcomes]
        kinds = [(found.text or "").split() for found in variable.findall("PROPERTY")]
        kind = next((words[2] for words in kinds if words[:2] == ["dtype", "="]), "str")
        parts.states[name] = typed_states(texts, kind)
    for definition in network.findall("DEFINITION"):
        child = _text(definition, "FOR", source)
        if child in parts.tables:
            msg = f"{source}: the probabilities of {child!r} are given twice"
            raise FileFormatError(msg)
        parts.parents[child] = [(given.text or "").strip() for given in definition.findall("GIVEN")]
        words = _text(definition, "TABLE", source).split()
        values = [number for word in words if (number := as_number(word)) is not None]
        if len(values) < len(words):
            bad = next(word for word in words if as_number(word) is None)
            msg = f"{source}: the table of {child!r}: {bad!r} is not a number"
            raise FileFormatError(msg)
        parts.tables[child] = parts.reshaped(child, values)  # the child is the fastest index
    if not parts.states:
        msg = f"{source}: no variables"
        raise FileFormatError(msg)
    return parts.network()


def write_xmlbif(network: Network, path: str | os.PathLike[str]) -> None:
    """Write a network as XMLBIF, at full precision.

    Raises FileFormatError for a name or state that would not survive being read back: the format
    cannot represent control characters, and readers strip leading and trailing blanks.
    """
    for v, name in enumerate(network.names):
        _require_writable(name, "name")
        for state in network.states[v]:
            _require_writable(str(state), f"state of {name!r}")
    root = Element("BIF", VERSION="0.3")
    inside = SubElement(root, "NETWORK")
    SubElement(inside, "NAME").text = "twbn"
    for v, name in enumerate(network.names):
        variable = SubElement(inside, "VARIABLE", TYPE="nature")
        SubElement(variable, "NAME").text = name
        for state in network.states[v]:
            SubElement(variable, "OUTCOME").text = str(state)
        kind = state_kind(network.states[v])
        if kind != "str":
            SubElement(variable, "PROPERTY").text = f"dtype = {kind}"
    for v, name in enumerate(network.names):
        definition = SubElement(inside, "DEFINITION")
        SubElement(definition, "FOR").text = name
        for parent in network.dag.parents[v]:
            SubElement(definition, "GIVEN").text = network.names[parent]
        SubElement(definition, "TABLE").text = " ".join(
            map(repr, network.tables[v].ravel().tolist())
        )
    indent(root)
    write_text(path, '<?xml version="1.0"?>\n' + tostring(root, encoding="unicode") + "\n")


def _require_writable(text: str, what: str) -> None:
    if _UNWRITABLE.search(text) or text != text.strip() or not text:
        msg = (
            f"an XMLBIF file cannot hold the {what} {text!r}: no control characters, no blanks at "
            "the ends"
        )
        raise FileFormatError(msg)


def _text(element: Element, tag: str, source: str) -> str:
    found = element.find(tag)
    if found is None or (found.text is None and not len(found)):
        msg = f"{source}: a {element.tag} has no {tag}"
        raise FileFormatError(msg)
    return "".join(found.itertext()).strip()


def _parsed(text: str, source: str) -> Element:
    """Parse XML; reject entity declarations, whose expansion can exhaust memory."""
    builder = TreeBuilder()
    parser = expat.ParserCreate("utf-8")  # the text is decoded already, whatever it declares

    def refuse(name: str, *_: object) -> None:
        msg = f"{source}: declares the XML entity {name!r}; files with entities are not read"
        raise FileFormatError(msg)

    parser.EntityDeclHandler = refuse
    parser.StartElementHandler = builder.start
    parser.EndElementHandler = builder.end
    parser.CharacterDataHandler = builder.data
    try:
        parser.Parse(text.encode("utf-8"), True)
        return builder.close()
    except expat.ExpatError as error:
        msg = f"{source}, line {error.lineno}, column {error.offset + 1}: not XML ({error})"
        raise FileFormatError(msg) from None
