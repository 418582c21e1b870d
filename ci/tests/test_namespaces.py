"""Ranks in network namespaces of their own meet: the control connection needs no network."""

import os
import subprocess

import pytest
from conftest import assert_sound, only, wait_until
from namespaces import IP, ip, made


@pytest.fixture
def namespaces():
    """Two, joined by a pair of virtual Ethernet devices; the name of each but for its number."""
    name = f"ucxbench{os.getpid()}_"
    with made(lambda: make(name), lambda: remove(name)):
        yield name


def make(name):
    devices = [f"ub{os.getpid()}v{rank}" for rank in range(2)]
    for rank in range(2):
        ip("netns", "add", f"{name}{rank}")
    ip("link", "add", devices[0], "type", "veth", "peer", "name", devices[1])
    for rank, device in enumerate(devices):
        ip("link", "set", device, "netns", f"{name}{rank}", "name", "veth")
        ip("-n", f"{name}{rank}", "address", "add", f"10.203.7.{rank + 1}/24", "dev", "veth")
        ip("-n", f"{name}{rank}", "link", "set", "veth", "up")
    # The kernel finds the carrier some time after that.
    for rank in range(2):
        wait_until(lambda of=f"{name}{rank}": "state UP" in ip("-n", of, "link", "show", "veth"))


def remove(name):
    for rank in range(2):
        subprocess.run([IP, "netns", "delete", f"{name}{rank}"], capture_output=True, timeout=20)


@pytest.mark.parametrize("connect_by", ["address", "sockaddr"])
def test_over_veth(pingpong, namespaces, connect_by):
    done = pingpong(
        "--wrap", f"ip netns exec {namespaces}{{rank}}", "--net-devices", "veth",
        "--connect-by", connect_by, "--transports", "tcp", "--sizes", "8,300000",
    )
    for case in done.file["cases"]:
        assert_sound(case)
        assert case["path"]["lanes"] == ["tcp/veth"]
    assert {rank["net_devices"] for rank in done.file["ranks"]} == {"veth"}


def test_a_link_that_goes_down_between_launches(pingpong, namespaces, tmp_path):
    """What ran before stays, and what then fails is not taken for a set that never ran."""
    wrapper = tmp_path / "wrapper"
    wrapper.write_text(
        f"#!/bin/sh\nspace={namespaces}$1\necho >>$space\nshift\n"
        "[ $(wc -l <$space) = 1 ] || ip -n $space link set veth down\n"
        'exec ip netns exec $space "$@"\n'
    )
    wrapper.chmod(0o700)
    done = pingpong(
        "--wrap", f"'{wrapper}' {{rank}}", "--net-devices", "veth", "--transports", "tcp", "--sizes", "8",
        "--launches", 3, code=5,
    )
    run = done.file
    assert run["run"]["state"] == "failed"
    assert "tcp no longer runs between ranks 0 and 1, after 1 launch of it: rank " in run["run"]["reason"]
    assert "network device veth is down" in only(done.complaints)
    case = only(run["cases"])
    assert_sound(case)
    assert [launch["launch"] for launch in case["launches"]] == [0]
    assert "cannot run here" not in done.err


@pytest.mark.parametrize("command", [["pingpong"], ["p2p"]])
def test_a_connection_that_cannot_be_made(bench, namespaces, command):
    """Each has its own loopback, which is up."""
    for rank in range(2):
        ip("-n", f"{namespaces}{rank}", "link", "set", "lo", "up")
    done = bench(
        *command, "--wrap", f"ip netns exec {namespaces}{{rank}}", "--transports", "tcp", "--sizes", "8",
        "--launches", 1, "--iterations", 80, "--bind", "none", "--json", "run.json",
    )
    assert done.code == 5, done
    complaint = only(done.complaints)
    assert "no connection from rank " in complaint and "--net-devices" in complaint
    assert done.file["run"]["state"] == "failed"
    assert {case["state"] for case in done.file["cases"]} == {"failed"}
