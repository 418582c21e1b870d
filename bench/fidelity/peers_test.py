"""What peers print, as recorded, and how they are paired and told of, without any of them."""

import json
import pathlib
import re
import sys

import pytest

import carried
import joins
import peer_record
import peer_tools
import peers
import report
import tools
from cells import Cell
from peer_cells import Load, LocalJoin, Message

SMALL, LARGE = (Message("tcp", "tag", "latency", size) for size in ("8B", "1MiB"))

OSU = """
# OSU MPI Latency Test v7.4
# Datatype: MPI_CHAR.
# Size       Avg Latency(us)
8                       6.31
"""
SEND_RECV = """Server Running at 127.0.0.1:43067
Client connecting to server at 127.0.0.1:43067
Roundtrip benchmark
================================================================================
Iterations                | 1000
Bytes                     | 8 B
Latency (average)         | 31871 ns
Latency (median)          | 31004 ns
"""


def test_reads_osu():
    assert peer_tools.parse_osu(OSU, 8) == 6.31
    for text, size in (("", 8), (OSU, 16), (OSU.replace("6.31", "?"), 8)):
        with pytest.raises(tools.Failed, match=f"no figure of {size} bytes"):
            peer_tools.parse_osu(text, size)


def test_osu_says_its_own_version(monkeypatch):
    osu = peer_tools.Osu(False)
    monkeypatch.setattr(osu, "printed", lambda _: OSU)
    assert osu.measure(SMALL) == 6.31 and osu.note(SMALL) == "OSU MPI Latency Test v7.4"


def test_reads_send_recv_of_ucxx():
    assert peer_tools.parse_send_recv(SEND_RECV) == 31.004
    with pytest.raises(tools.Failed, match="no median"):
        peer_tools.parse_send_recv(SEND_RECV.replace("median", "mean"))


def test_an_exchange_of_ucxx_core_is_not_halved(monkeypatch):
    monkeypatch.setattr(peer_tools, "done", lambda *_: SEND_RECV)
    assert peer_tools.Ucxx("async").measure(SMALL) == 31.004
    assert peer_tools.Ucxx("core").measure(SMALL) == 62.008


def test_reads_what_our_own_scripts_print():
    assert peer_tools.parse_echo('a warning\n{"one_way_us": 1.5}\n') == 1.5
    runs = 'UCX WARN unused\n{"seconds": 0.5, "received_bytes": 7}\n{"seconds": 0.25, "received_bytes": 0}\n'
    assert peer_tools.parse_dask(runs) == [(0.5, 7), (0.25, 0)]
    for parse in (peer_tools.parse_echo, peer_tools.parse_dask):
        with pytest.raises(tools.Failed, match="no figure"):
            parse("a warning\n{}\n")
    with pytest.raises(tools.Failed, match="no figure"):
        peer_tools.parse_echo("")


# As UCX 1.21, 1.22 and 1.16 print it of a program that asks for error handling, one that does not, and an older one.
OVER_TCP = """Latency (median)          | 31004 ns
[1795859601.660838] [host:772  :0]   +--------------------------------+-----------------------------------------------------+
[1795859601.660873] [host:772  :0]   | ucp_context_0 intra-node cfg#3 | tagged message by ucp_tag_send* from host memory    |
[1795859601.660876] [host:772  :0]   | 0                            0 | eager short                                | tcp/lo |
[1795859601.660877] [host:772  :0]   | 0                      1..8191 | eager zero-copy copy-out                   | tcp/lo |
[1795859601.660878] [host:772  :0]   | 120                    8K..inf | (?) rendezvous fragmented copy-in copy-out | tcp/lo |
"""
OVER_MEMORY = """[1795859288.484809] [host:23952:0]   | ucp_context_0 intra-node cfg#0                            |
[1795859288.484809] [host:23952:0]   | tagged message by ucp_tag_send* from host memory          |
[1795859288.484662] [host:23952:0]   | Range  | Description             |         Config             |
[1795859288.484662] [host:23952:0]   | 0..92  | eager short             | sysv/memory                |
[1795859288.484662] [host:23952:0]   | 93..inf | (?) rendezvous         | 52% on cma/memory and 48% on tcp/eth0:1 |
[1795859288.484809] [host:23952:0]   | ucp_context_0 self cfg#1 | tagged message by ucp_tag_send* from host memory |
[1795859288.484662] [host:23952:0]   | 0..inf | eager short             | self/memory                |
"""
OLDER = """[1795860991.415144] [host:29616:0]   | 0x55b147227360 ep_cfg[0] | tagged message by ucp_tag_send*() from host memory |
[1795860991.415145] [host:29616:0]   |                   0..inf | eager copy-in                         | sysv/memory |
"""


