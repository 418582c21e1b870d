"""plot.py draws from the run file alone, and says in one line what it cannot."""

import copy
import itertools
import json
import os
import re
import subprocess
import sys

import matplotlib.figure  # noqa: F401  (for as_a_script)
import pytest

from conftest import ROOT, as_a_script, document, load, named, printed

sys.path.insert(0, str(ROOT / "scripts"))
from plots.picture import parts_of
from runfile import NotARun

MAGIC = {".png": b"\x89PNG", ".svg": b"<?xml", ".pdf": b"%PDF"}


def plot(*arguments):
    """Of files, and where the picture goes."""
    files = list(itertools.takewhile(lambda word: word != "-o", arguments))
    where = arguments[len(files):] or ("-o", files[0].with_suffix(".png"))
    return as_a_script("plot.py", asked(files), *where)


def asked(files):
    return document(files[0].with_suffix(".plot"), runs=[named(file) for file in files])


def refused(status, *arguments):
    done = plot(*arguments)
    assert done.returncode == status, done.stderr
    assert done.stderr.count("\n") == 1, done.stderr
    assert done.stdout == ""
    return done.stderr


@pytest.mark.parametrize("suffix", MAGIC)
def test_draws(run_file, tmp_path, suffix):
    out = tmp_path / f"out{suffix}"
    done = plot(run_file(), "-o", out)
    assert done.returncode == 0, done.stderr
    assert out.read_bytes().startswith(MAGIC[suffix])


def picture(*runs, out):
    """The words of it, as SVG has them."""
    done = plot(*runs, "-o", out)
    assert done.returncode == 0, done.stderr
    return "\n".join(line for line in out.read_text().splitlines() if "<!--" in line)


def test_shows_units_machine_versions_and_a_curve_per_set(run_file, tmp_path):
    text = picture(run_file(), out=tmp_path / "out.svg")
    for part in ("message size", "latency (µs)", "GB/s", "node07", "UCX 1.13.1", "commit 1a2b3c4d5e", "tcp", "shm"):
        assert part in text
    assert "-- ib --" not in text  # skipped: nothing to draw
    assert "progress mode" not in text  # the same everywhere


def with_estimates(run):
    """UCX expects 100 µs of everything, and rendezvous from 64 KiB on."""
    run["cases"] = [case for case in run["cases"] if case["parameters"]["transports"] == ["tcp"]]
    for case in run["cases"]:
        large = case["parameters"]["bytes"] >= 65536
        row = {"range": "", "use": "latency", "device": "tcp/lo", "count": 1, "expected_us": 100.0, "expected_by": "request", "to": None}
        case["path"]["protocols"] = [row | {"protocol": "rendezvous" if large else "eager", "from": 65536 if large else 0}]


def test_what_ucx_expects_is_a_curve_beside_the_measured_one(run_file, tmp_path):
    text = picture(run_file(with_estimates), out=tmp_path / "out.svg")
    assert "measured" in text and "expected by UCX" in text and "rendezvous" in text and "eager" in text
    from pages import charts

    run = load(run_file(with_estimates))
    latency, bandwidth = charts.over_size(run, "run")
    assert latency["marks"] == [(65536, "rendezvous")] and not bandwidth["marks"]
    expected = next(of for of in latency["series"] if of["name"] == "expected by UCX")
    assert {point[1] for point in expected["points"]} == {100} and expected["dash"]


SAID = {"ci95": "95 % confidence interval", "range": "range of the launches"}


def with_intervals(kind):
    """Of every metric an interval of that kind, a tenth to either side, as tables take it."""

    def change(run):
        for metric in (metric for case in run["cases"] for metric in case["metrics"].values() if metric["p50"]):
            metric["interval"] = {"low": 0.9 * metric["p50"], "high": 1.1 * metric["p50"], "kind": kind}
            metric["ci95"] = [metric["interval"]["low"], metric["interval"]["high"]] if kind == "ci95" else None
        way = {"key": "a", "way": "shm by ucx", "p50": 2, "interval": {"low": 1, "high": 3, "kind": kind}, "ratio": 1, "ratio_ci95": None}
        run["ablation"] = [{"title": "made up", "row": "8 B", "metric": "latency_us", "about": "latency", "unit": "us", "better": "lower",
                            "shown": True, "ways": [way | {"limit_share": None}, way | {"way": "tcp by ucx", "limit_share": None}]}]

    return change


