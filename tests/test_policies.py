"""Policies in Python: equal to their built-in counterparts, and the errors of faulty ones."""

from __future__ import annotations

import re
import signal
import subprocess
import sys
import textwrap
import threading
import time

import pytest

import flashscape as fs
from flashscape import catalogue
from flashscape.experiment import Unchecked
from places import ROOT, WAVES

VICTIM = "drive.ftl.gc.victim"
ROUTING = "drive.scheduler.read_routing"
SUSPENSION = "drive.scheduler.suspension"
SCRUB = "drive.ftl.scrub.choice"

NO_POLICY = {
    "drive.preset": "a whole drive by its name",
    "drive.nand.cell": "what the flash is made of",
    "drive.nand.copy_back_pages": "what the flash can do",
    "drive.nand.errors.chip": "what the flash is made of",
    "drive.nand.errors.counting": "what is drawn",
    "drive.concurrency.read": "what the flash can do at once",
    "drive.concurrency.program": "what the flash can do at once",
    "drive.concurrency.erase": "what the flash can do at once",
    "drive.geometry.gang.control": "what channels share",
    "drive.link.duplex": "what the link is made of",
    "drive.scheduler.rounds.unit": "what has rounds of its own",
}
"""Enumerated settings of a configuration that are no policies."""


def greedy(blocks):
    return min(blocks.gaining, key=lambda block: (blocks.valid[block], block))


def fifo(blocks):
    return max(blocks.gaining, key=lambda block: (blocks.age[block], -block))


def suspend(meeting):
    return True


def by_deadline(meeting):
    return meeting.free_at_ns - meeting.now_ns > 3_000_000


def deferred(asked):
    return True


def immediate(asked):
    return "cancel"


def timed_out(asked):
    return "cancel" if asked.since_begun_ns < 2_000_000 else True


@pytest.fixture
def suspending(config):
    """Return the drive with erases of five steps that may be suspended."""
    config["drive"]["scheduler"] = {
        "suspension": {"policy": "d-es"},
    }
    return fs.Experiment.from_dict(config)


def oldest(blocks):
    return max(blocks.fitting, key=lambda block: (blocks.age[block], -block), default=None)


def most_read(blocks):
    worn = [block for block in blocks.fitting if blocks.sensed[block] >= 4]
    return max(worn, key=lambda block: (blocks.sensed[block], -block), default=None)


@pytest.fixture
def scrubbing(config):
    """Return the drive with scrubbing."""
    config["drive"]["ftl"]["scrub"] = {"interval": "2 ms", "choice": "oldest"}
    config["workload"][0]["reads"] = "90 %"
    return fs.Experiment.from_dict(config)


def digest(experiment):
    result = fs.run(experiment)
    assert result.summary["flash"]["commands"] > 0
    return result.digest


def suspensions(experiment):
    return fs.run(experiment).summary["flash"]["erase_suspensions"]


# ---- the same answers, the same run ------------------------------------------


@pytest.mark.parametrize(("name", "function"), [("greedy", greedy), ("fifo", fifo)])
def test_a_victim_policy_in_python_is_its_built_in_equal(config, name, function):
    experiment = fs.Experiment.from_dict(config).replace({VICTIM: name})
    assert digest(experiment.with_policy(VICTIM, function)) == digest(experiment)


@pytest.mark.parametrize(
    ("routing", "function"),
    [("suspend", suspend), ({"policy": "deadline", "within": "3 ms"}, by_deadline)],
)
def test_a_routing_in_python_is_its_built_in_equal(suspending, routing, function):
    built_in = suspending.replace({ROUTING: routing})
    assert digest(built_in.with_policy(ROUTING, function)) == digest(built_in)


def test_deadlines_make_a_difference(suspending):
    deadline = suspending.replace({ROUTING: {"policy": "deadline", "within": "3 ms"}})
    assert digest(deadline) != digest(suspending)
    assert 0 < suspensions(deadline) < suspensions(suspending)


