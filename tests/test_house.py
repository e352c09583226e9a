"""The rules of the house: each failure says what to write instead."""

from __future__ import annotations

import re
import subprocess
import tomllib

import pytest

import house
from imports import Graph, circles, way_round
from places import ROOT

LOWER = "run `python tests/house.py`, which takes it out of tests/house.toml"

RULED_SINCE = "74c3ef7b806b6aa58cb075b7a8fd0f941aad2f9b"
"""The last commit whose subject need not name an area."""

SUBJECT = re.compile(r"[a-z0-9_.-]+(?:, [a-z0-9_.-]+)*: \S.*")


def _git(*arguments: str) -> str | None:
    """Return git's output; None without history."""
    command = ["git", "-C", str(ROOT), *arguments]
    try:
        ended = subprocess.run(command, capture_output=True, text=True, check=False)
    except FileNotFoundError:
        return None
    return ended.stdout if ended.returncode == 0 else None


def test_functions_fit_on_a_screen():
    found, known = house.long_functions(), house.record()["long_functions"]
    faults = [
        f"{of} has {lines} lines, at most {max(house.FUNCTION_LINES, known.get(of, 0))}: "
        "move a part of it into a function with a name"
        for of, lines in found.items()
        if lines > known.get(of, 0)
    ]
    faults += [f"{of} is shorter now: {LOWER}" for of in known if found.get(of, 0) < known[of]]
    assert not faults, "\n".join(faults)


def test_lines_of_documents_are_short():
    found, known = house.long_lines(), house.record()["long_lines"]
    faults = [
        f"{document} has {count} lines of more than {house.DOCUMENT_COLUMNS} columns, at most "
        f"{known.get(document, 0)}: break them where a sentence or a part of one ends"
        for document, count in found.items()
        if count > known.get(document, 0)
    ]
    assert not faults, "\n".join(faults)


def test_words_are_those_of_the_field():
    known = house.record()["words"]
    faults = []
    for ours, found in house.words().items():
        if found > known.get(ours, 0):
            theirs, pattern = house.WORDS[ours]
            added = "\n".join(_added(pattern)) or "  (no history: see WORDS in tests/house.py)"
            faults.append(
                f'"{ours}" stands {found} times, at most {known.get(ours, 0)}: write {theirs}. '
                f"New since the record was changed:\n{added}"
            )
    assert not faults, "\n".join(faults)


def _added(pattern: re.Pattern[str]) -> list[str]:
    """Return lines with a word that were added since the record was last changed."""
    since = _git("log", "-1", "--format=%H", "--", str(house.RECORD))
    changed = _git("diff", "--unified=0", "--no-color", since.strip()) if since else None
    place, found = "", []
    for line in (changed or "").splitlines():
        if line.startswith("+++ "):
            place = line.removeprefix("+++ ").removeprefix("b/")
        elif line.startswith("+") and pattern.search(line):
            found.append(f"  {place}: {line[1:].strip()}")
    return found[:10]


@pytest.mark.parametrize("crate", house.LAYERS)
def test_a_crate_uses_those_below_it(crate: str):
    manifest = tomllib.loads((ROOT / "crates" / crate / "Cargo.toml").read_text("utf-8"))
    below, of_tests = house.LAYERS[crate], house.OF_TESTS.get(crate, {"floor"})
    for table, allowed in [("dependencies", below), ("dev-dependencies", below | of_tests)]:
        for other in set(manifest.get(table, {})) & set(house.LAYERS):
            assert other in allowed, (
                f"crates/{crate}/Cargo.toml: {crate} may not depend on {other} (ARCHITECTURE.md, "
                f"Rooms); move what both use into a crate below {crate}"
            )


def test_every_crate_has_its_layer():
    crates = {manifest.parent.name for manifest in ROOT.glob("crates/*/Cargo.toml")}
    assert crates == set(house.LAYERS), "write the crate into LAYERS of tests/house.py"
    rooms = (ROOT / "ARCHITECTURE.md").read_text("utf-8")
    for crate in crates:
        assert f"crates/{crate}" in rooms, f"write crates/{crate} into ARCHITECTURE.md, Rooms"


