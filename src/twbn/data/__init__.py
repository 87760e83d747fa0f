"""Tables: coded columns from any source."""

from twbn.data import datasets
from twbn.data.coding import Bins, Categories
from twbn.data.discretize import Discretize
from twbn.data.frames import as_table
from twbn.data.read import read_table
from twbn.data.table import Table

__all__ = ["Bins", "Categories", "Discretize", "Table", "as_table", "datasets", "read_table"]
