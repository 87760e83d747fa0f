"""A stream of the tokens of a network file."""

from __future__ import annotations

from typing import TYPE_CHECKING, NoReturn

from twbn.errors import FileFormatError

if TYPE_CHECKING:
    import re

__all__ = ["Tokens"]


class Tokens:
    """The tokens of one file; errors name line and column.

    Parameters
    ----------
    text, source
        The text, and the name of the file in error messages.
    pattern
        Matches one token, comment or run of blanks. Its groups ``text`` (of a quotation), ``mark``
        and ``word`` are tokens; a group ``unclosed`` says that a quotation or comment has no end.
    """

    def __init__(self, text: str, source: str, pattern: re.Pattern[str]) -> None:
        self._text = text
        self._source = source
        self._tokens: list[str] = []
        self._places: list[int] = []
        self._at = 0
        position = 0
        for match in pattern.finditer(text):
            found = match.groupdict()
            if match.start() != position or found.get("unclosed") is not None:
                self.fail("unterminated quote or comment", place=position)
            position = match.end()
            token = found["mark"] or found["word"] or found["text"]
            if token is not None:
                self._tokens.append(token)
                self._places.append(match.start())
        if position != len(text):
            self.fail("unterminated quote or comment", place=position)

    def __len__(self) -> int:
        return len(self._tokens)

    def __bool__(self) -> bool:
        """Whether there are tokens left."""
        return self._at < len(self._tokens)

    def peek(self) -> str:
        """Return the next token without taking it."""
        if not self:
            self.fail("the file ends inside a block")
        return self._tokens[self._at]

    def next(self, wanted: str) -> str:
        """Take the next token; `wanted` says what it should be."""
        if not self:
            self.fail(f"the file ends, expected {wanted}")
        self._at += 1
        return self._tokens[self._at - 1]

    def expect(self, token: str) -> None:
        """Take a token that must come next."""
        found = self.next(repr(token))
        if found != token:
            self.fail(f"expected {token!r}, got {found!r}", back=1)

    def until(self, mark: str) -> list[str]:
        """Take all tokens up to a mark, and the mark; return those before it."""
        first = self._at
        while self.next(repr(mark)) != mark:
            pass
        return self._tokens[first : self._at - 1]

    def fail(self, message: str, *, place: int | None = None, back: int = 0) -> NoReturn:
        """Raise FileFormatError at a place in the text, or `back` tokens before the next one."""
        if place is None:
            at = self._at - back
            place = self._places[at] if 0 <= at < len(self._places) else len(self._text)
        line = self._text.count("\n", 0, place) + 1
        column = place - (self._text.rfind("\n", 0, place) + 1) + 1
        msg = f"{self._source}, line {line}, column {column}: {message}"
        raise FileFormatError(msg)
