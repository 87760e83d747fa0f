"""How notebooks display a value."""

from __future__ import annotations

from importlib import import_module

__all__ = ["Viewed"]


class Viewed:
    """A value that notebooks show as a picture or a table.

    `twbn.report` makes the HTML; it depends on all other modules, so it is loaded only when needed.
    """

    __slots__ = ()

    def _repr_html_(self) -> str | None:
        """Return HTML for a notebook; None, so that it shows text, if a package is missing."""
        html: str | None = import_module("twbn.report.notebook").view(self)
        return html
