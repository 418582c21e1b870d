"""Bad input: one clear line, status 2, nothing measured, no file, no crash."""

import json
import re

import pytest
from conftest import PROGRAM, RNDV_FROM_1K, Started, only


def assert_refused(done, *words, code=2):
    assert done.code == code, done
    assert done.out == ""
    line = only(done.err.splitlines())
    assert line.startswith("ucx-bench: ")
    for word in words:
        assert word in line
    return line
    assert not (done.folder / "run.json").exists()
    assert not (done.folder / "ucx-bench-runs").exists()


def test_without_a_command_it_says_what_to_begin_with(bench):
    done = bench()
    assert done.code == 2 and done.out == "", done
    for words in ("measures and explains UCX communication", "ucx-bench doctor", "ucx-bench pingpong", "--help"):
        assert words in done.err
    assert not (done.folder / "ucx-bench-runs").exists()


@pytest.mark.thinned(4)
@pytest.mark.parametrize(
    "arguments, words",
    [
        (["pingpnog"], ["unknown command 'pingpnog'", "did you mean 'pingpong'"]),
        (["pingpong", "--transport", "tcp"], ["unknown option '--transport'", "did you mean '--transports'"]),
        (["pingpong", "--itertions=3"], ["unknown option '--itertions'", "did you mean '--iterations'"]),
        (["report", "--htlm"], ["unknown option '--htlm'", "did you mean '--html'", "ucx-bench report --help"]),
        (["doctor", "--fo"], ["unknown option '--fo'", "ucx-bench doctor --help"]),
        (["dashboard", "runs", "--bas=x"], ["unknown option '--bas'", "did you mean '--base'"]),
        (["merge", "--html", "--csv", "run.csv"], ["--html: expected FILE, not the option '--csv'"]),
        (["merge", "--json", "-n", "2"], ["--json: expected FILE, not the option '-n'"]),
        (["pingpong", "stray"], ["unexpected argument 'stray'"]),
        (["pingpong", "--transports", "tpc"], ["'tpc'", "did you mean 'tcp'", "known: self, shm, tcp"]),
        (["pingpong", "--transports", ""], ["--transports"]),
        (["pingpong", "--transports", "tcp,cuda_ipc"], ["'cuda_ipc' is 'nvlink' here"]),
        (["merge", "--quick"], ["unknown option '--quick': pingpong has it"]),
        (["topo", "--format", "png"], ["--format", "'png'", "known: text, json, svg"]),
        (["p2p", "--hosts", "x"], ["--hosts: 'x': expected a whole number, 2 to 1024"]),
        (["p2p", "--hosts", "3", "--connect", "127.0.0.1"], ["--hosts", "leave it out"]),
        (["merge", "--json", "/dev/null", "--trace", "x"], ["--trace needs the transfer log", "leave --json out"]),
        (["pingpong", "--transports", "tcp,auto"], ["auto", "alone"]),
        (["pingpong", "--api", "tga"], ["--api", "did you mean 'tag'"]),
        (["pingpong", "--memory", "gpu"], ["--memory", "'gpu'", "known: host, host:huge, host:node0, pinned, cuda, "]),
        (["pingpong", "--measure", "jitter"], ["--measure", "'jitter'", "latency, bandwidth"]),
        (["pingpong", "--measure", "latency", "--bidirectional"], ["--bidirectional", "bandwidth"]),
        (["pingpong", "--transports", "shm", "--require", "ib"], ["--require ib", "shm does not ask for ib"]),
        (["pingpong", "--transports", "tcp", "--ablate"], ["--ablate", "--transports"]),
        (["pingpong", "--transports", "tcp", "--enable-infiniband"], ["--enable", "--transports"]),
        (["pingpong", "--enable-rdmacm"], ["rdmacm", "--enable-infiniband"]),
        (["pingpong", "--memory", "cuda", "--ucx", "UCX_TLS=tcp"], ["--ucx UCX_TLS=tcp", "cuda_copy"]),
        (["pingpong", "--connect-by", "sockaddr", "--ucx", "UCX_SOCKADDR_TLS_PRIORITY=rdmacm"],
         ["UCX_SOCKADDR_TLS_PRIORITY=rdmacm", "--transports tcp has no ib"]),
        (["pingpong", "--memory", "host,host,host"], ["--memory"]),
        (["pingpong", "--progress-mode", "pol"], ["'pol'", "did you mean 'poll'"]),
        (["pingpong", "--progress-mode", "periodic:"], ["100us"]),
        (["pingpong", "--connect-by", "socket"], ["--connect-by", "sockaddr"]),
        (["pingpong", "--check", "some"], ["--check", "sample"]),
        (["pingpong", "--sizes", "12QB"], ["12QB", "64KiB"]),
        (["pingpong", "--sizes", "64:8"], ["64:8", "8:64"]),
        (["pingpong", "--sizes", "8:64:x1"], ["8:64:x1"]),
        (["pingpong", "--sizes", "8:64:y2"], ["8:64:y2"]),
        (["pingpong", "--sizes", "0"], ["'0'"]),
        (["pingpong", "--sizes", "-8"], ["-8"]),
        (["pingpong", "--sizes", "8,,16"], ["size"]),
        (["pingpong", "--sizes", "99999999999999999999"], ["99999999999999999999"]),
        (["pingpong", "--sizes", "64TiB"], ["64 TiB", "memory", "fit"]),
        (["pingpong", "--iterations", "0"], ["--iterations", "0", "1 to"]),
        (["pingpong", "--iterations", "x"], ["--iterations", "x"]),
        (["pingpong", "--launches", "0"], ["--launches"]),
        (["pingpong", "--window", "0"], ["--window"]),
        (["pingpong", "--warmup-runs", "-1"], ["--warmup-runs"]),
        (["pingpong", "--max-time", "0s"], ["0s"]),
        (["pingpong", "--max-time", "fast"], ["fast", "1.5s"]),
        (["pingpong", "--timeout", "0"], ["0"]),
        (["pingpong", "--ranks", "0"], ["--ranks"]),
        (["pingpong", "-n", "3"], ["3", "even"]),
        (["pingpong", "-n", "2", "--transports", "self"], ["self", "-n 1"]),
        (["pingpong", "-n", "1", "--transports", "tcp"], ["self", "-n 2"]),
        (["merge", "--memory", "cuda", "-n", "1,2", "--batches", "129"],
         ["--batches 129", "2 ranks", "a GPU", "256"]),
        (["merge", "--memory", "managed", "-n", "300", "--batches", "1"], ["300 ranks", "256"]),
        (["cold", "-n", "1"], ["--ranks 1", "-n 2"]),
        (["cold", "--transports", "self"], ["self", "leave self out"]),
        (["cold", "--iterations", "0"], ["--iterations", "0"]),
        (["cold", "--no-pool"], ["unknown option '--no-pool'"]),
        (["cold", "--sizes", "64TiB"], ["64 TiB", "memory", "fit"]),
        (["pingpong", "--listen", "127.0.0.1:0", "--connect", "127.0.0.1:1"], ["--listen", "--connect"]),
        (["merge", "--hosts", "3"], ["--hosts", "give --listen IP:PORT"]),
        (["merge", "--listen", "--hosts", "1"], ["--hosts", "2"]),
        (["merge", "--listen", "--hosts", "3", "-n", "4"], ["--ranks 4", "3 hosts"]),
        (["p2p", "--listen", "--hosts", "2", "-n", "4", "--ranks-per-host", "3"], ["--ranks 4", "--ranks-per-host 3"]),
        (["pingpong", "--bind", "0,4095"], ["4095"]),
        (["pingpong", "--bind", "0"], ["--bind"]),
        (["pingpong", "--bind", "x,y"], ["x,y", "0-3"]),
        (["pingpong", "--net-devices", "eth99"], ["'eth99'", "lo"]),
        (["pingpong", "--ucx", "TLS=tcp"], ["--ucx", "UCX_"]),
        (["pingpong", "--tag", "novalue"], ["--tag", "novalue"]),
        (["pingpong", "--wrap", "'open"], ["open", "quote"]),
        (["pingpong", "--json", "no/such/folder/run.json"], ["no/such/folder/run.json", "--json"]),
        (["pingpong", "--csv", "."], ["--csv", "irectory"]),
        (["pingpong", "--csv", "no/such/run.csv"], ["--csv"]),
        (["pingpong", "--csv", "-", "--gbench", "-"], ["--csv", "--gbench", "stdout"]),
        (["--config", "none.toml", "pingpong"], ["none.toml"]),
        (["--color", "blue", "pingpong"], ["--color", "blue"]),
        (["halo", "--steps", "2M"], ["--steps", "'2M'", "1 to 1000000"]),
        (["pingpong", "--bidirectional=maybe"], ["--bidirectional", "'maybe'", "true or false"]),
        (["pingpng", "--sizes", "8"], ["unknown command 'pingpng'", "did you mean 'pingpong'"]),
        (["list", "transport"], ["'transport'", "did you mean 'transports'"]),
        (["report"], ["required"]),
        (["report", "none.json"], ["none.json", "No such file"]),
        (["plot", "none.json"], ["none.json"]),
        (["report", "."], ["."]),
    ],
    ids=" ".join,
)
def test_usage(bench, arguments, words):
    assert_refused(bench(*arguments), *words)


