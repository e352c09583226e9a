"""Recognition of files that are given as traces and are none, by their content.

The readers of traces say how each of their formats begins. For the files here one
sentence is better: the kind of file, and the command that converts it.
"""

from __future__ import annotations

import gzip
import re
import shlex
from pathlib import Path
from typing import TYPE_CHECKING

from flashscape.errors import TraceError

if TYPE_CHECKING:
    from os import PathLike

_BEGINNING = 1 << 16
"""Bytes that are read: fio may print warnings before its results."""

_GZIP = b"\x1f\x8b"

_BLKTRACE = 0x65617400
"""First bytes of each record of blktrace, without the version in the last byte."""

_PER_CPU = re.compile(r"(.+)\.blktrace\.\d+$")

_FIO_JSON = re.compile(r'^\s*\{\s*"fio version"\s*:', re.MULTILINE)
_FIO_TERSE = re.compile(r"^\d;fio-\d", re.MULTILINE)
_FIO_TEXT = re.compile(
    r"^(fio-\d+\.\d+\S*\s*$|[^\n]+: \((g|groupid)=\d+(\): rw=|, jobs=\d+\): err=))", re.MULTILINE
)
_FIO_LOG = re.compile(r"fio version [23] iolog")
_SECTION = re.compile(r"(\s*([;#][^\n]*)?\n)*\s*\[[^\]\n]+\]")
_OPTION = re.compile(r"^\s*(rw|readwrite|ioengine|random_distribution)\s*=\s*[a-z]", re.MULTILINE)
"""Options of fio whose values are invalid in TOML, because they are words without quotes."""
_PLAIN_OPTION = re.compile(
    r"^\s*(bs|blocksize|bssplit|size|iodepth|runtime|filename|numjobs|direct)\s*=", re.MULTILINE
)


def refuse(path: str | PathLike[str]) -> None:
    """Raise TraceError if a file belongs to another program and is no replayable trace."""
    told = description(path)
    if told is not None:
        raise TraceError(f"{path}: {told}", str(path), None, told)


def description(path: str | PathLike[str]) -> str | None:
    """Return the kind of a file and the command to convert it; None if it may be a trace."""
    file = Path(path)
    data = _beginning(file)
    order = _blktrace_order(data)
    if order is not None:
        return f"this is a binary file of blktrace ({order}); make text of it: {_blkparse(file)}"
    text = data.decode("utf-8", errors="replace").removeprefix("\ufeff")
    return _result(text, file) or job(text, file)


def job(text: str, file: Path) -> str | None:
    """Return the advice for a job file of fio; None for other text."""
    if not _SECTION.match(text) or not (_OPTION.search(text) or _PLAIN_OPTION.search(text)):
        return None
    return (
        "this is a job file of fio; make an experiment of it: "
        f"flashscape import-fio {_quoted(file)} --drive PRESET --out experiment.toml"
    )


def is_job_and_no_toml(text: str) -> bool:
    """Return True if a text is a job file of fio, and certainly no experiment."""
    return bool(_SECTION.match(text) and _OPTION.search(text))


def no_job(path: str | PathLike[str]) -> str | None:
    """Return the kind of a file that was given as fio's job file; None if it may be one."""
    file = Path(path)
    data = _beginning(file)
    text = data.decode("utf-8", errors="replace").removeprefix("\ufeff")
    if _FIO_LOG.match(text):
        return (
            f"this is a log of fio's; replay it: flashscape replay {_quoted(file)} --drive PRESET"
        )
    return description(file) if _blktrace_order(data) else _result(text, file)


def _result(text: str, file: Path) -> str | None:
    if not any(kind.search(text) for kind in (_FIO_JSON, _FIO_TERSE, _FIO_TEXT)):
        return None
    log = _quoted(Path(f"{file.stem}.log"))
    return (
        "this is a result of fio, which has figures and no requests; record the requests: "
        f"fio --write_iolog={log} JOB.fio"
    )


def _beginning(file: Path) -> bytes:
    """Return the first bytes, unpacked; none if unreadable, which the readers report."""
    # A pipe can be read only once, so look at regular files alone.
    if not file.is_file():
        return b""
    try:
        with file.open("rb") as plain:
            data = plain.read(_BEGINNING)
        if data.startswith(_GZIP):
            with gzip.open(file) as packed:
                data = packed.read(_BEGINNING)
    except (OSError, EOFError):
        return b""
    return data


def _blktrace_order(data: bytes) -> str | None:
    """Return the byte order of a binary file of blktrace; None for any other."""
    for order, name in (("little", "little-endian"), ("big", "big-endian")):
        magic = int.from_bytes(data[:4], "little" if order == "little" else "big")
        if len(data) >= 4 and magic & ~0xFF == _BLKTRACE:
            return name
    return None


def _blkparse(file: Path) -> str:
    """Return the command that converts a binary file; blkparse takes those of all CPUs together."""
    named = _PER_CPU.match(str(file))
    if named is not None:
        base = Path(named[1])
        return f"blkparse -i {_quoted(base)} -o {_quoted(Path(f'{base.name}.txt'))}"
    return f"blkparse -i - -o {_quoted(Path(f'{file.stem}.txt'))} < {_quoted(file)}"


def _quoted(file: Path) -> str:
    return shlex.quote(str(file))
