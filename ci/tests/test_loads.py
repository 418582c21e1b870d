"""How much the workloads are given: published loads, scaling, many ranks."""

import pytest
from conftest import SANITIZED, only


def planned(bench, *arguments):
    """The keys of the cases that a command would measure."""
    done = bench("--dry-run", *arguments)
    assert done.code == 0, done
    lines = [line.strip() for line in done.out.splitlines()]
    return [line for line in lines if line.startswith(("merge/", "transpose/"))]


@pytest.mark.parametrize(
    ("arguments", "key"),
    [
        (["merge", "--like", "dask-cuda"], "merge/tag/host-host/shm/1M/generator=dask/ranks=2"),
        (["merge", "--like", "mpi4dask", "--scale", "0.001"], "merge/tag/host-host/shm/100K/generator=dask/ranks=2"),
        (["merge", "--like", "dask-cuda", "--rows", "5K", "--generator", "permuted"],
         "merge/tag/host-host/shm/5K/ranks=2"),
        (["transpose", "--like", "dask-cuda"], "transpose/tag/host-host/shm/10K/ranks=2/result=sum"),
        (["transpose", "--like", "mpi4dask", "--scale", "0.0625"],
         "transpose/tag/host-host/shm/4096/chunk-size=1024/ranks=2"),
        (["transpose", "--like", "dgx-post", "--scale", "0.01", "--result", "keep"],
         "transpose/tag/host-host/shm/4K/chunk-size=410/ranks=2"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_published_loads(bench, arguments, key):
    assert planned(bench, *arguments, "--transports", "shm") == [key]


def test_a_published_load_is_named(bench):
    done = bench("merge", "--like", "dask-cuda", "--scale", "0.01", "--transports", "shm", "--launches", 1,
                 "--bind", "none", "--json", "run.json")
    assert done.code == 0, done
    parameters = only(done.file["cases"])["parameters"]
    assert (parameters["like"], parameters["scale"], parameters["rows"]) == ("dask-cuda", 0.01, 10_000)
    assert "like dask-cuda" in " ".join(done.out.split())


def test_scaling_follows_the_ranks(bench):
    def of(*arguments):
        return planned(bench, *arguments, "--transports", "shm", "-n", "2,4", "--progress-mode", "poll")

    merge = ("merge", "--rows", "80K")
    assert of(*merge) == [f"merge/tag/host-host/shm/80K/ranks={n}" for n in (2, 4)]
    assert of(*merge, "--scaling", "weak") == of(*merge)
    assert of(*merge, "--scaling", "strong") == [
        "merge/tag/host-host/shm/40K/ranks=2", "merge/tag/host-host/shm/20K/ranks=4"]
    transpose = ("transpose", "--size", "4000", "--chunk-size", "500")
    assert of(*transpose, "--scaling", "strong") == of(*transpose)
    assert of(*transpose, "--scaling", "weak") == [
        "transpose/tag/host-host/shm/5657/chunk-size=500/ranks=2",
        "transpose/tag/host-host/shm/8K/chunk-size=500/ranks=4"]


@pytest.mark.parametrize(
    ("command", "amounts"),
    [
        (["merge", "--rows", "40K", "--scaling", "strong"], {1: 40_000, 2: 20_000}),
        (["transpose", "--size", "1000", "--chunk-size", "100", "--scaling", "weak"], {1: 1000, 2: 1414}),
    ],
    ids=["merge", "transpose"],
)
def test_a_scaled_load_is_one_table(bench, command, amounts):
    done = bench(*command, "-n", "1,2", "--transports", "shm", "--launches", 1, "--bind", "none", "--json", "run.json")
    assert done.code == 0, done
    amount = "rows" if command[0] == "merge" else "size"
    cases = [case["parameters"] for case in done.file["cases"]]
    assert {case["ranks"]: case[amount] for case in cases} == amounts
    rows = [line.split() for line in done.out.splitlines()]
    header = next(row for row in rows if row[:1] == ["ranks"])
    assert header[1] == amount and header[-1] == "efficiency"
    for ranks, value in amounts.items():
        assert any(row[:2] == [str(ranks), str(value)] for row in rows), done.out


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["merge", "--like", "mpi4dusk"], "--like: unknown published benchmark 'mpi4dusk': did you mean 'mpi4dask'?"),
        (["merge", "--scale", "2"], "--scale: scales the load of --like NAME"),
        (["merge", "--like", "mpi4dask", "-n", "64"], "that is --scale 0.0"),
        (["transpose", "--scaling", "week"], "did you mean 'weak'?"),
        (["merge", "--scaling", "strong", "--rows", "3", "-n", "4"], "at least 4 are needed"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_refusals(bench, arguments, words):
    done = bench(*arguments)
    assert done.code == 2, done
    assert words in only(done.complaints)


# With a sanitizer, 64 processes need more memory than most machines have.
@pytest.mark.parametrize("command", [["merge", "--rows", "2K"], ["transpose", "--size", "640", "--chunk-size", "10"]],
                         ids=["merge", "transpose"])
def test_sixty_four_ranks(bench, command):
    ranks = 16 if SANITIZED else 64
    done = bench(*command, "-n", ranks, "--transports", "shm", "--launches", 1, "--runs", 1,
                 "--warmup-runs", 0, "--no-calibrate", "--timeout", "200s",
                 "--json", "run.json", limit_s=220)
    assert done.code == 0, done
    case = only(done.file["cases"])
    assert case["state"] == "measured"
    assert case["verified"] == {"checked": ranks, "errors": 0}
    assert len(case["pairs"]) == ranks * (ranks - 1)
    assert "oversubscribed" in done.file["machine"]["labels"]
