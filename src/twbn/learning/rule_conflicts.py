"""Which rules contradict each other, where no structure keeps all of them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from twbn.errors import OptionError
from twbn.scores.rules import ParentRules
from twbn.search.keeping import MAX_DECIDED, structure_that_keeps
from twbn.search.relations import Relations, said

if TYPE_CHECKING:
    from collections.abc import Sequence

    from twbn.scores.rules import RuleOptions

__all__ = ["conflicting_rules", "refuse_conflicts"]


class _Rule(NamedTuple):
    """One rule: how it reads, its kind, and what it is about, by position."""

    text: str
    kind: str
    about: Any


def refuse_conflicts(
    names: Sequence[str], rules: RuleOptions, relations: Relations, treewidth: int
) -> None:
    """Raise OptionError naming rules that no structure keeps together, if that is certain.

    Nothing is said where the variables are more than a program can decide on.
    """
    try:
        conflict = conflicting_rules(names, rules, relations, treewidth)
    except (KeyError, TimeoutError, TypeError, ValueError):  # names and sizes are checked elsewhere
        return
    if conflict:
        msg = f"no structure keeps these rules together: {'; '.join(conflict)}"
        raise OptionError(msg)


def conflicting_rules(
    names: Sequence[str], rules: RuleOptions, relations: Relations, treewidth: int
) -> list[str]:
    """Return rules that no structure keeps together, each needed for that; empty if one does.

    Notes
    -----
    Rules are left out one after the other; those whose loss makes a structure possible stay. As
    many programs as there are rules, for up to 25 variables.
    """
    found = _rules(names, rules, relations, treewidth)
    n = len(names)
    if n > MAX_DECIDED or not any(rule.kind != "treewidth" for rule in found):
        return []
    if _some_structure(n, found):
        return []
    for rule in list(found):
        fewer = [other for other in found if other is not rule]
        if not _some_structure(n, fewer):
            found = fewer
    return [rule.text for rule in found]


def _rules(
    names: Sequence[str], rules: RuleOptions, relations: Relations, treewidth: int
) -> list[_Rule]:
    """Return every rule by itself."""
    position = {name: v for v, name in enumerate(names)}
    found = [_Rule(f"the treewidth limit is {treewidth}", "treewidth", treewidth)]
    most = rules.max_parents
    if isinstance(most, Mapping):
        found += [
            _Rule(f"{name!r} has at most {size} parents", "max_parents", (position[name], size))
            for name, size in most.items()
        ]
    elif most is not None and most < treewidth:
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


def _listed(names: Any) -> list[str]:
    return [names] if isinstance(names, str) else list(names)


def _some_structure(n: int, rules: Sequence[_Rule]) -> bool:
    """Say whether a structure keeps the rules."""
    allowed = np.ones((n, n), dtype=np.uint8)
    np.fill_diagonal(allowed, 0)
    most = np.full(n, n - 1, dtype=np.int32)
    required: list[set[int]] = [set() for _ in range(n)]
    pairs: dict[str, list[tuple[int, int]]] = {}
    treewidth = n - 1
    for _, kind, about in rules:
        if kind == "treewidth":
            treewidth = min(treewidth, about)
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
    return structure_that_keeps(parents, relations, treewidth) is not None
