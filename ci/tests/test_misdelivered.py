"""Messages that come elsewhere, late, cut or for each other: no benchmark says that what it received was right.

ci/shims/misdeliver.cpp spoils them and counts them, so that a benchmark that is new is tested as it stands."""

import pathlib

import pytest
from conftest import SHIM, SHORT, measuring_commands, only, verified_runs

MISDELIVER = pathlib.Path(SHIM).with_name("libmisdeliver.so")
# Small messages, but larger than what is no message to the shim.
SMALL = ["--sizes", "4KiB"]
FEW = ["--iterations", 20]
RUNS = {
    "pingpong": [*SMALL, *FEW, "--api", "tag,stream,am,get", "--measure", "bandwidth"],
    "p2p": [*SMALL, *FEW],
    "incast": ["-n", 3, *SMALL, *FEW, "--runs", 2],
    "loggp": [*SMALL, "--iterations", 5, "--warmup-runs", 2],
    "cold": [*SMALL, "--iterations", 5],
}
# What is spoilt, and after which part of a rank's messages: in the beginning, after what warms up, and in the middle of what
# is measured. The last messages of a run may be those that prove the path, whose bytes nobody looks at.
SPOILT = [("elsewhere", 0), ("elsewhere", 1 / 2), ("elsewhere", 2 / 3), ("previous", 1 / 2), ("late", 2 / 3), ("swap", 1 / 2),
          ("cut", 2 / 3)]


class Misdelivery:
    """Runs of one command."""

    def __init__(self, bench, folder, command):
        self.bench, self.folder = bench, folder
        self.command = [*command, "--launches", 1, "--transports", "shm", "--bind", "none", "--timeout", "10s", "--json", "run.json"]
        self.runs = 0

    def run(self, action, first=0, phase="", count=""):
        """How it ended, how many messages its ranks had at most, and how many were spoilt."""
        self.runs += 1
        counts = self.folder / f"counts-{self.runs}"
        counts.mkdir()
        done = self.bench(*self.command, environment={
            "LD_PRELOAD": str(MISDELIVER), "MISDELIVER_ACTION": action, "MISDELIVER_FROM": str(first),
            "MISDELIVER_PHASE": phase, "MISDELIVER_COUNT": str(count), "MISDELIVER_FOLDER": str(counts)})
        of_ranks = [[int(word) for word in file.read_text().split()] for file in counts.iterdir()]
        return done, max(messages for messages, _ in of_ranks), sum(spoilt for _, spoilt in of_ranks)


def assert_nothing_wrong_is_verified(misdelivery, spoilings):
    done, most, _ = misdelivery.run("nothing")
    assert done.code == 0 and most > 0, done
    for case in done.file["cases"]:
        assert case["verified"]["checked"] > 0 and case["verified"]["errors"] == 0
    for action, part in spoilings:
        done, _, spoilt = misdelivery.run(action, int(most * part))
        if done.code == 0:
            # Where one message at a time is under way, no two can change places.
            assert action == "swap" and spoilt == 0, (action, part, spoilt, done)
            continue
        wrong = [case for case in done.file["cases"] if case["state"] == "failed"]
        assert wrong, (action, part, done)
        for case in wrong:
            verified = case["verified"]
            # What is spoilt before any data may end a run that then has compared nothing.
            before = (action, part) == ("elsewhere", 0) and verified["checked"] == 0
            # What ranks tell each other about a run is not verified: a rank may wait for what does not come, or its memory be
            # written to when it has another use.
            ended = action in ("late", "swap") and done.code == 5
            assert verified["errors"] > 0 or before or ended, (action, part, case["reason"])
            # Where none was right, none counts as right.
            assert (action, part) != ("elsewhere", 0) or verified["errors"] == verified["checked"], case["reason"]


@pytest.mark.parametrize("name", measuring_commands())
def test_nothing_wrong_is_verified(bench, tmp_path, name):
    workload = ["--runs", 2] if name not in RUNS and name != "kv" else []
    command = [name, *RUNS.get(name, SHORT.get(name, [])), *workload]
    assert_nothing_wrong_is_verified(Misdelivery(bench, tmp_path, command), SPOILT)


WORKLOADS = [name for name in measuring_commands() if name not in RUNS and name != "kv"]


@pytest.mark.parametrize("name", WORKLOADS)
def test_an_exchange_alone_is_verified(bench, tmp_path, name):
    """What a run is held against, too: all that comes after it is as it should be."""
    command = [name, *SHORT.get(name, []), "--runs", 1, "--warmup-runs", 0]
    misdelivery = Misdelivery(bench, tmp_path, command)
    first = 0
    for action in ("elsewhere", "cut"):
        done, most, spoilt = misdelivery.run(action, first, phase="the exchange alone")
        assert done.code == 4 and spoilt > 0, (action, spoilt, done)
        case = only(done.file["cases"])
        right = verified_runs(case)["checked"]
        assert case["state"] == "failed" and case["verified"]["checked"] == right, case
        assert 1 <= case["verified"]["errors"] <= right - case["parameters"]["ranks"], (action, case["reason"])
        first = most * 2 // 3


# What comes into a place that others had, and have later. Of each a few messages per exchange.
REUSED = {"transpose": (["--size", 6000, "--chunk-size", 1500], 4), "halo": (["--size", 1024, "--steps", 4], 8)}


@pytest.mark.parametrize("name", REUSED)
def test_each_message_of_an_exchange_alone_is_verified(bench, tmp_path, name):
    options, messages = REUSED[name]
    command = [name, "-n", 2, *options, "--runs", 1, "--warmup-runs", 0]
    misdelivery = Misdelivery(bench, tmp_path, command)
    phase = "the exchange alone"
    done, most, _ = misdelivery.run("nothing", phase=phase)
    assert done.code == 0 and most % messages == 0 and only(done.file["cases"])["verified"] == verified_runs(done.file["cases"][0]), done
    done, _, spoilt = misdelivery.run("elsewhere", most - messages, phase=phase, count=1)
    assert done.code == 4 and spoilt == 2 and only(done.file["cases"])["verified"]["errors"] == 2, done


