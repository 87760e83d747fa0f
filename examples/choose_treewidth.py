"""What a treewidth bound costs in score, and what it buys in likelihood and cost of inference."""

import numpy as np

import twbn

table = twbn.datasets.load("wdbc")
rows = np.random.default_rng(0).permutation(table.n_rows)
train, test = table.take(rows[:400]), table.take(rows[400:])
scores = twbn.compute_scores(train)

print("bound     score  nothing above  held out  numbers a query")
result = None
for bound in (1, 2, 3, 4, 6, 8):
    # What is within a bound is within a larger one: each search goes on from the last network.
    result = twbn.learn(scores, treewidth=bound, time_limit=1, start=result)
    network = twbn.fit(result, train)
    held_out = network.log_likelihood(test).mean()
    numbers = twbn.Inference(network).tree.n_entries
    print(f"{bound:5}{result.score:10.1f}{result.bound:15.1f}{held_out:10.3f}{numbers:17}")
