"""KV caches from prefill to decode ranks, from the command line to the run file."""

import pytest
from conftest import CROWDED, only

METRICS = {"later_round_GBps", "first_round_GBps", "posting_ratio", "first_layer_us", "prepare_us", "post_us", "transfer_us",
           "register_us", "descriptors_per_s"}


@pytest.fixture
def kv(bench):
    """A short one, with its run file."""

    def run(*arguments, code=0, **options):
        done = bench("kv", "--launches", 1, "--sessions", 2, "--rounds", 2, "--bind", "none", "--json", "run.json", *CROWDED,
                     *arguments, **options)
        assert done.code == code, done
        return done

    return run


def assert_right(case, decode):
    assert case["state"] == "measured", case["reason"]
    descriptors = case["parameters"]["descriptors"]
    # All of each round of each session: the first, two later ones, and one that nobody times.
    assert case["verified"] == {"checked": 2 * (1 + 2 + 1) * decode * descriptors, "errors": 0}
    metrics = case["metrics"]
    assert metrics.keys() == METRICS
    assert 0 < metrics["posting_ratio"]["min"] <= metrics["posting_ratio"]["max"] <= 1
    assert metrics["posting_ratio"]["better"] == "lower"
    of_all = {metric["name"] for metric in case["shows"]["metrics"] if metric.get("sum_of") == "ranks"}
    assert of_all == {"later_round_GBps", "first_round_GBps", "descriptors_per_s"}
    assert metrics["register_us"]["min"] > 0 and metrics["prepare_us"]["p50"] > metrics["register_us"]["p50"]
    assert metrics["first_round_GBps"]["samples_seen"] == 2 and metrics["later_round_GBps"]["samples_seen"] == 4
    assert metrics["first_layer_us"]["samples_seen"] == 4 * decode


@pytest.mark.parametrize("transport", ["tcp", "shm"])
def test_sides_of_other_sizes(kv, transport):
    done = kv("--descriptors", "300", "--block", "4KiB,64KiB", "--model", "llama3-70b", "--prefill", 2, "--decode", 1,
              "--transports", transport, "--require", transport)
    assert [case["key"] for case in done.file["cases"]] == [
        f"kv/{op}/host-host/{transport}/{size}/decode=1/descriptors=300/model=llama3-70b/prefill=2/progress-mode=event"
        for op in ("get", "put") for size in ("4KiB", "64KiB")]
    for case in done.file["cases"]:
        assert_right(case, decode=1)
        assert case["path"]["carried_by"] == {transport: 1.0}, case["path"]
        assert case["parameters"]["ranks"] == 3 and case["parameters"]["tokens"] is None
        sums = {record["messages"] for record in case["launches"]}
        assert sums == {2 * 3 * 150}
    assert max(len(line) for line in done.out.splitlines()) <= 100
    for words in ("later rounds, GB/s", "first round, GB/s", "posting, ratio", "first layer, us", "prepare, us", "post, us", "p99"):
        assert words in done.out


def test_blocks_of_a_model(kv):
    done = kv("--model", "qwen3-235b", "--tokens", 40, "--prefill", 1, "--decode", 2, "--op", "put", "--window", 16,
              "--transports", "shm")
    case = only(done.file["cases"])
    assert_right(case, decode=2)
    # 94 layers, keys and values, 3 blocks of 16 tokens; 2 of 4 heads, 128 elements of 2 B.
    assert case["parameters"]["descriptors"] == 94 * 2 * 3 and case["parameters"]["bytes"] == 16 * 2 * 128 * 2


@pytest.mark.parametrize(
    ("arguments", "words"),
    [(["--decode", "16"], "--decode 16: llama3-8b has 8 KV heads"),
     (["--model", "gpt-5"], "--model: unknown model 'gpt-5'"),
     (["--comm", "sockets", "--transports", "tcp"], "unknown option '--comm'"),
     (["--op", "am"], "--op: unknown operation 'am'"),
     (["--descriptors", "10M", "--block", "64KiB"], "more than the available memory")],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_refusals(bench, arguments, words):
    done = bench("kv", *arguments)
    assert done.code == 2, done
    assert words in only(done.complaints)
