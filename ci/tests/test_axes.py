"""How UCX is told of each message: error mode, lists of parts, memory handles, unexpected receives, headers."""

import pytest
from conftest import assert_sound, only, quick

SETS = ["--transports", "tcp", "--transports", "shm"]
SIZES = ["--sizes", "8,100001"]


def assert_all_sound(cases, number):
    assert len(cases) == number
    for case in cases:
        assert_sound(case, rates=case["parameters"]["bytes"] > 8)
        carried = only(case["parameters"]["transports"])
        assert case["path"]["carried_by"] in ({carried: 1.0}, {}), case["path"]


def parts_of_keys(run):
    return {part for case in run["cases"] for part in case["key"].split("/") if "=" in part}


def test_lists_of_parts(pingpong):
    run = pingpong("--api", "tag,stream,am", "--buffer", "contiguous,iov:5", "--bidirectional", "--check", "full",
                   *SETS, *SIZES).file
    assert_all_sound(run["cases"], 3 * 2 * 2 * 2)
    assert parts_of_keys(run) == {"buffer=iov:5"}


def test_headers_up_to_what_ucx_takes(pingpong):
    """A longer one is skipped, and the others are measured: UCX itself would send it, and lose data."""
    run = pingpong("--api", "am", "--header", "0,64,8000,9000", *SETS, *SIZES).file
    long = [case for case in run["cases"] if case["parameters"]["header_bytes"] == 9000]
    assert_all_sound([case for case in run["cases"] if case not in long], 3 * 2 * 2)
    assert parts_of_keys(run) == {"header=64", "header=8000", "header=9000"}
    for case in long:
        assert case["state"] == "skipped"
        assert "--header 9000: UCX takes headers of at most " in case["reason"]


def test_memory_handles_and_unexpected_receives(pingpong):
    run = pingpong("--api", "tag,am,put,get", "--register", "ucx,user", *SETS, *SIZES).file
    assert_all_sound(run["cases"], 4 * 2 * 2 * 2)
    run = pingpong("--receives", "expected,unexpected", "--progress-mode", "poll,event", "--bidirectional", *SETS, *SIZES)
    assert_all_sound(run.file["cases"], 2 * 2 * 2 * 2)
    assert parts_of_keys(run.file) == {"receives=unexpected", "progress-mode=event"}


def test_error_mode_peer_is_skipped_where_ucx_refuses_it(pingpong):
    run = pingpong("--error-mode", "none,peer", *SETS, *SIZES).file
    refused = [case for case in run["cases"] if "/shm/" in case["key"] and "error-mode=peer" in case["key"]]
    assert_all_sound([case for case in run["cases"] if case not in refused], 3 * 2)
    for case in refused:
        assert case["state"] == "skipped"
        assert "shared memory has no peer failure handler; give --ucx UCX_POSIX_ERROR_HANDLING=y" in case["reason"]
    allowed = ["--ucx", "UCX_POSIX_ERROR_HANDLING=y", "--ucx", "UCX_SYSV_ERROR_HANDLING=y"]
    run = pingpong("--error-mode", "peer", "--transports", "shm", *allowed, *SIZES).file
    assert_all_sound(run["cases"], 2)


@pytest.mark.parametrize(
    "arguments, words",
    [
        (["--api", "am", "--header", "64"], "wrong header at byte offset 5 of 64: rank 1 received from rank 0"),
        (["--buffer", "iov:4"], "wrong data at byte offset "),
    ],
)
def test_a_mistake_is_found(fault, arguments, words):
    fault.run("corrupt", 0, " B: verification", "--transports", "tcp", *arguments)
    done = fault.running.finish()
    assert done.code == 4, done
    assert any(words in case["reason"] for case in done.file["cases"]), done
    fault.assert_nothing_is_left()


@pytest.mark.parametrize(
    "arguments, words",
    [
        (["--comm", "sockets", "--error-mode", "peer"], "--error-mode peer: this is of UCX alone"),
        (["--buffer", "iov:0"], "--buffer: 'iov:0': expected contiguous, or iov:N with N of 1 to 1024"),
        (["--register", "user", "--no-pool"], "--register user: memory that stays is registered; leave --no-pool out"),
        (["-n", 1, "--receives", "unexpected"], "--receives unexpected: a rank alone waits for itself; use two ranks"),
        (["--api", "am", "--header", "65537"], "--header: '65537': expected a whole number, 0 to 65536"),
    ],
)
def test_what_has_no_meaning_is_refused(bench, arguments, words):
    done = bench("pingpong", *quick(arguments))
    assert done.code == 2 and done.out == "", done
    assert words in only(done.err.splitlines())
