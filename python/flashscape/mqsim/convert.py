"""Conversion of MQSim's two XML files to an experiment."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from flashscape import written
from flashscape.errors import ConfigError, Problem
from flashscape.experiment import Experiment
from flashscape.imported import Faults, Imported, Key, Verdict, refusal
from flashscape.mqsim import (
    collection,
    drive,
    estimates,
    known,
    precondition,
    space,
    workload,
    xml,
)
from flashscape.mqsim.collection import Bounds
from flashscape.mqsim.flow import Flow
from flashscape.mqsim.section import Section, misplaced, sources
from flashscape.mqsim.xml import Element
from flashscape.written import Row, Table

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

_CONFIG, _WORKLOAD, _SCENARIO = "Execution_Parameter_Set", "MQSim_IO_Scenarios", "IO_Scenario"

_SPARE = "drive.ftl.over_provisioning"
"""Path of the check's error that GC thresholds can never be reached."""
_IN_STEP = "precondition.in_step"
"""Path of the check's error that spare space does not allow planes to begin in step."""


def convert(config: Path, workload: Path, scenario: int) -> Imported:
    """Turn MQSim's files into an experiment; see :func:`flashscape.import_mqsim`."""
    return _Import(config, workload, scenario).imported()


class _Import:
    """One conversion."""

    def __init__(self, config: Path, workload: Path, scenario: int) -> None:
        self._config, self._workload, self._number = config, workload, scenario
        self._faults = Faults()
        self._strays: list[Key] = []
        self._warnings: list[str] = []
        self._misplaced: list[str] = []
        self._host, self._device, self._flash = self._drive_sections()
        elements, self._scenarios = self._flow_elements()
        self._sections = [
            Section(element, str(workload), f"flow {number}", self._faults)
            for number, element in enumerate(elements)
        ]
        self._traces = [element.name == known.TRACE for element in elements]

    def imported(self) -> Imported:
        tables = self._tables(self._bounds())
        self._end_if_wrong()
        experiment, text = self._checked(tables)
        keys = [*(key for section in self._all() for key in section), *self._strays]
        strays = (warning for section in self._all() for warning in section.warnings)
        warnings = [*self._misplaced, *strays, *self._warnings]
        return Imported(experiment, text, keys, self._number, self._scenarios, warnings)

    def _all(self) -> Iterator[Section]:
        yield from (self._host, self._device, self._flash, *self._sections)

    def _drive_sections(self) -> tuple[Section, Section, Section]:
        root = xml.read(self._config)
        if root.name != _CONFIG:
            hint = (
                "; it is a workload file: the configuration comes first"
                if root.name == _WORKLOAD
                else ""
            )
            raise xml.fault(
                self._config,
                root.line,
                f"is no configuration of MQSim: it begins with <{root.name}>, not "
                f"with <{_CONFIG}>{hint}",
            )
        host, device = self._child(root, known.HOST), self._child(root, known.DEVICE)
        flash = self._child(device, known.FLASH)
        for element in root.children:
            if element.name not in (known.HOST, known.DEVICE):
                self._stray(self._config, root.name, element, "which ignores it silently")
        file = str(self._config)
        return (
            Section(host, file, host.name, self._faults),
            Section(device, file, device.name, self._faults),
            Section(flash, file, flash.name, self._faults),
        )

    def _child(self, element: Element, name: str) -> Element:
        """Return the child of that name; an empty one, for MQSim's defaults, if it is missing."""
        found = [child for child in element.children if child.name == name]
        for again in found[1:]:
            self._faults.add(
                name,
                str(self._config),
                again.line,
                f"comes again, after line {found[0].line}; keep one",
            )
        return found[0] if found else Element(name, element.line)

    def _flow_elements(self) -> tuple[list[Element], int]:
        root = xml.read(self._workload)
        if root.name != _WORKLOAD:
            hint = (
                "; it is a configuration: the workload comes second" if root.name == _CONFIG else ""
            )
            raise xml.fault(
                self._workload,
                root.line,
                f"is no workload of MQSim: it begins with <{root.name}>, not with "
                f"<{_WORKLOAD}>{hint}",
            )
        scenarios = [child for child in root.children if child.name == _SCENARIO]
        for child in root.children:
            if child.name != _SCENARIO:
                self._stray(self._workload, root.name, child, "which ignores it silently")
        if not 1 <= self._number <= len(scenarios):
            there = (
                f"scenarios 1 to {len(scenarios)}"
                if len(scenarios) > 1
                else "one scenario"
                if scenarios
                else "no scenario"
            )
            raise xml.fault(
                self._workload, root.line, f"has {there}, not a scenario {self._number}"
            )
        chosen = scenarios[self._number - 1]
        flows = []
        for child in chosen.children:
            if child.name in (known.SYNTHETIC, known.TRACE):
                flows.append(child)
            else:
                why = "which crashes at what is no flow; left out here"
                self._stray(self._workload, f"scenario {self._number}", child, why)
        if not flows:
            raise xml.fault(self._workload, chosen.line, "the scenario has no flow")
        return flows, len(scenarios)

    def _stray(self, file: Path, section: str, element: Element, why: str) -> None:
        """Record an element that only some variant of MQSim may know."""
        why = f"no element of MQSim's, {why}"
        if found := misplaced(element):
            why = f"{why}; {found}"
            self._misplaced.append(f"{file}, line {element.line}: <{element.name}> {found}")
        self._strays.append(
            Key(str(file), element.line, section, element.name, "...", Verdict.UNKNOWN, "", why)
        )

    def _bounds(self) -> Bounds:
        return collection.wanted(self._device, self._flash)

    def _tables(self, bounds: Bounds, *, in_step: bool = False) -> list[Table]:
        """Return all tables. Reading a value also records its verdict and its faults."""
        whole = space.of(self._device, self._flash)
        is_sata = self._device.text("HostInterface_Type") == "SATA"
        divided = space.divide(whole, self._device, self._sections, is_sata=is_sata)
        of_drive, parts = divided.space, divided.parts
        is_preconditioned = self._device.truth("Enabled_Preconditioning")
        users = Counter(part.namespace for part in parts)
        flows = [
            Flow(
                number,
                section,
                is_trace,
                part,
                of_drive.page_bytes,
                self._workload.parent,
                is_preconditioned and users[part.namespace] == 1,
            )
            for number, (section, is_trace, part) in enumerate(
                zip(self._sections, self._traces, parts, strict=True)
            )
        ]
        sections = (self._host, self._device, self._flash)
        drive.note_inert(*sections, flows)
        workload.note_caching(flows)
        workload.note_priorities(flows, self._device)
        tables = [
            self._head(),
            *drive.tables(*sections, of_drive, flows, bounds),
            precondition.table(self._device, of_drive, flows, in_step=in_step),
            *(workload.table(flow, self._device) for flow in flows),
            self._record(),
        ]
        self._warnings = [*divided.warnings, *estimates.warnings(*sections, of_drive, flows)]
        return tables

    def _head(self) -> Table:
        scenario = f", scenario {self._number}" if self._scenarios > 1 else ""
        title = f"{self._workload.name}{scenario} on {self._config.name} of MQSim"
        seed = self._device.whole("Seed") % 2**32
        return Table("", [Row("title", title), Row("seed", seed, sources(self._device, "Seed"))])

    def _record(self) -> Table:
        name = "ResponseTime_Logging_Period_Length"
        if not self._host.truth("Enable_ResponseTime_Logging"):
            return Table("record")
        return Table(
            "record",
            [Row("interval", written.time(self._host.whole(name)), sources(self._host, name))],
        )

    def _checked(self, tables: list[Table]) -> tuple[Experiment, str]:
        """Return the experiment, with lower GC bounds if MQSim's cannot be reached.

        Planes are in step if the spare space allows that.
        """
        bounds = self._bounds()
        try:
            Experiment.from_toml(self._text(tables))
        except ConfigError as error:
            if [problem.path for problem in error.problems] != [_SPARE]:
                raise self._translated(error, tables) from error
            found = self._reachable()
            if found is None:
                raise self._translated(error, tables) from error
            bounds = found
        text = self._text(self._tables(bounds, in_step=True))
        try:
            return Experiment.from_toml(text), text
        except ConfigError as error:
            if [problem.path for problem in error.problems] != [_IN_STEP]:
                raise self._translated(error, tables) from error
        text = self._text(self._tables(bounds))
        return Experiment.from_toml(text), text

    def _reachable(self) -> Bounds | None:
        """Return the highest bounds that can be reached: MQSim's, with a lower end or begin."""
        below, beyond = self._bounds()
        ends = [end for end in range(beyond) if self._is_reachable(Bounds(below, end))]
        if ends:
            return Bounds(below, max(ends))
        least = 1
        while least < below:
            middle = (least + below) // 2
            if self._is_reachable(Bounds(middle)):
                least = middle + 1
            else:
                below = middle
        most = least - 1
        # With the highest threshold, collection would gain nothing.
        return Bounds(max(min(most, collection.COLLECTIONS), most // 2)) if most else None

    def _is_reachable(self, bounds: Bounds) -> bool:
        try:
            Experiment.from_toml(self._text(self._tables(bounds)))
        except ConfigError:
            return False
        return True

    def _text(self, tables: list[Table]) -> str:
        head = (
            f"# Made by `flashscape import-mqsim` from {self._config.name} and "
            f"{self._workload.name}.\n"
            "# Beside each value is the key of MQSim's that it comes from; what has "
            "none is as in MQSim's code.\n"
        )
        return f"{head}\n{written.text(tables)}"

    def _end_if_wrong(self) -> None:
        problems = list(dict.fromkeys(self._faults.problems))
        if problems:
            raise refusal(problems)

    def _translated(self, error: ConfigError, tables: list[Table]) -> ConfigError:
        """Express the check's refusals in terms of MQSim's files."""
        return refusal([self._at_home(problem, tables) for problem in error.problems])

    def _at_home(self, problem: Problem, tables: list[Table]) -> Problem:
        flows = iter(range(len(self._sections)))
        best: tuple[int, tuple[tuple[str, str], ...]] = (0, ())
        for table in tables:
            path = f"{table.path}[{next(flows)}]" if table.is_list else table.path
            for row in table.rows:
                full = f"{path}.{row.key}".lstrip(".")
                if row.sources and problem.path.startswith(full) and len(full) > best[0]:
                    best = len(full), row.sources
        if not best[1]:
            return Problem(problem.path, str(self._config), None, problem.message)
        section = {section.title: section for section in self._all()}[best[1][0][0]]
        names = ", ".join(name for _, name in best[1])
        line = section.line_of(best[1][0][1])
        return Problem(
            problem.path, section.file, line, f"{problem.message} (from {names} of {section.title})"
        )
