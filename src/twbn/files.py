"""Text files: reading, compressed or not, and writing, either completely or not at all."""

from __future__ import annotations

import codecs
import gzip
import io
import os
import stat
import zlib
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, TextIO

from twbn.errors import FileFormatError, MemoryLimitError, Option, OptionError, Setting

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

__all__ = ["read_bytes", "read_text", "require_file", "write_text", "writing"]

#: A compressed file may unpack to this many bytes, or to this multiple of its own size if that is
#: more: text rarely compresses to less than a hundredth.
MAX_UNPACKED, MAX_RATIO = 2**28, 100
#: Bytes that are unpacked at a time.
CHUNK = 2**20


def read_text(
    path: str | os.PathLike[str], *, encodings: Sequence[str] = ("utf-8-sig", "latin-1")
) -> str:
    """Return the text of a file, in the first encoding that fits; unpacked if it ends in ``.gz``.

    Raises FileFormatError, saying what is wrong with the file, and MemoryLimitError if it unpacks
    to far more than its size.
    """
    path = require_file(path)
    content = _unpacked(path) if path.suffix.lower() == ".gz" else path.read_bytes()
    for encoding in encodings[:-1]:
        with suppress(UnicodeDecodeError):
            return content.decode(encoding)
    try:
        return content.decode(encodings[-1])
    except UnicodeDecodeError as error:
        msg = f"{path}: not a text file in UTF-8 ({error.reason} at byte {error.start})"
        raise FileFormatError(msg) from None


def read_bytes(path: str | os.PathLike[str], *, encoding: str | None = None) -> bytes:
    """Return the text of a file in UTF-8, without a byte order mark; unpacked if it is ``.gz``.

    Without an `encoding`, the file is in UTF-8, or in UTF-16 if it begins with a byte order mark.
    """
    path = require_file(path)
    content = _unpacked(path) if path.suffix.lower() == ".gz" else path.read_bytes()
    if encoding is None and content[:2] in {codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE}:
        encoding = "utf-16"
    try:
        text = content.decode(encoding or "utf-8-sig")
    except UnicodeDecodeError as error:
        line = content[: error.start].count(b"\n") + 1
        parts: list[str | Setting] = [
            f"{path}, line {line}: not a text file in {encoding or 'UTF-8'} ({error.reason} at "
            f"byte {error.start})"
        ]
        if encoding is None:  # what Excel writes in western Europe
            parts += ["; set ", Setting("encoding", "cp1252"), " or whatever wrote it"]
        raise FileFormatError(*parts, path=str(path), line=line) from None
    except LookupError:
        raise OptionError(
            Option("encoding"), f" is not known to Python, got {encoding!r}"
        ) from None
    return content if encoding is None and content[:3] != codecs.BOM_UTF8 else text.encode("utf-8")


def require_file(path: str | os.PathLike[str]) -> Path:
    """Return the path of an existing file, or raise FileFormatError."""
    path = Path(path)
    if not path.exists():
        msg = f"{path}: no such file"
        raise FileFormatError(msg)
    if path.is_dir():
        msg = f"{path} is a folder, not a file"
        raise FileFormatError(msg)
    return path


def _unpacked(path: Path) -> bytes:
    limit = max(MAX_UNPACKED, MAX_RATIO * path.stat().st_size)
    parts: list[bytes] = []
    size = 0
    try:
        with gzip.open(path) as file:
            while part := file.read(CHUNK):
                size += len(part)
                if size > limit:
                    msg = (
                        f"{path}: unpacks to more than {limit / 2**20:,.0f} MiB, {MAX_RATIO} times "
                        "its size or more; if this is intended, unpack it first (gunzip)"
                    )
                    raise MemoryLimitError(msg)
                parts.append(part)
    except (OSError, EOFError, zlib.error) as error:
        msg = f"{path}: not a whole gzip file ({error})"
        raise FileFormatError(msg) from None
    return b"".join(parts)


def write_text(path: str | os.PathLike[str], text: str) -> None:
    """Write a file completely or not at all, in UTF-8; compressed if its name ends in ``.gz``."""
    content = text.encode("utf-8")
    if Path(path).suffix.lower() == ".gz":
        content = gzip.compress(content, mtime=0)
    with _replacing(Path(path)) as file:
        file.write(content)


@contextmanager
def writing(path: str | os.PathLike[str], *, encoding: str = "utf-8") -> Iterator[TextIO]:
    """Open a text file that replaces `path` only if the block succeeds.

    Until then, output goes to ``NAME.part``, which is removed on any error. Line endings are
    written unchanged. An OSError always names the file.
    """
    with (
        _replacing(Path(path)) as file,
        io.TextIOWrapper(file, encoding=encoding, newline="") as text,
    ):
        yield text


@contextmanager
def _replacing(path: Path) -> Iterator[BinaryIO]:
    try:
        if path.exists() and not path.is_file():  # a device or a pipe: nothing to replace
            with path.open("wb") as file:
                yield file
            return
        target = Path(os.path.realpath(path))  # a symbolic link remains a link
        # File names are limited to 255 bytes.
        partial = target.with_name(target.name.encode()[:240].decode(errors="ignore") + ".part")
        try:
            with partial.open("wb") as file:
                yield file
            if target.exists():  # keep its permissions
                partial.chmod(stat.S_IMODE(target.stat().st_mode))
            partial.replace(target)
        except BaseException:
            with suppress(OSError):
                partial.unlink()
            raise
    except OSError as error:
        if error.errno is None:
            raise
        raise OSError(error.errno, error.strerror, str(path)) from error
