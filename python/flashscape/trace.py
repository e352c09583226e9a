"""Traces: statistics, conversion to other formats, and synthetic traces with similar statistics.

>>> import flashscape as fs
>>> fs.trace.info("trace.csv.gz").overwrite_ratio  # doctest: +SKIP
"""

from __future__ import annotations

import json
import os
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from flashscape import _flashscape, foreign, spelling, units
from flashscape._flashscape import __version__
from flashscape.arguments import checks_arguments
from flashscape.errors import ConfigError, OutputError, TraceError
from flashscape.near import listed
from flashscape.output import refuse_inputs

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from os import PathLike

MEMORY = "512 MiB"
"""Memory for the footprint: exact for 5.5 GiB of scattered units, 44 GiB of contiguous ones."""

VERSION = _flashscape.trace_description_version()
"""Version of the format of descriptions."""

CHOICES = {
    "event": ("queue", "dispatch", "complete"),
    "time_unit": ("ns", "us", "ms", "s"),
    "waits": ("gaps", "moments"),
    "spread": ("none", "uniform"),
    "truncated": ("refuse", "end"),
}
"""Choices of the options that resolve ambiguities of formats."""

_KEY = "trace_description"

_UNIT = 4096
"""Bytes of an address unit."""


class Format(NamedTuple):
    """A format of traces, which can be replayed and measured."""

    name: str
    """Name in options and configurations."""
    title: str
    """Name in text."""
    is_written: bool
    """True if traces can be converted to it."""


def formats() -> dict[str, Format]:
    """Return every format by its name."""
    known = (Format(*facts) for facts in _flashscape.trace_formats())
    return {format.name: format for format in known}


class TraceInfo:
    """Statistics of a trace.

    ``to_dict()`` has every figure; docs/traces.md describes them. Times are in
    nanoseconds, sizes in bytes, shares between 0 and 1.
    """

    def __init__(self, file: dict[str, Any], statistics: dict[str, Any], model: str) -> None:
        self.file = file
        """Path, format, reason for that format, compression, stamps, and lines passed over."""
        self.statistics = statistics
        """All other figures."""
        self._model = model

    @property
    def format(self) -> str:
        """Name of the format."""
        return str(self.file["format"])

    @property
    def requests(self) -> int:
        """Requests of all kinds."""
        return int(self.statistics["requests"])

    @property
    def bytes(self) -> int:
        """Bytes that all requests ask for."""
        return int(self.statistics["bytes"])

    @property
    def span_ns(self) -> int:
        """Time from the first stamp to the last."""
        return int(self.statistics["span_ns"])

    @property
    def footprint_bytes(self) -> int:
        """Units of 4 KiB that are read or written, in bytes."""
        return int(self.statistics["footprint"]["touched_bytes"])

    @property
    def sampled_share(self) -> float:
        """Share of the address space that footprint, hotness and reuse are computed from."""
        return float(self.statistics["footprint"]["sampled_share"])

    @property
    def overwrite_ratio(self) -> float | None:
        """Units written over different units written; None if nothing is written."""
        ratio: float | None = self.statistics["footprint"]["overwrite_ratio"]
        return ratio

    @property
    def notes(self) -> list[str]:
        """Notes on the figures; those about the file come first."""
        coarse = _coarse(self.file["stamps"], self.requests, self.span_ns)
        return [*_remarks(self.file), *coarse, *self.statistics["notes"]]

    @property
    def passed_over(self) -> dict[str, int]:
        """Lines of the file that are no requests, by reason."""
        return {passed["reason"]: passed["lines"] for passed in self.file["passed_over"]}

    @property
    def device_names(self) -> list[str]:
        """Names of devices 0, 1, …; none if the trace numbers them itself."""
        return list(self.file["device_names"])

    def of_kind(self, kind: str) -> dict[str, Any] | None:
        """Figures of ``read``, ``write``, ``trim``, ``flush`` or ``write_zeroes``, or None."""
        kinds = self.statistics["kinds"]
        return next((figures for figures in kinds if figures["kind"] == kind), None)

    def to_dict(self) -> dict[str, Any]:
        """Return every figure, as plain data."""
        return {**self.file, **self.statistics}

    def to_json(self) -> str:
        """Return every figure as JSON text."""
        return json.dumps(self.to_dict(), indent=2, ensure_ascii=False)

    def description(self) -> str:
        """Return the contents of a file for ``imitate``: statistics only, without addresses."""
        model = json.loads(self._model)
        statistics = {k: v for k, v in self.statistics.items() if k != "devices"}
        statistics["footprint"] = _with_coarse_span(statistics["footprint"], model)
        whole = {
            _KEY: VERSION,
            "flashscape": __version__,
            "statistics": {"format": self.format, **statistics},
            "model": model,
        }
        # Put a row of figures on one line.
        text = json.dumps(whole, indent=1, ensure_ascii=False)
        return re.sub(r"\[[-\d.,\s]*\]", lambda m: re.sub(r"\s+", " ", m[0]), text) + "\n"

    @checks_arguments
    def describe(self, path: str | PathLike[str], *, force: bool = False) -> None:
        """Write the description, whole or not at all; raise OutputError."""
        write(Path(path), self.description(), force=force)

    def _repr_html_(self) -> str:
        from flashscape.report import html, trace

        headline = trace.headline(self.file, self.statistics)
        return html.tables(headline, self.notes, trace.everything(self.file, self.statistics))

    def __repr__(self) -> str:
        kinds = ", ".join(f"{k['kind']}: {k['requests']:,}" for k in self.statistics["kinds"])
        return f"<TraceInfo {self.file['file']}: {self.format}, {kinds}>"


