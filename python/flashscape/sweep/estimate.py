"""Estimated duration of a sweep, from its finished points, else from sizes alone."""

from __future__ import annotations

from typing import TYPE_CHECKING

from flashscape import units
from flashscape.errors import OutputError
from flashscape.sweep import sharing
from flashscape.sweep.observer import cores, jobs_that_fit
from flashscape.sweep.progress import clock
from flashscape.sweep.store import Store

if TYPE_CHECKING:
    from pathlib import Path

    from flashscape.sweep.check import Points
    from flashscape.sweep.point import Point


def estimate(points: Points, out: Path | None, jobs: int | None, *, share: bool) -> list[str]:
    """Return number of points, time and memory, as sentences."""
    distinct = {point.key: point for point in reversed(points.points) if point.key is not None}
    seconds = {} if out is None else _measured(out, distinct)
    left = [point for key, point in distinct.items() if key not in seconds]
    count = units.many(len(points.points), "point")
    lines = [f"{count}, {len(seconds):,} of them done, {len(left):,} to run"]
    if not left:
        return lines
    needs = sorted((point.memory_bytes for point in left), reverse=True)
    together = jobs_that_fit(needs, min(jobs or cores(), len(left)), points.available_bytes)
    free = None if out is None else sharing.free_bytes(out)
    shared = sharing.share(left if share else (), free)
    lines += sharing.announcement(shared)
    effort = (sum(point.effort.whole for point in left) - shared.effort) / 1e6
    how = "very roughly, from sizes alone"
    if seconds:
        spent = sum(seconds.values())
        done = [distinct[key] for key in seconds]
        # The points may share drives, as far as is known now.
        saved = sharing.share(done if share else (), free).effort
        effort *= spent / ((sum(point.effort.whole for point in done) - saved) / 1e6)
        how = "by the speed of those that are done"
    lines.append(
        f"about {clock(effort)} of CPU time, {clock(effort / together)} with {together} "
        f"job{'s' if together != 1 else ''} ({how}); "
        f"{units.size(sum(needs[:together]))} of memory at most"
    )
    return lines


def _measured(out: Path, points: dict[str, Point]) -> dict[str, float]:
    """Return CPU seconds of the finished points."""
    try:
        store = Store.open(out)
    except OutputError:
        return {}
    done = ((key, store.done(key)) for key in points)
    return {
        key: each.summary["host_cpu_seconds"]
        for key, each in done
        if each is not None and each.summary is not None
    }
