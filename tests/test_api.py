"""The Python interface: experiments, their variations, and names that are exported."""

from __future__ import annotations

import ast
import json
import subprocess
import sys
import tomllib
from importlib import import_module
from pathlib import Path

import jsonschema
import pytest

import flashscape as fs
from places import EXPERIMENTS


def test_files_texts_and_dictionaries_mean_the_same(config, experiment_file):
    from_dict = fs.Experiment.from_dict(config)
    from_text = fs.Experiment.from_toml(experiment_file.read_text())
    from_file = fs.Experiment.from_file(experiment_file)
    assert from_dict.config == from_text.config == from_file.config


def test_a_variation_leaves_the_original_alone(config):
    base = fs.Experiment.from_dict(config)
    other = base.replace({"drive.ftl.gc.victim": "fifo", "run.audit": False}, seed=9)
    assert other.config["seed"] == 9
    assert other.config["drive"]["ftl"]["gc"]["victim"] == {"policy": "fifo"}
    assert other.config["run"]["audit"] is False
    assert base.config["seed"] == 1


def test_all_faults_come_at_once_with_their_places(experiment_file):
    text = experiment_file.read_text().replace("2 MiB", "2").replace("reads", "raeds")
    experiment_file.write_text(text)
    with pytest.raises(fs.ConfigError) as caught:
        fs.Experiment.from_file(experiment_file)
    places = {problem.path: problem for problem in caught.value.problems}
    assert set(places) == {"drive.buffer.size", "workload[0].raeds"}
    assert places["drive.buffer.size"].line == 7
    assert places["drive.buffer.size"].file == str(experiment_file)
    assert 'did you mean "reads"' in places["workload[0].raeds"].message
    assert isinstance(caught.value, ValueError)
    assert isinstance(caught.value, fs.FlashscapeError)


def test_what_is_no_configuration_is_refused():
    with pytest.raises(fs.ConfigError, match=r"drive: <object .* is not a value"):
        fs.Experiment.from_dict({"drive": object()})
    circular = {}
    circular["drive"] = circular
    with pytest.raises(fs.ConfigError, match="contains itself"):
        fs.Experiment.from_dict(circular)
    with pytest.raises(fs.ConfigError, match="the key 1 is not a string"):
        fs.Experiment.from_dict({"drive": {1: 2}})
    with pytest.raises(fs.ConfigError, match=r"'\\ud800' is not a character"):
        fs.Experiment.from_toml("title = '\ud800'")
    with pytest.raises(fs.ConfigError, match=r"workload\[0\].trace.time_scale: nan is not"):
        fs.Experiment.from_dict({"workload": [{"trace": {"time_scale": float("nan")}}]})


@pytest.mark.parametrize("title", ["\U0001f4a5 𝄞", 'a "b" \\ c', "\x7f\x00\t\n", "1979-05-27", "3"])
def test_texts_arrive_as_they_are(title, config):
    base = fs.Experiment.from_dict(config)
    assert base.replace(title=title).config["title"] == title
    assert base.replace({"title": title}).config["title"] == title
    assert fs.Experiment.from_dict({**config, "title": title}).config["title"] == title


class Scalar:
    """A minimal imitation of NumPy's scalars, as NumPy may be absent."""

    dtype = "int64"

    def __init__(self, value):
        self.value = value

    def tolist(self):
        return self.value


def test_numbers_of_other_libraries_are_taken(config):
    base = fs.Experiment.from_dict(config)
    assert base.replace(seed=Scalar(7)).config["seed"] == 7
    assert base.replace({"run.audit": Scalar(False)}).config["run"]["audit"] is False


def test_numpy_scalars_are_taken(config):
    numpy = pytest.importorskip("numpy")
    base = fs.Experiment.from_dict(config)
    other = base.replace({"seed": numpy.int64(7), "run.audit": numpy.bool_(False)})
    assert other.config["seed"] == 7
    assert other.config["run"]["audit"] is False


def test_pairs_may_hold_texts_or_values(config):
    base = fs.Experiment.from_dict(config)
    assert base.replace([("seed", 3), ("run.audit", "false")]).config["seed"] == 3
    with pytest.raises(
        fs.ConfigError, match=r"overrides: \['seed=3'\] is not a mapping .* list of pairs"
    ):
        base.replace(["seed=3"])
    with pytest.raises(fs.ConfigError, match="seed: 18446744073709551616 does not fit 64 bits"):
        base.replace(seed=2**64)


def test_the_way_to_state_over_provisioning_can_be_replaced(config):
    del config["drive"]["ftl"]
    config["drive"]["ftl"] = {"over_provisioning": {"spare": "60 %"}}
    base = fs.Experiment.from_dict(config)
    key = "drive.ftl.over_provisioning"
    for change in ({f"{key}.exported": "150 MiB"}, {key: {"exported": "150 MiB"}}):
        assert base.replace(change).config["drive"]["ftl"]["over_provisioning"] == {
            "exported": "150 MiB"
        }


