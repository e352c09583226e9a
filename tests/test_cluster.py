"""Sweeps on a cluster: the bytes of the local pool, whatever happens to workers."""

from __future__ import annotations

import hashlib
import importlib
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections import Counter
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path

import pytest

import flashscape as fs
from flashscape.cluster import batch, identity, opening
from flashscape.sweep import SilentSweep, sharing
from places import ROOT
from test_bad_input import refused
from test_sweep import CHOOSE, DEPTH, FAILING, NO_PROC, VICTIM, kept, rows_of, same, workers

pytest.importorskip("distributed", reason="needs Dask: pip install 'flashscape[cluster]'")

host = importlib.import_module("flashscape.cluster.host")
link = importlib.import_module("flashscape.cluster.link")

WORKERS = 2


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@contextmanager
def started(*arguments: str, log: Path, **environment: str):
    """Run a command of Dask as long as the context."""
    with log.open("ab") as words:
        process = subprocess.Popen(
            [sys.executable, "-m", "dask", *arguments],
            stdout=words,
            stderr=words,
            env={**os.environ, **environment},
        )
    try:
        yield process
    finally:
        process.terminate()
        try:
            process.wait(timeout=10)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def worker(address: str, folder: Path, *arguments: str, **environment: str):
    """Start a worker of one task at a time."""
    name = f"worker-{time.monotonic_ns()}"
    given = ["worker", address, "--host", "127.0.0.1", "--nthreads", "1", "--no-dashboard"]
    place = ["--local-directory", str(folder / name)]
    return started(*given, *place, *arguments, log=folder / f"{name}.log", **environment)


@pytest.fixture(scope="module")
def scheduler(tmp_path_factory):
    """A scheduler and two workers, which their nannies start again if they are killed."""
    folder = tmp_path_factory.mktemp("dask")
    port = free_port()
    address = f"tcp://127.0.0.1:{port}"
    given = ("scheduler", "--host", "127.0.0.1", "--port", str(port), "--no-dashboard")
    with (
        started(*given, log=folder / "scheduler.log"),
        worker(address, folder),
        worker(address, folder),
    ):
        connect(address).close()
        yield address


def connect(address: str):
    """Open a cluster whose scheduler has just been started."""
    until = time.monotonic() + 60
    while True:
        try:
            return fs.Cluster(address)
        except fs.ClusterError:
            assert time.monotonic() < until
            time.sleep(0.1)


@pytest.fixture
def cluster(scheduler):
    """The cluster, opened; all workers are there again, and have no files of earlier tests."""
    with fs.Cluster(scheduler) as opened:
        until = time.monotonic() + 30
        while len(opened._link.workers) < WORKERS:
            assert time.monotonic() < until
            time.sleep(0.1)
            opened._link.refresh()
        yield opened


@pytest.fixture
def quick(config):
    """Points of a few milliseconds each."""
    config["run"] = {"requests": 400}
    config["precondition"] = {"fill": "sequential"}
    return config


@pytest.fixture
def shared(config, monkeypatch):
    """Drives that are aged within milliseconds, and shared nevertheless."""
    monkeypatch.setattr(sharing, "_TRIVIAL", 0.0)
    config["run"] = {"requests": 20_000}
    return config


class Listener(SilentSweep):
    """Notes what is prepared and ended; ``then`` is called at the first of the kind ``at``."""

    def __init__(self, at=None, then=None):
        self.made: list[tuple[int, str | None]] = []
        self.ends: list[str] = []
        self._at, self._then = at, then

    def _note(self, kind):
        if kind == self._at and self._then is not None:
            then, self._then = self._then, None
            then()

    def prepared(self, prepared):
        self.made.append((len(prepared.group.points), prepared.lost))
        self._note("prepared")

    def ended(self, ended):
        self.ends.append(ended.point.name)
        self._note("ended")