@pytest.mark.parametrize(
    ("built_in", "function"),
    [
        ("d-es", deferred),
        ("i-es", immediate),
        ("es", lambda asked: "suspend"),
        ("ideal-es", lambda asked: "freeze"),
        ({"policy": "t-es", "after": "2 ms"}, timed_out),
    ],
)
def test_a_suspension_in_python_is_its_built_in_equal(suspending, built_in, function):
    equal = suspending.replace({SUSPENSION: built_in})
    assert suspensions(equal) > 0
    both = equal.with_policy(SUSPENSION, function).with_policy(ROUTING, suspend)
    assert digest(both) == digest(equal)
    # An erase that lets reads go first before it begins counts as suspended once.
    twice = equal.with_policy(SUSPENSION, lambda asked: asked.suspensions < 2 and function(asked))
    bounded = equal.replace({f"{SUSPENSION}_bounds.most": 2})
    assert 0 < suspensions(bounded) < suspensions(equal)
    assert suspensions(twice) == suspensions(bounded)
    assert digest(twice) == digest(bounded)


def test_the_former_name_of_an_attribute_warns(suspending):
    """Both names give the same decisions."""
    current = suspending.with_policy(SUSPENSION, lambda asked: not asked.foreground)
    former = suspending.with_policy(SUSPENSION, lambda asked: not asked.urgent)
    with pytest.warns(DeprecationWarning, match="urgent is called foreground now"):
        found = digest(former)
    assert found == digest(current)


def test_programs_are_suspended_by_a_function_too(suspending):
    steps = {"steps": 4, "ramp": "5 us", "recover": "5 us", "verify": "10 us"}
    path = "drive.scheduler.program_suspension"
    programs = suspending.replace({"drive.nand.program_steps": steps, path: "i-es"})
    assert fs.run(programs).summary["flash"]["program_suspensions"] > 0
    assert digest(programs.with_policy(path, immediate)) == digest(programs)


@pytest.mark.parametrize(
    ("choice", "function"),
    [("oldest", oldest), ({"policy": "most-read", "reads": 4}, most_read)],
)
def test_a_scrub_choice_in_python_is_its_built_in_equal(scrubbing, choice, function):
    built_in = scrubbing.replace({SCRUB: choice})
    result = fs.run(built_in)
    assert result.summary["write_amplification"]["scrub"] > 0
    assert digest(built_in.with_policy(SCRUB, function)) == result.digest


def worst(blocks):
    """Choose the block with the most expected errors above 8.322."""
    place = max(blocks.fitting, key=lambda place: blocks.expected_errors[place], default=None)
    return place if place is not None and blocks.expected_errors[place] > 8.322 else None


def hardest(blocks):
    """Choose the block with the most re-reads for each valid page, if there are more than 0.1."""

    def ratio(place):
        return blocks.re_reads[place] / (blocks.valid[place] / blocks.units_per_page)

    place = max(blocks.fitting, key=ratio, default=None)
    return place if place is not None and ratio(place) > 0.1 else None


def old(blocks):
    """Choose the block with the oldest data, from 10 ms on."""
    place = max(blocks.fitting, key=lambda place: blocks.data_age[place], default=None)
    return place if place is not None and blocks.data_age[place] >= 10_000_000 else None


@pytest.mark.parametrize("task", ["turns", "own"])
@pytest.mark.parametrize(
    ("choice", "function"),
    [
        ({"policy": "expected-errors", "above": 8.322}, worst),
        ({"policy": "cost-benefit", "above": 0.1}, hardest),
        ({"policy": "refresh", "age": "10 ms"}, old),
    ],
)
def test_a_scrub_choice_in_python_sees_errors_as_its_built_in_equal(
    scrubbing, task, choice, function
):
    errors = {
        "chip": "tlc-72-layer",
        "codeword": "512 B",
        "corrects": 8,
        "re_read_scale": 2.0,
        "initial_cycles": 1000,
    }
    changes = {"drive.nand.errors": errors, "drive.ftl.scrub.task": task}
    built_in = scrubbing.replace({**changes, "drive.ftl.scrub.stream": "own", SCRUB: choice})
    result = fs.run(built_in)
    assert result.summary["scrub"]["policy"] == choice["policy"]
    assert result.summary["scrub"]["units"] > 0
    assert digest(built_in.with_policy(SCRUB, function)) == result.digest


