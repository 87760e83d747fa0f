"""A network proved optimal, and a page that shows it and answers questions."""

import twbn

table = twbn.datasets.load("wdbc").select(
    ["malignant", "mean_radius", "mean_texture", "mean_area", "mean_smoothness", "mean_concavity",
     "worst_radius", "worst_texture", "worst_area"]
)  # fmt: skip
result = twbn.learn(table, treewidth=2, method="exact", time_limit=60)
print(f"score {result.score:.4f}: {result.status}; treewidth {result.treewidth}")
for name, parents in result.parents.items():
    print(f"  {name} <- {', '.join(parents) or '(no parents)'}")

twbn.write_report(result, "report.html", data=table)
print("report.html has the network, the proof and a panel to ask it")
