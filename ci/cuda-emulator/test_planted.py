"""Mistakes planted in the kernels' source: each is compiled into an emulated driver of its own, and the
test of the kernels on it must fail, by the words that belong to the mistake."""

import concurrent.futures
import json
import os
import pathlib
import re
import subprocess
from typing import NamedTuple

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = json.loads(pathlib.Path(os.environ["PLANTED"]).read_text())

UNORDERED = "without a barrier in between"
UNWRITTEN = "no thread of the block has written"
OUTSIDE = "where the kernel has no memory|beside the block's __shared__ variables|of an array that is shorter"
WRONG = r"Expected equality|The difference between|\+\+\+|Which is:"


class Mistake(NamedTuple):
    name: str
    workload: str
    right: str
    wrong: str
    words: str
    file: str = "cuda_kernels.cu"


def barrier(name, workload, before, after="", words=f"{UNORDERED}|{UNWRITTEN}"):
    """A barrier left out between these texts."""
    line = "  __syncthreads();"
    return Mistake(f"no barrier {name}", workload, before + line + after, before + after, words)


# A warp's room in its output, brought to its lanes by a shuffle; or in shared memory, as is right where
# a second __syncwarp() follows.
ROOM = """    if (lane == 0) place = atomicAdd(counter(a.found), total);
    place = a.out.rows + __shfl_sync(whole_warp, place, 0);
"""
ROOM_IN_SHARED_MEMORY = """    __shared__ unsigned long long room[block_threads / warp_threads];
    if (lane == 0) room[threadIdx.x / warp_threads] = atomicAdd(counter(a.found), total);
    __syncwarp();
    place = a.out.rows + room[threadIdx.x / warp_threads];
"""
SYNCWARP = "    __syncwarp();\n"
RIGHT = Mistake("none", "merge", ROOM, ROOM_IN_SHARED_MEMORY + SYNCWARP, "")

