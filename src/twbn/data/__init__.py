"""Tables: coded columns from any source."""

from twbn.data import datasets
from twbn.data.convert import as_table, read_table
from twbn.data.discretize import Bins, Categories, Discretize
from twbn.data.table import Table

__all__ = ["Bins", "Categories", "Discretize", "Table", "as_table", "datasets", "read_table"]
