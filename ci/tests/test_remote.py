"""The ranks started from two shells."""

import collections
import contextlib
import hmac
import os
import pathlib
import re
import socket
import struct
import threading
import time

import pytest
from conftest import LONG_S, assert_sound, only, quick, wait_until

TOKEN = "3f" * 32


@pytest.fixture
def token(tmp_path):
    def write(text, name="token"):
        file = tmp_path / name
        file.write_text(text + "\n")
        file.chmod(0o600)
        return file

    return write


@contextlib.contextmanager
def taken_port(listening):
    """One that nobody else can take meanwhile."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        if listening:
            taken.listen()
        yield taken.getsockname()[1]


@pytest.fixture
def listen(start, tmp_path):
    """A listener that is ready, and the port that the kernel gave it; `begin` starts it."""

    def run(token_file, *arguments, begin=start):
        words = ["--listen", "127.0.0.1:0", "--token-file", token_file, *arguments]
        listener = begin("pingpong", *quick(words), folder=tmp_path / "listener")

        def ready():
            assert listener.process.poll() is None, listener.finish()
            return ports_of(listener.pid)

        wait_until(ready)
        return listener, only(ports_of(listener.pid))

    return run


def ports_of(pid):
    """Where a process listens."""
    sockets = set()
    for file in pathlib.Path(f"/proc/{pid}/fd").iterdir():
        with contextlib.suppress(OSError):
            sockets.add(os.readlink(file))
    rows = [row.split() for row in pathlib.Path(f"/proc/{pid}/net/tcp").read_text().splitlines()[1:]]
    return [int(row[1].split(":")[1], 16) for row in rows if row[3] == "0A" and f"socket:[{row[9]}]" in sockets]


def connect(start, port, token_file, *arguments, folder):
    words = ["--connect", f"127.0.0.1:{port}", "--bind", "none"]
    if token_file:
        words += ["--token-file", token_file]
    return start("pingpong", *words, *arguments, folder=folder)


@pytest.mark.release_only
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


class UnknownClients:
    """What others may do to a listener, by what the documentation says of the connection, at once and again
    and again until the end."""

    def __init__(self, port):
        self.port = port
        self.over = threading.Event()
        self.done = collections.Counter()
        ways = [self.silent, self.slow, self.babbling, self.flooding, self.resetting, self.greeting_only,
                self.with_a_wrong_proof, self.with_an_old_proof, self.echoing, self.without_a_proof, self.of_other_builds]
        self.threads = [threading.Thread(target=self.repeat, args=[way]) for way in ways]

    def __enter__(self):
        self.version = self.greet()[1]
        for thread in self.threads:
            thread.start()
        return self

    def __exit__(self, *_):
        self.over.set()
        for thread in self.threads:
            thread.join()

    def repeat(self, way):
        open_ones = []
        while not self.over.wait(0.01):  # so that handshakes of a busy machine end
            with contextlib.suppress(OSError):
                open_ones += way() or []
            self.done[way.__name__] += 1
            for old in open_ones[:-100]:
                old.close()
            open_ones = open_ones[-100:]
        for each in open_ones:
            each.close()

    def connect(self):
        return socket.create_connection(("127.0.0.1", self.port), timeout=5)

    def greet(self, nonce="11" * 32):
        """A connection whose greeting was answered; the answer's version and commit, and its nonce."""
        version = getattr(self, "version", "? ?")
        stream = self.connect()
        stream.sendall(f"ucx-bench-control 4 {version} {nonce}\n".encode())
        words = stream.makefile("r").readline().split()
        return stream, " ".join(words[2:4]), words[4] if len(words) == 5 else ""

    def silent(self):
        return [self.connect()]

    def slow(self):
        stream = self.connect()
        for letter in b"ucx-bench-control 4":
            stream.send(bytes([letter]))
            self.over.wait(0.02)
        return [stream]

    def babbling(self):
        for text in (b"GET / HTTP/1.1\r\n\r\n", os.urandom(64), b"\0" * 64, b"x" * 600, b"\n", b" \n" * 9, b"proof\n", b""):
            with contextlib.suppress(OSError), self.connect() as stream:
                stream.sendall(text)
                stream.shutdown(socket.SHUT_WR)
                stream.recv(4096)

    def flooding(self):
        with self.connect() as stream:
            for _ in range(1000):
                stream.sendall(os.urandom(65536))

    def resetting(self):
        for _ in range(20):
            stream = self.connect()
            stream.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            stream.close()

    def greeting_only(self):
        return [self.greet()[0]]

    def with_a_wrong_proof(self):
        stream = self.greet()[0]
        with stream:
            stream.sendall(f"proof {'0' * 64} near\n".encode())
            assert stream.recv(4096) in (b"refused\n", b"")

    def with_an_old_proof(self):
        """As it was right for another connection."""
        text = "ucx-bench-control proof connector {} {} near"
        nonce = self.greet()[2]
        stream = self.greet()[0]
        with stream:
            old = mac(TOKEN.encode(), text.format(nonce, "11" * 32).encode()).hexdigest()
            stream.sendall(f"proof {old} near\n".encode())
            assert stream.recv(4096) in (b"refused\n", b"")

    def echoing(self):
        stream = self.greet()[0]
        with stream:
            stream.sendall(b"ucx-bench-control 4 " + self.version.encode() + b" " + b"11" * 32 + b"\n")
            while said := stream.recv(4096):
                stream.sendall(said)

    def without_a_proof(self):
        body = cbor({"type": "hello", "boot_id": "", "cpus": []})
        with self.connect() as stream:
            stream.sendall(f"ucx-bench-control 4 {self.version} {'11' * 32}\n".encode())
            stream.sendall(len(body).to_bytes(4, "little") + bytes(32) + body)
            stream.recv(4096)

    def of_other_builds(self):
        for greeting in ("ucx-bench-control 3 0.0.1 abc 00", f"ucx-bench-control 4 {self.version} 00 00",
                         f"ucx-bench-control {'9' * 100} {self.version} 00"):
            with self.connect() as stream:
                stream.sendall(greeting.encode() + b"\n")
                stream.recv(4096)


