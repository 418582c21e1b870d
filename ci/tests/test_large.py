"""More than 4 GiB in one message: counts that would not fit 32 bits. Needs 20 GiB to itself."""

import pytest
from conftest import only

FIVE_GIB = 5 << 30


@pytest.fixture(autouse=True)
def enough_memory():
    with open("/proc/meminfo") as meminfo:
        lines = dict(line.split(":") for line in meminfo)
    available = int(lines["MemAvailable"].split()[0]) << 10
    if available < 20.5 * (1 << 30):
        pytest.skip(f"20 GiB of memory are needed for four buffers, {available / (1 << 30):.1f} are available")


@pytest.mark.parametrize("api", ["tag", "stream"])
@pytest.mark.parametrize("settings", [["--transports", "tcp"],
                                      ["--transports", "shm", "--ucx", "UCX_TLS=posix,cma"]])
def test_five_gib(pingpong, api, settings):
    done = pingpong(
        "--api", api, *settings, "--sizes", "5GiB", "--iterations", "1", "--window", "1",
        "--warmup-runs", "0", limit_s=280,
    )
    case = only(done.file["cases"])
    assert case["state"] == "measured"
    assert case["parameters"]["bytes"] == FIVE_GIB
    assert case["key"].split("/")[4] == "5GiB"
    assert case["verified"]["errors"] == 0 and case["verified"]["checked"] > 0
    assert case["peak_buffer_bytes"] >= 2 * FIVE_GIB
