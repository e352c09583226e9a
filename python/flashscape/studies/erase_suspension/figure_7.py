"""Figure 7: reads and writes of TPC-C by the timeout of T-ES."""

from __future__ import annotations

from typing import TYPE_CHECKING

from flashscape.reproduce import Answer, Exhibit, Figure, along, plots

from ._runs import TIMEOUTS_MS, lambda_t, tpcc
from .figure_6 import longest

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Picture

    from flashscape.latency import Latency
    from flashscape.reproduce import Outcomes, Run, Setting

exhibit = Exhibit()

_DRAWN_MS = (4, 16, 64, 256, 1024, 4096)


@exhibit.runs
def runs(setting: Setting) -> list[Run]:
    """Return the synthetic trace with D-ES, I-ES and every timeout between them."""
    schemes = ("d-es", "i-es", *(f"t-es-{n}" for n in TIMEOUTS_MS))
    return [tpcc(setting, scheme) for scheme in schemes]


def _reads(runs: Outcomes, timeout_ms: int) -> Latency:
    return runs[f"tpcc-t-es-{timeout_ms}"].measured.read


def _share_over(latency: Latency, threshold_ns: int) -> Figure:
    """Return the share of requests beyond a threshold, to the width of a bucket, 0.1 %."""
    slower = sum(count for upper, count in latency.buckets if upper > threshold_ns)
    return Figure(slower / latency.requests, latency.requests, slower)


def _shares(runs: Outcomes, threshold_ns: int) -> list[Figure]:
    return [_share_over(_reads(runs, n), threshold_ns) for n in TIMEOUTS_MS]


def _means(runs: Outcomes) -> list[Figure]:
    return [Figure(_reads(runs, n).mean, _reads(runs, n).requests) for n in TIMEOUTS_MS]


@exhibit.measures("E-16")
def transition(runs: Outcomes) -> Answer:
    """Return the shares of reads that wait for a step, by N."""
    shares, slow = _shares(runs, 500_000), _shares(runs, 200_000)
    figures = {
        "reads_over_500us_share": along(shares),
        "smallest_n_reads_over_200us_share": slow[0],
        "smallest_n_reads_over_500us_share": shares[0],
        "largest_n_reads_over_500us_share": shares[-1],
    }
    first = TIMEOUTS_MS[0]
    ours = (
        f"at N = {first} ms {slow[0].text('share')} of reads take longer than 200 us; beyond "
        f"500 us by rising N: {along(shares).text('share')}"
    )
    reason = "the share of reads that meet an erase depends on the reads of a die in a step"
    return Answer(ours, figures, f"{reason}: here {lambda_t():.0f}")


@exhibit.measures("E-17")
def trade(runs: Outcomes) -> Answer:
    """Return slow reads, mean reads and the longest write, by N."""
    slow, means = _shares(runs, 200_000), _means(runs)
    writes = [longest(runs, f"t-es-{n}", "write") for n in TIMEOUTS_MS]
    figures = {
        "reads_over_200us_share": along(slow),
        "read_mean_ns": along(means),
        "write_max_ns": along(writes),
    }
    ends = [
        f"{figures_of[0].text(unit)} to {figures_of[-1].text(unit)}"
        for figures_of, unit in ((slow, "share"), (means, "ns"), (writes, "ns"))
    ]
    ours = f"reads over 200 us {ends[0]}, mean read {ends[1]}, longest write {ends[2]}"
    return Answer(f"N from {TIMEOUTS_MS[0]} to {TIMEOUTS_MS[-1]} ms: {ours}", figures)


@exhibit.draws("read-tails")
def drawn(runs: Outcomes) -> Picture:
    """Draw reads, from D-ES through growing timeouts to I-ES."""
    names = ["D-ES", *(f"T-ES({n})" for n in _DRAWN_MS), "I-ES"]
    curves = {"D-ES": runs["tpcc-d-es"].measured.read, "I-ES": runs["tpcc-i-es"].measured.read}
    curves |= {f"T-ES({n})": _reads(runs, n) for n in _DRAWN_MS}
    return plots.tails({"reads": curves}, plots.Looks(*names))


@exhibit.draws("by-timeout")
def by_timeout(runs: Outcomes) -> Picture:
    """Draw the three trends."""
    writes = [longest(runs, f"t-es-{n}", "write") for n in TIMEOUTS_MS]
    panels = {
        "share of reads over 200 µs": _shares(runs, 200_000),
        "mean read": _means(runs),
        "longest write": writes,
    }
    points = {
        name: {
            "T-ES": [(n * 1e6, float(f.numbers[0])) for n, f in zip(TIMEOUTS_MS, of, strict=True)]
        }
        for name, of in panels.items()
    }
    return plots.lines(
        points,
        plots.Looks("T-ES"),
        x_label="timeout N",
        x_unit="ns",
        units={"mean read": "ns", "longest write": "ns"},
        log=True,
    )
