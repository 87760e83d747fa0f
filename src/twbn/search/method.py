"""The `Method` class and the registry of search methods."""

from __future__ import annotations

import inspect
import numbers
from dataclasses import dataclass, fields
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, get_args, get_type_hints

from twbn.checks import unknown
from twbn.errors import Option, OptionError
from twbn.interrupts import deferred
from twbn.search.limit import within_states
from twbn.search.relations import RELATIONS
from twbn.search.run import Run

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from twbn.scores.protocol import LocalScores
    from twbn.search.result import SearchResult

__all__ = ["METHODS", "Method", "MethodOption", "find_method", "register", "search_method"]

_methods: dict[str, Method] = {}
#: Every registered method by its name.
METHODS: Mapping[str, Method] = MappingProxyType(_methods)

#: Types that an option of a method may have: those that a command line can give.
_KINDS: tuple[type, ...] = (str, int, float, bool)
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
    limits_states
        Whether it keeps a limit on the joint states of a bag (`Run.max_states`).
    keeps_relations
        Whether it keeps rules that no single family decides (`Run.relations`).
    on_demand
        Whether it takes scores that are computed on demand where these are too many to be computed
        beforehand.
    """

    name: str
    function: Callable[..., SearchResult]
    about: str
    options: Mapping[str, MethodOption]
    improves: bool = False
    limits_states: bool = False
    keeps_relations: bool = False
    on_demand: bool = False

    def __call__(
        self, scores: LocalScores, run: Run | None = None, /, **given: Any
    ) -> SearchResult:
        """Run the search; Ctrl-C ends it early and returns the best result so far.

        `given` holds options of the method and options of `Run`, which create or modify `run`.
        """
        about_run = {name: given.pop(name) for name in _RUN_OPTIONS if name in given}
        options = self.checked_options(given)
        if about_run.get("max_states") is not None:
            self.refuse_states()
        self.refuse_relations(about_run)
        with deferred():
            if run is None:
                run = Run(scores, **{"method": self.name, **about_run})
            elif about_run or run.method != self.name or run.scores is not scores:
                run = run.with_changes(scores=scores, method=self.name, **about_run)
            return self.function(within_states(scores, run.limit), run, **options)

    def refuse_states(self) -> None:
        """Raise OptionError unless this method keeps a limit on joint states."""
        if not self.limits_states:
            able = sorted(method.name for method in METHODS.values() if method.limits_states)
            problem = f" is an option of {', '.join(able)}, not of method {self.name!r}"
            raise OptionError(Option("max_states"), problem)

    def refuse_relations(self, given: Mapping[str, Any]) -> None:
        """Raise OptionError where a rule is given that this method does not keep."""
        for name in RELATIONS:
            if given.get(name) and not self.keeps_relations:
                able = sorted(method.name for method in METHODS.values() if method.keeps_relations)
                msg = f"method {self.name!r} does not support "
                raise OptionError(msg, Option(name), f"; use {', '.join(able)}")

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
        for name, value in given.items():
            kind, default = self.options[name].kind, self.options[name].default
            accepted = {int: numbers.Integral, float: numbers.Real}.get(kind, kind)
            good = isinstance(value, accepted) and isinstance(value, bool) == (kind is bool)
            if value is not default and not good:
                raise OptionError(Option(name), f" must be of type {kind.__name__}, got {value!r}")
        return dict(given)


def search_method(
    name: str,
    about: str,
    *,
    improves: bool = False,
    limits_states: bool = False,
    keeps_relations: bool = False,
    on_demand: bool = False,
    **options: str,
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
        if {p.name for p in own} != options.keys():
            odd = sorted({p.name for p in own} ^ options.keys())[0]
            msg = f"method {name!r}: each keyword-only parameter needs a description, as {odd!r}"
            raise OptionError(msg)
        declared = {p.name: _declared(name, function, p, options[p.name]) for p in own}
        return Method(
            name,
            function,
            about,
            MappingProxyType(declared),
            improves=improves,
            limits_states=limits_states,
            keeps_relations=keeps_relations,
            on_demand=on_demand,
        )

    return make


def _declared(
    method: str, function: Callable[..., Any], parameter: inspect.Parameter, about: str
) -> MethodOption:
    """Return the option that a keyword-only parameter declares, or raise OptionError."""
    name = parameter.name
    problem = ""
    if name in _RUN_OPTIONS:
        problem = "is an option of every search"
    elif parameter.default is inspect.Parameter.empty:
        problem = "needs a default"
    kind = None if problem else _kind(function, name)
    if kind not in _KINDS:
        problem = problem or f"needs one of the types {', '.join(k.__name__ for k in _KINDS)}"
    if problem:
        msg = f"method {method!r}: the parameter {name!r} {problem}"
        raise OptionError(msg)
    return MethodOption(name, kind, parameter.default, about)  # type: ignore[arg-type]


def _kind(function: Callable[..., Any], name: str) -> Any:
    """Return the type of one parameter, without None; only its own annotation is looked at."""
    annotations = {name: function.__annotations__.get(name, object)}
    shell = type("Shell", (), {"__annotations__": annotations, "__module__": function.__module__})
    hint = get_type_hints(shell)[name]
    kinds = [kind for kind in get_args(hint) or (hint,) if kind is not type(None)]
    return kinds[0] if len(kinds) == 1 else None


def register(method: Method) -> Method:
    """Register a method, so that `learn` and the command line find it by name, and return it."""
    if method.name in _methods and _methods[method.name] is not method:
        msg = f"there is a method {method.name!r} already"
        raise OptionError(msg)
    for other in METHODS.values():
        for name in other.options.keys() & method.options.keys():
            if other.options[name].kind is not method.options[name].kind:
                msg = f"option {name!r} has another type in method {other.name!r}"
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
