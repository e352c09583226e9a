"""A reproduced paper: its verdicts, and how they are kept and shown."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from flashscape import drawing
from flashscape.reproduce import document
from flashscape.reproduce.document import CURVES
from flashscape.reproduce.judged import Judged
from flashscape.reproduce.outcomes import NotRun
from flashscape.version import __version__

if TYPE_CHECKING:
    from flashscape.reproduce.place import Place
    from flashscape.reproduce.setting import Setting
    from flashscape.reproduce.study import Study


class Reproduction(Judged):
    """Verdicts on a paper's claims, or on one exhibit's.

    >>> found = fs.reproduce("erase-suspension/figure-4")  # doctest: +SKIP
    >>> found["E-3"].verdict, found["E-3"].ours  # doctest: +SKIP
    """

    def write_to(self, place: Place) -> None:
        """Write tables, plots, claims and the report; raise OutputError."""
        self.folder = place.folder
        drawn = self._draw_to(place)
        for path, frame in self.frames.items():
            exhibit, _, name = path.partition("/")
            place.write_frame(name, frame, exhibit)
        place.write_frame("claims", self.frame)
        place.write("report.md", document.markdown(self, drawn).encode())
        place.write("report.html", document.page(self, drawn).encode())
        place.write_manifest(self.manifest(complete=True))

    def manifest(self, *, complete: bool) -> dict[str, Any]:
        """Return the contents of ``reproduction.json``."""
        return _manifest(self._study, self._setting, complete=complete) | {
            "claims": self.as_json(),
            "runs": [
                {"run": o.name, "status": o.status, "key": o.key, "reason": o.failed or o.absent}
                for o in self.runs.values()
            ],
        }

    def _draw_to(self, place: Place) -> list[str]:
        """Draw the possible plots; return the ``exhibit/name`` of each."""
        from flashscape.reproduce import plots

        drawn: list[str] = []
        if not drawing.is_available():
            if self.plots:
                self.notes.append(f"no plots: {drawing.NOT_INSTALLED}")
            return drawn

        for path in self.plots:
            exhibit, _, name = path.partition("/")
            try:
                with plots.styled():
                    figure = self.draw(path)
            except NotRun as refused:
                self.notes.append(f"no plot {path}: {refused}")
                continue
            for kind in ("png", "svg"):
                place.write(f"{name}.{kind}", plots.encoded(figure, kind), exhibit)
            if not (numbers := plots.curves.of(figure)).is_empty():
                place.write(f"{name}{CURVES}", numbers.write_csv().encode(), exhibit)
            drawn.append(path)
        return drawn

    def _repr_html_(self) -> str:
        return document.fragment(self)

    def __repr__(self) -> str:
        told = ", ".join(f"{count} {v}" for v, count in self.counts.items() if count)
        return f"<Reproduction of {self.study} ({self.profile}): {told}>"


def begun(study: Study, setting: Setting) -> dict[str, Any]:
    """Return the contents of ``reproduction.json`` while the runs are being made."""
    return _manifest(study, setting, complete=False) | {"claims": [], "runs": []}


def _manifest(study: Study, setting: Setting, *, complete: bool) -> dict[str, Any]:
    return {
        "study": study.name,
        "folder": None if study.folder is None else str(study.folder),
        "profile": setting.profile,
        "set": setting.changes.values,
        "flashscape": __version__,
        "complete": complete,
    }
