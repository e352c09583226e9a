"""Signals that end a run: each acts as an interruption, so that results are kept.

A closed terminal or a job's time limit is no reason to lose hours of simulation.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

# Not every system has all of these signals.
_ENDING = [
    getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)
]

_first: signal.Signals | None = None
"""First signal that arrived: it decides the exit code."""


def _guard_imports() -> None:
    """End quietly on a signal while modules are loaded, if this process is the command.

    Importing takes a good part of a short run, and no results can be lost yet.
    """
    if threading.current_thread() is threading.main_thread() and _is_command():
        _handle(_quit)


def _is_command() -> bool:
    """Return True if Python was started for the command, not for a program that imports it."""
    started = getattr(sys, "orig_argv", [])
    if "-m" in started:
        return started[started.index("-m") + 1 :][:1] in (["flashscape"], ["flashscape.bench"])
    return Path(getattr(sys, "argv", [""])[0]).name in ("flashscape", "flashscape.exe")


def guard() -> None:
    """Let the first ending signal raise KeyboardInterrupt; ignored signals stay ignored.

    Later ones do nothing: the program is saving results then, which takes a short
    time, and an interruption could only lose some of them.
    """
    _handle(_interrupt)


def ignore() -> None:
    """Ignore all ending signals from now on."""
    for number in _ENDING:
        signal.signal(number, signal.SIG_IGN)


def first() -> signal.Signals:
    """Return the signal that ended this process; Ctrl-C if none is known."""
    return _first or signal.SIGINT


@contextmanager
def deferred() -> Iterator[None]:
    """Defer signals to the end of the block: those that Python handles, in the main thread."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    came: list[int] = []
    handlers: dict[int, Any] = {}
    for number in _ENDING:
        if callable(handler := signal.getsignal(number)):
            handlers[number] = handler
            signal.signal(number, lambda number, _: came.append(number))
    try:
        yield
    finally:
        for number, handler in handlers.items():
            signal.signal(number, handler)
    if came:
        handlers[came[0]](came[0], None)


def _handle(handler: Callable[[int, object], None]) -> None:
    for number in _ENDING:
        if signal.getsignal(number) in (signal.SIG_DFL, signal.default_int_handler, _quit):
            signal.signal(number, handler)


def _quit(number: int, _frame: object) -> None:
    os.write(2, b"error: interrupted before anything had begun\n")
    os._exit(128 + number)


def _interrupt(number: int, _frame: object) -> None:
    global _first
    if _first is None:
        _first = signal.Signals(number)
        raise KeyboardInterrupt


_guard_imports()
