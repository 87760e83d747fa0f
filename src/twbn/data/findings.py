"""Findings: what looks wrong with a column, and what to do about it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["Finding", "Kind", "findings_of", "joined_remedies"]

#: What may be found about a column.
Kind: TypeAlias = Literal[
    "identifier",
    "free text",
    "constant",
    "all missing",
    "odd tokens",
    "thousands separators",
    "decimal commas",
    "dates",
    "many states",
    "grouped",
    "near duplicate",
    "duplicate name",
    "unnamed",
    "row numbers",
    "missing code",
    "signs",
    "ambiguous dates",
    "states alike",
    "total",
]


@dataclass(frozen=True)
class Finding:
    """Something about a column that its owner should know.

    `unusable` columns cannot be learned from as they are. `remedy` names options of `as_table` and
    `read_table` that mend it, such as ``{"drop": ["id"]}``; lists of several findings are joined.
    """

    column: str
    kind: Kind
    message: str
    unusable: bool = False
    remedy: tuple[tuple[str, Any], ...] = ()

    def document(self) -> dict[str, Any]:
        """Return the finding as plain values."""
        return {
            "kind": self.kind,
            "message": self.message,
            "unusable": self.unusable,
            "remedy": {name: list(v) if isinstance(v, tuple) else v for name, v in self.remedy},
        }

    def renamed(self, name: str) -> Finding:
        """Return the finding about a column that got another name."""
        return replace(self, column=name)


def findings_of(findings: Iterable[Finding], names: Iterable[str]) -> tuple[Finding, ...]:
    """Return the findings about some of the columns."""
    chosen = frozenset(names)
    return tuple(finding for finding in findings if finding.column in chosen)


def joined_remedies(findings: Iterable[Finding]) -> dict[str, Any]:
    """Return the options that mend all findings: lists are joined, of other values the first."""
    options: dict[str, Any] = {}
    for finding in findings:
        for name, value in finding.remedy:
            if isinstance(value, tuple):
                known = options.setdefault(name, [])
                known += [item for item in value if item not in known]
            else:
                options.setdefault(name, value)
    return options
