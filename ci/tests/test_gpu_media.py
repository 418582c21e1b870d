"""What carries GPU memory, and what it crosses, on the emulated CUDA driver: --require nvlink asks for NVLinks."""

import pytest
from emulated_gpu import emulated, hooks, needs_both  # noqa: F401

ON_GPU = ["--memory", "cuda", "--transports", "tcp,nvlink", "--require", "nvlink"]
SHORT = {
    "pingpong": ["--sizes", "1MiB", "--iterations", 5],
    "p2p": ["-n", 2, "--sizes", "1MiB", "--runs", 1, "--iterations", 4],
    "cold": ["-n", 2, "--sizes", "1MiB", "--iterations", 1],
    "loggp": ["--sizes", "1MiB", "--iterations", 2],
    "incast": ["-n", 3, "--sizes", "1MiB", "--runs", 1, "--iterations", 4],
    "moe": ["-n", 2, "--tokens", 1024, "--routing", "uniform", "--runs", 1],
}
# kv gets: UCX emulates that over tcp where there are no NVLinks.
OPERATIONS = {"kv": ["--op", "put", "--descriptors", 16, "--block", "1MiB", "--sessions", 1, "--rounds", 1]}


def media(done):
    assert {case["state"] for case in done.file["cases"]} == {"measured"}
    return {(case["path"]["medium"], case["path"]["medium_proof"]) for case in done.file["cases"]}


@pytest.fixture
def required(emulated):  # noqa: F811
    """required(COMMAND, STATUS, …): a run that demands NVLinks, on three GPUs."""

    def run(command, code, **emulator):
        arguments = (SHORT | OPERATIONS)[command]
        return emulated(command, *arguments, *ON_GPU, code=code, CUDA_EMULATOR_GPUS="3", **hooks(command), **emulator)

    return run


@needs_both
@pytest.mark.parametrize("command", SHORT | OPERATIONS)
def test_nvlinks_that_count(required, command):
    done = required(command, 0)
    assert media(done) == {("nvlink", "counters")}
    assert "cuda_ipc over NVLink" in " ".join(done.out.split()), done


@needs_both
@pytest.mark.parametrize("command", ["pingpong", "p2p", "incast", "cold"])
def test_no_nvlinks(required, command):
    done = required(command, 1, CUDA_EMULATOR_NVLINKS="0")
    assert media(done) == {("pcie", "path-class")}
    assert "over PCIe" in done.err and "[over-pcie]" in done.err, done
    assert "cuda_ipc over PCIe" in " ".join(done.out.split())
    for line in (done.out + done.err).splitlines():
        assert not ("nvlink 1" in line and "counters:" in line), line


@needs_both
@pytest.mark.parametrize("command", ["pingpong", "incast"])
def test_counters_that_stand_still(required, command):
    done = required(command, 1, CUDA_EMULATOR_NVLINK_COUNTERS="0")
    assert media(done) == {("unknown", "contradicted")}
    assert "[counters-deny]" in done.err, done
    counters = done.file["cases"][0]["path"]["bytes_by_counter"]
    assert counters["nvlink/GPU0"] == counters["nvlink/GPU1"] == 0


@needs_both
def test_one_gpu(required):
    done = required("p2p", 1, CUDA_VISIBLE_DEVICES="0")
    assert media(done) == {("same-gpu", "one-gpu")}
    assert "[inside-one-gpu]" in done.err and "inside one GPU" in done.out
    for case in done.file["cases"]:
        assert case["limits"] == [] and "limit_GBps" not in case["pairs"][0], "its times are those of turns"
