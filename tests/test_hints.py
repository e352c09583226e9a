"""Hints in messages: options that a command has, and no words of Python on the command line."""

from __future__ import annotations

import ast
import importlib
import re
from pathlib import Path
from typing import TYPE_CHECKING

import click
import pytest

import flashscape as fs
from flashscape import output, spelling, trace
from flashscape.act import certify
from flashscape.cli.main import cli
from flashscape.lifetime import words
from flashscape.reproduce import changes
from flashscape.sides import checked_names

explain = importlib.import_module("flashscape.explain")

if TYPE_CHECKING:
    from collections.abc import Iterator

PACKAGE = Path(fs.__file__).parent

OPTION = re.compile(r"(?<![\w-])--[a-z][a-z-]*")

COMMAND = re.compile(r"flashscape ((?:[a-z]+[a-z-]*)|\{\})(?: (?:[a-z]+))?")
"""A command that a message names; ``{}`` stands for a value."""

PYTHON = re.compile(
    r"(?<![\w.\]])[a-z_]+=(?:True|False|None|\.\.\.|…)|\([a-z_]+=\)|\bfs\.\w|\bflashscape\.[a-z_]+\("
    r"|\bwith_policy\b"
)
"""Words that only a program in Python understands."""

ONLY_IN_PYTHON = (
    "{}: a function that was given with with_policy()",
    "a Sweep has several runs",
    "{} is no result; give what fs.run returns",
    "percentiles: a comparison has those that it was made with",
)
"""Beginnings of messages that no command can show."""

SHOWN_BY = {
    "act": ["act"],
    "compare": ["compare"],
    "fio.py": ["run", "replay"],
    "fio_jobs": ["import-fio"],
    "fleet/over.py": ["fanout"],
    "fleet/reading.py": ["fleet"],
    "fleet/wanted.py": ["fleet"],
    "fleet/run.py": ["fleet"],
    "fleet/sources.py": ["fanout"],
    "foreign.py": [],
    "lifetime": ["lifetime"],
    "output.py": ["run", "replay", "compare", "act"],
    "plotting.py": ["run", "replay", "compare", "sweep", "fleet", "lifetime"],
    "reproduce": ["reproduce"],
    "result.py": [],
    "run.py": ["run", "replay"],
    "sides.py": ["compare"],
    "trace.py": ["trace convert", "trace describe", "trace imitate"],
}
"""Commands that show the messages of a module, besides those of ``cli``. A hint of any of them
must be an option of each, unless it names its command."""

FOREIGN = {"--write_iolog", "--rebase"}
"""Options of other programs."""

NOT_OF_COMMANDS = ("studies", "bench", "spelling.py", "cluster/identity.py", "sweep/process.py")


def options() -> dict[str, set[str]]:
    """Return the options of each command, and of each command of a group."""
    context = click.Context(cli)

    def of(name: str, command: click.Command) -> Iterator[tuple[str, set[str]]]:
        if isinstance(command, click.Group):
            for inner in command.list_commands(context):
                yield from of(f"{name} {inner}".strip(), command.get_command(context, inner))
            return
        names = {each for param in command.params for each in (*param.opts, *param.secondary_opts)}
        yield name, {each for each in names if each.startswith("--")}

    return dict(of("", cli))


OPTIONS = options()


def of_group(name: str) -> set[str]:
    """Return the options of a command, or of any command of a group."""
    found = [of for each, of in OPTIONS.items() if each == name or each.startswith(f"{name} ")]
    return set().union(*found)