# Hundreds of handshakes at once keep a sanitizer busy for longer than a peer waits.
@pytest.mark.release_only
def test_unknown_clients_are_turned_away_and_the_run_goes_on(start, listen, token, tmp_path):
    secret = token(TOKEN)
    listener, port = listen(secret, "--sizes", "8,300000")
    wrong = connect(start, port, token("00" * 32, "wrong"), folder=tmp_path / "wrong-token").finish()
    assert wrong.code == 3, wrong
    assert "token" in only(wrong.complaints)
    with UnknownClients(port) as clients:
        wait_until(lambda: len(clients.done) == len(clients.threads), lambda: clients.done)
        other = connect(start, port, secret, folder=tmp_path / "other").finish()
    assert other.code == 0, other
    done = listener.finish()
    assert done.code == 0, done
    for case in done.file["cases"]:
        assert_sound(case)
    # Told of, but not one by one.
    assert 1 <= sum("refused a connection: " in line for line in done.err.splitlines()) <= 8, done
    assert re.search(r"refused \d+ more connections", done.err), done


def cbor(value):
    if value is True:
        return b"\xf5"
    if isinstance(value, bytes):
        return b"\x59" + len(value).to_bytes(2, "big") + value
    if isinstance(value, dict):
        return bytes([0xA0 + len(value)]) + b"".join(cbor(part) for pair in value.items() for part in pair)
    if isinstance(value, int):
        return bytes([value]) if 0 <= value < 24 else bytes([0x3B if value < 0 else 0x1B]) + max(value, -1 - value).to_bytes(8, "big")
    if isinstance(value, list):
        return bytes([0x80 + len(value)]) + b"".join(map(cbor, value))
    text = value.encode()
    return (bytes([0x60 + len(text)]) if len(text) < 24 else bytes([0x78, len(text)])) + text


def mac(key, data):
    return hmac.new(key, data, "sha256")


