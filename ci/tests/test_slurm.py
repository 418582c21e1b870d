"""What Slurm's srun has started: a small Slurm on four hosts, which lives as long as these tests."""

import os
import re
import shutil
import signal
import subprocess

import pytest
from conftest import PROGRAM, clean_environment, only, wait_until
from test_hosts import hosts  # noqa: F401  (a fixture)

NEEDED = ("munged", "slurmctld", "slurmd", "srun", "scancel", "sinfo")
CONFIGURATION = """
ClusterName=ucxbench
SlurmctldHost=node0(10.203.8.1)
AuthInfo=socket={folder}/munge.socket
SlurmUser=root
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool-%n
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd-%n.pid
ProctrackType=proctrack/linuxproc
TaskPlugin=task/affinity
SwitchType=switch/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
ReturnToService=2
MessageTimeout=3
TmpFS=/mnt
{nodes}
PartitionName=all Nodes=node[0-{last}] Default=YES State=UP
"""


class Slurm:
    def __init__(self, hosts, folder):
        self.hosts, self.folder, self.daemons = hosts, folder, []
        self.environment = {"SLURM_CONF": str(folder / "slurm.conf")}

    def write_configuration(self):
        each = range(self.hosts.count)
        cpus = len(os.sched_getaffinity(0))
        nodes = "\n".join(f"NodeName=node{at} NodeAddr=10.203.8.{at + 1} CPUs={cpus}" for at in each)
        files = {
            "slurm.conf": CONFIGURATION.format(folder=self.folder, nodes=nodes, last=self.hosts.count - 1),
            "cgroup.conf": "CgroupPlugin=cgroup/v1\nCgroupMountpoint=/sys/fs/cgroup\n",
            "hosts": "127.0.0.1 localhost\n" + "".join(f"10.203.8.{at + 1} node{at}\n" for at in each),
        }
        for name, text in files.items():
            (self.folder / name).write_text(text)
        (self.folder / "key").write_bytes(os.urandom(128))
        (self.folder / "key").chmod(0o400)
        (self.folder / "state").mkdir()

    def on(self, host, *words):
        """The words of a program that runs there, with what a host has for itself."""
        own = (f"mount --bind {self.folder}/hosts /etc/hosts && mount -t tmpfs tmpfs /mnt && "
               "mount -t tmpfs tmpfs /sys/fs/cgroup && exec \"$@\"")
        return self.hosts.on(host, "unshare", "--mount", "sh", "-c", own, "sh", *words)

    def daemon(self, *words):
        # Ends with all that it has started, which has its number of processes to itself.
        with open(self.folder / "daemons.log", "a") as log:
            self.daemons.append(subprocess.Popen(
                ["unshare", "--pid", "--fork", "--kill-child", "--mount-proc", *words], stdin=subprocess.DEVNULL,
                stdout=log, stderr=log, env=clean_environment() | self.environment))

    def begin(self):
        self.write_configuration()
        self.daemon("munged", "--force", "--foreground", *(f"--{what}={self.folder}/{file}" for what, file in {
            "key-file": "key", "socket": "munge.socket", "pid-file": "munged.pid", "log-file": "munged.log",
            "seed-file": "munged.seed"}.items()))
        self.daemon("ip", *self.on(0, "slurmctld", "-D"))
        for host in range(self.hosts.count):
            self.daemon("ip", *self.on(host, "slurmd", "-D", "-N", f"node{host}"))

        def idle():
            assert all(daemon.poll() is None for daemon in self.daemons), self.log()
            return self.all_idle()

        wait_until(idle, self.log, step_s=0.1)

    def settle(self):
        """Nothing of a job is left, and every host takes another one."""
        self.tell("scancel", "--quiet", "--user=root")
        wait_until(lambda: self.tell("squeue", "--noheader") == "" and self.all_idle(), self.log, step_s=0.1)

    def all_idle(self):
        return self.tell("sinfo", "--noheader", "--states=idle", "--format=%D").strip() == str(self.hosts.count)

    def tell(self, *words):
        return subprocess.run(["ip", *self.on(0, *words)], capture_output=True, text=True, timeout=20,
                              env=clean_environment() | self.environment).stdout

    def log(self):
        return (self.folder / "daemons.log").read_text()

    def end(self):
        for daemon in self.daemons:
            daemon.kill()
        for daemon in self.daemons:
            daemon.wait(20)


@pytest.fixture(scope="module")
def slurm(hosts, tmp_path_factory):  # noqa: F811
    missing = [name for name in NEEDED if not shutil.which(name)]
    if missing:
        pytest.skip(f"no Slurm: {', '.join(missing)}; Debian: apt-get install slurmctld slurmd slurm-client munge libpmix-dev")
    made = Slurm(hosts, tmp_path_factory.mktemp("slurm"))
    try:
        made.begin()
        yield made
    finally:
        made.end()