@pytest.mark.parametrize("crate", house.LAYERS)
def test_files_of_a_crate_do_not_import_each_other(crate: str):
    known = house.record()["rust_circles"].get(crate, [])
    _assert_circles_are_known(house.crate_graph(crate), known, f"crates/{crate}/src: ")


def test_modules_of_the_package_do_not_import_each_other():
    _assert_circles_are_known(house.python_graph(), house.record()["python_circles"])


def _assert_circles_are_known(graph: Graph, known: list[list[str]], place: str = ""):
    found = circles(graph)
    for group in found:
        is_less = any(set(group) < set(old) for old in known)
        remedy = LOWER if is_less else "move what both ends use into a file that imports neither"
        joined = set(group).difference(*known) or group
        assert group in known, f"{place}{' -> '.join(way_round(graph, joined))}: {remedy}"
    assert found == known, f"{place}a circle is gone: {LOWER}"


def test_subjects_of_commits_name_an_area():
    log = _git("log", "--no-merges", "--format=%h %s", f"{RULED_SINCE}..HEAD")
    if log is None:
        pytest.skip("there is no history back to the first commit that must name its area")
    for line in log.splitlines():
        commit, _, subject = line.partition(" ")
        assert SUBJECT.fullmatch(subject), (
            f'{commit}: "{subject}" names no area; write `area: change`, such as "flash: start '
            'queued reads before erases" (git commit --amend, git rebase)'
        )
        assert len(subject) <= 72, (
            f'{commit}: "{subject}" has {len(subject)} characters, at most 72; say why in the body'
        )


# Small examples for the checkers of the rules.


def test_a_circle_is_found_through_names_that_are_exported_again(tmp_path):
    files = {
        "lib.rs": "mod a;\nmod b;\npub use b::Upper;\n",
        "a.rs": "use crate::Upper;\npub struct Lower;\n",
        "b.rs": "pub struct Upper(super::a::Lower);\n#[cfg(test)]\nmod tests { use super::*; }\n",
    }
    for name, text in files.items():
        (tmp_path / name).write_text(text, "utf-8")
    graph = house.Crate(tmp_path).graph()
    assert circles(graph) == [["a.rs", "b.rs"]]
    assert way_round(graph, ["a.rs", "b.rs"]) in (
        ["a.rs", "b.rs", "a.rs"],
        ["b.rs", "a.rs", "b.rs"],
    )


def test_a_type_in_the_parent_closes_a_circle_and_a_list_of_modules_does_not(tmp_path):
    (tmp_path / "lib.rs").write_text("mod child;\npub struct Asked;\npub use child::Answer;\n")
    (tmp_path / "child.rs").write_text("use super::Asked;\npub struct Answer(Asked);\n")
    assert circles(house.Crate(tmp_path).graph()) == [["child.rs", "lib.rs"]]
    (tmp_path / "asked.rs").write_text("pub struct Asked;\n")
    (tmp_path / "lib.rs").write_text("mod asked;\nmod child;\npub use asked::Asked;\n")
    assert circles(house.Crate(tmp_path).graph()) == []


def test_functions_are_measured_without_tests_and_docstrings():
    rust = (
        'fn one() {\n    "{";\n}\n#[cfg(test)]\nmod tests {\n    fn two() {}\n}\n'
        "trait T {\n    fn three(&self) -> [u8; 3];\n    fn four() {}\n}\n"
    )
    assert dict(house.rust_functions(rust)) == {"one": 3, "four": 1}
    python = 'def one():\n    """What.\n\n    It is.\n    """\n    return 1\n'
    assert dict(house.python_functions(python)) == {"one": 2}


def test_words_are_found_in_prose_and_in_names():
    _, pattern = house.WORDS["live, dead"]
    for text in ["live data", "is_live", "LIVE_BITS", "Live"]:
        assert pattern.search(text), text
    for text in ["deadline", "alive", "lives", "delivered"]:
        assert not pattern.search(text), text
