"""Every way to play ping-pong: ranks, transports, APIs, progress modes, connections, sizes."""

import os
import pathlib

import pytest
from conftest import CROWDED, RNDV_FROM_1K, SHIM, assert_sound, in_some_attempt, only, quick

FULL_SHIM = pathlib.Path(SHIM).with_name("libfull.so")
APIS = ["tag", "stream"]
SETS = {"tcp": "tcp", "shm": "sm", "tcp,shm": "sm,tcp", "auto": "all"}
# The order in names does not depend on the order typed.
NAMES = {"tcp,shm": "shm+tcp"}
SIZES = ["1", "1000001", "256KiB", "4MiB"]


def of_sets(sets):
    return [word for transports in sets for word in ("--transports", transports)]


def cases_of(run, api, transports):
    name = NAMES.get(transports, transports)
    return [case for case in run["cases"] if case["key"].startswith(f"pingpong/{api}/host-host/{name}/")]


@pytest.fixture(scope="module")
def sizes_over_sets(bench_once):
    # As many messages as the largest of them take a while for.
    words = ["--api", "tag,stream", *of_sets(SETS), "--sizes", ",".join(SIZES), "--iterations", 16]
    return bench_once("pingpong", *quick(words)).file


@pytest.mark.parametrize("api", APIS)
@pytest.mark.parametrize("transports", SETS)
def test_sizes_over_sets(sizes_over_sets, api, transports):
    run = sizes_over_sets
    assert run["run"]["state"] == "complete"
    cases = cases_of(run, api, transports)
    assert [case["parameters"]["bytes"] for case in cases] == [1, 1000001, 1 << 18, 1 << 22]
    for case in cases:
        assert_sound(case, rates=case["parameters"]["bytes"] > 1)
        assert case["parameters"]["api"] == api
        assert set(case["parameters"]["transports"]) == set(transports.split(","))
    name = NAMES.get(transports, transports)
    assert cases[0]["key"] == f"pingpong/{api}/host-host/{name}/1B"
    assert cases[3]["key"] == f"pingpong/{api}/host-host/{name}/4MiB"
    environment = run["ucx"]["environment"]
    assert environment["asked"][name]["UCX_TLS"] == SETS[transports]
    assert environment["effective"][name]["UCX_TLS"] == SETS[transports]
    if "tcp" in transports:
        assert environment["effective"][name]["UCX_NET_DEVICES"] == "lo"
        assert cases[0]["path"]["lanes"]


def test_two_ranks_are_two_processes(sizes_over_sets):
    ranks = sizes_over_sets["ranks"]
    assert [rank["rank"] for rank in ranks] == [0, 1]
    assert len({rank["pid"] for rank in ranks}) == 2


def test_a_rank_with_itself(pingpong):
    run = pingpong("-n", "1", "--api", "tag,stream", "--sizes", "1,64KiB,1000001", "--check", "full").file
    assert len(run["cases"]) == 6
    for case in run["cases"]:
        assert_sound(case)
        assert case["parameters"]["transports"] == ["self"]
    assert len(run["ranks"]) == 1


@pytest.mark.release_only
@pytest.mark.parametrize(("ranks", "transports"), [(4, "tcp"), (8, "shm")])
def test_pairs_play_at_once(pingpong, ranks, transports):
    run = pingpong("-n", ranks, *CROWDED, "--transports", transports, "--sizes", "8,100001").file
    assert [rank["rank"] for rank in run["ranks"]] == list(range(ranks))
    for case in run["cases"]:
        assert_sound(case)
        assert [(l["src"], l["dst"]) for l in sorted(case["launches"], key=lambda l: l["src"])] == [
            (first, first + 1) for first in range(0, ranks, 2)
        ]
        assert f"/ranks={ranks}" in case["key"]


MODES = ["poll", "event", "thread", "periodic:1ms"]


@pytest.fixture(scope="module")
def modes(bench_once):
    words = ["--progress-mode", ",".join(MODES), "--api", "tag,stream", *of_sets(["tcp", "shm"]),
             "--sizes", "8,300000", "--window", "4"]
    return bench_once("pingpong", *quick(words)).file


@pytest.mark.parametrize("transports", ["tcp", "shm"])
@pytest.mark.parametrize("api", APIS)
@pytest.mark.parametrize("mode", MODES)
def test_progress_modes(modes, mode, api, transports):
    assert len({case["key"] for case in modes["cases"]}) == len(modes["cases"]) == 2 * 2 * 4 * 2
    cases = [case for case in cases_of(modes, api, transports) if case["parameters"]["progress_mode"] == mode]
    assert [case["parameters"]["bytes"] for case in cases] == [8, 300000]
    for case in cases:
        assert_sound(case)
        assert ("/progress-mode=" in case["key"]) == (mode != "poll")
        assert "/ranks=" not in case["key"]
    if mode == "periodic:1ms":
        # A timer delays every message until it fires: that is what the mode is there to show.
        assert cases[0]["metrics"]["latency_us"]["p50"] > 100


