"""The built-in example: learn a structure of treewidth 4 from wdbc, and check the proof."""

import twbn

table = twbn.datasets.load("wdbc")
print(f"wdbc: {table.n_rows} rows, {table.n_variables} binary variables")

scores = twbn.compute_scores(table, score="bdeu", max_parents=3)
facts = scores.statistics()
print(
    f"scored {facts['n_scored']:,} parent sets in {facts['seconds']:.3f} s, "
    f"kept {facts['n_sets']:,} that no subset beats"
)
print(f"structure without arcs: {facts['empty_network']:.2f}")

tree = twbn.learn(scores, treewidth=1, method="tree")
print(f"best tree:              {tree.score:.2f}  ({tree.status})")

print("\nsampling k-trees of treewidth 4 for 2 seconds, as in the paper")
sampled = twbn.learn(scores, treewidth=4, method="sample", time_limit=2, n_jobs=-1)
print(f"best of {sampled.n_iterations:,} k-trees: {sampled.score:.2f}")
better = twbn.polish(sampled, scores)
print(f"the best structure inside its k-tree: {better.score:.2f}")

print("\nannealing beside an upper bound for 4 seconds")
best = twbn.learn(scores, treewidth=4, time_limit=4, n_jobs=-1)
print(
    f"best of {best.n_iterations:,} changes: {best.score:.2f}, no structure above {best.bound:.2f}"
)

best.decomposition.check(best.dag.moral_graph())
print(
    f"\ntreewidth {best.treewidth}, proved by {len(best.decomposition.bags)} bags; "
    f"{len(best.dag.arcs)} arcs; at most {best.gap_percent:.1f} % below the best possible"
)
for name in ("malignant", "mean_radius", "worst_area"):
    print(f"  {name} <- {', '.join(best.parents[name]) or '(no parents)'}")