def _with_coarse_span(footprint: dict[str, Any], model: dict[str, Any]) -> dict[str, Any]:
    """Return the footprint with the model's coarse span: the exact span would reveal an address."""
    span = model["layout"]["span_units"] * _UNIT
    share = min(footprint["touched_bytes"] / span, 1.0) if span else 0.0
    return {**footprint, "span_bytes": span, "touched_share": share}


def _remarks(file: dict[str, Any]) -> list[str]:
    """Return sentences on how the file was read."""
    passed = (
        f"passed over: {units.many(p['lines'], 'line')}, the first {p['first_line']:,}: "
        f"{p['reason']}"
        for p in file["passed_over"]
    )
    doubtful = (f"doubtful: {doubt}" for doubt in file["doubts"])
    return [*(f"read as: {note}" for note in file["read_as"]), *doubtful, *passed]


def _coarse(stamps: dict[str, Any], requests: int, span_ns: int) -> list[str]:
    """Return a note on stamps that say little about arrivals, as a replay has it."""
    if stamps["spread"]:
        return []
    if requests > 1 and span_ns == 0:
        return ['all requests have one stamp: replay with mode = "closed", or they come at once']
    if not stamps["coarse"]:
        return []
    unit = units.duration(stamps["unit_ns"])
    at_once = f"up to {stamps['most_at_once']:,} requests come at once"
    return [f'stamps are whole multiples of {unit}: {at_once}; spread = "uniform" takes them apart']


def _reading(
    event: str | None,
    time_unit: str | None,
    waits: str | None,
    block_size: str | None,
    length_unit: str | None,
    spread: str | None,
    truncated: str | None,
) -> str:
    """Return the reader's options besides the format; options that are not given are left out."""
    told = {
        "event": event,
        "time_unit": time_unit,
        "waits": waits,
        "block_bytes": None if block_size is None else _bytes("block_size", block_size),
        "length_bytes": None if length_unit is None else _bytes("length_unit", length_unit),
        "spread": spread,
        "truncated": truncated,
    }
    given = {key: value for key, value in told.items() if value is not None}
    for name, choices in CHOICES.items():
        if name in given and given[name] not in choices:
            raise ConfigError(f"{name}: no choice {given[name]!r} {listed(given[name], choices)}")
    return json.dumps(given)


def _bytes(name: str, text: str) -> int:
    """Parse a size; raise ConfigError with the name of its argument."""
    try:
        size = units.size_of(text)
    except ValueError as error:
        raise ConfigError(f"{name}: {error}") from error
    if size == 0:
        raise ConfigError(f"{name}: {text!r} is nothing; it must be more than 0 B")
    return size


@checks_arguments
def info(
    path: str | PathLike[str],
    *,
    format: str | None = None,
    event: str | None = None,
    time_unit: str | None = None,
    waits: str | None = None,
    block_size: str | None = None,
    length_unit: str | None = None,
    spread: str | None = None,
    truncated: str | None = None,
    memory: str = MEMORY,
    ongoing: Callable[[int, float], object] | None = None,
) -> TraceInfo:
    """Measure a trace; raise TraceError if it is missing, damaged or ambiguous.

    ``event``, ``time_unit``, ``waits``, ``block_size``, ``length_unit`` and ``spread`` resolve
    ambiguities of its format, as in ``workload.trace``; options that mean nothing for the format
    are refused. ``truncated="end"`` ends a file that was cut before its last line.
    ``memory`` is for the footprint. ``ongoing`` is called with
    the number of requests read and the share of the file, and may raise to end it.
    """
    foreign.refuse(path)
    texts = _flashscape.trace_info(
        Path(path),
        format=format,
        reading=_reading(event, time_unit, waits, block_size, length_unit, spread, truncated),
        memory_bytes=_bytes("memory", memory),
        ongoing=ongoing,
    )
    file, statistics = (json.loads(text) for text in texts[:2])
    return TraceInfo(file, statistics, texts[2])


