"""Conversion of a job file to an experiment."""

from __future__ import annotations

import tomllib
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from flashscape import written
from flashscape.errors import ConfigError, Problem
from flashscape.experiment import Experiment
from flashscape.fio_jobs import ending, known, load, places, reading, starts, ways
from flashscape.fio_jobs.job import Job
from flashscape.imported import Faults, Imported, Key, Verdict, refusal
from flashscape.near import listed
from flashscape.together import ALL
from flashscape.written import Row, Table

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

    from flashscape.fio_jobs.ending import Times
    from flashscape.fio_jobs.load import Load
    from flashscape.fio_jobs.places import Place
    from flashscape.fio_jobs.reading import Option, Section

_PRESET = "drive.preset"
_PREFIX = "drive."


class Wishes(NamedTuple):
    """Choices that a job file does not contain."""

    drive: str
    overrides: Sequence[tuple[str, str]]
    """Paths below ``drive`` with their values, as on a command line."""
    sections: Sequence[str]
    """Jobs to import; all if none is named."""
    without: Sequence[str]
    """Options to leave out, by any of fio's names."""
    fill: str
    age: float | None


class _Whole(NamedTuple):
    """A job with its parsed load, times and place."""

    job: Job
    load: Load
    place: Place
    times: Times


def convert(path: Path, wishes: Wishes) -> Imported:
    """Turn a job file into an experiment; see :func:`flashscape.import_fio`."""
    faults = Faults()
    drive = _drive(wishes)
    exported = _exported(drive, wishes)
    jobs = _jobs(path, wishes, faults)
    wholes = _read(jobs, exported)
    bases = places.laid_out([(each.job, each.place) for each in wholes], exported)
    if not faults.problems:
        workloads = [table for each in wholes for table in _workloads(each, bases, exported)]
        _give_names(workloads)
        warm_up = ending.warm_up([(each.job, each.times) for each in wholes])
    for job in jobs:
        job.settle()
    if faults.problems:
        raise refusal(_placed(faults.problems, path))
    tables = [_head(path, wishes), drive, _precondition(wishes), *workloads, Table("run", warm_up)]
    text = _text(path, tables)
    try:
        experiment = Experiment.from_toml(text)
    except ConfigError as error:
        raise _translated(error, workloads, jobs, path) from error
    return Imported(experiment, text, _keys(jobs, path))


def _read(jobs: list[Job], exported: int) -> list[_Whole]:
    is_alone = sum(job.whole("numjobs", 1, 1) for job in jobs) == 1
    wholes: list[_Whole] = []
    for job in jobs:
        asked = load.of(job, is_alone=is_alone)
        wholes.append(_Whole(job, asked, places.of(job, exported, asked), ending.of(job)))
    times = starts.scheduled([(each.job, each.times) for each in wholes])
    return [each._replace(times=own) for each, own in zip(wholes, times, strict=True)]


def _jobs(path: Path, wishes: Wishes, faults: Faults) -> list[Job]:
    """Return the selected jobs, each with the options of [global] above it."""
    without = [_known(name) for name in wishes.without]
    shared: list[Option] = []
    sections: list[tuple[Section, list[Option]]] = []
    for section in reading.sections(path, faults):
        if section.is_global:
            shared += section.options
        else:
            sections.append((section, [*shared, *section.options]))
    if not sections and not faults.problems:
        raise ConfigError(f"{path}: has no job, that is no [section] beside [global]")
    titles = [section.title for section, _ in sections]
    for name in wishes.sections:
        if name not in titles:
            raise ConfigError(f"{path}: has no job [{name}] {listed(name, titles)}")
    chosen = [pair for pair in sections if not wishes.sections or pair[0].title in wishes.sections]
    given = {option.name for _, options in chosen for option in options}
    for name in without:
        if name not in given and not faults.problems:
            raise ConfigError(f"{ways.without(name)}: no job of {path} gives this option")
    return [
        Job(section.title, section.line, options, faults, without) for section, options in chosen
    ]


def _known(name: str) -> str:
    first = known.first_name(name)
    if first is None:
        near = known.near(name)
        hint = f" (did you mean {near!r}?)" if near else ""
        raise ConfigError(f"{ways.without(name)}: fio has no such option{hint}")
    return first


def _drive(wishes: Wishes) -> Table:
    rows = [Row("preset", wishes.drive)]
    for path, text in wishes.overrides:
        if not path.startswith(_PREFIX) or path == _PRESET:
            raise ConfigError(
                f"{path}: only keys of the drive are set here, such as drive.geometry.channels; "
                "change the others in the experiment that comes out"
            )
        rows.append(Row(path.removeprefix(_PREFIX), _value(text)))
    return Table("drive", rows)


def _value(text: str) -> written.Value:
    """Parse TOML, or take the text as an unquoted string."""
    try:
        value: written.Value = tomllib.loads(f"value = {text}")["value"]
    except tomllib.TOMLDecodeError:
        return text
    return value