def test_environment_variables(bench):
    assert_refused(
        bench("pingpong", environment={"UCXBENCH_ITERATION": "2"}),
        "UCXBENCH_ITERATION", "did you mean 'UCXBENCH_ITERATIONS'",
    )
    assert_refused(bench("pingpong", "--csv"), "--csv: expected FILE after it")
    assert_refused(bench("topo", "--format", "png"), "--format: unknown value 'png': did you mean 'svg'? known: text, json, svg")
    assert_refused(bench("pingpong", environment={"UCXBENCH_ITERATIONS": "none"}), "none")
    assert_refused(bench("halo", environment={"UCXBENCH_BULK_SYNCHRONOUS": "maybe"}), "--bulk-synchronous", "'maybe'", "true or false")


def test_an_environment_variable_is_of_the_command_that_is_given(bench):
    # transpose has one size, halo a list of them, merge none.
    for command in ("halo", "merge"):
        done = bench(command, "-n", 2, "--dry-run", environment={"UCXBENCH_SIZE": "64,128", "UCXBENCH_BULK_SYNCHRONOUS": "yes"})
        assert done.code == 0, done
        assert ("/128/" in done.out) == (command == "halo")


@pytest.mark.thinned(2)
@pytest.mark.parametrize(
    "text, words",
    [
        ("[pingpong]\nwindw = 3\n", ["windw", "did you mean 'window'"]),
        ('[pingpong]\nwindow = "many"\n', ["many"]),
        ('[pingpong]\nbidirectional = "maybe"\n', ["--bidirectional", "'maybe'", "true or false"]),
        ("[pingpong\n", []),
    ],
)
def test_config_files(bench, tmp_path, text, words):
    (tmp_path / "options.toml").write_text(text)
    assert_refused(
        bench("--config", "options.toml", "pingpong", "--sizes", "8", "--launches", "1"), "options.toml", *words
    )


