"""Arguments of the Python interface: a value of a wrong type is refused, and the error names it.

Every public function is called with every sample below for every argument. Its annotation says
which samples fit, by the table ``FITS``; all others must be refused with ConfigError or TypeError
before anything runs.
"""

from __future__ import annotations

import inspect
import math
from pathlib import Path

import pytest

import flashscape as fs
from flashscape import arguments
from flashscape.act import SearchObserver
from flashscape.run import Observer
from flashscape.sweep import SweepObserver

SAMPLES = {
    "none": None,
    "truth": True,
    "whole": 3,
    "negative": -1,
    "huge": 2**70,
    "number": 2.5,
    "nan": math.nan,
    "infinite": math.inf,
    "text": "no such thing",
    "path": Path("nowhere"),
    "bytes": b"x",
    "texts": ["a", "b"],
    "wholes": [1, 2],
    "negatives": [-1, 2],
    "mixed": [1, "a"],
    "objects": [object()],
    "mapping": {"a": 1},
    "odd mapping": {1: "a"},
    "object": object(),
    "function": len,
}

NAMED = {"text", "path"}
FITS: dict[str, set[str]] = {
    "None": {"none"},
    "bool": {"truth"},
    "int": {"whole"},
    "float": {"whole", "number", "negative", "huge"},
    "str": {"text"},
    "PathLike[str]": NAMED,
    "Experiment": set(),
    "Mapping[str, Any]": {"mapping", "odd mapping"},
    "Snapshot": set(),
    "Measured": set(),
    "Sweep": set(),
    "Comparison": set(),
    "Overrides": {"mapping"},
    "Mapping[str, str]": {"mapping"},
    "Sequence[tuple[str, str]]": set(),
    "Sequence[str]": {"texts"},
    "Sequence[int]": {"wholes"},
    "list[int]": {"wholes"},
    "Iterable[str]": {"texts"},
    "Iterable[float | str]": {"texts", "wholes", "negatives", "mixed"},
    "Callable[[float], object]": {"function"},
    "Callable[[int, float], object]": {"function"},
    "Callable[..., Any]": {"function"},
    "Observer": set(),
    "SweepObserver": set(),
    "SearchObserver": set(),
    "pl.DataFrame": set(),
    "pl.LazyFrame": set(),
    "Where": {"none", *NAMED},
    "SideOrPath": {"mapping", "odd mapping", *NAMED},
    "LifeOrPath": NAMED,
    "Pairs": set(),
    "tuple[float, float]": {"wholes", "negatives"},
    "Run": NAMED,
    "Iterable[Run]": {"texts"},
    "Iterable[int]": {"wholes"},
    "SlowAbove": {"none", "whole", "wholes", "text", "texts", "mixed"},
}
"""Samples that fit each part of an annotation."""

CHECKED_WITHIN = {
    "fs.sweep": {
        "grid": {"none"},
        "zipped": set(),
        "variations": set(),
        "seeds": {"none", "whole", "wholes"},
    },
    "fs.explain": {"of": NAMED},
    "fs.queries_over": {"over": {"none"}},
    "act.run": {"arrivals": set()},
    "act.search": {"arrivals": set()},
}
"""Samples that fit arguments with checks of their own."""

NOT_FOR_USERS = {
    "Cluster.executor",
    "Comparison.pictured",
    "Comparison.write_to",
    "Fleet.of",
    "Fleet.write_to",
    "Lifetime.of",
    "Reproduction.manifest",
    "Reproduction.write_to",
    "Result.other_version",
    "Result.write_to",
    "Snapshot.files",
    "Snapshot.write_to",
    "trace.refuse_if_there",
    "trace.write",
}
"""Functions that take objects of flashscape's own parts."""

OF_RUST = {
    "submit": {
        "kind": "str",
        "offset": "int",
        "length": "int",
        "at_ns": "int | None",
        "priority": "str",
        "read_recovery_level": "int | None",
    },
    "advance": {"until_ns": "int"},
    "power_cut": {"at_ns": "int | None"},
    "set_window": {"window": "str", "nvm_set": "int", "at_ns": "int | None"},
    "window": {"nvm_set": "int", "clear": "bool"},
}
"""Annotations of the methods of Drive, which the compiled module does not tell."""


def public():
    """Yield every public function and method, with its name."""
    for name in fs.__all__:
        named = getattr(fs, name)
        if inspect.ismodule(named):
            found = [of for of in vars(named).values() if inspect.isfunction(of)]
            own = [of for of in found if of.__module__.startswith(named.__name__)]
            yield from ((f"{name}.{of.__name__}", of) for of in own if of.__name__[0] != "_")
        elif inspect.isclass(named):
            if not issubclass(named, (BaseException, tuple)) and name != "Observer":
                yield from methods(named)
        elif inspect.isfunction(named):
            yield f"fs.{name}", named


