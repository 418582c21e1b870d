"""Hosts whose links have rates that are known: the sweep names what is slow, and nothing else."""

import random
import re
import shutil

import pytest
from conftest import PROGRAM, Started, in_some_attempt, only
from namespaces import IP, Hosts, made, shape, token_in

HOSTS = 5
# Far below what a busy machine carries, so that it is the link that is seen.
USUAL, SLOW = "100mbit", "20mbit"


def plant(hosts, slow_host=None, slow_link=()):
    address = "10.203.8.{}".format
    for host in range(HOSTS):
        rate = SLOW if host == slow_host else USUAL
        peer = next((address(other + 1) for other in slow_link if host in slow_link and other != host), None)
        shape(hosts.name(host), "eth7", rate, {peer: SLOW} if peer else {})
        shape(hosts.name("switch"), f"to{host}", rate)


@pytest.fixture(scope="module")
def hosts():
    if not shutil.which("tc"):
        pytest.skip("links with rates that are known need the command tc (iproute2)")
    hosts = Hosts(HOSTS)

    def make():
        hosts.make()
        plant(hosts)

    with made(make, hosts.remove):
        yield hosts


def swept(hosts, count, folder):
    """A sweep of the first so many."""
    folder.mkdir()
    token = token_in(folder)
    sides = []
    for host in range(count):
        side = ["--listen", "10.203.8.1:13337", "--hosts", count] if host == 0 else ["--connect", "10.203.8.1:13337"]
        words = ["-s", "32KiB", "--iterations", 64, "--runs", 3, "--launches", 1, "--concurrent", "disjoint",
                 "--progress-mode", "event", "--json", "run.json"] if host == 0 else []
        (folder / str(host)).mkdir()
        sides.append(Started(hosts.on(host, PROGRAM, "p2p", *side, "--token-file", token, *words), folder / str(host), {},
                             program=IP))
    ends = [side.finish() for side in sides]
    assert [end.code for end in ends] == [0] * count, ends
    return ends[0]


def swept_until(hosts, count, folder, ids, says=""):
    """One in which these findings were made; on a busy machine a pair may really be slow for a while."""
    sweeps = []

    def attempt(number):
        sweeps.append(swept(hosts, count, folder / str(number)))
        findings = found(sweeps[-1])
        return [name for name, _ in findings] == ids and all(re.search(says, evidence) for _, evidence in findings)

    assert in_some_attempt(attempt), sweeps
    return sweeps[-1]


def found(done):
    return [(finding["id"], finding["evidence"]) for finding in done.file["findings"]
            if finding["id"] in ("slow-host", "slow-link", "slow-pair", "asymmetric-pair")]


def test_good_hosts_are_not_named(hosts, tmp_path):
    plant(hosts)
    done = swept_until(hosts, HOSTS, tmp_path, [])
    sweep = only(done.file["cases"])["sweep"]
    assert sweep["links"] == [] and sweep["against"] == "median"
    assert sorted(host["host"] for host in sweep["hosts"]) == [f"node{host}" for host in range(HOSTS)]
    assert {rail["devices"] for rail in sweep["rails"]} == {"eth7"}
    assert "hosts, 32 KiB, disjoint pairs at a time, shares of the median pair" in done.out


def test_a_slow_host_is_named_and_no_other(hosts, tmp_path):
    slow = random.randrange(HOSTS - 1)
    plant(hosts, slow_host=slow)
    done = swept_until(hosts, HOSTS - 1, tmp_path, ["slow-host"],
                       rf"^node{slow} sends and receives at \d+ % of the median of {HOSTS - 1} hosts \(z -[\d.]+\)$")
    sweep = only(done.file["cases"])["sweep"]
    assert [host["host"] for host in sweep["hosts"] if host["slow"]] == [f"node{slow}"]
    assert sweep["hosts"][0]["sends"] < 0.5 and sweep["hosts"][0]["receives"] < 0.5
    assert sweep["links"] == [] and not any(rail["slow"] for rail in sweep["rails"])
    assert re.search(rf"node{slow} +6 .* sends and receives\n", done.out), done


def test_a_slow_link_is_named_and_neither_of_its_hosts(hosts, tmp_path):
    one, other = random.sample(range(HOSTS), 2)
    plant(hosts, slow_link=(one, other))
    done = swept_until(hosts, HOSTS, tmp_path, ["slow-link"], ", back ")
    assert re.match(rf"(node{one}->node{other}|node{other}->node{one}): ", only(found(done))[1]), done
    sweep = only(done.file["cases"])["sweep"]
    assert {(link["from"], link["to"]) for link in sweep["links"]} == {
        (f"node{one}", f"node{other}"), (f"node{other}", f"node{one}")}
    assert not any(host["slow"] for host in sweep["hosts"])