def stored(out: Path) -> dict[str, object]:
    """Return every file of all points by its name; CPU time is no part of equality."""
    files: dict[str, object] = {}
    for file in sorted((out / "points").rglob("*")):
        name = str(file.relative_to(out))
        if file.name == "summary.json":
            summary = json.loads(file.read_bytes())
            del summary["host_cpu_seconds"]
            # Equal values in another order would be other bytes.
            files[name] = json.dumps(summary)
        elif file.is_file() and not file.name.startswith("."):
            files[name] = file.read_bytes()
    return files


def arrivals(cluster) -> Counter[str]:
    """Return how often each blob has come to each worker."""
    found = cluster._link.client.run(host.arrived)
    return Counter((address, blob) for address, blobs in found.items() for blob in blobs)


def kill(cluster, address: str) -> None:
    pids = cluster._link.client.run(os.getpid, workers=[address])
    os.kill(pids[address], signal.SIGKILL)


# Equality.


def test_the_same_bytes_as_the_local_pool(shared, cluster, tmp_path):
    grid = {VICTIM: ["greedy", "random"], DEPTH: [16, 2]}
    given = {"grid": grid, "seeds": 2, "tables": True}
    here = fs.sweep(shared, **given, out=tmp_path / "here", jobs=2)
    heard = Listener()
    there = fs.sweep(shared, **given, out=tmp_path / "there", cluster=cluster, progress=heard)
    assert there.counts == {"done": 8, "failed": 0, "invalid": 0, "open": 0}
    assert same(there.frame).equals(same(here.frame))
    files = stored(tmp_path / "here")
    # A summary and seven tables of each point.
    assert len(files) == 8 * 8
    assert stored(tmp_path / "there") == files
    assert heard.made == [(2, None)] * 4
    assert not (tmp_path / "there" / "drives").exists()
    # Either goes on from what the other has stored.
    before = kept(tmp_path / "there")
    fs.sweep(shared, **given, out=tmp_path / "there", jobs=2)
    assert kept(tmp_path / "there") == before
    heard = Listener()
    fs.sweep(shared, **given, out=tmp_path / "here", cluster=cluster, progress=heard)
    assert heard.ends == []


def test_files_travel_and_keep_their_names(quick, cluster, tmp_path, monkeypatch):
    """A trace, a snapshot and a policy in Python, all of them relative to the base."""
    folder = tmp_path / "base"
    folder.mkdir()
    (folder / "a.csv").write_text(rows_of(50), encoding="utf-8")
    (folder / "mine.py").write_text(CHOOSE.format("min"), encoding="utf-8")
    fs.Snapshot.take(quick).save(folder / "aged.snap")
    quick["workload"] = [{"name": "host", "trace": {"file": "a.csv"}}]
    quick["precondition"] = {"snapshot": "aged.snap"}
    quick["drive"]["ftl"]["gc"] = {
        "victim": {"policy": "python", "file": "mine.py", "function": "choose"}
    }
    quick["run"] = {}
    (folder / "base.json").write_text(json.dumps(quick), encoding="utf-8")
    sweep = tmp_path / "sweep.toml"
    sweep.write_text('base = "base/base.json"\n[grid]\nrecord.slowest = [1, 2, 3]\n', "utf-8")
    monkeypatch.chdir(tmp_path)
    here = fs.sweep_file("sweep.toml", out="here", jobs=1)
    there = fs.sweep_file("sweep.toml", out="there", cluster=cluster)
    assert there.counts["done"] == 3, there.failures
    assert same(there.frame).equals(same(here.frame))
    assert stored(tmp_path / "there") == stored(tmp_path / "here")
    summary = there.result(1).summary
    assert summary["traces"][0]["file"] == str(Path("base") / "a.csv")


def test_a_failure_is_the_same(config, cluster, tmp_path):
    config["run"] = {"requests": 20_000}
    variations = {"sound": {"seed": 1}, "failing": FAILING}
    here = fs.sweep(config, variations=variations, out=tmp_path / "here", jobs=2)
    there = fs.sweep(config, variations=variations, out=tmp_path / "there", cluster=cluster)
    assert here.counts["failed"] == 1
    assert there.failures == here.failures
    assert stored(tmp_path / "there") == stored(tmp_path / "here")
    assert any(name.endswith("failed.json") for name in stored(tmp_path / "there"))


