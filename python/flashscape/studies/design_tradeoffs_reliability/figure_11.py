"""Figure 11: server traces on worn chips under re-reads, scrubbing and holistic management."""

from __future__ import annotations

from statistics import fmean
from typing import TYPE_CHECKING, Any

from flashscape.reproduce import Answer, Exhibit, Figure, Run, along, plots
from flashscape.studies import server_traces

from ._drives import (
    CHIPS,
    SCHEMES,
    drive,
    errors,
    hrm,
    oracle,
    precondition,
)
from ._runs import (
    IDEAL,
    amplification,
    mean,
    times,
)
from ._traces import (
    SKEWED,
    TRACES,
    extents,
    load,
)

if TYPE_CHECKING:
    from collections.abc import Iterable

    import polars as pl
    from matplotlib.figure import Figure as Picture

    from flashscape.reproduce import Outcomes, Setting
    from flashscape.result import Result
    from flashscape.studies.server_traces import Trace

    from ._drives import Chip

exhibit = Exhibit()

LOOKS = plots.Looks(*SCHEMES.values())


def _name(trace: str, chip: str, scheme: str, *, one_check: bool = False) -> str:
    name = f"{trace}-{IDEAL}" if scheme == IDEAL else f"{trace}-{chip}-{scheme}"
    return f"{name}{'-one' if one_check else ''}"


def _tables(of: Chip, scheme: str) -> dict[str, Any]:
    """Return tables of the FTL under a scheme.

    The paper does not say from which number of errors on this scrubber moves data: from what the
    code corrects, which is the middle one of the three that it compares.
    """
    if scheme == "oracle":
        return oracle(of.strong)
    return hrm() if scheme == "hrm" else {}


def run(setting: Setting, trace: Trace, chip: str, scheme: str, *, one_check: bool = False) -> Run:
    """Return the run of a trace on a worn chip under a scheme; its own file, if it is there."""
    of = CHIPS[chip]
    code = errors(of, of.worn, None if scheme == IDEAL else of.strong, one_check=one_check)
    kind = "synthetic" if trace.given(setting) is None else trace.file
    checks = ", one check for 4 KiB" if one_check else ""
    title = f"{trace.title} ({kind}) on {of.title}: {SCHEMES.get(scheme, 'no limit')}{checks}"
    experiment = {
        "title": title,
        "drive": drive(setting, code, **_tables(of, scheme)),
        "precondition": precondition(),
        **load(setting, trace),
    }
    return Run(_name(trace.name, chip, scheme, one_check=one_check), experiment)


@exhibit.runs
def runs(setting: Setting) -> list[Run]:
    """Return each trace on each chip under each scheme, and once with a code without limit.

    Each is there for both readings of the codeword.
    """
    wanted = [("tlc", IDEAL), *((chip, scheme) for chip in CHIPS for scheme in SCHEMES)]
    return [
        run(setting, trace, chip, scheme, one_check=one_check)
        for one_check in (False, True)
        for trace in TRACES.values()
        for chip, scheme in wanted
    ]


def _result(
    runs: Outcomes, trace: str, chip: str, scheme: str, *, one_check: bool = False
) -> Result:
    return runs[_name(trace, chip, scheme, one_check=one_check)].result


def _overhead(
    runs: Outcomes, trace: str, chip: str, scheme: str, *, one_check: bool = False
) -> float:
    """Return what the mean read takes besides that with a code without limit."""
    over = _result(runs, trace, "tlc", IDEAL, one_check=one_check)
    return times(_result(runs, trace, chip, scheme, one_check=one_check), over) - 1


def _averages(runs: Outcomes, scheme: str, *, one_check: bool = False) -> tuple[float, ...]:
    """Return the mean overhead over traces, by chip."""
    return tuple(
        fmean(_overhead(runs, trace, chip, scheme, one_check=one_check) for trace in TRACES)
        for chip in CHIPS
    )


def _answer(runs: Outcomes, told: str, figures: dict[str, Any]) -> Answer:
    return Answer(told, figures, no_better=server_traces.no_better(runs.setting, TRACES))


