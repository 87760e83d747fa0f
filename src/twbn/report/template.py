"""Page templates, rendered with all values escaped."""

from __future__ import annotations

import importlib.util
from functools import cache
from typing import TYPE_CHECKING, Any

from twbn.errors import MissingDependencyError

if TYPE_CHECKING:
    from jinja2 import Environment

__all__ = ["render", "require_packages"]

PACKAGES = ("jinja2", "igraph", "matplotlib")


def require_packages() -> None:
    """Raise MissingDependencyError unless all packages that a report needs are installed."""
    for package in PACKAGES:
        if importlib.util.find_spec(package) is None:
            msg = f"reports need {package}; install twbn[report]"
            raise MissingDependencyError(msg)


def render(template: str, **values: Any) -> str:
    """Render a template from the folder ``templates``; values are escaped."""
    return _environment().get_template(template).render(**values)


@cache
def _environment() -> Environment:
    try:
        import jinja2
    except ImportError:
        msg = "pages need jinja2; install twbn[report]"
        raise MissingDependencyError(msg) from None
    return jinja2.Environment(
        loader=jinja2.PackageLoader("twbn.report", "templates"),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
