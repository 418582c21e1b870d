"""Two programs side by side, of which one sleeps: `ab` where cases can be duets."""

import json
import os
import shutil
import signal
import sys

import pytest
from conftest import PROGRAM, SHIM, only
from emulated_gpu import LIBRARIES, needs_both
from test_ab import ab, files

CASE = ("pingpong --transports shm --sizes 8 --iterations 20 --max-time 60ms --warmup-runs 0 --check off --progress-mode poll "
        "--no-memory-copy")
# Without a duet's sender: so many have a rate even where all have come before the receiver looks.
ALONE = CASE.replace("--iterations 20", "--iterations 80")
IN_TURNS = ALONE.replace("--progress-mode poll", "--progress-mode thread").replace("--sizes 8", "--sizes 64")
EVENT = CASE.replace("--transports shm", "--transports tcp").replace("poll", "event")
# All the time that a busy machine takes.
LONG_S = 900
METRICS = {"latency_us", "bandwidth_GBps"}


def duets_of(run):
    """By launch of its case of 8 B."""
    case = only([case for case in run["cases"] if "/8B" in case["key"]])
    return {launch["launch"]: launch.get("duet") for launch in case["launches"]}


def both(folder):
    found = files(folder)
    return [found[side][1] for side in ("base", "new")]


def test_cases_that_can_are_duets_and_others_take_turns(bench, tmp_path):
    done = bench(*ab(tmp_path, "--json", "verdicts.json", launches=2, cases=(CASE, IN_TURNS)))
    assert done.code == 0, done
    assert "2 launches of each side as duets" in done.err
    assert [line.partition(",")[0] for line in done.err.splitlines() if line.startswith("launch ")] == ["launch 1/2", "launch 2/2"]
    rows = json.loads((tmp_path / "verdicts.json").read_text())["series"]
    assert len(rows) == 4 and {row["by"] for row in rows} == {"launches", "duets"}
    for row in rows:
        assert row["by"] == ("launches" if "/64B" in row["key"] else "duets"), row
        shown = only([line for line in done.out.splitlines() if f"{row['key']}  " in line and f" {row['metric']} " in line])
        # Where the scheduler gave two launches other CPUs there is nothing to compare.
        by = " -" if row["base"] is None else " launches in turns" if "/64B" in row["key"] else "2 duets"
        assert shown.endswith(by), (shown, row)
        assert row["in_turns"] == ("--progress-mode thread" if "/64B" in row["key"] else None)
    assert "measured in turns, no duets: 2 rows (--progress-mode thread)" in done.out
    base, new = both(tmp_path)
    # Who begins a launch is drawn.
    first, second = zip(base["run"]["ab"]["turns"], new["run"]["ab"]["turns"], strict=True)
    assert sorted(first) == [0, 1] and sorted(second) == [2, 3]
    assert base["run"]["ab"]["side_by_side"] and base["run"]["state"] == new["run"]["state"] == "complete"
    for one, other in zip(duets_of(base).values(), duets_of(new).values(), strict=True):
        assert one["id"] == other["id"] and one["first"] == other["first"] and set(one["blocks"]) == METRICS
        for metric, blocks in one["blocks"].items():
            theirs = other["blocks"][metric]
            assert blocks["quads"] == theirs["quads"] and blocks["iterations"] == theirs["iterations"] == 20
            assert len(blocks["values"]) == len(theirs["values"]) == 2 * len(blocks["quads"]) >= 10
            assert all(value > 0 for value in blocks["values"] + theirs["values"])
    assert len({duet["id"] for duet in duets_of(base).values()}) == 2
    for run in (base, new):
        other = only([case for case in run["cases"] if "/64B" in case["key"]])
        assert [launch["launch"] for launch in other["launches"]] == [0, 1]
        assert other["in_turns"] == "--progress-mode thread"
        assert not any("duet" in launch for launch in other["launches"])
        for case in run["cases"]:
            assert case["state"] == "measured" and case["verified"]["errors"] == 0
    # Blocks say nothing of the tail of single messages.
    latency = only([case for case in base["cases"] if "/8B" in case["key"]])["metrics"]["latency_us"]
    assert latency["p50"] > 0 and latency["p90"] is None
    assert bench("compare", *(files(tmp_path)[side][0] for side in ("base", "new"))).out == done.out


