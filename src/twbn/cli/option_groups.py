"""Options that come in groups: how a table is read, and what the search methods declare."""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING, Annotated, Any, get_type_hints

import typer

from twbn.cli.files import UNSET
from twbn.cli.options import (
    Adjacent,
    Ancestor,
    BinCount,
    Cut,
    Decimal,
    Delimiter,
    Distinct,
    Drop,
    Encoding,
    Forbidden,
    Header,
    Leaf,
    MaxCategories,
    Missing,
    NonAncestor,
    Required,
    Root,
    RulesFile,
    SkipRows,
    Thousands,
    Tier,
    Weights,
    arcs_of,
)
from twbn.errors import Option, OptionError
from twbn.learning.rules_file import read_rules
from twbn.search import METHODS

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from twbn.search.method import MethodOption

__all__ = [
    "with_method_options",
    "with_rule_options",
    "with_table_options",
    "with_text_options",
]

#: How a table is read, under the names that a result keeps.
READING = {
    "delimiter": Delimiter,
    "header": Header,
    "encoding": Encoding,
    "skip_rows": SkipRows,
    "discretize": Cut,
    "bins": BinCount,
    "max_categories": MaxCategories,
    "drop": Drop,
    "weights": Weights,
    "missing": Missing,
    "decimal": Decimal,
    "thousands": Thousands,
    "distinct": Distinct,
}


#: Options that take arcs, and what `twbn.learn` calls them.
ARCS = {
    "required": "required",
    "forbidden": "forbidden",
    "adjacent": "adjacent",
    "ancestor": "ancestors",
    "non_ancestor": "non_ancestors",
}

#: How a table that is coded already is read: the rest is given by the coding.
OF_TEXT = ("delimiter", "header", "encoding", "skip_rows", "missing", "decimal", "thousands")


def with_text_options(command: Callable[..., None]) -> Callable[..., None]:
    """Return a command with the options of reading rows for a network."""
    return with_table_options(command, OF_TEXT)


def with_table_options(
    command: Callable[..., None], names: Sequence[str] = tuple(READING)
) -> Callable[..., None]:
    """Return a command with options of reading a table; it gets them as `reading`."""

    def collected(given: Mapping[str, Any]) -> dict[str, Any]:
        reading = {name: given.get(name) or default for name, default in UNSET.items()}
        reading["header"] = given["header"]  # False is not the default
        if reading["delimiter"] in {"\\t", "tab"}:
            reading["delimiter"] = "\t"
        return reading

    options = {name: READING[name] for name in names}
    defaults = {name: None if UNSET[name] in ("", []) else UNSET[name] for name in names}
    return _with_group(command, "reading", options, defaults, collected)


#: Rules on the structure, by the name of the option.
RULES = {
    "required": Required,
    "forbidden": Forbidden,
    "adjacent": Adjacent,
    "ancestor": Ancestor,
    "non_ancestor": NonAncestor,
    "root": Root,
    "leaf": Leaf,
    "tier": Tier,
    "rules": RulesFile,
}


def with_rule_options(command: Callable[..., None]) -> Callable[..., None]:
    """Return a command with options for rules; it gets them as `structure_rules`.

    They are named as for `twbn.learn`; those of a file come first.
    """

    def collected(given: Mapping[str, Any]) -> dict[str, Any]:
        found = {} if given["rules"] is None else read_rules(given["rules"])
        if given["tier"] and "tiers" in found:
            raise OptionError(Option("tier"), f": {given['rules']} has tiers already")
        for option, name in ARCS.items():
            found[name] = [
                *found.get(name, ()),
                *arcs_of(given[option], f"--{option.replace('_', '-')}"),
            ]
        for option, name in (("root", "roots"), ("leaf", "leaves")):
            found[name] = [*found.get(name, ()), *(given[option] or ())]
        if given["tier"]:
            found["tiers"] = [[v.strip() for v in tier.split(",")] for tier in given["tier"]]
        return found

    return _with_group(command, "structure_rules", RULES, dict.fromkeys(RULES), collected)


def with_method_options(command: Callable[..., None]) -> Callable[..., None]:
    """Return a command with every option that some registered method has.

    Those that are given reach the command as `method_options`.
    """
    options = {
        option.name: option for method in METHODS.values() for option in method.options.values()
    }

    def collected(given: Mapping[str, Any]) -> dict[str, Any]:
        return {name: value for name, value in given.items() if value is not None}

    annotations = {name: _annotation(option) for name, option in options.items()}
    defaults: dict[str, Any] = dict.fromkeys(options)
    return _with_group(command, "method_options", annotations, defaults, collected)


def _with_group(
    command: Callable[..., None],
    group: str,
    annotations: Mapping[str, Any],
    defaults: Mapping[str, Any],
    collected: Callable[[Mapping[str, Any]], Any],
) -> Callable[..., None]:
    """Replace one parameter of a command by several options, which it gets collected."""

    def wrapped(**given: Any) -> None:
        own = {name: given.pop(name) for name in annotations}
        command(**given, **{group: collected(own)})

    hints = get_type_hints(command, include_extras=True)
    parameters = {
        name: parameter.replace(annotation=hints[name])
        for name, parameter in inspect.signature(command).parameters.items()
        if name != group
    }
    del hints[group]
    for name, annotation in annotations.items():
        hints[name] = annotation
        parameters[name] = inspect.Parameter(
            name, inspect.Parameter.KEYWORD_ONLY, default=defaults[name], annotation=annotation
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
