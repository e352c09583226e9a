"""Places of test data, and the options that cut a preset down to them."""

from __future__ import annotations

from pathlib import Path

ROOT = Path(__file__).parent.parent
CAPTURED = ROOT / "traces" / "captured"

_FILES = [*ROOT.glob("examples/**/*.toml"), *ROOT.glob("experiments/*.toml")]
SWEEPS = sorted(file for file in _FILES if "\nbase = " in file.read_text(encoding="utf-8"))
EXPERIMENTS = sorted(set(_FILES).difference(SWEEPS))
"""Experiment files that ship, without presets and sweeps."""

SMALL = (
    "--set=drive.geometry.channels=2",
    "--set=drive.geometry.dies_per_package=1",
    "--set=drive.geometry.blocks_per_plane=100",
    "--set=drive.geometry.pages_per_block=96",
    "--set=drive.ftl.over_provisioning.exported=1 GiB",
)
"""Options that reduce dc-tlc to the 1 GiB that the captured traces need."""
