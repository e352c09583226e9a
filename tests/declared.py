"""The runs that a study declares."""

from __future__ import annotations

import importlib
from pathlib import Path

from flashscape.reproduce import Setting
from flashscape.reproduce.study import of_name


def declared(study, profile, traces="no-traces"):
    """Return the runs of all exhibits by name; runs of one name have the same experiment."""
    setting = Setting(profile, Path(traces))
    runs = {}
    for name in of_name(study).exhibits:
        package = f"flashscape.studies.{study.replace('-', '_')}"
        module = importlib.import_module(f"{package}.{name.replace('-', '_')}")
        for run in module.exhibit.declared(setting):
            runs.setdefault(run.name, run)
            assert runs[run.name].experiment == run.experiment, f"{run.name} of {name} is another"
    return runs
