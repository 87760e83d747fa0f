"""Questions about many rows at once."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from twbn.frame_out import frame_of, kind_of, unused
from twbn.inference.fill import fill
from twbn.inference.row_answers import answer_rows
from twbn.inference.rows import complete, joint_rows, predict_proba, refuse_contradiction
from twbn.views import Viewed

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from twbn.data.table import Table
    from twbn.deadline import Deadline
    from twbn.inference.query import Inference
    from twbn.network.network import Network

__all__ = ["RowQuestions"]


class RowQuestions(Viewed):
    """The part of `Inference` that answers for tables of rows."""

    network: Network

    def log_codes(self, rows: NDArray[np.int32]) -> NDArray[np.float64]:
        """Return the log-probability of rows of codes; negative codes are summed out."""
        return self.answer_rows(rows, None)[1]

    def answer_rows(
        self, rows: NDArray[np.int32], target: int | None
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return the posterior of a target for each row of codes, and logarithms.

        Without a target, these are the log-probabilities of the rows. With one, whose own cells are
        ignored, they are minus infinity where the other cells of a row are impossible.
        """
        return answer_rows(self._engine, rows, target)

    def joint_rows(
        self, table: Table, rng: np.random.Generator | None, deadline: Deadline | None = None
    ) -> NDArray[np.int32]:
        """Return codes of all variables for every row: the most probable, or drawn with `rng`."""
        return joint_rows(self._engine, table, rng, deadline)

    def predict_proba(
        self, data: Any, variable: str, *, unknown: str = "missing", do: Any = None
    ) -> NDArray[np.float64]:
        """Return the posterior of one variable in every row, given the row's other cells.

        A state that the network does not have is taken as ``"missing"``, with one warning that
        names it, or is an ``"error"``. With `do`, variables are set in every row; their cells in
        the data must be missing or the same.
        """
        engine = self._engine
        if do is not None:
            data = self.network.encode(data, target=variable, unknown=unknown)
            refuse_contradiction(self.network, data, do)
            engine = engine.under(do)
        return predict_proba(engine, data, variable, unknown=unknown)

    def predict(
        self,
        data: Any,
        variable: str,
        *,
        unknown: str = "missing",
        do: Any = None,
        kind: str | None = None,
    ) -> Any:
        """Return a frame with the most probable state of a variable in every row, and all of them.

        The columns are the variable, with its most probable state, and ``P(state)`` for each state;
        see `predict_proba`. The frame is one of the library that `data` is of, or of `kind`:
        ``"pandas"``, ``"polars"`` or ``"pyarrow"``; that of pandas has the index of the data.
        """
        values = self.predict_proba(data, variable, unknown=unknown, do=do)
        states = self.network.states[self.network.index(variable)]
        columns: dict[str, list[Any]] = {variable: [states[i] for i in values.argmax(axis=1)]}
        for i, state in enumerate(states):
            columns[unused(f"P({state})", columns)] = values[:, i].tolist()
        return frame_of(columns, kind_of(data) if kind is None else kind, like=data)

    def impute(self, data: Any, *, how: str = "mean", seed: int = 0) -> Any:
        """Return data with the missing cells of each row filled in, all others as they are.

        Parameters
        ----------
        data
            A frame, a matrix, a dict of columns or a `Table`; what comes in comes out.
        how
            ``"mean"``: for a number that was cut into intervals its posterior mean, for any other
            cell its most probable state given the row. ``"mode"``: the jointly most probable states
            of the row. ``"draw"``: drawn from the posterior. A `Table` holds no numbers, so there
            ``"mean"`` is ``"mode"``. A number is represented by the mean of its interval.
        seed
            Seed of ``"draw"``.
        """
        return fill(self._engine, data, how=how, seed=seed)

    def complete(self, data: Any, *, seed: int = 0) -> Table:
        """Return the table with the missing cells of each row drawn from their posterior."""
        return complete(self._engine, data, seed=seed)

    def score_samples(self, data: Any) -> NDArray[np.float64]:
        """Return the log-probability of every row's known cells."""
        return self.log_codes(self.network.encode(data).codes)

    @property
    def _engine(self) -> Inference:
        return cast("Inference", self)
