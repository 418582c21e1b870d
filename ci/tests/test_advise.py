"""ucx-bench advise: settings from recorded runs and topologies, in the words of other programs."""

import json
import os
import re
import shutil
import subprocess
import sys

import jsonschema
import pytest
import yaml
from conftest import ROOT, only

FIXTURES = ROOT / "harness/analysis/fixtures"
DGX1 = FIXTURES / "dgx1.nccl.xml"
NICS = ["ib0", "ib0", "ib2", "ib2", "ib1", "ib1", "ib3", "ib3"]


@pytest.fixture
def advise(bench):
    """advise(ARGUMENTS…): the program's output; keyword `code` is the status that is expected."""

    def run(*arguments, code=0):
        done = bench("advise", *arguments)
        assert done.code == code, done
        return done

    return run


@pytest.fixture
def article(bench, tmp_path):
    """A made run file: eight ranks of a DGX-1 as an article on Dask placed them, GPU i with adapter
    ib(i/2) and without the last core of its socket. Each sends to a rank of a second such host."""
    bench("topo", "--import", FIXTURES / "dgx1.txt", "--format", "json", "-o", "dgx1.json")
    case = {
        "key": "pingpong/tag/cuda-cuda/ib/1MiB", "benchmark": "pingpong", "state": "measured", "reason": "",
        "parameters": {"api": "tag", "bytes": 1 << 20, "memory": ["cuda", "cuda"], "transports": ["ib"]},
        "launches": [
            {"launch": 0, "src": src, "dst": src + 8, "lanes": [f"rc_mlx5/ib{src // 2}:1"],
             "iterations": 1, "messages": 1, "warmup": 0, "cold": {}, "samples": {}, "quantiles": {}, "overheads": {},
             "path": {"carried_by": {"ib": 1.0}, "payload_bytes": 1000, "verdict": "as-asked"}}
            for src in range(0, 8, 2)
        ],
        "metrics": {"latency_us": {"count": 1, "p50": 1.0, "ci95": None, "samples_seen": 1, "better": "lower",
                                   "launch_medians": [1.0]}},
        "path": {}, "labels": [], "verified": {"checked": 1, "errors": 0}, "peak_buffer_bytes": 1 << 20,
        "pairs": [{"src": 0, "dst": 8, "bytes": 1 << 20, "messages": 1, "p50_GBps": 9.5}],
    }
    ranks = [
        {"rank": gpu + first, "host": host, "pid": None, "cpus": "0-18,40-58" if gpu < 4 else "20-38,60-78",
         "numa_node": None, "net_devices": f"lo,eth0,ib{gpu // 2}:1",
         "device": {"index": gpu, "name": "V100", "pci": None, "memory_bytes": 32 << 30, "driver": None}}
        for first, host in ((0, "node07"), (8, "node08"))
        for gpu in range(8)
    ]
    run = {
        "schema": "ucx-bench/run/1",
        "run": {"id": "article", "started_utc": "2026-11-21T00:00:00Z", "finished_utc": None, "command": ["made"],
                "state": "complete", "tags": {}},
        "build": {"version": "0", "commit": None, "dirty": None, "compiler": "", "flags": ""},
        "machine": {"id": "synthetic", "hosts": [{"name": "node07"}], "labels": [], "topology_hash": None},
        "ucx": {}, "ranks": ranks, "cases": [case], "findings": [],
        "topology": json.loads((tmp_path / "dgx1.json").read_text()),
    }
    file = tmp_path / "article.json"
    file.write_text(json.dumps(run))
    return file


def in_a_shell(text, rank, names):
    """What a rank that sources the file ends up with; its CPUs may not be here."""
    script = "taskset() { echo bound to $3 >&2; }\n" + text
    script += "".join(f'\necho "{name}=${{{name}-}}"' for name in names)
    environment = {key: value for key, value in os.environ.items() if key in ("PATH", "HOME")}
    done = subprocess.run(["sh", "-euc", script], env=environment | rank, capture_output=True, text=True, timeout=20)
    assert done.returncode == 0, done
    return dict(line.split("=", 1) for line in done.stdout.splitlines()), done.stderr


def test_the_article_gets_its_own_adapters_and_the_lost_core(advise, article):
    text = advise(article).out
    rows = [line.split() for line in text.splitlines()]
    for rank, nic in enumerate(NICS):
        row = only([row for row in rows if row[:2] == [str(rank), f"GPU{rank}"]])
        assert row[3:] == ["PIX", nic, f"eth0,{nic}:1"]
    assert "0-4,40-44" in text and "15-19,55-59" in text
    for rank in (2, 3, 4, 5):
        assert re.search(rf"UCX_NET_DEVICES=eth0,{NICS[rank]}:1\n(    - .*\n(      .*\n)*)*    - far-nic, rank {rank} ", text)
    assert "  CPUs 0-4,40-44\n    - lost-cpus, rank 0 " in text
    assert all(len(line) <= 100 for line in text.splitlines())


