"""The result of a projection: its figures, as words, JSON, table and picture."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from flashscape import directories, drawing
from flashscape.arguments import checks_arguments
from flashscape.errors import OutputError, unread
from flashscape.lifetime import picture, words
from flashscape.lifetime.life import Conditions, Life, Limits
from flashscape.lifetime.state import WearState
from flashscape.version import __version__

if TYPE_CHECKING:
    from collections.abc import Mapping
    from os import PathLike

    import polars as pl
    from matplotlib.figure import Figure

DOCUMENT = directories.LIFETIME.document
PICTURE = "lifetime.svg"


@dataclass(frozen=True)
class Lifetime(Life):
    """The projected life of a drive under a workload."""

    @property
    def verdict(self) -> list[str]:
        """The result as sentences."""
        return words.verdict(self)

    @property
    def assumptions(self) -> list[str]:
        """Sentences about what is extrapolated."""
        return words.assumptions(self)

    @property
    def notes(self) -> list[str]:
        """Warnings about figures that are easily misread."""
        return words.notes(self)

    @cached_property
    def frame(self) -> pl.DataFrame:
        """A row for each state of wear, in rising order; columns are in docs/lifetime.md."""
        import polars as pl

        return pl.DataFrame([each.as_dict() for each in self.states], infer_schema_length=None)

    def to_json(self) -> str:
        """Return all figures as JSON; keys are in docs/lifetime.md."""
        document = {
            "flashscape": __version__,
            "ends_by": self.ends_by,
            "cycles": self.cycles,
            "uber_cycles": self.uber_cycles,
            "bracket": list(self.bracket),
            "host_bytes": self.host_bytes,
            "tbw": self.tbw,
            "drive_writes": self.drive_writes,
            "dwpd": self.dwpd,
            "seconds": self.seconds,
            "verdict": self.verdict,
            "assumptions": self.assumptions,
            "notes": self.notes,
            "limits": asdict(self.limits),
            "conditions": asdict(self.conditions),
            "states": [each.as_dict() for each in self.states],
        }
        return json.dumps(document, indent=2, ensure_ascii=False) + "\n"

    @classmethod
    @checks_arguments
    def load(cls, path: str | PathLike[str]) -> Lifetime:
        """Read a directory that ``--out`` has written, or its lifetime.json; raise OutputError."""
        file = Path(path)
        file = file / DOCUMENT if file.is_dir() else file
        try:
            return cls.of(json.loads(file.read_text(encoding="utf-8")))
        except OSError as error:
            raise OutputError(unread(file, error)) from error
        except (ValueError, KeyError, TypeError) as error:
            raise OutputError(
                f"{file}: is damaged, or of another version of flashscape ({error}); "
                "run `flashscape lifetime` again"
            ) from error

    @classmethod
    def of(cls, document: Mapping[str, Any]) -> Lifetime:
        """Return the life of a ``lifetime.json``; raise KeyError or TypeError for another one."""
        return cls(
            Limits(**document["limits"]),
            Conditions(**document["conditions"]),
            tuple(WearState(**each) for each in document["states"]),
        )

    def figure(self) -> Figure:
        """Draw UBER, bytes and write amplification; raise OutputError without matplotlib."""
        drawing.refuse(picture.why_not())
        return picture.draw(self)

    @checks_arguments
    def draw_to(self, path: str | PathLike[str], *, force: bool = False) -> None:
        """Draw to a PNG, PDF or SVG file, chosen by its suffix.

        Raises OutputError for another suffix, if the file exists already without ``force``, and as
        :meth:`figure` does.
        """
        drawing.write(self.figure, path, force=force)

    def _repr_html_(self) -> str:
        from flashscape.report import html, wear_states

        section = html.Section(
            self.conditions.title or "Projected life",
            " ".join(self.verdict),
            wear_states.table(self),
            self.notes,
        )
        extrapolated = " ".join(self.assumptions)
        return html.document((), (section,), f"What is extrapolated: {extrapolated}")

    def __repr__(self) -> str:
        return f"<Lifetime {self.conditions.title!r}: {self.tbw:.3g} TBW, {self.dwpd:.3g} DWPD>"
