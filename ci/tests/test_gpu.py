"""GPU memory on an emulated driver and the UCX with CUDA that scripts/setup/ucx-wheel fetches: which
way the bytes went is asserted by the emulator's own reports, not by what the program says alone."""

import json
import re

import pytest
from conftest import checked_window, only
from emulated_gpu import (  # noqa: F401
    BY_ITSELF,
    EMULATOR,
    LIBRARIES,
    MIB,
    UCX,
    combined_ucx,
    emulated,
    needs_both,
    needs_emulator,
    own_loopback,
)

OLD_UCX = combined_ucx("1.1[0-5].*")


@pytest.fixture
def gpu(emulated):  # noqa: F811
    """gpu(ARGUMENTS…): a command on the emulator."""

    def run(*arguments, size="1MiB", command="pingpong", iterations=8, **options):
        return emulated(
            command, "--iterations", iterations, "--sizes", size, *arguments, **options
        )

    return run


def test_no_driver(bench):
    done = bench("pingpong", "--memory", "cuda", "--json", "run.json")
    assert done.code == 3
    assert "no CUDA driver (libcuda.so.1 not found)" in done.out + done.err
    assert {case["state"] for case in done.file["cases"]} == {"skipped"}


@needs_emulator
def test_ucx_without_cuda(bench):
    emulator = {"LD_LIBRARY_PATH": str(EMULATOR)}
    listed = bench("list", "transports", environment=emulator).out
    if "built without CUDA" not in " ".join(listed.split()):
        pytest.skip("the UCX of this build has CUDA")
    done = bench("pingpong", "--memory", "cuda", "--transports", "tcp", environment=emulator)
    assert done.code == 3
    assert "libucx-cu12" in " ".join(done.out.split())


def test_copies_need_a_driver(bench):
    done = bench("copies")
    assert done.code == 3 and only(done.complaints).endswith("no CUDA driver (libcuda.so.1 not found)"), done


@needs_emulator
def test_copies(bench):
    emulator = {"LD_LIBRARY_PATH": str(EMULATOR)}
    table = bench("copies", "--size", "1MiB", "--copies", 2, environment=emulator)
    assert table.code == 0 and "emulated: the figures below are not those of a GPU" in table.out, table
    copies = json.loads(bench("copies", "--size", "1MiB", "--devs", "1,0", "--format", "json", environment=emulator).out)
    assert copies["emulated"] and [gpu["index"] for gpu in copies["gpus"]] == [1, 0]
    assert {row["gpu"] for row in copies["host"]} == {0, 1}
    assert all(row[rate] > 0 for row in copies["host"] for rate in ("to_gpu_GBps", "to_host_GBps", "both_ways_GBps"))
    assert [(row["from"], row["to"]) for row in copies["between"]] == [(1, 1), (1, 0), (0, 1), (0, 0)]
    assert all(row["GBps"] > 0 and row["direct"] for row in copies["between"])
    done = bench("copies", "--devs", "2", environment=emulator)
    assert done.code == 2 and "--devs: no GPU 2; there are 2" in only(done.complaints)


@needs_both
def test_put_and_get(gpu):
    done = gpu("--memory", "cuda", "--api", "put,get", "--transports", "tcp,nvlink", size="8,1MiB")
    for case in done.file["cases"]:
        assert case["state"] == "measured" and case["verified"]["errors"] == 0, case["reason"]
        assert case["labels"] == ["emulated-gpu"]
    assert done.bytes["illegal_accesses"] == 0 and done.bytes["left_allocated_bytes"] == 0


@needs_both
@pytest.mark.parametrize(
    "command",
    [["kv", "--descriptors", 64, "--block", "64KiB", "--sessions", 1, "--rounds", 1],
     ["incast", "-n", 3, "--sizes", "8,64KiB", "--runs", 1, "--iterations", 10],
     ["moe", "-n", 2, "--tokens", 64, "--routing", "uniform", "--runs", 1]],
    ids=lambda command: command[0],
)
def test_many_messages_of_gpu_memory(emulated, command):  # noqa: F811
    done = emulated(*command, "--memory", "cuda", "--transports", "tcp,nvlink", "--allow-same-gpu", **BY_ITSELF)
    for case in done.file["cases"]:
        assert case["state"] == "measured" and case["verified"]["errors"] == 0, case["reason"]
        assert "emulated-gpu" in case["labels"]
    assert done.bytes["illegal_accesses"] == 0 and done.bytes["left_allocated_bytes"] == 0