@pytest.mark.parametrize("variable", ["OMPI_COMM_WORLD_LOCAL_RANK", "SLURM_LOCALID"])
def test_env_gives_each_rank_its_own(advise, article, variable):
    text = advise(article, "--format", "env").out
    for rank, nic in enumerate(NICS):
        set_to, said = in_a_shell(text, {variable: str(rank)}, ["UCX_NET_DEVICES", "advised_cpus"])
        assert set_to["UCX_NET_DEVICES"] == f"eth0,{nic}:1"
        assert set_to["advised_cpus"] and said == f"bound to {set_to['advised_cpus']}\n"
    # The last counts the ranks of both hosts.
    for none in ({}, {"PMIX_RANK": "1"}):
        set_to, said = in_a_shell(text, none, ["UCX_NET_DEVICES"])
        assert set_to["UCX_NET_DEVICES"] == "" and "no advice for this rank" in said


def test_env_binds_where_the_cpus_are_there(advise, bench):
    bench("topo", "--format", "json", "-o", "here.json")
    text = advise("--topology", "here.json", "--format", "env").out
    script = text + f'exec {sys.executable} -c "import os; print(sorted(os.sched_getaffinity(0)))"'
    done = subprocess.run(["sh", "-euc", script], env=os.environ | {"SLURM_LOCALID": "0"}, capture_output=True,
                          text=True, timeout=20)
    own = re.search(r"advised_cpus=([0-9,-]+)", text)
    if not own:
        pytest.skip("no CPUs are known to be near to anything here")
    assert json.loads(done.stdout) == cpus_in(own[1]), done


def cpus_in(text):
    """Of "0-1,4"."""
    ends = [[int(end) for end in part.split("-")] for part in text.split(",")]
    return [cpu for part in ends for cpu in range(part[0], part[-1] + 1)]


def keys_of(schema, config, path=()):
    """Every key of the configuration is one that the schema names."""
    for key, value in config.items():
        known = schema["properties"]
        assert key in known, (*path, key)
        if isinstance(value, dict) and "properties" in known[key]:
            keys_of(known[key], value, (*path, key))


def test_dask_takes_the_configuration(advise, article):
    schema = yaml.safe_load((ROOT / "ci/tests/distributed-ucxx-schema.yaml").read_text())
    advise(article, "--bandwidths", "bandwidths.json", "--format", "dask", "-o", "dask.yaml")
    text = (article.parent / "dask.yaml").read_text()
    config = yaml.safe_load(text)
    ours = {"distributed-ucxx": config["distributed-ucxx"]}
    jsonschema.Draft202012Validator(schema).validate(ours)
    keys_of(schema, ours)
    ucxx = config["distributed-ucxx"]
    assert all(ucxx[name] is None for name in ("tcp", "nvlink", "infiniband"))
    assert ucxx["create-cuda-context"] is True and ucxx["environment"] == {}
    assert ucxx["rmm"]["pool-size"] is None and "no advice on pool of GPU memory: the run had it" in text
    assert config["distributed"]["worker"]["multiprocessing-method"] == "forkserver"
    assert config["distributed"]["scheduler"]["bandwidth"] == 9_500_000_000
    assert "#   GPU2: UCX_NET_DEVICES=eth0,ib2:1" in text and "bandwidths.json" in text
    rows = json.loads((article.parent / "bandwidths.json").read_text())["bandwidths"]
    row = only(rows)
    assert (row["src_device"], row["dst_device"], row["class"]) == ("GPU0", None, None)
    assert (row["memory"], row["bytes"], row["p50_GBps"]) == (["cuda", "cuda"], 1 << 20, 9.5)


def test_a_run_on_one_host_says_nothing_of_a_network(advise, pingpong):
    pingpong("--transports", "tcp", "--transports", "shm", "--transports", "auto", "--sizes", "8,1MiB",
             "--launches", "1", "--iterations", "100")
    for form in ("text", "env", "dask", "json"):
        text = advise("run.json", "--format", form).out
        assert "no advice on UCX_TLS, UCX_NET_DEVICES: one host was measured" in " ".join(text.split()), text
        assert re.search(r"ucx-bench p2p -n 4\s+--listen ADDRESS:PORT", text)
        for wrong in (r"\blo\b", "tcp: true", "export UCX", r"^\s*(net-devices|tls|bandwidth):", '"UCX_NET_DEVICES=', '"UCX_TLS='):
            assert not re.search(wrong, text, re.MULTILINE), text


