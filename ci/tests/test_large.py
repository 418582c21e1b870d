"""More than 4 GiB in one message: counts that would not fit 32 bits. Needs 20 GiB to itself."""

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
