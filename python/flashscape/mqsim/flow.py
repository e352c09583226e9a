"""A flow of a scenario: what it asks for, and what MQSim writes for it before the run."""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from flashscape.mqsim.space import SECTOR
from flashscape.written import Row

if TYPE_CHECKING:
    from flashscape import written
    from flashscape.mqsim.section import Section
    from flashscape.mqsim.space import Part


@dataclass(slots=True)
class Flow:
    """A flow of a scenario."""

    number: int
    section: Section
    is_trace: bool
    part: Part
    page_bytes: int
    folder: Path
    """Folder of the workload file."""
    is_preconditioned_alone: bool
    """True if MQSim writes the flow's addresses before the run, and its namespace is its own."""
    is_ranked: bool = False
    """True if MQSim's scheduler looks at its priority."""

    @property
    def name(self) -> str:
        """Name in results."""
        return f"flow-{self.number}"

    @property
    def trace_places(self) -> list[Path]:
        """Places of its trace: the working directory, as in MQSim, and beside the workload file."""
        given = self.section.text("File_Path").strip()
        path = Path(given if is_file(Path(given)) else given.replace("\\", "/"))
        return [path.absolute(), (self.folder / path).absolute()]

    @property
    def trace(self) -> Path | None:
        """Its trace, if it is there."""
        return next(filter(is_file, self.trace_places), None)

    @property
    def reads(self) -> bool:
        """True if the flow reads."""
        return self.is_trace or self.section.whole("Read_Percentage") > 0

    @property
    def writes(self) -> bool:
        """True if the flow writes."""
        return self.is_trace or self.section.whole("Read_Percentage") < 100

    @property
    def is_caching(self) -> bool:
        """True if its writes are acknowledged from the buffer."""
        return self.section.text("Device_Level_Data_Caching_Mode") in (
            "WRITE_CACHE",
            "WRITE_READ_CACHE",
        )

    @property
    def is_read_caching(self) -> bool:
        """True if MQSim keeps what it reads in its cache."""
        mode = self.section.text("Device_Level_Data_Caching_Mode")
        return mode in ("READ_CACHE", "WRITE_READ_CACHE")

    @property
    def is_open(self) -> bool:
        """True if the flow asks at a rate of its own."""
        return self.is_trace or self.section.text("Synthetic_Generator_Type") == "BANDWIDTH"

    @property
    def write_share(self) -> float:
        """Share of writes among the requests of a synthetic flow."""
        return 1 - self.section.whole("Read_Percentage") / 100

    @property
    def mean_bytes(self) -> int:
        """Mean size of its requests; a page for a trace, whose sizes are not examined."""
        if self.is_trace:
            return self.page_bytes
        return self.section.whole("Average_Request_Size") * SECTOR

    @property
    def depth(self) -> int:
        """Requests that a closed loop has under way; 1 for other flows."""
        if self.is_open:
            return 1
        return self.section.whole("Average_No_of_Reqs_in_Queue")

    @property
    def is_partial(self) -> bool:
        """True if requests may access a part of a page."""
        return (
            self.is_trace
            or self.mean_bytes % self.page_bytes != 0
            or self.align % self.page_bytes != 0
            or self._sizes_vary
        )

    @property
    def _sizes_vary(self) -> bool:
        section = self.section
        is_normal = section.text("Request_Size_Distribution") == "NORMAL"
        return is_normal and section.whole("Variance_Request_Size") > 0

    @property
    def align(self) -> int:
        """Bytes to whose multiples requests are aligned."""
        if not self.section.truth("Generated_Aligned_Addresses"):
            return SECTOR
        return self.section.whole("Address_Alignment_Unit") * SECTOR

    @property
    def working_set(self) -> int:
        """Bytes that it accesses, from the beginning of its part."""
        if self.is_trace:
            return self.part.size
        percent = self.section.whole("Working_Set_Percentage")
        share = percent if 1 <= percent <= 100 else 100
        return self.part.size * share // 100 // self.page_bytes * self.page_bytes

    @property
    def reach(self) -> int:
        """Bytes that its requests reach, from the beginning of its part.

        MQSim draws the addresses of a run from the same seed as those of the
        preconditioning (FTL.cpp): a run of no more requests accesses only written pages.
        In MQSim these are scattered pages, here the first ones.
        """
        drawn = self._drawn_before
        if drawn is None or not 0 < self.section.whole("Total_Requests_To_Generate") <= drawn:
            return self.working_set
        return int(self._written_before / self.page_bytes) * self.page_bytes

    @property
    def _wanted_before(self) -> float:
        """Bytes that preconditioning is asked to write."""
        return self.section.whole("Initial_Occupancy_Percentage") / 100 * self.part.size

    @property
    def filled(self) -> float:
        """Bytes of its part that preconditioning fills: for uniform ones at most 90 % (FTL.cpp)."""
        wanted = self._wanted_before
        is_uniform = (
            not self.is_trace and self.section.text("Address_Distribution") == "RANDOM_UNIFORM"
        )
        return 0.9 * self.part.size if is_uniform and self.part.size < 1.1 * wanted else wanted

    @property
    def _wants_too_much(self) -> bool:
        """True if preconditioning would draw too long before it had found so many bytes."""
        return self.working_set < 1.1 * self._wanted_before

    @property
    def _written_before(self) -> float:
        """Bytes that preconditioning writes."""
        return 0.9 * self.working_set if self._wants_too_much else self._wanted_before

    @property
    def drawn_share(self) -> float:
        """Share of the pages of its working set that preconditioning writes."""
        return min(self._written_before / max(self.working_set, 1), 1.0)

    @property
    def _drawn_before(self) -> float | None:
        """Mean number of requests that preconditioning draws, if the run draws the same ones."""
        section = self.section
        if (
            self.is_trace
            or not self.is_preconditioned_alone
            or self.is_partial
            or section.text("Address_Distribution") != "RANDOM_UNIFORM"
            or section.text("Request_Size_Distribution") != "FIXED"
            or section.whole("Stop_Time")
        ):
            return None
        if self._wants_too_much and self.working_set < self.part.size:
            # In this case it draws from the whole part.
            return None
        unwritten = 1 - self._written_before / self.working_set
        return self.working_set / self.mean_bytes * -math.log(unwritten)

    def row(self, key: str, value: written.Value, *names: str, remark: str = "") -> Row:
        """Return a row that comes from keys of this flow."""
        return Row(key, value, tuple((self.section.title, name) for name in names), remark)


def is_file(path: Path) -> bool:
    """Return True if the file exists; False also for a name that is too long."""
    try:
        return path.is_file()
    except OSError:
        return False