@pytest.fixture
def said_to_a_first_host(start, token, tmp_path):
    """What a host says that is told to launch so, until all words are in it, by who has the token; and its status."""

    def run(launch, *words, environment=None):
        with socket.create_server(("127.0.0.1", 0)) as server:
            other = start("pingpong", "--connect", f"127.0.0.1:{server.getsockname()[1]}", "--bind", "none", "--token-file",
                          token(TOKEN), folder=tmp_path / "other", environment=environment)
            server.settimeout(LONG_S)
            stream, _ = server.accept()
        with stream, stream.makefile("rwb") as lines:
            stream.settimeout(LONG_S)
            magic, protocol, version, commit, theirs = lines.readline().decode().split()
            ours = "00" * 32

            def derived(use, host):
                return mac(TOKEN.encode(), f"{magic} {use} listener {ours} {theirs} {host}".encode())

            lines.write(f"{magic} {protocol} {version} {commit} {ours}\n".encode())
            lines.write(f"proof {derived('proof', 'near').hexdigest()} near\n".encode())
            lines.flush()
            assert lines.readline().startswith(b"proof ")
            body = cbor({"type": "launch", **launch})
            key = derived("frames", "").digest()
            length = len(body).to_bytes(4, "little")
            seals = [mac(key, number.to_bytes(8, "little") + piece).digest()[:16] for number, piece in enumerate((length, body))]
            lines.write(length + b"".join(seals) + body)
            lines.flush()
            said = b""
            while any(word.encode() not in said for word in words):
                part = stream.recv(4096)
                assert part, said
                said += part
        return said.decode(errors="replace"), other.finish().code

    return run


@pytest.mark.thinned(4)
@pytest.mark.parametrize("variable", ["LD_PRELOAD", "UCX_MODULE_DIR", "UCX_LOG_FILE"])
@pytest.mark.parametrize("kind", ["settings", "ucx"])
def test_who_knows_the_token_can_set_no_more_than_transports(said_to_a_first_host, kind, variable):
    told = {"set": "tcp", "settings": {}, "ucx": {}, kind: {variable: "x"}}
    _, code = said_to_a_first_host({"ranks": [1], "size": 2, "preset": {}, "told": told}, "did not start", variable)
    assert code == 5


ORDERS = {"set": "tcp", "settings": {}, "ucx": {}, "busy_threads": 1, "peers": 0, "first_on_machine": 0,
          "seat": {"index": 0, "of": 1}}


@pytest.mark.parametrize("asks_for", ["file", "variable", "memory"])
def test_who_knows_the_token_reads_no_file_or_variable(said_to_a_first_host, tmp_path, asks_for):
    """The first host says which rank runs where: rank 0 may be another host's."""
    (tmp_path / "private").write_text('{"a worker of Dask": 7, "secret-in-a-file": []}')
    plan = {"benchmark": "replay", "launch": 0, "set": ["tcp"], "asked": {}, "crowded": True, "first_turn": 0,
            "cases": [{"index": 0, "parameters": {"log": str(tmp_path / "private")}}]}
    why = "the plan of this launch is refused: 'log' may be a path"
    if asks_for == "variable":
        plan |= {"cases": [], "asked": {"MINE": "x"}}
        why = "the plan of this launch is refused: it asks for the variable MINE"
    if asks_for == "memory":
        plan |= {"cases": [], "duet": {"memory": f"base:{tmp_path}/private", "number": 1, "limit_ms": 1000}}
        why = "--duet ''"
    said, _ = said_to_a_first_host({"ranks": [0], "size": 1, "preset": {"plan": cbor(plan)}, "told": ORDERS}, why,
                                   environment={"MINE": "secret-in-a-variable"})
    assert "a worker of Dask" not in said and "secret" not in said


@pytest.mark.parametrize("parameters, why", [
    ({"iterations": -1}, "'iterations' is -1"), ({"iterations": 2**40}, "'iterations' is 1099511627776"),
    ({"bytes": 2**63}, "'bytes' is 9223372036854775808"), ({"bytes": 2**62}, "more than the available memory"), ({"bytes": "8"}, "'bytes' is "),
    ({"window": 0}, "'window' is 0"), ({"launch": 2**63}, "'launch' is 9223372036854775808"),
])
def test_who_knows_the_token_can_ask_for_no_more_than_options_can(said_to_a_first_host, parameters, why):
    plan = {"benchmark": "pingpong", "launch": parameters.pop("launch", 0), "set": ["tcp"], "asked": {}, "crowded": True,
            "first_turn": 0, "cases": [{"index": 0, "parameters": {"memory": ["host", "host"], "transports": ["tcp"], **parameters}}]}
    said_to_a_first_host({"ranks": [0], "size": 1, "preset": {"plan": cbor(plan)}, "told": ORDERS},
                         "the plan of this launch is refused: ", why)


