"""Ranks in network namespaces of their own meet: the control connection needs no network."""

import os
import shutil
import subprocess

import pytest
from conftest import assert_sound


def ip(*arguments):
    subprocess.run(["ip", *arguments], check=True, capture_output=True, text=True, timeout=20)


@pytest.fixture
def namespaces():
    """Two, joined by a pair of virtual Ethernet devices; the name of each but for its number."""
    if os.geteuid() != 0 or not shutil.which("ip"):
        pytest.skip("network namespaces need root and the command ip (iproute2)")
    name = f"ucxbench{os.getpid()}_"
    devices = [f"ub{os.getpid()}v{rank}" for rank in range(2)]
    try:
        for rank in range(2):
            ip("netns", "add", f"{name}{rank}")
        ip("link", "add", devices[0], "type", "veth", "peer", "name", devices[1])
        for rank, device in enumerate(devices):
            ip("link", "set", device, "netns", f"{name}{rank}", "name", "veth")
            ip("-n", f"{name}{rank}", "address", "add", f"10.203.7.{rank + 1}/24", "dev", "veth")
            ip("-n", f"{name}{rank}", "link", "set", "veth", "up")
    except subprocess.CalledProcessError as error:
        remove(name)
        pytest.skip(f"no network namespaces here: {error.stderr.strip()}")
    yield name
    remove(name)


def remove(name):
    for rank in range(2):
        subprocess.run(["ip", "netns", "delete", f"{name}{rank}"], capture_output=True, timeout=20)


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
