"""Score files: `.jkl`, the format of GOBNILP, BLIP and others."""

from __future__ import annotations

import math
import warnings
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from twbn.checks import checked_whole
from twbn.errors import DataError, FileFormatError, Option, OptionError
from twbn.files import writing
from twbn.numerals import as_number
from twbn.scores.kinds import MAX_TOTAL
from twbn.scores.protocol import ScoringInfo
from twbn.scores.score_table import ScoreTable

if TYPE_CHECKING:
    import os
    from collections.abc import Iterator, Sequence
    from typing import TextIO

__all__ = ["read_jkl", "write_jkl"]


def read_jkl(
    path: str | os.PathLike[str], *, n_states: Sequence[int] | Mapping[str, int] | None = None
) -> ScoreTable:
    """Return the score table of a `.jkl` file.

    Lines that start with ``#`` and blank lines are skipped anywhere. Variables may be named by
    their positions 0..n-1 or by any other tokens. Errors name the line.

    Parameters
    ----------
    n_states
        The number of states of each variable, which the format cannot say: by name, or in the order
        of the variables. Limits on joint states need it.
    """
    path = Path(path)
    if not path.is_file():
        msg = f"{path}: no such file"
        raise FileFormatError(msg)
    with path.open(encoding="utf-8-sig") as file:
        try:
            names, blocks = _read_blocks(path, _tokens(file))
        except UnicodeDecodeError:
            msg = f"{path}: not a text file"
            raise FileFormatError(msg) from None
    _check_totals(path, blocks)
    position = _positions(path, names)
    ordered: list[dict[tuple[int, ...], float]] = [{} for _ in names]
    for name, block in zip(names, blocks, strict=True):
        child = position[name]
        for line, score, members in block:
            parents = _parents(path, line, name, members, position)
            if parents in ordered[child]:
                msg = f"{path}, line {line}: the parent set {list(members)} of {name} occurs twice"
                raise FileFormatError(msg)
            ordered[child][parents] = score
    in_order = sorted(names, key=position.__getitem__)
    without = [name for name in in_order if () not in ordered[position[name]]]
    if without:
        shown = ", ".join(without[:5]) + (", …" if len(without) > 5 else "")
        warnings.warn(f"{path}: no score without parents for {shown}; taken as -inf", stacklevel=2)
    states = None if n_states is None else _checked_states(n_states, in_order)
    info = ScoringInfo(score=f"from {path.name}", n_states=states)
    return ScoreTable.from_sets(in_order, ordered, info)


def _checked_states(
    n_states: Sequence[int] | Mapping[str, int], names: Sequence[str]
) -> tuple[int, ...]:
    """Return the number of states of each variable, or raise OptionError."""
    if isinstance(n_states, Mapping):
        lacking = [name for name in names if name not in n_states]
        if lacking:
            problem = f" has no entry for {lacking[0]!r}; expected one for each of {len(names)}"
            raise OptionError(Option("n_states"), problem)
        n_states = [n_states[name] for name in names]
    if len(n_states) != len(names):
        problem = f" has {len(n_states)} entries for {len(names)} variables"
        raise OptionError(Option("n_states"), problem)
    return tuple(
        checked_whole(f"n_states of {name}", number, least=1)
        for name, number in zip(names, n_states, strict=True)
    )


def write_jkl(
    scores: ScoreTable,
    path: str | os.PathLike[str],
    *,
    names: bool = False,
    comments: bool = False,
) -> None:
    """Write a score table as `.jkl`, sets best first, scores to the last digit.

    Parameters
    ----------
    names
        Name the variables instead of numbering them from 0; no name may hold white space.
    comments
        Begin with ``#`` lines that say how the scores were made. Some readers reject them.
    """
    tokens = scores.names if names else tuple(str(v) for v in range(scores.n_variables))
    for token in tokens:
        if token.split() != [token] or token.startswith("#"):
            msg = f"the name {token!r} cannot stand in a .jkl file; write positions instead"
            raise DataError(msg)
    path = Path(path)
    if path.is_dir():
        msg = f"{path} is a folder, not a file to write"
        raise OptionError(msg)
    with writing(path) as file:
        if comments:
            file.write(f"# Score function: {scores.info.label}\n")
            file.write(
                f"# Variables: {' '.join(name.replace(' ', '_') for name in scores.names)}\n"
            )
        file.write(f"{scores.n_variables}\n")
        for child in range(scores.n_variables):
            first, last = scores.variable_offsets[child : child + 2]
            file.write(f"{tokens[child]} {last - first}\n")
            file.writelines(
                f"{' '.join([repr(score), str(len(parents)), *(tokens[p] for p in parents)])}\n"
                for score, parents in scores.sets(child)
            )


_Line = tuple[int, list[str]]
_Block = list[tuple[int, float, tuple[str, ...]]]


