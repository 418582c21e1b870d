"""--comm mpi: Open MPI as a communication device, what it cannot, and that nothing is left of it."""

import contextlib
import os
import pathlib
import shutil
import signal
import subprocess

import pytest
from conftest import LONG_S, PROGRAM, checked_window, only, wait_until

QUICK = ["--launches", 1, "--runs", 1, "--bind", "none", "--json", "run.json"]
HALO = ["halo", "--size", 64, "--transports", "tcp", *QUICK]
BY_MPI = ["--comm", "mpi"]
BESIDE_UCX = ["--comm", "mpi,ucx"]


def folders():
    return set(pathlib.Path("/dev/shm").glob("ucx-bench-mpi-*"))


@pytest.fixture(autouse=True)
def nothing_left():
    before = folders()
    yield
    wait_until(lambda: folders() <= before, what=folders)


@pytest.fixture(scope="module", autouse=True)
def mpi(tmp_path_factory):
    done = subprocess.run([PROGRAM, *map(str, HALO), *BY_MPI, "--dry-run"], capture_output=True, text=True, timeout=60,
                          cwd=tmp_path_factory.mktemp("mpi"))
    if done.returncode == 3:
        pytest.skip(done.stdout + done.stderr)
    return shutil.which("mpirun")


def test_messages_by_each_set(bench):
    done = bench("p2p", "-n", 3, "-s", "8,256KiB", "--concurrent", "one", "--iterations", 8, "--comm", "mpi",
                 "--transports", "tcp", "--transports", "shm", "--transports", "tcp,shm", "--transports", "auto", *QUICK)
    assert done.code == 0, done
    cases = {case["key"]: case for case in done.file["cases"]}
    assert len(cases) == 2 * 4
    for case in cases.values():
        assert case["state"] == "measured", case["reason"]
        assert case["verified"] == {"checked": 6 * (1 + checked_window(case["parameters"]["bytes"])), "errors": 0}
        assert case["parameters"]["comm"] == "mpi" and case["parameters"]["progress_mode"] == "poll"
        transports = case["parameters"]["transports"]
        lanes = {lane for launch in case["launches"] for lane in launch["lanes"]}
        assert ("tcp/lo" in lanes) == ("tcp" in transports), lanes
        assert any(lane.startswith("vader/") for lane in lanes) == ("shm" in transports), lanes
    of_tcp = cases["p2p/tag/host-host/tcp/256KiB/comm=mpi/concurrent=one/ranks=3"]
    assert of_tcp["path"]["carried_by"] == {"tcp": 1.0}
    assert of_tcp["path"]["bytes_by_counter"]["tcp/lo"] >= of_tcp["path"]["payload_bytes"]
    of_shm = cases["p2p/tag/host-host/shm/256KiB/comm=mpi/concurrent=one/ranks=3"]
    assert of_shm["path"]["carried_by"] == {"shm": 1.0}
    of_auto = cases["p2p/tag/host-host/auto/256KiB/comm=mpi/concurrent=one/ranks=3"]
    assert of_auto["path"]["verdict"] == "unknown" and "MPI does not say" in of_auto["path"]["why"], of_auto["path"]
    settings = done.file["ucx"]["environment"]
    assert settings["effective"]["tcp, mpi"]["pml"] == "ob1"
    assert settings["effective"]["tcp, mpi"]["btl"] == "self,tcp"
    assert settings["effective"]["tcp, mpi"]["MPI"].startswith("Open MPI v")
    assert "UCX_TLS" not in settings["asked"]["tcp, mpi"]
    assert "over tcp by mpi" in done.out


def test_a_sender_hears_its_peer_while_mpi_takes_all_at_once(bench):
    """How long a stream is, its receiver says: MPI looks for nothing while what it sends ends at once."""
    done = bench("p2p", "-n", 2, "-s", 8, "--comm", "mpi", "--transports", "tcp", "--timeout", "10s", *QUICK, limit_s=60)
    assert done.code == 0, done
    assert {case["state"] for case in done.file["cases"]} == {"measured"}


def test_pingpong_beside_the_other_devices(bench):
    done = bench("pingpong", "-s", "256KiB", "--transports", "tcp", "--transports", "shm", "--comm", "sockets,ucx,mpi",
                 "--progress-mode", "poll,event", "--bidirectional", "--iterations", 64, "--warmup-runs", 0, "--check", "full",
                 "--launches", 1, "--bind", "none", "--json", "run.json")
    assert done.code == 0, done
    cases = {case["key"]: case for case in done.file["cases"]}
    assert len(cases) == 2 * 3 * 2
    asleep = {key for key in cases if "/comm=mpi" in key and "/progress-mode=event" in key}
    assert len(asleep) == 2
    for key, case in cases.items():
        assert case["state"] == ("skipped" if key in asleep else "measured"), case["reason"]
        if key in asleep:
            assert case["reason"] == "mpi: it has nothing to sleep on; use --progress-mode poll"
            continue
        assert case["verified"]["checked"] > 0 and case["verified"]["errors"] == 0
        assert {"latency_us", "bandwidth_GBps", "bandwidth_bidirectional_GBps"} <= set(case["metrics"])
        assert case["path"]["verdict"] == "as-asked" and case["path"]["protocols"] == [] or "comm=mpi" not in key, case["path"]
    of_tcp = cases["pingpong/tag/host-host/tcp/256KiB/comm=mpi"]
    assert of_tcp["path"]["bytes_by_counter"]["tcp/lo"] >= of_tcp["path"]["payload_bytes"]
    done = bench("pingpong", "--comm", "mpi", "--api", "stream")
    assert done.code == 2 and "--api stream: MPI has no streams; use --api tag with --comm mpi" in done.err, done


