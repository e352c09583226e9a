"""Parts of pages that MQSim's preconditioning has written.

For a synthetic flow MQSim draws requests, as a run does, and notes one sector only of each page
that a request touches: the one at which the request begins there (``FTL.cpp``,
``Find_NVM_subunit_access_bitmap``). For a trace it notes all sectors of a page that any of its
requests reads or writes (``IO_Flow_Trace_Based.cpp``).
"""

from __future__ import annotations

import math
from collections import Counter
from functools import lru_cache
from itertools import islice, takewhile
from typing import TYPE_CHECKING, NamedTuple

from flashscape import units, written
from flashscape.mqsim.space import SECTOR
from flashscape.written import Row

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from flashscape.mqsim.flow import Flow

_NAMES = ("Average_Request_Size", "Address_Alignment_Unit", "Initial_Occupancy_Percentage")

_MOST_ROWS = 1_000_000
"""Requests of a trace that are looked at."""


class Parts(NamedTuple):
    """Parts of pages that are written before the run, and what is to be said of them."""

    rows: list[Row]
    why: str = ""


def of(flows: list[Flow], *, enabled: bool) -> Parts:
    """Return the parts of pages that are written before the run, if flows write parts."""
    writers = [flow for flow in flows if flow.writes and flow.is_partial]
    if not writers:
        return Parts([])
    if not enabled:
        return Parts([_none("MQSim's pages that were only made up for reads hold nothing")])
    traces = [flow for flow in writers if flow.is_trace]
    return _of_traces(traces) if traces else Parts([_of_synthetic(writers)])


def _none(remark: str) -> Row:
    return _row(written.size(SECTOR), "0 %", (), remark)


def _row(align: str, share: str, names: tuple[tuple[str, str], ...], remark: str) -> Row:
    parts: dict[str, written.Value] = {
        "size": written.size(SECTOR),
        "align": align,
        "share": share,
    }
    return Row("parts", parts, names, remark)


def _of_synthetic(writers: list[Flow]) -> Row:
    first = max(writers, key=lambda flow: flow.filled)
    remark = "MQSim notes the first sector of each request"
    names = tuple((first.section.title, name) for name in _NAMES)
    percent = f"{_share(first) * 100:.4f}".rstrip("0").rstrip(".")
    return _row(written.size(_step(first)), f"{percent} %", names, remark)


def _step(flow: Flow) -> int:
    """Return the bytes from one place where a request may begin to the next."""
    if flow.section.text("Address_Distribution") != "STREAMING":
        return flow.align
    return math.ceil(flow.mean_bytes / flow.align) * flow.align


def _share(flow: Flow) -> float:
    """Return the share of such places that preconditioning draws, in pages that it writes."""
    places = flow.page_bytes / _step(flow)
    if flow.section.text("Address_Distribution") == "STREAMING" or places <= 1:
        return 1.0
    # Each page is drawn so often in the mean, if so many of them are drawn at least once.
    of_page = -math.log(1 - min(flow.drawn_share, 0.99))
    pages = max(flow.mean_bytes / flow.page_bytes, 1.0)
    return 1 - math.exp(-of_page / pages / places)


def _of_traces(traces: list[Flow]) -> Parts:
    """Return all parts, or none, whichever is right for more of the writes of parts."""
    writes, losing = map(sum, zip((0, 0), *map(_losing, traces), strict=True))
    if not writes:
        return Parts([_none("the trace writes whole pages")])
    told = (
        f"Of the writes of parts of pages in traces {units.percent(losing / writes)} would lose "
        "sectors that MQSim has written before the run, because the trace accesses them: these "
        "read first in MQSim"
    )
    if 2 * losing > writes:
        return Parts([], f"{told}. Here all of them do, because all sectors are written")
    row = _none("the trace accesses no other sectors of most pages of which it writes a part")
    return Parts([row], f"{told}. Here only those do whose sectors the run itself has written")


def _losing(flow: Flow) -> tuple[int, int]:
    """Return how many parts of pages a trace writes, and how many leave out sectors it accesses."""
    if flow.trace is None:
        return 0, 0
    sectors = (flow.page_bytes // SECTOR, max(flow.part.size // SECTOR, 1))
    return _losing_of(flow.trace, flow.trace.stat().st_mtime_ns, *sectors)


@lru_cache(maxsize=16)
def _losing_of(file: Path, _changed: int, page: int, region: int) -> tuple[int, int]:
    """Count in a file, whose addresses begin again at the end of the region (in sectors)."""
    accessed: Counter[int] = Counter()
    parts: Counter[tuple[int, int]] = Counter()
    whole = (1 << page) - 1
    for at, sectors, writes in _touches(file, page, region):
        accessed[at] |= sectors
        if writes and sectors != whole:
            parts[at, sectors] += 1
    losing = (count for (at, sectors), count in parts.items() if accessed[at] & ~sectors)
    return parts.total(), sum(losing)


def _touches(file: Path, page: int, region: int) -> Iterator[tuple[int, int, bool]]:
    """Yield each page that a request touches, its sectors there, and True of writes."""
    for start, count, writes in _requests(file):
        at, left = start % region, min(count, region)
        while left > 0:
            number, first = divmod(at, page)
            here = min(page - first, left)
            yield number, ((1 << here) - 1) << first, writes
            at, left = (at + here) % region, left - here


def _requests(file: Path) -> Iterator[tuple[int, int, bool]]:
    """Yield first sector, number of sectors, and True of writes, up to a row of another form."""
    with file.open("rb") as lines:
        columns = takewhile(lambda row: len(row) == 5, map(bytes.split, lines))
        for row in islice(columns, _MOST_ROWS):
            try:
                yield int(row[2]), int(row[3]), row[4] == b"0"
            except ValueError:
                return
