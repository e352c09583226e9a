"""Options of a reproduction."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from flashscape.reproduce.changes import NO_CHANGES, Changes

if TYPE_CHECKING:
    from pathlib import Path


@dataclass(frozen=True)
class Setting:
    """Options of a reproduction that its runs depend on."""

    profile: str
    """``short`` or ``full``."""
    traces: Path
    """Directory of traces that do not ship with flashscape."""
    changes: Changes = NO_CHANGES
    """Values that the user changes in all experiments."""

    def pick(self, *, short: Any, full: Any) -> Any:
        """Return one of two values, by the profile."""
        return short if self.profile == "short" else full

    def trace(self, name: str) -> Path:
        """Return the path of a trace. If it does not exist, claims that need it are ``not-run``."""
        return self.traces / name