def test_results_until_a_failure_come_back(config, cluster, tmp_path):
    """A request that starves ends the run; what was measured until then is kept beside it."""
    config["run"] = {"requests": 3000, "starvation": {"limit": "100 us", "then": "stop"}}
    here = fs.sweep(config, seeds=1, out=tmp_path / "here", tables=True)
    there = fs.sweep(config, seeds=1, out=tmp_path / "there", tables=True, cluster=cluster)
    assert here.counts["failed"] == 1
    assert there.failures == here.failures
    files = stored(tmp_path / "there")
    assert files == stored(tmp_path / "here")
    assert any("partial" in name and name.endswith("summary.json") for name in files)


def test_an_input_that_has_changed_is_not_taken_for_the_old_one(quick, cluster, tmp_path):
    trace = tmp_path / "a.csv"
    trace.write_text(rows_of(50), encoding="utf-8")
    quick["workload"] = [{"name": "host", "trace": {"file": str(trace)}}]
    quick["run"] = {}

    class Meddler(SilentSweep):
        def begins(self, begin):
            trace.write_text(rows_of(60), encoding="utf-8")

    out = tmp_path / "out"
    swept = fs.sweep(quick, seeds=2, out=out, progress=Meddler(), cluster=cluster)
    told = f"an input has changed since the sweep began ({trace}); start it again"
    assert [error for _, error in swept.failures] == [told] * 2
    assert kept(out) == {}
    trace.unlink()
    with pytest.raises(fs.FlashscapeError):
        fs.sweep(quick, seeds=2, out=out, cluster=cluster)


def test_other_commands_use_the_same_executor(cluster, tmp_path):
    tiny = ROOT / "tests" / "studies" / "tiny"
    here = fs.reproduce(tiny, out=tmp_path / "here", jobs=2)
    there = fs.reproduce(tiny, out=tmp_path / "there", cluster=cluster)
    assert there.to_json() == here.to_json()
    assert stored(tmp_path / "there" / "runs") == stored(tmp_path / "here" / "runs")


def test_a_search_has_the_same_result(small, cluster):
    given = {"time": "250 ms", "warm_up": "125 ms", "overwrites": 0.1, "most": 4, "threads": 8}
    here = fs.act.search(small["drive"], **given, jobs=2)
    there = fs.act.search(small["drive"], **given, cluster=cluster)
    assert there.to_json() == here.to_json()


def test_a_life_has_the_same_result(cluster):
    life = fs.Experiment.from_file(ROOT / "examples" / "lifetime.toml")
    life = life.replace({"run.requests": 2000} if "requests" in life.config["run"] else {})
    given = {"cycles": [1000, 3000], "endurance": 3000}
    here = fs.lifetime(life, **given, jobs=2)
    assert fs.lifetime(life, **given, cluster=cluster).to_json() == here.to_json()


# Once to each worker.


def test_a_trace_comes_once_to_each_worker(quick, cluster, tmp_path):
    trace = tmp_path / "a.csv"
    # Larger than a piece of the client's.
    trace.write_text(rows_of(300_000), encoding="utf-8")
    assert trace.stat().st_size > host.PIECE_BYTES
    content = hashlib.sha256(trace.read_bytes()).hexdigest()
    quick["workload"] = [{"name": "host", "trace": {"file": str(trace), "out_of_range": "wrap"}}]
    quick["run"] = {"requests": 20_000}
    for seeds in ([1, 2, 3, 4], [5, 6, 7, 8]):
        swept = fs.sweep(quick, seeds=seeds, cluster=cluster)
        assert swept.counts["done"] == 4, swept.failures
    came = {key: n for key, n in arrivals(cluster).items() if key[1] == content}
    assert list(came.values()) == [1] * WORKERS


