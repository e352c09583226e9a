"""Ctrl-C: partial results, marked so, and exit code 130."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time

import pytest

import flashscape as fs
from flashscape.run import Silent


class After(Silent):
    """Interrupts once some requests were issued."""

    def running(self, simulated_ns, requests, share):
        raise KeyboardInterrupt


class AtOnce(Silent):
    """Interrupts preconditioning."""

    def preconditioning(self, share):
        raise KeyboardInterrupt


def test_an_interrupted_run_hands_over_what_it_has(config, tmp_path):
    config["run"] = {"requests": 100_000_000}
    with pytest.raises(fs.Interrupted) as caught:
        fs.run(config, out=tmp_path / "out", progress=After())
    assert caught.value.result.complete is False
    assert caught.value.result.read.requests > 0
    assert json.loads((tmp_path / "out" / "summary.json").read_text())["complete"] is False


def test_an_interrupted_preconditioning_has_no_results(config, tmp_path):
    with pytest.raises(fs.Interrupted) as caught:
        fs.run(config, out=tmp_path / "out", progress=AtOnce())
    assert caught.value.result is None
    assert list((tmp_path / "out").iterdir()) == []


def test_ctrl_c_on_the_command_line(experiment_file, tmp_path):
    arguments = ["run", experiment_file, "--out", "out", "--set", "run.requests=100000000"]
    command = [sys.executable, "-m", "flashscape", *map(str, arguments), "--set", "run.audit=false"]
    running = subprocess.Popen(
        command, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    while not (tmp_path / "out").exists():
        time.sleep(0.05)
    time.sleep(1.5)
    running.send_signal(signal.SIGINT)
    out, err = running.communicate(timeout=60)
    assert running.returncode == 130
    assert err == "error: interrupted; results are partial\n"
    assert "INTERRUPTED" in out
    assert json.loads((tmp_path / "out" / "summary.json").read_text())["complete"] is False
