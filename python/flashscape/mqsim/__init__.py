"""MQSim's configurations as experiments, with what became of each of their keys."""

from flashscape.mqsim.convert import Imported, import_mqsim
from flashscape.mqsim.known import Verdict
from flashscape.mqsim.section import Key

__all__ = ["Imported", "Key", "Verdict", "import_mqsim"]