@needs_both
def test_the_module_that_does_not_load_is_named(bench):
    without_driver = {"LD_LIBRARY_PATH": f"{UCX}/lib"}
    done = bench("--dry-run", "pingpong", "--transports", "tcp,nvlink", environment=without_driver)
    assert done.code == 3 and re.search(r"libuct_cuda\.so does not load: .*libcuda\.so\.1", done.out), done
    listed = " ".join(bench("list", "transports", environment=without_driver).out.split())
    assert "nvlink not available no GPU: no CUDA driver (libcuda.so.1 not found)" in listed


@needs_both
@pytest.mark.parametrize("every", [0, 65536])
def test_nvlink_errors_during_the_run(gpu, every):
    done = gpu("--memory", "cuda", "--transports", "tcp,nvlink", CUDA_EMULATOR_NVLINK_CRC_EVERY=str(every))
    moved = done.file["machine"].get("error_counters", [])
    grown = {counter["name"] for counter in moved if counter["name"].startswith("nvlink/")}
    found = [finding for finding in done.file["findings"] if finding["id"] == "error-counters" and "nvlink/" in finding["subject"]]
    if every:
        assert grown <= {"nvlink/GPU0/crc_data_error", "nvlink/GPU1/crc_data_error"} and grown
        assert len(found) == len(grown) and "crc_data_error +" in found[0]["evidence"]
    else:
        assert not grown and not found


@needs_both
@pytest.mark.parametrize("memory", ["cuda", "cuda,host", "host,cuda", "managed"])
def test_over_tcp_everything_is_staged(gpu, memory):
    done = gpu("--memory", memory, "--transports", "tcp")
    path = only(done.file["cases"])["path"]
    assert path["verdict"] == "as-asked" and path["carried_by"] == {"tcp": 1}
    assert done.bytes["ipc_opens"] == 0 and done.bytes["d2d_ipc_bytes"] == 0
    if memory == "cuda":
        assert done.bytes["d2h_bytes"] > 8 * MIB and done.bytes["h2d_bytes"] > 8 * MIB
    assert done.bytes["illegal_accesses"] == 0 and done.bytes["forks"] == 0


@needs_both
def test_what_allocators_give_goes_as_ucx_can_pass_it_on(gpu):
    kinds = ["cuda", "cuda:async", "cuda:vmm", "cuda:fabric", "managed:gpu", "managed:host", "managed:read"]
    memory = [word for kind in kinds for word in ("--memory", kind)]
    done = gpu(*memory, "--transports", "tcp,nvlink", "--measure", "latency", CUDA_EMULATOR_FABRIC="1")
    cases = {case["parameters"]["memory"][0]: case for case in done.file["cases"]}
    assert list(cases) == kinds and all("emulated-gpu" in case["labels"] for case in cases.values())
    for kind, case in cases.items():
        assert case["state"] == "measured" and case["verified"]["errors"] == 0, case["reason"]
        assert case["key"].split("/")[2] == f"{kind}-{kind}"
        used = {row["protocol"] for row in case["path"]["protocols"] if row["use"] == "latency"}
        direct = {"rendezvous zero-copy read from remote"}
        assert (used == direct) == (kind in ("cuda", "cuda:fabric")), (kind, used)
    found = [finding for finding in done.file["findings"] if finding["id"] == "memory-fallback"]
    assert len(found) == 5 and not any("GB/s" in finding["evidence"] for finding in found)
    assert done.bytes["illegal_accesses"] == 0 and done.bytes["left_allocated_bytes"] == 0
    assert done.bytes["managed_allocations"] >= 6 and done.bytes["ipc_left_open"] == 0


