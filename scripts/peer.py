"""Builds MQSim in out/peer, its faults mended, for `make bench` to compare with.

    python3 scripts/peer.py           the public repository, at the commit that the mends are for
    python3 scripts/peer.py SOURCE    a checkout of it, or another repository of it

docs/bench.md describes each fault. A mend finds its place by a pattern, and nothing is built if a
pattern is not found as often as it should be. Prints the path of the program.
"""

import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple

OUT = Path(__file__).resolve().parent.parent / "out/peer"
PUBLIC = "https://github.com/CMU-SAFARI/MQSim"
COMMIT = "7ec40e3b198e8bd117f992f051cd610e330e079e"
COPIED = ("src", "Makefile", "LICENSE")

MAPPING = "src/ssd/Address_Mapping_Unit_Page_Level.cpp"
GC = "src/ssd/GC_and_WL_Unit_Base.cpp"
BLOCKS = "src/ssd/Flash_Block_Manager.cpp"
WEAR = "src/ssd/Flash_Block_Manager_Base.cpp"


class Mend(NamedTuple):
    """A replacement of text."""

    what: str
    file: str
    pattern: str
    text: str
    times: int = 1
    """How often the pattern stands in the file."""


MENDS = (
    Mend(
        "requests that waited for a page under GC are dispatched when it has moved",
        MAPPING,
        r"handle_transaction_serviced_signal_from_PHY\(\(\*(read|write)_tr\)\.second\);"
        r"\s*delete \(\*\1_tr\)\.second;",
        r"Translate_lpa_to_ppa_and_dispatch(std::list<NVM_Transaction*>(1, (*\1_tr).second));",
        times=2,
    ),
    Mend(
        "writes that waited for a free block wait for a page under GC, too",
        MAPPING,
        r"if (?=\(translate_lpa_to_ppa\(\(\*program\)->)",
        "if (is_lpa_locked_for_gc((*program)->Stream_id, (*program)->LPA)) {"
        " manage_user_transaction_facing_barrier(*program);"
        " waiting_write_list.erase(program++);"
        " } else if ",
    ),
    Mend(
        "pages made up for reads count as programmed and say whose data they hold",
        MAPPING,
        r"Allocate_block_and_page_in_plane_for_user_write\(stream_id, read_address\);",
        r"\g<0> flash_controller->Change_flash_page_status_for_preconditioning(read_address, lpa);"
        " block_manager->Program_transaction_serviced(read_address);",
    ),
    Mend(
        "a GC that was put off erases its block",
        GC,
        r"block->Erase_transaction = gc_wl_erase_tr;(?!\s*\S*tsu->Submit)",
        r"\g<0> _my_instance->tsu->Submit_transaction(gc_wl_erase_tr);",
    ),
    Mend(
        "a block that GC is programming is no victim: its programs are counted",
        BLOCKS,
        r"GC_wf\[stream_id\]->Current_page_write_index\+\+;",
        r"\g<0> program_transaction_issued(page_address);",
    ),
    Mend(
        "and counted as ended",
        GC,
        r"case Transaction_Type::WRITE:(?=\s*if \(pbke->Blocks)",
        r"\g<0> _my_instance->block_manager->Program_transaction_serviced(transaction->Address);",
    ),
    Mend(
        "static wear-leveling marks the block that it moves",
        GC,
        r"GC_WL_started\(wl_candidate_block_id\)",
        "GC_WL_started(wl_candidate_address)",
    ),
    Mend(
        "static wear-leveling compares counts of erases, not numbers of blocks",
        WEAR,
        r"return (max_erased_block) - (min_erased_block);",
        r"return plane_record->Blocks[\1].Erase_count - plane_record->Blocks[\2].Erase_count;",
    ),
)


def main() -> None:
    """Check out, mend, copy, build."""
    source = sys.argv[1] if len(sys.argv) > 1 and sys.argv[1] else None
    with tempfile.TemporaryDirectory() as folder:
        if source is not None and Path(source, "src").is_dir():
            checkout = Path(source)
        else:
            checkout = Path(folder)
            _check_out(source or PUBLIC, checkout)
        mended = _mended(checkout)
        _copy(checkout, mended)
    for mend in MENDS:
        print(f"mended: {mend.what}")
    _build()
    print(OUT / "MQSim")


def _check_out(repository: str, folder: Path) -> None:
    """Check the commit out in an empty folder, without its history."""
    _run(["git", "init", "--quiet", str(folder)])
    git = ["git", "-C", str(folder)]
    _run([*git, "fetch", "--quiet", "--depth=1", repository, COMMIT])
    _run([*git, "checkout", "--quiet", "FETCH_HEAD"])


def _mended(checkout: Path) -> dict[str, str]:
    """Return the files that the mends change, as they are to be."""
    texts: dict[str, str] = {}
    for mend in MENDS:
        file = checkout / mend.file
        if not file.is_file():
            sys.exit(f"error: {file} is not there; name a checkout of MQSim ({PUBLIC})")
        # Whatever the encoding of its comments is, they come out as they went in.
        text = texts.get(mend.file) or file.read_text("latin-1")
        texts[mend.file], found = re.subn(mend.pattern, mend.text, text)
        if found != mend.times:
            sys.exit(
                f"error: {file}: expected {mend.times} of {mend.pattern!r}, found {found}; "
                f"take MQSim at commit {COMMIT}, or change the mend in scripts/peer.py "
                f'that is for this: "{mend.what}"'
            )
    return texts


def _copy(checkout: Path, mended: dict[str, str]) -> None:
    shutil.rmtree(OUT, ignore_errors=True)
    OUT.mkdir(parents=True)
    for name in COPIED:
        if Path(checkout, name).is_dir():
            shutil.copytree(Path(checkout, name), OUT / name)
        else:
            shutil.copy(Path(checkout, name), OUT / name)
    for name, text in mended.items():
        Path(OUT, name).write_text(text, "latin-1")


def _build() -> None:
    """Build by MQSim's own Makefile, without debugging information."""
    make = ["make", "-C", str(OUT), "CC_FLAGS=-std=c++11 -O3"]
    _run([*make, "checkdirs"])
    _run([*make, f"-j{os.cpu_count()}"])


def _run(command: list[str]) -> None:
    ended = subprocess.run(command, capture_output=True, text=True, check=False)
    if ended.returncode:
        sys.exit(f"error: {' '.join(command)} failed:\n{ended.stderr[-4000:].strip()}")


if __name__ == "__main__":
    main()