def bound(ranks):
    cpus = sorted(os.sched_getaffinity(0))
    return f"-n {ranks} --bind " + ",".join(str(cpus[rank % len(cpus)]) for rank in range(ranks))


@pytest.mark.release_only
def test_both_ways_of_two_pairs(bench, tmp_path):
    done = bench(*ab(tmp_path, launches=1, cases=(f"{EVENT} {bound(4)} --bidirectional",)))
    assert done.code == 0, done
    for run in both(tmp_path):
        pairs = only([case for case in run["cases"] if "/8B" in case["key"]])["launches"]
        assert sorted((pair["src"], pair["dst"]) for pair in pairs) == [(0, 1), (2, 3)]
        for pair in pairs:
            assert set(pair["duet"]["blocks"]) == {*METRICS, "bandwidth_bidirectional_GBps"}


WORKLOADS = ("merge -n 2 --rows 20K --runs 3", "halo -n 2 --size 64 --steps 2 --runs 3")


def test_workloads_by_whole_iterations(bench, tmp_path):
    done = bench(*ab(tmp_path, "--method", "duet", launches=1, cases=[f"{load} --transports shm --progress-mode poll --no-memory-copy" for load in WORKLOADS]))
    assert done.code == 0, done
    base, new = both(tmp_path)
    for one, other in zip(base["cases"], new["cases"], strict=True):
        if one["benchmark"] == "canary":
            continue
        (launch,), (theirs,) = one["launches"], other["launches"]
        assert launch["duet"]["id"] == theirs["duet"]["id"]
        for run in (launch, theirs):
            blocks = run["duet"]["blocks"]["wall_ms"]
            assert blocks["quads"] == launch["duet"]["blocks"]["wall_ms"]["quads"] and 2 <= len(blocks["quads"]) <= 50
            assert blocks["values"] == run["samples"]["wall_ms"] and len(blocks["values"]) == 2 * len(blocks["quads"])
            iterations = blocks["iterations"] * len(blocks["values"])
            assert run["iterations"] == iterations
        assert one["verified"]["errors"] == 0 and one["verified"]["checked"] >= iterations


# Ranks whose turn it is not wait on both sides.
@pytest.mark.release_only
def test_pairs_one_after_the_other_and_all_at_once(bench, tmp_path):
    case = f"p2p {bound(3)} --sizes 4KiB --transports tcp --progress-mode event --iterations 20 --warmup-runs 0"
    done = bench(*ab(tmp_path, "--method", "duet", launches=1, cases=(f"{case} --concurrent one,disjoint,all",)))
    assert done.code == 0, done
    for run in both(tmp_path):
        for case in run["cases"]:
            if case["benchmark"] == "canary":
                continue
            assert case["verified"]["errors"] == 0 and len(case["launches"]) == 6
            for pair in case["launches"]:
                blocks = pair["duet"]["blocks"]
                assert len(blocks["bandwidth_GBps"]["quads"]) == 8 and len(blocks["bandwidth_GBps"]["values"]) == 16
                all_pairs = case["parameters"]["concurrent"] == "all" and (pair["src"], pair["dst"]) == (0, 1)
                # Streams so short need not have had any time in common.
                assert all_pairs or "together_GBps" not in blocks


@pytest.mark.release_only
def test_dry_run_says_how(bench, tmp_path):
    done = bench("--dry-run", *ab(tmp_path, cases=(CASE, IN_TURNS)))
    assert done.code == 0, done
    assert done.out.count("1 case x 2 launches, as duets") == 2, done
    assert done.out.count("1 case x 2 launches, in turns: --progress-mode thread") == 2, done


@pytest.mark.release_only
def test_turns_if_asked(bench, tmp_path):
    done = bench(*ab(tmp_path, "--method", "turns", launches=1, cases=(CASE,)))
    assert done.code == 0, done
    assert "launch 1/1 base" in done.err and "launch 1/1 new" in done.err
    for run in both(tmp_path):
        assert only(list(duets_of(run).values())) is None and not run["run"]["ab"]["side_by_side"]
        assert run["run"]["ab"]["in_turns"] == "--method turns"


