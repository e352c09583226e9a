"""The figures that are measured, their experiments, and their bounds."""

from __future__ import annotations

from typing import NamedTuple


class Bounds(NamedTuple):
    """Bounds of a figure: the value it must reach, and the goal."""

    passing: float
    goal: float

    @property
    def less_is_better(self) -> bool:
        """True unless the figure is a speed."""
        return self.goal < self.passing

    def verdict(self, value: float) -> str:
        """Rate a value: ``goal``, ``pass`` or ``missed``."""
        reaches = value.__le__ if self.less_is_better else value.__ge__
        if reaches(self.goal):
            return "goal"
        return "pass" if reaches(self.passing) else "missed"


class Figure(NamedTuple):
    """A key of ``bench.json``."""

    key: str
    about: str
    unit: str
    group: str
    """Group, as ``--only`` takes it."""
    experiments: tuple[str, ...] = ()
    """Experiment files whose runs the figure is computed from; none for bare loops and the peer."""
    bounds: Bounds | None = None
    floor: str | None = None
    """The figure of the bare loop that it is compared with."""


FIGURES = (
    Figure(
        "read_ns_per_io",
        "random 4 KiB read, queue depth 16",
        "ns/request",
        "read",
        ("bench-read",),
        Bounds(250, 200),
        "floor_events_ns",
    ),
    Figure(
        "read_qd256_ns_per_io",
        "random 4 KiB read, queue depth 256",
        "ns/request",
        "read",
        ("bench-read-deep",),
        None,
        "floor_events_qd256_ns",
    ),
    Figure(
        "gc_ns_per_flash_op",
        "flash operation under random writes with GC",
        "ns/operation",
        "gc",
        ("bench-gc",),
        Bounds(175, 150),
        "floor_ftl_ns",
    ),
    Figure(
        "gc_multiplane_ns_per_flash_op",
        "the same with multi-plane commands of 4 pages",
        "ns/operation",
        "gc",
        ("bench-gc-multiplane",),
    ),
    Figure(
        "fill_pages_per_s",
        "untimed fill",
        "pages/s",
        "fill",
        ("bench-fill",),
        Bounds(20e6, 30e6),
        "floor_ftl_sequential_ns",
    ),
    Figure(
        "age_pages_per_s",
        "untimed age, copies included",
        "pages/s",
        "age",
        ("bench-age",),
        Bounds(6e6, 10e6),
        "floor_ftl_ns",
    ),
    Figure(
        "bytes_per_unit",
        "memory for each mapping unit",
        "B",
        "memory",
        ("bench-memory-units", "bench-memory-pages", "bench-memory-base"),
        Bounds(10, 9),
    ),
    Figure(
        "bytes_per_page",
        "and for each flash page",
        "B",
        "memory",
        ("bench-memory-pages", "bench-memory-units", "bench-memory-base"),
        Bounds(2, 1),
    ),
    Figure(
        "large_drive_ratio",
        "read on 16 TB over read on 64 GB",
        "times",
        "large",
        ("bench-large", "bench-large-base"),
        Bounds(3, 2.5),
    ),
    Figure("peer_read_ratio", "MQSim's time for random reads", "times", "peer", (), Bounds(18, 20)),
    Figure("peer_mixed_ratio", "for random 70/30 with GC", "times", "peer", (), Bounds(18, 20)),
    Figure("peer_gc_ratio", "for random writes with GC", "times", "peer", (), Bounds(20, 20)),
    Figure("peer_read_faster_ratio", "for reads, faster scheduler", "times", "peer"),
    Figure("peer_mixed_faster_ratio", "for 70/30, faster scheduler", "times", "peer"),
    Figure("peer_gc_faster_ratio", "for writes, faster scheduler", "times", "peer"),
    Figure("floor_ftl_ns", "bare FTL, random overwrites", "ns/page", "floor"),
    Figure("floor_ftl_sequential_ns", "bare FTL, sequential overwrites", "ns/page", "floor"),
    Figure("floor_events_ns", "bare event loop, 16 pending", "ns/event", "floor"),
    Figure("floor_events_qd256_ns", "bare event loop, 256 pending", "ns/event", "floor"),
)

GROUPS = tuple(dict.fromkeys(figure.group for figure in FIGURES))

ONCE = ("bench-memory-units", "bench-memory-pages", "bench-memory-base")
"""Runs that are made once, because no time is measured in them."""

QUICK = {"run.requests": "50000"}
"""Overrides that make a run short."""

QUICK_OF = {
    "bench-gc": {"precondition.age.overwrites": "0.3"},
    "bench-gc-multiplane": {"precondition.age.overwrites": "0.3"},
    "bench-age": {"precondition.age.overwrites": "0.3"},
    "bench-memory-pages": {
        "drive.geometry.pages_per_block": "64",
        "drive.ftl.over_provisioning.exported": "60 GB",
    },
    "bench-memory-units": {
        "drive.geometry.pages_per_block": "64",
        "drive.ftl.over_provisioning.exported": "15 GB",
    },
}
"""Further overrides for single experiments."""