MISTAKES = [
    barrier("before rows are counted", "merge", "held[threadIdx.x] = 0;\n"),
    barrier("after rows are counted", "merge", "", "\n  if (held[threadIdx.x] != 0)"),
    barrier("before rows of a tile are counted", "merge", "held[own] = 0;\n"),
    barrier("after rows of a tile are counted", "merge", "", "\n\n  // From here on"),
    barrier("before the tile is read", "merge", "tile[place[i]] = from[row];\n    }\n  ",
            "\n    for (auto at"),
    barrier("before the tile is used again", "merge", "= tile[at];\n    }\n  ", "\n    if (in_bucket"),
    barrier("in a square", "transpose", "elements[k];\n  }\n", "\n#pragma"),
    barrier("before a square is used again", "transpose", "store(a.tile, place, y, a.y);\n",
            "  // all have read"),
    barrier("between squares", "transpose", "", "  // the next square"),
    Mistake("a barrier of a warp for one of the block", "transpose",
            "elements[k];\n  }\n  __syncthreads();", "elements[k];\n  }\n  __syncwarp();", UNORDERED),
    Mistake("storage of CUB used again", "transpose", "Reduce(of_weighted)", "Reduce(of_sum)", UNORDERED),
    Mistake("a thread that leaves before a barrier", "merge", "  held[own] = 0;",
            "  if (own >= rows) return;\n  held[own] = 0;", "has ended"),
    Mistake("a barrier that not all come to", "merge", "  __syncthreads();\n\n  // From here on",
            "  if (own < 128) __syncthreads();\n\n  // From here on", "waits at .* but thread"),
    Mistake("rows counted by an addition", "merge",
            "atomicAdd(&held[bucket_of(a.spread, a.table.words[row])], 1U);",
            "held[bucket_of(a.spread, a.table.words[row])] += 1U;", UNORDERED),
    Mistake("room taken by an addition", "merge", "atomicAdd(counter(a.filled + own), in_bucket)",
            "(*counter(a.filled + own) += in_bucket) - in_bucket", UNORDERED),
    Mistake("sums added by an addition", "merge", "atomicAdd(counter(total), sum);", "*total += sum;",
            UNORDERED),
    Mistake("the weighted sum added by an addition", "transpose", "atomicAdd(counter(total + 1), weighted);",
            "total[1] += weighted;", UNORDERED),
    Mistake("a slot taken in two steps", "merge",
            "atomicCAS(counter(a.table.words + slot * a.table.columns), no_key, key) != no_key",
            "a.table.words[slot * a.table.columns] != no_key", UNORDERED),
    Mistake("a row too many", "merge", "word < words; word +=", "word <= words; word +=", OUTSIDE),
    Mistake("a key too many", "merge", "row < a.rows.rows; row += all_threads()) {\n    sum",
            "row <= a.rows.rows; row += all_threads()) {\n    sum", WRONG),
    Mistake("a row of the tile too many", "merge", "at < rows; at += block", "at <= rows; at += block",
            f"{OUTSIDE}|{UNWRITTEN}|{UNORDERED}"),
    Mistake("a shared array too short", "merge", "std::uint8_t bucket_at[tile_rows]",
            "std::uint8_t bucket_at[tile_rows - 1]", OUTSIDE),
    Mistake("an own array too short", "merge", "unsigned place[rows_each];", "unsigned place[rows_each - 1];",
            OUTSIDE),
    Mistake("a column of the square too few", "transpose", "rows[side][side + 1]", "rows[side][side - 1]",
            OUTSIDE),
    Mistake("a row beside the tile", "transpose", "row(k) < tile.rows &&", "row(k) <= tile.rows &&",
            f"{OUTSIDE}|{WRONG}"),
    Mistake("another lane in a shuffle", "merge", "__shfl_sync(whole_warp, place, 0)",
            "__shfl_sync(whole_warp, place, 1)", f"{UNORDERED}|{WRONG}"),
    Mistake("a lane left out of a vote", "merge", "__ballot_sync(whole_warp,", "__ballot_sync(whole_warp >> 1,",
            "leaves out its own lane"),
    Mistake("its own lane counted", "merge", "((1U << lane) - 1)", "((2U << lane) - 1)",
            f"{OUTSIDE}|{WRONG}|{UNORDERED}"),
    Mistake("a thread without the result adds it", "transpose", "if (threadIdx.x != 0) return;",
            "if (threadIdx.x > 1) return;", WRONG),
    Mistake("a column too many", "halo", "column < columns; column +=", "column <= columns; column +=",
            f"{OUTSIDE}|{UNORDERED}"),
    Mistake("a row too few", "halo", "row < rows; row +=", "row + 1 < rows; row +=", WRONG),
    Mistake("a count of two steps", "halo", "atomicAdd(counter(a.found), 1);", "*a.found += 1;",
            f"{UNORDERED}|{WRONG}"),
    Mistake("the other side's column", "halo", "first[-1] = a.west[row]", "first[-1] = a.east[row]", WRONG),
    Mistake("a search that does not end", "merge",
            "      slot = next_slot(a.table, slot);\n      ++tries;\n", "", "it does not end"),
    Mistake("the next slot beyond the table", "merge", "slot + 1 == table.slots ? 0", "slot == table.slots ? 0",
            OUTSIDE),
    # A tired programmer's.
    Mistake("no barrier of a warp before a word is read", "merge", ROOM,
            ROOM_IN_SHARED_MEMORY.replace(SYNCWARP, "") + SYNCWARP, f"{UNORDERED}|{UNWRITTEN}"),
    Mistake("no barrier of a warp before a word is used again", "merge", ROOM, ROOM_IN_SHARED_MEMORY, UNORDERED),
    Mistake("threads of a warp that go round less often", "merge", "rows_each; base < from.rows;\n",
            "rows_each; base + threadIdx.x < from.rows;\n", "waits at .* but thread|has ended"),
    Mistake("lanes that leave before a shuffle", "merge", "if (total == 0) continue;",
            "if (!(slots[0] || slots[1] || slots[2] || slots[3])) continue;", "waits at .* but thread|has ended"),
    Mistake("a mask of the lanes that found something", "merge", "__shfl_sync(whole_warp, place, 0)",
            "__shfl_sync(matching[0], place, 0)", "leaves out its own lane|outside of its mask"),
    Mistake("a scan's storage for something else", "merge", "  begin[own] = before;",
            "  begin[own] = reinterpret_cast<unsigned*>(&scan_storage)[own] = before;", UNORDERED),
    Mistake("counters that the last warp does not clear", "merge", "  held[threadIdx.x] = 0;",
            "  if (threadIdx.x < most_cuda_buckets - warp_threads) held[threadIdx.x] = 0;", UNWRITTEN),
    Mistake("weights that the last lane does not write", "transpose", "threadIdx.x < 2 * side)",
            "threadIdx.x < 2 * side - 1)", UNWRITTEN),
    Mistake("counts of blocks added by an addition", "merge",
            "atomicAdd(counter(a.counts + threadIdx.x), held[threadIdx.x]);",
            "a.counts[threadIdx.x] += held[threadIdx.x];", UNORDERED),
    Mistake("a word moved on before all have read it", "merge",
            "    __syncthreads();\n    if (in_bucket != 0) shift[own] += stride;",
            "    if (in_bucket != 0) shift[own] += stride;\n    __syncthreads();", UNORDERED),
    Mistake("a place cut to 8 bits", "merge", "(place[i] & 0xffffU)", "(place[i] & 0xffU)", f"{UNORDERED}|{WRONG}"),
    Mistake("a row of the last tile too many", "merge", "    if (i * block_threads + own >= rows) continue;",
            "    if (i * block_threads + own > rows) continue;", f"{OUTSIDE}|{UNORDERED}|{UNWRITTEN}"),
    Mistake("rows taken again in the next round", "merge", "gridDim.x} * block_threads * rows_each;",
            "gridDim.x} * block_threads;", f"{WRONG}|{OUTSIDE}|than the tables were made to give"),
    Mistake("squares of the first round alone", "transpose", "square < cuda_squares(a.tile); square += gridDim.x",
            "square < cuda_squares(a.tile); square += cuda_squares(a.tile)", WRONG),
    Mistake("room for one too many", "merge", "at >= a.out.capacity", "at > a.out.capacity",
            f"{OUTSIDE}|{UNORDERED}|{WRONG}"),
    Mistake("room from the begin for every launch", "merge", "place = a.out.rows + __shfl", "place = __shfl", WRONG),
    Mistake("rows numbered from 0 on every rank", "merge", "a.formula.key(a.side, a.first + row)",
            "a.formula.key(a.side, row)", WRONG),
    Mistake("an empty segment with 2^64 rows", "merge",
            "row < from.rows; row += all_threads()) {\n    const auto key",
            "row <= from.rows - 1; row += all_threads()) {\n    const auto key", OUTSIDE),
    Mistake("threads without a row that leave before a sum", "merge", "  std::uint64_t count = 0;",
            "  if (own_number() >= a.rows.rows) return;\n  std::uint64_t count = 0;", "has ended"),
    Mistake("the first lane of each warp adds", "merge", "if (threadIdx.x == 0) atomicXor",
            "if (threadIdx.x % warp_threads == 0) atomicXor", WRONG),
    Mistake("threads above the diagonal that leave", "transpose", "place.first_row > place.first_column) return;",
            "place.row(0) > place.column()) return;", "has ended"),
]