def test_a_scrub_choice_may_take_no_block_and_sees_what_is_written_of_it(scrubbing):
    seen = []

    def none(blocks):
        seen.append(len(blocks.fitting))
        assert len(blocks) == len(blocks.valid) == len(blocks.age) == 64
        assert len(blocks.sensed) == len(blocks.erases) == 64
        assert all(0 < blocks.valid[place] <= blocks.units_per_block for place in blocks.fitting)
        assert max(blocks.sensed) > 0
        assert not len(blocks.expected_errors) + len(blocks.re_reads) + len(blocks.data_age)
        return

    result = fs.run(scrubbing.with_policy(SCRUB, none))
    assert max(seen) > 0
    assert result.summary["write_amplification"]["scrub"] == 0


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (lambda blocks: True, "and returned True"),
        (lambda blocks: "first", "and returned 'first'"),
        (lambda blocks: 1.0, "and returned 1.0"),
        (lambda blocks: len(blocks), "chose block 64 of 64"),
        (lambda blocks: list(blocks.valid).index(-1), "holds no data or cannot be moved"),
        (lambda blocks: blocks.gaining[0], "no attribute 'gaining'"),
    ],
)
def test_a_scrub_choice_that_does_not_choose_ends_the_run(scrubbing, function, message):
    with pytest.raises(fs.PolicyError, match=r"^policy <lambda>: ") as caught:
        fs.run(scrubbing.with_policy(SCRUB, function))
    assert message in str(caught.value)


def test_a_policy_sees_what_is_written_of_it(suspending):
    seen = {"blocks": 0, "meetings": 0, "points": 0}

    def victim(blocks):
        seen["blocks"] += 1
        places = range(len(blocks))
        assert len(blocks) == len(blocks.valid) == len(blocks.age) == 64
        assert blocks.gaining == [p for p in places if 0 <= blocks.valid[p] <= blocks.most_valid]
        assert all(-1 <= valid <= blocks.units_per_block for valid in blocks.valid)
        assert all(age >= 0 for age in blocks.age)
        assert 0 <= blocks.random < 2**64
        assert blocks.most_valid < blocks.units_per_block
        return blocks.gaining[blocks.random % len(blocks.gaining)]

    def route(meeting):
        seen["meetings"] += 1
        assert meeting.now_ns <= meeting.safe_at_ns <= meeting.free_at_ns
        assert (meeting.free_at_ns - meeting.safe_at_ns) % step == 0
        assert meeting.suspensions <= 4
        return True

    def point(asked):
        seen["points"] += 1
        assert (asked.step_ns, asked.steps_done + asked.steps_left) == (step, 5)
        assert min(asked.steps_left, asked.asking) >= 1
        assert asked.since_begun_ns >= asked.steps_done * step + asked.into_step_ns
        assert asked.since_begun_ns >= asked.since_resumed_ns >= asked.into_step_ns
        assert asked.safe_at_ns == asked.now_ns + step - asked.into_step_ns
        assert not asked.at_safe_point or asked.into_step_ns == 0
        assert asked.waited_ns <= asked.since_begun_ns
        assert asked.suspensions <= asked.steps_done
        return True

    erase = suspending.config["drive"]["nand"]["erase"]
    assert erase["steps"] == 5
    step = suspending.derived["durations_ns"]["erase"] // 5
    fs.run(
        suspending.with_policy(VICTIM, victim)
        .with_policy(ROUTING, route)
        .with_policy(SUSPENSION, point)
    )
    assert min(seen.values()) > 5, seen


def test_the_random_number_is_the_same_in_each_run_and_follows_the_seed(config):
    numbers = []

    def at_random(blocks):
        numbers.append(blocks.random)
        return blocks.gaining[blocks.random % len(blocks.gaining)]

    experiment = fs.Experiment.from_dict(config).with_policy(VICTIM, at_random)
    assert digest(experiment) == digest(experiment)
    half = len(numbers) // 2
    assert numbers[:half] == numbers[half:]
    numbers.clear()
    digest(experiment.replace(seed=2))
    assert len(set(numbers)) > len(numbers) / 2


# ---- in files ----------------------------------------------------------------


