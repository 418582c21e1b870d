"""Tokens to experts and back, from the command line to the run file; checked."""

import pytest
from conftest import CROWDED, only, verified_runs

TOKENS, EXPERTS, TOP_K, BYTES = 200, 8, 3, 256
LOAD = ["--tokens", TOKENS, "--experts", EXPERTS, "--top-k", TOP_K, "--token-size", BYTES]


@pytest.fixture
def moe(bench):
    """A short one, with its run file; keyword `code` is the status that is expected."""

    def run(*arguments, code=0):
        done = bench("moe", *LOAD, "--launches", 1, "--runs", 2, "--bind", "none", "--json", "run.json", *arguments)
        assert done.code == code, done
        return done

    return run


def assert_right(case, ranks, runs=2):
    """By pair, how many tokens went and came back. Each has as many bytes one way as the other."""
    assert case["state"] == "measured", case["reason"]
    # Of each rank each run, and the one that warms up.
    assert case["verified"] == verified_runs(case)
    assert {"wall_ms", "dispatch_GBps", "combine_GBps"} <= case["metrics"].keys()
    device = "UCX" if case["parameters"]["comm"] == "ucx" else case["parameters"]["comm"]
    assert [phase["name"] for phase in case["phases"]] == ["counts", "dispatch", "combine", f"{device}, while computing"]
    went = {(pair["src"], pair["dst"]): pair for pair in case["pairs"]}
    assert len(went) == ranks * (ranks - 1)
    for (src, dst), pair in went.items():
        assert pair["bytes"] == went[dst, src]["bytes"]
        # Beside tokens each tells the other how many there are.
        assert (pair["bytes"] - runs * 8) % BYTES == 0
    return {pair: (of["bytes"] // runs - 8) // BYTES for pair, of in went.items()}


@pytest.mark.parametrize("comm", ["ucx", "sockets"])
def test_routings_are_an_axis(moe, comm):
    done = moe("-n", 4, "--routing", "uniform,zipf:1.2,hot:3", "--comm", comm, "--transports", "shm", *CROWDED)
    cases = {case["parameters"]["routing"]: case for case in done.file["cases"]}
    sockets = "/comm=sockets" if comm == "sockets" else ""
    assert cases["zipf:1.2"]["key"] == (f"moe/tag/host-host/shm/200{sockets}/experts=8/progress-mode=event/ranks=4/"
                                        "routing=zipf:1.2/token-size=256B/top-k=3")
    imbalance = {}
    for routing, case in cases.items():
        assert_right(case, ranks=4)
        dispatch, combine = ({phase["name"]: phase for phase in case["phases"]}[name] for name in ("dispatch", "combine"))
        imbalance[routing] = dispatch["ingress_imbalance"], combine["ingress_imbalance"]
    # Two experts a rank: of three hot ones all are on ranks 0 and 1, so that each has half of all tokens of others.
    hot = case = cases["hot:3"]
    tokens = assert_right(case, ranks=4)
    assert {dst for (src, dst), count in tokens.items() if count and src in (2, 3)} == {0, 1}
    assert tokens[2, 0] == tokens[3, 0] == tokens[2, 1] == TOKENS
    assert hot["exchange"]["bytes"] == pytest.approx(2 * 6 * TOKENS * BYTES, rel=1e-5)
    assert imbalance["hot:3"][0] == pytest.approx(2)
    assert imbalance["uniform"][0] < imbalance["zipf:1.2"][0] < imbalance["hot:3"][0]
    assert "most/mean" in done.out and max(len(line) for line in done.out.splitlines()) <= 100
    assert "lower bound" not in done.out


@pytest.mark.parametrize("ranks", [2, 3, 5])
def test_any_number_of_ranks(moe, ranks):
    done = moe("-n", ranks, "--routing", "uniform", "--transports", "tcp", *CROWDED)
    tokens = assert_right(only(done.file["cases"]), ranks)
    # None goes to a rank twice: of a pair's some are sent, and the other's come back.
    assert all(0 < count <= 2 * TOKENS for count in tokens.values())


@pytest.mark.parametrize("mistake", ["corrupt", "drop", "misroute"])
def test_mistakes_are_noticed(moe, mistake):
    done = moe("-n", 2, "--routing", "uniform", "--transports", "shm", *CROWDED, "--inject", mistake, code=4)
    case = only(done.file["cases"])
    assert case["state"] == "failed"
    assert case["reason"].startswith("rank 0: token ") and " that came back from rank 1 is wrong at byte " in case["reason"]
    assert case["reason"] in done.complaints[0]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["-n", "1"], "--ranks 1: moe needs at least two"),
        (["--top-k", "9"], "--top-k: 9 of 8 experts that --routing uniform chooses among"),
        (["--routing", "zipf"], "--routing: 'zipf': expected uniform, hot:K with K from 1 to 8 experts, or zipf:S"),
        (["--experts", "1"], "--experts: 1 are fewer than 2 ranks"),
        (["--token-size", "12"], "--token-size: 12 B; expected a multiple of 8"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_refusals(bench, arguments, words):
    given = dict(zip(arguments[::2], arguments[1::2]))
    load = [str(word) for at in range(0, len(LOAD), 2) if LOAD[at] not in given for word in LOAD[at:at + 2]]
    done = bench("moe", *load, *arguments)
    assert done.code == 2, done
    assert words in only(done.complaints)
