"""Readers of table files."""

from twbn.data.read.options import ReadOptions
from twbn.data.read.table_file import delimiter_of, read_columns, read_table

__all__ = ["ReadOptions", "delimiter_of", "read_columns", "read_table"]
