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
    def log_requests(self, path: Path) -> None:
        """Write every counted request to a Parquet file from now on; raise OSError."""
    def end_log(self, about: list[tuple[str, str]]) -> None:
        """End the file of requests, with keys and values about the run; raise OSError."""
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