@pytest.mark.parametrize("kind", SAID)
@pytest.mark.parametrize("which", ["result", "workload"])
def test_pictures_draw_the_intervals_of_the_tables_and_say_which(run_file, tmp_path, which, kind):
    from pages import charts, figures

    file = run_file(with_intervals(kind), which=which)
    text, other = picture(file, out=tmp_path / "out.svg"), SAID["range" if kind == "ci95" else "ci95"]
    # That of the curves, or of the scaling, and that of the bars.
    assert text.count(SAID[kind]) >= 2 and other not in text
    run = load(file)
    drawn = charts.of_run(run, "run") + figures.curves_of({"base": run, "new": run})[0]
    assert drawn
    for chart in drawn:
        assert SAID[kind] in chart["about"] and other not in chart["about"]
        measured = [of for of in chart["series"] if not of.get("peak") and not of.get("thin")]
        assert measured and all(len(point) == 4 and point[2] < point[1] < point[3] for of in measured for point in of["points"])


def test_a_picture_of_one_launch_speaks_of_no_interval(run_file, tmp_path):
    def change(run):
        for metric in (metric for case in run["cases"] for metric in case["metrics"].values()):
            metric["ci95"] = metric["interval"] = None

    text = picture(run_file(change), out=tmp_path / "out.svg")
    assert "median over launches" in text and "confidence" not in text and "range of" not in text


def test_compares_progress_modes(run_file, tmp_path):
    def with_mode(mode):
        def change(run):
            run["cases"] = [case for case in run["cases"] if case["parameters"]["transports"] == ["tcp"]]
            for case in run["cases"]:
                case["parameters"]["progress_mode"] = mode

        return change

    files = [run_file(with_mode(mode), f"{mode}.json") for mode in ("poll", "event", "periodic:100us")]
    text = picture(*files, out=tmp_path / "out.svg")
    for mode in ("poll", "event", "periodic:100us"):
        assert f"progress mode {mode}" in text


def test_draws_ways_of_communicating_as_bars(run_file, tmp_path):
    def way(name, p50, ratio, **more):
        return {"key": name, "way": name, "p50": p50, "ci95": [p50, p50], "ratio": ratio, "ratio_ci95": None,
                "limit_share": None} | more

    def entry(about, shown, *ways):
        return {"title": "pingpong tag, host to host", "row": "8 B", "metric": "latency_us", "about": about,
                "unit": "us", "better": "lower", "shown": shown, "ways": list(ways)}

    def change(run):
        split = {"computing_ms": 1, "communicating_ms": 2}
        run["ablation"] = [
            entry("latency", True, way("shm by ucx", 2, 1, limit_share=0.43),
                  way("tcp by sockets", 3.04, 1.52, ratio_ci95=[1.49, 1.6])),
            entry("time", True, way("shm by ucx", 4, 1, **split), way("tcp by sockets", 8, 2, **split)),
            entry("nothing", False, way("hidden", 2, 1), way("tcp by sockets", 3, 1.5)),
        ]

    text = picture(run_file(change), out=tmp_path / "out.svg")
    for part in ("pingpong tag, host to host: latency, 8 B", "tcp by sockets", "1.00 x, 43 % of peak", "1.52 x [1.49, 1.60]",
                 "computing", "communicating"):
        assert part in text, part
    assert "hidden" not in text


def test_labels_and_names_stand_as_they_are(run_file, tmp_path):
    def change(run):
        run["machine"].update(id="$\\node$", labels=["vm", "oversubscribed"])
        run["cases"][0]["labels"] = ["same-gpu", "emulated-gpu"]

    text = picture(run_file(change), out=tmp_path / "out.svg")
    assert "labels: vm, oversubscribed, same-gpu, emulated-gpu" in text
    assert "$\\node$" in text


