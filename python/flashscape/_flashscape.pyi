"""The compiled part of flashscape; use the names that ``flashscape`` itself exports."""

from collections.abc import Callable, Sequence
from os import PathLike
from pathlib import Path
from typing import Any, Literal, Self, final

from typing_extensions import disjoint_base

__all__ = [
    "Act",
    "ArrayView",
    "Asked",
    "Candidates",
    "CommandEnd",
    "Completion",
    "Drive",
    "HostRequest",
    "Meeting",
    "Plan",
    "Session",
    "Snapshot",
    "Table",
    "WindowEstimates",
    "Written",
    "__version__",
    "current_path",
    "presets",
    "schema",
    "size_bytes",
    "snapshot_header",
    "snapshot_origin",
    "states",
    "student_cdf",
    "student_quantile",
    "time_ns",
    "toml",
    "trace_convert",
    "trace_description_version",
    "trace_formats",
    "trace_imitate",
    "trace_info",
]

__version__: str

_Kind = Literal["read", "write", "trim", "flush", "write_zeroes"]
_Priority = Literal["high", "normal", "low"]

def presets() -> list[tuple[str, int, str, str]]:
    """Name, version, one-line description and TOML text of every preset."""

def schema() -> str:
    """Return the JSON Schema of an experiment, as JSON text."""

def current_path(path: str) -> str:
    """Return the path of an experiment with the current names of its keys."""

def size_bytes(text: str) -> int:
    """Return the bytes of a size as configurations write it; raise ValueError."""

def time_ns(text: str) -> int:
    """Return the nanoseconds of a time as configurations write it; raise ValueError."""

def states() -> list[tuple[str, str]]:
    """Name and meaning of every state that time is charged to."""

def student_cdf(t: float, freedom: int) -> float:
    """Return the probability that Student's t is at most ``t``; raise ValueError."""

def student_quantile(probability: float, freedom: int) -> float:
    """Return the value that Student's t does not exceed with a probability of 0.5 or more."""

def toml(text: str, file: str) -> tuple[str, list[tuple[str, int]]]:
    """Convert TOML text to JSON text, and return the line of each path in it.

    ``file`` is its name in error messages; raise ConfigError with all faults.
    """

def trace_formats() -> list[tuple[str, str, bool]]:
    """Name and title of every format of traces, and whether it can be written."""

def trace_info(
    path: Path,
    *,
    format: str | None = None,
    reading: str = "{}",
    memory_bytes: int,
    ongoing: Callable[[int, float], object] | None = None,
) -> tuple[str, str, str]:
    """Facts of the file, statistics and the model for a synthetic trace, as JSON texts."""

def trace_description_version() -> int:
    """Return the version of descriptions of traces."""

def trace_convert(
    input: Path,
    output: Path,
    to: str,
    *,
    format: str | None = None,
    reading: str = "{}",
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
    """Write a trace in another format; return the result as JSON text."""

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
    """Write a synthetic trace from a description; return the result as JSON text."""

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
        policies: Sequence[tuple[str, Callable[..., Any]]] = ...,
        snapshot_given: bool = False,
    ) -> Plan:
        """Read an experiment; raise ConfigError with all of its faults.

        ``file`` is its name in error messages. Trace files are searched in ``folder``, and
        so are policies in Python, unless ``policies`` has a callable for their path. An
        override is a path, a value, and a flag: the value is JSON text if the flag is true,
        else as on a command line.
        """
    def resolved(self) -> str:
        """The configuration with presets, overrides and defaults applied, as JSON text."""
    def derived(self) -> str:
        """Values derived from the configuration, as JSON text."""
    def preparation(self) -> str | None:
        """All values on which filling and ageing the drive depend, as JSON text.

        Plans with equal values fill and age it alike, to the last bit. None if the drive is
        neither filled nor aged.
        """
    def check_snapshot(self) -> None:
        """Raise SnapshotError or ConfigError if the snapshot that is named cannot be used."""
    def traces(self, whole_below: int | None = None) -> list[str]:
        """Summary of each trace; raise TraceError or ConfigError.

        Of a file of more than ``whole_below`` bytes only the first rows are read.
        """

@final
class Candidates:
    """The blocks of one bin, by their places in it, among which garbage collection chooses."""

    @property
    def valid(self) -> memoryview[int]:
        """Valid units of each block; -1 for one that may not be chosen."""
    @property
    def live(self) -> memoryview[int]:
        """The former name of ``valid``."""
    @property
    def age(self) -> memoryview[int]:
        """Units that hosts wrote to the drive since each block was closed."""
    @property
    def gaining(self) -> list[int]:
        """The places of the blocks that may be chosen and gain space; at least one."""
    @property
    def units_per_block(self) -> int:
        """Mapping units in a block."""
    @property
    def most_valid(self) -> int:
        """Most valid units at which collecting a block still gains space."""
    @property
    def most_live(self) -> int:
        """The former name of ``most_valid``."""
    @property
    def random(self) -> int:
        """A random number of 64 bits, new in each call, the same in each run."""
    def __len__(self) -> int:
        """Blocks in the bin."""