@pytest.fixture
def srun(start, slurm):
    """srun(OPTIONS, WORDS…): typed on the first host."""

    def run(options, *words, environment=None):
        return start(*slurm.on(0, "srun", *options, PROGRAM, *words), program=shutil.which("ip"),
                     environment=slurm.environment | (environment or {}))

    return run


SHORT = ["--sizes", "8", "--runs", 1, "--iterations", 16, "--launches", 1, "--json", "run.json"]


def test_an_agent_for_each_host_by_pmix(srun):
    done = srun(["-N", 4, "--mpi=pmix"], "p2p", "-n", 8, *SHORT).finish()
    assert done.code == 0, done
    run = done.file
    assert {case["state"] for case in run["cases"]} == {"measured"}
    assert [rank["host"] for rank in run["ranks"]] == [f"node{at}" for at in (0, 0, 1, 1, 2, 2, 3, 3)]
    assert all(rank["net_devices"] == "eth7" for rank in run["ranks"])


def test_without_pmix_by_the_nodes_names_and_the_token_file(srun, tmp_path):
    done = srun(["-N", 4, "--mpi=none"], "merge", "-n", 4, "--rows", 2000, "--runs", 1, "--launches", 1, "--token-file",
                tmp_path / "token", "--json", "run.json").finish()
    assert done.code == 0, done
    assert {rank["host"] for rank in done.file["ranks"]} == {"node0", "node1", "node2", "node3"}
    assert (tmp_path / "token").stat().st_mode & 0o077 == 0


def test_a_suite_over_four_hosts(srun, tmp_path):
    (tmp_path / "suite.toml").write_text(
        'launches = 1\n[[case]]\nargs = "pingpong --sizes 8 --iterations 50"\n'
        '[[case]]\nargs = "halo -n 8 --size 50 --runs 1"\n')
    done = srun(["-N", 4, "--mpi=pmix"], "suite", "suite.toml", "--json", "run.json").finish()
    assert done.code == 0, done
    run = done.file
    assert {case["state"] for case in run["cases"]} == {"measured"}
    assert {rank["host"] for rank in run["ranks"]} == {"node0", "node1", "node2", "node3"}
    assert {case["benchmark"] for case in run["cases"]} == {"canary", "pingpong", "halo"}


@pytest.mark.parametrize("how", ["rank", "scancel"])
def test_what_srun_has_started_ends_together(srun, slurm, how):
    running = srun(["-N", 3, "--mpi=pmix"], "p2p", "-n", 6, "--sizes", "8", "--iterations", 1_000_000, "--runs", 1000,
                   "--json", "run.json")
    wait_until(lambda: len(running.ranks()) == 6, lambda: running.process.poll() or slurm.log())
    if how == "rank":
        os.kill(running.ranks()[0], signal.SIGKILL)
    else:
        slurm.tell("scancel", slurm.tell("squeue", "--noheader", "--format=%A").strip())
    done = running.finish()
    running.wait_until_gone()
    assert done.code != 0, done
    if how == "rank":
        assert re.search(r"rank \d on node\d was killed by signal 9", only(done.complaints)), done
    assert done.file["run"]["state"] == {"rank": "failed", "scancel": "interrupted"}[how]
    wait_until(lambda: slurm.tell("squeue", "--noheader") == "", slurm.log)  # it is "completing" for a while


def test_ranks_keep_to_what_srun_gave_and_a_finding_says_what_is_missing(srun):
    options = ["-N", 2, "--ntasks-per-node=1", "--cpus-per-task=1", "--mpi=pmix"]
    # As Slurm sets it where a host has GPUs.
    done = srun(options, "p2p", "-n", 4, *SHORT, environment={"CUDA_VISIBLE_DEVICES": "1"}).finish()
    assert done.code == 0, done
    run = done.file
    for host in run["machine"]["hosts"]:
        assert host["launcher"]["name"] == "Slurm"
        process = only(host["launcher"]["processes"])
        cpu = only(process["cpus"])
        assert process["devices"]["CUDA_VISIBLE_DEVICES"] == "1"
        ranks = [rank["cpus"] for rank in run["ranks"] if rank["host"] == host["name"]]
        assert ranks in ([[cpu]] * 2, [str(cpu)] * 2), ranks
    finding = only([finding for finding in run["findings"] if finding["id"] == "shared-cpus"])
    assert finding["subject"] == "ranks on all 2 hosts"
    assert "; Slurm gave 1 of " in finding["evidence"] and finding["next"] == "use srun --cpus-per-task=2", finding
