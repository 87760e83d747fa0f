"""Columns out as a frame of the library that the caller uses."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, TypeAlias, get_args

from twbn.errors import MissingDependencyError, Option, OptionError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

__all__ = ["frame_of", "kind_of", "unused"]

#: Libraries whose frames can be made.
Kind: TypeAlias = Literal["pandas", "polars", "pyarrow"]
KINDS: tuple[Kind, ...] = get_args(Kind)


def frame_of(columns: Mapping[str, Sequence[Any]], kind: str, *, like: Any = None) -> Any:
    """Return columns as a frame of pandas or polars, or a table of pyarrow.

    A frame of pandas gets the index of the frame `like`, if that is one of as many rows.
    """
    if kind not in KINDS:
        raise OptionError(Option("kind"), f" must be one of {list(KINDS)}, got {kind!r}")
    import narwhals as nw

    lists = {name: _of_one_type(list(values)) for name, values in columns.items()}
    try:
        frame = nw.from_dict(lists, backend=kind).to_native()
    except ImportError:
        msg = f"frames of {kind} need {kind}; install twbn[frames]"
        raise MissingDependencyError(msg) from None
    index: Any = getattr(like, "index", None)
    if kind == "pandas" and kind_of(like) == "pandas" and hasattr(index, "equals"):
        return frame.set_axis(index, axis=0) if len(index) == len(frame) else frame
    return frame


def unused(name: str, names: Iterable[str]) -> str:
    """Return a name that none of the others is: itself, or with underscores."""
    taken = set(names)
    while name in taken:
        name += "_"
    return name


def kind_of(data: Any) -> Kind:
    """Return the library that a frame is of; pandas for anything else."""
    found = type(data).__module__.split(".")[0]
    return next((kind for kind in KINDS if kind == found), "pandas")


def _of_one_type(values: list[Any]) -> list[Any]:
    """Return values as they are, or as texts if numbers and texts are mixed."""
    texts = [isinstance(value, str) for value in values if value is not None]
    if all(texts) or not any(texts):
        return values
    return [None if value is None else str(value) for value in values]
