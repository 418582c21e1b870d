"""Network namespaces, which need root: hosts with names of their own, joined by a switch."""

import contextlib
import os
import shutil
import subprocess

import pytest
from conftest import wait_until

IP = shutil.which("ip")
WHY_NOT = None if IP and os.geteuid() == 0 else "network namespaces need root and the command ip (iproute2)"
PORT = 13337
# Of mpirun.
AS_ROOT = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
AHEAD_S = (0, 7, -5, 30)  # of the clocks of the hosts


def ip(*arguments):
    return subprocess.run([IP, *arguments], check=True, capture_output=True, text=True, timeout=20).stdout


def shape(namespace, device, rate, to=None):
    """What goes out there has this rate; what goes to an address that `to` has, a rate of its own."""
    def tc(*words):
        ip("netns", "exec", namespace, "tc", *words)

    with contextlib.suppress(subprocess.CalledProcessError):
        tc("qdisc", "delete", "dev", device, "root")
    tc("qdisc", "add", "dev", device, "root", "handle", "1:", "htb", "default", "10")
    tc("class", "add", "dev", device, "parent", "1:", "classid", "1:10", "htb", "rate", rate)
    for number, (address, its_rate) in enumerate((to or {}).items(), 20):
        tc("class", "add", "dev", device, "parent", "1:", "classid", f"1:{number}", "htb", "rate", its_rate)
        tc("filter", "add", "dev", device, "protocol", "ip", "parent", "1:", "prio", "1", "u32",
           "match", "ip", "dst", f"{address}/32", "flowid", f"1:{number}")


class Hosts:
    """`count` of them, named node0, node1, …; addresses 10.203.8.1, .2, …; `number` of several such sets.
    Without `own_clocks` they tell the time of this host."""

    def __init__(self, count, number=0, own_clocks=True):
        self.prefix = f"ucxbench{os.getpid()}s{number}h"
        self.count = count
        clock = ["unshare", "--time", "--monotonic", "7", "true"]
        self.own_clocks = own_clocks and subprocess.run(clock, capture_output=True, timeout=20).returncode == 0

    def name(self, host):
        return f"{self.prefix}{host}"

    def make(self):
        switch = self.name("switch")
        ip("netns", "add", switch)
        ip("-n", switch, "link", "add", "bridge", "type", "bridge")
        ip("-n", switch, "link", "set", "bridge", "up")
        for host in range(self.count):
            name = self.name(host)
            ip("netns", "add", name)
            ip("-n", switch, "link", "add", f"to{host}", "type", "veth", "peer", "name", "eth7", "netns", name)
            ip("-n", switch, "link", "set", f"to{host}", "master", "bridge", "up")
            ip("-n", name, "address", "add", f"10.203.8.{host + 1}/24", "dev", "eth7")
            ip("-n", name, "link", "set", "eth7", "up")
            ip("-n", name, "link", "set", "lo", "up")
        for host in range(self.count):
            wait_until(lambda of=self.name(host): "state UP" in ip("-n", of, "link", "show", "eth7"))

    def remove(self):
        for host in ["switch", *range(self.count)]:
            subprocess.run([IP, "netns", "delete", self.name(host)], capture_output=True, timeout=20)

    def on(self, host, *words):
        """The words of a program that runs there, where clocks are AHEAD_S ahead."""
        enter = f"hostname node{host}; exec \"$@\""
        clock = ["--time", "--monotonic", AHEAD_S[host % len(AHEAD_S)]] if self.own_clocks else []
        return [str(word) for word in ("netns", "exec", self.name(host), "unshare", "--uts", *clock, "sh", "-c", enter,
                                       "sh", *words)]

    def by_mpirun(self, folder, hosts):
        """mpirun's words before those of its program, typed on the first host, for so many of them."""
        agent = folder / "agent"
        # What it starts on a host, whose name is the first word that is no option.
        agent.write_text(
            "#!/bin/sh\nwhile case $1 in -*) true ;; *) false ;; esac; do shift; done\nhost=$1; shift\n"
            f"exec ip netns exec {self.prefix}${{host#node}} unshare --uts sh -c \"hostname $host; $*\"\n")
        agent.chmod(0o700)
        return self.on(0, "mpirun", "--host", ",".join(f"node{host}:2" for host in range(hosts)), "--map-by", "node",
                       "--bind-to", "none", "--mca", "plm_rsh_agent", agent, "--mca", "oob_tcp_if_include",
                       "10.203.8.0/24", "--mca", "plm_rsh_no_tree_spawn", 1,
                       # Several mpirun at once may remove the folder that they share from under each other.
                       "--mca", "orte_tmpdir_base", folder)

    @contextlib.contextmanager
    def cut_off(self, host):
        """Whatever is sent to it or from it is lost, and nobody is told."""
        ip("-n", self.name("switch"), "link", "set", f"to{host}", "nomaster")
        try:
            yield
        finally:
            ip("-n", self.name("switch"), "link", "set", f"to{host}", "master", "bridge")


    @contextlib.contextmanager
    def apart(self, *two):
        """Whatever these two send each other is lost, and nobody is told; all others reach both."""
        ways = [(host, "neigh", word, f"10.203.8.{peer + 1}", "dev", "eth7")
                for host, peer in (two, two[::-1]) for word in ("replace", "delete")]
        for host, *words in ways[::2]:
            ip("-n", self.name(host), *words, "lladdr", "02:00:00:00:00:99", "nud", "permanent")
        try:
            yield
        finally:
            for host, *words in ways[1::2]:
                ip("-n", self.name(host), *words)


@contextlib.contextmanager
def made(make, remove):
    """As long as the tests run that need them; skips these where there cannot be any."""
    if WHY_NOT:
        pytest.skip(WHY_NOT)
    try:
        try:
            make()
        except subprocess.CalledProcessError as error:
            pytest.skip(f"no network namespaces here: {error.stderr.strip()}")
        yield
    finally:
        remove()


def token_in(folder):
    """What both sides of a run show each other."""
    file = folder / "token"
    file.write_text("5c" * 32)
    file.chmod(0o600)
    return file