def test_one_gpu_of_two_ranks_advises_nothing(advise):
    run = ROOT / "results/runs/vm-a94b0f6d/2026-11/pingpong-cuda.json"
    for form in ("text", "env", "dask", "json"):
        text = advise(run, "--format", form).out
        assert "is labelled same-gpu" in " ".join(text.split()), text
        for wrong in ("tcp: true", "export UCX", "GiB", "bandwidth:", "advised_cpus=[0-9]", r"fastest: "):
            assert not re.search(wrong, text), text
    for form in ("srun", "rankfile"):
        assert "every case of the run is labelled same-gpu" in advise(run, "--format", form, code=2).err


def test_a_wrong_configuration_would_be_seen():
    schema = yaml.safe_load((ROOT / "ci/tests/distributed-ucxx-schema.yaml").read_text())
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.Draft202012Validator(schema).validate({"distributed-ucxx": {"tcp": "yes"}})
    with pytest.raises(AssertionError):
        keys_of(schema, {"distributed-ucxx": {"net-devices": "lo"}})


def test_srun_masks_are_the_cpus(advise, article):
    done = advise(article, "--format", "srun")
    text = done.out
    assert "no advice on pool of GPU memory: the run had it" in done.err
    tasks, masks = re.fullmatch(r"--ntasks-per-node=(\d+) --cpu-bind=mask_cpu:(\S+)\n", text).groups()
    masks = [int(mask, 16) for mask in masks.split(",")]
    assert int(tasks) == len(masks) == 8
    assert masks[0] == sum(1 << cpu for cpu in [*range(5), *range(40, 45)])
    assert sum(masks) == (1 << 80) - 1  # all 80 CPUs, each once


def test_rankfile_names_the_host(advise, article):
    lines = [line for line in advise(article, "--format", "rankfile").out.splitlines() if not line.startswith("#")]
    assert lines[0] == "rank 0=node07 slot=0-4,40-44" and len(lines) == 8
    lines = advise("--topology", DGX1, "--format", "rankfile").out.splitlines()
    assert "rank 0=localhost slot=0-4,40-44" in lines


@pytest.mark.skipif(not shutil.which("mpirun"), reason="no mpirun here")
def test_open_mpi_takes_the_rankfile(advise, bench, tmp_path):
    if "Open MPI) 4" not in subprocess.run(["mpirun", "--version"], capture_output=True, text=True, timeout=20).stdout:
        pytest.skip("Open MPI is not version 4")
    bench("topo", "--format", "json", "-o", "here.json")
    advise("--topology", "here.json", "--format", "rankfile", "-o", "rankfile")
    lines = [line for line in (tmp_path / "rankfile").read_text().splitlines() if not line.startswith("#")]
    done = subprocess.run(
        ["mpirun", "--allow-run-as-root", "--mca", "plm", "isolated", "--mca", "rmaps_rank_file_physical", "1",
         "--mca", "orte_tmpdir_base", tmp_path, "--use-hwthread-cpus", "--rankfile", "rankfile", "-n", str(len(lines)),
         "sh", "-c", "echo $OMPI_COMM_WORLD_RANK $(taskset -pc $$)"],
        cwd=tmp_path, capture_output=True, text=True, timeout=60)
    bound = {rank: cpus_in(cpus) for rank, cpus in re.findall(r"^(\d+) .*: ([0-9,-]+)$", done.stdout, re.MULTILINE)}
    asked = dict(re.fullmatch(r"rank (\d+)=localhost slot=(\S+)", line).groups() for line in lines)
    assert bound == {rank: cpus_in(cpus) for rank, cpus in asked.items()}, done


def test_pick_names_the_best_and_what_the_first_cost(advise):
    text = advise("--topology", DGX1, "--pick", "2").out
    assert re.search(r"best +GPU0 GPU3 +50\.00 +NVLink\n", text) and "limited by NVLinks GPU0 -> GPU3: " in text
    assert re.search(r"the first +GPU0 GPU1 +25\.00 +NVLink", text)
    assert "all-to-all is 2.00 x slower on GPU0, GPU1" in text
    assert "the first 8 GPUs are the best choice" in advise("--topology", DGX1, "--pick", "8").out
    env = advise("--topology", DGX1, "--pick", "8", "--format", "env").out
    assert "CUDA_VISIBLE_DEVICES=0,3,2,1,5,6,7,4" in env


