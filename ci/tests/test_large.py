"""More than 4 GiB in one message, and more than 1 GiB in one of a workload: counts that would not fit 32
bits. Needs 20 GiB to itself."""

import pytest
from conftest import only

BYTES = 9 << 29


@pytest.fixture(autouse=True)
def enough_memory():
    with open("/proc/meminfo") as meminfo:
        lines = dict(line.split(":") for line in meminfo)
    available = int(lines["MemAvailable"].split()[0]) << 10
    if available < 20 * (1 << 30):
        pytest.skip(f"four buffers and what UCX needs: 20 GiB of memory, {available / (1 << 30):.1f} are available")


@pytest.mark.parametrize("api", ["tag", "stream"])
@pytest.mark.parametrize("settings", [["--transports", "tcp"],
                                      ["--transports", "shm", "--ucx", "UCX_TLS=posix,cma"]])
def test_more_than_four_gib(pingpong, api, settings):
    done = pingpong(
        "--api", api, *settings, "--sizes", "4608MiB", "--iterations", "1", "--window", "1",
        "--warmup-runs", "0", "--timeout", "240s", limit_s=280,
    )
    case = only(done.file["cases"])
    assert case["state"] == "measured"
    assert case["parameters"]["bytes"] == BYTES
    assert case["key"].split("/")[4] == "4608MiB"
    assert case["verified"]["errors"] == 0 and case["verified"]["checked"] > 0
    assert case["peak_buffer_bytes"] >= 2 * BYTES


@pytest.mark.parametrize("transport", ["tcp", "shm"])
def test_tiles_of_more_than_one_gib(bench, transport):
    chunk = 11_600
    done = bench(
        "transpose", "--size", 2 * chunk, "--chunk-size", chunk, "--result", "sum", "--transports", transport,
        "--launches", 1, "--runs", 1, "--warmup-runs", 0, "--no-calibrate", "--bind", "none", "--timeout", "240s",
        "--json", "run.json", limit_s=280,
    )
    assert done.code == 0, done
    case = only(done.file["cases"])
    assert case["verified"] == {"checked": 2, "errors": 0}
    assert [(pair["messages"], pair["bytes"]) for pair in case["pairs"]] == [(1, 8 * chunk * chunk)] * 2
    assert 8 * chunk * chunk > 1 << 30
