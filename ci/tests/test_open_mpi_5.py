"""Open MPI 5, whose launcher and whose MPI are others than those of version 4, which test_hosts.py and test_mpi.py
have: as PyPI has it."""

import os
import subprocess

import pytest
from conftest import PROGRAM, ROOT, only
from namespaces import AS_ROOT, IP, Hosts, made


@pytest.fixture(scope="module")
def open_mpi():
    done = subprocess.run([ROOT / "scripts/setup/open-mpi"], capture_output=True, text=True, timeout=900)
    if done.returncode == 3:
        pytest.skip(done.stderr)
    assert done.returncode == 0, done
    return done.stdout.strip()


@pytest.fixture(scope="module")
def environment(open_mpi):
    return AS_ROOT | {"PATH": f"{open_mpi}/bin:{os.environ['PATH']}", "PRTE_ALLOW_RUN_AS_ROOT": "1",
                      "PRTE_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}


@pytest.fixture(scope="module")
def hosts():
    hosts = Hosts(2, number=5)
    with made(hosts.make, hosts.remove):
        yield hosts


QUICK = ["--launches", 1, "--runs", 1, "--concurrent", "one", "--bind", "none", "--json", "run.json"]


@pytest.mark.parametrize("transports", ["tcp", "shm"])
def test_messages_of_ranks_on_one_host(bench, environment, transports):
    done = bench("p2p", "--comm", "mpi", "--transports", transports, "--sizes", "8,64KiB", "--iterations", 64,
                 *QUICK, environment=environment)
    assert done.code == 0, done
    assert [case["state"] for case in done.file["cases"]] == ["measured", "measured"], done


def test_a_run_over_two_hosts(start, hosts, environment, open_mpi, tmp_path):
    names = tmp_path / "names"
    names.write_text("127.0.0.1 localhost\n10.203.8.1 node0\n10.203.8.2 node1\n")
    with_names = f"mount --bind {names} /etc/hosts"
    agent = tmp_path / "agent"
    agent.write_text(
        "#!/bin/sh\nwhile case $1 in -*) true ;; *) false ;; esac; do shift; done\nhost=$1; shift\n"
        f"exec ip netns exec {hosts.prefix}${{host#node}} unshare --uts --mount sh -c \"hostname $host; {with_names}; $*\"\n")
    agent.chmod(0o700)
    launcher = [f"{open_mpi}/bin/mpirun", "--host", "node0,node1", "--map-by", "node", "--bind-to", "none",
                "--prefix", open_mpi, "--prtemca", "plm_ssh_agent", agent, "--prtemca", "plm_ssh_no_tree_spawn", 1,
                "--prtemca", "prte_if_include", "10.203.8.0/24", "--prtemca", "prte_tmpdir_base", tmp_path]
    words = hosts.on(0, "unshare", "--mount", "sh", "-c", f'{with_names}; exec "$@"', "sh", *launcher,
                     PROGRAM, "p2p", "-n", 2, "--transports", "tcp", "--sizes", "8", "--iterations", 16, *QUICK)
    done = start(*words, program=IP, environment=environment).finish()
    assert done.code == 0, done
    run = done.file
    assert only(run["cases"])["state"] == "measured"
    assert sorted(rank["host"] for rank in run["ranks"]) == ["node0", "node1"]
