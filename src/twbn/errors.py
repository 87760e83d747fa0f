"""Errors that the user can fix, each class named after the cause.

A message consists of parts: plain text, and the options, settings and vertices it mentions. The
command line can therefore spell options its own way, and a result can replace vertex numbers with
names, without parsing the message.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

__all__ = [
    "DataError",
    "FileFormatError",
    "GraphError",
    "MemoryLimitError",
    "MissingCellsError",
    "MissingDependencyError",
    "Option",
    "OptionError",
    "Part",
    "Setting",
    "TwbnError",
    "UnknownStateError",
    "VerificationError",
    "Vertex",
]


@dataclass(frozen=True)
class Option:
    """An option in a message, by its Python name."""

    name: str

    def __str__(self) -> str:
        return self.name


@dataclass(frozen=True)
class Setting:
    """An option with a value that would help, such as ``max_parents=2``."""

    option: str
    value: Any

    def __str__(self) -> str:
        return f"{self.option}={self.value!r}"


@dataclass(frozen=True)
class Vertex:
    """A vertex of a graph, by its number."""

    number: int

    def __str__(self) -> str:
        return str(self.number)


Part: TypeAlias = str | Option | Setting | Vertex


class TwbnError(ValueError):
    """Base of all errors that twbn raises on purpose.

    Attributes
    ----------
    parts
        The message: plain text, and the options, settings and vertices it mentions.
    column, variable, line, path
        What the error is about; None where this does not apply.
    """

    def __init__(
        self,
        *parts: Part,
        column: str | None = None,
        variable: str | None = None,
        line: int | None = None,
        path: str | None = None,
    ) -> None:
        super().__init__(*parts)
        self.parts = parts
        self.column = column
        self.variable = variable
        self.line = line
        self.path = path

    @property
    def option(self) -> str | None:
        """The first option that the message mentions, or None."""
        for part in self.parts:
            if isinstance(part, Option):
                return part.name
            if isinstance(part, Setting):
                return part.option
        return None

    def spelled(self, spell: Callable[[Part], str]) -> str:
        """Return the message with every part spelled by a function.

        Examples
        --------
        >>> error = OptionError(Option("seed"), " must be 0 or more, got -1")
        >>> error.spelled(lambda part: "--seed" if isinstance(part, Option) else str(part))
        '--seed must be 0 or more, got -1'
        """
        return "".join(map(spell, self.parts))

    def __str__(self) -> str:
        return self.spelled(str)


class DataError(TwbnError):
    """A table or one of its columns cannot be used as it is."""


class UnknownStateError(DataError):
    """A cell holds a value that the coding of its column does not recognise."""


class MissingCellsError(DataError):
    """Cells are missing, but the method needs complete data."""


class FileFormatError(TwbnError):
    """A file does not follow its format."""


class OptionError(TwbnError):
    """An option has an invalid value."""


class MemoryLimitError(TwbnError):
    """The work would not fit into memory; the message says what would."""


class GraphError(TwbnError):
    """A graph lacks a property that its type promises."""

    def with_names(self, names: Sequence[str]) -> GraphError:
        """Return the error with the names of the vertices instead of their numbers.

        Examples
        --------
        >>> str(GraphError("a loop at ", Vertex(1)).with_names(["rain", "grass"]))
        "a loop at 'grass'"
        """

        def named(part: Part) -> Part:
            if isinstance(part, Vertex) and 0 <= part.number < len(names):
                return repr(names[part.number])
            return part

        return type(self)(*map(named, self.parts))


class VerificationError(TwbnError):
    """A result is not what it claims to be."""


class MissingDependencyError(TwbnError):
    """An optional package is needed but not installed."""