def test_json_files_are_known_by_any_case_and_say_each_key_once(config, tmp_path):
    (tmp_path / "OK.JSON").write_text(json.dumps(config))
    assert fs.Experiment.from_file(tmp_path / "OK.JSON").config["title"] == "small"
    (tmp_path / "twice.json").write_text('{"seed": 1,\n"seed": 2}')
    with pytest.raises(fs.ConfigError, match='line 2: column 6: duplicate key "seed"'):
        fs.Experiment.from_file(tmp_path / "twice.json")


def test_check_returns_what_follows(config):
    figures = fs.check(config)
    assert figures["capacity"]["exported_bytes"] == 150 * 2**20
    assert figures["durations_ns"]["erase"] > 0


def test_check_counts_space_that_several_use_once(config):
    """Half of the drive is filled, and the same half is the regions of one workload or three."""
    quarter = fs.check(config)["capacity"]["exported_bytes"] // 4 // 65536 * 65536

    def spare(*regions):
        """Return the spare space for GC with workloads on these quarters."""
        loads = [
            {"name": f"host-{at}", "reads": "50 %"}
            | {"region": {"offset": f"{first * quarter} B", "size": f"{count * quarter} B"}}
            for at, (first, count) in enumerate(regions)
        ]
        half = {"precondition": {"fill": "sequential", "share": "50 %"}}
        return fs.check(config | half | {"workload": loads})["capacity"]["spare_for_collection"]

    assert spare((0, 2)) == spare((0, 1), (0, 1), (1, 1)) == spare((0, 2), (0, 2))
    # With a third quarter there is data for one and a half times as many blocks.
    assert spare((0, 2), (2, 1)) + 1 == pytest.approx((spare((0, 2)) + 1) / 1.5, rel=0.01)


def test_presets_say_where_their_figures_come_from():
    assert "dc-tlc" in fs.presets()
    for preset in fs.presets().values():
        assert preset.about
        assert "#" in preset.text


def test_the_schema_describes_the_keys():
    assert {"drive", "workload", "run"} <= fs.schema()["properties"].keys()


@pytest.mark.parametrize("file", EXPERIMENTS, ids=lambda file: file.name)
def test_the_schema_takes_the_files_that_ship(file):
    validator = jsonschema.Draft202012Validator(fs.schema())
    faults = validator.iter_errors(tomllib.loads(file.read_text()))
    assert [f"{fault.json_path}: {fault.message}" for fault in faults] == []


@pytest.mark.parametrize("preset", fs.presets())
def test_the_schema_takes_a_drive_without_a_preset(preset, config):
    config["drive"] = tomllib.loads(fs.presets()[preset].text)
    validator = jsonschema.Draft202012Validator(fs.schema())
    assert [fault.message for fault in validator.iter_errors(config)] == []
    del config["drive"]["nand"]
    assert not validator.is_valid(config)


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("drive.preset", "dc-tcl"),
        ("drive.buffer.size", 4096),
        ("drive.buffer.size", "4 KiBs"),
        ("drive.ftl.over_provisioning", {"spare": "7 %", "exported": "150 MiB"}),
        ("drive.ftl.over_provisioning", {}),
        ("drive.gc", {}),
        ("drive.ftl.gc", {"victim": "lru"}),
        ("drive.ftl.gc", {"background": "5 %"}),
        ("seeed", 1),
        ("workload", []),
        ("workload", [{"reads": "50 %"}]),
        ("run.requests", "many"),
    ],
)
def test_the_schema_refuses_what_is_wrong(path, value, config):
    validator = jsonschema.Draft202012Validator(fs.schema())
    assert validator.is_valid(config)
    *tables, key = path.split(".")
    table = config
    for name in tables:
        table = table.setdefault(name, {})
    table[key] = value
    assert not validator.is_valid(config)


def test_importing_is_light():
    code = "import sys, flashscape; print({'polars', 'rich', 'click'} & set(sys.modules))"
    loaded = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert loaded.stdout == "set()\n"


def test_a_bug_of_the_simulator_is_called_so():
    assert str(fs.SimulatorError("map")) == "this is a bug of flashscape, please report it: map"


def test_every_public_name_is_there():
    text = Path(fs.__file__).read_text(encoding="utf-8")
    [block] = (node for node in ast.parse(text).body if isinstance(node, ast.If))
    imported = {alias.asname: line.module for line in block.body for alias in line.names}
    # Names for type checkers equal names at run time.
    assert set(imported) == set(fs.__all__)
    for name, home in imported.items():
        assert getattr(fs, name) is getattr(import_module(home), name), name
    assert set(fs.__all__) <= set(dir(fs))
    with pytest.raises(AttributeError, match="module 'flashscape' has no attribute 'rnu'"):
        _ = fs.rnu


def test_modules_do_not_hide_functions_of_their_names():
    code = (
        "import flashscape.run, flashscape.compare, flashscape.explain, flashscape.reproduce\n"
        "import flashscape.sweep.run\n"
        "import flashscape as fs\n"
        "for each in (fs.run, fs.compare, fs.explain, fs.reproduce, fs.sweep): each.__code__"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
