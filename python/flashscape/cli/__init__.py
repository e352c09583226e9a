"""The command ``flashscape``. Modules of commands are imported when they are needed."""

from flashscape.cli.main import main

__all__ = ["main"]
