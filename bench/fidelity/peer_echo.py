#!/usr/bin/env python3
"""Ping-pong of one layer in Python, of host memory: peer_echo.py mpi4py|dask BYTES ITERATIONS CPU,CPU
[PROTOCOL]. Prints the median one-way time as JSON. mpi4py: run by mpirun, twice. dask: the messages of
Dask's workers (distributed.comm), with a second process of its own. Started by peer_tools.py."""

import asyncio
import json
import os
import statistics
import sys
import time

LIMIT_S = 60


def told(times_ns):
    print(json.dumps({"one_way_us": statistics.median(times_ns) / 2 / 1e3}), flush=True)


def warm_up(iterations):
    return max(iterations // 10, 10)


def mpi4py(size, iterations, cpus, _):
    import numpy
    from mpi4py import MPI

    world = MPI.COMM_WORLD
    rank, other = world.rank, 1 - world.rank
    os.sched_setaffinity(0, {cpus[rank]})
    sent, received = numpy.ones(size, "u1"), numpy.zeros(size, "u1")
    times = []
    for _ in range(warm_up(iterations) + iterations):
        began = time.perf_counter_ns()
        if rank == 0:
            world.Send(sent, other)
            world.Recv(received, other)
        else:
            world.Recv(received, other)
            world.Send(sent, other)
        times.append(time.perf_counter_ns() - began)
    if rank == 0:
        told(times[-iterations:])


def dask(size, iterations, cpus, protocol):
    read, write = os.pipe()
    child = os.fork()
    os.sched_setaffinity(0, {cpus[0 if child else 1]})
    if child == 0:
        asyncio.run(asyncio.wait_for(echo(write, protocol), LIMIT_S))
        return
    os.close(write)
    with open(read) as pipe:
        address = pipe.read()
    if not address:
        sys.exit("the second process does not listen")
    asyncio.run(asyncio.wait_for(ask(address, size, iterations), LIMIT_S))
    os.waitpid(child, 0)


async def echo(pipe, protocol):
    from distributed.comm import CommClosedError, listen
    from distributed.protocol import to_serialize

    done = asyncio.Event()

    async def answer(comm):
        try:
            while True:
                message = await comm.read()
                await comm.write({"data": to_serialize(message["data"])})
        except CommClosedError:
            done.set()

    async with listen(f"{protocol}://127.0.0.1:0", answer) as listener:
        with open(pipe, "w") as address:
            address.write(listener.contact_address)
        await done.wait()


async def ask(address, size, iterations):
    import numpy
    from distributed.comm import connect
    from distributed.protocol import to_serialize

    comm = await connect(address)
    sent, times = numpy.ones(size, "u1"), []
    for _ in range(warm_up(iterations) + iterations):
        began = time.perf_counter_ns()
        await comm.write({"data": to_serialize(sent)})
        received = (await comm.read())["data"]
        times.append(time.perf_counter_ns() - began)
    if received.nbytes != size:
        sys.exit(f"{received.nbytes} bytes came back, not {size}")
    await comm.close()
    told(times[-iterations:])


if __name__ == "__main__":
    layer, size, iterations, cpus, *protocol = sys.argv[1:]
    {"mpi4py": mpi4py, "dask": dask}[layer](
        int(size), int(iterations), [int(cpu) for cpu in cpus.split(",")], *(protocol or [None]))
