"""The documents: their examples work, and their links lead somewhere."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from places import EXPERIMENTS, FLEETS, ROOT, SWEEPS

DOCUMENTS = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")])


def _blocks(path: Path, language: str) -> list[str]:
    """The code blocks of a language in a document."""
    text = path.read_text(encoding="utf-8")
    return re.findall(rf"^```{language}\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)


def _run(*command: str | Path, out: Path) -> subprocess.CompletedProcess[str]:
    arguments = [str(argument) for argument in command]
    if "--out" in arguments:
        arguments[arguments.index("--out") + 1] = str(out)
    return subprocess.run(
        arguments, capture_output=True, text=True, cwd=ROOT, timeout=300, check=False
    )


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_links_lead_somewhere(document: Path):
    text = document.read_text(encoding="utf-8")
    for target in re.findall(r"\]\(([^)#\s]+)[^)]*\)", text):
        if "://" not in target:
            assert (document.parent / target).exists(), f"{target} is not there"


def _anchors(document: Path) -> set[str]:
    """The anchors of a document: of its headings, as GitHub makes them, and explicit ones."""
    text = re.sub(r"^```.*?^```$", "", document.read_text("utf-8"), flags=re.MULTILINE | re.DOTALL)
    found: dict[str, int] = {}
    for heading in re.findall(r"^#{1,6} +(.+?) *#* *$", text, re.MULTILINE):
        # Of a link only its text counts.
        shown = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading).lower()
        slug = re.sub(r"[^\w\- ]", "", shown).replace(" ", "-")
        found[slug] = found.get(slug, 0) + 1
    again = {f"{slug}-{n}" for slug, many in found.items() for n in range(1, many)}
    return {*found, *again, *re.findall(r'<a id="([^"]+)"', text)}


def test_anchors_are_those_of_github(tmp_path: Path):
    text = '# One: `two`\n## [Link](a.md) – x_y\n## One two\n<a id="own"></a>\n```\n# no\n```\n'
    (tmp_path / "d.md").write_text(text, encoding="utf-8")
    assert _anchors(tmp_path / "d.md") == {"one-two", "link--x_y", "one-two-1", "own"}


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_links_lead_to_headings(document: Path):
    text = document.read_text(encoding="utf-8")
    for target, anchor in re.findall(r"\]\(([^)#\s]*)#([^)\s]+)\)", text):
        if "://" not in target and (not target or target.endswith(".md")):
            there = document.parent / target if target else document
            assert anchor in _anchors(there), f"{target}#{anchor}: there is no such heading"


def test_the_readmes_python_runs(tmp_path: Path):
    (code,) = _blocks(ROOT / "README.md", "python")
    ended = _run(sys.executable, "-c", code, out=tmp_path)
    assert ended.returncode == 0, ended.stderr
    greedy, fifo = (line.split() for line in ended.stdout.splitlines()[:2])
    assert (greedy[0], fifo[0]) == ("greedy", "fifo")
    # Victims by age alone cost more writes than the emptiest ones.
    assert float(greedy[2]) < float(fifo[2])


def test_the_readmes_commands_run(tmp_path: Path):
    shown = "".join(_blocks(ROOT / "README.md", "console")).splitlines()
    commands = [line.split("#")[0].removeprefix("$ ") for line in shown if ".venv/bin/" in line]
    assert len(commands) >= 5
    out = tmp_path / "out"
    for command in commands:
        arguments = shlex.split(command)[1:]
        if arguments[0] in ("explain", "plot"):
            arguments[1] = str(out)
        if arguments[0] == "fanout":
            arguments[1] = str(tmp_path / "fanout")
        if arguments[0] == "sweep":
            # 36 runs need not be long to run.
            arguments += ["--set", "run.requests=20000", "--set", "run.warm_up.requests=1000"]
        if arguments[0] in ("compare", "sweep"):
            # Of the many drives that are filled and aged for these, a tenth is enough.
            arguments += ["--set", "drive.geometry.blocks_per_plane=60"]
            arguments += ["--set", "drive.ftl.over_provisioning.exported=6 GB"]
        if "--requests" in arguments:
            arguments[arguments.index("--requests") + 1] = str(tmp_path / "fanout/requests.parquet")
        place = tmp_path / arguments[0] if arguments[0] in ("lifetime", "sweep") else out
        place = tmp_path / "fanout" if "--requests" in arguments else place
        ended = _run(sys.executable, "-m", "flashscape", *arguments, out=place)
        assert ended.returncode == 0, f"{command}\n{ended.stderr}"


@pytest.mark.parametrize(
    ("document", "text"),
    [
        pytest.param(path, text, id=f"{path.name}-{number}")
        for path in DOCUMENTS
        for number, text in enumerate(_blocks(path, "toml"))
        if "[[workload]]" in text
    ],
)
def test_experiments_in_documents_are_sound(document: Path, text: str, tmp_path: Path):
    file = tmp_path / f"{document.stem}.toml"
    file.write_text(text, encoding="utf-8")
    ended = _run(sys.executable, "-m", "flashscape", "check", file, out=tmp_path)
    assert ended.returncode == 0, ended.stderr


@pytest.mark.parametrize("file", EXPERIMENTS, ids=lambda path: path.stem)
def test_shipped_experiments_are_sound(file: Path, tmp_path: Path):
    ended = _run(sys.executable, "-m", "flashscape", "check", file, out=tmp_path)
    # One experiment needs more memory, and check reports that.
    assert ended.returncode == 0 or "memory" in ended.stderr, ended.stderr


@pytest.mark.parametrize("file", SWEEPS, ids=lambda path: path.stem)
def test_shipped_sweeps_are_sound(file: Path, tmp_path: Path):
    ended = _run(sys.executable, "-m", "flashscape", "sweep", file, "--dry-run", out=tmp_path)
    assert ended.returncode == 0, ended.stderr


@pytest.mark.parametrize("file", FLEETS, ids=lambda path: path.stem)
def test_shipped_fleets_are_sound(file: Path, tmp_path: Path):
    ended = _run(sys.executable, "-m", "flashscape", "fleet", file, "--dry-run", out=tmp_path)
    assert ended.returncode == 0, ended.stderr