def test_a_shared_drive_is_made_once_and_comes_once(shared, cluster, tmp_path):
    heard, before = Listener(), arrivals(cluster)
    depths = list(range(1, 9))
    swept = fs.sweep(shared, grid={DEPTH: depths}, cluster=cluster, progress=heard)
    assert swept.counts["done"] == 8
    assert heard.made == [(8, None)]
    # One worker has made it, and the other one has got it from there.
    came = arrivals(cluster) - before
    assert [n for (_, blob), n in came.items() if blob.endswith(".snap")] == [1]
    # Nothing of it stays.
    blobs = cluster._link.client.run(host.greet)
    assert not any(name.endswith(".snap") for each in blobs.values() for name in each["has"])


# Accidents.


def test_a_killed_worker_costs_what_it_was_doing(config, cluster, tmp_path):
    config["run"] = {"requests": 100_000}
    here = fs.sweep(config, seeds=8, out=tmp_path / "here", share=False)
    victim = cluster._link.workers[0].address
    heard = Listener("ended", lambda: kill(cluster, victim))
    there = fs.sweep(
        config, seeds=8, out=tmp_path / "there", share=False, cluster=cluster, progress=heard
    )
    assert there.counts["done"] == 8, there.failures
    assert len(heard.ends) == 8, "no point ends twice"
    assert same(there.frame).equals(same(here.frame))
    assert stored(tmp_path / "there") == stored(tmp_path / "here")


def test_a_drive_that_dies_with_its_worker_is_made_again(shared, cluster, tmp_path):
    here = fs.sweep(shared, grid={DEPTH: [1, 2, 4]}, out=tmp_path / "here")

    def kill_the_owner():
        [owner] = {
            each.address
            for each in cluster._link.workers
            if any(blob.endswith(".snap") for blob in each.blobs)
        }
        kill(cluster, owner)

    heard = Listener("prepared", kill_the_owner)
    there = fs.sweep(
        shared, grid={DEPTH: [1, 2, 4]}, out=tmp_path / "there", cluster=cluster, progress=heard
    )
    assert there.counts["done"] == 3, there.failures
    assert same(there.frame).equals(same(here.frame))
    assert stored(tmp_path / "there") == stored(tmp_path / "here")


def test_a_point_that_kills_its_workers_fails_in_the_end(config, cluster, tmp_path):
    config["run"] = {"requests": 100_000_000, "audit": False}

    class Killer(SilentSweep):
        def __init__(self):
            self.killed = set()

        def tick(self, shares):
            for each in list(cluster._link.workers):
                if each.running and (each.address, each.place) not in self.killed:
                    self.killed.add((each.address, each.place))
                    kill(cluster, each.address)

    out = tmp_path / "out"
    swept = fs.sweep(config, seeds=1, out=out, cluster=cluster, progress=Killer())
    [(_, why)] = swept.failures
    assert why.startswith("3 workers were lost with it (at last: worker tcp://127.0.0.1:")
    assert why.endswith("perhaps memory ran out")
    # A killed worker is no property of the point.
    assert kept(out) == {}


def test_ctrl_c_keeps_what_has_ended(scheduler, experiment_file, tmp_path):
    text = 'base = "experiment.toml"\nseeds = 40\n[set]\nrun = { requests = 30_000 }\n'
    (tmp_path / "sweep.toml").write_text(text, encoding="utf-8")
    command = [sys.executable, "-m", "flashscape", "sweep", "sweep.toml", "--out", "out"]
    process = subprocess.Popen(
        [*command, "--cluster", scheduler],
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    out = tmp_path / "out"
    until = time.monotonic() + 60
    while len(list(out.glob("points/*/summary.json"))) < 3:
        assert process.poll() is None, process.communicate()
        assert time.monotonic() < until
        time.sleep(0.01)
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=60)
    assert process.returncode == 130, err
    assert "Traceback" not in err
    counts = fs.Sweep.load(out).counts
    assert counts["done"] >= 3
    assert counts["done"] + counts["open"] == 40
    assert f"error: interrupted with {counts['done']} of 40 points ended" in err.splitlines()[-1]
    before = kept(out)
    assert fs.sweep_file(tmp_path / "sweep.toml", out=out, cluster=scheduler).counts["done"] == 40
    assert before.items() <= kept(out).items()


