"""Which rules contradict each other, where no structure keeps all of them."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from twbn.deadline import Deadline
from twbn.errors import OptionError
from twbn.scores.rules import ParentRules, RuleOptions, make_rules
from twbn.search.keeping import structure_that_keeps
from twbn.search.limit import WidthLimit
from twbn.search.relations import Relations, said

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["conflicting_rules", "refuse_conflicts"]


#: Share of the time limit for finding out which rules contradict each other, and most seconds.
SHARE, MOST_SECONDS = 0.3, 10.0


class _Rule(NamedTuple):
    """One rule: how it reads, its kind, and what it is about, by position."""

    text: str
    kind: str
    about: Any


def refuse_conflicts(
    names: Sequence[str],
    rules: RuleOptions,
    relations: Relations,
    limit: WidthLimit,
    clock: Deadline,
) -> None:
    """Raise OptionError naming rules that no structure keeps together, if that is certain.

    Nothing is said where that is not decided within a share of the time.
    """
    make_rules(names, RuleOptions(rules.max_parents))  # sizes that make no sense are told as such
    try:
        conflict = conflicting_rules(names, rules, relations, limit, clock)
    except (KeyError, TimeoutError, TypeError, ValueError):  # names and arcs are checked elsewhere
        return
    if conflict:
        msg = f"these rules contradict each other: {'; '.join(conflict)}"
        raise OptionError(msg)


def conflicting_rules(
    names: Sequence[str],
    rules: RuleOptions,
    relations: Relations,
    limit: WidthLimit,
    clock: Deadline,
) -> list[str]:
    """Return rules that no structure keeps together, each needed for that; empty if one does.

    TimeoutError if that was not decided in time.

    Notes
    -----
    Rules are left out one after the other; those whose loss makes a structure possible stay, and so
    do those for which that is not decided in time. Where the contradiction is not seen at once, as
    many searches as there are rules.
    """
    found = _rules(names, rules, relations, limit)
    if not any(rule.kind != "width" for rule in found):
        return []
    left = Deadline(min(SHARE * clock.left_or_forever, MOST_SECONDS))
    if _some_structure(len(names), found, limit, left):
        return []
    for rule in list(found):
        fewer = [other for other in found if other is not rule]
        with suppress(TimeoutError):
            if not _some_structure(len(names), fewer, limit, left):
                found = fewer
    return [rule.text for rule in found]


def _rules(
    names: Sequence[str], rules: RuleOptions, relations: Relations, limit: WidthLimit
) -> list[_Rule]:
    """Return every rule by itself."""
    position = {name: v for v, name in enumerate(names)}
    found = [_Rule(_said_limit(limit), "width", None)]
    most = rules.max_parents
    if isinstance(most, Mapping):
        found += [
            _Rule(f"{name!r} has at most {size} parents", "max_parents", (position[name], size))
            for name, size in most.items()
        ]
    elif most is not None and most < limit.treewidth:
        found.append(_Rule(f"a variable has at most {most} parents", "max_parents", (None, most)))
    if rules.tiers:
        tiers = [[position[v] for v in _listed(tier)] for tier in rules.tiers]
        found.append(_Rule("no arc leads to an earlier tier", "tiers", tiers))
    found += [_Rule(f"{v!r} is a root", "root", position[v]) for v in _listed(rules.roots)]
    found += [_Rule(f"{v!r} is a leaf", "leaf", position[v]) for v in _listed(rules.leaves)]
    for kind, arcs in (("forbidden", rules.forbidden), ("required", rules.required)):
        found += [
            _Rule(f"{a!r} -> {b!r} is {kind}", kind, (position[a], position[b])) for a, b in arcs
        ]
    for kind in ("adjacent", "ancestors", "non_ancestors"):
        found += [
            _Rule(said(kind, names[a], names[b]), kind, (a, b)) for a, b in getattr(relations, kind)
        ]
    return found


def _said_limit(limit: WidthLimit) -> str:
    if limit.max_states is None:
        return f"the treewidth limit is {limit.treewidth}"
    return (
        f"a bag has at most {limit.treewidth + 1} variables and {limit.max_states:,} joint states"
    )


def _listed(names: Any) -> list[str]:
    return [names] if isinstance(names, str) else list(names)


def _some_structure(n: int, rules: Sequence[_Rule], limit: WidthLimit, clock: Deadline) -> bool:
    """Say whether a structure keeps the rules."""
    allowed = np.ones((n, n), dtype=np.uint8)
    np.fill_diagonal(allowed, 0)
    most = np.full(n, n - 1, dtype=np.int32)
    required: list[set[int]] = [set() for _ in range(n)]
    pairs: dict[str, list[tuple[int, int]]] = {}
    width = WidthLimit(n - 1)
    for _, kind, about in rules:
        if kind == "width":
            width = limit
        elif kind == "max_parents":
            which = slice(None) if about[0] is None else about[0]
            most[which] = np.minimum(most[which], about[1])
        elif kind == "tiers":
            for i, earlier in enumerate(about):
                for later in about[i + 1 :]:
                    allowed[np.ix_(earlier, later)] = 0
        elif kind == "root":
            allowed[about, :] = 0
        elif kind == "leaf":
            allowed[:, about] = 0
        elif kind == "forbidden":
            allowed[about[1], about[0]] = 0
        elif kind == "required":
            required[about[1]].add(about[0])
        else:
            pairs.setdefault(kind, []).append(about)
    relations = Relations(**{kind: tuple(found) for kind, found in pairs.items()})
    parents = ParentRules(most, allowed, tuple(tuple(sorted(needed)) for needed in required))
    return structure_that_keeps(parents, relations, width, clock) is not None
