"""Who shares a GPU, and who takes turns on it: one rule for all benchmarks, on the emulated CUDA driver."""

import re

import pytest
from conftest import PROGRAM
from emulated_gpu import LIBRARIES, emulated, hooks, needs_both  # noqa: F401
from namespaces import IP, PORT, Hosts, made, token_in

ON_GPU = ["--memory", "cuda", "--transports", "tcp,nvlink"]
# One of each way in which a benchmark reports its ranks.
SHORT = {
    "pingpong": ["--sizes", "64KiB", "--iterations", 5],
    "p2p": ["-n", 2, "--sizes", "64KiB", "--runs", 1, "--iterations", 4],
    "cold": ["-n", 2, "--sizes", "64KiB", "--iterations", 1],
    "loggp": ["--sizes", "64KiB", "--iterations", 5],
    "incast": ["-n", 4, "--sizes", "64KiB", "--runs", 1, "--iterations", 4],
    "kv": ["--descriptors", 16, "--block", "64KiB", "--sessions", 1, "--rounds", 1],
    "moe": ["-n", 2, "--tokens", 64, "--routing", "uniform", "--runs", 1],
}


def labels(run):
    assert {case["state"] for case in run["cases"]} == {"measured"}
    return {frozenset(case["labels"]) for case in run["cases"]}


@needs_both
@pytest.mark.parametrize("command", SHORT)
def test_ranks_on_one_gpu_take_turns(emulated, command):  # noqa: F811
    done = emulated(command, *SHORT[command], *ON_GPU, CUDA_EMULATOR_GPUS="1", **hooks(command))
    assert labels(done.file) == {frozenset({"same-gpu", "time-sliced", "emulated-gpu"})}
    assert all(rank["device"]["mps"] is False for rank in done.file["ranks"])
    assert len({rank["device"]["uuid"] for rank in done.file["ranks"]}) == 1
    assert re.search(r"quality poor: .*ranks take turns on one GPU", " ".join(done.out.split())), done


@needs_both
def test_mps_ends_the_turns(emulated):  # noqa: F811
    done = emulated("p2p", *SHORT["p2p"], *ON_GPU, CUDA_EMULATOR_GPUS="1", CUDA_EMULATOR_MPS="1")
    assert labels(done.file) == {frozenset({"same-gpu", "emulated-gpu"})}
    assert all(rank["device"]["mps"] is True for rank in done.file["ranks"])
    assert "take turns" not in done.out


@needs_both
def test_what_others_do_on_a_pairs_gpus_counts(emulated):  # noqa: F811
    """Of three ranks on two GPUs, ranks 0 and 2 share one: while pairs play alone, it is theirs."""
    done = emulated("p2p", "-n", 3, "--sizes", "64KiB", "--runs", 1, "--iterations", 4, "--concurrent", "one,all",
                    *ON_GPU, CUDA_EMULATOR_GPUS="2")
    alone, at_once = ({(record["src"], record["dst"]): set(record["path"]["labels"]) - {"emulated-gpu"}
                       for record in case["launches"]} for case in done.file["cases"])
    both = {"same-gpu", "time-sliced"}
    assert alone == {pair: both if pair in ((0, 2), (2, 0)) else set() for pair in alone}
    assert at_once == {pair: both if pair in ((0, 2), (2, 0)) else {"time-sliced"} for pair in at_once}


@pytest.fixture(scope="module")
def hosts():
    hosts = Hosts(2, number=5)
    with made(hosts.make, hosts.remove):
        yield hosts


@needs_both
@pytest.mark.parametrize("command", SHORT)
def test_equal_addresses_on_two_hosts_are_two_gpus(start, hosts, tmp_path, command):
    address, token = f"10.203.8.1:{PORT}", token_in(tmp_path)
    gpus = "2" if command == "incast" else "1"
    environment = LIBRARIES | hooks(command) | {"CUDA_EMULATOR_GPUS": gpus}
    first = start(*hosts.on(0, PROGRAM, command, *SHORT[command], *ON_GPU, "--listen", address, "--hosts", 2,
                            "--token-file", token, "--launches", 1, "--json", "run.json"),
                  program=IP, folder=tmp_path / "first", environment=environment)
    other = start(*hosts.on(1, PROGRAM, command, "--connect", address, "--token-file", token),
                  program=IP, folder=tmp_path / "other", environment=environment)
    done, end = first.finish(), other.finish()
    assert done.code == end.code == 0, (done, end)
    devices = {rank["host"]: rank["device"] for rank in done.file["ranks"] if rank["device"]["index"] == 0}
    assert len(devices) == 2 and len({device["pci"] for device in devices.values()}) == 1, devices
    assert len({device["uuid"] for device in devices.values()}) == 2
    assert labels(done.file) == {frozenset({"emulated-gpu"})}
