"""Claims of the abstract."""

from __future__ import annotations

from typing import TYPE_CHECKING

from flashscape.act import load
from flashscape.reproduce import Answer, Exhibit, Figure, percentile

from . import _act
from ._runs import fio, tpcc
from .figure_6 import longest

if TYPE_CHECKING:
    from flashscape.reproduce import Outcomes, Run, Setting

exhibit = Exhibit()

_COMPARED = {"baseline": "baseline", "t_es": "t-es-64"}


@exhibit.runs
def runs(setting: Setting) -> list[Run]:
    """Return the runs of figures 4 to 6 that the abstract refers to."""
    mix = fio(setting, ("baseline", "es", "i-es", "t-es-64"))
    act = _act.runs(setting, [_act.AT], _COMPARED.values())
    return [*mix, *act, *(tpcc(setting, scheme) for scheme in _COMPARED.values())]


@exhibit.measures("E-1")
def below_200_us(runs: Outcomes) -> Answer:
    """Return the read tails of the schemes that interrupt at once."""
    schemes = {**_COMPARED, "i_es": "i-es", "es": "es"}
    tails = {
        f"{name}_read_p99_999_ns": percentile(runs[f"fio-{scheme}"].measured.read, 99.999)
        for name, scheme in schemes.items()
    }
    t_es, baseline = (tails[f"{name}_read_p99_999_ns"].text("ns") for name in ("t_es", "baseline"))
    return Answer(f"T-ES {t_es}, Baseline {baseline}", tails)


@exhibit.measures("E-2")
def five_times(runs: Outcomes) -> Answer:
    """Return the longest reads of ACT and TPC-C with T-ES and under Baseline."""
    figures = {}
    for name, scheme in _COMPARED.items():
        small = runs[_act.run_name(scheme, _act.AT)].measured.of_kind("read", load.slice_name(0))
        figures[f"act_{name}_read_max_ns"] = Figure(small.max, small.requests)
        figures[f"tpcc_{name}_read_max_ns"] = longest(runs, scheme, "read")
    texts = {name: figure.text("ns") for name, figure in figures.items()}
    ours = (
        f"ACT {texts['act_baseline_read_max_ns']} to {texts['act_t_es_read_max_ns']}, TPC-C "
        f"{texts['tpcc_baseline_read_max_ns']} to {texts['tpcc_t_es_read_max_ns']}"
    )
    return Answer(ours, figures)
