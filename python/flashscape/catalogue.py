"""Presets, policies and the schema: everything that flashscape knows by name."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, NamedTuple

from flashscape import _flashscape
from flashscape.arguments import checks_arguments
from flashscape.experiment import Experiment

if TYPE_CHECKING:
    from collections.abc import Mapping
    from os import PathLike


class Preset(NamedTuple):
    """A drive that ships with flashscape."""

    name: str
    """Name, as ``preset = "..."`` takes it."""
    version: int
    """Version: a change of a value makes a new one."""
    about: str
    """Description in one line."""
    text: str
    """``[drive]`` table in TOML, with the source of each figure."""


def presets() -> dict[str, Preset]:
    """Every preset by its name."""
    return {preset[0]: Preset(*preset) for preset in _flashscape.presets()}


class Policy(NamedTuple):
    """One policy of a family."""

    name: str
    """Name in a configuration."""
    about: str
    """Description in one sentence."""
    parameters: dict[str, str]
    """Meaning of each parameter."""


class Family(NamedTuple):
    """A decision of the drive's firmware, or of the host, and the policies that can make it."""

    path: str
    """Path of its key in a configuration: ``drive.ftl.gc.victim``."""
    about: str
    """Description of the decision."""
    policies: dict[str, Policy]
    """Policies by name."""

    @property
    def takes_python(self) -> bool:
        """True if a function in Python may be the policy."""
        return "python" in self.policies


_FAMILIES = (
    "drive.ftl.gc.victim",
    "drive.ftl.gc.pacing",
    "drive.ftl.gc.background_begins",
    "drive.ftl.gc.reserve_until",
    "drive.ftl.gc.blocking",
    "drive.ftl.parity.flush",
    "drive.ftl.parity.rebuild",
    "drive.ftl.partial_writes",
    "drive.ftl.allocation.pool",
    "drive.ftl.allocation.bin",
    "drive.ftl.allocation.choice",
    "drive.ftl.allocation.streams",
    "drive.ftl.allocation.free_block",
    "drive.ftl.read_recovery",
    "drive.ftl.scrub.choice",
    "drive.ftl.scrub.stream",
    "drive.ftl.scrub.task",
    "drive.scheduler.bypass",
    "drive.scheduler.channel",
    "drive.scheduler.rounds.collect",
    "drive.scheduler.read_routing",
    "drive.scheduler.rotation",
    "drive.scheduler.suspension",
    "drive.scheduler.suspension_bounds.by",
    "drive.scheduler.program_suspension",
    "drive.scheduler.program_suspension_bounds.by",
    "drive.buffer.durability",
    "drive.buffer.flush",
    "drive.buffer.order",
    "drive.recovery.map",
    "drive.recovery.trims",
    "array.plan",
)
"""Paths of policies: of a drive, and of the host's plan for several drives. Their names and
meanings come from the schema, which is generated from the code."""


def policies() -> dict[str, Family]:
    """Every family of policies by its path."""
    root = schema()
    return {path: _family(root, path) for path in _FAMILIES}


def _family(root: dict[str, Any], path: str) -> Family:
    node = root
    for key in path.split("."):
        node = _resolved(root, node)["properties"][key]
    about = node.get("description") or _resolved(root, node).get("description", "")
    node = _resolved(root, node)
    # Enumerated words repeat the tagged policies.
    ways = [_resolved(root, way) | way for way in node["oneOf"] if "enum" not in way]
    known = [_policy(way) for way in ways]
    return Family(path, _flat(about), {policy.name: policy for policy in known})


def _policy(way: dict[str, Any]) -> Policy:
    if "const" in way:
        return Policy(way["const"], _flat(way.get("description", "")), {})
    properties = dict(way["properties"])
    tag = next(key for key, value in properties.items() if "const" in value)
    name = properties[tag]["const"]
    parameters = {
        key: _flat(value.get("description", "")) for key, value in properties.items() if key != tag
    }
    return Policy(name, _flat(way.get("description", "")), parameters)


def _leaves_out(way: dict[str, Any]) -> bool:
    return way.get("type") == "null" or way.get("const") == "none"


def _resolved(root: dict[str, Any], node: dict[str, Any]) -> dict[str, Any]:
    """Follow the references of a node to an object; null does not count."""
    while True:
        if "$ref" not in node:
            ways = [way for way in node.get("anyOf", ()) if not _leaves_out(way)]
            if len(ways) != 1 or "properties" in node:
                return node
            node = ways[0]
            continue
        target = root
        for key in node["$ref"].removeprefix("#/").split("/"):
            target = target[key]
        node = target


def _flat(text: str) -> str:
    return " ".join(text.split())


def schema() -> dict[str, Any]:
    """Return the JSON Schema of an experiment, for editors."""
    found: dict[str, Any] = json.loads(_flashscape.schema())
    return found


@checks_arguments
def check(experiment: Experiment | Mapping[str, Any] | str | PathLike[str]) -> dict[str, Any]:
    """Check an experiment with its traces; return the figures derived from it.

    Raises ConfigError with every fault at once, or TraceError.
    """
    checked = Experiment.of(experiment)
    checked.traces()
    return checked.derived


def derived_of(drive: Mapping[str, Any]) -> dict[str, Any]:
    """Return the figures derived from a drive alone, with all settings as in a summary."""
    idle: dict[str, Any] = {"name": "idle", "reads": "100 %", "stop": {"requests": 1}}
    if drive["ftl"].get("sets") is not None:
        idle["nvm_set"] = 1
    return check({"drive": dict(drive), "workload": [idle]})
