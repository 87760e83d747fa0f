"""Sphinx: how the documentation is built. `make docs` runs it with warnings as errors."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import twbn

if TYPE_CHECKING:
    from sphinx.application import Sphinx

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))

project = "twbn"
author = "The twbn developers"
version = release = twbn.__version__
extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.autosummary", "numpydoc"]
html_theme = "furo"
html_title = f"twbn {release}"
html_show_copyright = False
templates_path = ["_templates"]
exclude_patterns = ["_templates"]
myst_enable_extensions = ["colon_fence"]
myst_heading_anchors = 3
autosummary_generate = True
autodoc_typehints = "none"  # numpydoc has them in words
numpydoc_show_class_members = False
suppress_warnings = ["misc.highlighting_failure"]


def _is_routing(_app: Sphinx, _what: str, name: str, *_: object) -> bool | None:
    """Leave out the methods that scikit-learn makes for routing metadata."""
    return True if name.startswith("set_") and name.endswith("_request") else None


def _with_results(app: Sphinx, _error: Exception | None) -> None:
    """Put the results beside the page that is made of them."""
    shutil.copy(HERE / "reproduction" / "results.csv", Path(app.outdir) / "reproduction")


def setup(app: Sphinx) -> None:
    """Draw the pictures before pages are read."""
    from pictures import draw_all

    app.connect("builder-inited", lambda _: draw_all(HERE / "pictures"))
    app.connect("autodoc-skip-member", _is_routing)
    app.connect("build-finished", _with_results)