@pytest.mark.parametrize("transports", ["tcp", "shm"])
def test_a_progress_thread_is_woken(pingpong, transports):
    """One that nobody wakes for what was just posted sleeps for 500 ms: 40 messages/s over shm."""

    def rate(_):
        run = pingpong("--progress-mode", "thread", "--transports", transports, "--sizes", "300000", "--window", "4",
                       "--measure", "bandwidth").file
        return only(run["cases"])["metrics"]["message_rate_per_s"]["p50"] > 200

    assert in_some_attempt(rate)


@pytest.mark.release_only
@pytest.mark.parametrize("words", [["--progress-mode", "event"], ["--progress-mode", "poll"], ["--threads", 2, "--bind", "none"]],
                         ids=["event", "poll", "threads"])
def test_sockets_that_are_full(bench, words):
    """What UCX says is sent leaves later, and what a flush sends even later: neither rank may go on before."""
    done = bench("pingpong", "--transports", "tcp", "--sizes", "64KiB", "--measure", "bandwidth", *words, "--launches", 1,
                 "--iterations", 4, "--warmup-runs", 0, "--check", "off", "--json", "run.json", environment={"LD_PRELOAD": str(FULL_SHIM)})
    assert done.code == 0, done
    assert only(done.file["cases"])["state"] == "measured"


@pytest.fixture(scope="module")
def by_sockaddr(bench_once):
    words = ["--connect-by", "sockaddr", *of_sets(["tcp", "tcp,shm", "shm"]), "--api", "tag,stream", "--sizes", "8,300000"]
    return bench_once("pingpong", *quick(words)).file


@pytest.mark.parametrize("api", APIS)
@pytest.mark.parametrize("transports", ["tcp", "tcp,shm"])
def test_connecting_by_sockaddr(by_sockaddr, transports, api):
    cases = cases_of(by_sockaddr, api, transports)
    assert len(cases) == 2
    for case in cases:
        assert_sound(case)
        assert "/connect-by=sockaddr" in case["key"]
        for launch in case["launches"]:
            assert launch["cold"]["connect_us"] > 0


def test_connecting_by_sockaddr_over_shm(by_sockaddr):
    """UCX connects by sockaddr only where a network device is enabled: said, and the rest runs."""
    over_shm = cases_of(by_sockaddr, "tag", "shm")
    assert len(over_shm) == 2
    for case in over_shm:
        assert case["state"] == "skipped" and "network device" in case["reason"]


@pytest.mark.release_only
def test_both_ways_and_full_check(pingpong):
    run = pingpong("--bidirectional", "--check", "full", "--api", "tag,stream", *of_sets(["tcp", "shm"]),
                   "--sizes", "1,4097,300000").file
    assert len(run["cases"]) == 2 * 2 * 3
    for case in run["cases"]:
        assert_sound(case, rates=case["parameters"]["bytes"] > 1)
        assert "bandwidth_bidirectional_GBps" in case["metrics"]
        assert case["verified"]["checked"] >= 64 or case["parameters"]["bytes"] > 1 << 20


def test_no_check(pingpong):
    case = only(pingpong("--check", "off", "--transports", "tcp", "--sizes", "8").file["cases"])
    assert case["verified"] == {"checked": 0, "errors": 0}


def test_what_was_counted(pingpong):
    """Exactly the iterations asked for, every sample, cold costs apart, both messages' sides."""
    run = pingpong("--transports", "tcp", "--sizes", "8", "--warmup-runs", "0").file
    launch = only(only(run["cases"])["launches"])
    assert launch["iterations"] == 80
    assert len(launch["samples"]["latency_us"]) == 80
    assert launch["warmup"] == 0
    for cost in ("context_us", "connect_us", "first_message_us"):
        assert launch["cold"][cost] > 0
    latency = only(run["cases"])["metrics"]["latency_us"]
    assert latency["samples_seen"] == 80
    assert latency["ci95"] is None
    assert latency["better"] == "lower"


