"""Work on a cluster that the user has set up through joblib (Dask, Ray)."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

__all__ = ["Cluster", "active_cluster"]

#: joblib's local backends. Threads in the compiled core are faster than any of them.
_LOCAL = {"LokyBackend", "MultiprocessingBackend", "ThreadingBackend", "SequentialBackend"}


@dataclass(frozen=True)
class Cluster:
    """The workers of a joblib backend."""

    n_workers: int

    def map(self, function: Callable[..., Any], jobs: Iterable[Sequence[Any]]) -> list[Any]:
        """Return ``function(*job)`` for every job, in the order of the jobs."""
        joblib = sys.modules["joblib"]
        results = joblib.Parallel()(joblib.delayed(function)(*job) for job in jobs)
        return list(results)


def active_cluster() -> Cluster | None:
    """Return the cluster of ``with joblib.parallel_config(backend=...)``; None on one machine.

    This does not import joblib: if the caller has not imported it, no cluster is configured.
    """
    joblib = sys.modules.get("joblib")
    if joblib is None:
        return None
    backend, n_jobs = joblib.parallel.get_active_backend()
    if type(backend).__name__ in _LOCAL:
        return None
    n_workers = joblib.effective_n_jobs(-1 if n_jobs is None else n_jobs)
    return Cluster(max(int(n_workers), 1))
