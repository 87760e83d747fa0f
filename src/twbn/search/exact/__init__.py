"""Searches that prove their answer, given time and memory."""

__all__: list[str] = []
