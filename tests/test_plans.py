"""Plans in Python for several drives: built-in equals, what they may do, and their faults."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest

import flashscape as fs
from flashscape.outside import Act

EXAMPLES = Path(__file__).parents[1] / "examples" / "policies" / "plans.py"

DRIVE = {
    "preset": "dc-tlc",
    "geometry": {
        "channels": 2,
        "dies_per_package": 1,
        "blocks_per_plane": 24,
        "pages_per_block": 12,
    },
    "ftl": {"over_provisioning": {"exported": "16 MiB"}},
    "buffer": {"size": "256 KiB", "durability": "none"},
}
"""A small drive, which collects."""


def examples():
    spec = importlib.util.spec_from_file_location("plans", EXAMPLES)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def array(plan, *, requests=20_000, drives=2, base=None, **others):
    config = {
        "array": {"drives": drives, "plan": "mirror"},
        "drive": DRIVE,
        "precondition": {"fill": "random", "age": {"overwrites": 0.5}},
        "workload": [{"name": "load", "reads": "50 %", "size": "4 KiB", "queue_depth": 8}],
        "run": {"requests": requests, "audit": True},
        **others,
    }
    if isinstance(plan, dict):
        config["array"]["plan"] = plan
        return fs.Experiment.from_dict(config)
    config["array"]["plan"] = base or {"policy": "mirror"}
    return fs.Experiment.from_dict(config).with_policy("array.plan", plan)


# ---- equals of built-in plans --------------------------------------------------------


def test_a_mirror_in_python_is_the_built_in_one():
    built_in = fs.run(array({"policy": "mirror", "reads": "least-outstanding"}, drives=3))
    own = fs.run(array(examples().LeastBusy, drives=3))
    assert own.digest == built_in.digest
    assert own.summary["array"]["drives"] == built_in.summary["array"]["drives"]


class Hedging:
    """Reads go to members in turn, and after 300 us to the other one of two."""

    mirrors = True

    def __init__(self, _):
        self.last = 1
        self.first = {}
        self.hedged = set()

    def asked(self, array, request):
        if request.kind != "read":
            return [Act.send(request, 0), Act.send(request, 1)]
        self.last = 1 - self.last
        self.first[request.number] = (request, self.last)
        return [
            Act.send(request, self.last),
            Act.wake(array.now_ns + 300_000, request.number),
        ]

    def woken(self, _, number):
        if number not in self.first:
            return None
        request, member = self.first[number]
        self.hedged.add(number)
        return [Act.send(request, 1 - member, after="hedge")]

    def ended(self, _, end):
        if end.kind != "read" or end.is_answered:
            return None
        number = end.request.number
        del self.first[number]
        return [Act.answer(end.request)] if number in self.hedged else None


def test_hedges_in_python_are_the_built_in_ones():
    hedge = {"after": "300 us"}
    built_in = fs.run(array({"policy": "mirror", "hedge": hedge}))
    plans = []

    def make(view):
        plans.append(Hedging(view))
        return plans[-1]

    own = fs.run(array(make))
    assert own.digest == built_in.digest
    counted = built_in.summary["array"]["plan"]
    assert 50 < counted["hedges"]["issued"] == len(plans[0].hedged)
    [of_own], [of_built_in] = own.summary["initiators"], built_in.summary["initiators"]
    assert of_own["read"]["blame_ns"] == of_built_in["read"]["blame_ns"]


# ---- what plans may do ---------------------------------------------------------------


def test_the_staggered_mirror_keeps_both_members_alike():
    result = fs.run(array(examples().Staggered))
    [load] = result.summary["initiators"]
    drives = result.summary["array"]["drives"]
    assert [of["work"]["host_bytes_programmed"] for of in drives] == [load["write"]["bytes"]] * 2


def test_what_the_host_serves_takes_as_long_as_it_says():
    class FromMemory:
        mirrors = False

        def __init__(self, view):
            assert (view.members, view.bytes, view.now_ns) == (2, 16 << 20, 0)

        def asked(self, array, request):
            assert array.under_way == [0, 0]
            return [Act.serve(request, 2_500)]

    [load] = fs.run(array(FromMemory, requests=100)).summary["initiators"]
    for kind in ("read", "write"):
        assert load[kind]["latency_ns"]["min"] == load[kind]["latency_ns"]["max"] == 2_500
        assert load[kind]["blame_ns"] == {"host_cache": 2_500 * load[kind]["requests"]}


def waits(*, by_name="turn"):
    """Class of plans that serve each request 10 us after it came, and once more 3 us later."""

    class Waits:
        mirrors = False

        def __init__(self, _):
            self.asked_for = {}

        def asked(self, array, request):
            self.asked_for[request.number] = request
            # A number may be anything.
            return [Act.wake(array.now_ns + 10_000, 2**40 + request.number)]

        def woken(self, array, number):
            request = self.asked_for.get(number - 2**40)
            if request is not None:
                wake = Act.wake(array.now_ns + 3_000, number - 2**40)
                return [Act.serve(request, 5_000, after=by_name), wake]
            return [Act.serve(self.asked_for.pop(number), 1_000)]

    return Waits


@pytest.mark.parametrize(("name", "state"), [("turn", "turn"), ("room", "cache")])
def test_blame_of_what_the_host_serves_late_sums_to_the_latency(name, state):
    [load] = fs.run(array(waits(by_name=name), requests=200)).summary["initiators"]
    for kind in ("read", "write"):
        requests = load[kind]["requests"]
        assert load[kind]["latency_ns"]["min"] == load[kind]["latency_ns"]["max"] == 15_000
        assert load[kind]["blame_ns"] == {
            f"wait_host_{state}": 10_000 * requests,
            "host_cache": 5_000 * requests,
        }


def test_a_part_that_the_host_serves_may_follow_a_command():
    class Then:
        mirrors = False

        def asked(self, _, request):
            return [Act.send(request, 0)]

        def ended(self, _, end):
            return [Act.serve(end.request, 1_000)]

    reads = [{"name": "load", "reads": "100 %", "size": "4 KiB", "queue_depth": 1}]
    [load] = fs.run(array(lambda _: Then(), workload=reads, requests=200)).summary["initiators"]
    read = load["read"]
    assert read["blame_ns"]["host_cache"] == 200 * 1_000
    of_command = 200 * (read["latency_ns"]["mean"] - 1_000)
    assert read["blame_ns"]["wait_host_turn"] == pytest.approx(of_command)


def test_wakes_of_one_moment_come_in_their_order():
    class Wakes:
        mirrors = False

        def __init__(self, _):
            self.heard = []

        def asked(self, array, request):
            self.request = request
            return [Act.wake(array.now_ns + 5, number) for number in (5, 1, 3, 3)]

        def woken(self, _, number):
            self.heard.append(number)
            return [Act.serve(self.request, 1)] if len(self.heard) == 4 else None

    plans = []

    def make(view):
        plans.append(Wakes(view))
        return plans[-1]

    fs.run(array(make, workload=[{"name": "load", "reads": "50 %"}], requests=1))
    assert plans[0].heard == [5, 1, 3, 3]


def test_a_part_may_follow_another():
    def plan(then):
        class Following:
            mirrors = False

            def asked(self, _, request):
                return [Act.send(request, 0)]

            def ended(self, _, end):
                return [Act.send(end.request, 1, token=1)] if then and end.token == 0 else []

        return lambda _: Following()

    reads = [{"name": "load", "reads": "100 %", "size": "4 KiB", "queue_depth": 1}]
    one, two = (
        fs.run(array(plan(then), workload=reads, requests=500)).summary["initiators"][0]["read"]
        for then in (False, True)
    )
    # Both drives are idle and alike.
    assert two["latency_ns"]["min"] == 2 * one["latency_ns"]["min"]
    assert two["blame_ns"]["sense"] == one["blame_ns"]["sense"]
    assert two["blame_ns"]["wait_host_turn"] == pytest.approx(500 * one["latency_ns"]["mean"])


def test_the_run_waits_for_what_a_plan_holds():
    """The second member gets each write 50 ms after it came."""

    class Late:
        mirrors = True

        def __init__(self, _):
            self.waiting = {}

        def asked(self, array, request):
            if request.kind == "read":
                return [Act.send(request, 0)]
            self.waiting[request.number] = request
            at = array.now_ns + 50_000_000
            return [Act.send(request, 0), Act.wake(at, request.number), Act.hold(True)]

        def woken(self, _, number):
            request = self.waiting.pop(number)
            return [Act.send(request, 1, part=False), Act.hold(bool(self.waiting))]

    result = fs.run(array(Late, requests=2_000))
    [load] = result.summary["initiators"]
    drives = result.summary["array"]["drives"]
    assert [of["work"]["host_bytes_programmed"] for of in drives] == [load["write"]["bytes"]] * 2


def test_a_plan_sees_what_the_windows_of_its_members_guarantee():
    """The second member has a deterministic window of 25 ms, which ends by itself."""
    seen = []

    class Looks:
        mirrors = True

        def __init__(self, array):
            assert array.windows is None

        def begun(self, array):
            assert array.windows == [None, None]
            return [Act.maintain(1, False)]

        def asked(self, array, request):
            seen.append((array.now_ns, array.windows))
            return [Act.send(request, member) for member in range(2)]

    windows = {"dtwin": "25 ms", "reads": 1_000, "ndwin_low": "1 ms", "ndwin_high": "10 ms"}
    drive = {**DRIVE, "ftl": {**DRIVE["ftl"], "windows": windows}}
    rails = {"policy": "rails", "period": "20 ms", "cache": {"size": "1 MiB", "latency": "1 us"}}
    load = {
        "name": "reads",
        "reads": "100 %",
        "size": "8 KiB",
        "arrivals": {"process": "poisson", "rate": "2 kIOPS"},
    }
    run = {"time": "60 ms"}
    fs.run(array(Looks, base=rails, drive=drive, workload=[load], run=run))
    assert all(first is None for _, (first, _) in seen), "it is in maintenance"
    told = [(now, of) for now, (_, of) in seen if of is not None]
    last, after = told[-1][0], [now for now, (_, of) in seen if of is None]
    # It ends with its time, and the plan sees that at the next request.
    assert {now + of.time_ns for now, of in told} == {25_000_000}
    assert last <= 25_000_000 < min(after)
    # Each of the requests before was a read of 8 KiB, that is two of 4 KiB.
    assert [of.reads for _, of in told] == [1_000 - 2 * number for number in range(len(told))]
    assert len(told) > 20
    assert {of.writes for _, of in told} == {told[0][1].writes}


def test_a_plan_sees_each_event_of_a_window_once():
    """Of 25 ms and 20 reads 12 ms are left at 13 ms, and 5 reads with the 15th of 1 kIOPS."""
    seen = []

    class Looks:
        mirrors = True

        def __init__(self, array):
            assert array.window_events is None

        def begun(self, array):
            return [Act.maintain(0, False), Act.maintain(1, False)]

        def asked(self, array, request):
            seen.append((array.now_ns, array.window_events))
            return [Act.send(request, member) for member in range(2)]

    limits = {"dtwin": "25 ms", "reads": 20, "reads_threshold": 5, "time_threshold": "12 ms"}
    windows = {**limits, "ndwin_low": "1 ms", "ndwin_high": "10 ms"}
    drive = {**DRIVE, "ftl": {**DRIVE["ftl"], "windows": windows}}
    rails = {"policy": "rails", "period": "20 ms", "cache": {"size": "1 MiB", "latency": "1 us"}}
    load = {
        "name": "reads",
        "reads": "100 %",
        "arrivals": {"process": "constant", "rate": "1 kIOPS"},
    }
    run = {"time": "60 ms"}
    fs.run(array(Looks, base=rails, drive=drive, workload=[load], run=run))
    news = [(now, events) for now, events in seen if any(events)]
    assert all(first == second for _, (first, second) in news)
    assert [events[0] for _, events in news] == [
        ["time_warning"],
        ["reads_warning"],
        ["typical_or_maximum_exceeded"],
    ]
    assert news[0][0] == 13_000_000


@pytest.mark.parametrize(("rate", "is_broken"), [(800, False), (5_000, True)])
def test_a_plan_chooses_the_windows_of_its_members(rate, is_broken):
    """Members are in maintenance in turn, for 20 ms each, while reads go to the other one."""

    class Turns:
        mirrors = True

        def __init__(self, _):
            self.writer = 0
            self.kept = []

        def begun(self, array):
            return [Act.maintain(1, False), Act.wake(array.now_ns + 20_000_000)]

        def woken(self, array, _):
            self.writer = 1 - self.writer
            return [
                Act.maintain(1 - self.writer, False),
                Act.maintain(self.writer, True),
                Act.wake(array.now_ns + 20_000_000),
            ]

        def asked(self, _, request):
            if request.kind == "read":
                return [Act.send(request, 1 - self.writer)]
            return [Act.send(request, member) for member in range(2)]

    windows = {"dtwin": "1 s", "ndwin_low": "1 ms", "ndwin_high": "10 ms"}
    drive = {**DRIVE, "ftl": {**DRIVE["ftl"], "windows": windows}}
    loads = [
        {
            "name": "reads",
            "reads": "100 %",
            "size": "4 KiB",
            "arrivals": {"process": "poisson", "rate": "500 IOPS"},
        },
        {
            "name": "writes",
            "reads": "0 %",
            "size": "4 KiB",
            "arrivals": {"process": "poisson", "rate": f"{rate} IOPS"},
        },
    ]
    run = {"time": "1 s", "audit": True}
    # A mirror takes no windows.
    rails = {"policy": "rails", "period": "20 ms", "cache": {"size": "1 MiB", "latency": "1 us"}}
    result = fs.run(array(Turns, base=rails, drive=drive, workload=loads, run=run))
    found = [member["windows"] for member in result.summary["array"]["members"]]
    outside = sum(of["ndwin_ns"] for of in found)
    broken = sum(of["broken_ns"] for of in found)
    ends = {end: sum(of["ends"][end] for of in found) for end in found[0]["ends"]}
    # One is outside of its deterministic window at a time, but for broken windows.
    assert outside == result.summary["simulated_ns"] + broken
    assert (broken > 0, ends["reads"], ends["time"]) == (is_broken, 0, 0)
    assert min(ends["writes"], ends["excursion"]) > 10 if is_broken else ends["host"] > 40, ends
    assert is_broken or ends["writes"] + ends["excursion"] == 0, ends
    # The next member has waited for what the one before it had under way.
    assert sum(of["waited_ns"] for of in found) > 0


def test_a_member_whose_turn_comes_back_goes_on_at_once():
    """It is let be in maintenance again after 1 us, long before its next window may begin."""

    class Toggles:
        mirrors = False

        def __init__(self, _):
            self.steps = {50_000_000: False, 100_000_000: True, 150_000_000: False}
            self.steps[150_001_000] = True

        def begun(self, _):
            return [Act.maintain(1, False), *(Act.wake(at) for at in self.steps)]

        def woken(self, array, _):
            return [Act.maintain(0, self.steps[array.now_ns])]

        def asked(self, _, request):
            return [Act.send(request, 0)]

    windows = {"dtwin": "5 s", "ndwin_low": "1 s", "ndwin_high": "1 s"}
    drive = {**DRIVE, "ftl": {**DRIVE["ftl"], "windows": windows}}
    load = {
        "name": "writes",
        "reads": "0 %",
        "arrivals": {"process": "poisson", "rate": "1 kIOPS"},
    }
    rails = {"policy": "rails", "period": "2 s", "cache": {"size": "1 MiB", "latency": "1 us"}}
    run = {"time": "1 s", "audit": True}
    result = fs.run(array(Toggles, base=rails, drive=drive, workload=[load], run=run))
    first = result.summary["array"]["members"][0]["windows"]
    # The second window was asked for, and given up after that time.
    assert (first["asked"], first["begun"]) == (2, 1)
    assert first["longest_wait_ns"] == first["waited_ns"] - 1_000 or first["waited_ns"] == 1_000


# ---- faults --------------------------------------------------------------------------


def faulty(asked):
    return lambda _: type("Faulty", (), {"asked": staticmethod(asked), "mirrors": False})()


@pytest.mark.parametrize(
    ("plan", "words"),
    [
        (lambda _: None, "must return a plan, an object with a method asked"),
        (lambda: None, "TypeError"),
        (lambda _: type("P", (), {"asked": 3})(), "asked of the plan cannot be called"),
        (lambda _: type("P", (), {"asked": print, "mirrors": 2})(), "mirrors of the plan must be"),
        (faulty(lambda array, request: 1 // 0), "ZeroDivisionError"),
        (faulty(lambda array, request: 3), "must return a list of acts"),
        (faulty(lambda array, request: [3]), "must return a list of acts"),
        (faulty(lambda array, request: [Act.send(request, 2)]), "no member 2; the array has 2"),
        (
            faulty(lambda array, request: [Act.send(request, 0, offset=array.bytes)]),
            "does not lie in the namespace",
        ),
        (
            faulty(lambda array, request: [Act.send(request, 0, bytes=100)]),
            "does not consist of sectors of 512 bytes",
        ),
        (
            faulty(lambda array, request: [Act.send(request, 0, kind="wipe")]),
            'kind: no kind "wipe" (valid: read, write, trim, flush, write_zeroes)',
        ),
        (
            faulty(lambda array, request: [Act.send(request, 0, after="tea")]),
            'after: no moment "tea" (valid: turn, room, hedge)',
        ),
        (faulty(lambda array, request: [Act.wake(0)] if array.now_ns else []), None),
        (
            faulty(lambda array, request: [Act.serve(request, 1), Act.wake(5)]),
            "no method woken",
        ),
        (faulty(lambda array, request: {Act.serve(request, 1)}), "must return a list of acts"),
        (faulty(lambda array, request: [Act.send(request, True)]), "not True or False"),
        (faulty(lambda array, request: [Act.wake(2**58)]), "but a run ends by"),
        (faulty(lambda array, request: [Act.serve(request, 2**58)]), "but a run ends by"),
    ],
)
def test_a_faulty_plan_ends_the_run(plan, words):
    expected = fs.PolicyError if words else fs.FlashscapeError
    with pytest.raises(expected) as caught:
        fs.run(array(plan, requests=100))
    assert words is None or words in str(caught.value)


def test_an_act_for_a_request_that_was_answered_is_a_fault():
    class Late:
        mirrors = False

        def asked(self, _, request):
            return [Act.send(request, 0)]

        def ended(self, _, end):
            return [Act.wake(10**9, end.request.number)] if end.token == 0 else []

        def __init__(self, _):
            self.requests = {}

        def woken(self, *_):
            return [Act.answer(self.first)]

    plans = []

    def make(view):
        plan = Late(view)
        asked = plan.asked

        def remember(view, request):
            if not hasattr(plan, "first"):
                plan.first = request
            return asked(view, request)

        plan.asked = remember
        plans.append(plan)
        return plan

    slow = [
        {
            "name": "load",
            "reads": "100 %",
            "size": "4 KiB",
            "arrivals": {"process": "poisson", "rate": "10 IOPS"},
        }
    ]
    with pytest.raises(fs.PolicyError, match="request 0 is answered already"):
        fs.run(array(make, workload=slow, requests=30))


def test_a_request_that_a_plan_forgets_is_an_error():
    forgets = faulty(lambda array, request: [])
    with pytest.raises(fs.PolicyError, match=r"has not answered request 0, and nothing"):
        fs.run(array(forgets, requests=10))


def test_a_plan_that_only_wakes_is_an_error():
    class Wakes:
        mirrors = False

        def __init__(self, _):
            pass

        def asked(self, array, _):
            return [Act.wake(array.now_ns + 1)]

        def woken(self, array, _):
            return [Act.wake(array.now_ns + 1)]

    with pytest.raises(
        fs.PolicyError, match="was woken 1000000 times while nothing else was to come"
    ):
        fs.run(array(Wakes, requests=10))


def test_an_audited_plan_reads_what_a_member_has():
    class Forgetful:
        mirrors = True

        def asked(self, _, request):
            return [Act.send(request, 0 if request.kind != "read" else 1)]

    with pytest.raises(
        fs.PolicyError, match=r"<lambda>: member 1 is read at bytes .* and lacks write"
    ):
        fs.run(array(lambda _: Forgetful()))


def test_an_audited_plan_writes_in_order():
    """The second member gets the two first writes the other way round, one by one."""

    class Reversed:
        mirrors = True

        def __init__(self, _):
            self.kept = []

        def asked(self, _, request):
            self.kept.append(request)
            return [Act.send(request, 0), Act.hold(True)]

        def ended(self, _, end):
            if end.member == 0 and len(self.kept) < 2:
                return None
            return [Act.send(self.kept.pop(), 1, part=False)] if self.kept else [Act.hold(False)]

    same = [
        {
            "name": "load",
            "reads": "0 %",
            "size": "4 KiB",
            "queue_depth": 1,
            "region": {"offset": "0 B", "size": "4 KiB"},
        }
    ]
    with pytest.raises(fs.PolicyError, match=r"member 1 is sent write 0 at .* newer write 1 there"):
        fs.run(array(Reversed, workload=same, requests=2))


def test_an_audited_plan_says_if_members_mirror():
    class Silent:
        def asked(self, _, request):
            return [Act.send(request, 0)]

    with pytest.raises(fs.PolicyError, match="the run is audited, so the plan must say"):
        fs.run(array(lambda _: Silent()))
    fs.run(array(lambda _: Silent(), requests=10, run={"requests": 10}))


def test_a_run_that_is_held_for_nothing_is_an_error():
    holds = faulty(lambda array, request: [Act.serve(request, 1), Act.hold(True)])
    with pytest.raises(fs.PolicyError, match=r"holds the run \(Act.hold\), and nothing is to come"):
        fs.run(array(holds, requests=10))


def test_a_request_of_another_run_is_a_fault():
    kept = []

    def asked(_, request):
        kept.append(request)
        return [Act.serve(kept[0], 1)]

    fs.run(array(faulty(asked), requests=1))
    with pytest.raises(fs.PolicyError, match="names a request of another run"):
        fs.run(array(faulty(asked), requests=1))


def test_a_plan_that_fails_in_a_generator_tells_its_place():
    def asked(_, request):
        yield Act.serve(request, 1)
        raise KeyError("missing")

    with pytest.raises(fs.PolicyError, match=r"KeyError: 'missing' \(test_plans.py, line"):
        fs.run(array(faulty(asked), requests=10))


def test_an_interrupt_in_a_plan_ends_the_run():
    class Interrupted:
        mirrors = False
        left = 5_000

        def asked(self, _, request):
            self.left -= 1
            if self.left == 0:
                raise KeyboardInterrupt
            return [Act.send(request, 0)]

    with pytest.raises(fs.Interrupted) as caught:
        fs.run(array(lambda _: Interrupted(), requests=1_000_000))
    assert caught.value.result.complete is False
    [load] = caught.value.result.summary["initiators"]
    assert 4_900 < load["read"]["requests"] + load["write"]["requests"] < 5_000


def test_a_file_names_a_plan(tmp_path, flashscape):
    (tmp_path / "plans.py").write_text(EXAMPLES.read_text())
    (tmp_path / "two.toml").write_text(
        "[array]\ndrives = 2\n"
        'plan = { policy = "python", file = "plans.py", function = "LeastBusy" }\n'
        '[drive]\npreset = "dc-tlc"\n[drive.geometry]\nblocks_per_plane = 40\n'
        'pages_per_block = 64\n[drive.ftl.over_provisioning]\nexported = "4 GB"\n'
        '[[workload]]\nname = "load"\nreads = "50 %"\n[run]\nrequests = 2000\n'
    )
    ended = flashscape("run", str(tmp_path / "two.toml"))
    assert ended.status == 0, ended.err
    assert "python" in ended.out
    (tmp_path / "plans.py").write_text("class LeastBusy:\n    def ask(self): ...\n")
    ended = flashscape("check", str(tmp_path / "two.toml"))
    assert ended.status == 2
    assert "array.plan.function" in ended.err
    assert "class LeastBusy has no method asked(array, request)" in " ".join(ended.err.split())
    (tmp_path / "plans.py").unlink()
    ended = flashscape("check", str(tmp_path / "two.toml"))
    assert ended.status == 2
    assert "array.plan.file" in ended.err
    assert "there is no file" in ended.err
