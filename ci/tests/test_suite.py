"""Cases of several commands in one run, their launches in turns, and the host watched beside them."""

import json
import signal

import pytest
from conftest import ROOT, only

PINGPONG = "pingpong --transports shm --sizes 8 --iterations 80 --bind none --no-memory-copy"
MERGE = "merge -n 2 --rows 10K --transports shm --runs 1 --bind none --no-transfer-log --no-memory-copy"


def suite(folder, *cases, launches=2, **limits):
    lines = [f"launches = {launches}"] + [f'{name} = "{value}"' for name, value in limits.items()]
    lines += [line for case in cases for line in ("[[case]]", f'args = "{case}"')]
    (folder / "suite.toml").write_text("\n".join(lines) + "\n")
    return ["suite", "suite.toml", "--json", "run.json"]


def split(run):
    """The cases of UCX, and the canaries by key."""
    canaries = {case["key"]: case for case in run["cases"] if case["benchmark"] == "canary"}
    return [case for case in run["cases"] if case["benchmark"] != "canary"], canaries


def test_two_commands_in_turns(bench, tmp_path):
    done = bench(*suite(tmp_path, PINGPONG, MERGE, launches=3))
    assert done.code == 0, done
    lines = [line for line in done.err.splitlines() if line.startswith("launch ")]
    # There and back again, so that neither is always the first.
    a, b = "shm, case 1", "shm, case 2"
    assert lines == [f"launch {i + 1}/3 {of}" for i, pair in enumerate([(a, b), (b, a), (a, b)]) for of in pair]
    assert "suite.toml: 2 cases, 3 launches of each; compare can give a verdict from 7 on" in done.err
    run = done.file
    assert run["run"]["state"] == "complete"
    cases, canaries = split(run)
    assert [case["benchmark"] for case in cases] == ["pingpong", "merge"]
    for case in cases:
        assert case["state"] == "measured" and case["verified"]["errors"] == 0
        assert [launch["launch"] for launch in case["launches"]] == [0, 1, 2]
    assert canaries.keys() == {"canary/memcpy", "canary/syscall"}
    for key, metric in (("canary/memcpy", "copy_GBps"), ("canary/syscall", "round_trip_us")):
        assert [launch["launch"] for launch in canaries[key]["launches"]] == [0, 1, 2]
        assert len(canaries[key]["metrics"][metric]["launch_medians"]) == 3
    assert run["ucx"]["environment"]["effective"].keys() == {a, b}
    assert "pingpong tag, host to host, over shm" in done.out and "merge tag" in done.out
    assert "  canary          memcpy " in done.out
    again = bench("report", "run.json")
    assert again.out == done.out, again


def test_two_runs_are_compared(bench, tmp_path):
    assert bench(*suite(tmp_path, PINGPONG), "--quiet").code == 0
    run = json.loads((tmp_path / "run.json").read_text())

    def recorded(name, factor):
        """The same with twelve launches without noise, its canaries `factor` times as high."""
        run["run"]["id"] = name
        for case in run["cases"]:
            for metric in case["metrics"].values():
                value = metric["p50"] * (factor if case["benchmark"] == "canary" else 1)
                metric["launch_medians"] = [value * (1 + 0.0001 * i) for i in range(12)]
        (tmp_path / f"{name}.json").write_text(json.dumps(run))
        return f"{name}.json"

    base, same, moved = recorded("base", 1), recorded("same", 1), recorded("moved", 1.5)
    quiet = bench("compare", base, same, "--fail-on", "inconclusive")
    assert quiet.code == 0 and quiet.out.splitlines()[0] == "2 unchanged", quiet
    done = bench("compare", base, moved, "--fail-on", "regression,inconclusive")
    assert done.code == 6, done
    assert done.out.splitlines()[0] == "host reference drifted: 2 inconclusive"
    words = " ".join(done.out.split())
    assert "! host reference drifted: canary/memcpy copy_GBps" in words and "canary/syscall round_trip_us" in words
    # Once beside the host reference, not for each row, and in the last line.
    before, _, last = words.partition("nothing was decided: 2 of 2 rows are inconclusive")
    assert before.count("rerun interleaved") == last.count("rerun interleaved") == 1, done
    comparison = json.loads(bench("compare", base, moved, "--json", "-").out)
    assert comparison["host_changed"] and {canary["key"] for canary in comparison["canaries"]} == {
        "canary/memcpy", "canary/syscall"}


def test_what_does_not_fit_into_max_time(bench, tmp_path):
    # The first launch always takes place, and no process starts in so little time.
    other = PINGPONG.replace("--sizes 8", "--sizes 16")
    done = bench(*suite(tmp_path, PINGPONG, other, launches=10, max_time="1ms"))
    assert done.code == 0, done
    cases, canaries = split(done.file)
    assert [case["state"] for case in cases] == ["measured", "skipped"]
    assert cases[1]["reason"] == "max_time, 1ms, was over before its first launch"
    assert len(cases[0]["launches"]) == len(canaries["canary/memcpy"]["launches"]) == 1
    finding = only([found for found in done.file["findings"] if found["id"] == "max-time"])
    assert finding["id"] == "max-time" and "shm, case 1 has 1 of 10; shm, case 2 has 0 of 10" in finding["evidence"]
    assert done.file["run"]["state"] == "complete"


