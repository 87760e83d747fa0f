"""The built-in example: read wdbc, score its parent sets, look at what they say."""

import twbn

table = twbn.datasets.load("wdbc")
print(f"wdbc: {table.n_rows} rows, {table.n_variables} binary variables")

scores = twbn.compute_scores(table, score="bdeu", max_parents=3)
facts = scores.statistics()
print(
    f"scored {facts['n_scored']:,} parent sets in {facts['seconds']:.3f} s, "
    f"kept {facts['n_sets']:,} that no subset beats"
)
print(f"network without arcs: {facts['empty_network']:.2f}")

print("\nthe best parents of five variables:")
for v in range(5):
    score, parents = next(scores.sets(v))
    names = ", ".join(table.names[p] for p in parents)
    print(f"  {table.names[v]:18} {score:9.2f}   {names}")

order = range(table.n_variables)
dag = twbn.Dag(tuple(next(p for _, p in scores.sets(v) if all(q < v for q in p)) for v in order))
width = twbn.treewidth(dag.moral_graph())
print(
    f"\nbest parents among the variables before, in the order of the file: "
    f"score {scores.total(dag):.2f}, treewidth {width.upper}"
)
