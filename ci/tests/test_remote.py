"""The two ranks started from two shells."""

import contextlib
import os
import socket
import time

import pytest
from conftest import SLACK_S, assert_sound, only, quick

TOKEN = "3f" * 32


@pytest.fixture
def token(tmp_path):
    def write(text, name="token"):
        file = tmp_path / name
        file.write_text(text + "\n")
        file.chmod(0o600)
        return file

    return write


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


@pytest.fixture
def listen(start, tmp_path):
    """A listener that is ready, and its port."""

    def run(token_file, *arguments):
        port = free_port()
        words = ["--listen", f"127.0.0.1:{port}", "--token-file", token_file, *arguments]
        listener = start("pingpong", *quick(words), folder=tmp_path / "listener")
        deadline = time.monotonic() + 10 + SLACK_S
        while not listening_on(port):
            assert listener.process.poll() is None, listener.finish()
            assert time.monotonic() < deadline
            time.sleep(0.02)
        return listener, port

    return run


def listening_on(port):
    with open("/proc/net/tcp") as table:
        return any(
            row.split()[1].endswith(f":{port:04X}") and row.split()[3] == "0A"
            for row in table.readlines()[1:]
        )


def connect(start, port, token_file, *arguments, folder):
    words = ["--connect", f"127.0.0.1:{port}", "--bind", "none"]
    if token_file:
        words += ["--token-file", token_file]
    return start("pingpong", *words, *arguments, folder=folder)


@pytest.mark.parametrize("transports", ["tcp", "shm"])
def test_two_shells(start, listen, token, tmp_path, transports):
    secret = token(TOKEN)
    listener, port = listen(
        secret, "--transports", transports, "--api", "tag,stream", "--launches", "2",
        "--sizes", "8,300000",
    )
    other = connect(start, port, secret, folder=tmp_path / "other")
    assert other.finish().code == 0
    done = listener.finish()
    assert done.code == 0, done
    run = done.file
    assert [case["state"] for case in run["cases"]] == ["measured"] * 4
    for case in run["cases"]:
        assert_sound(case)
    assert TOKEN not in (tmp_path / "listener" / "run.json").read_text()
    listener.wait_until_gone()
    other.wait_until_gone()


def test_what_ucx_warns_of_on_the_other_side(start, listen, token, tmp_path):
    secret = token(TOKEN)
    listener, port = listen(secret, "--transports", "tcp", "--sizes", "8")
    words = ["pingpong", "--connect", f"127.0.0.1:{port}", "--bind", "none", "--token-file", secret]
    other = start(*words, folder=tmp_path / "other", environment={"UCX_NO_SUCH_SETTING": "7"}).finish()
    done = listener.finish()
    assert done.code == 0 and other.code == 0, (done, other)
    # Passed on there, recorded here.
    warning = only(done.file["ucx"]["warnings"])
    assert warning["ranks"] == [1] and "UCX_NO_SUCH_SETTING" in warning["line"]
    assert "UCX_NO_SUCH_SETTING" in other.err and "UCX_NO_SUCH_SETTING" not in done.err


def test_the_listener_makes_the_token(start, listen, tmp_path):
    secret = tmp_path / "made"
    listener, port = listen(secret, "--sizes", "8,300000")
    assert secret.stat().st_mode & 0o077 == 0
    other = connect(start, port, secret, folder=tmp_path / "other")
    assert other.finish().code == 0
    assert listener.finish().code == 0


def test_strangers_are_turned_away_and_the_run_goes_on(start, listen, token, tmp_path):
    secret = token(TOKEN)
    listener, port = listen(secret, "--sizes", "8,300000")
    for greeting in (b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n", os.urandom(4096), b"\0" * 64, b""):
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), 5) as stranger:
            stranger.settimeout(5)
            stranger.sendall(greeting)
            stranger.shutdown(socket.SHUT_WR)
            while stranger.recv(4096):
                pass
    wrong = connect(start, port, token("00" * 32, "wrong"), folder=tmp_path / "wrong-token").finish()
    assert wrong.code == 3, wrong
    assert "token" in only(wrong.complaints)
    assert connect(start, port, secret, folder=tmp_path / "other").finish().code == 0
    done = listener.finish()
    assert done.code == 0, done
    for case in done.file["cases"]:
        assert_sound(case)


def test_without_a_token(bench, tmp_path):
    missing = bench("pingpong", "--connect", "127.0.0.1:1", "--token-file", tmp_path / "none")
    assert missing.code == 2, missing
    assert str(tmp_path / "none") in only(missing.complaints)


def test_an_open_token_file_is_refused(bench, token):
    secret = token(TOKEN)
    secret.chmod(0o644)
    for side in ("--listen", "--connect"):
        done = bench("pingpong", side, f"127.0.0.1:{free_port()}", "--token-file", secret)
        assert done.code == 2, done
        assert str(secret) in only(done.complaints)


def test_port_in_use(bench, token):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        done = bench("pingpong", "--listen", f"127.0.0.1:{port}", "--token-file", token(TOKEN))
    assert done.code == 2, done
    assert str(port) in only(done.complaints)


def test_nobody_listens(bench, token):
    port = free_port()
    done = bench("pingpong", "--connect", f"127.0.0.1:{port}", "--token-file", token(TOKEN), limit_s=30)
    assert done.code == 3, done
    assert str(port) in only(done.complaints)


@pytest.mark.parametrize("answer", [b"HTTP/1.1 400 Bad Request\r\n\r\n", b"\xff" * 100, b""])
def test_somebody_else_listens(start, token, tmp_path, answer):
    with socket.socket() as server:
        server.bind(("127.0.0.1", 0))
        server.listen()
        server.settimeout(20)
        other = connect(start, server.getsockname()[1], token(TOKEN), folder=tmp_path / "other")
        stranger, _ = server.accept()
        with stranger:
            stranger.sendall(answer)
            with contextlib.suppress(OSError):
                stranger.shutdown(socket.SHUT_WR)
            done = other.finish(40)
    assert done.code == 3, done
    only(done.complaints)


@pytest.mark.parametrize("side", ["listener", "other"])
def test_one_side_is_killed(start, listen, token, tmp_path, side):
    secret = token(TOKEN)
    listener, port = listen(secret, "--iterations", "100000000", "--transports", "tcp", "--sizes", "8")
    other = connect(start, port, secret, folder=tmp_path / "other")
    deadline = time.monotonic() + 20
    while len(listener.processes()) < 2 or len(other.processes()) < 2:
        assert time.monotonic() < deadline
        time.sleep(0.02)
    time.sleep(0.5)
    victim, survivor = (listener, other) if side == "listener" else (other, listener)
    victim.process.kill()
    killed_at = time.monotonic()
    done = survivor.finish()
    assert done.code == 5, done
    assert done.ended_at - killed_at < 1 + SLACK_S
    assert "lost" in only(done.complaints) or "closed the control connection" in done.err
    listener.wait_until_gone()
    other.wait_until_gone()
    if side == "other":
        assert done.file["run"]["state"] == "failed"


@pytest.mark.parametrize("endpoint", ["localhost:99999", "127.0.0.1:x", ":", "1.2.3.4.5:1"])
def test_bad_endpoints(bench, endpoint, token):
    done = bench("pingpong", "--connect", endpoint, "--token-file", token(TOKEN))
    assert done.code in (2, 3), done
    assert endpoint.split(":")[0] in only(done.complaints)
