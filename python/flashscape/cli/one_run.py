"""Reading a directory of results for commands that need a single run."""

from flashscape.one_run import load

__all__ = ["load"]
