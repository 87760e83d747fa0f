"""What is known in a question, checked: states, and likelihoods of states."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn

import numpy as np

from twbn.errors import DataError, Option, OptionError

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

    from twbn.network.network import Network

__all__ = ["Given", "read_given", "refuse_impossible", "targets_of"]


class Given(NamedTuple):
    """Codes of known variables, likelihoods of others, and the log of a factor that both lack."""

    known: dict[int, int]
    soft: dict[int, NDArray[np.float64]]
    log: float


def read_given(network: Network, evidence: Any, likelihood: Any) -> Given:
    """Return evidence and likelihoods by position, or raise an error that names what is wrong."""
    known = dict(network.known_codes(evidence))
    if likelihood is not None and not isinstance(likelihood, Mapping):
        problem = f" must map variables to numbers (a dict), got {likelihood!r}"
        raise OptionError(Option("likelihood"), problem)
    soft: dict[int, NDArray[np.float64]] = {}
    log = 0.0
    for name, given in (likelihood or {}).items():
        v = network.index(name)
        values = _checked_likelihood(name, given, network.n_states[v])
        if v in known:  # only one number matters
            value = float(values[known[v]])
            log += math.log(value) if value > 0 else -math.inf
        else:
            soft[v] = values
    return Given(known, soft, log)


def targets_of(network: Network, variables: Any, *, least: int = 1) -> list[int]:
    """Return the positions of the variables asked for: one name, or several that are distinct."""
    try:
        names = [variables] if isinstance(variables, str) else list(variables)
    except TypeError:
        problem = f" must be names of variables, got {variables!r}"
        raise OptionError(Option("variables"), problem) from None
    wanted = [network.index(name) for name in names]
    if len(wanted) < least or len(set(wanted)) < len(wanted):
        problem = f" must be distinct{', and at least one' if least else ''}, got {names}"
        raise OptionError(Option("variables"), problem)
    return wanted


def refuse_impossible(
    network: Network, known: Mapping[int, int], likelihood: Iterable[str] = ()
) -> NoReturn:
    """Raise DataError, naming the evidence."""
    parts = [f"{network.names[v]}={network.states[v][code]}" for v, code in known.items()]
    parts += [f"the likelihood of {name}" for name in likelihood]
    msg = f"the evidence has probability zero: {', '.join(parts)}"
    raise DataError(msg)


def _checked_likelihood(name: str, soft: Any, n_states: int) -> NDArray[np.float64]:
    try:
        values = np.array(soft, dtype=np.float64).reshape(-1)
    except (TypeError, ValueError, OverflowError):
        values = np.empty(0)
    if len(values) != n_states or not (
        np.all(np.isfinite(values)) and values.min() >= 0 and values.max() > 0
    ):
        msg = (
            f"the likelihood of {name!r} must be {n_states} numbers, "
            f"not negative and not all zero, got {soft!r}"
        )
        raise OptionError(msg)
    return values
