"""What notebooks show of a value."""

from __future__ import annotations

from importlib import import_module

__all__ = ["Viewed"]


class Viewed:
    """A value that notebooks show as a picture or a table.

    HTML is made in `report`, which stands on everything else and is loaded when a notebook asks.
    """

    __slots__ = ()

    def _repr_html_(self) -> str | None:
        """Return what a notebook shows; None, and so the text, without the packages it takes."""
        html: str | None = import_module("twbn.report.notebook").view(self)
        return html
