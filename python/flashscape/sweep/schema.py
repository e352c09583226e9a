"""The JSON Schema of sweep files, for editors."""

from __future__ import annotations

from typing import Any

from flashscape.catalogue import schema as of_experiments

_VALUES = {
    "description": "The values of a path, or a table that the path goes on in.",
    "anyOf": [
        {"type": "array", "minItems": 1, "uniqueItems": True},
        {"type": "object", "minProperties": 1, "additionalProperties": {"$ref": "#/$defs/Values"}},
    ],
}

_SEED = {"type": "integer", "minimum": 0, "maximum": 2**64 - 1}


def schema() -> dict[str, Any]:
    """Return the JSON Schema of a sweep file."""
    experiment = of_experiments()
    definitions = experiment.pop("$defs", {})
    # Required keys may come from varied paths.
    base = {key: value for key, value in experiment.items() if key in ("properties", "type")}
    base["additionalProperties"] = False
    return {
        "$schema": experiment.get("$schema", "https://json-schema.org/draft/2020-12/schema"),
        "title": "Sweep",
        "description": "Variations of an experiment, for `flashscape sweep`.",
        "type": "object",
        "additionalProperties": False,
        "required": ["base"],
        "anyOf": [{"required": [key]} for key in ("grid", "zip", "variation", "seeds")],
        "properties": _properties(base),
        "$defs": {**definitions, "Values": _VALUES},
    }


def _properties(base: dict[str, Any]) -> dict[str, Any]:
    paths = "keys are dotted paths of the experiment, such as drive.ftl.gc.victim"
    lists = {"type": "object", "additionalProperties": {"$ref": "#/$defs/Values"}}
    return {
        "title": {"type": "string", "description": "What the sweep is about, in a line."},
        "base": {
            "description": "The experiment that is varied: a file, or its tables.",
            "anyOf": [{"type": "string", "minLength": 1}, base],
        },
        "set": {
            "type": "object",
            "description": f"What differs from the base everywhere: {paths}.",
        },
        "grid": {**lists, "description": f"Lists of values, all combined: {paths}."},
        "zip": {
            "type": "array",
            "description": f"Tables of equally long lists whose values go together: {paths}.",
            "items": {**lists, "minProperties": 1},
        },
        "variation": {
            "type": "array",
            "description": f"Tables of values, each combined with all of the grid: {paths}.",
            "items": {
                "type": "object",
                "properties": {"name": {"type": "string", "minLength": 1}},
            },
        },
        "seeds": {
            "description": "How many runs of each, from the base's seed on; or which seeds.",
            "anyOf": [
                {"type": "integer", "minimum": 1},
                {"type": "array", "minItems": 1, "uniqueItems": True, "items": _SEED},
            ],
        },
    }