def test_ctrl_c_keeps_what_there_is(fault, tmp_path):
    running = fault.run("hold", 0, "16 B: first message", command=suite(
        tmp_path, PINGPONG, PINGPONG.replace("--sizes 8", "--sizes 16"), MERGE))
    fault.acted_at()
    running.signal(signal.SIGINT)
    done = fault.finish_in_time()
    assert done.code == 130, done
    cases, _ = split(done.file)
    assert done.file["run"]["state"] == "interrupted"
    assert [case["state"] for case in cases][0::2] == ["measured", "skipped"]
    fault.assert_nothing_is_left()


def test_files_that_others_read(bench, tmp_path):
    arguments = suite(tmp_path, PINGPONG, launches=1)[:2]
    done = bench(*arguments, "--json", "runs/", "--csv", "-", "--tag", "branch=main")
    assert done.code == 0, done
    file = only(list((tmp_path / "runs").glob("*/*-*/*-suite-*.json")))
    run = json.loads(file.read_text())
    assert run["run"]["tags"] == {"branch": "main"}
    machine = file.parent.parent
    assert (machine.name, file.parent.name) == (run["machine"]["id"], run["run"]["started_utc"][:7])
    facts = json.loads(only(list(machine.glob("machine-*.json"))).read_text())
    assert facts["hosts"][0]["cpu_model"] == run["machine"]["hosts"][0]["cpu_model"]
    wiring = machine / f"topology-{run['machine']['topology_hash']}.json"
    assert json.loads(wiring.read_text())["devices"] == run["topology"]["devices"]
    assert bench("topo", "--import", wiring).code == 0
    assert "canary/memcpy,canary," in done.out
    # What a run measures of its machine is no fact of it: a second run adds no file.
    assert bench(*arguments, "--json", "runs/").code == 0
    assert len(list(machine.glob("*/*-suite-*.json"))) == 2
    only(list(machine.glob("machine-*.json")))


def test_dry_run_measures_nothing(bench, tmp_path):
    done = bench("--dry-run", *suite(tmp_path, PINGPONG, MERGE))
    assert done.code == 0, done
    assert "shm, case 1: 1 case x 2 launches" in done.out and "shm, case 2: 1 case" in done.out
    assert not (tmp_path / "run.json").exists()


@pytest.mark.parametrize(
    ("case", "words"),
    [
        ("pingpong --sizs 8", "unknown option '--sizs': did you mean '--sizes'?"),
        ("pingpong --sizes none", "--sizes"),
        ("pingpong --launches 3", "--launches is for the whole suite"),
        ("pingpong --json x.json", "--json is for the whole suite"),
        ("pingpong --listen", "--listen is for the whole suite, not for a case"),
        ("pinpong", "unknown command 'pinpong': did you mean 'pingpong'?"),
        ("--", "no command"),
        ("topo", "unknown command 'topo'"),
        ("pingpong --help", "--help is no case"),
        ("pingpong --net-devices nosuch0", "nosuch0"),
        ("merge --rows 10K --rows", "--rows"),
        ("pingpong --wrap 'open", "quote"),
    ],
)
def test_refusals_name_file_line_and_case(bench, tmp_path, case, words):
    done = bench(*suite(tmp_path, PINGPONG, case))
    assert done.code == 2, done
    line = only(done.complaints)
    assert line.startswith("ucx-bench: suite.toml:4: case 2: ") and words in line
    assert not (tmp_path / "run.json").exists()


def test_other_refusals(bench, tmp_path):
    done = bench(*suite(tmp_path, PINGPONG, PINGPONG))
    assert done.code == 2 and "pingpong/tag/host-host/shm/8B would be measured twice" in only(done.complaints)
    (tmp_path / "suite.toml").write_text('[[case]]\narg = "p2p"\n')
    done = bench("suite", "suite.toml")
    assert done.code == 2 and "suite.toml:2: case 1: unknown key 'arg': did you mean 'args'?" in only(done.complaints)
    done = bench("suite", "none.toml")
    assert done.code == 2 and "cannot read 'none.toml': No such file" in only(done.complaints)


@pytest.mark.parametrize(
    ("file", "launches", "case"),
    [
        ("suite.toml", 24, "pingpong/stream/host-host/shm/8MiB"),
        ("small-suite.toml", 10, "pingpong/tag/host-host/tcp/64KiB"),
    ],
)
def test_the_suites_of_ci_are_some(bench, file, launches, case):
    done = bench("--dry-run", "suite", ROOT / "ci" / file)
    assert done.code == 0, done
    assert case in done.out and "transpose/" in done.out
    # With the launches that they get, compare can give verdicts.
    needed = int(done.err.split("verdict from ")[1].split()[0])
    assert needed <= launches and f" {launches} launches of each" in done.err
