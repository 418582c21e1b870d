"""Devices beside UCX: --comm, from the command line to the run file."""

import pytest
from conftest import CROWDED, checked_window

QUICK = ["--launches", 1, "--runs", 1, "--bind", "none", "--json", "run.json"]


def lanes_of(case):
    return {lane for launch in case["launches"] for lane in launch["lanes"]}


def test_sockets_stand_beside_ucx(bench):
    done = bench("p2p", "-n", 3, "-s", "8,256KiB", "--concurrent", "one", "--iterations", 8, *CROWDED, "--comm", "ucx,sockets",
                 "--transports", "tcp", "--transports", "shm", "--transports", "tcp,shm", *QUICK)
    assert done.code == 0, done
    cases = {case["key"]: case for case in done.file["cases"]}
    assert len(cases) == 3 * 2 * 2
    for key, case in cases.items():
        assert case["state"] == "measured", case["reason"]
        assert case["verified"] == {"checked": 6 * (1 + checked_window(case["parameters"]["bytes"])), "errors": 0}
        by_sockets = "/comm=sockets/" in key
        assert case["parameters"]["comm"] == ("sockets" if by_sockets else "ucx")
        assert ("comm" in key) == by_sockets
        assert ("by sockets" in case["shows"]["title"]) == by_sockets
        if by_sockets:
            # Of two ways within a host it is the Unix socket.
            unix = "shm" in case["parameters"]["transports"]
            assert lanes_of(case) == {"unix/socket" if unix else "tcp/lo"}
            assert case["path"]["carried_by"] == {"shm" if unix else "tcp": 1.0}, case["path"]
    of_tcp = cases["p2p/tag/host-host/tcp/256KiB/comm=sockets/concurrent=one/progress-mode=event/ranks=3"]
    assert of_tcp["path"]["bytes_by_counter"]["tcp/lo"] >= of_tcp["path"]["payload_bytes"]
    settings = done.file["ucx"]["environment"]
    assert settings["effective"]["tcp, sockets"]["sockets, tcp: TCP_NODELAY"] == "1"
    assert "UCX_TLS" not in settings["asked"]["tcp, sockets"]
    assert "p2p tag, host to host, over tcp by sockets" in done.out


@pytest.mark.parametrize("workload", [("merge", "--rows", "20K"), ("transpose", "--size", 256, "--chunk-size", 64),
                                      ("halo", "--size", 64)])
def test_workloads_run_over_sockets(bench, workload):
    done = bench(*workload, "-n", 2, "--comm", "sockets", "--transports", "tcp",
                 "--transports", "shm", *QUICK)
    assert done.code == 0, done
    for case in done.file["cases"]:
        assert case["state"] == "measured" and case["verified"]["errors"] == 0, case
        assert case["path"]["verdict"] == "as-asked", case["path"]


def test_what_sockets_cannot_is_skipped_with_its_reason(bench):
    done = bench("p2p", "-n", 2, "-s", 8, "--iterations", 8, "--comm", "sockets", "--transports", "nvlink", "--transports", "tcp", *QUICK)
    assert done.code == 0, done
    states = {case["parameters"]["transports"][0]: (case["state"], case["reason"]) for case in done.file["cases"]}
    assert states["tcp"][0] == "measured"
    assert states["nvlink"][0] == "skipped" and "nvlink: sockets carry messages over tcp" in states["nvlink"][1]
    wrong = bench("p2p", "--comm", "socket")
    assert wrong.code == 2 and "did you mean 'sockets'" in wrong.err, wrong


@pytest.mark.release_only
def test_pingpong_plays_over_sockets(bench):
    done = bench("pingpong", "--comm", "sockets,ucx", "--api", "tag,stream", "--progress-mode", "poll,event", "-s", "8,256KiB",
                 "--transports", "tcp", "--transports", "shm", "--bidirectional", "--iterations", 64, "--launches", 1,
                 "--check", "full", "--json", "run.json")
    assert done.code == 0, done
    cases = {case["key"]: case for case in done.file["cases"]}
    assert len(cases) == 2 * 2 * 2 * 2 * 2
    for key, case in cases.items():
        assert case["state"] == "measured", case["reason"]
        assert case["verified"]["checked"] > 0 and case["verified"]["errors"] == 0
        assert {"latency_us", "bandwidth_GBps", "bandwidth_bidirectional_GBps"} <= set(case["metrics"])
        if "/comm=sockets" in key:
            member = case["parameters"]["transports"][0]
            assert lanes_of(case) == {"tcp/lo" if member == "tcp" else "unix/socket"}
            assert case["path"]["carried_by"] == {member: 1.0} and case["path"]["verdict"] == "as-asked", case["path"]
            assert "UCX" not in case["path"]["why"] and case["path"]["protocols"] == []
    of_tcp = cases["pingpong/stream/host-host/tcp/256KiB/comm=sockets/progress-mode=event"]
    assert of_tcp["path"]["bytes_by_counter"]["tcp/lo"] >= of_tcp["path"]["payload_bytes"]


def test_pingpong_by_sockets_refuses_other_progress_modes(bench):
    wrong = bench("pingpong", "--comm", "sockets", "--progress-mode", "thread")
    assert wrong.code == 2 and "--progress-mode thread: with --comm sockets ranks wait by poll or event" in wrong.err, wrong