def test_no_set_is_drawn_as_if_it_had_carried_what_it_did_not(run_file, tmp_path):
    def change(run):
        run["cases"][0]["path"] |= {"verdict": "other", "carried_by": {"shm": 1.0}, "carriers": {"shm": 1.0}}

    text = picture(run_file(change), out=tmp_path / "out.svg")
    assert "tcp (shm carried it)" in text


def test_same_run_gives_the_same_bytes(run_file, tmp_path):
    run = run_file()
    first, second = tmp_path / "1.svg", tmp_path / "2.svg"
    assert plot(run, "-o", first).returncode == plot(run, "-o", second).returncode == 0
    assert first.read_bytes() == second.read_bytes()


@pytest.mark.parametrize(
    "change",
    [
        lambda run: run["cases"][0].update(metrics=3),
        lambda run: run["cases"][0].update(labels=[{}]),
        lambda run: run["cases"][0]["metrics"]["latency_us"].update(p50="1"),
        lambda run: run["cases"][0]["metrics"]["latency_us"].update(p50=float("nan")),
        lambda run: run["cases"][0]["metrics"]["latency_us"].update(p50=10**400),
        lambda run: run["cases"][0]["metrics"]["latency_us"].update(interval={"low": 1}),
        lambda run: run["cases"][0]["metrics"]["latency_us"].update(interval={"low": "a", "high": "b", "kind": "ci95"}),
        lambda run: run["cases"][0]["metrics"]["latency_us"].update(interval={"low": 1, "high": 2, "kind": "sure"}),
        lambda run: run["machine"].pop("labels"),
        lambda run: run.update(build=None),
    ],
)
def test_refuses_a_damaged_run(run_file, tmp_path, change):
    assert "is a damaged ucx-bench run" in refused(2, run_file(change), "-o", tmp_path / "out.png")


def test_refuses_the_rest(run_file, tmp_path):
    run = run_file()
    assert "must end in" in refused(2, run, "-o", tmp_path / "out.bmp")
    assert "cannot write" in refused(2, run, "-o", tmp_path / "none" / "out.png")
    assert "see ucx-bench plot --help" in as_a_script("plot.py").stderr
    empty = run_file(lambda run: run.update(cases=[c for c in run["cases"] if not c["metrics"]]))
    assert "no measured case" in refused(2, empty)


def test_names_the_set_up_without_matplotlib(run_file, tmp_path):
    (tmp_path / "matplotlib.py").write_text("raise ImportError('no matplotlib')")
    command = [sys.executable, ROOT / "scripts/plot.py", asked([run_file()]), "-o", tmp_path / "out.png"]
    environment = {**os.environ, "PYTHONPATH": str(tmp_path)}
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, env=environment)
    assert done.returncode == 3 and done.stderr.count("\n") == 1 and "./scripts/setup/python" in done.stderr, done.stderr


@pytest.fixture
def merge_file(run_file):
    """Like run_file, of a merge over tcp on 1, 2 and 4 ranks."""

    def write(change=lambda run: None, name="run.json"):
        return run_file(change, name, "workload")

    return write


def test_a_workload(merge_file, tmp_path):
    out = tmp_path / "out.svg"
    text = picture(merge_file(), out=out)
    for part in (
        *("merge tag, host to host, rows 1000000", "node07,  UCX 1.13.1", "commit 1a2b3c4d5e", "labels: vm"),
        *("weak scaling, 32.0 MB of input per rank", "throughput (GB/s)", "ideal: linear in ranks", "95 % confidence"),
        *("1 rank, tcp", "2 ranks, tcp", "4 ranks, tcp", "partition", "shuffle", "probe", "whole run"),
        *("82.0 ms", "105 ms", "150 ms"),
        *("from (row)", "to (column)", "-- 2.10 --", "-- 1.7–2.7 --"),
        *("of at least 1 MiB", "–: none"),
    ):
        assert part in text, part
    assert text.count("-- – --") == 1  # from 3 to 0

    def place(number):
        found = re.search(rf"<!-- {number} -->\s*<g [^>]*translate\(([\d.]+) ([\d.]+)\)", out.read_text())
        return tuple(map(float, found.groups()))

    (x01, y01), (x10, y10) = place("2.01"), place("2.10")
    assert x01 > x10 and y01 < y10  # the sender's row, the receiver's column


