"""A drive that is advanced step by step, for embedding in other simulators."""

from __future__ import annotations

import json
from os import PathLike
from typing import TYPE_CHECKING, Any

from flashscape import _flashscape
from flashscape.arguments import checks_arguments
from flashscape.experiment import Experiment
from flashscape.snapshot import Snapshot

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Self


class Drive(_flashscape.Drive):
    """A drive that advances only as far as the caller asks; times are in nanoseconds.

    ``drive`` is the name of a preset, a table as under ``[drive]``, or an
    experiment (or the path of its file, ``.toml`` or ``.json``), whose drive,
    preconditioning, seed, audit and starvation are used. With ``snapshot``
    (a Snapshot or a file's path) the drive starts from it instead of being preconditioned.
    ``starvation`` is a table as under ``[run.starvation]``. If it does not only report starvation,
    ``advance`` and ``submit`` raise StarvationError when a request starves, once for each request.
    A ``submit`` that raises it has not submitted its request. The drive can continue afterwards.
    Requests have offsets and lengths that are multiples of 512 B, the host's sector.
    Raises ConfigError, SnapshotError and SpaceError. Any number of drives may exist in
    a process, each used by one thread at a time.

    >>> drive = Drive({"preset": "dc-tlc"})                 # doctest: +SKIP
    >>> drive.submit("read", offset=0, length=4096)         # doctest: +SKIP
    >>> while (due := drive.next_event_ns()) is not None:   # doctest: +SKIP
    ...     for done in drive.advance(due):
    ...         print(done.latency_ns, done.blame)
    """

    @checks_arguments
    def __new__(
        cls,
        drive: str | PathLike[str] | Mapping[str, Any] | Experiment,
        *,
        precondition: Mapping[str, Any] | None = None,
        seed: int | None = None,
        audit: bool | None = None,
        starvation: Mapping[str, Any] | None = None,
        snapshot: Snapshot | str | PathLike[str] | None = None,
    ) -> Self:
        """Assemble and precondition the drive."""
        if precondition is not None and snapshot is not None:
            raise TypeError("the drive of a snapshot is filled and aged: give no precondition")
        if isinstance(drive, PathLike) or (isinstance(drive, str) and _is_file(drive)):
            drive = Experiment.from_file(drive, snapshot_given=snapshot is not None)
        if not isinstance(drive, Experiment):
            table = _experiment(drive, precondition or {}, 1 if seed is None else seed, bool(audit))
            if starvation is not None:
                table["run"]["starvation"] = dict(starvation)
            drive = Experiment.from_dict(table, snapshot_given=snapshot is not None)
        elif any(given is not None for given in (precondition, seed, audit, starvation)):
            message = (
                "precondition, seed, audit and starvation of this drive are those of its experiment"
            )
            raise TypeError(message)
        start = None
        if snapshot is not None:
            drive.refuse_preconditioning()
            start = Snapshot.of(snapshot).inner
        return super().__new__(cls, drive.plan, start)

    def clone(self) -> Self:
        """Return an independent copy of the drive in the same state, with outstanding requests."""
        return super().__new__(type(self), self)

    def starvation(self) -> dict[str, Any] | None:  # type: ignore[override]
        """Return the requests that starved; None without a table ``starvation``.

        The keys are those of ``starvation`` in a summary (docs/results.md).
        """
        found = super().starvation()
        return None if found is None else dict(json.loads(found))

    @checks_arguments
    def power_cut(self, at_ns: int | None = None) -> dict[str, Any]:  # type: ignore[override]
        """Cut the power at ``at_ns``, or now, after the events due then; return the consequences.

        The drive needs a table ``recovery``. When this method returns, the drive has recovered, and
        its time is the cut's plus ``duration_ns``. The keys of the result are those of each of
        ``cuts`` in ``recovery`` of a summary (docs/results.md): lost and undone data, data that was
        read, and durations. ``lost_ids`` are the ids from ``submit`` of outstanding requests, which
        never complete. The next ``advance`` returns the requests that completed before the cut.
        Raises ConfigError for a drive that cannot recover and for a time in the past, and
        SimulatorError if the audit is on and finds that data was lost that the drive must keep.
        """
        return dict(json.loads(super().power_cut(at_ns)))

    @checks_arguments
    def window(  # type: ignore[override]
        self, nvm_set: int = 1, *, clear: bool = False
    ) -> dict[str, Any]:
        """Return the window of an NVM set, its estimates, counts and events.

        ``window`` is ``"dtwin"`` or ``"ndwin"``. In a deterministic window ``estimates`` has what
        the set still guarantees: ``reads`` (None for any number), ``writes`` (in Optimal Write
        Size, which one program writes) and ``time_ns``. ``pending`` has the events since they were
        last cleared: ``reads_warning``, ``writes_warning`` and ``time_warning`` (an estimate has
        fallen to its threshold), ``typical_or_maximum_exceeded`` and ``excursion`` (the window has
        ended by itself). They stay until they are read with ``clear``, which changes nothing else.
        The other keys are those of ``windows`` in a summary (docs/results.md). Raises ConfigError
        for a drive without ``ftl.windows``.
        """
        return dict(json.loads(super().window(nvm_set, clear=clear)))

    def snapshot(self) -> Snapshot:  # type: ignore[override]
        """Return the snapshot that shutting the drive down now would give; the drive goes on.

        Raises SnapshotError while requests are under way.
        """
        return Snapshot(super().snapshot())


def _is_file(name: str) -> bool:
    return name.endswith((".toml", ".json"))


def _experiment(
    drive: str | Mapping[str, Any], precondition: Mapping[str, Any], seed: int, audit: bool
) -> dict[str, Any]:
    # An experiment needs a workload; this one is never run.
    workload: dict[str, Any] = {"name": "stepwise", "reads": "100 %", "stop": {"requests": 1}}
    table: dict[str, Any] = {"preset": drive} if isinstance(drive, str) else dict(drive)
    firmware = table.get("ftl")
    if isinstance(firmware, dict) and firmware.get("sets") is not None:
        workload["nvm_set"] = 1
    return {
        "seed": seed,
        "drive": table,
        "precondition": dict(precondition),
        "workload": [workload],
        "run": {"audit": audit},
    }
