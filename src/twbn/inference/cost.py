"""What an answer takes, known before it is computed."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["QueryCost"]


@dataclass(frozen=True)
class QueryCost:
    """What the answer to one question takes.

    Attributes
    ----------
    relevant
        The variables whose tables have a part in the answer: the ancestors of targets and evidence,
        less what the evidence separates from the targets.
    width
        Variables of the largest product, less one.
    n_entries
        Entries of all products that are formed.
    n_bytes
        Memory for the messages that are held at a time.
    conditioned, n_passes
        The variables conditioned on to keep within memory, and the number of their joint states.
    seconds
        The time predicted.
    """

    relevant: tuple[str, ...]
    width: int
    n_entries: float
    n_bytes: int
    conditioned: tuple[str, ...]
    n_passes: int
    seconds: float

    def __str__(self) -> str:
        """Return the cost in one sentence."""
        n, mib = len(self.relevant), self.n_bytes / 2**20
        memory = f"{mib:,.1f} MiB" if mib >= 1 else f"{self.n_bytes:,} bytes"
        time = f"about {self.seconds:,.3g} s" if self.seconds >= 1e-3 else "less than a millisecond"
        text = (
            f"{n} relevant variable{'s' * (n != 1)}, width {self.width}, {self.n_entries:,.0f} "
            f"entries, {memory}, {time}"
        )
        if self.conditioned:
            text += (
                f"; {self.n_passes:,} passes, one for each state of {', '.join(self.conditioned)}"
            )
        return text
