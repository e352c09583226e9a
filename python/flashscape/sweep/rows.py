"""Rows of a sweep's table, from summaries: one for each point, initiator and kind.

If several initiators issue requests of a kind, a row of all of them follows.
"""

from __future__ import annotations

import json
from functools import cache
from typing import TYPE_CHECKING, Any

from flashscape import _flashscape, overload
from flashscape.causes import CAUSES, OTHER, by_cause
from flashscape.latency import KINDS, PERCENTILES
from flashscape.quantities import is_whole, quantity
from flashscape.steadiness import FIGURES, unsteady
from flashscape.sweep.design import plain
from flashscape.together import ALL, joint

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

_SOURCES = (
    "host_read",
    "host_program",
    "rmw_read",
    "re_read",
    "parity",
    "rebuild",
    "gc_read",
    "gc_program",
)
_SPREAD = ("mean", "min", "max", "stddev")

_STATUS: dict[str, str] = {
    "point": "int",
    "name": "text",
    "variation": "text",
    "status": "text",
    "error": "text",
    "results": "text",
}

_REQUESTS: dict[str, str] = {
    "initiator": "text",
    "kind": "text",
    "requests": "int",
    "bytes": "int",
    "iops": "float",
    "bytes_per_second": "float",
    "unmapped": "int",
    "met": "int",
    "blocked": "int",
    "mean_ns": "float",
    "mean_ci95_ns": "float",
    "min_ns": "int",
    "max_ns": "int",
    **{f"{name}_ns": "int" for name in PERCENTILES},
    **{f"{name}_samples_beyond": "int" for name in PERCENTILES},
}

_DRIVE: dict[str, str] = {
    "write_amplification": "float",
    "write_amplification_host": "float",
    "write_amplification_gc": "float",
    "write_amplification_scrub": "float",
    "write_amplification_summary": "float",
    "write_amplification_parity": "float",
    "write_amplification_rebuild": "float",
    "write_amplification_padding": "float",
    "written_bytes": "int",
    "flash_commands": "int",
    **{f"{source}_planes": "int" for source in _SOURCES},
    "copy_back_planes": "int",
    "modify_planes": "int",
    "erases": "int",
    "erases_since_new": "int",
    **{f"erase_count_{each}": "float" for each in _SPREAD},
    "bad_blocks": "int",
    "retired": "int",
    "migrations": "int",
    "worn_out_bytes": "int",
    **{f"unit_utilisation_{each}": "float" for each in _SPREAD},
    **{f"channel_utilisation_{each}": "float" for each in _SPREAD},
    **{f"held_{each}": "float" for each in _SPREAD},
    "computed_units": "int",
    "units_read_besides": "int",
    "held_data_units": "int",
    "held_parity_units": "int",
    "mean_outstanding": "float",
    "power_cuts": "int",
    "recovery_ns": "int",
    "recovery_longest_ns": "int",
    "lost_requests": "int",
    "simulated_ns": "int",
    "counted_ns": "int",
    "latency_steady": "bool",
    "latency_steady_reason": "text",
    "write_amplification_steady": "bool",
    "write_amplification_steady_reason": "text",
    "precondition_write_amplification": "float",
    "precondition_steady": "bool",
    "overloaded": "texts",
    "notes": "texts",
    "digest": "text",
    "cpu_seconds": "float",
    "flashscape": "text",
}

_TIMED = (
    "flash_commands",
    *(f"{source}_planes" for source in _SOURCES),
    "copy_back_planes",
    "modify_planes",
    *(f"unit_utilisation_{each}" for each in _SPREAD),
    *(f"channel_utilisation_{each}" for each in _SPREAD),
    "computed_units",
    "units_read_besides",
    "held_data_units",
    "held_parity_units",
    "mean_outstanding",
    "latency_steady",
    "write_amplification_steady",
)
"""Metrics that an untimed run lacks."""


@cache
def metrics() -> dict[str, str]:
    """Return all columns except those of varied paths, with the kind of their values."""
    causes = {cause_column(cause.name): "float" for cause in (*CAUSES, OTHER)}
    states = {f"{name}_ns": "int" for name, _ in _flashscape.states()}
    return {**_REQUESTS, **causes, **states, **_DRIVE}


def cause_column(name: str) -> str:
    """Return the column with a cause's share of the latencies."""
    return f"{name.lower().replace(' ', '_').replace('-', '_')}_share"