def texts(tree: ast.AST) -> Iterator[tuple[ast.AST, str]]:
    """Yield texts that are no docstrings; values in them become {}."""
    inside = {
        id(part)
        for node in ast.walk(tree)
        if isinstance(node, ast.JoinedStr)
        for part in node.values
    }
    documented = {
        id(node.body[0].value)
        for node in ast.walk(tree)
        if isinstance(getattr(node, "body", None), list)
        and node.body
        and isinstance(node.body[0], ast.Expr)
    }
    # Texts behind names are documentation, too.
    documented |= {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        if isinstance(node, ast.JoinedStr):
            parts = [p.value if isinstance(p, ast.Constant) else "{}" for p in node.values]
            yield node, "".join(parts)
        elif (
            isinstance(node, ast.Constant)
            and isinstance(node.value, str)
            and id(node) not in inside | documented
        ):
            yield node, node.value


def for_python(tree: ast.AST) -> set[int]:
    """Return the texts that only programs see: what is spelled for Python, and TypeErrors."""
    found: set[int] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            name = node.func.attr if isinstance(node.func, ast.Attribute) else ""
            is_error = isinstance(node.func, ast.Name) and node.func.id == "TypeError"
            if (name == "option" and len(node.args) == 2) or is_error:
                found |= {id(each) for each in ast.walk(node.args[-1])}
    return found


def modules() -> list[Path]:
    return [
        file
        for file in sorted(PACKAGE.rglob("*.py"))
        if not str(file.relative_to(PACKAGE)).startswith(NOT_OF_COMMANDS)
    ]


def commands_of(file: Path) -> list[str] | None:
    """Return the commands that show the messages of a module; None if nothing is known."""
    place = file.relative_to(PACKAGE)
    if place.parts[0] == "cli":
        name = place.stem.replace("_", "-")
        own = [each for each in OPTIONS if each == name or each.startswith(f"{name} ")]
        return own or list(OPTIONS)
    for known, commands in SHOWN_BY.items():
        if place == Path(known) or place.parts[0] == known:
            return commands
    return None


def has(commands: list[str], option: str) -> bool:
    """Return True if all commands have an option; of a group, or of all there are, any may."""
    groups = {each.split()[0] for each in commands}
    of_each = [option in OPTIONS[each] for each in commands]
    return any(of_each) if len(groups) == 1 or len(commands) == len(OPTIONS) else all(of_each)


def unknown(text: str, commands: list[str] | None) -> list[str]:
    """Return the options in a text that no command has which it may mean."""
    faults = []
    for found in OPTION.finditer(text):
        option = found.group().rstrip("-")
        before = text[: found.start()]
        named = COMMAND.findall(before)
        if option in FOREIGN or re.search(
            r"(?:^|[ `])(?:fio|xz|tar|bzip2|blkparse)\b[^;.,]*$", before
        ):
            continue
        if named:
            known = of_group(named[-1]) if named[-1] in {c.split()[0] for c in OPTIONS} else None
            if known is not None and option not in known:
                faults.append(f"{option} of {named[-1]}")
        elif commands is None:
            faults.append(f"{option}: nobody says which command shows this")
        elif not commands:
            faults.append(f"{option}: names no command")
        elif not has(commands, option):
            faults.append(f"{option} of {', '.join(commands)}")
    return faults


@pytest.mark.parametrize("file", modules(), ids=lambda f: str(f.relative_to(PACKAGE)))
def test_hints_name_options_that_there_are(file):
    tree = ast.parse(file.read_text(encoding="utf-8"))
    commands = commands_of(file)
    for node, text in texts(tree):
        # An option that is declared, or passed on, stands alone.
        if OPTION.fullmatch(text):
            continue
        assert unknown(text, commands) == [], f"line {node.lineno}: {text!r}"


@pytest.mark.parametrize("file", modules(), ids=lambda f: str(f.relative_to(PACKAGE)))
def test_commands_say_no_words_of_python(file):
    tree = ast.parse(file.read_text(encoding="utf-8"))
    exempt = for_python(tree)
    for node, text in texts(tree):
        # The syntax of --tenant and --set has = as well.
        if id(node) in exempt or "--tenant" in text or "file=... is missing" in text:
            continue
        if "--set" in text or text.startswith(ONLY_IN_PYTHON):
            continue
        assert not PYTHON.search(text), f"line {node.lineno}: {text!r}"


@pytest.fixture(params=["command", "python"])
def way(request):
    """The way in which a reader gives options, with messages spelled for it."""
    spelling.of_command(is_command=request.param == "command")
    yield request.param
    spelling.of_command(is_command=False)


def job_file(folder: Path) -> None:
    (folder / "job.fio").write_text("[job]\nsize=1m\nzonemode=zbd\n")
    fs.import_fio(folder / "job.fio", "atc19")


def devices_and_files(folder: Path) -> None:
    (folder / "job.fio").write_text("[a]\nfilename=/dev/sda\nsize=1m\n[b]\nsize=1m\n")
    fs.import_fio(folder / "job.fio", "atc19")


def description(folder: Path) -> None:
    (folder / "there.json").write_text("")
    trace.refuse_if_there(folder / "there.json", force=False)


def drives_of_a_fleet(folder: Path) -> None:
    (folder / "a.toml").write_text('drive.preset = "dc-tlc"\n')
    fs.fleet_file(folder / "a.toml")


def queries_over_a_fleet(folder: Path) -> None:
    (folder / "fleet.json").write_text("{}")
    fs.queries_over(folder, 1)


def picture_of_nothing(folder: Path) -> None:
    fs.plot(folder)


def target_is_a_directory(folder: Path) -> None:
    with output.File.claim(folder, "--save-drive", force=False):
        pass


def change_that_no_run_takes(_: Path) -> None:
    changes.Changes.of({"run.audit": True}).refuse(["fault"], 1)


def search_is_cut_short(_: Path) -> None:
    raise fs.FlashscapeError(certify._so_far(certify.Search({}, [], 1, 1)))


def names_of_sides(_: Path) -> None:
    checked_names(["a"], 2)


@pytest.mark.parametrize(
    ("refused", "command", "python"),
    [
        (job_file, "import with --without zonemode", "import with without=['zonemode']"),
        (devices_and_files, "with --section JOB", "with sections=['JOB']"),
        (description, "or --force", "or force=True"),
        (drives_of_a_fleet, "(--drives N)", "(drives=N)"),
        (queries_over_a_fleet, "`flashscape fleet --show ", "Fleet.load("),
        (picture_of_nothing, "with --out DIR", "with out=..."),
        (target_is_a_directory, "--save-drive takes", "save_drive takes"),
        (change_that_no_run_takes, "--set: none of", "overrides: none of"),
        (search_is_cut_short, "--save-drive saves", "save_drive=... saves"),
        (names_of_sides, "--names a: 1 for 2", "names: 1 for 2"),
    ],
)
def test_messages_spell_options_as_their_reader_does(way, refused, command, python, tmp_path):
    with pytest.raises(fs.FlashscapeError) as caught:
        refused(tmp_path)
    told = {"command": command, "python": python}
    assert told.pop(way) in str(caught.value)
    assert not any(other in str(caught.value) for other in told.values())


def test_sentences_spell_options_as_their_reader_does(way):
    whole = {"command": "`flashscape explain --all`", "python": "explain(..., everything=True)"}
    assert explain._how_to_tell_all() == whole[way]
    age = {"command": "--retention)", "python": "retention=)"}
    assert age[way] in words._of_age(None)


def in_both_ways(tree: ast.AST) -> set[int]:
    """Return the texts that are spelled for commands and for Python."""
    found: set[int] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            is_spelled = node.func.attr == "option" and len(node.args) == 2
            found |= {id(each) for each in ast.walk(node)} if is_spelled else set()
    return found


def bare(text: str) -> list[str]:
    """Return the options in a text that stand behind no command."""
    return [
        found.group()
        for found in OPTION.finditer(text)
        if not re.search(r"\b(?:flashscape|fio)\b", text[: found.start()])
    ]


@pytest.mark.parametrize(
    "file",
    [file for file in modules() if not str(file.relative_to(PACKAGE)).startswith("cli/")],
    ids=lambda f: str(f.relative_to(PACKAGE)),
)
def test_functions_say_no_options_of_commands(file):
    tree = ast.parse(file.read_text(encoding="utf-8"))
    spelled = in_both_ways(tree)
    for node, text in texts(tree):
        # An option that stands alone is passed on to what spells it; " --set" goes on a command.
        if id(node) not in spelled and not OPTION.fullmatch(text) and not text.startswith(" --"):
            assert bare(text) == [], f"line {node.lineno}: {text!r}; use spelling.option"


@pytest.mark.parametrize(
    ("text", "commands", "faults"),
    [
        ("run again with --tables", ["run", "sweep"], ["--tables of run, sweep"]),
        ("run again with --tables", ["sweep"], []),
        ("`flashscape explain --tables`", ["sweep"], ["--tables of explain"]),
        ("`flashscape explain --all`", ["run"], []),
        ("flashscape {} {} --dry-run", ["run"], []),
        ("flashscape trace convert x --round", [], []),
        ("record with fio --write_iolog=x", [], []),
        ("choose --output", ["run"], ["--output of run"]),
        ("with --force", None, ["--force: nobody says which command shows this"]),
    ],
)
def test_the_search_finds_what_it_should(text, commands, faults):
    assert unknown(text, commands) == faults


@pytest.mark.parametrize(
    "text", ["--force (force=True)", "write out=...", "what fs.run returns", "flashscape.run('x')"]
)
def test_words_of_python_are_found(text):
    assert PYTHON.search(text)


@pytest.mark.parametrize(
    "text", ["--set a=true", "fifo=2", "drive.ftl.gc.victim=fifo", "direct=1", "flashscape run x"]
)
def test_other_words_are_no_words_of_python(text):
    assert not PYTHON.search(text)
