"""Instructions per operation of the core, by callgrind: the same on a busy machine.

    python3 scripts/instructions.py            compares with what was accepted
    python3 scripts/instructions.py --accept   keeps what is found

Five runs of at most 100,000 requests; only the event loop is counted. Figures of another
compiler are told and not judged. Other binaries of the profile example may be named, to set
them side by side: `python3 scripts/instructions.py OLD NEW`.
"""

import os
import re
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
KEPT = ROOT / "crates/drive/tests/gate/instructions.tsv"
PROFILE = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target")) / "release/examples/profile"
# A bench fails where it takes more than that share longer.
MOST = 0.01

SMALL = ["drive.geometry.pages_per_block=16", 'drive.ftl.over_provisioning.exported="4 GB"']
SLICE = [
    "drive.geometry.channels=4",
    "drive.geometry.blocks_per_plane=100",
    "drive.geometry.pages_per_block=48",
    'drive.buffer.size="16 MiB"',
]
# The file, its settings, and what counts as an operation.
BENCHES = {
    "read": ("experiments/bench-read.toml", [*SMALL, "run.requests=100000"], "requests"),
    "read-deep": ("experiments/bench-read-deep.toml", [*SMALL, "run.requests=100000"], "requests"),
    "gc": ("experiments/bench-gc.toml", [*SMALL, "run.requests=30000"], "commands"),
    "mixed": (
        "experiments/bench-mixed.toml",
        [
            *SLICE,
            'drive.ftl.over_provisioning={ exported = "1080 MB" }',
            "run={ requests = 100000 }",
            "precondition.age={ overwrites = 2.0 }",
        ],
        "requests",
    ),
    "trace": (
        "experiments/bench-trace.toml",
        [
            *SLICE,
            'drive.ftl.over_provisioning={ exported = "1 GiB" }',
            "workload[0].trace.repeat=1",
        ],
        "requests",
    ),
}


def main() -> None:
    arguments = [argument for argument in sys.argv[1:] if argument != "--accept"]
    binaries = [Path(argument) for argument in arguments] or [PROFILE]
    for binary in binaries:
        if not binary.exists():
            sys.exit(f"{binary} is not there; build it: cargo build --release --example profile")
    if not arguments:
        return _judge(_measure(PROFILE), accept="--accept" in sys.argv)
    found = [_measure(binary) for binary in binaries]
    for name in BENCHES:
        counts = "  ".join(f"{of[name]:9.1f} {of[name] / found[0][name] - 1:+7.2%}" for of in found)
        print(f"{name:10} {counts}")
    return None


def _measure(binary: Path) -> dict[str, float]:
    with ThreadPoolExecutor(max_workers=os.cpu_count()) as pool:
        counts = pool.map(lambda bench: _count(binary, *bench), BENCHES.values())
        return dict(zip(BENCHES, counts, strict=True))


def _count(binary: Path, file: str, settings: list[str], unit: str) -> float:
    """Instructions per operation of one bench."""
    path = ROOT / file
    with tempfile.TemporaryDirectory() as folder:
        command = [
            *("valgrind", "--tool=callgrind", f"--callgrind-out-file={folder}/out"),
            "--toggle-collect=drive::run::Run::advance",
            *(str(binary.resolve()), path.name, *settings),
        ]
        done = subprocess.run(command, cwd=path.parent, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            sys.exit(f"{' '.join(command)}:\n{done.stdout}{done.stderr}")
        text = Path(folder, "out").read_text()
    instructions = int(re.search(r"^(?:totals|summary): (\d+)", text, re.M).group(1))
    pattern = r"(\d+) requests, (\d+) flash commands"
    requests, commands = map(int, re.search(pattern, done.stdout).groups())
    return instructions / (commands if unit == "commands" else requests)


def _judge(found: dict[str, float], *, accept: bool) -> None:
    compiler = subprocess.check_output(["rustc", "--version"], text=True).strip()
    kept_by, kept = _kept()
    lines = [compiler]
    slower = []
    for name, count in found.items():
        change = count / kept[name] - 1 if name in kept else 0.0
        print(f"{name:10} {count:9.1f} instructions per {BENCHES[name][2][:-1]} {change:+7.2%}")
        lines.append(f"{name}\t{count:.1f}")
        if change > MOST:
            slower.append(name)
    if accept:
        KEPT.write_text("\n".join(lines) + "\n")
    elif kept_by != compiler:
        print(f"not judged: the accepted figures are of {kept_by or 'no compiler'}")
    elif slower:
        names = ", ".join(slower)
        sys.exit(f"{names}: over {MOST:.0%} more instructions; if that is meant: make gate-accept")


def _kept() -> tuple[str, dict[str, float]]:
    if not KEPT.exists():
        return "", {}
    compiler, *rows = KEPT.read_text().splitlines()
    return compiler, {name: float(count) for name, count in (row.split("\t") for row in rows)}


if __name__ == "__main__":
    main()