@needs_both
def test_no_fabric_handles(gpu):
    done = gpu("--memory", "cuda:fabric", "--transports", "tcp,nvlink", "--measure", "latency", code=3)
    assert "IMEX channel" in " ".join(done.out.split()) + only(done.file["cases"])["reason"]


@needs_both
def test_large_messages_go_by_cuda_ipc(gpu):
    done = gpu("--memory", "cuda", "--transports", "tcp,nvlink", "--require", "nvlink", **BY_ITSELF)
    case = only(done.file["cases"])
    assert case["path"]["carried_by"] == {"nvlink": 1}
    assert (case["path"]["carriers"], case["path"]["medium"]) == ({"cuda_ipc": 1}, "nvlink")
    assert case["verified"]["checked"] > 0 and case["verified"]["errors"] == 0
    assert case["labels"] == ["emulated-gpu"]
    direct = done.file["ucx"]["gpu_direct"]["tcp+nvlink, cuda-cuda"]
    assert direct["rdma"]["state"] == direct["gdr_copy"]["state"] == "absent"
    assert "InfiniBand" in direct["rdma"]["why"] and "built without it" in direct["gdr_copy"]["why"]
    assert done.bytes["ipc_opens"] >= 1 and done.bytes["d2d_ipc_bytes"] > 8 * MIB
    assert done.bytes["left_allocated_bytes"] == 0


@needs_both
def test_ucx_counts_what_each_protocol_did(gpu):
    done = gpu("--memory", "cuda", "--transports", "tcp,nvlink", size="8,1MiB")
    for case in done.file["cases"]:
        path = case["path"]
        counted = [row for row in path["protocols"] if row["use"] == "counted"]
        device = "cuda_ipc/cuda" if case["parameters"]["bytes"] == MIB else "tcp/lo"
        sent = sum(
            row["count"] for row in counted
            if row["rank"] == 0 and row["operation"].startswith("tagged message")
            and "from cuda" in row["operation"] and row["device"] == device
        )
        assert sent == path["payload_bytes"] / case["parameters"]["bytes"]
    assert "Count" not in done.err
    left = {file.name for file in done.folder.iterdir() if not file.name.startswith("report.")}
    assert left == {"run.json"}


@needs_both
def test_whoever_reads_ucxs_log_keeps_it(gpu):
    done = gpu("--memory", "cuda", "--transports", "tcp,nvlink", "--ucx", "UCX_LOG_FILE=log")
    path = only(done.file["cases"])["path"]
    assert path["verdict"] == "as-asked"
    assert all(row["use"] != "counted" for row in path["protocols"])


@needs_both
def test_streams_do_not_and_the_path_says_why(gpu):
    """UCX 1.22 knows no rendezvous for streams, and so gives them no lane for one."""
    done = gpu("--memory", "cuda", "--transports", "tcp,nvlink", "--api", "stream")
    path = only(done.file["cases"])["path"]
    assert path["carried_by"] == {"tcp": 1}
    assert "UCX configured no lane for nvlink" in path["why"]
    assert done.bytes["ipc_opens"] == 0


@needs_both
def test_small_ones_do_not_and_the_gate_says_so(gpu):
    done = gpu("--memory", "cuda", "--transports", "tcp,nvlink", "--require", "nvlink", size="8", code=1)
    assert only(done.file["cases"])["path"]["carried_by"] == {"tcp": 1}
    assert "0 % of the bytes went by nvlink" in done.err
    assert done.bytes["d2d_ipc_bytes"] == 0


@needs_both
def test_a_pool_is_mapped_once_and_each_allocation_by_itself(gpu):
    arguments = ["--memory", "cuda", "--transports", "tcp,nvlink"]
    pool = gpu(*arguments, size="256KiB,512KiB,1MiB")
    # Memory is freed between cases: UCX has to hear of it, which by relocation it does not on the emulated driver.
    apart = gpu(*arguments, "--no-pool", size="256KiB,512KiB,1MiB", **BY_ITSELF)
    assert [case["state"] for case in apart.file["cases"]] == ["measured"] * 3
    assert apart.bytes["ipc_opens"] > pool.bytes["ipc_opens"]
    assert "pool=none" in apart.file["cases"][0]["key"]