@pytest.mark.release_only
def test_launches_go_forth_and_back(pingpong):
    run = pingpong(
        "--transports", "tcp", "--transports", "shm", "--launches", "6", "--sizes", "8",
        "--progress", "plain",
    )
    order = [line.split()[-1] for line in run.err.splitlines() if line.startswith("launch ")]
    assert order == ["tcp", "shm", "shm", "tcp"] * 3
    for case in run.file["cases"]:
        assert_sound(case)
        assert [launch["launch"] for launch in case["launches"]] == list(range(6))
        low, high = case["metrics"]["latency_us"]["ci95"]
        assert low <= case["metrics"]["latency_us"]["p50"] <= high


def test_by_time(bench):
    """Without --iterations the count follows from the time, and from what the fastest turn of the warm-up
    took (bench/pingpong/measure_test.cpp)."""
    launch = only(only(bench("pingpong", "--launches", 1, "--bind", "none", "--transports", "shm", "--sizes", 64,
                             "--max-time", "20ms", "--json", "run.json").file["cases"])["launches"])
    assert launch["iterations"] >= 2 and launch["warmup"] > 0


@pytest.mark.release_only
def test_a_set_that_cannot_run_is_skipped(pingpong, bench):
    states = dict(line.split()[:2] for line in bench("list", "transports").out.splitlines() if line[0] != " ")
    missing = [name for name in ("nvlink", "ib") if states[name] != "available"]
    if not missing:
        pytest.skip("there are GPUs with NVLink, and InfiniBand")
    done = pingpong(*of_sets(["tcp", *missing]), "--sizes", "8,16")
    cases = done.file["cases"]
    assert [case["state"] for case in cases] == ["measured"] * 2 + ["skipped"] * 2 * len(missing)
    said = [line for line in done.err.splitlines() if line.startswith("cannot run here: ")]
    assert len(said) == len(missing)
    for name, of_name, line in zip(missing, zip(cases[2::2], cases[3::2]), said):
        assert all(name in case["reason"] for case in of_name) and name in line
    # One that is only partly there is not quietly reduced.
    done = pingpong("--transports", f"tcp,{missing[0]}", "--transports", "shm", "--sizes", "8")
    assert [case["state"] for case in done.file["cases"]] == ["skipped", "measured"]
    done = pingpong("--transports", "tcp", "--transports", missing[0], "--sizes", "8", "--strict", code=3)
    assert [case["state"] for case in done.file["cases"]] == ["measured", "skipped"]
    done = pingpong("--transports", missing[0], "--sizes", "8", code=3)
    assert [case["state"] for case in done.file["cases"]] == ["skipped"]


def test_kinds_of_host_memory(pingpong):
    kinds = ["host:node0", "host:huge", "host:node1000"]
    memory = [word for kind in kinds for word in ("--memory", kind)]
    done = pingpong("--memory", "host", *memory, "--transports", "shm", "--sizes", "4MiB", "--iterations", 16)
    cases = {case["parameters"]["memory"][0]: case for case in done.file["cases"]}
    for kind, why in (("host", None), ("host:node0", "SYS_NICE"), ("host:huge", "sysctl vm.nr_hugepages")):
        if why is None or cases[kind]["state"] == "measured":
            assert_sound(cases[kind])
            assert cases[kind]["key"] == f"pingpong/tag/{kind}-{kind}/shm/4MiB"
        else:
            assert cases[kind]["state"] == "skipped" and why in cases[kind]["reason"]
    assert cases["host:node1000"]["state"] == "skipped"
    assert "may have memory on NUMA node" in cases["host:node1000"]["reason"]


def test_the_users_ucx_settings_win(pingpong):
    done = pingpong(
        "--transports", "shm", "--ucx", "UCX_TLS=posix", "--ucx", "UCX_RNDV_THRESH=1K",
        "--sizes", "8,65536", environment={"UCX_RNDV_THRESH": "2K", "UCX_ZCOPY_THRESH": "3K"},
    )
    environment = done.file["ucx"]["environment"]
    assert environment["asked"]["shm"]["UCX_TLS"] == "posix"
    assert environment["effective"]["shm"]["UCX_TLS"] == "posix"
    assert environment["effective"]["shm"]["UCX_RNDV_THRESH"] in RNDV_FROM_1K
    assert environment["effective"]["shm"]["UCX_ZCOPY_THRESH"] == "3K"
    assert environment["inherited"]["UCX_ZCOPY_THRESH"] == "3K"
    assert environment["replaced"]["UCX_RNDV_THRESH"] == "2K"
    assert "UCX_RNDV_THRESH=2K of the environment is not used" in done.err


def test_cpus_are_bound(pingpong):
    cpu = min(os.sched_getaffinity(0))
    run = pingpong("--bind", f"{cpu},{cpu}", "--progress-mode", "event", "--transports", "tcp", "--sizes", "8").file
    assert [rank["cpus"] for rank in run["ranks"]] == [[cpu], [cpu]]