def test_what_the_other_side_would_refuse_is_refused_here(bench, token):
    done = bench("pingpong", "--listen", "127.0.0.1:0", "--token-file", token(TOKEN),
                 "--ucx", "UCX_LOG_FILE=log")
    assert done.code == 2, done
    assert "UCX_LOG_FILE" in only(done.complaints)


def test_without_a_token(bench, tmp_path):
    missing = bench("pingpong", "--connect", "127.0.0.1:1", "--token-file", tmp_path / "none")
    assert missing.code == 2, missing
    assert str(tmp_path / "none") in only(missing.complaints)


def test_an_open_token_file_is_refused(bench, token):
    secret = token(TOKEN)
    secret.chmod(0o644)
    for side in ("--listen", "--connect"):
        done = bench("pingpong", side, "127.0.0.1:0", "--token-file", secret)
        assert done.code == 2, done
        assert str(secret) in only(done.complaints)


def test_port_in_use(bench, token):
    with taken_port(listening=True) as port:
        done = bench("pingpong", "--listen", f"127.0.0.1:{port}", "--token-file", token(TOKEN))
    assert done.code == 2, done
    assert str(port) in only(done.complaints)


def test_nobody_listens(bench, token):
    with taken_port(listening=False) as port:
        done = bench("pingpong", "--connect", f"127.0.0.1:{port}", "--token-file", token(TOKEN))
    assert done.code == 3, done
    assert str(port) in only(done.complaints)


@pytest.mark.thinned(2)
@pytest.mark.parametrize("answer", [b"HTTP/1.1 400 Bad Request\r\n\r\n", b"\xff" * 100, b""])
def test_somebody_else_listens(start, token, tmp_path, answer):
    with socket.socket() as server:
        server.bind(("127.0.0.1", 0))
        server.listen()
        server.settimeout(LONG_S)
        other = connect(start, server.getsockname()[1], token(TOKEN), folder=tmp_path / "other")
        stream, _ = server.accept()
        with stream:
            stream.sendall(answer)
            with contextlib.suppress(OSError):
                stream.shutdown(socket.SHUT_WR)
            server.close()  # one that was cut off tries again
            done = other.finish()
    assert done.code == 3, done
    only(done.complaints)


@pytest.mark.parametrize("side", ["listener", "other"])
def test_one_side_is_killed(start, listen, fault, token, tmp_path, side):
    def begin(*words, folder):
        return fault.run("hold", 0, "8 B: latency", command=words, folder=folder)

    secret = token(TOKEN)
    listener, port = listen(secret, "--iterations", "100000000", "--transports", "tcp", "--sizes", "8", begin=begin)
    other = connect(start, port, secret, folder=tmp_path / "other")
    fault.acted_at()
    fault.go_on()  # and measures, for minutes
    victim, survivor = (listener, other) if side == "listener" else (other, listener)
    victim.process.kill()
    killed_at = time.monotonic()
    done = survivor.finish()
    assert done.code == 5, done
    assert done.ended_at - killed_at < LONG_S
    assert "lost" in only(done.complaints) or "closed the control connection" in done.err
    listener.wait_until_gone()
    other.wait_until_gone()
    if side == "other":
        assert done.file["run"]["state"] == "failed"


@pytest.mark.thinned(3)
@pytest.mark.parametrize("endpoint", ["localhost:99999", "127.0.0.1:x", ":", "1.2.3.4.5:1"])
def test_bad_endpoints(bench, endpoint, token):
    done = bench("pingpong", "--connect", endpoint, "--token-file", token(TOKEN))
    assert done.code in (2, 3), done
    assert endpoint.split(":")[0] in only(done.complaints)