@needs_both
@pytest.mark.parametrize("iterations", [2, 5])
def test_a_mapping_exists_per_allocation_and_pair(gpu, own_loopback, iterations):  # noqa: F811
    """What the cold benchmark calls a first message opened a mapping, and nothing else did."""
    done = gpu(
        "-n", "3", "--memory", "cuda", "--transports", "tcp,nvlink", "--require", "nvlink",
        "--allow-same-gpu", *own_loopback, iterations=iterations, command="cold", **BY_ITSELF,
    )
    for case in done.file["cases"]:
        assert case["verified"]["errors"] == 0 and "emulated-gpu" in case["labels"]
        # GPU 0 is also the third rank's.
        assert ("same-gpu" in case["labels"]) == (case["parameters"]["peers"] == 2)
    peers, turns = 2, 1 + 2  # one peer plays, then both
    warm_up, pool, own, not_timed = 1, 1, 1, 1
    assert done.bytes["ipc_opens"] == peers * warm_up + turns * (pool + own + iterations + not_timed)
    assert done.bytes["left_allocated_bytes"] == 0 and done.bytes["illegal_accesses"] == 0


@needs_both
def test_a_progress_thread_moves_gpu_memory(gpu):
    """Whether it has the context shows with UCX 1.17 and 1.18 alone, and in ci/cuda-emulator/progress_thread_test.cpp."""
    done = gpu("--memory", "cuda", "--transports", "tcp,nvlink", "--progress-mode", "thread", "--require", "nvlink")
    case = only(done.file["cases"])
    assert case["path"]["carried_by"] == {"nvlink": 1} and case["verified"]["errors"] == 0
    assert done.bytes["illegal_accesses"] == 0


@needs_both
def test_one_gpu_for_both_is_no_nvlink(gpu):
    arguments = ["--memory", "cuda", "--transports", "tcp,nvlink", "--require", "nvlink"]
    done = gpu(*arguments, code=1, CUDA_EMULATOR_GPUS="1")
    assert "same-gpu" in only(done.file["cases"])["labels"]
    assert "a copy inside one GPU" in done.err
    gpu(*arguments, "--allow-same-gpu", CUDA_EMULATOR_GPUS="1")


@needs_both
def test_devices_are_chosen(gpu):
    done = gpu("--memory", "cuda", "--transports", "tcp", "--devs", "1,0")
    assert [rank["device"]["index"] for rank in done.file["ranks"]] == [1, 0]
    assert done.file["ranks"][0]["device"]["name"] == "Emulated GPU"


@needs_both
def test_no_crash_where_ucx_would_read_gpu_memory_as_the_hosts(gpu):
    done = gpu("--memory", "host,cuda", "--transports", "tcp", "--ucx", "UCX_TLS=tcp,cuda_ipc", code=2)
    assert "cuda_copy" in only(done.err.splitlines())
    done = gpu("--memory", "cuda", "--transports", "tcp", "--ucx", "UCX_TLS=tcp,cuda")
    assert only(done.file["cases"])["state"] == "measured"


@needs_both
@pytest.mark.parametrize(
    "arguments, words",
    [
        (["--devs", "7"], ["--devs", "no GPU 7", "0 to 1"]),
        (["--rmm-pool-size", "9GiB"], ["--rmm-pool-size", "9 GiB", "GPU 0"]),
        (["--rmm-pool-size", "1GiB", "--no-pool"], ["--no-pool"]),
        (["--gdr", "maybe"], ["--gdr", "on"]),
    ],
)
def test_bad_input(gpu, arguments, words):
    done = gpu("--memory", "cuda", "--transports", "tcp", *arguments, code=2)
    line = only(done.err.splitlines())
    for word in words:
        assert word in line


