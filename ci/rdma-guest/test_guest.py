"""ucx-bench over InfiniBand verbs, on soft-RoCE inside an emulated guest that boots once."""

import json
import os
import pathlib
import subprocess

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
        [HERE / "run", "--limit", str(LIMIT_S), "--job", folder, HERE / "cases", PROGRAM],
        capture_output=True, text=True, timeout=LIMIT_S + 90, stdin=subprocess.DEVNULL,
    )
    if booted.returncode == 3:
        pytest.skip(booted.stderr.splitlines()[-1])
    assert booted.returncode == 0, booted.stdout + booted.stderr
    return lambda name: Case(folder, name)


def least_packets(run):
    """There and back in the latency loop, and one way in the bandwidth loop; the rest is extra."""
    return sum(case["parameters"]["bytes"] * 3 * ITERATIONS for case in run["cases"]) // MTU


def test_the_device_is_listed(guest):
    lines = dict(line.split(maxsplit=1) for line in guest("list").out.splitlines())
    assert lines["ib"].startswith("available"), lines


@pytest.mark.parametrize("name", ["ib", "tcp-ib"])
def test_what_asked_for_ib_went_over_it(guest, name):
    done = guest(name)
    assert done.status == 0, done
    run = done.run
    assert run["run"]["state"] == "complete"
    assert [(c["parameters"]["api"], c["parameters"]["bytes"]) for c in run["cases"]] == [
        (api, size) for api in ("tag", "stream") for size in (8, 4 << 10, 1 << 20)
    ]
    for case in run["cases"]:
        assert_sound(case)
        assert "rc_verbs/rxe0:1" in case["path"]["lanes"], case["path"]
    assert done.packets >= least_packets(run)
    print(f"{name}: emulated CPU: not a performance figure\n{done.out}")


@pytest.mark.parametrize("name", ["ib-auto", "tcp-ib-auto"])
def test_the_device_is_found_without_being_named(guest, name):
    done = guest(name)
    assert done.status == 0, done
    for case in done.run["cases"]:
        assert_sound(case)
        assert "rc_verbs/rxe0:1" in case["path"]["lanes"], case["path"]


def test_tcp_leaves_the_device_alone(guest):
    """What makes the count of packets a proof."""
    done = guest("tcp")
    assert done.status == 0, done
    assert all(case["path"]["lanes"] == ["tcp/lo"] for case in done.run["cases"])
    assert done.packets == 0


# Place for --require: the case that is met has status 0, the other 1 and says what carried it.


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
