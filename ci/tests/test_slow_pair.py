"""One slow link among three hosts: whatever measures two sides, or holds a run against limits, names its ranks."""

import contextlib
import json
import shutil

import pytest
from conftest import CROWDED, PROGRAM, Started, only
from namespaces import IP, Hosts, made, shape, token_in

HOSTS = 3
SLOW_PAIRS = {(0, 2), (2, 0)}
# Of each pair, whatever the others do, and far below what a busy machine carries.
USUAL, SLOW = "100mbit", "20mbit"
SHORT = " ".join(map(str, CROWDED)) + " --transports tcp --net-devices eth7 --bind none --no-memory-copy --wrap './wrapper {rank}'"
CASES = {
    "p2p": "p2p -n 3 --concurrent one --sizes 8KiB --iterations 16 --runs 1",
    "incast": "incast -n 3 --sizes 8KiB --iterations 16 --runs 1",
    "kv": "kv --prefill 1 --decode 2 --op get --block 4KiB --descriptors 32 --sessions 1 --rounds 2",
}
# Of which direction a benchmark sends; and the metric that each pair has.
PAIRS = {"p2p": ("bandwidth_GBps", SLOW_PAIRS), "incast": ("pair_GBps", SLOW_PAIRS), "kv": ("pair_GBps", {(0, 2)})}


def plant(hosts, slow, pairs=frozenset(SLOW_PAIRS)):
    for host in range(HOSTS):
        rates = {f"10.203.8.{peer + 1}": slow if (host, peer) in pairs else USUAL
                 for peer in range(HOSTS) if peer != host}
        shape(hosts.name(host), "eth7", USUAL, rates)


@pytest.fixture(scope="module")
def networks():
    """One with a slow link, and one without."""
    if not shutil.which("tc"):
        pytest.skip("links with rates that are known need the command tc (iproute2)")
    both = [Hosts(HOSTS, number=8, own_clocks=False), Hosts(HOSTS, number=9, own_clocks=False)]
    with contextlib.ExitStack() as stack:
        for hosts, slow in zip(both, (USUAL, SLOW)):
            stack.enter_context(made(hosts.make, hosts.remove))
            plant(hosts, slow)
        yield both


def suite(folder, networks, *cases, launches):
    """A suite whose ranks are on three hosts of one network, on the side "slow" of the other."""
    usual, slow = networks
    (folder / "wrapper").write_text(
        "#!/bin/sh\nrank=$1; shift\n"
        f"case $NETWORK:$LD_LIBRARY_PATH in slow:*|*/slow/lib*) host={slow.name('')} ;; *) host={usual.name('')} ;; esac\n"
        f'exec {IP} netns exec $host$rank "$@"\n')
    (folder / "wrapper").chmod(0o700)
    lines = [f"launches = {launches}"]
    for case in cases:
        lines += ["[[case]]", f"args = {json.dumps(f'{CASES[case]} {SHORT}')}"]
    (folder / "suite.toml").write_text("\n".join(lines) + "\n")


def lost_pairs(rows, verdict_of):
    """Of each benchmark the pairs that lost so much that it is no chance, which --alpha 0.05 leaves."""
    lost = {}
    for row in rows:
        benchmark = row["key"].partition("/")[0]
        if not row["pair"]:
            continue
        assert row["metric"] == PAIRS[benchmark][0]
        if verdict_of(row)["verdict"] == "regressed" and verdict_of(row)["ratio"] < 1 / 2:
            lost.setdefault(benchmark, set()).add((row["pair"]["src"], row["pair"]["dst"]))
    return lost


def test_between_two_sides(bench, networks, tmp_path):
    suite(tmp_path, networks, *CASES, launches=6)
    done = bench("ab", "suite.toml", "--folder", "runs", "--new-env", "NETWORK=slow", "--alpha", 0.05, "--json", "verdict.json",
                 "--fail-on", "regression")
    assert done.code == 1, done
    rows = json.loads((tmp_path / "verdict.json").read_text())["series"]
    assert lost_pairs(rows, lambda row: row) == {benchmark: pairs for benchmark, (_, pairs) in PAIRS.items()}, done
    assert all(f"pair {src}->{dst}" in done.out for src, dst in SLOW_PAIRS), done
    run = {json.loads(file.read_text())["run"]["ab"]["side"]: file for file in (tmp_path / "runs").iterdir()}
    assert bench("compare", run["base"], run["new"], "--alpha", 0.05).out == done.out


def test_between_two_versions(bench, networks, ucx_copies, tmp_path):
    ucx_copies[1].rename(tmp_path / "slow")
    suite(tmp_path, networks, "p2p", launches=7)
    done = bench("versions", "suite.toml", "--ucx", "usual=/usr", "--ucx", f"slow={tmp_path / 'slow'}", "--folder", "runs",
                 "--json", "v.json")
    assert done.code == 0, done
    rows = json.loads((tmp_path / "v.json").read_text())["rows"]
    assert lost_pairs(rows, lambda row: row["cells"]["slow"]) == {"p2p": SLOW_PAIRS}, done
    assert all(f"pair {src}->{dst}" in done.out for src, dst in SLOW_PAIRS), done


def test_against_a_limit(networks, tmp_path):
    """A packet takes 3.2 ms over a link of 200 kbit/s. One launch proves nothing, but it names the pair."""
    hosts = networks[1]
    plant(hosts, "200kbit", {(1, 2), (2, 1)})  # which no control connection goes over
    token = token_in(tmp_path)
    (tmp_path / "site.toml").write_text('ranks = 2\n[[expect]]\ntransports = "tcp"\nmax_us = 1000\n')
    sides = []
    for host in range(HOSTS):
        side = ["--connect", "10.203.8.1:13337"]
        if host == 0:
            side = ["--listen", "10.203.8.1:13337", "--hosts", HOSTS, "--expect", tmp_path / "site.toml", "--json", "run.json",
                    "--max-time", "1ms"]
        (tmp_path / str(host)).mkdir()
        words = hosts.on(host, PROGRAM, "check", *side, "--token-file", token)
        sides.append(Started(words, tmp_path / str(host), {}, program=IP))
    done, *_ = [side.finish() for side in sides]
    plant(hosts, SLOW)
    assert done.code == 6, done
    limit = only(done.file["run"]["check"]["limits"])
    assert limit["measured"] > 1000, limit
    assert {limit["host"], limit["peer"]} == {"node1", "node2"}, limit
    assert "(node1->node2)" in done.out or "(node2->node1)" in done.out, done
