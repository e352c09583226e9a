"""Import of MQSim's configurations as experiments, with a verdict on each key."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from flashscape.arguments import checks_arguments
from flashscape.imported import Imported, Key, Verdict

if TYPE_CHECKING:
    from os import PathLike

__all__ = ["Imported", "Key", "Verdict", "import_mqsim"]


@checks_arguments
def import_mqsim(
    config: str | PathLike[str], workload: str | PathLike[str], scenario: int = 1
) -> Imported:
    """Turn MQSim's ``ssdconfig.xml`` and ``workload.xml`` into an experiment.

    Scenarios count from 1, as in the names of MQSim's results; each is a run of its own.
    Raises ConfigError with every fault at once, each with its file, line and key.
    """
    # Import here: few users of flashscape import from MQSim.
    from flashscape.mqsim.convert import convert

    return convert(Path(config), Path(workload), scenario)
