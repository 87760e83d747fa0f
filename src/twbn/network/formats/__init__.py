"""Readers and writers of network files."""

__all__: list[str] = []
