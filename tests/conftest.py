"""A small drive, and the command line as a user meets it."""

from __future__ import annotations

import copy
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any, NamedTuple

import pytest


class Ended(NamedTuple):
    """How a command ended."""

    status: int
    out: str
    err: str


# Shells start what goes on in the background with Ctrl-C ignored, and so would be all that
# the tests start.
signal.signal(signal.SIGINT, signal.default_int_handler)

# readline, which pytest imports, says to processes that the tests start how wide a terminal is,
# and tables would be folded to it.
os.unsetenv("COLUMNS")


@pytest.fixture(scope="session")
def small() -> dict[str, Any]:
    """As ``config``, for modules that share one run; not to be changed."""
    return _CONFIG


@pytest.fixture
def config() -> dict[str, Any]:
    """Writes to a small, full drive with the auditor on: 3,000 requests, GC included."""
    return copy.deepcopy(_CONFIG)


@pytest.fixture
def experiment_file(tmp_path: Path) -> Path:
    """The same as a TOML file."""
    file = tmp_path / "experiment.toml"
    file.write_text(_TOML, encoding="utf-8")
    return file


@pytest.fixture
def flashscape(tmp_path: Path):
    """Run the command in an empty directory."""

    def run(*arguments: str | Path) -> Ended:
        command = [sys.executable, "-m", "flashscape", *map(str, arguments)]
        ended = subprocess.run(
            command, capture_output=True, text=True, cwd=tmp_path, timeout=120, check=False
        )
        return Ended(ended.returncode, ended.stdout, ended.stderr)

    return run


_CONFIG: dict[str, Any] = {
    "title": "small",
    "drive": {
        "preset": "dc-tlc",
        "geometry": {
            "channels": 2,
            "dies_per_package": 1,
            "blocks_per_plane": 64,
            "pages_per_block": 24,
        },
        "ftl": {"over_provisioning": {"exported": "150 MiB"}},
        "buffer": {"size": "2 MiB"},
    },
    "precondition": {"fill": "random", "age": {"overwrites": 1.0}},
    "workload": [{"name": "host", "reads": "50 %", "queue_depth": 8}],
    "run": {"requests": 3000, "audit": True},
}

_TOML = """\
title = "small"

[drive]
preset = "dc-tlc"
geometry = { channels = 2, dies_per_package = 1, blocks_per_plane = 64, pages_per_block = 24 }
ftl = { over_provisioning = { exported = "150 MiB" } }
buffer = { size = "2 MiB" }

[precondition]
fill = "random"
age = { overwrites = 1.0 }

[[workload]]
name = "host"
reads = "50 %"
queue_depth = 8

[run]
requests = 3000
audit = true
"""