@pytest.fixture
def policy_file(tmp_path, experiment_file):
    """Return an experiment with a policy file beside it."""

    def write(text, function="choose", file="policy.py"):
        (tmp_path / "policy.py").write_text(textwrap.dedent(text), encoding="utf-8")
        named = f'{{ policy = "python", file = "{file}", function = "{function}" }}'
        text = experiment_file.read_text(encoding="utf-8")
        pace = "".join(f'{key} = "{value}"\n' for key, value in WAVES.items())
        experiment_file.write_text(
            re.sub(r"^ftl = .*\n", "", text, flags=re.MULTILINE)
            .replace("[precondition]", f"[drive.ftl.gc]\nvictim = {named}\n{pace}\n[precondition]")
            .replace("buffer = {", 'ftl.over_provisioning.exported = "150 MiB"\nbuffer = {'),
            encoding="utf-8",
        )
        return experiment_file

    return write


GREEDY = """
    from dataclasses import dataclass


    @dataclass
    class Rank:
        valid: int
        place: int


    def choose(blocks):
        ranks = (Rank(blocks.valid[place], place) for place in blocks.gaining)
        return min(ranks, key=lambda rank: (rank.valid, rank.place)).place
"""


def test_a_file_counts_from_the_experiments_folder(policy_file, flashscape, tmp_path, config):
    file = policy_file(GREEDY)
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    command = [sys.executable, "-m", "flashscape", "run", str(file), "--json"]
    ended = subprocess.run(command, capture_output=True, text=True, cwd=elsewhere, check=False)
    assert ended.returncode == 0, ended.stderr
    assert f'"digest": "{fs.run(config).digest}"' in ended.stdout
    taken = fs.Experiment.from_file(file).config["drive"]["ftl"]["gc"]["victim"]
    assert taken["file"] == str(tmp_path / "policy.py")


def test_an_experiment_in_the_same_process_sees_the_file_as_it_is_now(policy_file):
    file = policy_file(GREEDY)
    before = fs.run(file).digest
    oldest = "def choose(blocks): return max(blocks.gaining, key=lambda b: (blocks.age[b], -b))\n"
    (file.parent / "policy.py").write_text(oldest, encoding="utf-8")
    assert fs.run(file).digest != before


@pytest.mark.parametrize(
    ("text", "function", "file", "key", "message"),
    [
        (GREEDY, "choose", "gone.py", "file", "there is no file"),
        (GREEDY, "chose", "policy.py", "function", "has no function"),
        (GREEDY + "\n    choices = 3\n", "choices", "policy.py", "function", "cannot be called"),
        ("def choose(blocks) return 1\n", "choose", "policy.py", "file", "SyntaxError"),
        ("import nowhere\n", "choose", "policy.py", "file", "named 'nowhere' (policy.py, line 1)"),
        ("\n\n1 / 0\n", "choose", "policy.py", "file", "division by zero (policy.py, line 3)"),
    ],
)
def test_what_cannot_be_found_is_refused_with_its_line(
    policy_file, flashscape, text, function, file, key, message
):
    ended = flashscape("run", policy_file(text, function, file))
    assert (ended.status, ended.out) == (2, "")
    assert f"experiment.toml: 1 problem\n  line 10, {VICTIM}.{key}: " in ended.err
    assert message in ended.err


def test_an_exception_ends_the_run_with_its_place(policy_file, flashscape, tmp_path):
    text = "import json\n\ndef choose(blocks):\n    return json.loads('x')\n"
    ended = flashscape("run", policy_file(text), "--out", "out")
    assert (ended.status, ended.out) == (2, "")
    assert "policy choose: JSONDecodeError: Expecting value" in ended.err
    assert "(policy.py, line 4)" in ended.err
    assert "Traceback" not in ended.err
    assert not (tmp_path / "out").exists()


# ---- what is refused -----------------------------------------------------------


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (
            lambda blocks: None,
            "policy <lambda>: it must return the place of a block, a whole number from 0 on, "
            "and returned None",
        ),
        (lambda blocks: "first", "and returned 'first'"),
        (lambda blocks: True, "and returned True"),
        (lambda blocks: -1, "and returned -1"),
        (lambda blocks: 1.0, "and returned 1.0"),
        (lambda blocks: len(blocks), "chose block 64 of 64"),
        (lambda blocks: list(blocks.valid).index(-1), "gains no space"),
        (lambda blocks, more: 0, "missing 1 required positional argument"),
        (lambda blocks: blocks.lives[0], "no attribute 'lives' (test_policies.py, line "),
    ],
)
def test_a_victim_policy_that_does_not_choose_ends_the_run(config, function, message):
    experiment = fs.Experiment.from_dict(config).with_policy(VICTIM, function)
    with pytest.raises(fs.PolicyError, match=r"^policy <lambda>: ") as caught:
        fs.run(experiment)
    assert message in str(caught.value)


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        (ROUTING, "True or False"),
        (SUSPENSION, 'True (at the end of the step), False, "cancel", "suspend" or "freeze"'),
    ],
)
def test_other_policies_answer_as_they_are_asked(suspending, path, expected):
    with pytest.raises(fs.PolicyError) as caught:
        fs.run(suspending.with_policy(path, lambda view: "yes"))
    said = f"<lambda>: it must return {expected}, and returned 'yes'"
    assert str(caught.value).endswith(said)