def methods(of):
    """Yield the public methods of a class, called on an object that was never made."""
    for name, found in inspect.getmembers(of):
        if name.startswith("_") or name == "inner":
            continue
        raw = inspect.getattr_static(of, name)
        if isinstance(raw, (classmethod, staticmethod)) or inspect.isfunction(raw):
            yield f"{of.__name__}.{name}", found


FUNCTIONS = {name: function for name, function in public() if name not in NOT_FOR_USERS}


def allowed(name: str, argument: str, annotation: str) -> set[str] | None:
    """Return the samples that fit an argument; None if all do."""
    within = CHECKED_WITHIN.get(name, {})
    if argument in within:
        return within[argument]
    parts = arguments.split(annotation)
    if "Any" in parts:
        return None
    return set().union(*(FITS[part] for part in parts))


def cases():
    """Yield the name of a function and an argument, with the samples that do not fit."""
    for name, function in FUNCTIONS.items():
        for argument, parameter in inspect.signature(function).parameters.items():
            if argument == "self" or not isinstance(parameter.annotation, str):
                continue
            fitting = allowed(name, argument, parameter.annotation)
            if fitting is not None:
                yield name, argument, sorted(SAMPLES.keys() - fitting)


def given(function, argument: str, wrong, sound: dict):
    """Return arguments for a call: sound ones for those that are required, and the wrong one."""
    parameters = inspect.signature(function).parameters
    positional, named = [], {}
    for name, parameter in parameters.items():
        if name == "self":
            # Arguments are checked before the object is used.
            positional.append(None)
        elif name == argument and parameter.kind is inspect.Parameter.VAR_POSITIONAL:
            positional.append(wrong)
        elif name == argument:
            named[name] = wrong
        elif parameter.default is inspect.Parameter.empty and "VAR" not in parameter.kind.name:
            named[name] = sound[name]
    if argument in parameters and parameters[argument].kind is inspect.Parameter.VAR_POSITIONAL:
        positional = [
            named.pop(name) for name in parameters if name in named and name in ("a", "b")
        ]
        positional.append(wrong)
    return positional, named


@pytest.fixture
def sound(small):
    """Values of the arguments that calls require."""
    return {
        "experiment": small,
        "base": small,
        "drive": "dc-tlc",
        "drives": 2,
        "path": "nowhere",
        "config": small,
        "text": "",
        "workload": "nowhere",
        "a": small,
        "b": small,
        "of": "nowhere",
        "given": small,
        "multiplier": 30,
        "paper": "nowhere",
        "runs": "nowhere",
        "reads": [1],
        "out": "nowhere",
        "to": "captured",
        "description": "nowhere",
        "function": len,
        "kind": "read",
        "name": "series",
        "number": 1,
        "percent": 99,
        "plot": "a/b",
        "exhibit": "a",
        "claim": "a",
        "table": None,
        "cycles": 1000,
        "fanout": [1],
    }