@pytest.mark.parametrize("text, size, found", [
    (OVER_TCP, 8, {"tcp"}), (OVER_TCP, 1 << 20, {"tcp"}), (OVER_MEMORY, 8, {"sysv"}), (OVER_MEMORY, 4096, {"cma", "tcp"}),
    (OVER_MEMORY, None, {"sysv", "cma", "tcp"}), (OLDER, 64, {"sysv"}), ("", 8, set()), (SEND_RECV, 8, set()),
    (OVER_MEMORY[:-60], 8, {"sysv"}),
])
def test_reads_what_ucx_says_of_its_protocols(text, size, found):
    assert carried.transports_in(text, size) == found


@pytest.mark.parametrize("of, transport, right", [
    ("tcp", "tcp", True), ("tcp", "shm", False), ("cma+sysv", "shm", True), ("posix or tcp", "shm", False), ("shm", "shm", True),
    ("cma+tcp", "shm", False), ("unknown", "shm", None), ("tcp or unknown", "shm", None), (None, "tcp", None),
])
def test_what_carried_is_held_against_what_was_asked(of, transport, right):
    assert carried.is_of(of, transport) is right


def over_ucx():
    return [peer_tools.Ucxx("core"), peer_tools.Ucxx("async"), peer_tools.DaskMessages("ucx"), peer_tools.Osu(True),
            peer_tools.Mpi4py(True)]


@pytest.mark.parametrize("peer", over_ucx(), ids=lambda peer: peer.name)
@pytest.mark.parametrize("printed, said", [(OVER_TCP, "tcp"), (OVER_MEMORY, "sysv"), ("", "unknown")])
def test_every_program_over_ucx_is_asked_what_carried_it(monkeypatch, peer, printed, said):
    """Whatever its row is called: a row over shm that went over tcp says so, and has no ratio."""
    asked = []

    def done(_, name, env, *__):
        asked.append(env)
        assert env["UCX_PROTO_INFO"] == "y"
        pathlib.Path(env["UCX_LOG_FILE"]).with_name("host.1").write_text(printed)
        return OSU + SEND_RECV + '{"one_way_us": 1.5}\n'

    monkeypatch.setattr(peer_tools, "done", done)
    monkeypatch.setattr(peer_tools, "osu_folder", lambda: "")
    cell = Message("shm", "tag", "latency", "8B")
    peer.found = {}
    peer.measure(cell)
    assert peer.carried_by(cell) == said
    figure = {"median": 1.5, "ratio": {"median": 2.0, "ci95": None}, "carried_by": said}
    shown = peer_record.figure_text(figure, {"message": {"transport": "shm"}})
    assert shown == ("1.500 over tcp" if said == "tcp" else "1.500 (2.00)")
    if peer.family in ("ucxx", "dask"):
        assert asked[0]["UCX_POSIX_ERROR_HANDLING"] == asked[0]["UCX_SYSV_ERROR_HANDLING"] == "y"


def test_what_carried_is_of_all_rounds():
    peer = peer_tools.Ucxx("core")
    assert peer.carried_by(SMALL) is None
    for of in ("sysv", "tcp", "sysv"):
        peer.carry(SMALL, of)
    assert peer.carried_by(SMALL) == "sysv or tcp" and peer.carried_by(LARGE) is None


def test_a_load_of_dask_that_moved_nothing_is_no_figure(monkeypatch):
    of = Load("merge", 1000)
    runs = [{"seconds": seconds, "received_bytes": 9_000_000} for seconds in (0.004, 0.001, 0.002)]
    monkeypatch.setattr(peer_tools, "done", lambda *_: "\n".join(map(json.dumps, runs)))
    workers = peer_tools.DaskLoad("tcp")
    assert workers.note(of) == "" and workers.measure(of) == pytest.approx(64_000 / 0.002 / 1e9)
    assert workers.note(of) == "9 MB went between workers"
    runs[1]["received_bytes"] = 0
    with pytest.raises(tools.Failed, match="3 runs, of which 1 moved no bytes"):
        peer_tools.DaskLoad("tcp").measure(of)


