#!/usr/bin/env python3
"""ucx_on_emulator.py EMULATOR_FOLDER [UCX_PREFIX]: runs ucx_perftest of a CUDA-enabled UCX on the
emulated driver and checks, by the emulator's own reports, which way the bytes went.

Without UCX_PREFIX, UCXBENCH_CUDA_UCX names the prefix, else all that scripts/setup/ucx-wheel and
ucx-combined have put into .ucx are taken. Status 77 where there is none."""

import json
import os
import pathlib
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
MIB = 1 << 20
COUNT = 20
LIMIT_S = 60


class Wrong(Exception):
    pass


def check(condition, text):
    if not condition:
        raise Wrong(text)


def find_ucx(argument):
    named = argument or os.environ.get("UCXBENCH_CUDA_UCX")
    fetched = [*ROOT.glob(".ucx/libucx-cu*/libucx"), *ROOT.glob(".ucx/combined-*")]
    prefixes = [pathlib.Path(named)] if named else sorted(fetched)
    usable = [prefix for prefix in prefixes if (prefix / "lib/ucx/libuct_cuda.so").exists()]
    if not usable:
        where = f"below {named}" if named else "here: run scripts/setup/ucx-wheel"
        print(f"SKIPPED: no CUDA-enabled UCX {where}")
        sys.exit(77)
    return usable


def is_listening(port):
    lines = pathlib.Path("/proc/net/tcp").read_text().splitlines()[1:]
    fields = [line.split() for line in lines]
    return any(row[1].endswith(f":{port:04X}") and row[3] == "0A" for row in fields)


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def environment(prefix, emulator, transports, settings, folder):
    # Some UCX bring a CUDA runtime, found before anything else, which does not work on the emulated
    # driver: so ours is loaded first.
    runtimes = sorted(emulator.glob("libcudart.so.*"))
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("UCX", "CUDA_"))}
    return kept | {
        "LD_LIBRARY_PATH": f"{prefix}/lib:{emulator}",
        "LD_PRELOAD": ":".join(map(str, runtimes)),
        "UCX_TLS": transports,
        "UCX_NET_DEVICES": "lo",
        "UCX_MEM_LOG_LEVEL": "info",
        "CUDA_EMULATOR_REPORT": f"{folder}/report",
        **settings,
    }


def start(command, env, output):
    with open(output, "wb") as file:
        return subprocess.Popen(
            command, env=env, stdin=subprocess.DEVNULL, stdout=file, stderr=subprocess.STDOUT
        )


def await_server(server, port):
    deadline = time.monotonic() + LIMIT_S
    while not is_listening(port):
        check(server.poll() is None, "ucx_perftest's server ended at once")
        check(time.monotonic() < deadline, "ucx_perftest's server does not listen")
        time.sleep(0.01)


def run_pair(prefix, env, folder, arguments):
    """What the driver saw of the two processes of one ucx_perftest run; their output is left in
    the folder."""
    perftest = shutil.which("ucx_perftest", path=f"{prefix}/bin:{os.defpath}")
    check(perftest, "there is no ucx_perftest")
    port = free_port()
    command = [perftest, "-p", str(port), *arguments]
    started = [start(command, env, folder / "server.txt")]
    try:
        await_server(started[0], port)
        started.append(start([*command, "127.0.0.1"], env, folder / "client.txt"))
        deadline = time.monotonic() + LIMIT_S
        for process in reversed(started):
            status = process.wait(timeout=max(0, deadline - time.monotonic()))
            check(status == 0, f"ucx_perftest: status {status}")
    finally:
        for process in started:
            process.kill()
            process.wait()
    return [json.loads((folder / f"report.{process.pid}").read_text()) for process in started]


def expect(report, rule, **limits):
    for name, (least, most) in limits.items():
        value = report[name]
        check(least <= value <= most, f"{rule}: {name} = {value}, expected {least} to {most}")


def check_staged(report, least):
    expect(report, "without cuda_ipc", ipc_opens=(0, 0), d2d_ipc_bytes=(0, 0),
           d2d_peer_bytes=(0, 0), d2h_bytes=(least, 3 * least), h2d_bytes=(least, 3 * least))


def check_ipc(report, least):
    expect(report, "with cuda_ipc", ipc_opens=(1, 99), d2d_ipc_bytes=(least, 3 * least),
           h2d_bytes=(0, least // 2), d2h_bytes=(0, least // 2), ipc_left_open=(0, 0))


def check_peer(report, least):
    check_ipc(report, least)
    expect(report, "between two devices", d2d_peer_bytes=(least, 3 * least))


def check_same_device(report, least):
    check_ipc(report, least)
    expect(report, "on one device", d2d_peer_bytes=(0, 0), d2d_same_device_bytes=(least, 3 * least))


def check_managed(report, least):
    expect(report, "managed memory", managed_allocations=(1, 99))


def check_hooks(output):
    """UCX patches the driver to follow allocations; where it cannot, it says nothing and goes
    without its caches."""
    found = re.search(r"hooks mode bistro: installed (\d+) on driver API", output)
    check(found and int(found[1]) >= 5, "UCX has not patched the driver")


CASES = [
    ("tcp,cuda_copy", "cuda", {}, check_staged),
    ("tcp,cuda_copy,cuda_ipc", "cuda", {}, check_peer),
    ("tcp,cuda_copy,cuda_ipc", "cuda", {"UCX_MEM_BISTRO_FORCE_FAR_JUMP": "y"}, check_peer),
    ("tcp,cuda_copy,cuda_ipc", "cuda", {"CUDA_EMULATOR_GPUS": "1"}, check_same_device),
    ("tcp,cuda_copy,cuda_ipc", "cuda-managed", {}, check_managed),
]


def run_case(prefix, emulator, folder, transports, memory, settings, check_report):
    arguments = ["-t", "tag_lat", "-m", memory, "-s", str(MIB), "-n", str(COUNT), "-w", "2"]
    env = environment(prefix, emulator, transports, settings, folder)
    reports = run_pair(prefix, env, folder, arguments)
    for output in folder.glob("*.txt"):
        check_hooks(output.read_text())
    for report in reports:
        check_report(report, COUNT * MIB)
        expect(report, "always", illegal_accesses=(0, 0), left_allocated_bytes=(0, 0))


def passes(prefix, emulator, case):
    transports, memory, settings, check_report = case
    name = " ".join([transports, memory, *(f"{k}={v}" for k, v in settings.items())])
    with tempfile.TemporaryDirectory(prefix="ucx-on-emulator-") as temporary:
        folder = pathlib.Path(temporary)
        try:
            run_case(prefix, emulator, folder, transports, memory, settings, check_report)
        except (Wrong, OSError, ValueError, subprocess.TimeoutExpired) as error:
            print(f"FAILED  {name}: {error}")
            for output in sorted(folder.glob("*.txt")):
                print(f"--- {output.name}\n{output.read_text(errors='replace')}")
            return False
    print(f"passed  {name}", flush=True)
    return True


def main():
    emulator = pathlib.Path(sys.argv[1]).resolve()
    passed = []
    for prefix in find_ucx(sys.argv[2] if len(sys.argv) > 2 else None):
        print(prefix)
        passed += [passes(prefix, emulator, case) for case in CASES]
    return 0 if all(passed) else 1


if __name__ == "__main__":
    sys.exit(main())