@pytest.mark.parametrize(("name", "argument", "wrong"), list(cases()), ids=lambda of: str(of)[:40])
def test_a_value_that_does_not_fit_is_refused(name, argument, wrong, sound, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    function = FUNCTIONS[name]
    if name in ("fs.compare_lifetimes", "fs.import_mqsim"):
        sound |= dict.fromkeys(("a", "b", "config"), "nowhere")
    accepted = []
    for sample in wrong:
        positional, named = given(function, argument, SAMPLES[sample], sound)
        try:
            function(*positional, **named)
        except (fs.ConfigError, TypeError) as error:
            told = str(error)
            short = argument.rstrip("s")
            if short not in told and name.partition(".")[2] not in told:
                accepted.append(f"{sample}: does not name it: {told}")
        except BaseException as error:
            accepted.append(f"{sample}: {type(error).__name__}: {error}")
        else:
            accepted.append(f"{sample}: accepted")
    assert not accepted, f"{name}({argument}=…):\n  " + "\n  ".join(accepted)
    assert list(tmp_path.iterdir()) == [], "nothing is written"


def test_every_public_function_is_called():
    named = {name for name, _, _ in cases()}
    without = {name for name in FUNCTIONS if name not in named}
    # These have no arguments, or take what a user's own code calls them with.
    assert without <= {
        name
        for name, function in FUNCTIONS.items()
        if len([p for p in inspect.signature(function).parameters if p != "self"]) == 0
    }, without
    assert len(named) > 50


@pytest.mark.parametrize("method", OF_RUST)
def test_a_stepwise_drive_refuses_values_that_do_not_fit(method, config):
    table = config["drive"]
    if "window" in method:
        table["ftl"]["windows"] = {"dtwin": "10 ms", "ndwin_low": "1 ms", "ndwin_high": "9 ms"}
    else:
        table["recovery"] = {"map": "scan"}
    drive = fs.Drive(table, seed=1)
    sound = {"kind": "read", "length": 4096, "window": "dtwin", "until_ns": 0}
    for argument, annotation in OF_RUST[method].items():
        parts = annotation.split(" | ")
        for sample in SAMPLES.keys() - set().union(*(FITS[part] for part in parts)):
            names = {each: sound[each] for each in OF_RUST[method] if each in sound}
            with pytest.raises((fs.ConfigError, TypeError), match=argument):
                getattr(drive, method)(**names | {argument: SAMPLES[sample]})
        if "int" in parts:
            with pytest.raises((fs.ConfigError, TypeError), match=argument):
                getattr(drive, method)(**names | {argument: -1})


@pytest.mark.parametrize(
    ("call", "told"),
    [
        (
            lambda of: fs.run(of, progress="yes"),
            "progress: 'yes' is not True, False or an observer",
        ),
        (lambda of: fs.run(of, out=3), "out: 3 is not a path or None"),
        (lambda of: fs.run(3), "experiment: 3 is not an Experiment, a dictionary or a path"),
        (
            lambda of: fs.sweep(of, seeds=2, jobs="2"),
            "jobs: '2' is not a whole number from 0 to 2^64 - 1 or None",
        ),
        (lambda of: fs.compare(of, of, seeds=True), "seeds: True is not a whole number"),
        (lambda of: fs.compare(of, of, pairs="none"), 'pairs: \'none\' is not "all" or "first"'),
        (lambda of: fs.compare(of, of, figures=[3]), "figures: [3] is not a list of texts"),
        (lambda of: fs.compare(of, of, names=["a", 3]), "names: ['a', 3] is not a list of texts"),
        (lambda _: fs.queries_over("x", 1, stages=-1), "stages: -1 is not a whole number from 0"),
        (lambda _: fs.queries_over("x", 1, seed=True), "seed: True is not a whole number from 0"),
        (lambda of: fs.lifetime(of, cycles=[-1]), "cycles: [-1] is not a list of whole numbers"),
        (lambda of: fs.lifetime(of, cycles=[True]), "cycles: [True] is not a list of whole"),
        (lambda _: fs.act.run("dc-tlc", True), "multiplier: True is not a whole number from 0"),
        (lambda _: fs.act.run("dc-tlc", 1, time=3), "time: 3 is not a text or None"),
        (lambda of: fs.lifetime(of, years="5"), "years: '5' is not a number"),
        (
            lambda of: fs.Experiment.from_dict(of).replace(["seed=2"]),
            'overrides: [\'seed=2\'] is not a mapping such as {"run.time": "10 s"} or a list of',
        ),
    ],
)
def test_the_error_says_what_to_write(call, told, config):
    with pytest.raises(fs.ConfigError) as refused:
        call(config)
    assert str(refused.value).startswith(told)


def test_a_percentile_is_a_number():
    latency = fs.Latency(1, 5.0, 5, 5, ((5, 1),))
    with pytest.raises(fs.ConfigError, match="percent: '99' is not a number"):
        latency.percentile("99")
    with pytest.raises(fs.ConfigError, match="percent: 101 is not between 0 and 100"):
        latency.percentile(101)
    assert latency.percentile(99.9) == 5


@pytest.mark.parametrize(
    ("part", "protocol"),
    [
        ("Observer", Observer),
        ("SweepObserver", SweepObserver),
        ("SearchObserver", SearchObserver),
    ],
)
def test_observers_have_the_methods_of_their_protocol(part, protocol):
    members = {name for name in vars(protocol) if not name.startswith("_")}
    told = arguments._KINDS[part].told
    assert {name for name in members if name in told} == members
    assert told.count(",") == len(members) - 1


def test_iterators_of_percentiles_are_not_used_up(small):
    swept = (each for each in (50, 99.9))
    test = arguments._KINDS["Iterable[float | str]"].fits
    assert test(swept)
    assert list(swept) == [50, 99.9]
    numpy = pytest.importorskip("numpy")
    assert arguments._KINDS["int"].fits(numpy.int64(3))
    assert arguments._KINDS["bool"].fits(numpy.bool_(True))
    assert not arguments._KINDS["int"].fits(numpy.bool_(True))
    assert arguments._KINDS["Sequence[int]"].fits(numpy.array([1, 2]))