def test_throughput_counts_the_input():
    assert Load("merge", 1000).bytes == 2 * 2 * 1000 * 16
    assert Load("transpose", 10).bytes == 800
    assert LocalJoin((0,), 1000, 0.3).bytes == 2 * 1000 * 16
    assert isinstance(LocalJoin((0,), 1000, 0.3), joins.Join)


def test_each_rank_of_mpi_has_its_cpu_and_ends_with_mpirun():
    command = list(map(str, peer_tools.mpirun("shm", False, ["it"])))
    assert command.count("setpriv") == command.count("it") == 2
    assert [command[i + 2] for i, word in enumerate(command) if word == "taskset"] == ["0", "1"]
    assert "self,vader" in command and "self,tcp" in peer_tools.mpirun("tcp", False, ["it"])
    assert "ob1" not in peer_tools.mpirun("tcp", True, ["it"])


@pytest.mark.parametrize("said, wrong", [("mpirun (Open MPI) 4.1.4\n", None), ("HYDRA build details:\n", "not Open MPI's")])
def test_only_open_mpi_is_known(monkeypatch, said, wrong):
    monkeypatch.setattr(peer_tools.shutil, "which", lambda _: "mpirun")
    monkeypatch.setattr(peer_tools, "done", lambda *_: said)
    if wrong:
        with pytest.raises(tools.Failed, match=wrong):
            peer_tools.open_mpi_version()
    else:
        assert peer_tools.open_mpi_version() == "4.1.4"


def test_osu_is_taken_from_path_or_built(monkeypatch):
    cell = Cell("tcp", "tag", "latency", "8B")
    for on_path, program in ((("osu_latency", "osu_bw"), "osu_latency"), (("osu_latency",), "/made/osu_latency")):
        peer_tools.osu_folder.cache_clear()
        monkeypatch.setattr(peer_tools.shutil, "which", lambda name: name if name in on_path else None)
        monkeypatch.setattr(peer_tools, "done", lambda *_, **__: "Building\n/made\n")
        assert program in peer_tools.Osu(False).command(cell)
    peer_tools.osu_folder.cache_clear()


def test_a_package_that_is_missing_is_a_reason(monkeypatch):
    environment = peer_tools.Environment("none.txt", ".venv-none")
    monkeypatch.setattr(peer_tools.Environment, "python", sys.executable)
    environment.__dict__["missing"] = None
    with pytest.raises(tools.Failed, match="No module named 'nothing_like_it'"):
        environment.version_of("nothing_like_it", "it")
    assert re.match(r"\d", environment.version_of("pytest", "pytest"))
    environment.__dict__["missing"] = "no .venv-none: no network"
    with pytest.raises(tools.Failed, match="no network"):
        environment.version_of("pytest", "pytest")


class Fake(peer_tools.Peer):
    """Takes so many µs for each byte of a message, or gives so many GB/s."""

    layer, about = "a layer", "about it"

    def __init__(self, name, value, reason=None):
        self.name = self.family = name
        self.value, self.reason, self.ended = value, reason, 0

    def version(self):
        if self.reason:
            raise tools.Failed(self.reason)
        return "1.0"

    def covers(self, cell):
        return self.name != "engine" or isinstance(cell, LocalJoin)

    def command(self, cell):
        return [self.name, cell.key]

    def measure(self, cell):
        if self.value is None:
            raise tools.Unfit("not the same UCX")
        return self.value * cell.bytes if cell.metric == "latency" else self.value

    def end(self):
        self.ended += 1


def found_by(rounds=6):
    everyone = [Fake("ucx-bench", 2.0), Fake("ucx_perftest", 1.0), Fake("slow", 3.0), Fake("wrong", None),
                Fake("engine", 1.5), Fake("absent", 1.0, "import it: status 1: No module named 'it'")]
    about = peers.asked(everyone)
    result = {
        "machine": {"id": "vm-1", "cpu_model": "CPU", "cores": 2, "kernel": "6.1", "tcp_congestion_control": "cubic",
                    "load_1min_before": 0.0},
        "ucx": {"version": "1.13.1", "library": "/lib/libucp.so.0"},
        "ucx_bench": {"commit": "1a2b3c4d5e6f", "dirty": False, "flags": "-O3"},
        "command": "scripts/peers", "rounds": rounds, "peers": about, "cells": [],
    }
    saved = []
    peers.measure(result, [[SMALL, LARGE], [LocalJoin((0, 1), 1000, 0.3)]], everyone, rounds, lambda: saved.append(1))
    report.finish(result, "complete")
    assert len(saved) == 3 * rounds // 2 and all(peer.ended for peer in everyone)
    return result


