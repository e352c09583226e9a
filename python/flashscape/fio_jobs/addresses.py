"""Addresses of a job's requests."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

from flashscape import written
from flashscape.fio_jobs import values
from flashscape.imported import Verdict

if TYPE_CHECKING:
    from flashscape.fio_jobs.job import Job
    from flashscape.fio_jobs.sizes import Sizes
    from flashscape.written import Row, Value

_ZIPF = "1.1"
"""Exponent if none is given (FIO_DEF_ZIPF)."""

_THETA_MOST = 3.0
_JESD219 = [(50, 5), (30, 15), (20, 80)]

_RANDOM = ("random_distribution", "percentage_random", "random_generator", "norandommap", "ba")
"""Options without meaning for sequential jobs."""


def rows(
    job: Job, directions: list[int], sizes: Sizes, postfix: str, *, is_random: bool
) -> list[Row]:
    """Return ``align`` and ``addresses`` of a workload."""
    if is_random and _percent_random(job, directions) == 0:
        job.say("percentage_random", Verdict.MAPPED, "workload.addresses", "0: sequential")
        is_random = False
    if not is_random:
        return _sequential(job, directions, sizes, postfix)
    if postfix not in ("", "1"):
        job.refuse("rw", _no_postfix(f":{postfix}", "runs of sequential requests"))
    job.say("rw_sequencer", Verdict.INERT, "", "rw has no number behind it")
    return [*_align(job, directions), _distribution(job, directions)]


def _no_postfix(postfix: str, what: str) -> str:
    return f"{postfix} makes {what}, which have no counterpart here; take it out"


def _percent_random(job: Job, directions: list[int]) -> int:
    texts = job.value("percentage_random", values.directions, ("", "", ""))
    shares = {texts[direction] or "100" for direction in directions}
    if len(shares) == 1 and (only := next(iter(shares))) in ("0", "100"):
        job.say("percentage_random", Verdict.MAPPED, "workload.addresses")
        return int(only)
    job.refuse(
        "percentage_random",
        "sequential and random requests in one job have no counterpart here; make it two jobs, or "
        "import with --without percentage_random",
    )
    return 100


def _sequential(job: Job, directions: list[int], sizes: Sizes, postfix: str) -> list[Row]:
    for name in _RANDOM:
        if not job.is_said(name):
            job.say(name, Verdict.INERT, "", "the job is sequential")
    job.say("rw_sequencer", Verdict.INERT, "", "the job is sequential")
    if len(directions) > 1:
        why = "reads and writes go through the region together; in fio each goes through all of it"
        job.say("rw", Verdict.APPROXIMATED, "workload.addresses", why)
    if not postfix:
        return [job.row("addresses", {"pattern": "sequential"}, "rw")]
    try:
        gap = job.plain_bytes(postfix)
    except values.RefusedError:
        job.refuse("rw", _no_postfix(f":{postfix}", "steps backwards"))
        return []
    if not sizes.is_fixed:
        job.refuse("rw", _no_postfix(f":{postfix}", "gaps behind requests of several sizes"))
        return []
    size = sizes.entries[0][0]
    if gap % size:
        job.refuse("rw", f":{postfix} leaves gaps that are no multiple of bs, {size} B")
        return []
    stride: dict[str, Value] = {"pattern": "strided", "stride": written.size(size + gap)}
    return [job.row("addresses", stride, "rw", "bs")]


def _align(job: Job, directions: list[int]) -> list[Row]:
    """Convert ``ba``; by default requests begin at multiples of the smallest size, as in fio."""
    texts = job.value("ba", values.directions, ("", "", ""))
    given = {texts[direction] for direction in directions}
    if given == {""}:
        return []
    if len(given) > 1:
        job.refuse("ba", "reads and writes begin at multiples of different sizes; make it two jobs")
        return []
    try:
        align = job.plain_bytes(given.pop())
    except values.RefusedError as refused:
        job.refuse("ba", str(refused))
        return []
    job.say("ba", Verdict.MAPPED, "workload.align")
    return [job.row("align", written.size(align), "ba")]


def _distribution(job: Job, directions: list[int]) -> Row:
    text = job.text("random_distribution") or "random"
    name, _, parameters = text.partition(":")
    readers = {"random": _uniform, "zipf": _zipf, "zoned": _zoned}
    try:
        if name not in readers:
            raise values.RefusedError(
                f"{name!r} has no counterpart here (random, zipf, some of zoned have); choose one "
                "of those, or import with --without random_distribution"
            )
        value = readers[name](job, parameters, directions)
    except values.RefusedError as refused:
        job.refuse("random_distribution", str(refused))
        value = "uniform"
    _map(job, is_uniform=name == "random")
    return job.row("addresses", value, "rw", "random_distribution", "norandommap")


def _map(job: Job, *, is_uniform: bool) -> None:
    """Judge the options of fio's block map, which lets each block be accessed once per pass."""
    why = (
        "places are drawn again and again; fio without norandommap asks for each once before it "
        "begins anew"
    )
    if is_uniform and not (job.truth("norandommap") or job.has("ba")):
        job.say("norandommap", Verdict.APPROXIMATED, "workload.addresses", why)
        job.assume("norandommap", "0", Verdict.APPROXIMATED, "workload.addresses", why)
    else:
        job.say("norandommap", Verdict.MAPPED, "workload.addresses")
    generator = job.text("random_generator")
    if generator == "lfsr":
        why = "places are drawn again and again; lfsr asks for each once"
        job.say("random_generator", Verdict.APPROXIMATED, "workload.addresses", why)
    else:
        job.say("random_generator", Verdict.INERT, "", "random numbers are drawn another way here")


