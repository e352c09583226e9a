"""Runs of the exhibits: a small drive on which reads suspend erases, or wait for them."""

from pathlib import Path

from flashscape.reproduce import Run
from flashscape.reproduce.plots import Looks

LOOKS = Looks("waiting", "suspending")

DRIVE = {
    "preset": "dc-tlc",
    "geometry": {
        "channels": 2,
        "dies_per_package": 1,
        "blocks_per_plane": 64,
        "pages_per_block": 24,
    },
    "ftl": {"over_provisioning": {"exported": "150 MiB"}},
    "buffer": {"size": "2 MiB"},
}
SCHEDULERS = {
    "waiting": {},
    "suspending": {"read_routing": "suspend", "suspension": "d-es"},
}
GIVES_UP = Path(__file__).parent / "_gives_up.py"


def experiment(setting, scheme="waiting", depth=8, **more):
    """Reads and writes to a full drive."""
    return {
        "drive": DRIVE | {"scheduler": SCHEDULERS[scheme]},
        "precondition": {"fill": "random", "age": {"overwrites": 1.0}},
        "workload": [{"name": "host", "reads": "50 %", "queue_depth": depth}],
        "run": {"requests": setting.pick(short=6000, full=25_000)},
    } | more


def tails(setting):
    """The runs of the figure; the table shares the first of them."""
    tables = ("latency", "series", "slowest")
    return [Run(scheme, experiment(setting, scheme), tables) for scheme in SCHEDULERS]