def columns(points: Sequence[Mapping[str, Any]], paths: Sequence[str]) -> dict[str, str]:
    """Return all columns of the table, in order, with the kind of their values."""
    varied: dict[str, str] = {}
    for path, amounts in amount_columns(points, paths).items():
        varied[path] = _kind([p["values"][path] for p in points])
        if amounts is not None:
            whole = is_whole(amounts.removeprefix(f"{path}_"))
            varied[amounts] = "int" if whole else "float"
    return {**_STATUS, "seed": "unsigned", **varied, **metrics()}


def amount_columns(
    points: Sequence[Mapping[str, Any]], paths: Sequence[str]
) -> dict[str, str | None]:
    """Return the column of each path's quantities in base units; None if it has none."""
    units = {path: _unit([p["amounts"][path] for p in points]) for path in paths}
    return {path: None if unit is None else f"{path}_{unit}" for path, unit in units.items()}


def _kind(values: list[Any]) -> str:
    """Return the kind of a column with these values."""
    types = {type(plain(value)) for value in values if value is not None}
    if types == {bool}:
        return "bool"
    if types == {int}:
        # Larger integers are kept as written.
        return "int" if max(v for v in values if v is not None) < 2**63 else "text"
    return "float" if types and types <= {int, float} else "text"


def _unit(values: list[Any]) -> str | None:
    """Return the base unit of a column of quantities; None if kinds differ."""
    found = [quantity(plain(value)) for value in values if value is not None]
    units = {None if each is None else each.unit for each in found}
    return units.pop() if len(units) == 1 else None


def rows(point: Mapping[str, Any], summary: dict[str, Any] | None) -> Iterator[dict[str, Any]]:
    """Yield a row for each initiator and kind with requests; one row if there are none."""
    labels = _labels(point)
    if summary is None:
        yield labels
        return
    drive = _drive(summary)
    if is_untimed(summary):
        drive |= dict.fromkeys(_TIMED)
    for group in list(_groups(summary)) or [{}]:
        yield {**labels, **group, **drive}


def is_untimed(summary: dict[str, Any]) -> bool:
    """Return True if a run took no simulated time, so that it lacks timed metrics."""
    return bool(summary["config"]["run"].get("untimed", False))


def _labels(point: Mapping[str, Any]) -> dict[str, Any]:
    labels = {name: point[name] for name in (*_STATUS, "seed")}
    for path, value in point["values"].items():
        labels[path] = plain(value)
        amount = quantity(plain(point["amounts"][path]))
        if amount is not None:
            number = amount.amount
            labels[f"{path}_{amount.unit}"] = (
                int(number) if is_whole(amount.unit) else float(number)
            )
    return labels


def converted(value: Any, kind: str) -> Any:
    """Convert a value to the kind of its column."""
    if value is None:
        return None
    if kind == "float":
        return float(value)
    if kind == "text" and not isinstance(value, str):
        return json.dumps(value, ensure_ascii=False)
    return value


def _groups(summary: dict[str, Any]) -> Iterator[dict[str, Any]]:
    seconds = summary["counted_ns"] / 1e9
    untimed = is_untimed(summary)
    for initiator, kind, figures in _asked(summary):
        asked = _requests(figures, seconds)
        if untimed:
            asked = {name: asked[name] for name in ("requests", "bytes", "unmapped")}
        yield {"initiator": initiator, "kind": kind, **asked}


def _asked(summary: dict[str, Any]) -> Iterator[tuple[str, str, dict[str, Any]]]:
    """Yield initiator, kind and figures of groups with requests, then those of all initiators."""
    initiators = summary["initiators"]
    for initiator in initiators:
        for kind in KINDS:
            if initiator[kind]["requests"]:
                yield initiator["name"], kind, initiator[kind]
    for kind, figures in joint(summary):
        yield ALL, kind, figures


