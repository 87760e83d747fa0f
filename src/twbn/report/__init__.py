"""Presentation of results: pages, drawings, plots."""

from twbn.report.charts import plot_sensitivity, plot_trace, plot_treewidth
from twbn.report.comparison_page import comparison_page, write_comparison
from twbn.report.network_page import network_page, write_report

__all__ = [
    "comparison_page",
    "network_page",
    "plot_sensitivity",
    "plot_trace",
    "plot_treewidth",
    "write_comparison",
    "write_report",
]
