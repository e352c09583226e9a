"""The figures of the whole drive that two runs differ in, tested only over seeds."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

from flashscape import outages, units
from flashscape.compare.difference import Difference, paired_by_seed
from flashscape.compare.statistics import Figure

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from flashscape.result import Result


_UNLIKE = "the runs wrote different amounts"


def of_drives(baselines: Sequence[Result], others: Sequence[Result]) -> list[Difference]:
    """Figures of the whole drive, tested only over seeds."""
    rows = []
    counts = (len(baselines), len(others))
    known = [
        [
            Figure(run.write_amplification, _a_page(run))
            for run in runs
            if run.write_amplification is not None
        ]
        for runs in (baselines, others)
    ]
    if [len(side) for side in known] == list(counts):
        rows.append(paired_by_seed("", "", "write_amplification", known, counts))
    erases = [
        [Figure(float(run.summary["wear"]["erases"]), 1.0) for run in runs]
        for runs in (baselines, others)
    ]
    row = paired_by_seed("", "", "erases", erases, counts)
    return [
        *rows,
        _judged(row, baselines, others),
        *_of_parts(baselines, others),
        *_of_recoveries(baselines, others),
    ]


class _Work(NamedTuple):
    """The work of a drive of an array, or of an NVM set."""

    host_bytes: int
    write_amplification: float | None
    erases: int


def _of_parts(baselines: Sequence[Result], others: Sequence[Result]) -> Iterator[Difference]:
    """Yield write amplification and erases of the drives of arrays, or of NVM sets."""
    runs = (*baselines, *others)
    work = {id(run): _work(run) for run in runs}
    counts = (len(baselines), len(others))
    for name in work[id(runs[0])]:
        if not all(name in work[id(run)] for run in runs):
            continue
        sides = [[(run, work[id(run)][name]) for run in side] for side in (baselines, others)]
        known = [
            [
                Figure(of.write_amplification, _page_bytes(run) / of.host_bytes)
                for run, of in side
                if of.write_amplification is not None
            ]
            for side in sides
        ]
        if [len(side) for side in known] == list(counts):
            yield paired_by_seed("", name, "write_amplification", known, counts)
        erases = [[Figure(float(of.erases), 1.0) for _, of in side] for side in sides]
        row = paired_by_seed("", name, "erases", erases, counts)
        pairs = zip(*([of for _, of in side] for side in sides), strict=True)
        if not all(_is_as_much(a.host_bytes, b.host_bytes, a.erases, b.erases) for a, b in pairs):
            row = replace(row, estimate=None, method="none", unjudged=_UNLIKE)
        yield row


def _work(run: Result) -> dict[str, _Work]:
    """Return the work of each drive of an array, or of each NVM set, by name."""
    # Summaries of earlier versions lack these keys.
    if (array := run.summary.get("array")) is not None:
        of_drives = {f"drive {each['drive']}": each["work"] for each in array["drives"]}
        return {
            name: _Work(of["host_bytes_programmed"], of["write_amplification"], of["erases"])
            for name, of in of_drives.items()
        }
    return {
        f"set {of['set']}": _Work(_host_bytes(of), of["write_amplification"], of["erases"])
        for of in run.summary.get("sets") or ()
    }


def _host_bytes(of: dict[str, Any]) -> int:
    """Return the bytes of hosts that an NVM set has programmed."""
    ratio = of["write_amplification"]
    return round(of["programmed_bytes"] / ratio) if ratio else 0


def _of_recoveries(baselines: Sequence[Result], others: Sequence[Result]) -> list[Difference]:
    """Return the mean cost of recovering from a power cut, if every run has recovered."""
    known = [[_recovery(run) for run in runs] for runs in (baselines, others)]
    rows = []
    for at, figure in enumerate(("recovery_mean_ns", "recovery_pages")):
        of = [[each[at] for each in side if each is not None] for side in known]
        if all(map(all, known)):
            counts = (len(baselines), len(others))
            rows.append(paired_by_seed("", "", figure, of, counts))
    return rows


def _recovery(run: Result) -> tuple[Figure, Figure] | None:
    """Return duration, and pages read of metadata and checkpoint, of finished recoveries."""
    cuts = [cut for cut in outages.of_run(run) if not cut["interrupted"]]
    if not cuts:
        return None
    lasted = sum(cut["duration_ns"] for cut in cuts) / len(cuts)
    pages = sum(cut["pages_scanned"] + cut["checkpoint_pages"] for cut in cuts) / len(cuts)
    # Chance may move the pages read by one in one of the cuts.
    step = 1 / len(cuts)
    return Figure(lasted, max(1.0, lasted / pages) * step if pages else step), Figure(pages, step)


def _judged(row: Difference, baselines: Sequence[Result], others: Sequence[Result]) -> Difference:
    """Return a figure that grows with the data written; untested unless the drives wrote alike."""
    if (why := _why_unjudged(baselines, others)) is None:
        return row
    return replace(row, estimate=None, method="none", unjudged=why)


def _why_unjudged(baselines: Sequence[Result], others: Sequence[Result]) -> str | None:
    if any(run.worn_out_bytes is not None for run in (*baselines, *others)):
        return "a drive was worn out, so the runs are not equally long"
    pairs = zip(baselines, others, strict=True)
    if all(_wrote_as_much(one, other) for one, other in pairs):
        return None
    return _UNLIKE


def _wrote_as_much(one: Result, other: Result) -> bool:
    """Return True if the drives' host writes differ by less than one erase.

    Requests that were outstanding at the end of the warm-up or the run make such a difference.
    """
    written = [run.summary["write_amplification"]["host_bytes"] for run in (one, other)]
    erases = [run.summary["wear"]["erases"] for run in (one, other)]
    return _is_as_much(*written, *erases)


def _is_as_much(one: int, other: int, *erases: int) -> bool:
    """Return True if two amounts of data differ by less than one erase."""
    less, more = sorted((one, other))
    return (more - less) * max(erases) < more if more else True


def _page_bytes(run: Result) -> int:
    return units.size_of(run.summary["config"]["drive"]["geometry"]["page_size"])


def _a_page(run: Result) -> float:
    """Return the increase of write amplification by one page."""
    return _page_bytes(run) / float(run.summary["write_amplification"]["host_bytes"])


def of_lives(ones: Sequence[Result], others: Sequence[Result]) -> list[Difference]:
    """Differences between untimed runs: their cost to the flash, paired by seeds."""
    counts = (len(ones), len(others))
    rows = of_drives(ones, others)
    for figure, of in (("worn_out_bytes", _life), ("erase_count_stddev", _spread)):
        known = [[each for run in runs if (each := of(run)) is not None] for runs in (ones, others)]
        if [len(side) for side in known] == list(counts):
            row = paired_by_seed("", "", figure, known, counts)
            rows.append(row if figure == "worn_out_bytes" else _judged(row, ones, others))
    return rows


def _life(run: Result) -> Figure | None:
    """Bytes asked for when the drive was worn out, with one page as the step."""
    worn = run.worn_out_bytes
    return None if worn is None else Figure(float(worn), float(_page_bytes(run)))


def _spread(run: Result) -> Figure | None:
    """Standard deviation of erase counts, with the change by one erase as the step."""
    spread = run.summary["wear"]["erase_count"]
    return None if spread is None else Figure(spread["stddev"], 1 / len(run.wear))
