"""Fixtures: a small drive, and the command line as a user runs it."""

from __future__ import annotations

import copy
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from places import WAVES


class Ended(NamedTuple):
    """The result of a command."""

    status: int
    out: str
    err: str


# Shells start background processes with Ctrl-C ignored, and the processes that the tests start
# would inherit that.
signal.signal(signal.SIGINT, signal.default_int_handler)

# readline, which pytest imports, exports the width of the terminal, and tables of the processes
# that the tests start would be folded to it.
os.unsetenv("COLUMNS")


@pytest.fixture(scope="session")
def small() -> dict[str, Any]:
    """The value of ``config``, for modules that share one run; not to be changed."""
    return _CONFIG


@pytest.fixture
def config() -> dict[str, Any]:
    """Reads and writes on a small, full drive with the audit: 3,000 requests, GC included."""
    return copy.deepcopy(_CONFIG)


@pytest.fixture
def experiment_file(tmp_path: Path) -> Path:
    """The configuration as a TOML file."""
    file = tmp_path / "experiment.toml"
    file.write_text(_TOML, encoding="utf-8")
    return file


@pytest.fixture
def flashscape(tmp_path: Path):
    """Function that runs the command in an empty directory."""

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
        "ftl": {"over_provisioning": {"exported": "150 MiB"}, "gc": WAVES},
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
ftl = { over_provisioning = { exported = "150 MiB" }, gc = { WAVES } }
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
""".replace("WAVES", ", ".join(f'{key} = "{value}"' for key, value in WAVES.items()))
