"""Every way to play ping-pong: ranks, transports, APIs, progress modes, connections, sizes."""

import pytest
from conftest import CROWDED, RNDV_FROM_1K, assert_sound, only

APIS = ["tag", "stream"]
SETS = {"tcp": "tcp", "shm": "sm", "tcp,shm": "sm,tcp", "auto": "all"}
SIZES = ["1", "1000001", "256KiB", "4MiB"]


@pytest.mark.parametrize("api", APIS)
@pytest.mark.parametrize("transports", SETS)
def test_sizes_over_sets(pingpong, api, transports):
    run = pingpong("--api", api, "--transports", transports, "--sizes", ",".join(SIZES)).file
    assert run["run"]["state"] == "complete"
    assert [case["parameters"]["bytes"] for case in run["cases"]] == [1, 1000001, 1 << 18, 1 << 22]
    for case in run["cases"]:
        assert_sound(case)
        assert case["parameters"]["api"] == api
        assert set(case["parameters"]["transports"]) == set(transports.split(","))
    # The order in names does not depend on the order typed.
    name = {"tcp,shm": "shm+tcp"}.get(transports, transports)
    assert run["cases"][0]["key"] == f"pingpong/{api}/host-host/{name}/1B"
    assert run["cases"][3]["key"] == f"pingpong/{api}/host-host/{name}/4MiB"
    environment = run["ucx"]["environment"]
    assert environment["asked"][name]["UCX_TLS"] == SETS[transports]
    assert environment["effective"][name]["UCX_TLS"] == SETS[transports]
    if "tcp" in transports:
        assert environment["effective"][name]["UCX_NET_DEVICES"] == "lo"
        assert run["cases"][0]["path"]["lanes"]
    assert [rank["rank"] for rank in run["ranks"]] == [0, 1]
    assert len({rank["pid"] for rank in run["ranks"]}) == 2


@pytest.mark.parametrize("api", APIS)
def test_a_rank_with_itself(pingpong, api):
    run = pingpong("-n", "1", "--api", api, "--sizes", "1,64KiB,1000001", "--check", "full").file
    for case in run["cases"]:
        assert_sound(case)
        assert case["parameters"]["transports"] == ["self"]
    assert len(run["ranks"]) == 1


@pytest.mark.parametrize("transports", ["tcp", "shm"])
@pytest.mark.parametrize("ranks", [2, 4, 8])
def test_pairs_play_at_once(pingpong, ranks, transports):
    run = pingpong(
        "-n", ranks, *CROWDED, "--transports", transports, "--sizes", "8,100001", limit_s=150
    ).file
    assert [rank["rank"] for rank in run["ranks"]] == list(range(ranks))
    for case in run["cases"]:
        assert_sound(case)
        assert [(l["src"], l["dst"]) for l in sorted(case["launches"], key=lambda l: l["src"])] == [
            (first, first + 1) for first in range(0, ranks, 2)
        ]
        assert ("/ranks=" in case["key"]) == (ranks != 2)


@pytest.mark.parametrize("transports", ["tcp", "shm"])
@pytest.mark.parametrize("api", APIS)
@pytest.mark.parametrize("mode", ["poll", "event", "thread", "periodic:1ms"])
def test_progress_modes(pingpong, mode, api, transports):
    run = pingpong(
        "--progress-mode", mode, "--api", api, "--transports", transports, "--sizes", "8,300000",
        "--window", "4",
    ).file
    for case in run["cases"]:
        assert_sound(case)
        assert case["parameters"]["progress_mode"] == mode
        assert ("/progress-mode=" in case["key"]) == (mode != "poll")
    if mode == "periodic:1ms":
        # A timer delays every message until it fires: that is what the mode is there to show.
        assert run["cases"][0]["metrics"]["latency_us"]["p50"] > 100
    if mode == "thread":
        # A thread that nobody wakes for what was just posted sleeps for 500 ms: 40 messages/s over shm.
        assert run["cases"][-1]["metrics"]["message_rate_per_s"]["p50"] > 200


def test_several_modes_and_apis_in_one_run(pingpong):
    run = pingpong(
        "--progress-mode", "poll,event", "--api", "tag,stream", "--transports", "tcp", "--sizes", "64"
    ).file
    assert len({case["key"] for case in run["cases"]}) == 4
    for case in run["cases"]:
        assert_sound(case)


@pytest.mark.parametrize("api", APIS)
@pytest.mark.parametrize("transports", ["tcp", "tcp,shm"])
def test_connecting_by_sockaddr(pingpong, transports, api):
    run = pingpong(
        "--connect-by", "sockaddr", "--transports", transports, "--api", api, "--sizes", "8,300000"
    ).file
    for case in run["cases"]:
        assert_sound(case)
        assert "/connect-by=sockaddr" in case["key"]
        for launch in case["launches"]:
            assert launch["cold"]["connect_us"] > 0


def test_connecting_by_sockaddr_over_shm(pingpong):
    """UCX connects by sockaddr only where a network device is enabled: said, and the rest runs."""
    done = pingpong(
        "--connect-by", "sockaddr", "--transports", "shm", "--transports", "tcp", "--sizes", "8"
    )
    over_shm, over_tcp = done.file["cases"]
    assert_sound(over_tcp)
    assert over_shm["state"] == "skipped" and "network device" in over_shm["reason"]


@pytest.mark.parametrize("api", APIS)
@pytest.mark.parametrize("transports", ["tcp", "shm"])
def test_both_ways_and_full_check(pingpong, transports, api):
    run = pingpong(
        "--bidirectional", "--check", "full", "--api", api, "--transports", transports,
        "--sizes", "1,4097,300000",
    ).file
    for case in run["cases"]:
        assert_sound(case)
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
    """Without --iterations the count follows from the time."""
    quick, slow = (
        only(only(bench("pingpong", "--launches", 1, "--bind", "none", "--transports", "shm",
                        "--sizes", 64, "--max-time", time, "--json", "run.json").file["cases"])
             ["launches"])["iterations"]
        for time in ("20ms", "2s")
    )
    assert 2 <= quick < slow


@pytest.mark.parametrize("missing", ["nvlink", "ib"])
def test_a_set_that_cannot_run_is_skipped(pingpong, bench, missing):
    if f"{missing}" in [l.split()[0] for l in bench("list", "transports").out.splitlines()
                        if l.split()[1] == "available"]:
        pytest.skip(f"{missing} is here")
    done = pingpong("--transports", "tcp", "--transports", missing, "--sizes", "8,16")
    cases = done.file["cases"]
    assert [case["state"] for case in cases] == ["measured", "measured", "skipped", "skipped"]
    assert missing in cases[2]["reason"]
    said = [line for line in done.err.splitlines() if line.startswith("cannot run here: ")]
    assert len(said) == 1 and missing in said[0]
    # One that is only partly there is not quietly reduced.
    done = pingpong("--transports", f"tcp,{missing}", "--transports", "shm", "--sizes", "8")
    assert [case["state"] for case in done.file["cases"]] == ["skipped", "measured"]
    done = pingpong("--transports", "tcp", "--transports", missing, "--sizes", "8", "--strict", code=3)
    assert [case["state"] for case in done.file["cases"]] == ["measured", "skipped"]
    done = pingpong("--transports", missing, "--sizes", "8", code=3)
    assert [case["state"] for case in done.file["cases"]] == ["skipped"]


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


def test_cpus_are_bound(pingpong):
    run = pingpong("--bind", "0,0", "--progress-mode", "event", "--transports", "tcp", "--sizes", "8").file
    assert [rank["cpus"] for rank in run["ranks"]] == [[0], [0]]
