"""The logarithm of the gamma function and its derivative, of arrays."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["digamma", "log_gamma"]

#: Arguments are raised to this before the asymptotic series is used: it then has 14 digits.
LEAST = 8.0


def log_gamma(x: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return ln Γ(x) of positive numbers, by Stirling's series after raising small arguments.

    Examples
    --------
    >>> log_gamma(np.array([0.5, 1.0, 5.0])).round(6).tolist()
    [0.572365, 0.0, 3.178054]
    """
    x = np.asarray(x, dtype=np.float64)
    below = np.zeros_like(x)
    raised = x.copy()
    for _ in range(int(LEAST)):
        small = raised < LEAST
        if not small.any():
            break
        below -= np.where(small, np.log(np.where(small, raised, 1.0)), 0.0)
        raised = np.where(small, raised + 1.0, raised)
    r = 1.0 / raised
    s = r * r
    series = r * (1 / 12 - s * (1 / 360 - s * (1 / 1260 - s * (1 / 1680 - s / 1188))))
    rest = (raised - 0.5) * np.log(raised) - raised + 0.5 * np.log(2 * np.pi)
    return np.asarray(below + rest + series)


def digamma(x: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the derivative of ln Γ at positive numbers.

    Examples
    --------
    >>> digamma(np.array([0.5, 1.0, 10.0])).round(6).tolist()
    [-1.96351, -0.577216, 2.251753]
    """
    x = np.asarray(x, dtype=np.float64)
    below = np.zeros_like(x)
    raised = x.copy()
    for _ in range(int(LEAST)):
        small = raised < LEAST
        if not small.any():
            break
        below -= np.where(small, 1.0 / np.where(small, raised, 1.0), 0.0)
        raised = np.where(small, raised + 1.0, raised)
    r = 1.0 / raised
    s = r * r
    series = s * (1 / 12 - s * (1 / 120 - s * (1 / 252 - s * (1 / 240 - s / 132))))
    return np.asarray(below + np.log(raised) - 0.5 * r - series)
