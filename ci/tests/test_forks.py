"""No rank makes a process once UCX has started: with InfiniBand or CUDA it may lose memory."""

import pytest
from conftest import NO_FORK_SHIM, SHIM, assert_sound, only


@pytest.mark.parametrize("mode", ["poll", "event", "thread", "periodic:100us"])
@pytest.mark.parametrize("transports", ["tcp", "shm"])
def test_no_rank_forks(pingpong, transports, mode):
    done = pingpong(
        "--transports", transports, "--progress-mode", mode, "--api", "tag,stream", "--sizes", "8,64KiB",
        environment={"LD_PRELOAD": str(NO_FORK_SHIM)},
    )
    assert len(done.file["cases"]) == 4
    for case in done.file["cases"]:
        assert_sound(case)


def test_one_that_did_would_be_seen(pingpong, tmp_path):
    done = pingpong(
        "--transports", "tcp", "--sizes", "8", code=5,
        environment={
            "LD_PRELOAD": f"{NO_FORK_SHIM}:{SHIM}", "FAULT_ACTION": "fork", "FAULT_RANK": "1",
            "FAULT_PHASE": "latency", "FAULT_FOLDER": str(tmp_path),
        },
    )
    assert "rank 1" in only(done.complaints) and "Bad system call" in only(done.complaints), done
