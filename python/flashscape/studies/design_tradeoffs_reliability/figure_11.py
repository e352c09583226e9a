"""Figure 11: server traces on worn chips under re-reads, scrubbing and holistic management."""

from __future__ import annotations

from statistics import fmean
from typing import TYPE_CHECKING, Any

from flashscape.reproduce import Answer, Exhibit, Figure, Run, along, plots
from flashscape.studies import server_traces
from flashscape.studies.design_tradeoffs_reliability._drives import (
    CHIPS,
    SCHEMES,
    drive,
    early,
    errors,
    hrm,
    oracle,
    precondition,
)
from flashscape.studies.design_tradeoffs_reliability._runs import (
    IDEAL,
    amplification,
    mean,
    times,
)
from flashscape.studies.design_tradeoffs_reliability._traces import (
    SKEWED,
    TRACES,
    extents,
    load,
)

if TYPE_CHECKING:
    import polars as pl
    from matplotlib.figure import Figure as Picture

    from flashscape.reproduce import Outcomes, Setting
    from flashscape.result import Result
    from flashscape.studies.design_tradeoffs_reliability._drives import Chip
    from flashscape.studies.server_traces import Trace

exhibit = Exhibit()

LOOKS = plots.Looks(*SCHEMES.values())


def _name(trace: str, chip: str, scheme: str) -> str:
    return f"{trace}-{IDEAL}" if scheme == IDEAL else f"{trace}-{chip}-{scheme}"


def _tables(of: Chip, scheme: str) -> dict[str, Any]:
    """Return tables of the FTL under a scheme."""
    if scheme == "oracle":
        return oracle(early(of))
    return hrm() if scheme == "hrm" else {}


def run(setting: Setting, trace: Trace, chip: str, scheme: str) -> Run:
    """Return the run of a trace on a worn chip under a scheme; its own file, if it is there."""
    of = CHIPS[chip]
    code = errors(of, of.worn, None if scheme == IDEAL else of.strong)
    kind = "synthetic" if trace.given(setting) is None else trace.file
    experiment = {
        "title": f"{trace.title} ({kind}) on {of.title}: {SCHEMES.get(scheme, 'no limit')}",
        "drive": drive(setting, code, **_tables(of, scheme)),
        "precondition": precondition(),
        **load(setting, trace),
    }
    return Run(_name(trace.name, chip, scheme), experiment)


@exhibit.runs
def runs(setting: Setting) -> list[Run]:
    """Return each trace on each chip under each scheme, and once with a code without limit."""
    return [
        each
        for trace in TRACES.values()
        for each in (
            run(setting, trace, "tlc", IDEAL),
            *(run(setting, trace, chip, scheme) for chip in CHIPS for scheme in SCHEMES),
        )
    ]


def _result(runs: Outcomes, trace: str, chip: str, scheme: str) -> Result:
    return runs[_name(trace, chip, scheme)].result


def _overhead(runs: Outcomes, trace: str, chip: str, scheme: str) -> float:
    """Return what the mean read takes besides that with a code without limit."""
    over = _result(runs, trace, "tlc", IDEAL)
    return times(_result(runs, trace, chip, scheme), over) - 1


def _average(runs: Outcomes, chip: str, scheme: str) -> float:
    return fmean(_overhead(runs, trace, chip, scheme) for trace in TRACES)


def _averages(runs: Outcomes, scheme: str) -> tuple[float, ...]:
    return tuple(_average(runs, chip, scheme) for chip in CHIPS)


def _answer(runs: Outcomes, told: str, figures: dict[str, Any]) -> Answer:
    return Answer(told, figures, no_better=server_traces.no_better(runs.setting, TRACES))


def _told(averages: tuple[float, ...]) -> str:
    pairs = zip(CHIPS.values(), averages, strict=True)
    return ", ".join(f"{of.title} {Figure(value).text('share')}" for of, value in pairs)


@exhibit.measures("R-14")
def re_reads(runs: Outcomes) -> Answer:
    """Return the mean overhead of re-reads by chip."""
    averages = _averages(runs, "re-read")
    figures = {
        f"{chip.replace('-', '_')}_overhead_share": value
        for chip, value in zip(CHIPS, averages, strict=True)
    }
    return _answer(runs, _told(averages), figures)


@exhibit.measures("R-15")
def scrubbed(runs: Outcomes) -> Answer:
    """Return the mean overhead with the scrubber by chip."""
    ours, without = _averages(runs, "oracle"), _averages(runs, "re-read")
    figures = {"oracle_overhead_share": ours, "re_read_overhead_share": without}
    return _answer(runs, f"{_told(ours)}; re-reads {_told(without)}", figures)


@exhibit.measures("R-16")
def managed(runs: Outcomes) -> Answer:
    """Return the mean overhead with holistic management by chip."""
    of_schemes = {scheme: _averages(runs, scheme) for scheme in SCHEMES}
    figures = {f"{s.replace('-', '_')}_overhead_share": each for s, each in of_schemes.items()}
    told = "; ".join(f"{SCHEMES[scheme]} {_told(each)}" for scheme, each in of_schemes.items())
    return _answer(runs, told, figures)


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


@exhibit.tabulates("reads")
def tabled(runs: Outcomes) -> pl.DataFrame:
    """Return reads and write amplification of each trace, chip and scheme."""
    import polars as pl

    rows = []
    for name, trace in TRACES.items():
        for chip, of in CHIPS.items():
            for scheme, title in SCHEMES.items():
                found = _result(runs, name, chip, scheme)
                rows.append(
                    {
                        "trace": trace.title,
                        "chip": of.title,
                        "scheme": title,
                        "reads": found.read.requests,
                        "read_mean_ns": found.read.mean,
                        "overhead_share": _overhead(runs, name, chip, scheme),
                        "read_p99_9_ns": found.read.percentile(99.9),
                        "write_amplification": amplification(found),
                    }
                )
    return pl.DataFrame(rows)


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
