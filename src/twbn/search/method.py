"""The `Method` class and the registry of search methods."""

from __future__ import annotations

import inspect
from dataclasses import dataclass, fields
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, get_args, get_type_hints

from twbn.checks import unknown
from twbn.errors import Option, OptionError
from twbn.interrupts import deferred
from twbn.search.run import Run

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from twbn.scores.protocol import LocalScores
    from twbn.search.result import SearchResult

__all__ = ["METHODS", "Method", "MethodOption", "find_method", "register", "search_method"]

_methods: dict[str, Method] = {}
#: Every registered method by its name.
METHODS: Mapping[str, Method] = MappingProxyType(_methods)

_RUN_OPTIONS = tuple(f.name for f in fields(Run) if f.init and f.name != "scores")


@dataclass(frozen=True)
class MethodOption:
    """An option specific to one method, in addition to those common to all searches."""

    name: str
    kind: type
    default: Any
    about: str


@dataclass(frozen=True)
class Method:
    """A search by name: a function ``(scores, run, *, options of its own) -> SearchResult``.

    Attributes
    ----------
    about
        A short phrase that says what it does, shown by the command line and the documentation.
    options
        Its own options, read from the keyword-only parameters of the function.
    improves
        Whether it reports better structures while it runs (`Run.on_improvement`), so that a
        checkpoint can be kept.
    """

    name: str
    function: Callable[..., SearchResult]
    about: str
    options: Mapping[str, MethodOption]
    improves: bool = False

    def __call__(
        self, scores: LocalScores, run: Run | None = None, /, **given: Any
    ) -> SearchResult:
        """Run the search; Ctrl-C ends it early and returns the best result so far.

        `given` holds options of the method and options of `Run`, which create or modify `run`.
        """
        about_run = {name: given.pop(name) for name in _RUN_OPTIONS if name in given}
        options = self.checked_options(given)
        with deferred():
            if run is None:
                run = Run(scores, **{"method": self.name, **about_run})
            elif about_run or run.method != self.name or run.scores is not scores:
                run = run.with_changes(scores=scores, method=self.name, **about_run)
            return self.function(scores, run, **options)

    def checked_options(self, given: Mapping[str, Any]) -> dict[str, Any]:
        """Return the options, or raise OptionError if the method does not have one of them."""
        for name in given:
            if name in self.options:
                continue
            owners = sorted(m.name for m in METHODS.values() if name in m.options)
            if owners:
                problem = f" is an option of {' and '.join(owners)}, not of method {self.name!r}"
                raise OptionError(Option(name), problem)
            raise OptionError(unknown("option", name, [*self.options, *_RUN_OPTIONS]))
        return dict(given)


def search_method(
    name: str, about: str, *, improves: bool = False, **options: str
) -> Callable[[Callable[..., SearchResult]], Method]:
    """Turn a function into a search method; `options` describe its keyword-only parameters.

    Examples
    --------
    >>> @search_method("mine", "the structure without arcs", patience="seconds to wait")
    ... def mine(scores, run, *, patience: float = 1.0): ...
    >>> mine.options["patience"].kind, mine.options["patience"].default
    (<class 'float'>, 1.0)
    """

    def make(function: Callable[..., SearchResult]) -> Method:
        own = [
            parameter
            for parameter in inspect.signature(function).parameters.values()
            if parameter.kind is inspect.Parameter.KEYWORD_ONLY
        ]
        assert {p.name for p in own} == options.keys(), f"{name}: each option needs a description"
        kinds = _kinds(function)
        declared = {
            p.name: MethodOption(p.name, kinds[p.name], p.default, options[p.name]) for p in own
        }
        return Method(name, function, about, MappingProxyType(declared), improves)

    return make


def _kinds(function: Callable[..., Any]) -> dict[str, type]:
    """Return the types of a function's keyword-only parameters."""
    annotations = {
        name: hint
        for name, hint in function.__annotations__.items()
        if name in (function.__kwdefaults__ or {})
    }
    shell = type("Shell", (), {"__annotations__": annotations, "__module__": function.__module__})
    return {name: _plain(hint) for name, hint in get_type_hints(shell).items()}


def _plain(hint: Any) -> type:
    """Return the type of a hint that may also allow None."""
    kinds = [kind for kind in get_args(hint) or (hint,) if kind is not type(None)]
    assert len(kinds) == 1, f"{hint}: an option has one type"
    plain: type = kinds[0]
    return plain


def register(method: Method) -> Method:
    """Register a method, so that `learn` and the command line find it by name, and return it."""
    if method.name in _methods and _methods[method.name] is not method:
        msg = f"there is a method {method.name!r} already"
        raise OptionError(msg)
    _methods[method.name] = method
    return method


def find_method(method: str | Method) -> Method:
    """Return the method itself or look it up by name; raise OptionError if the name is unknown."""
    if isinstance(method, Method):
        return method
    if not isinstance(method, str) or method not in METHODS:
        raise OptionError(unknown("method", method, list(METHODS)))
    return METHODS[method]