@pytest.mark.parametrize("workload", [("merge", "--rows", "20K"), ("transpose", "--size", 256, "--chunk-size", 64),
                                      ("halo", "--size", 64), ("svd", "--rows", 1000, "--columns", 8)])
def test_workloads(bench, workload):
    done = bench(*workload, "-n", 2, "--comm", "mpi", "--transports", "tcp", "--transports", "shm", *QUICK)
    assert done.code == 0, done
    for case in done.file["cases"]:
        assert case["state"] == "measured" and case["verified"]["errors"] == 0, case
        assert case["path"]["verdict"] == "as-asked", case["path"]


def test_every_way_that_mpi_has(bench):
    done = bench("moe", "--tokens", 64, "--experts", 4, "--top-k", 2, "--routing", "uniform", "-n", 2, "--comm", "mpi", "--ablate",
                 *QUICK)
    assert done.code == 0, done
    sets = ["+".join(case["parameters"]["transports"]) for case in done.file["cases"]]
    assert {"shm", "tcp", "shm+tcp", "auto"} <= set(sets)
    for case in done.file["cases"]:
        assert case["state"] == "measured" and case["verified"]["errors"] == 0, case
    assert {f"{name} by mpi" for name in sets} == {way["way"] for way in only(done.file["ablation"])["ways"]}


def test_what_cannot_run_is_skipped_with_its_reason(bench, tmp_path):
    done = bench(*HALO, *BY_MPI, "--progress-mode", "event")
    assert done.code == 3 and "mpi: it has nothing to sleep on; use --progress-mode poll" in done.out + done.err, done
    # A program without its module, as where there was no MPI to build it with.
    alone = tmp_path / "bin" / "ucx-bench"
    alone.parent.mkdir()
    shutil.copy(PROGRAM, alone)
    done = bench(*HALO, *BESIDE_UCX, program=alone)
    assert done.code == 0, done
    states = {case["parameters"]["comm"]: (case["state"], case["reason"]) for case in done.file["cases"]}
    assert states["ucx"][0] == "measured" and states["mpi"][0] == "skipped"
    assert "mpi: this ucx-bench was built without MPI" in states["mpi"][1]


def test_an_mpirun_that_fails_is_a_reason(bench, mpi):
    if os.geteuid() != 0:
        pytest.skip("needs root: another program in mpirun's place")
    script = f"mount --bind /bin/false {os.path.realpath(mpi)} && exec \"$@\""
    done = bench("--mount", "--propagation", "private", "sh", "-c", script, "sh", PROGRAM, *HALO, *BESIDE_UCX,
                 program=shutil.which("unshare"))
    assert done.code == 0, done
    assert "mpi: mpirun exited with status 1" in done.file["cases"][0]["reason"], done


def test_a_killed_rank_ends_the_run(fault):
    fault.run("kill", 1, "run 0", command=[*HALO, *BY_MPI, "-n", 3])
    done = fault.finish_in_time()
    assert done.code == 5, done
    assert "rank 1 on " in only(done.complaints) and "was killed by signal 9" in only(done.complaints), done
    fault.assert_nothing_is_left()


def test_a_killed_program_leaves_nothing(fault):
    fault.run("kill-parent", 0, "run 0", command=[*HALO, *BY_MPI, "-n", 3])
    done = fault.finish_in_time()
    assert done.code == -signal.SIGKILL
    fault.assert_nothing_is_left()


def mpirun_of(started):
    """Its process in this run."""
    for pid in started.processes():
        with contextlib.suppress(OSError):
            words = pathlib.Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")
            if words[0].endswith((b"mpirun", b"mpiexec")):
                return pid
    return None


@pytest.mark.parametrize("end", ["mpirun", "Ctrl-C"])
def test_the_end_of_mpirun_or_of_the_run(start, tmp_path, end):
    running = start(*HALO, *BY_MPI, "--steps", 1_000_000, "-n", 3)
    journal = tmp_path / "run.json.partial"
    wait_until(lambda: journal.exists() and journal.read_text().count('{"rank":{') == 3,
               lambda: running.finish(1) if running.process.poll() is not None else "no ranks")
    if end == "mpirun":
        os.kill(mpirun_of(running), signal.SIGKILL)
    else:
        running.signal(signal.SIGINT)
    done = running.finish(LONG_S)
    assert done.code == (5 if end == "mpirun" else 130), done
    if end == "mpirun":
        assert only(done.complaints).startswith("ucx-bench: mpirun was killed by signal 9"), done
    running.wait_until_gone()
