"""ucx-bench check: the gate of a site, and the file that it begins with."""

import json
import re
import shutil
import statistics
import subprocess
import tomllib

import pytest
from conftest import ROOT, only
from emulated_gpu import LIBRARIES, needs_both
from junit_xml import junit_cases


def site(folder, *expectations, **top):
    lines = [f"{name} = {json.dumps(value)}" for name, value in top.items()]
    for expectation in expectations:
        lines += ["[[expect]]", *(f"{name} = {json.dumps(value)}" for name, value in expectation.items())]
    (folder / "site.toml").write_text("\n".join(lines) + "\n")
    return ["check", "--expect", "site.toml", "--json", "run.json", "--max-time", "10min"]


def limits(done):
    return done.file["run"]["check"]["limits"]


# No machine is so slow, or so fast, that these were a question of its speed.
EASY = {"min_GBps": 1e-6, "max_us": 1e9}
HARD = {"min_GBps": 1e6, "max_us": 1e-6}
HARD_LATENCY = {"max_us": 1e-6}  # takes one case, of small messages


def test_what_is_met(bench, tmp_path):
    done = bench(*site(tmp_path, {"transports": "shm", "path": "shm", **EASY}))
    assert done.code == 0, done
    assert [(limit["limit"], limit["verdict"]) for limit in limits(done)] == [
        ("min_GBps", "met"), ("max_us", "met"), ("path", "met")]
    assert all(limit["measured"] > 0 and limit["place"] == "site.toml:1" for limit in limits(done))
    assert done.file["run"]["check"]["verdict"] == "met"
    lines = done.out.splitlines()
    assert len(lines) == 3 and all(line.startswith("met ") for line in lines), done
    assert "GB/s, limit >= 1e-06" in lines[0] and "us, limit <= 1e+09" in lines[1]
    # One case each, in three launches that take turns.
    assert [case["benchmark"] for case in done.file["cases"]] == ["p2p", "pingpong"]
    assert {record["launch"] for record in done.file["cases"][1]["launches"]} == {0, 1, 2}


def prometheus_samples(file):
    """The text format 0.0.4, with what `promtool check metrics` asks for: {(name, its labels): value}."""
    samples, helped, typed, families = {}, set(), set(), []
    text = file.read_text()
    assert text.endswith("\n")
    for line in text.splitlines():
        if line.startswith("# HELP "):
            name, words = line[7:].split(" ", 1)
            assert name not in helped and words
            helped.add(name)
        elif line.startswith("# TYPE "):
            name, kind = line[7:].split()
            assert name not in typed and kind == "gauge" and not name.endswith(("_total", "_count", "_sum", "_bucket", "_gauge"))
            typed.add(name)
        else:
            # No time stamp: the collector refuses them.
            name, labels, value = re.fullmatch(r"([a-z_]+)\{(.*)\} (\S+)", line).groups()
            assert name in helped and name in typed
            assert not re.search(r"milli|micro|kilo|giga|_us\b|_ms\b|GBps", name)
            if not families or families[-1] != name:
                assert name not in families
                families.append(name)
            pairs = re.findall(r'([a-z_]+)="((?:[^"\\\n]|\\["\\n])*)"', labels)
            assert ",".join(f'{key}="{of}"' for key, of in pairs) == labels
            assert (name, labels) not in samples
            samples[name, labels] = float(value)
    assert helped == typed == set(families)
    return samples


def test_what_is_missed(bench, tmp_path):
    for_others = ["--junit", "check.xml", "--prometheus", "check.prom"]
    done = bench(*site(tmp_path, {"transports": "shm", **HARD}, {"transports": "shm", "min_GBps": 1e-6}), *for_others)
    assert done.code == 1, done
    cases = junit_cases(tmp_path / "check.xml")
    host = done.file["machine"]["hosts"][0]["name"]
    assert {classname for classname, _ in cases} == {host}
    assert [end is not None and end.get("type") for end in cases.values()] == ["missed", "missed", False]
    said = " ".join(done.out.split())
    assert all(end is None or end.text in said for end in cases.values())
    samples = prometheus_samples(tmp_path / "check.prom")
    assert sorted(value for (name, _), value in samples.items() if name == "ucxbench_check_limit_met") == [0, 0, 1]
    assert [value for (name, _), value in samples.items() if name == "ucxbench_check_bandwidth_limit_bytes_per_second"] == [1e15, 1e3]
    measured = [value for (name, _), value in samples.items() if name == "ucxbench_check_latency_seconds"]
    assert only(measured) == pytest.approx(limits(done)[1]["measured"] * 1e-6, rel=1e-4)
    assert samples["ucxbench_check_met", 'expectations="site.toml"'] == 0
    assert [limit["verdict"] for limit in limits(done)] == ["missed", "missed", "met"]
    first = done.out.splitlines()[0]
    assert first.startswith("missed ") and "(under 1 % of it), slowest pair " in first
    assert "[site.toml:1]" in done.out and all(len(line) <= 100 for line in done.out.splitlines())
    assert len(done.file["cases"]) == 2  # one p2p serves both
    quiet = bench("--quiet", *site(tmp_path, {"transports": "shm", **HARD_LATENCY, "path": "shm"}))
    assert quiet.code == 1 and len(re.findall(r"^missed ", quiet.out, re.M)) == 1 and "met " not in quiet.out and not quiet.err