def test_lists_in_config_files(bench, tmp_path):
    (tmp_path / "options.toml").write_text('[halo]\nsize = [64, "128"]\nranks = [2, 3]\ntransports = ["shm"]\nbulk-synchronous = true\n')
    done = bench("halo", "--config", "options.toml", "--dry-run")
    assert done.code == 0, done
    for size, ranks in ((64, 2), (64, 3), (128, 2), (128, 3)):
        assert re.search(rf"/shm/{size}/\S*ranks={ranks}\n", done.out), done


def test_a_ucx_conf_that_changes_the_transports(bench, pingpong, tmp_path):
    (tmp_path / "ucx.conf").write_text("UCX_TLS=tcp\n")
    arguments = ["pingpong", "--transports", "shm", "--sizes", "8"]
    assert_refused(bench(*arguments), "ucx.conf", "UCX_TLS=tcp")
    (tmp_path / "ucx.conf").write_text("UCX_RNDV_THRESH=1K\n")
    run = pingpong(*arguments[1:]).file
    assert any("ucx.conf" in json.dumps(file) for file in run["ucx"]["configuration_files"])
    assert run["ucx"]["environment"]["effective"]["shm"]["UCX_RNDV_THRESH"] in RNDV_FROM_1K


FOREIGN = {
    "empty": "",
    "text": "hello\n",
    "truncated": '{"schema": "ucx-bench/run/1", "run": {"id": "x", ',
    "array": "[1, 2]",
    "number": "7",
    "null": "null",
    "other object": '{"benchmarks": []}',
    "newer": '{"schema": "ucx-bench/run/2"}',
    "bare": '{"schema": "ucx-bench/run/1"}',
    "wrong types": '{"schema": "ucx-bench/run/1", "run": 1, "cases": "x"}',
    "binary": "\x00\x01\x02",
    "not UTF-8": "\udcff\udcfe",
}


