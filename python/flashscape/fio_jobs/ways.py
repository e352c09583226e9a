"""Options of the import, as the user gives them to the command or to the function."""

from __future__ import annotations

from flashscape import spelling


def without(name: str) -> str:
    """Return how to leave an option of fio's out."""
    return spelling.option(f"--without {name}", f"without={[name]}")


def section(title: str = "JOB") -> str:
    """Return how to import one job alone."""
    shown = title if title.isalnum() else repr(title)
    return spelling.option(f"--section {shown}", f"sections={[title]}")
