"""Tables of held-out likelihoods: of networks and of mixtures."""

from __future__ import annotations

from typing import TYPE_CHECKING

from twbn.report.document import Grid
from twbn.reproduce.published import BEST_DENSITIES
from twbn.reproduce.tables import NO_DATA, duration, found_of, number, text_of

if TYPE_CHECKING:
    from twbn.reproduce.plan import Size
    from twbn.reproduce.store import Outcome, Store

__all__ = ["densities", "mixtures"]


def densities(store: Store, size: Size) -> tuple[str | Grid, ...]:
    """Return held-out likelihoods of networks by treewidth limit, and with chosen options."""
    shown = [k for k in size.density_bounds if k in {1, 2, 4, 8}]
    by_set: dict[str, dict[int, Outcome]] = {}
    tuned = {cell.data: outcome for cell, outcome in found_of(store, size, "tuned")}
    for cell, outcome in found_of(store, size, "density"):
        by_set.setdefault(cell.data, {})[cell.treewidth] = outcome
    rows = []
    for data, of_set in by_set.items():
        cells = [
            text_of(number(of_set[k].held_out, 4), [of_set[k]]) if k in of_set else NO_DATA
            for k in shown
        ]
        found = tuned.get(data)
        cells.append(NO_DATA if found is None else text_of(number(found.held_out, 4), [found]))
        cells.append(NO_DATA if found is None else text_of(found.note, [found]))
        rows.append((data, *cells))
    bounds = ("Chow–Liu tree" if k == 1 else f"limit {k}" for k in shown)
    head = ("data", *bounds, "chosen", "by validation rows")
    text = (
        "Mean log-likelihood of the test rows of density benchmarks. Structure and "
        "parameters from the training rows alone: BDeu (equivalent sample size 1, at most 3 "
        "parents), the tree by likelihood. Last: parent sets as large as the treewidth limit "
        "allows, with the limit, the equivalent sample size and the prior of the parameters that "
        "were best on the validation rows."
    )
    return (text, Grid(head, tuple(rows)))


def mixtures(store: Store, size: Size) -> tuple[str | Grid, ...]:
    """Return held-out likelihoods of mixtures beside one network and the best published."""
    single = {cell.data: outcome for cell, outcome in found_of(store, size, "tuned")}
    rows = []
    for cell, outcome in found_of(store, size, "mixtures"):
        one = single.get(cell.data)
        published, model = BEST_DENSITIES[cell.data]
        rows.append(
            (
                cell.data,
                NO_DATA if one is None else text_of(number(one.held_out, 4), [one]),
                text_of(number(outcome.held_out, 4), [outcome]),
                number(published, 2),
                model,
                text_of(outcome.note, [outcome]),
                duration(outcome.took or 0.0),
            )
        )
    head = ("data", "one network", "mixture", "published", "by", "chosen", "time")
    text = (
        "Mean log-likelihood of the test rows: one network and a mixture, each with options that "
        "were best on the validation rows, beside the best published for a tractable model. "
        "The time is that of all options, on one thread."
    )
    return (text, Grid(head, tuple(rows)))
