"""Command-line options of the search methods, taken from their registry."""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING, Annotated, Any, get_type_hints

import typer

from twbn.search import METHODS

if TYPE_CHECKING:
    from collections.abc import Callable

    from twbn.search.method import MethodOption

__all__ = ["with_method_options"]


def with_method_options(command: Callable[..., None]) -> Callable[..., None]:
    """Return a command extended by the options of all registered methods.

    The options that are given reach the command as the mapping `method_options`.
    """
    options = {
        option.name: option for method in METHODS.values() for option in method.options.values()
    }

    def wrapped(**given: Any) -> None:
        own = {name: given.pop(name) for name in options}
        command(**given, method_options={k: v for k, v in own.items() if v is not None})

    hints = get_type_hints(command, include_extras=True)
    parameters = {
        name: parameter.replace(annotation=hints[name])
        for name, parameter in inspect.signature(command).parameters.items()
        if name != "method_options"
    }
    del hints["method_options"]
    for name, option in options.items():
        hints[name] = _annotation(option)
        parameters[name] = inspect.Parameter(
            name, inspect.Parameter.KEYWORD_ONLY, default=None, annotation=hints[name]
        )
    wrapped.__name__, wrapped.__doc__ = command.__name__, command.__doc__
    wrapped.__annotations__ = hints
    wrapped.__signature__ = inspect.Signature(list(parameters.values()))  # type: ignore[attr-defined]
    return wrapped


def _annotation(option: MethodOption) -> Any:
    owners = [method.name for method in METHODS.values() if option.name in method.options]
    flag = "--" + option.name.replace("_", "-")
    declared = f"{flag}/--no-{flag.removeprefix('--')}" if option.kind is bool else flag
    about = f"For {', '.join(owners)}: {option.about}."
    return Annotated[option.kind | None, typer.Option(declared, help=about)]
