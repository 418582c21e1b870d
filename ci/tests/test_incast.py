"""Many to one and one to many, and round trips beside, from the command line to the run file."""

import pytest
from conftest import CROWDED, checked_window, only

METRICS = {"incast_GBps", "outcast_GBps", "fairness_ratio", "round_trip_us", "loaded_round_trip_us"}


@pytest.fixture
def incast(bench):
    """A short one, with its run file."""

    def run(*arguments, code=0, **options):
        done = bench("incast", "--launches", 1, "--runs", 2, "--bind", "none", "--json", "run.json", *arguments, **options)
        assert done.code == code, done
        return done

    return run


def assert_right(case, ranks):
    assert case["state"] == "measured", case["reason"]
    # Of each sender the last message of each load, of two runs and the one that warms up, and a window in each direction.
    p = case["parameters"]
    of_loads = (1 + 2) * (2 * (ranks - 1) + ranks - 2)
    assert case["verified"] == {"checked": of_loads + 2 * (ranks - 1) * checked_window(p["bytes"], p["window"]), "errors": 0}
    metrics = case["metrics"]
    assert metrics.keys() == METRICS
    assert 0 < metrics["fairness_ratio"]["max"] <= 1
    # 1000 in each run.
    assert metrics["round_trip_us"]["samples_seen"] == 2 * 1000
    assert metrics["round_trip_us"]["p99"] >= metrics["round_trip_us"]["p50"] > 0
    assert metrics["loaded_round_trip_us"]["samples_seen"] > 0


@pytest.mark.parametrize(("comm", "transport"), [("ucx", "shm"), ("ucx", "tcp"), ("sockets", "tcp")])
def test_sizes_are_an_axis(incast, comm, transport):
    done = incast("-n", 4, "--sizes", "8,64KiB", "--comm", comm, "--transports", transport, "--require", transport, *CROWDED)
    sockets = "/comm=sockets" if comm == "sockets" else ""
    assert [case["key"] for case in done.file["cases"]] == [
        f"incast/tag/host-host/{transport}/{size}{sockets}/progress-mode=event/ranks=4" for size in ("8B", "64KiB")]
    for case in done.file["cases"]:
        assert_right(case, ranks=4)
        assert case["path"]["carried_by"] == {transport: 1.0}, case["path"]
    assert max(len(line) for line in done.out.splitlines()) <= 100
    for words in ("many to one, GB/s", "one to many, GB/s", "fairness, ratio", "8 B alone, us", "8 B beside load, us", "p99"):
        assert words in done.out


def test_as_many_messages_as_asked_for(incast):
    done = incast("-n", 3, "--sizes", "64KiB", "--iterations", 50, "--transports", "shm", *CROWDED)
    case = only(done.file["cases"])
    assert {record["messages"] for record in case["launches"]} == {50}
    assert case["parameters"]["iterations"] == 50


@pytest.mark.parametrize(
    ("arguments", "words"),
    [(["-n", "2"], "--ranks: incast needs at least three"), (["-n", "3", "--sizes", "1TiB"], "--sizes")],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_refusals(bench, arguments, words):
    done = bench("incast", *arguments)
    assert done.code == 2, done
    assert words in only(done.complaints)
