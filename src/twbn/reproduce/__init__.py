"""The paper's experiments, rerun: what to run, running it, and the page of the results."""

from twbn.reproduce.plan import PARTS, SIZES, Cell, Size, plan
from twbn.reproduce.reproduction import Reproduction, reproduce

__all__ = ["PARTS", "SIZES", "Cell", "Reproduction", "Size", "plan", "reproduce"]
