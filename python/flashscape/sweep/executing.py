"""The choice of an executor: processes of this machine, or a cluster."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

from flashscape.sweep.pool import Local

if TYPE_CHECKING:
    from collections.abc import Iterator

    from flashscape.cluster import Where
    from flashscape.sweep.executor import Executor


@contextmanager
def executing(cluster: Where, jobs: int | None) -> Iterator[Executor]:
    """Provide the executor that ``cluster`` names; None is this machine.

    ``jobs`` limits the tasks that run at a time. A cluster that is already open stays open.
    Raises ClusterError, and ConfigError for a faulty name or file.
    """
    if cluster is None:
        yield Local(jobs)
        return
    from flashscape.cluster import opened

    with opened(cluster) as there:
        assert there is not None
        yield there.executor(jobs)