def _told(averages: tuple[float, ...]) -> str:
    pairs = zip(CHIPS.values(), averages, strict=True)
    return ", ".join(f"{of.title} {Figure(value).text('share')}" for of, value in pairs)


def _re_reads(runs: Outcomes, *, one_check: bool) -> Answer:
    averages = _averages(runs, "re-read", one_check=one_check)
    figures = {
        f"{chip.replace('-', '_')}_overhead_share": value
        for chip, value in zip(CHIPS, averages, strict=True)
    }
    return _answer(runs, _told(averages), figures)


@exhibit.measures("R-14")
def re_reads(runs: Outcomes) -> Answer:
    """Return the mean overhead of re-reads by chip."""
    return _re_reads(runs, one_check=False)


@exhibit.measures("R-14c")
def re_reads_one_check(runs: Outcomes) -> Answer:
    """Return the same with one check for 4 KiB."""
    return _re_reads(runs, one_check=True)


def _of_schemes(runs: Outcomes, schemes: Iterable[str], *, one_check: bool) -> Answer:
    """Return the mean overhead of schemes by chip."""
    averages = {scheme: _averages(runs, scheme, one_check=one_check) for scheme in schemes}
    figures = {f"{s.replace('-', '_')}_overhead_share": each for s, each in averages.items()}
    told = "; ".join(f"{SCHEMES[scheme]} {_told(each)}" for scheme, each in averages.items())
    return _answer(runs, told, figures)


@exhibit.measures("R-15")
def scrubbed(runs: Outcomes) -> Answer:
    """Return the mean overhead with the scrubber, and without."""
    return _of_schemes(runs, ("oracle", "re-read"), one_check=False)


@exhibit.measures("R-15c")
def scrubbed_one_check(runs: Outcomes) -> Answer:
    """Return the same with one check for 4 KiB."""
    return _of_schemes(runs, ("oracle", "re-read"), one_check=True)


@exhibit.measures("R-16")
def managed(runs: Outcomes) -> Answer:
    """Return the mean overhead with holistic management, and with the other schemes."""
    return _of_schemes(runs, SCHEMES, one_check=False)


@exhibit.measures("R-16c")
def managed_one_check(runs: Outcomes) -> Answer:
    """Return the same with one check for 4 KiB."""
    return _of_schemes(runs, SCHEMES, one_check=True)


@exhibit.measures("R-17")
def worst(runs: Outcomes) -> Answer:
    """Return the overhead of DAP-DS with re-reads, and the greatest of the other traces."""
    ours = tuple(_overhead(runs, "dap-ds", chip, "re-read") for chip in CHIPS)
    others = tuple(
        max(_overhead(runs, trace, chip, "re-read") for trace in TRACES if trace != "dap-ds")
        for chip in CHIPS
    )
    figures = {"dap_ds_overhead_share": ours, "others_overhead_share": others}
    return _answer(runs, f"{_told(ours)}; others at most {_told(others)}", figures)


def _means(runs: Outcomes, traces: tuple[str, ...], chip: str, scheme: str) -> Figure:
    return along(mean(_result(runs, trace, chip, scheme)) for trace in traces)


@exhibit.measures("R-18")
def unskewed(runs: Outcomes) -> Answer:
    """Return mean reads of DAP-PS on TLC under each scheme."""
    means = {scheme: mean(_result(runs, "dap-ps", "tlc", scheme)) for scheme in SCHEMES}
    figures = {f"{s.replace('-', '_')}_mean_ns": each for s, each in means.items()}
    told = ", ".join(f"{SCHEMES[scheme]} {each.text('ns')}" for scheme, each in means.items())
    return _answer(runs, told, figures)