def older_program(folder, says):
    """As this one, but for duets."""
    program = folder / "old"
    program.write_text(f'#!/bin/sh\ncase "$*" in *--duet*) echo "ucx-bench: {says}" >&2; exit 2;; esac\nexec {PROGRAM} "$@"\n')
    program.chmod(0o700)
    return "./old"


@pytest.mark.release_only
def test_an_older_program_takes_turns(bench, tmp_path):
    old = older_program(tmp_path, "suite: unknown option '--duet'")
    done = bench(*ab(tmp_path, "--base", old, launches=1, cases=(ALONE,)))
    assert done.code == 0, done
    assert "--base ./old: no duets, all is measured in turns: it ended with status 2: suite: unknown option '--duet'" in done.err
    assert "launch 1/1 base" in done.err
    assert "2 rows (--base ./old ended with status 2: suite: unknown option '--duet')" in " ".join(done.out.split())
    done = bench(*ab(tmp_path, "--base", old, "--method", "duet", launches=1, cases=(ALONE,)))
    assert done.code == 2 and "--base ./old: cannot measure this suite as duets: it ended with status 2" in only(done.complaints)


# Measures, and then says of each block what it did not measure: whether the machine is steady is no question here.
STEADY = f"""#!{sys.executable}
import json, os, pathlib, subprocess, sys
words = sys.argv[1:]
status = subprocess.run([{PROGRAM!r}, *words]).returncode
file = pathlib.Path(words[words.index("--json") + 1]) if "--json" in words else None
if status != 0 or "--dry-run" in words or file is None or not file.is_file():
    sys.exit(status)
run = json.loads(file.read_text())
for case in run["cases"]:
    for launch in case["launches"]:
        if "duet" not in launch:
            continue
        times = TIMES
        blocks = launch["duet"]["blocks"]["latency_us"]
        blocks["values"] = [10 * times] * len(blocks["values"])
file.write_text(json.dumps(run))
"""


def bytes_in(row):
    return "8B" if "/8B" in row["key"] else "64B"


@pytest.mark.release_only
def test_what_is_decided_is_left_out_of_the_rest(bench, tmp_path):
    for name, times in (("base", "1"), ("new", '2 if "/8B" in case["key"] else (0.9, 1.12)[launch["launch"] % 2]')):
        (tmp_path / name).write_text(STEADY.replace("TIMES", times))
        (tmp_path / name).chmod(0o700)
    case = CASE.replace("--sizes 8", "--sizes 8,64 --measure latency")
    command = (*ab(tmp_path, "--base", "./base", "--new", "./new", launches=6, cases=(case,)), "--alpha", "0.5", "--json", "verdicts.json")
    done = bench(*command, limit_s=LONG_S)
    assert done.code == 0, done
    found = json.loads((tmp_path / "verdicts.json").read_text())
    assert [look["after"] for look in found["looks"]] == [5, 6] and sum(look["share"] for look in found["looks"]) == pytest.approx(0.7)
    rows = {bytes_in(row): row for row in found["series"]}
    assert [(rows[size]["verdict"], rows[size]["base_launches"]) for size in ("8B", "64B")] == [("regressed", 5), ("inconclusive", 6)]
    assert rows["8B"]["ratio"] == pytest.approx(2)
    assert "duets judged after 5, 6" in done.out and "5 duets" in done.out and "6 duets" in done.out
    assert "6 launches of each side in " in done.err and "decided and left out of the rest: 1 after 5" in done.err
    for run in both(tmp_path):
        assert (run["run"]["ab"]["looks"], run["run"]["ab"]["planned"]) == ([5, 6, 9, 12, 18], 6) and run["run"]["state"] == "complete"
        counts = {bytes_in(case): len(case["launches"]) for case in run["cases"] if case["benchmark"] != "canary"}
        assert counts == {"8B": 5, "64B": 6}
    again = bench("compare", *(files(tmp_path)[side][0] for side in ("base", "new")), "--alpha", "0.5", "--json", "-")
    assert json.loads(again.out) == found
    # What was saved is too little for any look at the other; with more time it goes on.
    shutil.rmtree(tmp_path / "runs")
    done = bench(*command, "--max-time", "10min", limit_s=LONG_S)
    assert done.code == 0, done
    assert "launch 7, 1 undecided case" in done.err and "undecided cases measured on: 1 after 6" in done.err
    assert "18 launches of each side in " in done.err and "duets judged after 5, 6, 9, 12, 18" in done.out
    found = json.loads((tmp_path / "verdicts.json").read_text())
    assert [look["share"] for look in found["looks"]][2:] == pytest.approx([0.075, 0.075, 0.15])
    assert {bytes_in(row): row["base_launches"] for row in found["series"]} == {"8B": 5, "64B": 18}
    for run in both(tmp_path):
        (longest,) = [case["launches"] for case in run["cases"] if "/64B" in case["key"]]
        assert [launch["launch"] for launch in longest] == list(range(18)) and run["run"]["state"] == "complete"
    again = bench("compare", *(files(tmp_path)[side][0] for side in ("base", "new")), "--alpha", "0.5", "--json", "-")
    assert json.loads(again.out) == found


