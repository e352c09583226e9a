"""Names that the user gives to the sides of a comparison."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from flashscape import spelling
from flashscape.errors import ConfigError

if TYPE_CHECKING:
    from collections.abc import Sequence


def checked_names(names: Sequence[str], number: int, nouns: str = "sides") -> list[str]:
    """Return the names of so many sides; raise ConfigError unless each has one of its own."""
    given = spelling.option(f"--names {','.join(names)}", "names")
    if not all(names):
        raise ConfigError(f"{given}: a name is missing")
    if len(names) != number:
        raise ConfigError(f"{given}: {len(names)} for {number} {nouns}; give one to each")
    name, times = Counter(names).most_common(1)[0]
    if times > 1:
        raise ConfigError(f"{given}: {name!r} is given twice; name the {nouns} differently")
    return list(names)
