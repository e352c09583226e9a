"""Reproduction of a paper, from its name to verdicts."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING

from flashscape import spelling
from flashscape.arguments import checks_arguments
from flashscape.errors import ConfigError, StudyError
from flashscape.near import listed
from flashscape.reproduce import experiment_file
from flashscape.reproduce.changes import Changes
from flashscape.reproduce.claims import PROFILES
from flashscape.reproduce.outcomes import Outcomes
from flashscape.reproduce.perform import Agenda, gather, perform
from flashscape.reproduce.place import EXPERIMENTS, RUNS, Place
from flashscape.reproduce.reproduction import Reproduction, begun
from flashscape.reproduce.setting import Setting
from flashscape.reproduce.study import Study, find
from flashscape.reproduce.verdicts import check
from flashscape.sweep import Lines, Store, executing

if TYPE_CHECKING:
    from collections.abc import Mapping
    from os import PathLike

    from flashscape.cluster import Where
    from flashscape.experiment import Overrides
    from flashscape.reproduce.outcomes import Outcome
    from flashscape.sweep import SweepObserver

TRACES = "traces"
"""Default directory of traces, relative to the current one."""


@checks_arguments
def reproduce(
    paper: str | PathLike[str],
    *,
    profile: str = "short",
    out: str | PathLike[str] | None = None,
    jobs: int | None = None,
    cluster: Where = None,
    traces: str | PathLike[str] | None = None,
    overrides: Overrides = (),
    progress: bool | SweepObserver = False,
) -> Reproduction:
    """Run the experiments of a paper, and judge each of its claims by the measured figures.

    ``paper`` is a name that ``flashscape reproduce`` lists, such as ``erase-suspension``, or one
    with an exhibit, ``erase-suspension/figure-4``; or the folder of a study of your own.
    ``profile`` is ``short`` (minutes) or ``full`` (long enough for p99.999). ``out`` is a
    directory for plots, tables, experiments and a report, in which finished runs are kept:
    a second call makes only the missing ones. ``jobs`` is how many processes run at a
    time (as many as there are cores); ``cluster`` names other machines for them, as in
    :func:`sweep`; ``traces`` is the directory of traces that do not ship
    (``traces`` in the present one; without that, what needs them is ``not-run``).
    ``overrides`` change values of all experiments, by their dotted paths; the verdicts are then
    those of other experiments than the paper's, and every document says so.

    A run that fails does not end the others: look at ``failures`` of what is returned; claims
    that need it are ``not-run``. Raises StudyError, OutputError, ClusterError, and on Ctrl-C
    Interrupted.

    >>> found = fs.reproduce("erase-suspension", profile="short")  # doctest: +SKIP
    >>> found.counts, found["E-3"].reason  # doctest: +SKIP
    """
    if profile not in PROFILES:
        raise StudyError(f"no profile {profile!r} {listed(profile, PROFILES)}")
    if jobs is not None and jobs < 1:
        raise ConfigError(f"jobs={jobs}: a reproduction needs at least one process")
    if traces is not None and not Path(traces).is_dir():
        # The default directory may be missing: not every study needs traces.
        option = spelling.option("--traces", "traces")
        raise ConfigError(
            f"{option}: {traces}: there is no such directory; name the one that has the "
            "papers' traces, or leave it out to run what needs none"
        )
    study, exhibits = find(paper)
    changes = Changes.of(overrides)
    setting = Setting(profile, Path(TRACES if traces is None else traces), changes)
    wanted = gather(study, exhibits, setting)
    agenda = Agenda.of(wanted)
    failed = [each.failed for each in agenda.outcomes.values() if each.failed is not None]
    changes.refuse(failed, len(wanted))
    with ExitStack() as claimed:
        executor = claimed.enter_context(executing(cluster, jobs))
        place = None if out is None else claimed.enter_context(Place.claim(out, study))
        store = claimed.enter_context(Store.claim(None if place is None else place.folder / RUNS))
        if place is not None:
            place.write_manifest(begun(study, setting))
            _write_experiments(place, agenda, study.named)
        runs = perform(
            wanted,
            agenda,
            store,
            executor=executor,
            observer=_observer(progress),
            lasting=place is not None,
        )
        of_exhibits = {
            exhibit: {name: runs[name] for name, run in wanted.items() if exhibit in run.exhibits}
            for exhibit in exhibits
        }
        reproduction = _judged(study, setting, runs, of_exhibits)
        if place is not None:
            reproduction.write_to(place)
    return reproduction


def _judged(
    study: Study,
    setting: Setting,
    runs: Mapping[str, Outcome],
    of_exhibits: Mapping[str, Mapping[str, Outcome]],
) -> Reproduction:
    claims = []
    for exhibit, own in of_exhibits.items():
        measurements = study.exhibits[exhibit].measurements
        for claim in study.claims_of(exhibit):
            measure = measurements.get(claim.id)
            claims.append(check(claim, measure, Outcomes(setting, own), setting.profile))
    return Reproduction(study, setting, claims, runs, of_exhibits)


def _write_experiments(place: Place, agenda: Agenda, study: str) -> None:
    for name, config in agenda.configs.items():
        remark = f"The run {name} of `flashscape reproduce {study}`."
        text = experiment_file.text(config, remark)
        place.write(f"{name}.toml", text.encode(), EXPERIMENTS)


def _observer(progress: bool | SweepObserver) -> SweepObserver | None:
    if progress is True:
        # An error may be the finding that a study expects.
        return Lines.on_stderr("run", "ended with an error")
    return progress or None
