"""ucx-bench over InfiniBand verbs, on soft-RoCE inside an emulated guest that boots once."""

import contextlib
import json
import os
import pathlib
import shutil
import signal
import subprocess
import time

import pytest
from conftest import NO_FORK_SHIM, PROGRAM, SCHEMA, assert_sound
from emulated_gpu import combined_ucx

HERE = pathlib.Path(__file__).resolve().parent
LIMIT_S = 1500
ITERATIONS = 20
EMULATOR = pathlib.Path(os.environ["CUDA_EMULATOR"])
CUDA_UCX = combined_ucx()
needs_cuda_ucx = pytest.mark.skipif(
    CUDA_UCX is None, reason="no UCX with InfiniBand and CUDA: run ./scripts/setup/ucx-combined"
)
MIB = 1 << 20
# Bytes in a packet at most: the RoCE MTU that fits into an Ethernet frame of 1500.
MTU = 1024


class Case:
    """What one command of `cases` left."""

    def __init__(self, folder, name):
        self.out = (folder / f"{name}.out").read_text()
        self.err = (folder / f"{name}.err").read_text()
        ended = json.loads((folder / f"{name}.json").read_text())
        self.status, self.packets = ended["status"], ended["packets"]
        self.file = folder / f"{name}-run.json"
        reports = [json.loads(file.read_text()) for file in folder.glob(f"{name}-report.*")]
        # By the emulated driver, of each rank: other processes allocate nothing.
        self.gpus = [report for report in reports if report["device_allocations"]]

    @property
    def run(self):
        run = json.loads(self.file.read_text())
        errors = [f"{error.json_path}: {error.message}" for error in SCHEMA.iter_errors(run)]
        assert not errors, errors
        return run

    def __repr__(self):
        return f"exit {self.status}, {self.packets} packets\n{self.out}\n{self.err}"


@pytest.fixture(scope="session")
def guest(tmp_path_factory):
    """guest(NAME): a case of the one boot."""
    listed = subprocess.run([PROGRAM, "list", "transports"], capture_output=True, text=True, timeout=60)
    if "without InfiniBand" in listed.stdout:
        pytest.skip(next(line for line in listed.stdout.splitlines() if "without InfiniBand" in line))
    folder = tmp_path_factory.mktemp("guest")
    with_cuda = [CUDA_UCX, EMULATOR] if CUDA_UCX else []
    # What the command writes and its status are passed on, and only the job's folder changes.
    command = ["bash", "-c", 'pwd; echo "$1" >&2; touch /usr/x; "${@:2}" && exit 7', "bash", "two  words",
               HERE / "cases", PROGRAM, NO_FORK_SHIM, *with_cuda]
    done = subprocess.run(
        ["setpriv", "--pdeathsig", "TERM", HERE / "run", "--limit", str(LIMIT_S), "--job", folder, *command],
        capture_output=True, text=True, timeout=LIMIT_S + 200, stdin=subprocess.DEVNULL,
    )
    if done.returncode == 3:
        pytest.skip(done.stderr.splitlines()[-1])
    assert (done.returncode, done.stdout, done.stderr) == (7, f"{folder}\n", "two  words\n")
    assert not pathlib.Path("/usr/x").exists()
    return lambda name: Case(folder, name)


def of_folder(folder):
    """The names of living processes that have this folder in their command line."""
    found = []
    for process in pathlib.Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            if str(folder).encode() in (process / "cmdline").read_bytes():
                found.append((process / "comm").read_text().strip())
    return sorted(found)


def test_nothing_outlives_it(guest, tmp_path):
    """Killed while the guest boots: what ends it does not ask how far it is."""
    running = subprocess.Popen(
        [HERE / "run", "--limit", "60", "--job", tmp_path, "sleep", "60"],
        stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        env=os.environ | {"TMPDIR": str(tmp_path)},
    )
    try:
        all_of_it = ["qemu-system-x86", "run", "tail", "tail"]  # two pass on its output
        wait_for(lambda: of_folder(tmp_path) == all_of_it or running.poll() is not None, 20)
        running.kill()
        assert running.wait(timeout=20) == -signal.SIGKILL
        wait_for(lambda: not of_folder(tmp_path), 10)
    finally:
        running.kill()
        running.wait(timeout=20)


def wait_for(condition, limit_s):
    deadline = time.monotonic() + limit_s
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.1)


def booted(folder, *arguments, **environment):
    return subprocess.run(
        [HERE / "run", "--job", folder, *arguments], stdin=subprocess.DEVNULL, capture_output=True, text=True,
        timeout=240, env=os.environ | environment,
    )


def starts_that_end(folder, count):
    """The environment in which so many starts of QEMU fail."""
    qemu = folder / "qemu-system-x86_64"
    qemu.write_text(f"""#!/bin/sh
echo again >> {folder}/starts
[ "$(wc -l < {folder}/starts)" -gt {count} ] || {{ echo no such processor; exit 1; }}
exec {shutil.which(qemu.name)} "$@"
""")
    qemu.chmod(0o755)
    return {"PATH": f"{folder}:{os.environ['PATH']}"}


