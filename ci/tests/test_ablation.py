"""--ablate: every way of communicating with one load, held against each other."""

from conftest import CROWDED

TIMES = ["--launches", 6, "--bind", "none", "--json", "run.json"]


def launches_in_order(run):
    """The sets, devices and modes of a run's launches as they were measured."""
    return [launch["plan"] for launch in run["run"]["launch_times"]]


def test_pingpong_tries_every_set_by_each_device_and_mode(bench):
    done = bench("pingpong", "--ablate", "--comm", "ucx,sockets", "--progress-mode", "event,periodic:1ms", "-s", 8, "--dry-run")
    assert done.code == 2 and "--progress-mode periodic:1ms: with --comm sockets" in done.err, done
    done = bench("pingpong", "--ablate", "--comm", "ucx,sockets", *CROWDED, "-s", "8,64KiB", "--iterations", 80, *TIMES)
    assert done.code == 0, done
    ways = {(case["parameters"]["comm"], "+".join(case["parameters"]["transports"])) for case in done.file["cases"]}
    assert {("ucx", "shm"), ("ucx", "tcp"), ("ucx", "shm+tcp"), ("ucx", "auto"), ("sockets", "tcp"), ("sockets", "shm")} <= ways
    assert not {way for way in ways if way[0] == "sockets"} - {("sockets", "tcp"), ("sockets", "shm")}
    ablation = {(entry["row"], entry["metric"]): entry for entry in done.file["ablation"]}
    assert set(ablation) == {(row, metric) for row in ("8 B", "64 KiB") for metric in ("latency_us", "bandwidth_GBps")}
    for entry in ablation.values():
        assert {way["way"] for way in entry["ways"]} >= {"tcp by ucx", "tcp by sockets", "shm by sockets", "auto by ucx"}
        best, *others = entry["ways"]
        assert best["ratio"] == 1 and best["ratio_ci95"] is None
        for way in others:
            low, high = way["ratio_ci95"]
            assert low <= way["ratio"] <= high
            # The ratio is of launches, the order of all samples: near the best they may differ.
            assert high >= 1 if entry["better"] == "lower" else low <= 1
    assert "configurations, pingpong tag, host to host: one-way latency, 8 B" in done.out, done
    assert "times the best" in done.out
    # One after the other, then back.
    order = launches_in_order(done.file)
    count = len(ways)
    assert len(set(order[:count])) == count and order[count : 2 * count] == order[:count][::-1]


def test_a_workload_shows_computing_and_communicating(bench, tmp_path):
    done = bench("halo", "-n", 2, "--size", 64, "--ablate", "--comm", "ucx,sockets", "--progress-mode", "poll,event", *TIMES)
    assert done.code == 0, done
    (entry,) = done.file["ablation"]
    names = {way["way"] for way in entry["ways"]}
    assert {"tcp by sockets, poll", "tcp by sockets, event", "tcp by ucx, poll", "auto by ucx, event"} <= names
    for way in entry["ways"]:
        assert way["computing_ms"] > 0 and way["communicating_ms"] > 0
    phases = {case["parameters"]["comm"]: case["phases"][-1]["name"] for case in done.file["cases"]}
    assert phases == {"ucx": "UCX, while computing", "sockets": "sockets, while computing"}
    drawn = bench("plot", "run.json", "-o", "run.svg")
    assert drawn.code == 0, drawn
    title = f"{entry['title']}: {entry['about']}, {entry['row']}"
    assert f"<!-- {title} -->" in (tmp_path / "run.svg").read_text()


def test_no_set_is_ranked_whose_ucx_tls_the_user_has_overridden(bench):
    sets = [word for name in ("shm", "tcp", "auto") for word in ("--transports", name)]
    done = bench("pingpong", *sets, "--ucx", "UCX_TLS=tcp", "-s", 8, "--iterations", 80, "--launches", 1, *TIMES[2:])
    assert done.code == 0, done
    said = " ".join(done.out.split())
    assert "not ranked: shm at 8 B: tcp carried it" in said, done
    assert "not ranked: auto at 8 B: --ucx UCX_TLS was in force instead of the set" in said, done
    assert [key.split("/")[3] for key in done.file["ucx"]["environment"]["overridden"]] == ["shm", "auto"]
    assert "ablation" not in done.file or not done.file["ablation"]
