"""One run of each command, for scripts/test --quick: that it works at all. What it does, others ask."""

from conftest import ROOT, SHORT, commands, measuring_commands

RECORDED = next((ROOT / "results/runs").glob("*/*/merge-host.json"))
FILES = {
    "suite.toml": 'launches = 2\n[[case]]\nargs = "pingpong --transports shm --sizes 8 --iterations 80 --bind none --no-memory-copy"\n',
    "site.toml": '[[expect]]\ntransports = "shm"\nmax_us = 1e9\n',
    "missed.toml": '[[expect]]\ntransports = "shm"\nmax_us = 1e-6\npath = "tcp"\n',
}
COMMANDS = {
    "suite": ["suite.toml", "--json", "run.json"],
    "ab": ["suite.toml", "--new-env", "UCX_LOG_LEVEL=error", "--folder", "ab"],
    "versions": ["suite.toml", "--ucx", "here=/usr", "--ucx", "there=other", "--folder", "versions"],
    "tune": ["pingpong", "--transports", "shm", "--sizes", 8],
    "soak": ["--rounds", 1, "--seed", 4],
    "check": ["--expect", "site.toml"],
    "topo": ["--format", "json", "-o", "here.json"],
    "copies": [],
    "doctor": [],
    "advise": [RECORDED, "--topology", "here.json"],
    "list": ["transports"],
    "report": [RECORDED, "--csv", "run.csv"],
    "compare": [RECORDED, "--with-itself"],
    "plot": [RECORDED, "-o", "run.png"],
    "dashboard": ["runs", "--html", "runs.html"],
}


def test_each_benchmark(bench):
    for name in measuring_commands():
        done = bench(name, *SHORT.get(name, []), "--launches", 1, "--transports", "shm", "--bind", "none", "--json",
                     "run.json")
        assert done.code == 0, done
        assert [case["state"] for case in done.file["cases"]].count("measured") == len(done.file["cases"])


def test_each_other_command(bench, ucx_copies, tmp_path):
    for name, text in FILES.items():
        (tmp_path / name).write_text(text)
    (tmp_path / "runs").mkdir()
    (tmp_path / "runs" / RECORDED.name).write_bytes(RECORDED.read_bytes())
    assert sorted(commands(bench)) == sorted([*measuring_commands(), *COMMANDS])
    for name, arguments in COMMANDS.items():
        # What tune would measure takes too long here.
        done = bench(*(["--dry-run"] if name == "tune" else []), name, *arguments)
        # What doctor says of this machine is not asked here, and it may have no GPU.
        assert done.code in {"doctor": (0, 1), "copies": (0, 3)}.get(name, (0,)), (name, done)


def test_what_sanitizers_see_of_suites_and_expectations_here_alone(bench, tmp_path):
    for name, text in FILES.items():
        (tmp_path / name).write_text(text)
    assert bench("check", "--expect", "missed.toml").code == 1
    for planned in ["suite", "suite.toml"], ["check", "--expect", "site.toml"]:
        assert bench("--dry-run", *planned).code == 0
