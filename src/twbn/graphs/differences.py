"""What two structures over the same vertices share, and where they differ."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from twbn.graphs.dag import Dag

__all__ = ["Differences", "differences"]


@dataclass(frozen=True)
class Differences:
    """Arcs (parent, child) of two structures, sorted.

    Attributes
    ----------
    shared
        Arcs of both.
    reversed
        Arcs of the first that the second has the other way round.
    only_first, only_second
        Arcs between two vertices that the other structure does not join.
    equivalent
        Whether both imply the same independences.
    distance
        The structural Hamming distance of their classes, see `Cpdag.distance`.
    """

    shared: tuple[tuple[int, int], ...]
    reversed: tuple[tuple[int, int], ...]
    only_first: tuple[tuple[int, int], ...]
    only_second: tuple[tuple[int, int], ...]
    equivalent: bool
    distance: int


def differences(first: Dag, second: Dag) -> Differences:
    """Return what two structures over the same vertices share, and where they differ.

    Examples
    --------
    >>> from twbn import Dag
    >>> chain, fork = Dag(((), (0,), (1,))), Dag(((1,), (), (1,)))
    >>> found = differences(chain, fork)
    >>> found.shared, found.reversed, found.equivalent, found.distance
    (((1, 2),), ((0, 1),), True, 0)
    """
    classes = first.cpdag(), second.cpdag()
    distance = classes[0].distance(classes[1])
    ours, theirs = set(first.arcs), set(second.arcs)
    turned = {(u, v) for u, v in ours if (v, u) in theirs}
    return Differences(
        tuple(sorted(ours & theirs)),
        tuple(sorted(turned)),
        tuple(sorted(ours - theirs - turned)),
        tuple(sorted((u, v) for u, v in theirs - ours if (v, u) not in turned)),
        first.is_equivalent(second),
        distance,
    )
