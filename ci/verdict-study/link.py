"""A link between two network namespaces whose rate can be set: what crosses it is as steady as no
other thing on a machine."""

import contextlib
import os
import shutil
import subprocess
import time

from launches import Unfit

# Bits per second of the faster side, with Ethernet's headers.
RATE = 500_000_000


def run(*command):
    try:
        done = subprocess.run([str(word) for word in command], check=True, capture_output=True, text=True, timeout=20)
    except subprocess.CalledProcessError as error:
        raise Unfit(f"no shaped link here: {' '.join(command)}: {error.stderr.strip()}") from None
    return done.stdout


class Link:
    def __init__(self, name):
        self.name = name

    def set_rate(self, rate):
        """Both ways. A token bucket of 10 ms: smaller ones lose rate when the sender is descheduled."""
        for end in range(2):
            run("ip", "netns", "exec", f"{self.name}{end}", "tc", "qdisc", "replace", "dev", "veth", "root", "tbf",
                "rate", f"{rate:.0f}", "burst", f"{rate / 8 * 0.010:.0f}", "limit", "4000000")


@contextlib.contextmanager
def shaped_link():
    if os.geteuid() != 0 or not all(map(shutil.which, ("ip", "tc"))):
        raise Unfit("no shaped link here: it needs root and the commands ip and tc (iproute2)")
    name = f"verdicts{os.getpid()}_"
    ends = [f"vs{os.getpid()}e{end}" for end in range(2)]
    try:
        for end in range(2):
            run("ip", "netns", "add", f"{name}{end}")
        run("ip", "link", "add", ends[0], "type", "veth", "peer", "name", ends[1])
        for end, device in enumerate(ends):
            namespace = f"{name}{end}"
            run("ip", "link", "set", device, "netns", namespace, "name", "veth")
            run("ip", "-n", namespace, "address", "add", f"10.203.8.{end + 1}/24", "dev", "veth")
            run("ip", "-n", namespace, "link", "set", "veth", "up")
        # The kernel finds the carrier some time after that.
        deadline = time.monotonic() + 30
        for end in range(2):
            while "state UP" not in run("ip", "-n", f"{name}{end}", "link", "show", "veth"):
                if time.monotonic() > deadline:
                    raise Unfit(f"no shaped link here: veth of {name}{end} does not come up")
                time.sleep(0.01)
        link = Link(name)
        link.set_rate(RATE)
        yield link
    finally:
        for end in range(2):
            subprocess.run(["ip", "netns", "delete", f"{name}{end}"], capture_output=True, timeout=20, check=False)