def _requests(figures: dict[str, Any], seconds: float) -> dict[str, Any]:
    latency, blame = figures["latency_ns"], figures["blame_ns"]
    spent = sum(blame.values())
    shares = {cause_column(c.name): ns / spent for c, ns in by_cause(blame).items()}
    causes = {cause_column(cause.name): 0.0 for cause in (*CAUSES, OTHER)}
    states = {f"{name}_ns": blame.get(name, 0) for name, _ in _flashscape.states()}
    return {
        "requests": figures["requests"],
        "bytes": figures["bytes"],
        "iops": figures["iops"],
        "bytes_per_second": figures["bytes"] / seconds if seconds else None,
        "unmapped": figures["unmapped"],
        # Summaries of earlier versions lack reads that met collection, and detours.
        "met": figures.get("met"),
        "blocked": figures.get("blocked"),
        "mean_ns": latency["mean"],
        "mean_ci95_ns": latency.get("mean_ci95"),
        "min_ns": latency["min"],
        "max_ns": latency["max"],
        **{f"{name}_ns": latency[name] for name in PERCENTILES},
        **{f"{name}_samples_beyond": latency["samples_beyond"][name] for name in PERCENTILES},
        **causes,
        **shares,
        **states,
    }


def _unsteady(summary: dict[str, Any], figure: str) -> str | None:
    found = unsteady(summary, figure)
    return None if found is None else found.told


def _drive(summary: dict[str, Any]) -> dict[str, Any]:
    flash, wear = summary["flash"], summary["wear"]
    amplification, steady = summary["write_amplification"], summary["steady_state"]
    operations = {**flash["reads"], **flash["programs"]}
    erase_count = wear["erase_count"] or {}
    # These are null in an untimed run.
    nothing = dict.fromkeys(_SPREAD)
    units, channels = (summary["utilisation"][of] or nothing for of in ("units", "channels"))
    held = summary["collection"].get("held") or nothing
    detours = summary.get("detours") or {}
    # Summaries of earlier versions lack power cuts.
    recovery = summary.get("recovery") or {"cuts": [], "lost_requests": 0}
    spans = [cut["duration_ns"] for cut in recovery["cuts"]]
    return {
        "write_amplification": amplification["total"],
        "write_amplification_host": amplification["host"],
        "write_amplification_gc": amplification["gc"],
        "write_amplification_scrub": amplification["scrub"],
        "write_amplification_summary": amplification["summary"],
        "write_amplification_parity": amplification.get("parity"),
        "write_amplification_rebuild": amplification.get("rebuild"),
        "write_amplification_padding": amplification["padding"],
        "written_bytes": amplification["host_bytes"],
        "flash_commands": flash["commands"],
        **{f"{s}_planes": operations.get(s, {"planes": 0})["planes"] for s in _SOURCES},
        "copy_back_planes": sum(each["planes"] for each in flash["copy_backs"].values()),
        # Summaries of earlier versions lack modifies.
        "modify_planes": sum(each["planes"] for each in flash.get("modifies", {}).values()),
        "erases": wear["erases"],
        "erases_since_new": wear["erases_since_new"],
        **{f"erase_count_{each}": erase_count.get(each) for each in _SPREAD},
        "bad_blocks": wear["bad_blocks"],
        "retired": wear["retired"],
        "migrations": wear["migrations"],
        "worn_out_bytes": summary["worn_out_bytes"],
        **{f"unit_utilisation_{each}": units[each] for each in _SPREAD},
        **{f"channel_utilisation_{each}": channels[each] for each in _SPREAD},
        **{f"held_{each}": held[each] for each in _SPREAD},
        "computed_units": detours.get("computed_units"),
        "units_read_besides": detours.get("units_read_besides"),
        "held_data_units": detours.get("held_data_units"),
        "held_parity_units": detours.get("held_parity_units"),
        "mean_outstanding": summary["mean_outstanding"],
        "power_cuts": len(spans) or None,
        "recovery_ns": sum(spans) if spans else None,
        "recovery_longest_ns": max(spans, default=None),
        "lost_requests": recovery["lost_requests"] if spans else None,
        "simulated_ns": summary["simulated_ns"],
        "counted_ns": summary["counted_ns"],
        **{f"{figure}_steady": steady[figure]["reached"] for figure in FIGURES},
        **{f"{figure}_steady_reason": _unsteady(summary, figure) for figure in FIGURES},
        "precondition_write_amplification": summary["precondition"]["write_amplification"],
        "precondition_steady": summary["precondition"]["steady"],
        "overloaded": overload.initiators(summary["notes"]),
        "notes": summary["notes"],
        "digest": summary["digest"],
        "cpu_seconds": summary["host_cpu_seconds"],
        "flashscape": summary["flashscape"],
    }