def words_of(mistake, folder):
    """What the test of the kernels says with this mistake in them; empty if it passes."""
    path = f"workloads/{mistake.workload}/{mistake.file}"
    source = (ROOT / path).read_text()
    assert source.count(mistake.right) == 1, f"{mistake.right!r} is not in {path} once: plant it anew"
    planted = folder / path
    planted.parent.mkdir(parents=True)
    planted.write_text(source.replace(mistake.right, mistake.wrong))
    kernels = f"{mistake.workload}_kernels.cpp"
    made = folder / "planted.o"
    compiled = subprocess.run(
        [*BUILD["compile"], "-I", folder, "-I", ROOT, "-c", pathlib.Path(BUILD["sources"]) / kernels, "-o", made],
        capture_output=True, text=True, timeout=120,
    )
    assert compiled.returncode == 0, compiled.stderr
    objects = [file for file in BUILD["objects"] if not file.endswith(f"/{kernels}.o")]
    assert len(objects) == len(BUILD["objects"]) - 1
    linked = subprocess.run(
        [*BUILD["link"], "-o", folder / "libcuda.so.1", *objects, made], capture_output=True, text=True, timeout=120
    )
    assert linked.returncode == 0, linked.stderr
    tested = subprocess.run(
        [BUILD["programs"][mistake.workload], "--gtest_throw_on_failure"],
        env={**os.environ, "LD_LIBRARY_PATH": str(folder), "CUDA_EMULATOR": str(folder)},
        capture_output=True, text=True, timeout=120,
    )
    return "" if tested.returncode == 0 else tested.stdout + tested.stderr


@pytest.fixture(scope="module")
def found(tmp_path_factory):
    """The words of every mistake, as futures."""
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        yield {
            mistake.name: pool.submit(words_of, mistake, tmp_path_factory.mktemp("planted"))
            for mistake in [RIGHT, *MISTAKES]
        }


@pytest.mark.parametrize("mistake", MISTAKES, ids=lambda mistake: mistake.name)
def test_is_found(found, mistake):
    words = found[mistake.name].result()
    assert words, "the kernels' tests pass with it"
    assert re.search(mistake.words, words), words


def test_what_is_right_passes(found):
    assert not found[RIGHT.name].result()