def test_says_first_what_limits_and_which_set_was_the_fastest(advise):
    here = ["--topology", FIXTURES / "vm.hwloc.xml"]
    lines = advise(ROOT / "results/runs/vm-60992029/2026-11/pingpong-host.json", *here).out.splitlines()
    assert lines[0].startswith("advice for ") and lines[1] == ""
    assert re.match(r"  fastest: pingpong, latency of 8 B: shm \(0.29\d us, 95% CI 0[^)]*, by shm\); 12.\d+ x faster", lines[2])
    lines = advise(ROOT / "results/runs/vm-60992029/2026-11/merge-host.json", *here).out.splitlines()
    assert re.match(r"  limits: merge, 2 ranks over shm: 2 % of the time waits for messages", lines[2])
    # 184.7..236.5 and 203.5..237.4 ms.
    assert re.match(r"  fastest: merge, 2 ranks: no difference found between shm .* and",
                    next(line for line in lines if "fastest" in line))


def test_of_a_run_without_findings_that_settings_end(advise, pingpong):
    pingpong("--transports", "shm", "--sizes", "8", "--bind", "auto")
    text = advise("run.json").out
    assert "few-launches" in text and "UCX_NET_DEVICES=" not in text and "  rank  CPUs\n" in text


@pytest.mark.parametrize(
    "arguments, said",
    [
        ([], "expected RUN.json, or --topology FILE"),
        (["--topology", DGX1, "--format", "yaml"], "--format: unknown format 'yaml'"),
        (["--topology", DGX1, "--pick", "9"], "--pick 9: expected 2 to 8"),
        (["--topology", DGX1, "--pick", "0"], "--pick 0: expected 2 to 8"),
        (["--topology", DGX1, "--pick", "-2"], "--pick -2"),
        (["--topology", FIXTURES / "dgx1.txt", "--pick", "2"], "no capacity of any link"),
        (["--topology", FIXTURES / "vm.txt", "--pick", "2"], "--pick"),
        (["--topology", DGX1, "--bandwidths", "b.json"], "--bandwidths: only a RUN.json"),
        (["none.json"], "none.json"),
        (["--topology", "none.xml"], "cannot read 'none.xml'"),
        (["--topology", DGX1, "-o", "/nowhere/advice"], "--output /nowhere/advice: No such file"),
    ],
)
def test_refuses(advise, arguments, said):
    *warnings, line = advise(*arguments, code=2).complaints
    assert said in line and all("warning: " in warning for warning in warnings)


def test_refuses_a_run_without_topology_and_one_that_is_not_its(advise, article):
    (line,) = advise(article, "--topology", FIXTURES / "gpu-node.hwloc.xml", code=2).complaints
    assert "the topology does not match the run: it has no GPU 4" in line
    run = json.loads(article.read_text())
    run["topology"] = {"devices": [], "links": [], "pairs": []}
    article.write_text(json.dumps(run))
    (line,) = advise(article, code=2).complaints
    assert "the run has no topology; give one with --topology FILE" in line
    assert "ib2" in advise(article, "--topology", FIXTURES / "dgx1.txt").out


def test_a_run_says_how_its_ranks_were_placed(pingpong):
    run = pingpong("--transports", "tcp", "--sizes", "8", "--bind", "auto", "--net-devices", "nearest").file
    line = only([line for line in run["run"]["placement"] if line.startswith("--bind auto: ")])
    numas = [device for device in run["topology"]["devices"] if device["kind"] == "numa"]
    if len(os.sched_getaffinity(0)) < 2:
        assert line == "--bind auto: none: there are fewer CPUs than ranks"
    elif len(numas) < 2:
        assert "in the order of the cores: the topology has" in line
    # A set without InfiniBand has no NIC to be near to.
    assert [rank["net_devices"] for rank in run["ranks"]] == ["lo", "lo"]
    run = pingpong("--transports", "tcp", "--sizes", "8", "--bind", "none").file
    assert "placement" not in run["run"]


def test_the_devices_that_ranks_really_have_are_recorded(pingpong):
    run = pingpong("--transports", "tcp", "--sizes", "8", "--net-devices", "all", "--ucx", "UCX_NET_DEVICES=lo").file
    assert [rank["net_devices"] for rank in run["ranks"]] == ["lo", "lo"]


def test_a_dry_run_says_it_too(bench):
    done = bench("--dry-run", "pingpong", "--sizes", "8")
    assert done.code == 0 and "\n--bind auto: " in done.out


@pytest.mark.parametrize("side", ["--listen", "--connect"])
def test_nearest_is_for_one_machine(bench, side, tmp_path):
    done = bench("pingpong", side, "127.0.0.1:1", "--net-devices", "nearest", "--token-file", tmp_path / "token")
    assert done.code == 2
    (line,) = done.complaints
    assert "--net-devices nearest: for ranks of one machine" in line
