"""ACT at one multiplier, as a run of its own, for table 3 and figure 5.

The load is that of `flashscape act`: small and large requests at random addresses, and a
drive that was filled and overwritten once by large writes. Two parameters that the paper leaves
open and that the ratings depend on are swept: the ramp of an erase and the size of the write
buffer.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple

from flashscape.act import load
from flashscape.catalogue import check
from flashscape.errors import StudyError
from flashscape.reproduce import Run

from ._runs import SCHEMES, STARVES, drive

if TYPE_CHECKING:
    from collections.abc import Iterable

    from flashscape.reproduce import Outcome, Setting

RATED = ("baseline", "es", "i-es", "d-es", "t-es-64")
"""Schemes that are rated, without Ideal-ES, which cannot be built."""

AT = 30
"""Multiplier of figure 5."""

_SALT_NS = 12_000_000_000
"""Time in which the drive is overwritten once before the load: 6.25 GiB, at 0.56 GB/s at least.

`check_salted` reads from the results of a run that it was enough.
"""

_SERIES_NS = 100_000_000
"""Interval of the time series. The load begins at the end of one of them."""


class Variant(NamedTuple):
    """A drive with values of two parameters that the paper leaves open and that change ratings."""

    ramp_us: int
    """Time in which the voltage of an erase step rises. Step plus verify stays at a millisecond."""
    buffer_mib: int
    """Size of the write buffer."""

    @property
    def drive(self) -> dict[str, Any]:
        """Tables that differ from the preset's."""
        ramp, execute = f"{self.ramp_us} us", f"{_RAMP_AND_EXECUTE_US - self.ramp_us} us"
        return {
            "nand": {"erase": {"ramp": ramp, "execute": execute}},
            "buffer": {"size": f"{self.buffer_mib} MiB"},
        }


_RAMP_AND_EXECUTE_US = 800
"""Ramp and pulse of a step of a millisecond, without its recovery and verify of 100 us each."""

PRESET = Variant(ramp_us=100, buffer_mib=1)
"""Drive of all other exhibits."""

RAMPS_US = (100, 200, 300)
BUFFERS_MIB = (1, 4, 16)
"""Buffer sizes of the sweep: with the ramps, they are as plausible as the preset's."""

VARIANTS = tuple(Variant(ramp, buffer) for ramp in RAMPS_US for buffer in BUFFERS_MIB)

CORNERS = tuple(
    Variant(ramp, buffer)
    for ramp in (RAMPS_US[0], RAMPS_US[-1])
    for buffer in (BUFFERS_MIB[0], BUFFERS_MIB[-1])
)
"""Variants with the least or the greatest value of both: the preset is one of them."""


def ladder(setting: Setting) -> range:
    """Return the multipliers that are tried with the preset."""
    tried: range = setting.pick(short=range(8, 42, 2), full=range(2, 61))
    return tried


def variants(setting: Setting) -> tuple[Variant, ...]:
    """Return the variants of the map: the short profile tries its corners only."""
    tried: tuple[Variant, ...] = setting.pick(short=CORNERS, full=VARIANTS)
    return tried


def map_ladder(setting: Setting) -> range:
    """Return the multipliers that are tried with each variant."""
    tried: range = setting.pick(short=range(8, 64, 8), full=range(4, 62, 2))
    return tried


def runs(setting: Setting, multipliers: Iterable[int], schemes: Iterable[str] = RATED) -> list[Run]:
    """Return a run of the preset for each scheme and multiplier."""
    steps = list(multipliers)
    return [
        _run(run_name(scheme, k), scheme, PRESET, k, lengths(k))
        for scheme in schemes
        for k in steps
    ]


def map_runs(setting: Setting) -> list[Run]:
    """Return a run for each variant, scheme and multiplier of the map."""
    return [
        _run(map_name(variant, scheme, k), scheme, variant, k, lengths(k))
        for variant in variants(setting)
        for scheme in RATED
        for k in map_ladder(setting)
    ]


def run_name(scheme: str, multiplier: int) -> str:
    """Return the name of a run of the preset."""
    return f"act-{scheme}-{multiplier}x"


def map_name(variant: Variant, scheme: str, multiplier: int) -> str:
    """Return the name of a run of the map."""
    of = f"ramp-{variant.ramp_us}us-buffer-{variant.buffer_mib}mib"
    return f"act-map-{of}-{scheme}-{multiplier}x"


def lengths(multiplier: int) -> load.Lengths:
    """Return whole GC cycles, five seconds at least, after two seconds of warm-up."""
    return load.lengths(multiplier, cycle_bytes(), warm_up_ns=None, time_ns=None, slices=1)


@cache
def _derived() -> dict[str, Any]:
    idle = {"name": "idle", "reads": "100 %", "stop": {"requests": 1}}
    return check({"drive": drive("baseline"), "workload": [idle]})


def cycle_bytes() -> int:
    """Return bytes that a host writes in a GC cycle."""
    return load.cycle_bytes(_derived())


def _run(name: str, scheme: str, variant: Variant, multiplier: int, lengths: load.Lengths) -> Run:
    begin_ns = _SALT_NS + lengths.warm_up_ns
    experiment = {
        "title": f"ACT: {SCHEMES[scheme]}",
        "drive": drive(scheme) | ({} if variant == PRESET else variant.drive),
        "precondition": {"fill": "sequential"},
        "workload": _streams(multiplier, lengths),
        "run": {
            "time": f"{begin_ns + lengths.slice_ns} ns",
            "warm_up": {"time": f"{begin_ns} ns"},
            "starvation": {"limit": "5 s"},
        },
        "record": {"interval": f"{_SERIES_NS} ns"},
    }
    return Run(name, experiment, tables=("latency", "bands", "series"), may_end_with=STARVES)


def check_salted(outcome: Outcome) -> None:
    """Raise StudyError if the overwrite before the load had not ended when the load began.

    Counted requests do not suffice: an overwrite that ends in the warm-up has none, either.
    """
    import polars as pl

    before = outcome.measured.series.filter(pl.col("end_ns") <= _SALT_NS)
    salted, whole = int(before["write_bytes"].sum()), _salted_bytes()
    if salted < whole:
        raise StudyError(
            f"the run {outcome.name}: the overwrite before the load wrote only {salted} of "
            f"{whole} bytes in {_SALT_NS / 1e9:g} s, when the load began; raise _SALT_NS in "
            "erase_suspension/_act.py"
        )


def _salted_bytes() -> int:
    exported: int = _derived()["capacity"]["exported_bytes"]
    return exported // load.LARGE_BYTES * load.LARGE_BYTES


def _streams(multiplier: int, lengths: load.Lengths) -> list[dict[str, Any]]:
    capacity = _derived()["capacity"]["exported_bytes"]
    streams = load.workloads(
        multiplier, lengths, exported_bytes=capacity, seed=1, arrivals="constant"
    )
    for stream in streams:
        after_ns = int(stream["start"].removesuffix(" ns"))
        stream["start"] = f"{after_ns + _SALT_NS} ns"
    whole = _salted_bytes()
    salt = {
        "name": "salt",
        "reads": "0 %",
        "size": "128 KiB",
        "align": "128 KiB",
        "region": {"size": f"{whole} B"},
        "queue_depth": 32,
        "stop": {"bytes": f"{whole} B"},
    }
    return [salt, *streams]
