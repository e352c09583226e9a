"""What a reproduction was asked for."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pathlib import Path


@dataclass(frozen=True)
class Setting:
    """What a reproduction was asked for, as far as runs depend on it."""

    profile: str
    """``short`` or ``full``."""
    traces: Path
    """Where traces are looked for that do not ship with flashscape."""

    def pick(self, *, short: Any, full: Any) -> Any:
        """The one or the other, by the profile."""
        return short if self.profile == "short" else full

    def trace(self, name: str) -> Path:
        """Where a trace would be. Where it is not, claims that need it are ``not-run``."""
        return self.traces / name
