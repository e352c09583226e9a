"""Calculation of figures from runs and from the output of the bare loops."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable

Run = dict[str, Any]
"""Output of ``flashscape.bench.one``."""


class NotMeasuredError(Exception):
    """A figure cannot be measured here; the text says why."""


class Value(NamedTuple):
    """A figure with its sample count and digest."""

    value: float
    samples: int
    """Number of requests, operations, pages or units that it is a mean over."""
    digest: str
    """Digest of the run, or digests of several runs joined by ``/``."""


def of_runs(key: str, runs: list[Run]) -> Value:
    """Calculate a figure from runs; raise NotMeasuredError."""
    value, samples = _CALCULATIONS[key](*runs)
    return Value(round(value, 4), samples, "/".join(run["digest"] for run in runs))


def of_bare_loops(lines: list[dict[str, Any]]) -> dict[str, Value]:
    """Convert the output of the program ``floor`` to figures."""
    found = {}
    for line in lines:
        match line["floor"]:
            case "ftl_sequential_overwrite":
                key, figure, count = (
                    "floor_ftl_sequential_ns",
                    "ns_per_page_programmed",
                    "logical_pages",
                )
            case "ftl_random_overwrite":
                key, figure, count = "floor_ftl_ns", "ns_per_page_programmed", "writes"
            case _:
                key = "floor_events_ns" if line["pending"] == 16 else "floor_events_qd256_ns"
                figure, count = "ns_per_event", "events"
        found[key] = Value(round(line[figure], 4), line[count], line.get("checksum", ""))
    # The random overwrites continue after the sequential ones: both share one checksum.
    sequential = found["floor_ftl_sequential_ns"]
    both = sequential._replace(digest=found["floor_ftl_ns"].digest)
    return found | {"floor_ftl_sequential_ns": both}


def _per_request(run: Run) -> tuple[float, int]:
    return run["run_cpu_seconds"] * 1e9 / run["requests"], run["requests"]


def _per_operation(run: Run) -> tuple[float, int]:
    return run["run_cpu_seconds"] * 1e9 / run["flash_operations"], run["flash_operations"]


def _filled(run: Run) -> tuple[float, int]:
    return run["filled_units"] / run["fill_cpu_seconds"], run["filled_units"]


def _aged(run: Run) -> tuple[float, int]:
    programmed = run["programmed_units"] - run["filled_units"]
    return programmed / run["age_cpu_seconds"], programmed


def _ratio(large: Run, small: Run) -> tuple[float, int]:
    return _per_request(large)[0] / _per_request(small)[0], large["requests"]


def _slopes(units: Run, pages: Run, base: Run) -> tuple[float, float]:
    """Return the bytes for each unit and for each page.

    The three drives differ only in their numbers of units and pages. The memory that
    all have in common cancels out, which leaves two equations with two unknowns.
    """
    if base["resident_bytes"] is None:
        raise NotMeasuredError("the system does not say how much memory a process takes")

    u1, p1, r1 = _over(base, units)
    u2, p2, r2 = _over(base, pages)
    determinant = u1 * p2 - u2 * p1
    of_unit, of_page = (r1 * p2 - r2 * p1) / determinant, (u1 * r2 - u2 * r1) / determinant
    # Memory comes in huge pages: the rest of a figure below one page may be negative.
    return max(0.0, of_unit), max(0.0, of_page)


def _over(base: Run, run: Run) -> list[int]:
    return [run[key] - base[key] for key in ("units", "pages", "resident_bytes")]


def _bytes_per_unit(units: Run, pages: Run, base: Run) -> tuple[float, int]:
    return _slopes(units, pages, base)[0], units["units"]


def _bytes_per_page(pages: Run, units: Run, base: Run) -> tuple[float, int]:
    return _slopes(units, pages, base)[1], pages["pages"]


_CALCULATIONS: dict[str, Callable[..., tuple[float, int]]] = {
    "read_ns_per_io": _per_request,
    "read_qd256_ns_per_io": _per_request,
    "gc_ns_per_flash_op": _per_operation,
    "gc_multiplane_ns_per_flash_op": _per_operation,
    "fill_pages_per_s": _filled,
    "age_pages_per_s": _aged,
    "bytes_per_unit": _bytes_per_unit,
    "bytes_per_page": _bytes_per_page,
    "large_drive_ratio": _ratio,
}
"""Function that computes each figure from its runs."""
