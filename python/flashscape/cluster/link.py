"""The client's connection to a scheduler: which workers there are, and what each of them has."""

from __future__ import annotations

import time
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from flashscape.cluster import host, identity
from flashscape.errors import ClusterError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from pathlib import Path

    from distributed import Client

_LOOK_SECONDS = 0.5
"""Seconds between two questions for the workers."""

_RECONNECT_SECONDS = 15.0
"""Longest time without a connection to the scheduler."""


@dataclass(eq=False)
class Remote:
    """A worker that fits, as the client sees it."""

    address: str
    place: str
    """Directory of the worker: one that began anew at the same address has another."""
    slots: int
    """Tasks that it runs at a time: its threads."""
    memory_bytes: int | None
    """Its memory; None without a limit."""
    free_bytes: int
    """Free bytes of its disk."""
    blobs: set[str] = field(default_factory=set)
    """Files and drives that are there."""
    running: int = 0
    """Tasks that it has been given."""


class Link:
    """A connection to a scheduler."""

    def __init__(self, client: Client, name: str, patience: float | None) -> None:
        self.client = client
        self.name = name
        """Address or file, as the user gave it."""
        self.workers: list[Remote] = []
        self._refused: dict[tuple[str, str], str] = {}
        """Reason why workers are not used, by address and directory."""
        self._patience = patience
        """Seconds without any worker after which to give up; None waits for ever."""
        self._alone_since = time.monotonic()
        self._cut_off_since: float | None = None
        self._asked = float("-inf")

    @property
    def slots(self) -> int:
        """Tasks that all workers run at a time."""
        return sum(worker.slots for worker in self.workers)

    def begin(self) -> None:
        """Wait for the first worker; raise ClusterError if a worker does not fit."""
        while True:
            self.refresh()
            if self._refused:
                raise ClusterError(f"{self.name}: {self._refusals()}")
            if self.workers:
                return
            time.sleep(_LOOK_SECONDS / 5)

    def refresh(self) -> list[Remote]:
        """Greet new workers, and return those that are gone; raise ClusterError.

        The scheduler is asked at most twice a second.
        """
        now = time.monotonic()
        if now - self._asked < _LOOK_SECONDS:
            return []
        self._asked = now
        self._refuse_cut_off(now)
        there = self.client.scheduler_info(n_workers=-1).get("workers")
        if there is None:
            # The connection has just been lost.
            return []
        present = {(address, each["local_directory"]): each for address, each in there.items()}
        gone = [each for each in self.workers if (each.address, each.place) not in present]
        for each in gone:
            self.workers.remove(each)
        known = {(each.address, each.place) for each in self.workers}
        new = [key for key in present if key not in known and key not in self._refused]
        if new:
            self._greet({key: present[key] for key in new})
        if self.workers or gone:
            self._alone_since = now
        else:
            self._refuse_lonely(now - self._alone_since)
        return gone

    def forget(self, worker: Remote) -> None:
        """Greet a worker again before it gets another task."""
        with suppress(ValueError):
            self.workers.remove(worker)
        self._asked = float("-inf")

    def _refuse_cut_off(self, now: float) -> None:
        """Raise ClusterError if the scheduler has not answered for a while."""
        if self.client.status == "running":
            self._cut_off_since = None
            return
        self._cut_off_since = self._cut_off_since or now
        if self.client.status == "closed" or now - self._cut_off_since > _RECONNECT_SECONDS:
            raise ClusterError(f"{self.name}: the scheduler does not answer any more")

    def _refuse_lonely(self, seconds: float) -> None:
        """Raise ClusterError if there is no worker for so long, or only workers that do not fit."""
        if self._patience is None:
            # Jobs may wait for hours; one that has begun with another build is what they all are.
            if self._refused:
                raise ClusterError(f"{self.name}: {self._refusals()}")
        elif seconds > self._patience:
            why = self._refusals() or (
                f"the scheduler has no workers; start some: dask worker {self.name}"
            )
            raise ClusterError(f"{self.name}: {why}")

    def _refusals(self) -> str:
        """Say why workers are refused, each reason once."""
        of: dict[str, list[str]] = {}
        for (address, _), why in self._refused.items():
            of.setdefault(why, []).append(address)
        told = []
        for why, addresses in of.items():
            more = f" and {len(addresses) - 1} others" if len(addresses) > 1 else ""
            told.append(f"worker {addresses[0]}{more}: {why}")
        return "; ".join(told)

    def _greet(self, new: dict[tuple[str, str], Any]) -> None:
        """Use the new workers that have this build, and refuse the others."""
        answers = self._call([address for address, _ in new], eval, identity.ASK)
        fitting = {}
        for key, each in new.items():
            if (why := _why_refused(answers.get(key[0]))) is None:
                fitting[key] = each
            elif why:
                self._refused[key] = why
        greetings = self._call([address for address, _ in fitting], host.greet)
        for (address, place), each in fitting.items():
            if isinstance(greeting := greetings.get(address), dict):
                limit = each["memory_limit"] or None
                remote = Remote(address, place, each["nthreads"], limit, greeting["free_bytes"])
                remote.blobs.update(greeting["has"])
                self.workers.append(remote)

    def _call(
        self, addresses: Sequence[str], function: Callable[..., Any], *arguments: Any
    ) -> dict[str, Any]:
        """Call a function on workers; return each one's answer or exception."""
        if not addresses:
            return {}
        try:
            return dict(
                self.client.run(function, *arguments, workers=list(addresses), on_error="return")
            )
        except (OSError, ValueError, KeyError):
            # A worker has gone at this moment.
            return {}

    def send(self, worker: Remote, blob: str, file: Path) -> bool:
        """Send a file to a worker, in pieces; return False if the worker is gone.

        Raises OSError if the file cannot be read, or has changed.
        """
        digest: Any = None
        with file.open("rb") as opened:
            size = file.stat().st_size
            while digest is None or opened.tell() < size:
                offset = opened.tell()
                piece = opened.read(host.PIECE_BYTES)
                is_last = not piece or opened.tell() >= size
                answers = self._call([worker.address], host.receive, blob, offset, piece, is_last)
                digest = answers.get(worker.address)
                if not isinstance(digest, str):
                    return False
                if is_last:
                    break
        if digest != blob:
            raise OSError("has changed since the sweep began; start it again")
        worker.blobs.add(blob)
        return True

    def drop(self, blobs: Sequence[str]) -> None:
        """Delete drives on all workers that have them."""
        having = [each for each in self.workers if each.blobs.intersection(blobs)]
        for each in having:
            each.blobs.difference_update(blobs)
        self._call([each.address for each in having], host.drop, list(blobs))

    def rest(self) -> None:
        """End idle processes of all workers."""
        self._call([each.address for each in self.workers], host.rest)

    def holders(self, blob: str) -> Iterable[str]:
        """Return the addresses of the workers that have a blob."""
        return [each.address for each in self.workers if blob in each.blobs]


def _why_refused(answer: Any) -> str | None:
    """Say why a worker is not used; None if it fits, empty if it is gone."""
    ours = identity.of_this_process()
    if answer == ours:
        return None
    if isinstance(answer, dict):
        return (
            f"has {identity.described(answer)}, and this is {identity.described(ours)}; results "
            "would differ: install the same on both"
        )
    if isinstance(answer, ImportError):
        return (
            f"cannot import flashscape.cluster ({answer}); install {identity.described(ours)} there"
        )
    return ""
