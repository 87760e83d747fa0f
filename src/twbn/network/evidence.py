"""Evidence in the forms a caller may pass: a mapping, a row or a one-row frame."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from twbn.errors import DataError

if TYPE_CHECKING:
    from twbn.network.network import Network

__all__ = ["as_mapping", "set_codes"]


def set_codes(network: Network, do: Any) -> dict[int, int]:
    """Return the codes that an intervention sets, by position."""
    states = as_mapping(do, what="do")
    codes = network.known_codes(states)
    for name in states:
        if network.index(name) not in codes:
            msg = f"do sets {str(name)!r} to no state, got {states[name]!r}"
            raise DataError(msg, variable=str(name))
    return codes


def as_mapping(evidence: Any, *, what: str = "evidence") -> Mapping[str, Any]:
    """Return evidence as a mapping from variable to state.

    Accepts a mapping, a Series or a named tuple (a row of a frame), or a frame of one row.

    Examples
    --------
    >>> as_mapping({"smoker": "yes"}), as_mapping(None)
    ({'smoker': 'yes'}, {})
    """
    if evidence is None:
        return {}
    if isinstance(evidence, Mapping):
        return evidence
    if getattr(evidence, "ndim", None) == 1 and hasattr(evidence, "items"):  # a Series of pandas
        return dict(evidence.items())
    if hasattr(evidence, "_asdict"):  # a row as a named tuple; pandas puts the index first
        row = dict(evidence._asdict())
        if type(evidence).__name__ == "Pandas":
            row.pop("Index", None)
        return row
    import narwhals as nw

    frame = nw.from_native(evidence, eager_only=True, pass_through=True)
    if isinstance(frame, nw.DataFrame):
        if len(frame) == 1:
            return dict(zip(frame.columns, frame.row(0), strict=True))
        msg = f"{what} must be one row, got a frame of {len(frame)} rows"
        raise DataError(msg)
    msg = (
        f"{what} must be states by variable (a dict), a row of a frame or a frame of one row, "
        f"got {type(evidence).__name__}"
    )
    raise DataError(msg)
