#!/usr/bin/env python3
"""Holds two tables, joins them with DuckDB or Polars whenever a line comes, and says how many seconds
that took; the first time unasked. Started by joins.py."""

import sys
import time


def tables(rows, match):
    """Unique 64-bit keys, of which so many meet; a payload of 64 bits on either side."""
    import numpy

    random = numpy.random.default_rng(1)
    # A multiplication by an odd number is a bijection: distinct, and in no order.
    keys = (numpy.arange(2 * rows, dtype=numpy.uint64) * numpy.uint64(0x9E3779B97F4A7C15)).astype(numpy.int64)
    matches = int(rows * match)
    build = keys[:rows]
    probe = numpy.concatenate([build[:matches], keys[rows:2 * rows - matches]])
    random.shuffle(probe)
    payload = random.permutation(rows)
    return ({"key": build, "left": payload}, {"key": probe, "right": payload}, matches)


def duckdb_join(build, probe, threads):
    import duckdb

    engine = duckdb.connect(config={"threads": threads})
    engine.execute("create table build as select * from build")
    engine.execute("create table probe as select * from probe")

    def join():
        engine.execute(
            "create or replace table joined as "
            "select build.key, build.left, probe.right from probe join build using (key)"
        )
        return lambda: engine.execute("select count(*) from joined").fetchone()[0]

    return join


def polars_join(build, probe, threads):
    import polars  # its threads are set by POLARS_MAX_THREADS

    left, right = polars.DataFrame(build), polars.DataFrame(probe)

    def join():
        joined = right.join(left, on="key", how="inner")
        return lambda: joined.height

    return join


def main(name, rows, match, threads):
    build, probe, matches = tables(rows, match)
    join = {"duckdb": duckdb_join, "polars": polars_join}[name](build, probe, threads)
    while True:
        began = time.perf_counter()
        count = join()
        seconds = time.perf_counter() - began
        if count() != matches:
            sys.exit(f"{count()} rows joined, {matches} would be right")
        print(seconds, flush=True)
        if not sys.stdin.readline():
            return


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), float(sys.argv[3]), int(sys.argv[4]))