def test_a_workloads_rate_is_what_the_run_calls_it(merge_file, tmp_path):
    def change(run):
        for case in run["cases"]:
            rate = next(metric for metric in case["shows"]["metrics"] if metric["name"] == "throughput_GBps")
            rate |= {"title": "rows", "unit": "1/s", "better": "lower"}

    text = picture(merge_file(change), out=tmp_path / "out.svg")
    assert "rows (1/s), median over launches" in text and "per rank; lower is better" in text


def test_draws_a_workload_the_same_again(merge_file, tmp_path):
    first, second = tmp_path / "1.svg", tmp_path / "2.svg"
    picture(merge_file(), out=first)
    picture(merge_file(), out=second)
    assert first.read_bytes() == second.read_bytes()


def make_strong(run):
    for case in run["cases"]:
        case["parameters"].update(scaling="strong", rows=4_000_001 // case["parameters"]["ranks"])
        case["exchange"]["input_bytes"] = 32 * case["parameters"]["rows"] * case["parameters"]["ranks"]


def make_weak(run):
    make_transpose(run)
    for case in run["cases"]:
        ranks = case["parameters"]["ranks"]
        case["parameters"].update(scaling="weak", size=round(2000 * ranks**0.5))
        case["exchange"]["input_bytes"] = 8 * case["parameters"]["size"] ** 2


def make_transpose(run):
    for case in run["cases"]:
        case["benchmark"] = "transpose"
        del case["parameters"]["rows"], case["exchange"]["input_bytes"]
        case["parameters"]["size"] = 4000


@pytest.mark.parametrize(
    "change, load, said",
    [
        (make_strong, "merge tag, host to host, rows 4M", "strong scaling, 128 MB of input in all"),
        (make_transpose, "transpose tag, host to host, size 4000", "strong scaling, the same input in all"),
        (make_weak, "transpose tag, host to host, size 2000", "weak scaling, 32.0 MB of input per rank"),
    ],
)
def test_scaling_as_it_was_asked(merge_file, tmp_path, change, load, said):
    text = picture(merge_file(change), out=tmp_path / "out.svg")
    assert load in text and said in text and text.count(" scaling, ") == 1


def test_weak_and_strong_scaling_apart(merge_file, tmp_path):
    runs = [merge_file(), merge_file(make_strong, "strong.json")]
    text = picture(*runs, out=tmp_path / "out.svg")
    assert "weak scaling, 32.0 MB" in text and "strong scaling, 128 MB" in text
    assert "4 ranks, weak scaling, rows 1000000" in text and "4 ranks, strong scaling, rows 4M" in text


def only_ranks(ranks):
    def change(run):
        run["cases"] = [case for case in run["cases"] if case["parameters"]["ranks"] == ranks]

    return change


def test_several_files_make_one_curve(merge_file, tmp_path):
    runs = [merge_file(only_ranks(ranks), f"of{ranks}.json") for ranks in (4, 1, 2)]
    assert picture(*runs, out=tmp_path / "several.svg") == picture(merge_file(), out=tmp_path / "one.svg")


def test_files_that_measured_the_same_are_told_apart(merge_file, tmp_path):
    runs = [merge_file(name=f"{name}.json") for name in ("before", "after")]
    text = picture(*runs, out=tmp_path / "out.svg")
    assert "4 ranks, before" in text and "4 ranks, after" in text


def test_one_rank_exchanges_nothing(merge_file, tmp_path):
    text = picture(merge_file(only_ranks(1)), out=tmp_path / "out.svg")
    assert "one rank: nothing was exchanged" in text and "82.0 ms" in text
    assert "scaling" not in text and "from (row)" not in text


def test_many_ranks_have_colours_only(merge_file, tmp_path):
    def change(run):
        only_ranks(4)(run)
        case = run["cases"][0]
        case["parameters"]["ranks"] = 64
        pair = case["pairs"][1]
        case["pairs"] = [{**pair, "src": a, "dst": b} for a in range(64) for b in range(64) if a != b]
        case["pairs"][0].update(p25_GBps=None, p50_GBps=None, p75_GBps=None)

    text = picture(merge_file(change), out=tmp_path / "out.svg")
    assert "64 ranks, tcp" in text and "grey: none" in text
    assert "p25" not in text and "-- – --" not in text


def test_at_most_four_maps(merge_file, tmp_path):
    def change(run):
        only_ranks(4)(run)
        case = run["cases"][0]
        run["cases"] = [copy.deepcopy(case) for _ in range(6)]
        for at, case in enumerate(run["cases"]):
            case["key"], case["parameters"]["transports"] = f"merge/set{at}", [f"set{at}"]

    text = picture(merge_file(change), out=tmp_path / "out.svg")
    assert text.count("from (row)") == 4 and "2 more in the run files" in text


def test_ping_pongs_and_workloads_in_one_picture(run_file, merge_file, tmp_path):
    text = picture(run_file(), merge_file(name="merge.json"), out=tmp_path / "out.svg")
    for part in ("pingpong tag", "message size", "merge tag", "weak scaling"):
        assert part in text


def test_a_failed_workload_is_not_drawn(merge_file):
    failed = merge_file(lambda run: [case.update(state="failed") for case in run["cases"]])
    assert "no measured case" in refused(2, failed)


def every_place(value, at=()):
    yield at
    for key, part in value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ():
        yield from every_place(part, (*at, key))


@pytest.mark.parametrize("odd", [None, "x", -1, [1], {}, 1e300], ids=repr)
def test_anything_anywhere_is_drawn_or_refused(odd):
    whole = json.loads(printed("workload", "json"))
    whole["cases"] = [{**case, "launches": []} for case in whole["cases"][1:]]
    drawn = 0
    for place in list(every_place(whole))[1:]:
        run = copy.deepcopy(whole)
        part = run
        for key in place[:-1]:
            part = part[key]
        part[place[-1]] = odd
        try:
            parts_of([{"run": run, "file": "odd.json"}])
            drawn += 1
        except NotARun as refusal:
            assert "odd.json" in str(refusal) and "\n" not in str(refusal)
    assert drawn > 10


@pytest.mark.parametrize(
    "change",
    [
        lambda case: case["parameters"].update(ranks=10**6),
        lambda case: case["parameters"].update(scaling="sideways"),
        lambda case: case["pairs"][0].update(src=9),
        lambda case: case["pairs"][0].update(p50_GBps="fast"),
        lambda case: case["phases"][0].pop("median_ms"),
        lambda case: case["metrics"]["wall_ms"].update(p50=0),
        lambda case: case["metrics"].pop("throughput_GBps"),
    ],
)
def test_refuses_a_damaged_workload(merge_file, change):
    file = merge_file(lambda run: change(run["cases"][2]))
    assert "is a damaged ucx-bench run" in refused(2, file)


def test_every_pair_of_p2p(merge_file, tmp_path):
    """A map for each case, in place of curves and phases."""

    def change(run):
        case = next(case for case in run["cases"] if case["parameters"]["ranks"] > 1)
        run["cases"] = []
        for concurrent in ("one", "all"):
            made = copy.deepcopy(case)
            made["key"], made["benchmark"] = f"p2p/{concurrent}", "p2p"
            del made["parameters"]["runs"]
            made["parameters"] |= {"concurrent": concurrent, "bytes": 16 << 20}
            for at, pair in enumerate(made["pairs"]):
                pair |= {"p25_GBps": 1.25, "p50_GBps": 2.5 + at, "p75_GBps": 3.75}
            run["cases"].append(made)

    text = picture(merge_file(change), out=tmp_path / "out.svg")
    for part in ("16 MiB, one pair at a time", "16 MiB, all pairs at once", "from (row)", "2.50", "GB/s received"):
        assert part in text
    for part in ("message size", "phases", "scaling"):
        assert part not in text
