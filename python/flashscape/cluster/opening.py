"""Clusters by the name of their scheduler, or by a file for a batch system."""

from __future__ import annotations

import asyncio
import logging
import re
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from flashscape.errors import ClusterError, ConfigError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from os import PathLike

    from flashscape.cluster.link import Link
    from flashscape.sweep.executor import Executor, Work
    from flashscape.sweep.store import Store

Where: TypeAlias = "Cluster | str | PathLike[str] | None"
"""An open cluster, the address of a scheduler, or a file for a batch system; None is here."""

NOT_INSTALLED = 'Dask is not installed; run: pip install "flashscape[cluster]"'

_ADDRESS = re.compile(r"(tcp|tls|ucx|wss?)://(\[[^\]]+\]|[^/:\[\]]+):[0-9]+")

_ANSWER_SECONDS = 5.0
"""Longest wait for a scheduler's answer."""

_WORKER_SECONDS = 30.0
"""Longest time that a scheduler may be without workers; those of a batch system may queue."""


class Cluster:
    """Workers of a Dask scheduler, for any number of sweeps; a context manager.

    ``where`` is an address such as ``tcp://HOST:8786``, or a file for a batch system
    (docs/cluster.md), whose jobs run until the cluster is closed. Raises ClusterError if the
    scheduler does not answer, has no workers, or has workers with another build of flashscape;
    ConfigError for a faulty file.

    >>> with fs.Cluster("tcp://10.0.0.1:8786") as cluster:         # doctest: +SKIP
    ...     fs.sweep_file("one.toml", out="one", cluster=cluster)
    ...     fs.sweep_file("two.toml", out="two", cluster=cluster)
    """

    def __init__(self, where: str | PathLike[str]) -> None:
        self._where = str(where)
        self._batch: Any = None
        self._jobs_slots = 0
        file = Path(where)
        is_address = _ADDRESS.fullmatch(self._where) is not None
        if not is_address and not file.is_file():
            raise ConfigError(
                f"cluster: {self._where}: is neither the address of a Dask scheduler, such as "
                "tcp://HOST:8786, nor a file"
            )
        self._refuse_without_dask()
        self._link = self._of_address() if is_address else self._of_file(file)

    def _refuse_without_dask(self) -> None:
        if not is_available():
            raise ClusterError(f"cluster: {NOT_INSTALLED}")

    def _of_address(self) -> Link:
        from flashscape.cluster.link import Link

        self._refuse_silence()
        link = Link(self._client(self._where), self._where, _WORKER_SECONDS)
        try:
            link.begin()
        except BaseException:
            link.client.close(timeout=1)
            raise
        return link

    def _of_file(self, file: Path) -> Link:
        from flashscape.cluster import batch
        from flashscape.cluster.link import Link

        jobs = batch.read(file)
        self._jobs_slots = jobs.workers * jobs.cores
        self._batch = batch.begin(jobs)
        try:
            return Link(self._client(self._batch), self._where, None)
        except BaseException:
            self._batch.close()
            raise

    def _client(self, at: Any) -> Any:
        """Connect to a scheduler; raise ClusterError if it does not answer."""
        from distributed import Client

        try:
            return Client(at, timeout=_ANSWER_SECONDS, set_as_default=False)
        except OSError as error:
            raise self._silent(error) from error

    def _refuse_silence(self) -> None:
        """Raise ClusterError if nothing at the address speaks as Dask does.

        A client of Dask alone would wait for ever for a program that says nothing.
        """
        from distributed.core import connect

        async def ask() -> None:
            comm = await connect(self._where, timeout=_ANSWER_SECONDS)
            await comm.close()

        def probe() -> None:
            asyncio.run(asyncio.wait_for(ask(), _ANSWER_SECONDS))

        try:
            # In a thread of its own, as notebooks have a running loop in this one.
            with ThreadPoolExecutor(1) as threads:
                threads.submit(probe).result()
        except (OSError, RuntimeError, ValueError, ImportError) as error:
            raise self._silent(error) from error

    def _silent(self, error: Exception) -> ClusterError:
        why = str(error).splitlines()[0] if str(error) else "no answer"
        return ClusterError(
            f"cluster: no Dask scheduler answers at {self._where} ({why}); is `dask scheduler` "
            "running there?"
        )

    def executor(self, jobs: int | None = None) -> Executor:
        """Return the executor of at most ``jobs`` tasks at a time (as many as workers run)."""
        return _Executor(self._link, self._jobs_slots, jobs)

    def close(self) -> None:
        """End idle processes, jobs of the batch system, and the connection."""
        with _silent_callbacks():
            # The scheduler may have gone before.
            with suppress(Exception):
                self._link.rest()
            with suppress(Exception):
                self._link.client.close(timeout=1)
        if self._batch is not None:
            self._batch.close()

    def __enter__(self) -> Cluster:
        return self

    def __exit__(self, *_raised: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<Cluster {self._where!r}: {self._link.slots} tasks at a time>"


@contextmanager
def _silent_callbacks() -> Iterator[None]:
    """Keep quiet about callbacks that fail because their connection is closed.

    Tornado logs them with a traceback. They come now and then if Ctrl-C ended the work.
    """
    log = logging.getLogger("tornado.application")
    before = log.level
    log.setLevel(logging.CRITICAL + 1)
    try:
        yield
    finally:
        log.setLevel(before)


class _Executor:
    """The workers of an open cluster, with a limit."""

    def __init__(self, link: Link, expected: int, limit: int | None) -> None:
        self._link = link
        self._limit = limit
        slots = max(link.slots, expected, 1)
        self.slots = slots if limit is None else min(slots, limit)

    def available_bytes(self, here: int | None) -> int | None:
        """Return None: each worker is given as many tasks as fit its own memory."""
        return None

    def free_bytes(self, store: Store) -> int | None:
        """Return the free bytes of the worker that has fewest."""
        return min((worker.free_bytes for worker in self._link.workers), default=None)

    def run(self, work: Work, jobs: int, before: Callable[[], None]) -> None:
        """Do all tasks; workers that come later get some, too."""
        from flashscape.cluster.dispatch import Dispatch

        Dispatch(self._link, work, self._limit).run(before)


@contextmanager
def opened(where: Where) -> Iterator[Cluster | None]:
    """Provide the cluster that ``where`` names, closed at the end unless it was open before."""
    if where is None or isinstance(where, Cluster):
        yield where
        return
    with Cluster(where) as cluster:
        yield cluster


def is_available() -> bool:
    """Return True if Dask is installed."""
    return find_spec("distributed") is not None