@pytest.mark.thinned(3)
@pytest.mark.parametrize("command", ["report", "plot"])
@pytest.mark.parametrize("name", FOREIGN)
def test_foreign_files(bench, tmp_path, name, command):
    (tmp_path / "foreign.json").write_bytes(FOREIGN[name].encode(errors="surrogateescape"))
    assert_refused(bench(command, "foreign.json"), "foreign.json")


def test_no_output_overwrites_a_run_or_another_output(bench, pingpong, tmp_path):
    pingpong("--transports", "shm", "--sizes", "8")
    (tmp_path / "run.json").rename(tmp_path / "kept.json")
    (tmp_path / "link.json").symlink_to("kept.json")
    whole = (tmp_path / "kept.json").read_bytes()
    for arguments in (["report", "kept.json", "--csv", "./kept.json"],
                      ["report", "kept.json", "--html", "link.json"],
                      ["compare", "kept.json", "other.json", "--json", "kept.json"],
                      ["advise", "kept.json", "--bandwidths", "kept.json"],
                      ["advise", "kept.json", "-o", "kept.json"]):
        assert_refused(bench(*arguments), "this command reads it")
        assert (tmp_path / "kept.json").read_bytes() == whole
    (tmp_path / "s.toml").write_text('[[case]]\nargs = "pingpong --sizes 8"\n')
    assert_refused(bench("suite", "s.toml", "--json", "s.toml"), "this command reads it")
    (tmp_path / "o.toml").write_text("quiet = true\n")
    assert_refused(bench("pingpong", "--config", "o.toml", "--csv", "o.toml"), "this command reads it")
    assert_refused(bench("pingpong", "--csv", "a", "--json", "a"), "--json a: --csv writes it, too")
    assert bench("report", "kept.json", "--json", "kept.json").code == 0
    assert bench("report", "kept.json", "--csv", "/dev/null", "--gbench", "/dev/null").code == 0


def test_a_truncated_run(bench, pingpong, tmp_path):
    pingpong("--transports", "tcp", "--sizes", "8")
    whole = (tmp_path / "run.json").read_bytes()
    (tmp_path / "run.json").unlink()
    for part in (1, len(whole) // 2, len(whole) - 3):
        (tmp_path / "part.json").write_bytes(whole[:part])
        for command in ("report", "plot"):
            assert_refused(bench(command, "part.json"), "part.json")


def test_too_few_open_files(tmp_path):
    """The hard limit too: none that the program may raise."""
    limited = Started(
        ["-c", 'ulimit -n 90; exec "$@"', "sh", PROGRAM, "p2p", "-n", 40, "--sizes", 8, "--json", "run.json"],
        tmp_path, {}, program="sh")
    done = limited.finish()
    assert done.code == 3, done
    assert only(done.complaints) == ("ucx-bench: 40 ranks need 144 open files in one process, and the hard limit is "
                                     "90: raise it (ulimit -Hn 144)")
    assert not (tmp_path / "run.json").exists()
