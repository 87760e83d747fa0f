"""Searches that find good structures without proving that there are no better ones."""

__all__: list[str] = []
