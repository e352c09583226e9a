"""Signals: results marked as partial, and exit codes 130, 143 and 129."""

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
    """Interrupts after some requests."""

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
    assert caught.value.where.startswith("while filling and ageing the drive, ")
    assert not (tmp_path / "out").exists()


def test_an_interrupted_comparison_says_what_stays(experiment_file, tmp_path):
    command = [sys.executable, "-m", "flashscape", "compare", str(experiment_file), "--quiet"]
    running = subprocess.Popen(
        [*command, "--vary", "run.requests=100000000", "--set", "run.audit=false", "--out", "out"],
        cwd=tmp_path,
        stderr=subprocess.PIPE,
        text=True,
    )
    until = time.monotonic() + 60
    while not (tmp_path / "out" / "A" / "summary.json").exists():
        assert running.poll() is None, running.communicate()
        assert time.monotonic() < until
        time.sleep(0.01)
    # The second run, of minutes, has begun by now.
    time.sleep(1)
    running.send_signal(signal.SIGINT)
    _, err = running.communicate(timeout=60)
    assert running.returncode == 130
    told = "interrupted with 1 of 2 runs ended; nothing is compared; runs that have ended are kept"
    assert told in err
    assert "the same command goes on with the others" in err


def listen():
    """Restore SIGHUP: under nohup, a process inherits it as ignored, and a run keeps that."""
    signal.signal(signal.SIGHUP, signal.SIG_DFL)


def started(arguments, tmp_path):
    """Start a run that would take minutes."""
    more = ["--out", "out", "--set", "run.requests=100000000", "--set", "run.audit=false"]
    command = [sys.executable, "-m", "flashscape", "run", *map(str, arguments), *more]
    running = subprocess.Popen(
        command,
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=listen,
    )
    while not (tmp_path / "out").exists():
        time.sleep(0.05)
    time.sleep(1.5)
    return running


@pytest.mark.parametrize(
    ("number", "status", "how"),
    [
        (signal.SIGINT, 130, "interrupted"),
        (signal.SIGTERM, 143, "interrupted by SIGTERM"),
        (signal.SIGHUP, 129, "interrupted by SIGHUP"),
    ],
)
def test_signals_on_the_command_line(number, status, how, experiment_file, tmp_path):
    running = started([experiment_file], tmp_path)
    running.send_signal(number)
    out, err = running.communicate(timeout=60)
    assert running.returncode == status
    saving, ended = err.splitlines()
    assert saving == "interrupted: saving partial results"
    assert ended.startswith(f"error: {how} while running, ")
    assert ended.endswith(" simulated; results are partial")
    assert "INTERRUPTED" in out
    assert json.loads((tmp_path / "out" / "summary.json").read_text())["complete"] is False


def test_an_impatient_second_ctrl_c_costs_no_results(experiment_file, tmp_path):
    running = started([experiment_file], tmp_path)
    running.send_signal(signal.SIGINT)
    while running.poll() is None:
        running.send_signal(signal.SIGINT)
        time.sleep(0.02)
        if (tmp_path / "out" / "summary.json").exists():
            break
    _, err = running.communicate(timeout=60)
    assert running.returncode == 130, err
    assert "results are partial" in err
    assert json.loads((tmp_path / "out" / "summary.json").read_text())["complete"] is False
    assert not list((tmp_path / "out").glob(".*"))


def test_a_signal_while_results_are_written_waits_for_them(config, tmp_path):
    class AtTheEnd(Silent):
        def saving(self, complete):
            signal.raise_signal(signal.SIGINT)

    with pytest.raises(fs.Interrupted) as caught:
        fs.run(config, out=tmp_path / "out", progress=AtTheEnd())
    assert caught.value.result.complete
    assert (tmp_path / "out" / "summary.json").exists()


def test_ctrl_c_before_anything_has_begun_is_no_traceback(tmp_path):
    """The signal comes when the first of the slow modules is imported."""
    code = """
import signal, sys
class Interrupting:
    module = sys.argv[1]
    def find_spec(self, name, *_):
        if name == self.module:
            signal.raise_signal(signal.SIGINT)
sys.meta_path.insert(0, Interrupting())
sys.argv = ["bin/flashscape"]
from flashscape.cli import main
main()
"""
    for module in ("flashscape._flashscape", "click"):
        ended = subprocess.run(
            [sys.executable, "-c", code, module], capture_output=True, text=True, check=False
        )
        assert ended.returncode == 130, module
        assert ended.stderr == "error: interrupted before anything had begun\n"


def test_importing_the_library_leaves_signals_alone(tmp_path):
    """Signals stay unchanged also for a package run by -m, before Python has set its name."""
    package = tmp_path / "study"
    package.mkdir()
    (package / "__init__.py").write_text("import flashscape\n")
    (package / "__main__.py").write_text(
        "import signal\n"
        "print(signal.getsignal(signal.SIGINT) is signal.default_int_handler,\n"
        "      signal.getsignal(signal.SIGTERM) is signal.SIG_DFL)\n"
    )
    ended = subprocess.run(
        [sys.executable, "-m", "study"], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    assert ended.stdout.split() == ["True", "True"]
