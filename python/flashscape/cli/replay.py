"""``flashscape replay``: a trace and a preset make an experiment."""

from __future__ import annotations

import math
import re
from pathlib import Path
from typing import Any

import click

from flashscape.cli import options
from flashscape.cli.show import Targets, run_and_show
from flashscape.errors import ConfigError, TraceError
from flashscape.experiment import Experiment

_KEYS = (
    (r'\bmode = "closed"', "--closed"),
    (r'\b(format|combine|disorder|out_of_range|spread) = "([a-z0-9-]+)"', r"--\1 \2"),
    (r"\bevent = \.\.\.", "--event ..."),
    (r"\bdevices = \[\.\.\.\]", "--devices 0,1,..."),
    (r"--out_of_range", "--out-of-range"),
)
"""What advice says for files, and the options that say it here."""


def numbers(text: str) -> list[int]:
    """Take ``0,1`` apart."""
    try:
        return [int(number) for number in text.split(",")]
    except ValueError:
        raise click.BadParameter(f"{text!r} is not a list of numbers such as 0,1") from None


def number(text: str) -> float:
    """Take a number that is one: neither nan nor infinite."""
    try:
        value = float(text)
    except ValueError:
        raise click.BadParameter(f"{text!r} is not a number") from None
    if not math.isfinite(value):
        raise click.BadParameter(f"{text!r} is not a finite number")
    return value


@click.command("replay")
@click.argument("trace", type=click.Path(path_type=Path))
@click.option("--drive", required=True, metavar="PRESET", help="See `flashscape presets`.")
@click.option(
    "--format",
    "format_",
    metavar="FORMAT",
    help="mqsim, disksim, captured, msr, etw, blkparse, fio-v2, fio-v3, spc, systor, alibaba or"
    " tencent; default: detected.",
)
@click.option("--closed", is_flag=True, help="As fast as the queue allows, not by the stamps.")
@click.option("--queue-depth", type=int, metavar="N", help="Requests under way at most.")
@click.option("--time-scale", type=number, metavar="X", help="Stretch stamps: 2 is half as fast.")
@click.option(
    "--disorder",
    type=click.Choice(["refuse", "sort"]),
    help="What to do about stamps that run backwards; the default depends on the format.",
)
@click.option(
    "--spread",
    type=click.Choice(["none", "uniform"]),
    help="Whether requests of equal stamps are spread over the stamps' unit.",
)
@click.option(
    "--event",
    type=click.Choice(["queue", "dispatch", "complete"]),
    help="blkparse: the event that is the request; default: queue.",
)
@click.option(
    "--time-unit",
    type=click.Choice(["us", "ms"]),
    help="fio: the unit of stamps and waits; default: us.",
)
@click.option(
    "--waits",
    type=click.Choice(["gaps", "moments"]),
    help="fio, version 2: what a wait counts from; default: gaps.",
)
@click.option("--block-size", metavar="SIZE", help="SPC: what addresses count; default: '512 B'.")
@click.option("--devices", type=numbers, metavar="0,1", help="Device numbers; default: all.")
@click.option(
    "--combine",
    type=click.Choice(["concatenate", "fold", "separate"]),
    help="How several devices become one drive.",
)
@click.option(
    "--out-of-range",
    type=click.Choice(["refuse", "wrap", "scale"]),
    default="refuse",
    show_default=True,
    help="What to do about addresses beyond the drive.",
)
@click.option(
    "--fill",
    type=click.Choice(["random", "sequential", "empty"]),
    default="sequential",
    show_default=True,
    help="What is on the drive at first.",
)
@click.option("--age", type=number, metavar="X", help="Overwrite it so many times before the run.")
@click.option(
    "--audit", is_flag=True, help="Check all that the drive returns; about twice the time."
)
@options.overrides
@options.snapshots
@options.results
def command(
    trace: Path,
    overrides: tuple[tuple[str, str], ...],
    out: Path | None,
    requests: Path | None,
    fio_json: Path | None,
    force: bool,
    as_json: bool,
    quiet: bool,
    snapshot: Path | None,
    save_drive: Path | None,
    **choices: Any,
) -> None:
    """Replay TRACE on a preset drive."""
    targets = Targets(out, requests, fio_json, force, snapshot, save_drive)
    config = configuration(trace, **choices)
    try:
        experiment = Experiment.from_dict(config, overrides, name=f"replay of {trace}")
        run_and_show(experiment, targets, as_json=as_json, quiet=quiet)
    except (ConfigError, TraceError) as error:
        error.args = (_as_options(str(error)), *error.args[1:])
        raise


def _as_options(advice: str) -> str:
    for key, option in _KEYS:
        advice = re.sub(key, option, advice)
    return advice


def configuration(
    trace: Path,
    *,
    drive: str,
    format_: str | None,
    closed: bool,
    queue_depth: int | None,
    time_scale: float | None,
    disorder: str | None,
    spread: str | None,
    event: str | None,
    time_unit: str | None,
    waits: str | None,
    block_size: str | None,
    devices: list[int] | None,
    combine: str | None,
    out_of_range: str,
    fill: str,
    age: float | None,
    audit: bool,
) -> dict[str, Any]:
    """Return the experiment that the options describe; what was not said is left out."""
    replayed = {
        "file": str(trace),
        "format": format_,
        "mode": "closed" if closed else "open",
        "time_scale": time_scale,
        "disorder": disorder,
        "spread": spread,
        "event": event,
        "time_unit": time_unit,
        "waits": waits,
        "block_size": block_size,
        "devices": devices,
        "combine": combine,
        "out_of_range": out_of_range,
    }
    workload = {"name": "trace", "queue_depth": queue_depth, "trace": _said(replayed)}
    precondition = {"fill": fill, "age": None if age is None else {"overwrites": age}}
    return {
        "title": f"{trace.name} on {drive}",
        "drive": {"preset": drive},
        "precondition": _said(precondition),
        "workload": [_said(workload)],
        "run": {"audit": audit},
    }


def _said(table: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in table.items() if value is not None}
