"""Arrivals of a job whose requests are paced: ``rate`` and ``rate_iops``."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction
from typing import TYPE_CHECKING

from flashscape import written
from flashscape.fio_jobs import values
from flashscape.imported import Verdict

if TYPE_CHECKING:
    from flashscape.fio_jobs.flushes import Flushes
    from flashscape.fio_jobs.job import Job
    from flashscape.fio_jobs.sizes import BySize
    from flashscape.written import Row, Value

_NAMES = ("rate", "rate_iops")


def of(
    job: Job, sizes: BySize, reads: Fraction, flushes: Flushes, *, depth: int, is_alone: bool
) -> tuple[list[Row], Fraction]:
    """Return arrivals by the clock if a rate caps requests, and the resulting share of reads."""
    process = job.text("rate_process") or "linear"
    given = [name for name in _NAMES if (job.text(name) or "0").strip("0,")]
    if len(given) == 2:
        job.refuse("rate", "fio refuses rate and rate_iops together; take one of them out")
    rates = _rates(job, sizes, process) if given else []
    if not any(rates):
        for name in (*_NAMES, "rate_process"):
            job.say(name, Verdict.INERT, "", "no rate is given for the kinds of the job")
        return [], reads
    name = given[0]
    if not all(rates):
        job.refuse(
            name,
            "caps one kind of request and lets the other run freely, which has no counterpart "
            "here; give both rates, or make it two jobs",
        )
        return [], reads
    if process not in ("linear", "poisson"):
        job.refuse("rate_process", f"{process!r} is neither linear nor poisson")
    if len(rates) == 2:
        reads = _shared(job, rates, reads)
    verdict, reasons = _pacing(job, name, sizes, rates, depth)
    if process == "linear" and not is_alone:
        reasons.append("the first comes a random part of a gap later, as no two jobs start at once")
    job.say(name, verdict, "workload.arrivals", "; ".join(reasons))
    job.say("rate_process", Verdict.MAPPED, "workload.arrivals")
    for other in _NAMES:
        if other != name:
            job.say(other, Verdict.INERT, "", "switched off")
    # Flushes whose times are drawn take a slot each; fio paces reads and writes alone.
    total = sum(rates, Fraction()) * (1 + flushes.share)
    shown = f"{written.decimal(round(Decimal(total.numerator) / total.denominator, 6))} IOPS"
    table: dict[str, Value] = {
        "process": "poisson" if process == "poisson" else "constant",
        "rate": shown,
    }
    if process == "linear" and not is_alone:
        table["phase"] = "random"
    return [job.row("arrivals", table, name, "rate_process")], reads


def _shared(job: Job, rates: list[Fraction], reads: Fraction) -> Fraction:
    """Return the share of reads that follows from the rates of both kinds."""
    share = rates[0] / sum(rates, Fraction())
    if share != reads:
        told = "fio lets both kinds reach their rates, whatever the share of reads"
        for mixed in ("rwmixread", "rwmixwrite"):
            job.say(mixed, Verdict.INERT, "", told)
    return share


def _pacing(
    job: Job, name: str, sizes: BySize, rates: list[Fraction], depth: int
) -> tuple[Verdict, list[str]]:
    """Return the verdict on a rate, and the reasons."""
    verdict, reasons = Verdict.MAPPED, []
    if len(rates) == 2:
        verdict = Verdict.APPROXIMATED
        share = values.percent(rates[0] / sum(rates, Fraction()))
        reasons.append(f"one stream at the sum of both rates, {share} of it reads")
    is_by_bytes = any(
        not of.is_fixed and not (name == "rate_iops" and of.name == "bssplit")
        for of in sizes.used.values()
    )
    if is_by_bytes:
        verdict = Verdict.APPROXIMATED
        reasons.append("fio paces bytes; here requests come at the rate for the mean size")
    if depth > 1 and job.text("io_submit_mode") != "offload":
        # rate_ddir in io_u.c lets the queue run empty before it waits for the next time.
        verdict = Verdict.APPROXIMATED
        reasons.append(
            "requests come by the clock; fio sends none before all have ended, unless it is late, "
            "and then all that are late at once"
        )
    reasons.append(
        "latency counts from the time at which a request is due; fio counts from the sending"
    )
    return verdict, reasons


def _rates(job: Job, sizes: BySize, process: str) -> list[Fraction]:
    """Return requests a second of each direction of the job; 0 if none is given.

    fio converts ``rate_iops`` to bytes of the smallest size and paces bytes, except for
    ``bssplit`` and Poisson arrivals (usec_for_io in backend.c).
    """
    by_bytes = job.value("rate", values.directions, ("", "", ""))
    by_number = job.value("rate_iops", values.directions, ("", "", ""))
    rates = []
    for direction, found in sizes.used.items():
        size, number = by_bytes[direction], by_number[direction]
        try:
            rate = Fraction(job.plain_bytes(size)) if size else Fraction()
            iops = Fraction(job.plain_bytes(number)) if number else Fraction()
        except values.RefusedError as refused:
            job.refuse("rate" if size else "rate_iops", str(refused))
            return []
        if process == "poisson":
            rates.append(iops or rate // found.least * Fraction(1))
        elif found.name == "bssplit" and iops:
            rates.append(iops)
        else:
            rates.append((rate or iops * found.least) / found.mean)
    return rates
