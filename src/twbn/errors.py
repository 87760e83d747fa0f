"""Everything that can go wrong for a reason the user can mend, named after the reason."""

__all__ = [
    "DataError",
    "FileFormatError",
    "GraphError",
    "MemoryLimitError",
    "MissingCellsError",
    "MissingDependencyError",
    "OptionError",
    "TwbnError",
    "UnknownStateError",
]


class TwbnError(ValueError):
    """Base of all errors that twbn raises on purpose."""


class DataError(TwbnError):
    """A table or one of its columns cannot be used as it is."""


class UnknownStateError(DataError):
    """A cell holds a value that the column's coding does not know."""


class MissingCellsError(DataError):
    """Cells are missing where a method needs all of them."""


class FileFormatError(TwbnError):
    """A file does not follow its format."""


class OptionError(TwbnError):
    """An option has a value that makes no sense."""


class MemoryLimitError(TwbnError):
    """Something would not fit into memory; the message says what would."""


class GraphError(TwbnError):
    """A graph lacks a property that its type promises."""


class MissingDependencyError(TwbnError):
    """An optional package is needed and not installed."""