def _exported(drive: Table, wishes: Wishes) -> int:
    """Return the drive's capacity in bytes; refuse a drive that is wrong itself."""
    try:
        experiment = Experiment.from_toml(_probe(drive))
    except ConfigError as error:
        # The lines are those of a text that the user has never seen.
        name = f"drive {wishes.drive}"
        own = [problem._replace(file=name, line=None) for problem in error.problems]
        raise refusal(own) from error
    exported: int = experiment.derived["capacity"]["exported_bytes"]
    return exported


def _probe(drive: Table) -> str:
    """Return an experiment that is only checked, to find the drive's capacity."""
    nothing = Table(
        "workload",
        [Row("name", "probe"), Row("reads", "100 %"), Row("stop", {"requests": 1})],
        is_list=True,
    )
    return written.text([drive, nothing])


def _head(path: Path, wishes: Wishes) -> Table:
    return Table("", [Row("title", f"{path.name} on {wishes.drive}")])


def _precondition(wishes: Wishes) -> Table:
    rows = [Row("fill", wishes.fill)]
    if wishes.age is not None:
        rows.append(Row("age", {"overwrites": wishes.age}))
    return Table("precondition", rows, remark="not of the job file")


def _workloads(whole: _Whole, bases: dict[tuple[str, ...], int], exported: int) -> list[Table]:
    job, asked, place, times = whole
    tables = []
    for clone, region in enumerate(place.regions):
        name = f"{job.name}-{clone}" if len(place.regions) > 1 else job.name
        rows = [
            job.row("name", name, "name", "numjobs"),
            *places.row(job, region, bases[region.where], exported),
            *asked.rows_of(region),
            *ending.rows(job, times, asked, place, region),
        ]
        tables.append(Table("workload", rows, is_list=True, remark=f"[{job.title}]"))
    return tables


def _give_names(workloads: list[Table]) -> None:
    """Make names unique: fio allows several jobs of one name, and one that is called "all"."""
    taken = {ALL}
    for table in workloads:
        wanted = name = str(table.rows[0].value)
        number = 2
        while name in taken:
            name, number = f"{wanted}-{number}", number + 1
        taken.add(name)
        table.rows[0].value = name


def _text(path: Path, tables: Iterable[Table]) -> str:
    head = (
        f"# Made by `flashscape import-fio` from {path.name}.\n"
        "# Beside each value are the options of fio's that it comes from.\n"
    )
    return f"{head}\n{written.text(list(tables))}"


def _keys(jobs: list[Job], path: Path) -> list[Key]:
    """Return a line for each option and each of its verdicts, in the order of the file."""
    fates: dict[tuple[Option, Verdict, str, str], list[str]] = {}
    for job in jobs:
        for option, said in job.said.items():
            fates.setdefault((option, *said), []).append(job.title)
    keys = []
    several = len(jobs) > 1
    for (option, verdict, becomes, why), titles in fates.items():
        section = option.section
        if several and option.section not in titles and len(titles) < len(jobs):
            section = f"{section}, for {', '.join(titles)}"
        keys.append(
            Key(option.file, option.line, section, option.name, option.shown, verdict, becomes, why)
        )
    keys.sort(key=lambda key: (key.file != str(path), key.file, key.line or 0))
    missing = [replace(key, file=str(path)) for job in jobs for key in job.missing()]
    return [*keys, *missing]


def _placed(problems: list[Problem], path: Path) -> list[Problem]:
    """Remove repeated problems, and add the file to those that belong to no option."""
    return list(dict.fromkeys(p if p.file else p._replace(file=str(path)) for p in problems))


def _translated(
    error: ConfigError, workloads: list[Table], jobs: list[Job], path: Path
) -> ConfigError:
    """Express the check's refusals in terms of the job file."""
    return refusal([_at_home(problem, workloads, jobs, path) for problem in error.problems])


_CULPRITS = {
    "region.offset": ("offset", "offset_increment"),
    "region": ("size", "filesize", "offset"),
    "addresses": ("random_distribution", "rw"),
    "stop.time": ("runtime", "ramp_time"),
    "stop.bytes": ("io_size", "size"),
    "stop.requests": ("number_ios",),
}
"""Options that a fault of a key comes from, the likeliest first; for other keys their sources."""


def _at_home(problem: Problem, workloads: list[Table], jobs: list[Job], path: Path) -> Problem:
    for number, table in enumerate(workloads):
        head = f"workload[{number}]."
        for row in table.rows:
            if not (row.sources and problem.path.startswith(head + row.key)):
                continue
            title = row.sources[0][0]
            given = [name for _, name in row.sources]
            key = problem.path.removeprefix(head)
            likely = next((names for at, names in _CULPRITS.items() if key.startswith(at)), ())
            name = next((name for name in likely if name in given), given[0])
            option = next(job.option(name) for job in jobs if job.title == title)
            message = f"{problem.message} (from {', '.join(given)} of [{title}])"
            if option is not None:
                return Problem(f"[{title}] {name}", option.file, option.line, message)
    return Problem(problem.path, str(path), None, problem.message)