def test_a_limit_and_a_guest_that_is_started_once_more(guest, tmp_path, tmp_path_factory):
    (tmp_path / "job").mkdir()
    of_qemu = tmp_path_factory.mktemp("qemu")
    late = booted(tmp_path / "job", "--limit", "1", "sleep", "60", TMPDIR=str(tmp_path), **starts_that_end(of_qemu, 1))
    assert late.returncode == 124 and [left.name for left in tmp_path.iterdir()] == ["job"], late
    assert late.stderr.endswith("still running after 1 s\n")
    assert len((of_qemu / "starts").read_text().split()) == 2
    assert booted(tmp_path, "--limit").returncode == 2


def test_a_guest_that_never_boots(guest, tmp_path):
    done = booted(tmp_path, "true", **starts_that_end(tmp_path, 2))
    assert done.returncode == 125 and "no such processor" in done.stderr, done
    assert done.stderr.endswith("the guest did not boot, twice\n")


def least_packets(run):
    """There and back in the latency loop, and one way in the bandwidth loop; the rest is extra."""
    ways = {"latency": 2, "bandwidth": 1}
    messages = [
        (case["parameters"]["bytes"], ITERATIONS * sum(ways[of] for of in case["parameters"]["measure"]))
        for case in run["cases"]
    ]
    return sum(count * max(1, bytes // MTU) for bytes, count in messages)


def assert_carried_by_ib(case):
    path = case["path"]
    assert "rc_verbs/rxe0:1" in path["lanes"], path
    assert path["verdict"] == "as-asked" and path["carried_by"] == {"ib": 1.0}, json.dumps(path)
    assert path["bytes_by_counter"]["ib/rxe0:1"] >= path["payload_bytes"] > 0, path
    assert "soft-roce" in case["labels"]
    # UCX gives tcp no lane beside rc: explained, and no mistake.
    if "tcp" in path["asked"]:
        assert "tcp/" not in " ".join(path["lanes"]), path
        assert "UCX configured no lane for tcp" in path["why"], path


def assert_says_that_it_is_emulated(done):
    assert "emulated-cpu" in done.run["machine"]["labels"]
    assert "machine: the CPU is emulated" in done.out


def test_the_device_is_listed(guest):
    lines = dict(line.split(maxsplit=1) for line in guest("list").out.splitlines())
    assert lines["ib"].startswith("available"), lines


@pytest.mark.parametrize(
    "name, apis, sizes", [("ib", ("tag", "stream"), (8, 4 << 10, 1 << 20)), ("tcp-ib", ("tag",), (8, 64 << 10))]
)
def test_what_asked_for_ib_went_over_it(guest, name, apis, sizes):
    done = guest(name)
    assert done.status == 0, done
    run = done.run
    assert run["run"]["state"] == "complete"
    assert [(c["parameters"]["api"], c["parameters"]["bytes"]) for c in run["cases"]] == [
        (api, size) for api in apis for size in sizes
    ]
    for case in run["cases"]:
        assert_sound(case)
        assert_carried_by_ib(case)
    assert done.packets >= least_packets(run)
    assert_says_that_it_is_emulated(done)


def assert_all_by_ib(done):
    assert done.status == 0, done
    for case in done.run["cases"]:
        assert_sound(case)
        assert_carried_by_ib(case)
    assert done.packets >= least_packets(done.run)


def test_connections_by_rdmacm(guest):
    done = guest("rdmacm")
    assert_all_by_ib(done)
    effective = done.run["ucx"]["environment"]["effective"]["tcp+ib"]
    assert effective["UCX_SOCKADDR_TLS_PRIORITY"] == "rdmacm"
    assert "listen" not in done.err and "unreachable" not in done.err, done


def test_nothing_forks_so_it_works_without_support_for_it(guest):
    """The kernel would end a rank that did."""
    done = guest("no-fork")
    assert_all_by_ib(done)
    assert done.run["ucx"]["environment"]["asked"]["ib"]["UCX_IB_FORK_INIT"] == "n"


def only_case(done):
    (case,) = done.run["cases"]
    assert_sound(case)
    return case


def sum_of(done, member):
    assert len(done.gpus) == 2, done
    assert all(report["illegal_accesses"] == report["forks"] == 0 for report in done.gpus), done.gpus
    return sum(report[member] for report in done.gpus)


def assert_large_by_cuda_ipc(done, case):
    """The bytes of every timed message were copied from GPU to GPU, through an opened handle."""
    path = case["path"]
    assert path["carried_by"] == {"nvlink": 1.0} and path["verdict"] == "as-asked", path
    assert case["labels"] == ["emulated-gpu", "soft-roce"]
    assert sum_of(done, "d2d_ipc_bytes") >= 2 * ITERATIONS * MIB
    assert all(report["ipc_opens"] >= 1 and report["ipc_left_open"] == 0 for report in done.gpus)


def assert_small_staged_over_ib(case):
    assert_carried_by_ib(case)
    assert case["labels"] == ["emulated-gpu", "soft-roce"]


@needs_cuda_ucx
def test_large_gpu_messages_go_by_cuda_ipc_beside_tcp_and_ib(guest):
    done = guest("all-large")
    assert done.status == 0, done  # --require nvlink is met
    case = only_case(done)
    assert_large_by_cuda_ipc(done, case)
    assert "UCX configured no lane for tcp" in case["path"]["why"]
    # What ib carried is the agreements, not the payload.
    assert 0 < done.packets < ITERATIONS * MIB // MTU
    assert "transport used  cuda_ipc over NVLink" in done.out
    assert "emulated-gpu, soft-roce" in done.out
    assert_says_that_it_is_emulated(done)


@needs_cuda_ucx
def test_small_ones_are_staged_over_ib_and_tcp_is_missed_only_if_required(guest):
    done = guest("all-small")
    assert done.status == 1, done
    (line,) = [line for line in done.err.splitlines() if "--require tcp" in line]
    assert "0 % of the bytes went by tcp" in line and "UCX configured no lane for tcp" in line
    assert_small_staged_over_ib(only_case(done))
    assert done.packets >= least_packets(done.run)
    assert sum_of(done, "ipc_opens") == sum_of(done, "d2d_bytes") == 0
    for member in ("d2h_bytes", "h2d_bytes"):
        assert sum_of(done, member) >= 2 * ITERATIONS * 8
    assert "transport used  ib" in done.out


@needs_cuda_ucx
def test_sizes_choose_between_cuda_ipc_and_ib(guest):
    done = guest("nvlink-ib")
    assert done.status == 0, done
    small, large = done.run["cases"]
    assert_small_staged_over_ib(small)
    assert_large_by_cuda_ipc(done, large)
    assert "transport used  ib (8 B), cuda_ipc over NVLink (1 MiB)" in done.out


@needs_cuda_ucx
def test_gpu_memory_is_staged_where_only_ib_may_carry_it(guest):
    done = guest("tcp-ib-gpu")
    assert_all_by_ib(done)
    assert sum_of(done, "ipc_opens") == sum_of(done, "d2d_bytes") == 0
    for member in ("d2h_bytes", "h2d_bytes"):
        assert sum_of(done, member) >= 2 * ITERATIONS * (64 << 10)


@needs_cuda_ucx
@pytest.mark.parametrize("name", ["all-host", "nvlink-ib-host", "tcp-ib-host"])
def test_host_memory_goes_by_ib_whatever_is_enabled(guest, name):
    done = guest(name)
    assert_all_by_ib(done)
    assert done.gpus == []
    assert "transport used  ib\n" in done.out


def test_tcp_leaves_the_device_alone(guest):
    """What makes the count of packets a proof."""
    done = guest("tcp")
    assert done.status == 0, done
    assert all(case["path"]["lanes"] == ["tcp/lo"] for case in done.run["cases"])
    assert done.packets == 0


@pytest.mark.parametrize(
    "name, required, carrier",
    [("require-ib-beside-shm", "ib", "shm"), ("require-tcp-beside-ib", "tcp", "ib")],
)
def test_require_is_not_met(guest, name, required, carrier):
    done = guest(name)
    assert done.status == 1, done
    said = [line for line in done.err.splitlines() if f"--require {required}" in line]
    assert len(said) == 1, done
    for case in done.run["cases"]:
        assert_sound(case)
        assert case["path"]["carried_by"] == {carrier: 1.0}, case["path"]


@pytest.mark.parametrize("name", ["memlock", "memlock-wrapped"])
def test_too_little_memory_may_be_locked(guest, name):
    done = guest(name)
    assert done.status == 3, done
    assert "only 8192 KiB of memory may be locked here (ulimit -l)" in done.err, done
    assert ("rank " in done.err) == (name == "memlock-wrapped")


def test_a_soft_limit_is_raised_and_the_device_found_without_being_named(guest):
    assert_all_by_ib(guest("memlock-raised"))


def test_auto_says_that_it_goes_without_ib(guest):
    done = guest("memlock-auto")
    assert done.status == 0, done
    said = next(line for line in done.out.splitlines() if line.startswith("! auto: UCX cannot use InfiniBand"))
    assert "only 8192 KiB" in said


def test_no_device(guest):
    lines = dict(line.split(maxsplit=1) for line in guest("absent-list").out.splitlines())
    assert lines["ib"].startswith("not available") and "no RDMA device" in lines["ib"]
    done = guest("absent")
    assert done.status == 3, done
    assert "cannot run here: " in done.err and "no RDMA device" in done.err
    assert all(case["state"] == "skipped" for case in done.run["cases"])