@final
class Written:
    """The blocks of one bin, by their places in it, among which scrubbing chooses."""

    @property
    def valid(self) -> memoryview[int]:
        """Valid units of each block; -1 for one that may not be chosen."""
    @property
    def live(self) -> memoryview[int]:
        """The former name of ``valid``."""
    @property
    def age(self) -> memoryview[int]:
        """Units that hosts wrote to the drive since each block was closed."""
    @property
    def sensed(self) -> memoryview[int]:
        """Rows sensed in each block since its last erase, by any operation."""
    @property
    def erases(self) -> memoryview[int]:
        """Erases of each block."""
    @property
    def expected_errors(self) -> memoryview[float]:
        """Expected errors of a codeword in the worst erase block of each; empty without errors."""
    @property
    def re_reads(self) -> memoryview[int]:
        """Re-reads of each block since its last erase; empty without errors."""
    @property
    def data_age(self) -> memoryview[int]:
        """Nanoseconds since the first program of each block; empty without errors."""
    @property
    def fitting(self) -> list[int]:
        """The places of the blocks that may be chosen; there may be none."""
    @property
    def units_per_block(self) -> int:
        """Mapping units in a block."""
    @property
    def units_per_page(self) -> float:
        """Mapping units in a page; below 1 if they are larger."""
    def __len__(self) -> int:
        """Blocks in the bin."""

@final
class ArrayView:
    """The part of an array that a plan sees."""

    @property
    def now_ns(self) -> int:
        """Present time in nanoseconds."""
    @property
    def members(self) -> int:
        """Number of members."""
    @property
    def bytes(self) -> int:
        """Bytes of the namespace."""
    @property
    def under_way(self) -> list[int]:
        """Commands under way at each member."""
    @property
    def windows(self) -> list[WindowEstimates | None] | None:
        """What each member guarantees for the rest of its deterministic window.

        None for a member in its non-deterministic window; None in all if drives have no windows.
        """
    @property
    def window_events(self) -> list[list[str]] | None:
        """Events of each member's windows since the plan was last told of something.

        The names are those of ``pending`` in ``Drive.window``. None if drives have no windows.
        """

@final
class WindowEstimates:
    """What an NVM set guarantees for the rest of its deterministic window."""

    @property
    def reads(self) -> int | None:
        """Reads of 4 KiB; None for any number."""
    @property
    def writes(self) -> int:
        """Writes, in Optimal Write Size: what one program writes."""
    @property
    def time_ns(self) -> int:
        """Time in nanoseconds."""

@final
class HostRequest:
    """A request of the host to an array. Two are equal if they are the same request."""

    @property
    def number(self) -> int:
        """Number of the request, which no other has."""
    @property
    def kind(self) -> str:
        """Kind: ``read``, ``write``, ``trim``, ``flush`` or ``write_zeroes``."""
    @property
    def offset(self) -> int:
        """First byte."""
    @property
    def bytes(self) -> int:
        """Number of bytes."""
    def __eq__(self, other: object, /) -> bool: ...
    def __hash__(self, /) -> int: ...

@final
class CommandEnd:
    """The end of a command that a plan has sent."""

    @property
    def member(self) -> int:
        """Member that the command was sent to."""
    @property
    def request(self) -> HostRequest:
        """Request for which it was sent."""
    @property
    def is_answered(self) -> bool:
        """True if the request was answered before, or the command is no part of it."""
    @property
    def kind(self) -> str:
        """Kind of the command, as :attr:`HostRequest.kind`."""
    @property
    def token(self) -> int:
        """Number that the plan gave the command."""

