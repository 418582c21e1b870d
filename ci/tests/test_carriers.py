"""What carried a case is told of all its pairs and launches, and of each pair its own: one rank, or one launch, has TCP alone.

ci/shims/other_tls.cpp takes its other transports away, which nothing in the environment shows."""

import csv
import pathlib

import pytest
from conftest import SHIM, only

OTHER_TLS = {"LD_PRELOAD": str(pathlib.Path(SHIM).with_name("libother_tls.so")), "OTHER_TLS": "tcp"}
FEW = ["--iterations", 4, "--bind", "none", "--transports", "shm,tcp"]
PAIRS = {  # of the commands that have pairs of ranks: options, and whether pairs with rank 2 go by TCP
    "p2p": ["-n", 3, "--concurrent", "one", "--sizes", "64KiB", "--runs", 1],
    "pingpong": ["-n", 4, "--sizes", "64KiB", "--measure", "bandwidth"],
}


def shares(carried_by):
    return {member: round(share, 2) for member, share in carried_by.items()}


@pytest.mark.parametrize("command", PAIRS)
def test_of_pairs(bench, tmp_path, command):
    done = bench(command, *PAIRS[command], *FEW, "--launches", 1, "--require", "shm", "--json", "run.json", "--csv", "run.csv",
                 "--markdown", "run.md", environment=OTHER_TLS | {"OTHER_TLS_RANKS": "2"})
    case = only(done.file["cases"])
    of_pairs = {(pair["src"], pair["dst"]): pair["carried_by"] for pair in case["pairs"]}
    by_tcp = {pair for pair in of_pairs if 2 in pair}
    assert of_pairs == {pair: {"tcp" if pair in by_tcp else "shm": 1.0} for pair in of_pairs} and 0 < len(by_tcp) < len(of_pairs)
    part = len(by_tcp) / len(of_pairs)
    assert shares(case["path"]["carried_by"]) == {"shm": round(1 - part, 2), "tcp": round(part, 2)}
    assert done.code == 1 and f": {len(by_tcp)} of {len(of_pairs)} pairs, the first {min(by_tcp)[0]}->{min(by_tcp)[1]}: " in done.err, done
    used = f"shm {100 * (1 - part):.0f} %, tcp {100 * part:.0f} %"
    assert used in done.out and used in (tmp_path / "run.md").read_text(), done
    with open(tmp_path / "run.csv", newline="") as file:
        rows = [((int(row["src"]), int(row["dst"])), row["transport_used"]) for row in csv.DictReader(file)]
    assert rows and all(used == ("tcp" if pair in by_tcp else "shm") for pair, used in rows), rows


def test_of_launches(bench, tmp_path):
    environment = OTHER_TLS | {"OTHER_TLS_LAUNCHES": "2", "OTHER_TLS_FOLDER": str(tmp_path)}
    done = bench("pingpong", *FEW, "--sizes", "64KiB", "--measure", "bandwidth", "--launches", 4, "--require", "shm", "--json", "run.json",
                 environment=environment)
    assert shares(only(done.file["cases"])["path"]["carried_by"]) == {"shm": 0.75, "tcp": 0.25}, done
    assert done.code == 1 and "75 % of the bytes went by shm" in done.err and "shm 75 %, tcp 25 %" in done.out, done


def test_no_limit_is_met_by_another_transport(bench, tmp_path):
    (tmp_path / "site.toml").write_text('ranks = 3\n[[expect]]\ntransports = "shm"\nmin_GBps = 1e-6\nmax_us = 1e6\npath = "shm"\n')
    done = bench("check", "--expect", "site.toml", "--json", "run.json", environment=OTHER_TLS)
    limits = done.file["run"]["check"]["limits"]
    assert done.code == 1 and {limit["verdict"] for limit in limits} == {"missed"}, done
    assert [limit["path_verdict"] for limit in limits] == ["other", "other", None]
    assert all("tcp carried" in limit["why"] for limit in limits) and " ".join(done.out.split()).count("tcp carried") == 3
