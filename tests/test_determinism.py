"""Repeated runs: in one process, in two, in threads, and with any observer."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor

import flashscape as fs


def test_twice_in_a_process(config):
    assert fs.run(config).digest == fs.run(config).digest


def test_in_another_process(config, experiment_file, flashscape):
    ended = flashscape("run", experiment_file, "--json", "--quiet")
    assert json.loads(ended.out)["digest"] == fs.run(config).digest


def test_many_drives_at_once(config):
    alone = fs.run(config).digest
    with ThreadPoolExecutor(4) as pool:
        together = list(pool.map(fs.run, [config] * 8))
    assert {result.digest for result in together} == {alone}


def test_another_seed_is_another_run(config):
    assert fs.run(config | {"seed": 2}).digest != fs.run(config).digest


def test_watching_changes_nothing(config):
    class Watcher:
        told = 0

        def surveyed(self, announcement):
            raise AssertionError("there is no trace")

        def preconditioning(self, share):
            assert 0 <= share <= 1
            self.told += 1

        def running(self, simulated_ns, requests, share):
            self.told += 1

        def ended(self):
            self.told += 1

    watcher = Watcher()
    assert fs.run(config, progress=watcher).digest == fs.run(config).digest
    assert watcher.told > 0