@final
class Act:
    """A decision of a plan."""

    @staticmethod
    def send(
        request: HostRequest,
        member: int,
        *,
        kind: str | None = None,
        offset: int | None = None,
        bytes: int | None = None,
        part: bool = True,
        after: str = "turn",
        token: int = 0,
    ) -> Act:
        """Send a member a command; by default the command of the request.

        A request is answered when all its parts have ended. With ``part=False`` the command
        is none, and may be sent after the answer. ``after`` names what the request has waited
        for until now: ``turn``, ``room`` or ``hedge``. ``token`` comes back with the end.
        Raises ValueError for an unknown word.
        """
    @staticmethod
    def serve(request: HostRequest, takes_ns: int, *, after: str = "turn") -> Act:
        """Serve a part of a request from the host's memory, which takes so long.

        ``after`` as in :meth:`send`.
        """
    @staticmethod
    def waited(request: HostRequest, after: str) -> Act:
        """Note that a request has waited for ``after`` until now, as in :meth:`send`."""
    @staticmethod
    def answer(request: HostRequest) -> Act:
        """Answer a request by the part that has just ended, although others are under way."""
    @staticmethod
    def wake(at_ns: int, number: int = 0) -> Act:
        """Call ``woken`` with this number at a moment."""
    @staticmethod
    def maintain(member: int, may: bool) -> Act:
        """Let a member be in maintenance from now on, or not; at first all may."""
    @staticmethod
    def hold(holds: bool) -> Act:
        """Keep the run from ending, because members lack something, or no more."""

@final
class Meeting:
    """A read that meets an erase or a program; times are in nanoseconds."""

    @property
    def now_ns(self) -> int:
        """Present time."""
    @property
    def free_at_ns(self) -> int:
        """Time at which the unit becomes free if nothing interrupts the operation."""
    @property
    def safe_at_ns(self) -> int:
        """Time of the operation's next safe point."""
    @property
    def suspensions(self) -> int:
        """Number of earlier suspensions of the operation."""
    @property
    def since_begun_ns(self) -> int:
        """Time since the operation began."""
    @property
    def is_program(self) -> bool:
        """True if the operation is a program, false if it is an erase."""
    @property
    def asking(self) -> int:
        """Reads that already wait for the unit and have requested a suspension."""

@final
class Asked:
    """An erase or a program whose suspension reads have requested; times are in nanoseconds."""

    @property
    def now_ns(self) -> int:
        """Present time."""
    @property
    def steps_done(self) -> int:
        """Finished steps."""
    @property
    def steps_left(self) -> int:
        """Unfinished steps; at least one."""
    @property
    def step_ns(self) -> int:
        """Duration of an undisturbed step."""
    @property
    def into_step_ns(self) -> int:
        """Time for which the present step has run since it began or last resumed."""
    @property
    def safe_at_ns(self) -> int:
        """Time of the operation's next safe point if nothing interrupts it."""
    @property
    def at_safe_point(self) -> bool:
        """True if the operation is at a safe point now, so that suspending it costs nothing."""
    @property
    def asking(self) -> int:
        """Reads that wait for the unit and have requested a suspension; at least one."""
    @property
    def waited_ns(self) -> int:
        """Time since the first of them requested it."""
    @property
    def suspensions(self) -> int:
        """Number of earlier suspensions of this operation."""
    @property
    def since_begun_ns(self) -> int:
        """Time since the operation began."""
    @property
    def since_resumed_ns(self) -> int:
        """Time since the operation began or last resumed."""
    @property
    def foreground(self) -> bool:
        """True if it is of foreground GC, or of GC in debt: it goes before host writes."""
    @property
    def urgent(self) -> bool:
        """The former name of ``foreground``."""

@final
class Session:
    """One run of a plan."""

    def __new__(cls, plan: Plan, snapshot: Snapshot | None = None) -> Session:
        """Read the traces of the plan once; raise TraceError or ConfigError.

        The drive is started from ``snapshot``, if given, instead of being preconditioned.
        """
    def surveys(self) -> list[str | None]:
        """Summary of each workload's trace; None for one without."""
    def precondition(self, ongoing: Callable[[float], object] | None = None) -> None:
        """Fill and age the drive; ``ongoing`` is called with the share done and may raise."""
    def take_over(self, prepared: Snapshot) -> None:
        """Use a drive that a plan with the same preparation has filled and aged before."""
    def log_requests(self, path: Path) -> None:
        """Write every counted request to a Parquet file from now on; raise OSError."""
    def end_log(self, about: list[tuple[str, str]]) -> None:
        """End the file of requests, with keys and values about the run; raise OSError."""
    def advance(self, events: int) -> bool:
        """Run about this many events; return true if there is more to do."""
    def progress(self) -> tuple[int, int, float | None]:
        """Return simulated nanoseconds, requests issued, and the share done if known."""
    def summary(self, host_cpu_seconds: float, complete: bool) -> str:
        """End the measurement; return the contents of ``summary.json``."""
    def snapshot(self) -> Snapshot:
        """Shut down the drive of a finished run and return it as a snapshot; ends the session."""
    def tables(self) -> list[Table]:
        """The tables of a run whose measurement has ended."""