@checks_arguments
def convert(
    path: str | PathLike[str],
    out: str | PathLike[str],
    to: str,
    *,
    format: str | None = None,
    event: str | None = None,
    time_unit: str | None = None,
    waits: str | None = None,
    block_size: str | None = None,
    length_unit: str | None = None,
    spread: str | None = None,
    truncated: str | None = None,
    drop: Iterable[str] = (),
    round: bool = False,
    sort: bool = False,
    devices: list[int] | None = None,
    start_ns: int | None = None,
    end_ns: int | None = None,
    time_scale: float | None = None,
    rebase: bool = False,
    force: bool = False,
    ongoing: Callable[[int, float], object] | None = None,
) -> dict[str, Any]:
    """Write a trace in the format ``to``; return counts of kept, dropped and changed requests.

    An ``out`` that ends in .gz or .zst is compressed. Raises TraceError if the format
    cannot express something, unless ``drop`` or ``round`` allows the loss; then there is
    no output. ``event`` to ``truncated`` are as for ``info``.
    The window from ``start_ns`` to ``end_ns`` counts from the first stamp.
    """
    refuse_inputs([out], [path])
    foreign.refuse(path)
    text = _flashscape.trace_convert(
        Path(path),
        Path(out),
        to,
        format=format,
        reading=_reading(event, time_unit, waits, block_size, length_unit, spread, truncated),
        drop=list(drop),
        round=round,
        sort=sort,
        devices=devices,
        start_ns=start_ns,
        end_ns=end_ns,
        time_scale=time_scale,
        rebase=rebase,
        force=force,
        ongoing=ongoing,
    )
    done: dict[str, Any] = json.loads(text)
    done["notes"] = [*_remarks(done), *done["notes"]]
    return done


@checks_arguments
def describe(
    path: str | PathLike[str], out: str | PathLike[str], *, force: bool = False, **options: Any
) -> TraceInfo:
    """Measure a trace (with the options of ``info``) and write its description."""
    refuse_if_there(Path(out), force=force)
    refuse_inputs([out], [path])
    measured = info(path, **options)
    measured.describe(out, force=force)
    return measured


@checks_arguments
def imitate(
    description: str | PathLike[str],
    out: str | PathLike[str],
    to: str = "captured",
    *,
    rows: int | None = None,
    span: str | None = None,
    seed: int = 0,
    drop: Iterable[str] = (),
    force: bool = False,
    ongoing: Callable[[int, float], object] | None = None,
) -> dict[str, Any]:
    """Write a synthetic trace from a description; return counts of its requests.

    It has ``rows`` requests in an address space of ``span`` (default: those of the
    trace), and is the same for the same ``seed``. Raises TraceError.
    """
    file = Path(description)
    refuse_inputs([out], [file])
    try:
        text = file.read_text(encoding="utf-8")
    except OSError as error:
        raise TraceError(f"{file}: cannot be read: {error.strerror}", str(file)) from error
    except UnicodeDecodeError as error:
        raise TraceError(f"{file}: is no text: {error.reason}", str(file)) from error
    done: dict[str, Any] = json.loads(
        _flashscape.trace_imitate(
            text,
            Path(out),
            to,
            file=file,
            requests=rows,
            span_bytes=None if span is None else _bytes("span", span),
            seed=seed,
            drop=list(drop),
            force=force,
            ongoing=ongoing,
        )
    )
    return done


def refuse_if_there(path: Path, *, force: bool) -> None:
    """Raise OutputError if a file exists and may not be overwritten."""
    if path.is_dir():
        raise OutputError(f"{path}: this is a directory; name a file")
    if path.is_symlink() and not path.exists():
        raise OutputError(f"{path}: this link leads nowhere; name a file")
    if path.exists() and not path.is_file():
        raise OutputError(f"{path}: this is no regular file (a pipe, a device); name a file")
    if path.exists() and not force:
        option = spelling.option("--force", "force=True")
        raise OutputError(f"{path}: there is such a file; choose another name, or {option}")


def write(path: Path, text: str, *, force: bool) -> None:
    """Write a file, whole or not at all; raise OutputError."""
    refuse_if_there(path, force=force)
    # Write the target of a link, and keep the link.
    path = path.resolve()
    staged = path.with_name(f".unfinished-{os.getpid()}-{path.name}")
    try:
        staged.write_text(text, encoding="utf-8")
        staged.replace(path)
    except OSError as error:
        raise OutputError(f"{path}: cannot be written: {error.strerror}") from error
    finally:
        staged.unlink(missing_ok=True)