@needs_both
def test_an_older_driver(gpu):
    done = gpu("--memory", "cuda", "--transports", "tcp", code=3, CUDA_EMULATOR_DRIVER_VERSION="11040")
    assert "is of CUDA 11.4; this program needs" in " ".join(done.out.split())


@needs_both
def test_no_gpu(gpu):
    done = gpu("--memory", "cuda", "--transports", "tcp", code=3, CUDA_EMULATOR_GPUS="0")
    assert "no GPU" in done.out or "no CUDA-capable device" in done.out


@needs_both
@pytest.mark.parametrize(
    "command",
    [["p2p", "-s", "2KiB,1MiB", "-n", 2, "--runs", 1], ["incast", "-s", "1MiB", "-n", 3, "--runs", 1],
     ["loggp", "-s", "2KiB,1MiB"]],
    ids=lambda command: command[0],
)
def test_each_launch_knows_what_carried_it(bench, command):
    """Several lanes could: a launch that did not count would make the whole case unknown. Of 2 KiB, a fifth as many bytes
    pass tcp's counters: control messages of the rendezvous."""
    done = bench(*command, "--memory", "cuda", "--transports", "tcp,nvlink", "--allow-same-gpu", "--launches", 2,
                 "--iterations", 5, "--warmup-runs", 0, "--bind", "none", "--require", "nvlink", "--json", "run.json",
                 environment=LIBRARIES)
    assert done.code == 0, done
    for case in done.file["cases"]:
        assert {record["launch"] for record in case["launches"]} == {0, 1}
        assert all(record["path"]["carried_by"] == {"nvlink": 1.0} for record in case["launches"])


@needs_emulator
@pytest.mark.skipif(OLD_UCX is None, reason="no UCX with InfiniBand and CUDA: run ./scripts/setup/ucx-combined")
@pytest.mark.parametrize("command", ["pingpong", "cold"])
def test_each_launch_counts_where_ucx_does_not_say(bench, command):
    """UCX before 1.16 says only that the receiver reads."""
    done = bench(command, "-s", "1MiB", "--memory", "cuda", "--transports", "tcp,nvlink", "--allow-same-gpu", "--launches", 2,
                 "--iterations", 5, "--bind", "none", "--require", "nvlink", "--json", "run.json",
                 environment={"LD_LIBRARY_PATH": f"{OLD_UCX}/lib:{EMULATOR}"})
    assert done.code == 0, done
    for case in done.file["cases"]:
        assert [record["path"]["carried_by"] for record in case["launches"]] == [{"nvlink": 1.0}] * 2


@needs_both
def test_every_pair_of_gpus(emulated):
    """p2p: all of the bytes by CUDA IPC, each rank's buffers mapped by every other once."""
    ranks, runs, iterations = 3, 2, 4
    done = emulated("p2p", "-n", ranks, "-s", "4MiB", "--memory", "cuda", "--transports", "tcp,nvlink", "--concurrent",
                    "one,all", "--iterations", iterations, "--runs", runs, "--warmup-runs", 0, "--require", "nvlink",
                    CUDA_EMULATOR_GPUS="3")
    case, at_once = done.file["cases"]
    for each in case, at_once:
        assert each["verified"] == {"checked": 6 * (runs + checked_window(4 << 20)), "errors": 0}
        assert each["path"]["carried_by"] == {"nvlink": 1.0}
    for pair in case["pairs"]:
        assert (pair["class"], pair["path"], pair["limit_GBps"]) == ("NV2", "nvlink", 50)
    row = only(case["limits"])
    assert row["pairs"] == 6 and row["GBps"] == row["expected_GBps"] == 50
    assert row["source"] == "specification" and row["detail"].startswith("NVLink 4")
    assert "vs. peak of the path" in done.out
    counted = 2  # messages between two readings of the counters
    assert done.bytes["d2d_ipc_bytes"] == 6 * (2 * (runs * iterations + checked_window(4 << 20)) + counted) * 4 * MIB
    assert done.bytes["illegal_accesses"] == 0 and done.bytes["left_allocated_bytes"] == 0