def test_what_prometheus_checks_itself(bench, tmp_path):
    if not shutil.which("promtool"):
        pytest.skip("no promtool (package prometheus)")
    done = bench(*site(tmp_path, {"transports": "shm", "min_GBps": 1e-6, "max_us": 1e6, "path": "shm"}), "--prometheus", "check.prom")
    assert done.code == 0, done
    with open(tmp_path / "check.prom") as metrics:
        checked = subprocess.run(["promtool", "check", "metrics"], stdin=metrics, capture_output=True, text=True, timeout=20)
    assert (checked.returncode, checked.stdout + checked.stderr) == (0, "")


def test_another_path_is_missed(bench, tmp_path):
    done = bench(*site(tmp_path, {"transports": "shm", "path": "tcp"}))
    assert done.code == 1, done
    assert only(limits(done))["verdict"] == "missed" and "0 % over tcp" in done.out


def test_a_transport_that_is_not_here(bench, tmp_path):
    arguments = site(tmp_path, {"transports": "tcp,nvlink", "memory": "cuda", "class": "NV2", "min_GBps": 1})
    done = bench(*arguments, environment={"CUDA_VISIBLE_DEVICES": ""})
    assert done.code == 3, done
    assert only(limits(done))["verdict"] == "cannot run"
    assert done.out.startswith("cannot run ") and len(done.out.splitlines()) == 1
    # What is certainly missed counts for more than what cannot run.
    both = site(tmp_path, {"transports": "tcp,nvlink", "memory": "cuda", "min_GBps": 1}, {"transports": "shm", **HARD_LATENCY})
    done = bench(*both, environment={"CUDA_VISIBLE_DEVICES": ""})
    assert done.code == 1, done


def test_time_that_does_not_suffice(bench, tmp_path):
    done = bench(*site(tmp_path, {"transports": "shm", **HARD})[:-1], "1us")
    assert done.code == 6, done
    # The first launch is made whatever the limit; one launch is no proof.
    assert [limit["verdict"] for limit in limits(done)] == ["inconclusive", "inconclusive"]
    assert done.out.splitlines()[-1] == "nothing was decided: 2 of 2 limits are inconclusive; the lines above say why", done
    assert "only one ran" in " ".join(done.out.split()) and "max_time, " in done.out


@needs_both
def test_classes_of_gpu_pairs(bench, tmp_path):
    gpus = {"transports": "tcp,nvlink", "memory": "cuda", **EASY}
    arguments = site(tmp_path, {"class": "NV4", **gpus}, {"class": "SYS", **gpus})
    libraries = LIBRARIES | {"CUDA_EMULATOR_GPU_BYTES": str(4 << 30)}
    done = bench(*arguments, environment=libraries)
    assert done.code == 3, done
    assert [limit["verdict"] for limit in limits(done)] == ["met", "met", "cannot run", "cannot run"]
    assert limits(done)[2]["why"] == "no pair of class SYS was measured, only NV4"
    assert "[site.toml:" in done.out and " cuda, NV4 " in done.out


@pytest.mark.release_only
def test_json_on_stdout_is_alone_there(bench, tmp_path):
    done = bench(*site(tmp_path, {"transports": "shm", "max_us": 1e9})[:4], "-")
    assert done.code == 0, done
    assert json.loads(done.out)["run"]["check"]["verdict"] == "met"