def test_peers_are_paired_with_their_reference():
    result = found_by()
    small, large, join = result["cells"]
    assert (small["reference"], join["reference"]) == ("ucx_perftest", "ucx-bench")
    slow = small["figures"]["slow"]
    assert slow["median"] == 24.0 and slow["ratio"]["ci95"] == [3.0, 3.0] and slow["ratio"]["pairs"] == 6
    assert join["figures"]["engine"]["ratio"]["median"] == 0.75 and "engine" not in large["figures"]
    assert [list(of) for of in small["rounds"][2:4]] == [["ucx-bench", "ucx_perftest", "slow"],
                                                         ["slow", "ucx_perftest", "ucx-bench"]]
    wrong = small["figures"]["wrong"]
    assert (wrong["median"], wrong["failures"], wrong["failure"]) == (None, 3, "not the same UCX")


def test_who_cannot_run_is_said_in_the_table_and_on_the_page():
    result = found_by()
    text, page = peer_record.markdown(result), peer_record.page(result)
    why = "cannot run here: import it: status 1: No module named 'it'"
    assert "| slow | a layer | – | 24.00 (3.00, 3.00–3.00) |" in text
    assert "| engine | 1.500 | 0.750 | 0.750–0.750 | 6 | – |  |" in text
    assert f"| absent | a layer | – | {why} |  |" in text and f"| absent | – | – | – | 0 | – | {why} |" in text
    for shown in (text, page.replace("&#39;", "'")):
        assert why in shown
        assert "wrong, tcp/tag/latency/8B: 3 runs failed: not the same UCX." in shown
        assert "scripts/peers" in shown and "cubic" in shown
    assert "latency over tcp" in page and "http" not in page.replace("http-equiv", "").partition("<script")[0]
    json.loads(report.json_text(result))


def test_few_rounds_give_no_interval():
    result = found_by(rounds=2)
    assert result["cells"][0]["figures"]["slow"]["ratio"]["ci95"] is None
    assert "| slow | a layer | – | 24.00 (3.00) |" in peer_record.markdown(result)


def test_cells():
    messages, *loads = peers.cells_of(quick=False)
    assert len(messages) == 2 * 2 * 4 and len({of.key for of in messages}) == 16
    assert [of.key for group in loads for of in group] == [
        "merge/2 ranks/tcp", "transpose/2 ranks/tcp", "local join/1 CPU", "local join/2 CPUs"]
    assert len(peers.cells_of(quick=True)[0]) == 6


@pytest.mark.parametrize("wrong, said", [
    (["--only", "ucx"], "ucx_perftest"), (["--rounds", "0"], "give one from 1"), (["--rounds", "x"], "give one from 1"), (["--html", "/nowhere/p.html"], "no folder '/nowhere'"),
    (["--ucx-bench", "/nowhere"], "no program"),
])
def test_usage(wrong, said, capsys):
    with pytest.raises(SystemExit) as status:
        peers.arguments(["--ucx-bench", "true", *wrong])
    assert status.value.code == 2
    assert said in capsys.readouterr().err


def test_rounds_are_made_even():
    assert peers.arguments(["--ucx-bench", "true", "--rounds", "3"]).rounds == 4
    quick = peers.arguments(["--ucx-bench", "true", "--quick"])
    assert (quick.rounds, quick.markdown) == (2, "-")


def test_without_ucx_perftest_ours_is_the_reference():
    everyone = [Fake("ucx-bench", 2.0), Fake("ucx_perftest", 1.0, "no program ucx_perftest")]
    result = {"peers": peers.asked(everyone), "cells": []}
    peers.measure(result, [[SMALL]], everyone, 2, lambda: None)
    [cell] = result["cells"]
    assert cell["reference"] == "ucx-bench" and cell["figures"]["ucx-bench"]["ratio"]["median"] == 1
    assert cell["figures"]["ucx_perftest"]["failure"] == "cannot run here: no program ucx_perftest"
    assert [list(of) for of in cell["rounds"]] == [["ucx-bench"]] * 2