def _uniform(job: Job, _parameters: str, _directions: list[int]) -> Value:
    job.say("random_distribution", Verdict.MAPPED, "workload.addresses")
    return "uniform"


def _zipf(job: Job, parameters: str, _directions: list[int]) -> Value:
    given, _, centre = parameters.partition(":")
    try:
        theta = float(given or _ZIPF)
    except ValueError:
        raise values.RefusedError(f"{given!r} is no number for zipf") from None
    if theta == 1.0:
        raise values.RefusedError("fio refuses zipf:1, where its formula divides by 0")
    if not 0 <= theta <= _THETA_MOST:
        raise values.RefusedError(f"zipf takes 0 to {_THETA_MOST:g} here, not {given}")
    why = "the hottest places are scattered, in another order than fio's"
    job.say("random_distribution", Verdict.MAPPED, "workload.addresses", why)
    if centre:
        why = f"fio places the hottest block at {centre} of the region, and scatters the others"
        job.say("random_distribution", Verdict.APPROXIMATED, "workload.addresses", why)
    return {"pattern": "zipf", "theta": theta}


def _zoned(job: Job, parameters: str, directions: list[int]) -> Value:
    texts = {values.directions(parameters)[direction] for direction in directions}
    if len(texts) > 1:
        raise values.RefusedError("reads and writes have different zones; make it two jobs")
    given = values.pairs(texts.pop())
    spaces = [values.whole(space) if space else None for _, space in given]
    if spaces.count(None) == 1:
        # fio gives the remaining share to a zone without a number.
        spaces[spaces.index(None)] = 100 - sum(space for space in spaces if space is not None)
    zones = [
        (values.whole(accesses), space or 0)
        for (accesses, _), space in zip(given, spaces, strict=True)
    ]
    if any(sum(part) != 100 for part in zip(*zones, strict=True)) or None in spaces:
        raise values.RefusedError("the zones do not add up to 100 % of accesses and of space")
    job.say("random_distribution", Verdict.MAPPED, "workload.addresses")
    if zones == _JESD219:
        return "jesd219"
    if len(zones) == 1:
        return "uniform"
    if len(zones) == 2:
        accesses, space = (values.percent(Fraction(part, 100)) for part in zones[0])
        return {"pattern": "hot-cold", "hot_space": space, "hot_accesses": accesses}
    raise values.RefusedError(
        "zoned has a counterpart here with two zones, and with those of JESD219 "
        "(50/5:30/15:20/80); give two, or import with --without random_distribution"
    )
