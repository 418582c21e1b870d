#!/usr/bin/env python3
"""A workload with Dask: peer_dask.py merge|transpose AMOUNT RUNS PROTOCOL, with two workers of one thread
each; PROTOCOL mpi: by dask-mpi, run by mpirun. Prints per run its seconds and the bytes that workers
received, as JSON. Each run has new data: what workers have fetched before would not travel again.
Started by peer_tools.py."""

import contextlib
import ctypes
import json
import logging
import signal
import sys
import time

WORKERS = 2
MATCH = 0.3
START_S = 60


def tables(rows):
    """As dask-cuda's: a chunk of so many rows on each worker; of each chunk of the first table the part
    MATCH is in the second, spread over its chunks."""
    import dask.dataframe
    import numpy
    import pandas

    part, random = rows // WORKERS, numpy.random.default_rng()
    matching = max(int(part * MATCH), 1)

    def left(chunk):
        return pandas.DataFrame({"key": numpy.arange(chunk * rows, (chunk + 1) * rows),
                                 "left": random.permutation(rows)})

    def right(chunk):
        met = [random.permutation(numpy.arange(part) + other * rows + chunk * part)[:matching]
               for other in range(WORKERS)]
        alone = WORKERS * rows + chunk * rows + numpy.arange(rows - WORKERS * matching)
        return pandas.DataFrame({"key": random.permutation(numpy.concatenate([*met, alone])),
                                 "right": random.permutation(rows)})

    return [dask.dataframe.from_map(of, range(WORKERS), meta=of(0).head(0)) for of in (left, right)]


def merge(client, rows):
    """Seconds of a merge by a shuffle of both tables; persisted, as the tables are."""
    from distributed import wait

    left, right = client.persist(tables(rows))
    wait([left, right])
    began = yield
    joined = client.persist(left.merge(right, on="key", how="inner", shuffle_method="tasks", broadcast=False))
    wait(joined)
    yield time.perf_counter() - began
    expected = WORKERS**2 * max(int(rows // WORKERS * MATCH), 1)
    if len(joined) != expected:
        sys.exit(f"{len(joined)} rows joined, {expected} would be right")


def transpose(client, size):
    """Seconds of (x + transposed x).sum() of a square of float64 in 16 chunks."""
    import dask.array
    from distributed import wait

    x = client.persist(dask.array.random.default_rng().random((size, size), chunks=size // 4))
    wait(x)
    began = yield
    total = client.compute((x + x.T).sum())
    wait(total)
    yield time.perf_counter() - began
    expected = 2 * x.sum().compute()
    if abs(total.result() / expected - 1) > 1e-9:
        sys.exit(f"the sum is {total.result()}, {expected} would be right")


def end_with_parent():
    """By SIGKILL, if the process that started a worker is killed."""
    pr_set_pdeathsig = 1
    ctypes.CDLL(None).prctl(pr_set_pdeathsig, signal.SIGKILL)


def forget(dask_worker):
    dask_worker.transfer_incoming_log.clear()


def received(dask_worker):
    return sum(of["total"] for of in dask_worker.transfer_incoming_log)


@contextlib.contextmanager
def client_of(protocol):
    from distributed import Client, LocalCluster

    if protocol == "mpi":
        import dask_mpi

        dask_mpi.initialize(nthreads=1, nanny=False, dashboard=False, memory_limit=0)
        with Client() as client:
            yield client
        return
    with LocalCluster(n_workers=WORKERS, threads_per_worker=1, processes=True, protocol=protocol, host="127.0.0.1",
                      dashboard_address=None, memory_limit=0) as cluster, Client(cluster) as client:
        yield client


def main(workload, amount, runs, protocol):
    logging.disable(logging.WARNING)  # heartbeats that are late on a busy machine
    with client_of(protocol) as client:
        client.wait_for_workers(WORKERS, timeout=START_S)
        client.run(end_with_parent)
        for run in range(1 + runs):  # the first one warms up
            steps = {"merge": merge, "transpose": transpose}[workload](client, amount)
            next(steps)
            client.run(forget)
            seconds = steps.send(time.perf_counter())
            moved = sum(client.run(received).values())
            next(steps, None)
            if run > 0:
                print(json.dumps({"seconds": seconds, "received_bytes": moved}), flush=True)


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), sys.argv[4])
