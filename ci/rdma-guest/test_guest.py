"""ucx-bench over InfiniBand verbs, on soft-RoCE inside an emulated guest that boots once."""

import contextlib
import json
import os
import pathlib
import signal
import subprocess
import time

import pytest
from conftest import PROGRAM, SCHEMA, assert_sound

HERE = pathlib.Path(__file__).resolve().parent
LIMIT_S = 300
ITERATIONS = 50
# Bytes in a packet at most: the RoCE MTU that fits into an Ethernet frame of 1500.
MTU = 1024


class Case:
    """What one command of `cases` left."""

    def __init__(self, folder, name):
        self.out = (folder / f"{name}.out").read_text()
        self.err = (folder / f"{name}.err").read_text()
        ended = json.loads((folder / f"{name}.json").read_text())
        self.status, self.packets = ended["status"], ended["packets"]
        self.file = folder / f"{name}-run.json"

    @property
    def run(self):
        run = json.loads(self.file.read_text())
        errors = [f"{error.json_path}: {error.message}" for error in SCHEMA.iter_errors(run)]
        assert not errors, errors
        return run

    def __repr__(self):
        return f"exit {self.status}, {self.packets} packets\n{self.out}\n{self.err}"


@pytest.fixture(scope="session")
def guest(tmp_path_factory):
    """guest(NAME): a case of the one boot."""
    listed = subprocess.run([PROGRAM, "list", "transports"], capture_output=True, text=True, timeout=60)
    if "without InfiniBand" in listed.stdout:
        pytest.skip(next(line for line in listed.stdout.splitlines() if "without InfiniBand" in line))
    folder = tmp_path_factory.mktemp("guest")
    booted = subprocess.run(
        ["setpriv", "--pdeathsig", "TERM", HERE / "run", "--limit", str(LIMIT_S), "--job", folder,
         HERE / "cases", PROGRAM],
        capture_output=True, text=True, timeout=LIMIT_S + 90, stdin=subprocess.DEVNULL,
    )
    if booted.returncode == 3:
        pytest.skip(booted.stderr.splitlines()[-1])
    assert booted.returncode == 0, booted.stdout + booted.stderr
    return lambda name: Case(folder, name)


def of_folder(folder):
    """Living processes that name this folder."""
    found = []
    for process in pathlib.Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            if str(folder).encode() in (process / "cmdline").read_bytes():
                found.append(process.name)
    return found


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
def test_nothing_outlives_it(guest, tmp_path, number):
    running = subprocess.Popen(
        [HERE / "run", "--limit", "60", "--job", tmp_path, "sh", "-c", "touch up; sleep 60"],
        stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        env=os.environ | {"TMPDIR": str(tmp_path)},
    )
    try:
        wait_for(lambda: (tmp_path / "up").exists() or running.poll() is not None, 60)
        assert len(of_folder(tmp_path)) >= 4  # this script, QEMU, and two that pass on its output
        running.send_signal(number)
        assert running.wait(timeout=20) != 0
        wait_for(lambda: not of_folder(tmp_path), 10)
    finally:
        running.kill()
        running.wait(timeout=20)
    if number != signal.SIGKILL:
        assert [left.name for left in tmp_path.iterdir()] == ["up"]


def wait_for(condition, limit_s):
    deadline = time.monotonic() + limit_s
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.1)


def test_status_output_and_limit(guest, tmp_path):
    def run(*arguments):
        return subprocess.run(
            [HERE / "run", "--job", tmp_path, *arguments],
            stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=120,
        )

    done = run("sh", "-c", "pwd; echo \"$1\" >&2; touch /usr/x && exit 7", "sh", "two  words")
    assert (done.returncode, done.stdout, done.stderr) == (7, f"{tmp_path}\n", "two  words\n")
    assert not pathlib.Path("/usr/x").exists()
    late = run("--limit", "1", "sleep", "60")
    assert late.returncode == 124
    assert late.stderr.endswith("still running after 1 s\n")
    assert run("--limit").returncode == 2


def least_packets(run):
    """There and back in the latency loop, and one way in the bandwidth loop; the rest is extra."""
    return sum(case["parameters"]["bytes"] * 3 * ITERATIONS for case in run["cases"]) // MTU


def assert_carried_by_ib(case):
    path = case["path"]
    assert "rc_verbs/rxe0:1" in path["lanes"], path
    assert path["verdict"] == "as-asked" and path["carried_by"] == {"ib": 1.0}, path
    assert path["bytes_by_counter"]["ib/rxe0:1"] >= path["payload_bytes"] > 0, path
    assert "soft-roce" in case["labels"]


def test_the_device_is_listed(guest):
    lines = dict(line.split(maxsplit=1) for line in guest("list").out.splitlines())
    assert lines["ib"].startswith("available"), lines


@pytest.mark.parametrize("name, sizes", [("ib", (8, 4 << 10, 1 << 20)), ("tcp-ib", (8, 1 << 20))])
def test_what_asked_for_ib_went_over_it(guest, name, sizes):
    done = guest(name)
    assert done.status == 0, done
    run = done.run
    assert run["run"]["state"] == "complete"
    assert [(c["parameters"]["api"], c["parameters"]["bytes"]) for c in run["cases"]] == [
        (api, size) for api in ("tag", "stream") for size in sizes
    ]
    for case in run["cases"]:
        assert_sound(case)
        assert_carried_by_ib(case)
    assert done.packets >= least_packets(run)
    print(f"{name}: emulated CPU: not a performance figure\n{done.out}")


@pytest.mark.parametrize("name", ["ib-auto", "tcp-ib-auto"])
def test_the_device_is_found_without_being_named(guest, name):
    done = guest(name)
    assert done.status == 0, done
    for case in done.run["cases"]:
        assert_sound(case)
        assert_carried_by_ib(case)


def test_tcp_leaves_the_device_alone(guest):
    """What makes the count of packets a proof."""
    done = guest("tcp")
    assert done.status == 0, done
    assert all(case["path"]["lanes"] == ["tcp/lo"] for case in done.run["cases"])
    assert done.packets == 0


def test_require_is_met(guest):
    done = guest("require-met")
    assert done.status == 0, done
    assert "--require" not in done.err


@pytest.mark.parametrize(
    "name, required, carrier",
    [("require-ib-beside-shm", "ib", "shm"), ("require-tcp-beside-ib", "tcp", "ib")],
)
def test_require_is_not_met(guest, name, required, carrier):
    done = guest(name)
    assert done.status == 1, done
    said = [line for line in done.err.splitlines() if f"--require {required}" in line]
    assert len(said) == 2, done
    for case in done.run["cases"]:
        assert_sound(case)
        assert case["path"]["carried_by"] == {carrier: 1.0}, case["path"]


def test_too_little_memory_may_be_locked(guest):
    done = guest("memlock")
    assert done.status == 3, done
    assert "ulimit -l" in done.err, done


def test_no_device(guest):
    lines = dict(line.split(maxsplit=1) for line in guest("absent-list").out.splitlines())
    assert lines["ib"].startswith("not available") and "no RDMA device" in lines["ib"]
    done = guest("absent")
    assert done.status == 3, done
    assert "cannot run here: " in done.err and "no RDMA device" in done.err
    assert all(case["state"] == "skipped" for case in done.run["cases"])
