"""Every key that some version of MQSim reads: its parser, its default, the verdict on it."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from functools import cache
from itertools import permutations
from pathlib import Path
from typing import TYPE_CHECKING, Any

from flashscape.imported import Verdict
from flashscape.mqsim import values

if TYPE_CHECKING:
    from collections.abc import Callable

    Reader = Callable[[str], values.Read]

HOST = "Host_Parameter_Set"
DEVICE = "Device_Parameter_Set"
FLASH = "Flash_Parameter_Set"
SYNTHETIC = "IO_Flow_Parameter_Set_Synthetic"
TRACE = "IO_Flow_Parameter_Set_Trace_Based"
FLOW = "both kinds of flow"
"""Section name in ``keys.toml`` for keys that both elements of flows have."""


@dataclass(frozen=True, slots=True)
class Known:
    """A key as MQSim reads it, with the verdict that applies unless its value changes it."""

    section: str
    name: str
    read: Reader
    default: str
    verdict: Verdict
    unit: str = ""
    becomes: str = ""
    why: str = ""


@cache
def keys() -> tuple[Known, ...]:
    """Return all keys, in the order of MQSim's own files."""
    text = Path(__file__).with_name("keys.toml").read_text(encoding="utf-8")
    return tuple(_known(**key) for key in tomllib.loads(text)["key"])


def of(section: str) -> dict[str, Known]:
    """Return the keys of an element, by name."""
    shared = (FLOW,) if section in (SYNTHETIC, TRACE) else ()
    return {known.name: known for known in keys() if known.section in (section, *shared)}


def homes(name: str) -> list[str]:
    """Return the elements in which MQSim reads a key."""
    found = []
    for known in keys():
        if known.name == name:
            found += [SYNTHETIC, TRACE] if known.section == FLOW else [known.section]
    return found


def _known(*, read: str | list[str], verdict: str, **others: Any) -> Known:
    return Known(read=_reader(read), verdict=Verdict(verdict), **others)


def _reader(how: str | list[str]) -> Reader:
    if isinstance(how, list):
        pairs = (name.partition("=") for name in how)
        names = {name: today or name for name, _, today in pairs}
        return lambda text: values.choice(text, names)
    kind, *limits = how.split()
    if kind == "whole":
        least, most = (*map(int, limits), *_WHOLE[len(limits) :])
        return lambda text: values.whole(text, least, most)
    return _READERS[kind]


_WHOLE = (0, 2**32 - 1)
"""The limits of an ``unsigned int``."""

_READERS: dict[str, Reader] = {
    "signed": lambda text: values.whole(text, -(2**31), 2**31 - 1),
    "time": lambda text: values.whole(text, 0, 2**63 - 1),
    "real": values.real,
    "truth": values.truth,
    "ids": values.ids,
    "order": lambda text: values.choice(text, _ORDERS),
    "text": values.Read,
}

_ORDERS: dict[str, str] = {name: name for name in map("".join, permutations("CWDP"))}
