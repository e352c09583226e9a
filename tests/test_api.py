"""The Python face: experiments, their variations, and what is known by name."""

from __future__ import annotations

import subprocess
import sys

import pytest

import flashscape as fs


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
    with pytest.raises(fs.ConfigError, match="not JSON serializable"):
        fs.Experiment.from_dict({"drive": object()})


def test_check_returns_what_follows(config):
    figures = fs.check(config)
    assert figures["capacity"]["exported_bytes"] == 150 * 2**20
    assert figures["durations_ns"]["erase"] > 0


def test_presets_say_where_their_figures_come_from():
    assert "dc-tlc" in fs.presets()
    for preset in fs.presets().values():
        assert preset.about
        assert "#" in preset.text


def test_the_schema_describes_the_keys():
    assert {"drive", "workload", "run"} <= fs.schema()["properties"].keys()


def test_importing_is_light():
    code = "import sys, flashscape; print({'polars', 'rich', 'click'} & set(sys.modules))"
    loaded = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert loaded.stdout == "set()\n"


def test_a_bug_of_the_simulator_is_called_so():
    assert str(fs.SimulatorError("map")) == "this is a bug of flashscape, please report it: map"
