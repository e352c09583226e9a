"""A worker process as its parent sees it: orders go in, answers come out, a line of JSON each."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
from tempfile import TemporaryFile
from typing import IO, TYPE_CHECKING, Any

if TYPE_CHECKING:
    from flashscape.sweep.executor import Task

_PROGRAM = (
    "import json, sys; sys.path[:] = json.loads(sys.argv[1]); "
    "from flashscape.sweep.worker import main; main()"
)

_LAST_WORDS = 2000
"""Bytes of a crashed worker's last output that are read."""


class WorkerProcess:
    """One process, and its task."""

    def __init__(self) -> None:
        self.task: Task | None = None
        self.share = 0.0
        self._unread = b""
        self._words: IO[bytes] = TemporaryFile()  # noqa: SIM115
        self.process = subprocess.Popen(
            [
                sys.executable,
                # Without -P, a json.py in the current directory would replace Python's.
                "-P",
                "-c",
                _PROGRAM,
                json.dumps([each for each in sys.path if isinstance(each, str)]),
            ],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._words,
        )

    @property
    def answers(self) -> int:
        """File descriptor of its answers."""
        assert self.process.stdout is not None
        return self.process.stdout.fileno()

    def give(self, order: dict[str, Any]) -> None:
        """Hand over an order; a worker that has died is detected when its answers are read."""
        assert self.process.stdin is not None
        with contextlib.suppress(OSError):
            self.process.stdin.write(json.dumps(order).encode() + b"\n")
            self.process.stdin.flush()

    def listen(self) -> list[dict[str, Any]] | None:
        """Return its new answers; None if it has ended."""
        said = os.read(self.answers, 1 << 16)
        if not said:
            return None
        *lines, self._unread = (self._unread + said).split(b"\n")
        return [json.loads(line) for line in lines]

    def end(self) -> None:
        """End the worker, regardless of its task."""
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        with contextlib.suppress(OSError):
            self.process.stdin.close()
        try:
            self.process.wait(timeout=2.0)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self.process.stdout.close()
        self._words.close()

    def kill(self) -> None:
        """End the worker at once."""
        self.process.kill()
        self.end()

    def epitaph(self) -> str:
        """Return the cause of a worker's death, as far as it is known."""
        status = self.process.wait()
        self._words.seek(0, os.SEEK_END)
        self._words.seek(max(0, self._words.tell() - _LAST_WORDS))
        words = self._words.read().decode(errors="replace").strip().splitlines()
        said = f": {words[-1].strip()}" if words else ""
        if status >= 0:
            return f"its process ended with exit code {status}{said}"
        with contextlib.suppress(ValueError):
            name = signal.Signals(-status).name
            hint = "; perhaps memory ran out" if name == "SIGKILL" else ""
            return f"its process was ended by {name}{said}{hint}"
        return f"its process was ended by signal {-status}{said}"