@final
class Snapshot:
    """A drive that was shut down; any number of others may be started from it."""

    @staticmethod
    def take(plan: Plan, ongoing: Callable[[float], object] | None = None) -> Snapshot:
        """Fill and age the drive of a plan; ``ongoing`` is called with the share done."""
    @staticmethod
    def read(
        path: str | PathLike[str], ongoing: Callable[[float], object] | None = None
    ) -> Snapshot:
        """Read a snapshot from a file; raise SnapshotError."""
    def write(self, path: str | PathLike[str]) -> None:
        """Write a new file, which must not exist yet; raise OSError."""
    def origin(self) -> str:
        """Origin of the snapshot, as JSON text."""

def snapshot_header(path: str | PathLike[str]) -> bytes:
    """Header of a snapshot's file, which identifies its content; raise SnapshotError."""

def snapshot_origin(path: str | PathLike[str]) -> str:
    """Origin of the snapshot in a file, as JSON text; raise SnapshotError."""

@final
class Table:
    """Columns that any library with Arrow's PyCapsule interface takes without a copy."""

    @property
    def name(self) -> str:
        """Name of the table and of its file."""
    def __len__(self) -> int: ...
    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any: ...

@disjoint_base
class Drive:
    """A preconditioned drive that the caller advances."""

    def __new__(cls, start: Plan | Drive, snapshot: Snapshot | None = None) -> Self:
        """Create the drive of a plan, preconditioned or from a snapshot; or copy a drive."""
    def snapshot(self) -> Snapshot:
        """Shut down a copy of the drive and return it as a snapshot; raise SnapshotError."""
    def submit(
        self,
        kind: _Kind,
        offset: int = 0,
        length: int = 0,
        at_ns: int | None = None,
        priority: _Priority = "normal",
        read_recovery_level: int | None = None,
    ) -> int:
        """Submit a request to the drive at ``at_ns``, or now; return its id.

        Offsets count from the beginning of the drive, also in a drive with NVM sets: set ``n``
        begins at ``n - 1`` shares of the capacity. A request lies in one set; a flush is of the
        set that its offset lies in. Offset and length are multiples of 512 B, the host's sector.
        Raises ConfigError for a request that the drive cannot serve, and for a time in the past.
        """
    def next_event_ns(self) -> int | None:
        """Time of the drive's next event; None if none is pending."""
    def advance(self, until_ns: int) -> list[Completion]:
        """Advance the time up to and including ``until_ns``; return the completed requests."""
    def power_cut(self, at_ns: int | None = None) -> str:
        """Cut the power at ``at_ns``, or now, and recover; return the result as JSON text."""
    def set_window(self, window: str, nvm_set: int = 1, at_ns: int | None = None) -> None:
        """Choose the window of an NVM set at ``at_ns``, or now: ``"dtwin"`` or ``"ndwin"``.

        A deterministic window begins once the maintenance under way is over. Raises ConfigError
        for a drive without ``ftl.windows``, for a set or a window that is none, and for a time in
        the past. A drive without NVM sets is set 1.
        """
    def window(self, nvm_set: int = 1, *, clear: bool = False) -> str:
        """Return the window of an NVM set, its estimates, counts and events, as JSON text."""
    def audit(self) -> None:
        """Prove the map, and the data of reads if the auditor is on; raise SimulatorError."""
    @property
    def capacity_bytes(self) -> int:
        """Bytes that the drive exports."""
    @property
    def now_ns(self) -> int:
        """The present time of the drive."""
    @property
    def outstanding(self) -> int:
        """Requests submitted and not completed."""
    def starvation(self) -> str | None:
        """Requests that starved, as JSON text; None if starvation is not detected."""
    @property
    def digest(self) -> str:
        """Hash of every completion so far: equal digests mean equal histories."""

@final
class Completion:
    """A request that has completed."""

    @property
    def id(self) -> int:
        """Id that ``submit`` returned."""
    @property
    def kind(self) -> _Kind:
        """Kind of the request."""
    @property
    def offset(self) -> int:
        """First byte; 0 for a flush."""
    @property
    def length(self) -> int:
        """Bytes; 0 for a flush."""
    @property
    def arrived_ns(self) -> int:
        """Time of its submission."""
    @property
    def finished_ns(self) -> int:
        """Time at which its answer reached the host."""
    @property
    def latency_ns(self) -> int:
        """Time from one to the other."""
    @property
    def failed(self) -> int:
        """Mapping units whose data the request did not get, because it could not be decoded."""
    @property
    def unmapped(self) -> int:
        """Mapping units read that were never written."""
    @property
    def blame(self) -> dict[str, int]:
        """Nanoseconds by state; they sum to the latency."""
