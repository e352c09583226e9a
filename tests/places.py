"""Places of test data, and the options that cut a preset down to them."""

from __future__ import annotations

from pathlib import Path

ROOT = Path(__file__).parent.parent
CAPTURED = ROOT / "traces" / "captured"

_FILES = [*ROOT.glob("examples/**/*.toml"), *ROOT.glob("experiments/*.toml")]
_BASED = sorted(file for file in _FILES if "\nbase = " in file.read_text(encoding="utf-8"))
FLEETS = [file for file in _BASED if "\n[fleet]" in file.read_text(encoding="utf-8")]
SWEEPS = [file for file in _BASED if file not in FLEETS]
EXPERIMENTS = sorted(set(_FILES).difference(_BASED))
"""Experiment files that ship, without presets, sweeps and fleets."""

WAVES = {
    "background": "6 blocks",
    "foreground": "3 blocks",
    "stop": "7 blocks",
    "pacing": "proportional",
}
"""Garbage collection from a threshold on, until enough is free: other than that of dc-tlc."""

SMALL = (
    "--set=drive.geometry.channels=2",
    "--set=drive.geometry.dies_per_package=1",
    "--set=drive.geometry.blocks_per_plane=100",
    "--set=drive.geometry.pages_per_block=96",
    "--set=drive.ftl.over_provisioning.exported=1 GiB",
    *(f"--set=drive.ftl.gc.{key}={value}" for key, value in WAVES.items()),
)
"""Options that reduce dc-tlc to the 1 GiB that the captured traces need."""