def _tokens(file: TextIO) -> Iterator[_Line]:
    for line, text in enumerate(file, start=1):
        if text.strip() and not text.lstrip().startswith("#"):
            yield line, text.split()


def _read_blocks(path: Path, lines: Iterator[_Line]) -> tuple[list[str], list[_Block]]:
    line, tokens = next(lines, (0, []))
    if not tokens:
        msg = f"{path} is empty"
        raise FileFormatError(msg)
    n = _whole(path, line, tokens[0], "the number of variables") if len(tokens) == 1 else 0
    if n < 1:
        msg = f"{path}, line {line}: expected the number of variables, found {' '.join(tokens)!r}"
        raise FileFormatError(msg)
    names: list[str] = []
    blocks: list[_Block] = []
    for _ in range(n):
        line, tokens = next(lines, (line, []))
        if len(tokens) != 2:
            found = f"found {' '.join(tokens)!r}" if tokens else "the file ends"
            msg = (
                f"{path}, line {line}: expected variable {len(names) + 1} of {n} and its number "
                f"of parent sets, {found}"
            )
            raise FileFormatError(msg)
        names.append(tokens[0])
        blocks.append(_read_block(path, line, tokens, lines))
    rest = next(lines, None)
    if rest is not None:
        found = " ".join(rest[1])
        msg = f"{path}, line {rest[0]}: expected the end after {n} variables, found {found!r}"
        raise FileFormatError(msg)
    return names, blocks


def _read_block(path: Path, line: int, head: Sequence[str], lines: Iterator[_Line]) -> _Block:
    name = head[0]
    n_sets = _whole(path, line, head[1], f"the number of parent sets of {name}")
    block: _Block = []
    for count in range(n_sets):
        line, tokens = next(lines, (line, []))
        if not tokens:
            msg = f"{path}, line {line}: {name} has {count} parent sets, {n_sets} were announced"
            raise FileFormatError(msg)
        score = as_number(tokens[0])
        if score is None:
            msg = f"{path}, line {line}: expected a score, found {tokens[0]!r}"
            raise FileFormatError(msg)
        if score == math.inf:
            msg = f"{path}, line {line}: a score must be a number, found {tokens[0]!r}"
            raise FileFormatError(msg)
        size = _whole(path, line, tokens[1], "the size of the set") if len(tokens) > 1 else -1
        if size != len(tokens) - 2:
            msg = (
                f"{path}, line {line}: expected 'score size parents…' for {name}, "
                f"found {' '.join(tokens)!r}"
            )
            raise FileFormatError(msg)
        if score > -math.inf:  # a set with score -inf is not a candidate
            block.append((line, score, tuple(tokens[2:])))
    return block


def _check_totals(path: Path, blocks: Sequence[_Block]) -> None:
    """Raise FileFormatError if a structure's score might not be finite, naming the largest one."""
    largest = [max(block, key=_magnitude, default=(0, 0.0, ())) for block in blocks]
    if sum(map(_magnitude, largest)) > MAX_TOTAL:
        line, score, _ = max(largest, key=_magnitude)
        msg = (
            f"{path}, line {line}: the score {score:g} is too large; the scores of a structure "
            f"must not add up to more than {MAX_TOTAL:g} either way"
        )
        raise FileFormatError(msg)


def _magnitude(entry: tuple[int, float, tuple[str, ...]]) -> float:
    return abs(entry[1]) if math.isfinite(entry[1]) else 0.0


def _whole(path: Path, line: int, token: str, what: str) -> int:
    if not (token.isascii() and token.isdigit() and len(token) < 10):
        msg = f"{path}, line {line}: expected {what}, found {token!r}"
        raise FileFormatError(msg)
    return int(token)


def _positions(path: Path, names: Sequence[str]) -> dict[str, int]:
    repeated = [name for name, times in Counter(names).items() if times > 1]
    if repeated:
        msg = f"{path}: variable {min(repeated)} has two blocks"
        raise FileFormatError(msg)
    if set(names) == {str(v) for v in range(len(names))}:
        return {name: int(name) for name in names}
    return {name: v for v, name in enumerate(names)}


def _parents(
    path: Path, line: int, name: str, members: Sequence[str], position: Mapping[str, int]
) -> tuple[int, ...]:
    for member in members:
        if member not in position:
            n = len(position)
            msg = f"{path}, line {line}: parent {member!r} of {name} is none of the {n} variables"
            raise FileFormatError(msg)
        if member == name:
            msg = f"{path}, line {line}: {name} is its own parent"
            raise FileFormatError(msg)
    if len(set(members)) < len(members):
        msg = (
            f"{path}, line {line}: a parent of {name} occurs twice in one set: {' '.join(members)}"
        )
        raise FileFormatError(msg)
    return tuple(sorted(position[member] for member in members))