def test_a_connection_that_is_lost_while_the_scheduler_is_asked_is_looked_at_again():
    from flashscape.cluster.link import Link

    class Client:
        status = "running"

        def scheduler_info(self, n_workers):
            self.status = "connecting"
            return {}

    link = Link(Client(), "tcp://here:1", 60)
    assert link.refresh() == []
    link._asked = float("-inf")
    assert link.refresh() == []
    link.client.status = "closed"
    link._asked = float("-inf")
    with pytest.raises(fs.ClusterError, match="the scheduler does not answer any more"):
        link.refresh()


@NO_PROC
def test_a_client_that_is_killed_leaves_nothing_running(
    cluster, scheduler, experiment_file, tmp_path
):
    text = 'base = "experiment.toml"\nseeds = 4\n[set]\nrun = { requests = 100_000_000 }\n'
    (tmp_path / "sweep.toml").write_text(text, encoding="utf-8")
    command = [sys.executable, "-m", "flashscape", "sweep", "sweep.toml", "--out", "out"]
    process = subprocess.Popen(
        [*command, "--quiet", "--cluster", scheduler], cwd=tmp_path, stderr=subprocess.PIPE
    )
    wait_for(lambda: running(cluster) == WORKERS, process)
    process.kill()
    process.communicate()
    wait_for(lambda: running(cluster) == 0)


def wait_for(condition, process=None) -> None:
    until = time.monotonic() + 30
    while not condition():
        assert process is None or process.poll() is None, process.communicate()
        assert time.monotonic() < until
        time.sleep(0.05)


def test_a_scheduler_that_goes_away(config, monkeypatch, tmp_path):
    monkeypatch.setattr(link, "_RECONNECT_SECONDS", 0.5)
    config["run"] = {"requests": 100_000}
    port = free_port()
    address = f"tcp://127.0.0.1:{port}"
    given = ("scheduler", "--host", "127.0.0.1", "--port", str(port), "--no-dashboard")
    out = tmp_path / "out"
    with started(*given, log=tmp_path / "log") as process, worker(address, tmp_path, "--no-nanny"):
        opened = connect(address)
        heard = Listener("ended", process.kill)
        with pytest.raises(fs.ClusterError) as caught:
            fs.sweep(config, seeds=20, out=out, share=False, cluster=opened, progress=heard)
        assert str(caught.value) == (
            f"{address}: the scheduler does not answer any more; what has ended is kept, and the "
            "same command goes on"
        )
        assert 1 <= len(kept(out)) < 20
        opened.close()


@NO_PROC
def test_what_is_cancelled_ends_on_its_worker(config, cluster):
    config["run"] = {"requests": 100_000_000, "audit": False}

    class Interrupter(SilentSweep):
        def tick(self, shares):
            # Workers tell how far they are.
            if len(shares) == 2 and min(shares.values()) > 0 and running(cluster) == 2:
                raise KeyboardInterrupt

    with pytest.raises(fs.SweepInterrupted):
        fs.sweep(config, seeds=2, cluster=cluster, progress=Interrupter())
    until = time.monotonic() + 10
    while running(cluster):
        assert time.monotonic() < until, "simulations go on after Ctrl-C"
        time.sleep(0.05)


def running(cluster) -> int:
    """Return the number of processes that simulate for the workers."""
    pids = cluster._link.client.run(os.getpid)
    return sum(len(workers(pid)) for pid in pids.values())


def test_a_limit_of_tasks(config, cluster):
    config["run"] = {"requests": 800_000, "audit": False}
    most = 0

    class Counting(SilentSweep):
        def tick(self, shares):
            nonlocal most
            most = max(most, len(shares))

    assert cluster.executor(1).slots == 1
    fs.sweep(config, seeds=3, share=False, jobs=1, cluster=cluster, progress=Counting())
    assert most == 1


