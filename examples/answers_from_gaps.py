"""Rows with gaps in, answers out: structural EM, exact posteriors, filled cells."""

import numpy as np

import twbn

table = twbn.datasets.load("wdbc").select(
    ["malignant", "mean_radius", "mean_texture", "mean_concavity", "worst_radius", "worst_texture"]
)
codes = table.codes.copy()
codes[np.random.default_rng(0).random(codes.shape) < 0.2] = -1
gaps = twbn.Table(table.names, table.codings, codes)
print(f"{gaps.n_rows} rows, {int(gaps.n_missing.sum())} of {codes.size} cells missing")

found = twbn.learn_incomplete(gaps, treewidth=2, max_iterations=20_000, max_rounds=3)
engine = twbn.Inference(found.network)
print(f"learned {found.network}; a query touches {engine.tree.n_entries} numbers")

posterior = engine.query(["malignant"], {"worst_radius": 1, "mean_texture": 0}).to_dict()
print(f"P(malignant | large worst radius, smooth texture) = {posterior[1]:.3f}")

filled = engine.impute(gaps)
hidden = codes < 0
right = float((filled.codes[hidden] == table.codes[hidden]).mean())
guess = np.where(table.codes.mean(axis=0) > 0.5, 1, 0)
plain = float((np.broadcast_to(guess, codes.shape)[hidden] == table.codes[hidden]).mean())
print(
    f"{right:.0%} of the hidden cells are filled in as they were; the commonest value: {plain:.0%}"
)