@pytest.mark.parametrize("path", [VICTIM, ROUTING, SUSPENSION])
def test_two_answers_to_one_question_are_found(suspending, path):
    asked = 0

    def moody(view):
        nonlocal asked
        asked += 1
        return view.gaining[asked % 2] if path == VICTIM else asked % 2 == 0

    with pytest.raises(fs.PolicyError, match="two answers to one question"):
        fs.run(suspending.with_policy(path, moody))


def test_a_fault_is_not_that_of_the_next_run(config):
    is_sound = False

    def mended(blocks):
        return greedy(blocks) if is_sound else None

    experiment = fs.Experiment.from_dict(config)
    with_policy = experiment.with_policy(VICTIM, mended)
    with pytest.raises(fs.PolicyError):
        fs.run(with_policy)
    is_sound = True
    assert digest(with_policy) == digest(experiment)


def test_a_drive_that_is_moved_step_by_step_tells_of_faults(config):
    choices = 0

    def gives_up(blocks):
        nonlocal choices
        choices += 1
        return greedy(blocks) if choices < aged + 5 else None

    experiment = fs.Experiment.from_dict(config).with_policy(VICTIM, gives_up)
    aged = 10**9
    fs.Drive(experiment)
    aged, choices = choices, 0
    drive = fs.Drive(experiment)

    def overwrite():
        for number in range(4000):
            drive.submit("write", offset=number * 16384 % drive.capacity_bytes, length=16384)
            drive.advance(drive.now_ns + 100_000)

    with pytest.raises(fs.PolicyError, match="gives_up"):
        overwrite()
    with pytest.raises(fs.PolicyError, match="gives_up"):
        drive.advance(drive.now_ns + 1)


@pytest.mark.parametrize(
    ("path", "message"),
    [
        ("drive.buffer.size", "drive.buffer.size: expected a size"),
        ("drive.ftl.gc.pacing", "expected one of none, proportional"),
        ("drive.nothing", "drive.nothing: unknown key"),
        (ROUTING, "nothing is ever suspended"),
    ],
)
def test_a_function_where_no_policy_is_is_refused(config, path, message):
    with pytest.raises(fs.ConfigError) as caught:
        fs.Experiment.from_dict(config).with_policy(path, greedy)
    assert message in str(caught.value)


def test_what_cannot_be_called_is_refused(config):
    with pytest.raises(fs.ConfigError, match="function: 7 is not a function"):
        fs.Experiment.from_dict(config).with_policy(VICTIM, 7)


def test_a_policy_that_another_one_replaces_is_not_forgotten(config):
    experiment = fs.Experiment.from_dict(config).with_policy(VICTIM, greedy)
    with pytest.raises(fs.ConfigError, match="or has another one"):
        experiment.replace({VICTIM: "fifo"})


def test_a_callable_does_not_go_to_other_processes(config):
    experiment = fs.Experiment.from_dict(config).with_policy(VICTIM, greedy)
    with pytest.raises(fs.ConfigError, match="cannot go to other processes"):
        Unchecked.of(experiment)


def test_ctrl_c_while_a_policy_is_asked_keeps_what_was_measured(config):
    config["run"] = {"requests": 100_000_000}
    begun = threading.Event()

    def slow(blocks):
        if len(calls) > aged + 3:
            begun.set()
            time.sleep(0.05)
        calls.append(0)
        return greedy(blocks)

    calls, aged = [], 10**9
    experiment = fs.Experiment.from_dict(config).with_policy(VICTIM, slow)
    fs.Drive(experiment)
    aged = len(calls)
    calls.clear()

    def interrupt():
        begun.wait()
        time.sleep(0.02)
        signal.raise_signal(signal.SIGINT)

    thread = threading.Thread(target=interrupt)
    thread.start()
    with pytest.raises(fs.Interrupted) as caught:
        fs.run(experiment)
    thread.join()
    # At most a thousand events later, in a slice of any length.
    assert len(calls) - aged < 1_100
    assert caught.value.result is not None
    assert caught.value.result.complete is False