# Refusals.


def test_nothing_answers(quick, flashscape, experiment_file, monkeypatch, tmp_path):
    (tmp_path / "sweep.toml").write_text('base = "experiment.toml"\nseeds = 2\n', "utf-8")
    address = f"tcp://127.0.0.1:{free_port()}"
    began = time.monotonic()
    ended = flashscape("sweep", "sweep.toml", "--out", "out", "--cluster", address)
    assert time.monotonic() - began < 20
    refused(ended, 1, f"no Dask scheduler answers at {address}", "is `dask scheduler` running")
    assert not (tmp_path / "out").exists()
    # Something else listens there, and says nothing.
    monkeypatch.setattr(opening, "_ANSWER_SECONDS", 1.0)
    with socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))
        silent.listen()
        address = f"tcp://127.0.0.1:{silent.getsockname()[1]}"
        with pytest.raises(fs.ClusterError, match="no answer"):
            fs.sweep(quick, seeds=2, cluster=address)


@pytest.mark.parametrize("where", ["tcp://127.0.0.1", "127.0.0.1:8786", "http://a:1", "no.toml"])
def test_what_is_no_address(where, quick):
    with pytest.raises(fs.ConfigError, match="is neither the address of a Dask scheduler"):
        fs.sweep(quick, seeds=2, cluster=where)


def test_without_workers(quick, monkeypatch, tmp_path):
    monkeypatch.setattr(opening, "_WORKER_SECONDS", 0.5)
    port = free_port()
    given = ("scheduler", "--host", "127.0.0.1", "--port", str(port), "--no-dashboard")
    with started(*given, log=tmp_path / "log"):
        until = time.monotonic() + 30
        while True:
            with pytest.raises(fs.ClusterError) as caught:
                fs.sweep(quick, seeds=2, cluster=f"tcp://127.0.0.1:{port}")
            if "no Dask scheduler answers" not in str(caught.value):
                break
            assert time.monotonic() < until
    assert "the scheduler has no workers; start some: dask worker tcp://" in str(caught.value)


def test_a_worker_of_another_version(quick, scheduler, cluster, tmp_path):
    """A worker whose package differs in a single line."""
    package = Path(fs.__file__).parent
    other = tmp_path / "other" / "flashscape"
    shutil.copytree(package, other, ignore=shutil.ignore_patterns("__pycache__"))
    (other / "version.py").write_text('"""Another."""\n\n__version__ = "0.0.9"\n', "utf-8")
    ours = identity.described(identity.of_this_process())
    with worker(scheduler, tmp_path, "--no-nanny", PYTHONPATH=str(other.parent)):
        until = time.monotonic() + 30
        while True:
            try:
                fs.sweep(quick, seeds=2, cluster=scheduler)
            except fs.ClusterError as error:
                told = str(error)
                break
            assert time.monotonic() < until, "the other worker has not come"
        # A cluster that was opened before goes on with the workers that fit.
        swept = fs.sweep(quick, seeds=8, cluster=cluster)
        assert swept.counts["done"] == 8
        assert cluster.executor().slots == WORKERS
    assert "has flashscape 0.0.9 (build " in told
    assert f"and this is {ours}" in told
    assert "install the same on both" in told


def test_without_dask(quick, monkeypatch):
    monkeypatch.setattr(opening, "find_spec", lambda _name: None)
    with pytest.raises(fs.ClusterError, match=r'run: pip install "flashscape\[cluster\]"'):
        fs.sweep(quick, seeds=2, cluster="tcp://127.0.0.1:8786")


def test_options_that_mean_nothing(flashscape, experiment_file, tmp_path):
    (tmp_path / "sweep.toml").write_text('base = "experiment.toml"\nseeds = 2\n', "utf-8")
    somewhere = ("--cluster", "tcp://127.0.0.1:8786")
    for command, message in {
        ("sweep", "sweep.toml", "--dry-run"): "--dry-run runs nothing",
        ("sweep", "--show", "out"): "--show prints saved results",
        ("act", "dc-tlc", "-k", "3"): "--cluster controls the search",
    }.items():
        ended = flashscape(*command, *somewhere)
        assert (ended.status, ended.out) == (2, "")
        assert message in ended.err