@pytest.mark.release_only
def test_max_time_is_of_all(bench, tmp_path):
    done = bench("--dry-run", *ab(tmp_path, "--max-time", "500ms", cases=(CASE,)))
    assert done.code == 2 and "--max-time 500ms: one launch of both sides takes about " in only(done.complaints)
    done = bench("--dry-run", *ab(tmp_path, "--max-time", "1min", launches=10_000, cases=(CASE,)))
    assert done.code == 0 and "both sides together: 10000 x " in done.out and "; ends after 60 s" in done.out, done
    done = bench(*ab(tmp_path, "--max-time", "3s", launches=500, cases=(CASE,)))
    assert done.code == 0, done
    for run in both(tmp_path):
        count = len(duets_of(run))
        assert run["run"]["left_out"] == f"--max-time 3s was too short for all launches: both have {count} of 500"
    assert f"both have {count} of 500" in done.err
    # Of the signs of 10 duets, 2^-9 is less than half of alpha (0.005), and 9 have an interval that may say "unchanged".
    too_few = "too few launches for a verdict among 2 tests: use a longer max-time" in " ".join(done.out.split())
    assert count == 9 or too_few == (count < 9), done


@pytest.mark.release_only
def test_sides_with_other_cases_take_turns(bench, tmp_path):
    program = tmp_path / "new"
    program.write_text(f'#!/bin/sh\nsed "s/--sizes 8/--sizes 8,64/" suite.toml > other.toml\nfor word; do shift; [ "$word" = suite.toml ] && word=other.toml; set -- "$@" "$word"; done\nexec {PROGRAM} "$@"\n')
    program.chmod(0o700)
    done = bench(*ab(tmp_path, "--new", "./new", launches=1, cases=(ALONE,)))
    assert done.code == 0, done
    assert "measured in turns, no duets: 2 rows (the other side has other cases, other CPUs, or cannot pause)" in " ".join(done.out.split())
    base, new = both(tmp_path)
    assert only(list(duets_of(base).values())) is None and only(list(duets_of(new).values())) is None
    assert len(new["cases"]) == len(base["cases"]) + 1 and "2 new" in done.out


@pytest.mark.release_only
@pytest.mark.parametrize(
    ("case", "words"),
    [
        (IN_TURNS, "--progress-mode thread; --method auto measures the rest in turns"),
        (CASE + " --bind none", "the ranks are not bound to CPUs"),
        (CASE + " --wrap env", "--wrap"),
        ("cold --transports shm", "cold cannot pause"),
    ],
)
def test_what_cannot_be_a_duet_is_refused_if_asked(bench, tmp_path, case, words):
    done = bench(*ab(tmp_path, "--method", "duet", cases=(case,)))
    assert done.code == 2, done
    assert words in only(done.complaints)


@pytest.mark.release_only
def test_wrong_words(bench, tmp_path):
    done = bench(*ab(tmp_path, "--method", "both"))
    assert done.code == 2 and "--method: unknown method 'both'" in only(done.complaints)
    done = bench("suite", "suite.toml", "--launch", "1/2", "--duet", "base:/nowhere")
    assert done.code == 2 and "'/nowhere' is no memory of an ab that runs" in only(done.complaints)