def test_a_starting_file(bench, tmp_path):
    short = bench("check", "--write-expect", "site.toml", "--max-time", "1us")
    assert short.code == 6 and "raise it" in only(short.complaints) and not (tmp_path / "site.toml").exists()
    done = bench("check", "--write-expect", "site.toml", "--json", "run.json", "--max-time", "10min")
    assert done.code == 0, done
    text = (tmp_path / "site.toml").read_text()
    assert text.startswith("# Limits from a measurement on ")
    quality = re.search(r"^# quality (good|fair|poor)", text, re.MULTILINE)[1]
    assert ("these limits are of a poor run" in done.err) == (quality == "poor")
    assert "the slowest pair's GB/s x 0.8, its one-way us x 1.5" in text
    found = tomllib.loads(text)
    assert found["ranks"] == 2
    sets = [expectation["transports"] for expectation in found["expect"]]
    assert sets[:2] == ["shm", "tcp"]
    shm = found["expect"][0]
    assert shm["path"] == "shm"
    case = next(case for case in done.file["cases"] if case["key"].startswith("p2p/tag/host-host/shm/"))
    pairs = {}
    for launch in case["launches"]:
        pairs.setdefault((launch["src"], launch["dst"]), []).append(launch["quantiles"]["bandwidth_GBps"]["p50"])
    slowest = min(statistics.median(medians) for medians in pairs.values())
    assert 0.7 * slowest < shm["min_GBps"] <= 0.8 * slowest * 1.001
    # The file is right; whether its first expectation is met is the machine's affair.
    assert bench("--dry-run", "check", "--expect", "site.toml").code == 0
    (tmp_path / "first.toml").write_text("[[expect]]".join(text.split("[[expect]]")[:2]))
    again = bench("check", "--expect", "first.toml", "--json", "run.json", "--max-time", "10min")
    assert again.code in (0, 1, 6), again
    assert {limit["limit"] for limit in limits(again)} == {"min_GBps", "max_us", "path"}
    kept = bench("check", "--write-expect", "site.toml")
    assert kept.code == 2 and "exists already, with nodes like this one ('node1')" in only(kept.complaints)
    # It is of nodes like this one; another has other limits, or none.
    assert {expectation["node"] for expectation in found["expect"]} == {"node1"}
    assert only(found["node"])["cpu"] == (done.file["machine"]["hosts"][0]["cpu_model"] or "")
    other = re.sub(r"^cpu = .*", 'cpu = "Another"', text, flags=re.MULTILINE)
    (tmp_path / "other.toml").write_text(other)
    (tmp_path / "both.toml").write_text(other + '[[expect]]\ntransports = "shm"\nmax_us = 1e9\n')
    for file, verdicts in (("other.toml", ["cannot run"]), ("both.toml", ["cannot run", "met"])):
        done = bench("check", "--expect", file, "--json", "run.json", "--prometheus", "check.prom", "--markdown", "check.md",
                     "--junit", "check.xml", "--max-time", "10min")
        # No output passes a node of which the file says nothing, whatever all nodes have to meet.
        assert done.code == 3 and f"{file} knows no node like this one (CPU " in " ".join(done.out.split()), done
        assert [limit["verdict"] for limit in limits(done)] == verdicts
        assert f'ucxbench_check_met{{expectations="{file}"}} 0' in (tmp_path / "check.prom").read_text()
        assert "FAIL" in (tmp_path / "check.md").read_text() and 'errors="1"' in (tmp_path / "check.xml").read_text()
    both = bench("--dry-run", "check", "--expect", "both.toml")
    assert "pingpong/tag/host-host/shm/8B" in both.out and "/tcp/" not in both.out
    assert "both.toml knows no node" in only(both.complaints)


def test_dry_run_measures_nothing(bench, tmp_path):
    done = bench("--dry-run", *site(tmp_path, {"transports": "shm", **EASY}, ranks=4))
    assert done.code == 0, done
    planned = done.out.replace("/progress-mode=event", "")  # where there are fewer CPUs
    assert "p2p/tag/host-host/shm/16MiB/concurrent=one/ranks=4" in planned
    assert "pingpong/tag/host-host/shm/8B/measure=latency/pairs=every/ranks=4" in planned
    assert [file.name for file in tmp_path.iterdir()] == ["site.toml"]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ([], "give one of --expect FILE.toml, and --write-expect FILE.toml"),
        (["--expect", "a.toml", "--write-expect", "b.toml"], "give one of --expect FILE.toml, and"),
        (["--expect", "none.toml"], "cannot read 'none.toml': No such file or directory; give a site's TOML file"),
        (["--write-expect", "no/such/site.toml"], "--write-expect no/such/site.toml: No such file"),
        (["--write-expect", "site.toml", "-n", 1], "--ranks 1: check needs at least two"),
        (["--write-expect", "site.toml", "--max-time", "soon"], "--max-time: duration 'soon'"),
    ],
)
def test_refusals(bench, tmp_path, arguments, words):
    done = bench("check", *arguments)
    assert done.code == 2, done
    assert words in only(done.complaints)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("[[expect]\n", "site.toml:1: not TOML: "),
        ('[[expect]]\ntransports = "shm"\nmin_gbps = 1\n', "site.toml:3: unknown key 'min_gbps'"),
        ('[[expect]]\ntransports = "self"\nmin_GBps = 1\n', "site.toml:1: --transports self"),
    ],
)
def test_a_file_that_is_wrong(bench, tmp_path, text, words):
    (tmp_path / "site.toml").write_text(text)
    done = bench("check", "--expect", "site.toml")
    assert done.code == 2, done
    assert words in only(done.complaints)


def test_the_example_of_the_documentation(bench, tmp_path):
    page = (ROOT / "docs/method/check.md").read_text()
    example = page.split("```toml\n", 1)[1].split("```", 1)[0]
    (tmp_path / "site.toml").write_text(example)
    done = bench("--dry-run", "check", "--expect", "site.toml")
    assert done.code == 0, done