def _interrupting(number, then=None):
    """Return a victim policy that raises Ctrl-C in one call, and may fail in the next."""
    asked = 0

    def choose(blocks):
        nonlocal asked
        asked += 1
        if asked == number:
            signal.raise_signal(signal.SIGINT)
        if then is not None and asked > number:
            raise then
        return greedy(blocks)

    return choose


def test_ctrl_c_in_a_run_that_fails_ends_no_other(config):
    experiment = fs.Experiment.from_dict(config)
    asked = 0

    def counted(blocks):
        nonlocal asked
        asked += 1
        return greedy(blocks)

    fs.Drive(experiment.with_policy(VICTIM, counted))
    # Both calls come in one slice of the run.
    failing = _interrupting(asked + 1, ValueError("fails"))
    with pytest.raises(fs.PolicyError):
        fs.run(experiment.with_policy(VICTIM, failing))
    assert digest(experiment)


def test_ctrl_c_while_a_drive_is_shut_down_ends_that_and_nothing_else(config):
    config["drive"]["ftl"]["gc"] = {
        "background": "3 blocks",
        "foreground": "2 blocks",
        "stop": "6 blocks",
    }
    asked = on = False

    def choose(blocks):
        nonlocal asked, on
        if on:
            asked, on = True, False
            signal.raise_signal(signal.SIGINT)
        return greedy(blocks)

    drive = fs.Drive(fs.Experiment.from_dict(config).with_policy(VICTIM, choose))
    for number in range(4000):
        drive.submit("write", offset=number * 16384 % drive.capacity_bytes, length=16384)
        while drive.outstanding:
            drive.advance(drive.next_event_ns())
        on = True
        try:
            drive.snapshot()
        except KeyboardInterrupt:
            break
        on = False
    assert asked
    drive.submit("read", offset=0, length=4096)
    while drive.outstanding:
        drive.advance(drive.next_event_ns())


# ---- the lists -----------------------------------------------------------------


def test_the_page_is_what_the_command_prints(flashscape):
    ended = flashscape("policies", "--markdown")
    assert ended.out == (ROOT / "docs" / "policies.md").read_text(encoding="utf-8")


def test_the_command_lists_every_policy_of_a_family(flashscape):
    ended = flashscape("policies", VICTIM)
    assert ended.status == 0
    listed = {
        line.split()[0]
        for line in ended.out.splitlines()
        if line.startswith("  ") and line[2] != " "
    }
    assert listed == set(catalogue.policies()[VICTIM].policies)
    refused = flashscape("policies", "drive.nothing")
    assert refused.status == 2
    assert VICTIM in refused.err


def test_every_choice_of_drives_is_a_policy_or_known_to_be_none():
    families = catalogue.policies()
    assert all(family.about and len(family.policies) > 1 for family in families.values())
    assert all(policy.about for family in families.values() for policy in family.policies.values())
    root = catalogue.schema()
    tables = ("drive", "array")
    found = {path for key in tables for path in _choices(root, root["properties"][key], key)}
    assert found == {*families, *NO_POLICY}


def _choices(root, node, path):
    """Yield paths at which one of several words or tables may stand."""
    while "$ref" in node:
        node = root["$defs"][node["$ref"].removeprefix("#/$defs/")]
    if "oneOf" in node or "enum" in node:
        yield path
    for below in node.get("anyOf", ()):
        yield from _choices(root, below, path)
    for key, below in node.get("properties", {}).items():
        yield from _choices(root, below, f"{path}.{key}")


def test_policies_that_ask_python_are_those_that_take_a_function():
    asked = {path for path, family in catalogue.policies().items() if family.takes_python}
    both = {SUSPENSION, "drive.scheduler.program_suspension"}
    assert asked == {VICTIM, ROUTING, *both, "drive.ftl.scrub.choice", "array.plan"}