FIRST = CASE.replace("--sizes 8", "--sizes 64 --measure latency")
HALO = (f"{WORKLOADS[1]} --transports shm --progress-mode poll", "run 3")
P2P = ("p2p -n 2 --sizes 8 --concurrent one --transports shm --progress-mode poll", "one pair at once, round 1")


def assert_first_is_kept(folder, sides=("base", "new")):
    """The duet that was over before something happened to the next."""
    found = files(folder)
    for side in sides:
        first = only([case for case in found[side][1]["cases"] if "/64B" in case["key"]])
        assert "latency_us" in only(first["launches"])["duet"]["blocks"]


@pytest.mark.thinned(2)
@pytest.mark.parametrize(("case", "phase"), [HALO, P2P], ids=["halo", "p2p"])
def test_a_rank_that_is_killed_ends_both_sides(fault, tmp_path, case, phase):
    options = ["FAULT_ACTION=kill", "FAULT_RANK=1", f"FAULT_PHASE={phase}", f"FAULT_FOLDER={tmp_path / 'pids'}", f"LD_PRELOAD={SHIM}"]
    command = ab(tmp_path, *[word for option in options for word in ("--new-env", option)], cases=(FIRST, case))
    done = fault.run("none", 9, "nothing", command=command).finish()
    assert done.code == 5, done
    assert any("launch 1/2 new ended with status 5: rank 1 on " in line and "signal 9" in line for line in done.complaints), done
    fault.assert_nothing_is_left()
    assert not any(path.name.startswith(".") for path in (tmp_path / "runs").iterdir())
    assert_first_is_kept(tmp_path)


@pytest.mark.thinned(3)
@pytest.mark.parametrize(("rank", "case", "phase"), [(0, CASE, "8 B: latency"), (1, *HALO), (1, *P2P)], ids=["pingpong", "halo", "p2p"])
def test_ctrl_c_ends_both_sides(fault, tmp_path, rank, case, phase):
    running = fault.run("hold", rank, phase, command=ab(tmp_path, cases=(FIRST, case)))
    fault.acted_at()
    running.signal(signal.SIGINT)
    done = fault.finish_in_time()
    assert done.code == 130, done
    assert all(run["run"]["state"] == "interrupted" for _, run in files(tmp_path).values())
    fault.assert_nothing_is_left()
    assert_first_is_kept(tmp_path)


def test_its_death_ends_both_programs(fault, tmp_path):
    running = fault.run("hold", 0, "8 B: latency", command=ab(tmp_path, cases=(CASE,)))
    fault.acted_at()
    running.signal(signal.SIGKILL)
    running.finish()
    fault.assert_nothing_is_left()


@pytest.mark.thinned(2)
@pytest.mark.parametrize(("case", "phase"), [HALO, P2P], ids=["halo", "p2p"])
def test_the_death_of_one_program_ends_the_other(fault, tmp_path, case, phase):
    done = fault.run("kill-parent", 0, phase, command=ab(tmp_path, cases=(FIRST, case))).finish()
    assert done.code == 5, done
    assert any("was killed by signal 9" in line for line in done.complaints), done
    fault.assert_nothing_is_left()
    assert all(run["run"]["state"] == "failed" for _, run in files(tmp_path).values())
    assert_first_is_kept(tmp_path)


@needs_both
def test_memory_of_an_emulated_gpu(bench, tmp_path):
    case = f"pingpong {bound(2)} --transports tcp --memory cuda --sizes 64KiB --max-time 60ms --iterations 20 --warmup-runs 0 --progress-mode event"
    report = {"CUDA_EMULATOR_REPORT": str(tmp_path / "report"), "CUDA_EMULATOR_GPU_BYTES": str(4 << 30)}
    done = bench(*ab(tmp_path, "--method", "duet", launches=1, cases=(case,)), environment=LIBRARIES | report)
    assert done.code == 0, done
    for run in both(tmp_path):
        case = only([case for case in run["cases"] if "/64KiB" in case["key"]])
        assert "emulated-gpu" in case["labels"] and case["verified"]["errors"] == 0
        assert set(only(case["launches"])["duet"]["blocks"]) == METRICS
    reports = [json.loads(file.read_text()) for file in tmp_path.glob("report.*")]
    assert sum(report["device_allocations"] > 0 for report in reports) == 4
    assert all(report["left_allocated_bytes"] == 0 for report in reports)
