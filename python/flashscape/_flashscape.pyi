"""The compiled part of flashscape; use the names that ``flashscape`` itself exports."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Literal, Self, final

from typing_extensions import disjoint_base

__all__ = [
    "Completion",
    "Drive",
    "Plan",
    "Session",
    "Table",
    "__version__",
    "presets",
    "schema",
    "states",
    "trace_convert",
    "trace_description_version",
    "trace_formats",
    "trace_imitate",
    "trace_info",
]

__version__: str

_Kind = Literal["read", "write", "trim", "flush", "write_zeroes"]
_Priority = Literal["high", "normal", "low"]

def presets() -> list[tuple[str, str, str]]:
    """Name, one-line description and TOML text of every preset."""

def schema() -> str:
    """Return the JSON Schema of an experiment, as JSON text."""

def states() -> list[tuple[str, str]]:
    """Name and meaning of every state that time is charged to."""

def trace_formats() -> list[tuple[str, str, bool, bool]]:
    """Name and title of every format of traces, whether it is read and whether written."""

def trace_info(
    path: Path,
    *,
    format: str | None = None,
    memory_bytes: int,
    ongoing: Callable[[int, float], object] | None = None,
) -> tuple[str, str, str]:
    """Facts of the file, statistics and what a stand-in is made from, as JSON texts."""

def trace_description_version() -> int:
    """Return the version of descriptions of traces."""

def trace_convert(
    input: Path,
    output: Path,
    to: str,
    *,
    format: str | None = None,
    drop: Sequence[str] = ...,
    round: bool = False,
    sort: bool = False,
    devices: Sequence[int] | None = None,
    start_ns: int | None = None,
    end_ns: int | None = None,
    time_scale: float | None = None,
    rebase: bool = False,
    force: bool = False,
    ongoing: Callable[[int, float], object] | None = None,
) -> str:
    """Write a trace in another format; return what became of it as JSON text."""

def trace_imitate(
    description: str,
    output: Path,
    to: str,
    *,
    file: Path,
    requests: int | None = None,
    span_bytes: int | None = None,
    seed: int = 0,
    drop: Sequence[str] = ...,
    force: bool = False,
    ongoing: Callable[[int, float], object] | None = None,
) -> str:
    """Write a stand-in after a description; return what became of it as JSON text."""

@final
class Plan:
    """A checked configuration; it never changes and may run in several threads at once."""

    @staticmethod
    def load(
        text: str,
        *,
        file: str,
        is_json: bool = False,
        overrides: Sequence[tuple[str, str, bool]] = ...,
        folder: str | None = None,
    ) -> Plan:
        """Read an experiment; raise ConfigError with all of its faults.

        ``file`` is what faults call it; trace files are looked for in ``folder``. An
        override is a path and a value: as on a command line, or (True) JSON text.
        """
    def resolved(self) -> str:
        """The configuration with presets, overrides and defaults in place, as JSON text."""
    def derived(self) -> str:
        """What follows from the configuration, as JSON text."""
    def traces(self, whole_below: int | None = None) -> list[str]:
        """What is understood of each trace; raise TraceError or ConfigError.

        Of a file of more than ``whole_below`` bytes only the first rows are read.
        """

@final
class Session:
    """One run of a plan."""

    def __new__(cls, plan: Plan) -> Session:
        """Read the traces of the plan once; raise TraceError or ConfigError."""
    def surveys(self) -> list[str | None]:
        """What was understood of each workload's trace; None for one without."""
    def precondition(self, ongoing: Callable[[float], object] | None = None) -> None:
        """Fill and age the drive; ``ongoing`` is told the share done and may raise."""
    def advance(self, events: int) -> bool:
        """Go on for about so many events; True where there is more to do."""
    def progress(self) -> tuple[int, int, float | None]:
        """Simulated nanoseconds, requests issued, and the share done where known."""
    def summary(self, host_cpu_seconds: float, complete: bool) -> str:
        """End measuring; the contents of ``summary.json``."""
    def tables(self) -> list[Table]:
        """The tables of a run whose measuring has ended."""

@final
class Table:
    """Columns that any library with Arrow's PyCapsule interface takes without a copy."""

    @property
    def name(self) -> str:
        """Its name, which is also its file's."""
    def __len__(self) -> int: ...
    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any: ...

@disjoint_base
class Drive:
    """A preconditioned drive that goes only as far as it is told."""

    def __new__(cls, plan: Plan) -> Self:
        """Assemble and precondition the drive of a plan."""
    def submit(
        self,
        kind: _Kind,
        offset: int = 0,
        length: int = 0,
        at_ns: int | None = None,
        priority: _Priority = "normal",
    ) -> int:
        """Hand a request to the drive at ``at_ns``, or now; return its id."""
    def next_event_ns(self) -> int | None:
        """When the drive next has something to do; None where nothing is due."""
    def advance(self, until_ns: int) -> list[Completion]:
        """Let time pass up to and including ``until_ns``; return what has completed."""
    def audit(self) -> None:
        """Prove the map and what was read; raise SimulatorError."""
    @property
    def capacity_bytes(self) -> int:
        """Bytes that the host sees."""
    @property
    def now_ns(self) -> int:
        """The moment that the drive has reached."""
    @property
    def outstanding(self) -> int:
        """Requests submitted and not completed."""
    @property
    def digest(self) -> str:
        """A hash of every completion so far: equal digests, equal histories."""

@final
class Completion:
    """A request that has completed."""

    @property
    def id(self) -> int:
        """What ``submit`` returned."""
    @property
    def kind(self) -> _Kind:
        """What was asked."""
    @property
    def offset(self) -> int:
        """First byte; 0 for a flush."""
    @property
    def length(self) -> int:
        """Bytes; 0 for a flush."""
    @property
    def arrived_ns(self) -> int:
        """When it was submitted."""
    @property
    def finished_ns(self) -> int:
        """When its answer reached the host."""
    @property
    def latency_ns(self) -> int:
        """From one to the other."""
    @property
    def unmapped(self) -> int:
        """Mapping units read that were never written."""
    @property
    def blame(self) -> dict[str, int]:
        """Nanoseconds by state; they sum to the latency."""
