"""The machine that figures were measured on."""

from __future__ import annotations

import os
import platform
from pathlib import Path
from typing import Any


def describe() -> dict[str, Any]:
    """Describe the machine as far as speed depends on it, without its owner."""
    return {
        "cpu": _cpu(),
        "cores": os.cpu_count(),
        "system": f"{platform.system()} {platform.machine()}",
        "load_before": _load(),
    }


def _cpu() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        lines = []
    models = (line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    return next(models, platform.processor() or "not known")


def _load() -> float | None:
    """Mean number of runnable programs in the last minute: other programs make figures worse."""
    try:
        return round(os.getloadavg()[0], 2)
    except (AttributeError, OSError):
        return None