def test_nothing_wrong_is_verified_of_puts(bench, tmp_path):
    """After its first messages, of which the last byte is awaited, ping-pong goes on whatever comes. Those that prove the path
    are less than half of all."""
    put = ["pingpong", *SMALL, "--iterations", 200, "--api", "put", "--measure", "bandwidth"]
    misdelivery = Misdelivery(bench, tmp_path, put)
    assert_nothing_wrong_is_verified(misdelivery, [(action, part) for action, part in SPOILT if part == 1 / 2])


LOOP = 20
# Of each part of a ping-pong: its phase, how many messages of it come before those that are timed, and how many checks fail.
TIMED = [
    (["tag", "stream", "get"], "latency", ": latency", 0, {"get": 1, None: 2}),
    (["put"], "latency", ": completion", 0, {None: 1}),
    (["tag", "stream", "am", "put", "get"], "bandwidth", ": bandwidth", LOOP, {None: 1}),
    (["tag", "stream", "am", "put", "get"], "bandwidth", ": bidirectional", LOOP, {None: 2}),
    # The lead's last answer, and the word. A cswap's answer lies where it had what to write, which the last one finds.
    (["fadd", "swap", "cswap"], "latency", ": latency", 0, {"cswap": 1, None: 2}),
    (["fadd", "swap", "cswap"], "bandwidth", ": bandwidth", LOOP, {None: 1}),
]


@pytest.mark.parametrize("apis, measure, phase, before, errors", TIMED)
def test_what_came_before_is_not_taken_for_what_is_timed(bench, tmp_path, apis, measure, phase, before, errors):
    """All messages are right but those of the timed loop, none of which comes: the warm-up's are the same."""
    sizes = ["--sizes", "8"] if "fadd" in apis else SMALL
    both_ways = ["--bidirectional"] if "bidirectional" in phase else []
    command = ["pingpong", *sizes, *both_ways, "--iterations", LOOP, "--api", ",".join(apis), "--measure", measure]
    done, _, spoilt = Misdelivery(bench, tmp_path, command).run("elsewhere", before, phase, count=LOOP if before else 10 * LOOP)
    assert done.code == 4 and spoilt > 0, done
    for case in done.file["cases"]:
        api = case["parameters"]["api"]
        assert case["state"] == "failed" and case["verified"]["errors"] == errors.get(api, errors[None]), case


# Parts of which each begins with the content that it is to receive, unless that is cleared: their phase, and how many messages
# of it come before those that are timed, and how many these are.
REPEATED = [
    (["p2p", *SMALL, "--concurrent", "one", "--iterations", LOOP, "--warmup-runs", 1, "--runs", 1], "one pair at once", LOOP, LOOP),
    (["incast", "-n", 3, *SMALL, *FEW, "--runs", 3, "--warmup-runs", 0], ": run 1", 0, ""),
    *[(["loggp", *SMALL, "--iterations", 5, "--warmup-runs", 2], phase, 0, "")
      for phase in (": trains", ": what sending takes", ": what receiving takes")],
]


@pytest.mark.parametrize("command, phase, before, count", REPEATED)
def test_what_a_part_before_has_left_is_cleared(bench, tmp_path, command, phase, before, count):
    done, _, spoilt = Misdelivery(bench, tmp_path, command).run("elsewhere", before, phase, count)
    case = only(done.file["cases"])
    assert done.code == 4 and spoilt > 0 and case["verified"]["errors"] > 0, case


@pytest.mark.parametrize("name", WORKLOADS)
def test_no_run_finds_what_came_in_the_one_before(bench, tmp_path, name):
    """Although the contents of two runs differ: what is cleared is not taken for what comes, whatever these are."""
    command = [name, *SHORT.get(name, []), "--runs", 3, "--warmup-runs", 0, "--no-calibrate"]
    done, most, stale = Misdelivery(bench, tmp_path, command).run("stale", phase="run ")
    assert done.code == 0 and most > 0 and stale == 0, (most, stale, done)


@pytest.mark.parametrize("command, phase", [
    (["kv", "--op", "put", *SHORT["kv"]], "round"), (["kv", "--op", "get", *SHORT["kv"]], "round"),
    *[(["pingpong", *SMALL, *FEW, "--api", "put,get", "--measure", "bandwidth", *both_ways], phase)
      for both_ways, phase in (([], ": bandwidth"), (["--bidirectional"], ": bidirectional"), ([], ": verification"))],
])
def test_what_comes_after_its_flush_has_come_too_late(bench, tmp_path, command, phase):
    """A message behind it on its own way would find it there, as would who makes progress in the meantime."""
    done, _, spoilt = Misdelivery(bench, tmp_path, command).run("behind", phase=phase)
    assert done.code == 4 and spoilt > 0, done
    for case in done.file["cases"]:
        assert case["state"] == "failed" and case["verified"]["errors"] > 0, case


@pytest.mark.parametrize("name", WORKLOADS)
def test_no_run_has_what_one_before_had(bench, tmp_path, name):
    """Nor that before it, where runs took turns between two contents."""
    command = [name, *SHORT.get(name, []), "--runs", 3, "--warmup-runs", 0, "--no-calibrate"]
    done, _, spoilt = Misdelivery(bench, tmp_path, command).run("earlier")
    case = only(done.file["cases"])
    assert done.code == 4 and spoilt > 0 and case["verified"]["errors"] > 0, case
