"""Names of the sources that queries ask: drives, NVM sets or initiators."""

from __future__ import annotations

from typing import NamedTuple


class Noun(NamedTuple):
    """The words for a kind of source."""

    one: str
    """With its article."""
    single: str
    many: str


NOUNS = {
    "drives": Noun("a drive", "drive", "drives"),
    "sets": Noun("an NVM set", "NVM set", "NVM sets"),
    "initiators": Noun("an initiator", "initiator", "initiators"),
}
"""Words for each kind of source, by its name in ``Fanout.over``."""
