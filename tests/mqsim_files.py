"""Files of MQSim for tests: a small drive, and flows of it."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

import pytest

import flashscape as fs
from flashscape.mqsim import known

DRIVE = {
    "Host_Parameter_Set": {
        "PCIe_Lane_Bandwidth": "0.5",
        "PCIe_Lane_Count": "4",
        "SATA_Processing_Delay": "1000",
        "Enable_ResponseTime_Logging": "TRUE",
        "ResponseTime_Logging_Period_Length": "2000000",
    },
    "Device_Parameter_Set": {
        "Seed": "77",
        "Enabled_Preconditioning": "True",
        "HostInterface_Type": "nvme",
        "IO_Queue_Depth": "64",
        "Queue_Fetch_Size": "32",
        "Data_Cache_Capacity": "1048576",
        "Data_Cache_DRAM_Data_Rate": "800",
        "Data_Cache_DRAM_Data_Busrt_Size": "4",
        "Ideal_Mapping_Table": "true",
        "Plane_Allocation_Scheme": "PWCD",
        "Overprovisioning_Ratio": "0.25",
        "GC_Exec_Threshold": "0.2",
        "GC_Block_Selection_Policy": "RGA",
        "Preemptible_GC_Enabled": "true",
        "GC_Hard_Threshold": "0.005",
        "Flash_Channel_Count": "2",
        "Flash_Channel_Width": "1",
        "Channel_Transfer_Rate": "400",
        "Chip_No_Per_Channel": "2",
    },
    "Flash_Parameter_Set": {
        "Flash_Technology": "mlc",
        "Page_Read_Latency_LSB": "40000",
        "Page_Read_Latency_MSB": "60000",
        "Page_Program_Latency_LSB": "500000",
        "Page_Program_Latency_MSB": "500000",
        "Block_Erase_Latency": "3000000",
        "Die_No_Per_Chip": "1",
        "Plane_No_Per_Die": "2",
        "Block_No_Per_Plane": "80",
        "Page_No_Per_Block": "16",
        "Page_Capacity": "8192",
    },
}
"""8 planes of 80 blocks of 16 pages of 8 KiB: 80 MiB."""

PLANES, PAGE = 8, 8192
PAGES = PLANES * 80 * 16
EXPORTED = PAGES * 3 // 4

FLOW = {
    "Priority_Class": "HIGH",
    "Device_Level_Data_Caching_Mode": "WRITE_CACHE",
    "Channel_IDs": "0,1",
    "Chip_IDs": "0,1",
    "Die_IDs": "0",
    "Plane_IDs": "0,1",
    "Initial_Occupancy_Percentage": "50",
    "Working_Set_Percentage": "100",
    "Synthetic_Generator_Type": "QUEUE_DEPTH",
    "Read_Percentage": "100",
    "Address_Distribution": "RANDOM_UNIFORM",
    "Percentage_of_Hot_Region": "0",
    "Generated_Aligned_Addresses": "true",
    "Address_Alignment_Unit": "16",
    "Request_Size_Distribution": "FIXED",
    "Average_Request_Size": "16",
    "Variance_Request_Size": "0",
    "Seed": "798",
    "Average_No_of_Reqs_in_Queue": "1",
    "Bandwidth": "262144",
    "Stop_Time": "0",
    "Total_Requests_To_Generate": "500",
}

TRACED = {
    "Device_Level_Data_Caching_Mode": "WRITE_CACHE",
    "Initial_Occupancy_Percentage": "50",
    "File_Path": "some.trace",
    "Percentage_To_Be_Executed": "100",
    "Relay_Count": "1",
    "Time_Unit": "NANOSECOND",
}

SYNTHETIC, TRACE = known.SYNTHETIC, known.TRACE


def keys_of(values: dict[str, str | None]) -> str:
    return "".join(
        f"<{key}>{value}</{key}>\n" for key, value in values.items() if value is not None
    )


def drive_xml(**changes: str | None) -> str:
    sections = {
        name: {**values, **{k: v for k, v in changes.items() if k in known.of(name)}}
        for name, values in DRIVE.items()
    }
    host, device, flash = (keys_of(values) for values in sections.values())
    return (
        '<?xml version="1.0" encoding="us-ascii"?>\n<Execution_Parameter_Set>\n'
        f"<Host_Parameter_Set>\n{host}</Host_Parameter_Set>\n<Device_Parameter_Set>\n{device}"
        f"<Flash_Parameter_Set>\n{flash}</Flash_Parameter_Set>\n</Device_Parameter_Set>\n"
        "</Execution_Parameter_Set>\n"
    )


def flow_xml(base: dict[str, str] | None = None, **changes: str | None) -> str:
    name = TRACE if base is TRACED else SYNTHETIC
    return f"<{name}>\n{keys_of({**(base or FLOW), **changes})}</{name}>\n"


def said(imported: fs.Imported) -> dict[str, Any]:
    """Return the experiment as written; the import has checked it."""
    return tomllib.loads(imported.toml)


def size(text: str) -> int:
    """Bytes."""
    number, unit = text.split()
    return int(number) * {"B": 1, "KiB": 2**10, "MiB": 2**20, "GiB": 2**30}[unit]


class Files:
    """A configuration and a workload in a folder of their own."""

    def __init__(self, folder: Path) -> None:
        self.config, self.workload = folder / "ssdconfig.xml", folder / "workload.xml"

    def write(self, *flows: str, **changes: str | None) -> Files:
        self.config.write_text(drive_xml(**changes), encoding="utf-8")
        scenario = "".join(flows) or flow_xml()
        self.workload.write_text(
            f"<MQSim_IO_Scenarios>\n<IO_Scenario>\n{scenario}</IO_Scenario>\n</MQSim_IO_Scenarios>\n",
            encoding="utf-8",
        )
        return self

    def imported(self, scenario: int = 1) -> fs.Imported:
        return fs.import_mqsim(self.config, self.workload, scenario)

    def config_of(self, *flows: str, **changes: str | None) -> dict[str, Any]:
        return said(self.write(*flows, **changes).imported())

    def refused(self) -> list[fs.Problem]:
        with pytest.raises(fs.ConfigError) as refusal:
            self.imported()
        return refusal.value.problems


def key(imported: fs.Imported, name: str) -> Any:
    [found] = [found for found in imported.keys if found.name == name and found.section != "flow 1"]
    return found