# Files for batch systems.

JOBS = """
kind = "slurm"
workers = 4
cores = 8
memory = "16 GB"
walltime = "02:00:00"
queue = "batch"
account = "ssd"
folder = "/scratch"
prologue = ["source venv/bin/activate"]
directives = ["--exclusive"]
"""


def jobs_file(tmp_path: Path, text: str) -> Path:
    file = tmp_path / "jobs.toml"
    file.write_text(text, encoding="utf-8")
    return file


@pytest.mark.skipif(find_spec("dask_jobqueue") is None, reason="needs dask-jobqueue")
def test_every_key_is_in_the_job(tmp_path):
    scripts = {}
    for kind in batch.KINDS:
        jobs = batch.read(jobs_file(tmp_path, JOBS.replace("slurm", kind)))
        job = batch.class_of(jobs).job_cls("tcp://10.0.0.1:1", "0", **jobs.options())
        scripts[kind] = job.job_script()
        for part in ("source venv/bin/activate", "--exclusive", "batch", "ssd", "/scratch"):
            assert part in scripts[kind], (kind, part)
        assert "--nthreads 8" in scripts[kind]
    assert "#SBATCH -p batch" in scripts["slurm"]
    assert "#SBATCH -A ssd" in scripts["slurm"]
    assert "#SBATCH -t 02:00:00" in scripts["slurm"]
    assert "#SBATCH --cpus-per-task=8" in scripts["slurm"]


@pytest.mark.skipif(find_spec("dask_jobqueue") is None, reason="needs dask-jobqueue")
def test_ctrl_c_stays_what_it_was(tmp_path):
    """dask-jobqueue takes SIGINT over when it is imported."""
    before = signal.getsignal(signal.SIGINT)
    batch.class_of(batch.read(jobs_file(tmp_path, JOBS)))
    assert signal.getsignal(signal.SIGINT) is before


def test_the_document_has_every_key_of_a_file(tmp_path):
    text = (ROOT / "docs" / "cluster.md").read_text(encoding="utf-8")
    example = text.split("```toml\n")[1].split("```")[0]
    assert batch.read(jobs_file(tmp_path, example)).workers == 16
    for key in batch.KEYS:
        assert f"`{key}`" in text, key
    for kind in batch.KINDS:
        assert f"`{kind}`" in text, kind


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (("queue", "qeueu"), 'qeueu: unknown key (did you mean "queue"? valid: '),
        (
            ('"slurm"', '"slrum"'),
            "kind: no batch system 'slrum' (did you mean \"slurm\"? there are slurm",
        ),
        (("cores = 8", "cores = 0"), "cores: 0 is not a whole number from 1"),
        (('"16 GB"', '"16"'), "memory: '16' is no size; write \"16 GB\""),
        (('"02:00:00"', '"2 h"'), "walltime: '2 h' is no time of the batch system"),
        (("workers = 4", ""), "workers: is missing"),
        (('["--exclusive"]', '"--exclusive"'), "directives: '--exclusive' is no list of texts"),
        (('"batch"', '""'), "queue: '' is not a text"),
    ],
)
def test_faults_of_a_file_for_a_batch_system(change, message, tmp_path):
    with pytest.raises(fs.ConfigError) as caught:
        batch.read(jobs_file(tmp_path, JOBS.replace(*change)))
    assert message in str(caught.value)
    assert "1 problem" in str(caught.value)


@pytest.mark.skipif(find_spec("dask_jobqueue") is None, reason="needs dask-jobqueue")
def test_a_batch_system_that_is_not_there(quick, monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", "")
    with pytest.raises(fs.ClusterError, match="slurm: there is no command sbatch here"):
        fs.sweep(quick, seeds=2, cluster=jobs_file(tmp_path, JOBS))
