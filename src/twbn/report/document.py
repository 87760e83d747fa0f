"""Pages of prose, tables and pictures, as Markdown and as HTML."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from twbn.report.template import render

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["Grid", "Image", "Measured", "Section", "to_html", "to_markdown"]


class Measured(str):
    """A text that depends on timing: another run may give a different one."""

    __slots__ = ()


@dataclass(frozen=True)
class Grid:
    """A table: its header, its rows, and a caption above it."""

    head: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    caption: str = ""


@dataclass(frozen=True)
class Image:
    """An image file beside the page, and its alternative text."""

    file: str
    text: str


@dataclass(frozen=True)
class Section:
    """A heading and its contents. Text is plain: nothing in it is markup."""

    title: str
    parts: tuple[str | Grid | Image, ...]


def to_markdown(title: str, sections: Sequence[Section]) -> str:
    """Return a page as Markdown (MyST and GitHub read it alike)."""
    lines = [f"# {_plain(title)}", ""]
    for section in sections:
        lines += [f"## {_plain(section.title)}", ""]
        for part in section.parts:
            lines += [*_markdown(part), ""]
    return "\n".join(lines).rstrip() + "\n"


def to_html(title: str, sections: Sequence[Section], *, version: str) -> str:
    """Return a page as one HTML document; pictures stay files beside it."""
    blocks = [
        {"title": section.title, "parts": [_block(part) for part in section.parts]}
        for section in sections
    ]
    return render("document.html", title=title, sections=blocks, version=version)


def _markdown(part: str | Grid | Image) -> list[str]:
    if isinstance(part, str):
        return [_plain(part)]
    if isinstance(part, Image):
        return [f"![{_plain(part.text)}]({part.file})"]
    caption = [f"*{_plain(part.caption)}*", ""] if part.caption else []
    rule = "|" + "|".join(["---", *["---:"] * (len(part.head) - 1)]) + "|"
    return [*caption, _row(part.head), rule, *(_row(row) for row in part.rows)]


def _row(cells: Sequence[str]) -> str:
    return "| " + " | ".join(_plain(cell) for cell in cells) + " |"


def _plain(text: str) -> str:
    for sign in ("\\", "|", "*", "_", "`", "<", "[", "]"):
        text = text.replace(sign, "\\" + sign)
    return text


def _block(part: str | Grid | Image) -> dict[str, object]:
    if isinstance(part, str):
        return {"kind": "text", "text": part}
    if isinstance(part, Image):
        return {"kind": "picture", "file": part.file, "text": part.text}
    rows = [[(cell, isinstance(cell, Measured)) for cell in row] for row in part.rows]
    return {"kind": "grid", "head": part.head, "rows": rows, "caption": part.caption}
