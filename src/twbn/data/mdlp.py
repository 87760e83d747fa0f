"""Cuts that tell about a class, by minimum description length (Fayyad and Irani, 1993)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["mdlp_edges"]


def mdlp_edges(
    numbers: NDArray[Any], classes: NDArray[np.int32], weights: NDArray[np.float64] | None = None
) -> NDArray[np.float64]:
    """Return the cut points of a column, ascending; none if no cut pays for its description.

    Parameters
    ----------
    numbers
        The values, all finite.
    classes
        The code of each value's class; rows with a negative code are left out.
    weights
        Optional weight of each row.

    Notes
    -----
    Intervals are halved at the cut of the least class entropy for as long as the gain exceeds
    (log2(n - 1) + log2(3^c - 2) - c H + c1 H1 + c2 H2) / n. A cut lies midway between two values.
    O(d c) for each halving, with d distinct values and c classes, after sorting.
    """
    known = classes >= 0
    numbers, classes = numbers[known], classes[known]
    if not len(numbers):
        return np.empty(0)
    values, position = np.unique(numbers, return_inverse=True)
    n_classes = int(classes.max()) + 1
    cells = position.reshape(-1) * n_classes + classes
    counts = np.bincount(
        cells,
        weights=None if weights is None else weights[known],
        minlength=len(values) * n_classes,
    )
    below = np.vstack(
        [np.zeros(n_classes), np.cumsum(counts.reshape(-1, n_classes), axis=0, dtype=np.float64)]
    )
    edges: list[float] = []
    intervals = [(0, len(values))]
    while intervals:
        first, last = intervals.pop()
        cut = _best_cut(below[first : last + 1])
        if cut is not None:
            cut += first
            edges.append((float(values[cut - 1]) + float(values[cut])) / 2)
            intervals += [(first, cut), (cut, last)]
    return np.unique(edges)


def _best_cut(below: NDArray[np.float64]) -> int | None:
    """Return after how many values to cut an interval, or None if no cut pays.

    `below[i]` counts the classes of the interval's first i values, and of all before it.
    """
    if len(below) < 3:
        return None
    left = below[1:-1] - below[0]
    right = below[-1] - below[1:-1]
    n = float((below[-1] - below[0]).sum())
    entropy, n_present = _entropy(below[-1:] - below[0])
    left_entropy, left_present = _entropy(left)
    right_entropy, right_present = _entropy(right)
    remaining = (left.sum(axis=1) * left_entropy + right.sum(axis=1) * right_entropy) / n
    best = int(np.argmin(remaining))
    gain = float(entropy[0] - remaining[best])
    c = int(n_present[0])
    splits = np.log2(3.0**c - 2) if c < 100 else c * np.log2(3.0)
    description = splits - (
        c * entropy[0]
        - left_present[best] * left_entropy[best]
        - right_present[best] * right_entropy[best]
    )
    price = (np.log2(max(n - 1, 1.0)) + description) / n
    return best + 1 if gain > max(price, 0.0) else None


def _entropy(counts: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Return the class entropy of each row of counts, in bits, and its number of classes."""
    total = counts.sum(axis=1, keepdims=True)
    shares = np.divide(counts, total, out=np.zeros_like(counts), where=total > 0)
    logs = np.log2(shares, out=np.zeros_like(shares), where=shares > 0)
    return -(shares * logs).sum(axis=1), (counts > 0).sum(axis=1)
