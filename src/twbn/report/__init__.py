"""Presentation of results: pages, drawings, plots."""

from twbn.report.charts import plot_sensitivity, plot_trace, plot_treewidth
from twbn.report.network_page import network_page, write_report

__all__ = ["network_page", "plot_sensitivity", "plot_trace", "plot_treewidth", "write_report"]
