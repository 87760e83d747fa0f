"""A short hash that identifies a table."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

__all__ = ["fingerprint_of"]


def fingerprint_of(texts: Iterable[object], arrays: Iterable[NDArray[Any]]) -> str:
    """Return a hash of texts and arrays, in hexadecimal. O(bytes).

    Examples
    --------
    >>> fingerprint_of(["a"], [np.zeros(3)]) == fingerprint_of(["a"], [np.ones(3)])
    False
    """
    digest = hashlib.blake2b(digest_size=12)
    for text in texts:
        encoded = str(text).encode("utf-8", "surrogatepass")
        digest.update(len(encoded).to_bytes(8, "little") + encoded)
    for array in arrays:
        digest.update(f"{array.dtype.str}{array.shape}".encode())
        digest.update(np.ascontiguousarray(array).data)
    return digest.hexdigest()