@exhibit.measures("R-19")
def skewed(runs: Outcomes) -> Answer:
    """Return mean reads of traces with skewed reads on TLC under each scheme."""
    means = {scheme: _means(runs, SKEWED, "tlc", scheme) for scheme in SCHEMES}
    figures = {f"{s.replace('-', '_')}_mean_ns": each for s, each in means.items()}
    told = "; ".join(f"{SCHEMES[scheme]} {each.text('ns')}" for scheme, each in means.items())
    return _answer(runs, told, figures)


@exhibit.measures("R-20")
def befs(runs: Outcomes) -> Answer:
    """Return mean reads of MSN-BEFS on each chip with the scrubber and with holistic management."""
    means = {
        scheme: along(mean(_result(runs, "msn-befs", chip, scheme)) for chip in CHIPS)
        for scheme in ("oracle", "hrm")
    }
    figures = {f"{scheme}_mean_ns": each for scheme, each in means.items()}
    told = "; ".join(f"{SCHEMES[scheme]} {each.text('ns')}" for scheme, each in means.items())
    return _answer(runs, told, figures)


def _drawn(runs: Outcomes, chip: str) -> Picture:
    groups = {
        trace.title: {
            title: _overhead(runs, name, chip, scheme) for scheme, title in SCHEMES.items()
        }
        for name, trace in TRACES.items()
    }
    synthetic = server_traces.no_better(runs.setting, TRACES) is not None
    title = f"{CHIPS[chip].title}{'; synthetic traces' if synthetic else ''}"
    return plots.bars(groups, LOOKS, unit="share", label="overhead of the mean read", title=title)


@exhibit.draws("tlc")
def drawn_tlc(runs: Outcomes) -> Picture:
    """Draw the overhead of the mean read on TLC."""
    return _drawn(runs, "tlc")


@exhibit.draws("mlc-2y")
def drawn_2y(runs: Outcomes) -> Picture:
    """Draw the same on 2y-nm MLC."""
    return _drawn(runs, "mlc-2y")


@exhibit.draws("mlc-3x")
def drawn_3x(runs: Outcomes) -> Picture:
    """Draw the same on 3x-nm MLC."""
    return _drawn(runs, "mlc-3x")


def _row(
    runs: Outcomes, trace: str, chip: str, scheme: str, *, one_check: bool
) -> dict[str, object]:
    found = _result(runs, trace, chip, scheme, one_check=one_check)
    return {
        "trace": TRACES[trace].title,
        "checks_of_4_kib": 1 if one_check else 8,
        "chip": CHIPS[chip].title,
        "scheme": SCHEMES[scheme],
        "reads": found.read.requests,
        "read_mean_ns": found.read.mean,
        "overhead_share": _overhead(runs, trace, chip, scheme, one_check=one_check),
        "read_p99_9_ns": found.read.percentile(99.9),
        "write_amplification": amplification(found),
        "of_scrubbing": amplification(found, "scrub"),
        "of_parity": amplification(found, "parity"),
    }


@exhibit.tabulates("reads")
def tabled(runs: Outcomes) -> pl.DataFrame:
    """Return reads and write amplification of each trace, chip, scheme and reading."""
    import polars as pl

    return pl.DataFrame(
        _row(runs, trace, chip, scheme, one_check=one_check)
        for one_check in (False, True)
        for trace in TRACES
        for chip in CHIPS
        for scheme in SCHEMES
    )


@exhibit.tabulates("traces")
def facts(runs: Outcomes) -> pl.DataFrame:
    """Return the figures that synthetic traces are made from, each with its source."""
    import polars as pl

    rows = []
    for trace in TRACES.values():
        told = trace.facts()
        places = extents(runs.setting, trace)
        size = sum(int(place["size"].removesuffix(" B")) for place in places) / server_traces.MIB
        told["footprint here"] = (f"{size:.0f} MiB", trace.footprint.source)
        if (written := trace.written_footprint) is not None:
            told["of it written, on the paper's drive"] = (
                f"{written.value / server_traces.MIB:.0f} MiB",
                written.source,
            )
        rows += [
            {"trace": trace.title, "figure": figure, "value": value, "source": source}
            for figure, (value, source) in told.items()
        ]
    return pl.DataFrame(rows)
