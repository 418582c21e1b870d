"""Run files go to others: no password of the command line or of the environment goes with them."""

import json

from conftest import quick

SECRET = "hunter2"
GIVEN = {"NVIDIA_API_KEY": SECRET, "CUDA_AUTH_TOKEN": SECRET, "OMP_PASSWORD": SECRET, "UCX_MY_SECRET": SECRET,
         "LD_CREDENTIAL": SECRET, "MALLOC_SERVER": f"https://me:{SECRET}@host/x", "UNRELATED": SECRET,
         "OMP_NUM_THREADS": "1", "UCX_RC_VERBS_PKEY": "0x7fff", "UCX_WARN_UNUSED_ENV_VARS": "n"}
SHORT = ["--transports", "shm", "--sizes", "8"]
WORDS = ["--tag", f"api_token={SECRET}", "--tag", f"from=ftp://me:{SECRET}@host/", "--tag", "branch=main",
         "--wrap", f"env BOOK_PASSWORD={SECRET} BOOK=1"]


def test_no_secret_is_recorded(bench, tmp_path):
    outputs = {name: tmp_path / f"run.{name}" for name in ("json", "csv", "markdown", "gbench")}
    written = [word for name, file in outputs.items() for word in (f"--{name}", file)]
    done = bench("pingpong", *quick([*SHORT, *WORDS, *written]), environment=GIVEN)
    assert done.code == 0, done
    kept = [file for file in tmp_path.rglob("*") if file.is_file()]
    assert len(kept) >= len(outputs)
    for file in kept:
        assert SECRET.encode() not in file.read_bytes(), file
    assert SECRET not in done.out + done.err
    run = json.loads(outputs["json"].read_text())
    assert run["run"]["variables"]["OMP_NUM_THREADS"] == "1" and run["run"]["variables"]["MALLOC_SERVER"] == "https://***@host/x"
    assert run["run"]["tags"] == {"from": "ftp://***@host/", "branch": "main"}
    assert run["ucx"]["environment"]["inherited"]["UCX_RC_VERBS_PKEY"] == "0x7fff"
    assert "env BOOK_PASSWORD=*** BOOK=1" in run["run"]["command"] and "api_token=***" in run["run"]["command"]
    assert "UNRELATED" not in json.dumps(run)


def test_no_secret_is_in_a_plan(bench):
    done = bench("pingpong", *quick([*SHORT, "--dry-run", "--json", "-"]), environment=GIVEN)
    assert done.code == 0 and SECRET not in done.out + done.err, done
    assert json.loads(done.out)["variables"]["UCX_RC_VERBS_PKEY"] == "0x7fff"
