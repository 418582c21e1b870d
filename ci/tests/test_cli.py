"""The command line as text: what it says, and with which status."""

import json
import re
import subprocess

import pytest
from conftest import PROGRAM, QUICK, clean_environment, commands, only, quick


def test_help_of_each_command(bench):
    for command in commands(bench):
        done = bench(command, "--help")
        assert done.code == 0 and not done.err, done
        assert f"ucx-bench {command}" in done.out


def test_help_has_what_the_pages_promise(bench):
    options = bench("pingpong", "--help").out
    for option in (
        "--ranks --launches --timeout --wrap --listen --connect --token-file --connect-by "
        "--progress-mode --memory --bind --net-devices --transports --strict --ucx --sizes --api "
        "--window --measure --bidirectional --warmup-runs --iterations --max-time --check --json --csv "
        "--markdown --gbench --smaller-is-better --bigger-is-better --bencher --tag"
    ).split():
        assert re.search(rf"{option}\b", options), option


def test_version_names_commit_and_ucx(bench):
    done = bench("--version")
    assert done.code == 0
    program, ucx = done.out.splitlines()
    assert re.fullmatch(r"ucx-bench \d+\.\d+\.\d+ \(commit ([0-9a-f]{40}(, modified)?|unknown), .+\)", program)
    assert re.fullmatch(r"UCX \d+\.\d+\.\d+ \(/.+\), built against \d+\.\d+", ucx)


@pytest.mark.parametrize(
    "what, word", [("benchmarks", "pingpong"), ("transports", "tcp"), ("devices", "lo"), ("formats", "gbench"),
                   ("rules", "far-nic")]
)
def test_lists(bench, what, word):
    done = bench("list", what)
    assert done.code == 0 and not done.err
    assert word in [line.split()[0] for line in done.out.splitlines()]


def test_the_options_of_benchmarks_for_machines(bench):
    listed = {each["name"]: each for each in json.loads(bench("list", "benchmarks", "--format", "json").out)}
    assert list(listed) == [line.split()[0] for line in bench("list", "benchmarks").out.splitlines()]
    for name, benchmark in listed.items():
        options = {option["name"]: option for option in benchmark["options"]}
        help_text = bench(name, "--help").out
        named = re.findall(r"^  (?:-\w,)?--([\w-]+)", help_text, re.M)
        nameless = [option for option, about in options.items() for alias in about.get("aliases", [])
                    if re.match(r"[A-Z]", alias) and re.search(rf"^  {alias}\s", help_text, re.M)]
        assert sorted(options) == sorted({*named, *nameless} - {"help"}) and not {*named} & {*nameless}
        assert all(option["help"] and option["group"] for option in options.values())
        for option in options.values():
            choices = option.get("choices") or []
            assert choices or option["type"] != "choice"
            assert all(choice in re.sub(r"\s+", " ", help_text) for choice in choices), option
    sizes = next(option for option in listed["p2p"]["options"] if option["name"] == "sizes")
    assert sizes["choices"] is None
    assert sizes["environment"] == "UCXBENCH_SIZES" and sizes["unit"] == "bytes" and sizes["parameter"] == "bytes"
    assert (sizes["default"], sizes["default_on_gpu"], sizes["key"]) == ("16MiB", "256MiB", "always")
    assert listed["merge"]["like"] == ["dask-cuda", "dgx-post", "mpi4dask"]


def test_list_alone_says_what_can_be_listed(bench):
    done = bench("list")
    assert done.code == 0
    assert [line.split()[0] for line in done.out.splitlines()] == [
        "benchmarks", "transports", "devices", "formats", "rules"]


def test_the_columns_of_formats_are_aligned(bench):
    lines = bench("list", "formats").out.splitlines()
    width = max(len(line.split()[0]) for line in lines)
    assert len(lines) > 3 and all(line[width] == " " and line[width + 2] != " " for line in lines)


def test_list_says_why_a_transport_is_not_available(bench):
    # A line that goes on is indented.
    text = re.sub(r"\n +", " ", bench("list", "transports").out)
    lines = {line.split()[0]: line for line in text.splitlines()}
    assert set(lines) == {"self", "shm", "tcp", "nvlink", "ib", "auto", "gpudirect", "gdrcopy"}
    for name in ("gpudirect", "gdrcopy"):
        state, *why = lines.pop(name).split()[1:]
        assert state in {"active", "absent", "unknown"} and why
    for name, line in lines.items():
        if "not available" in line:
            assert len(line.partition("not available")[2].split()) > 1, name


def test_dry_run_measures_nothing(bench, tmp_path):
    done = bench("--dry-run", "pingpong", "--sizes", "8,16", "--transports", "tcp", "--json", "run.json")
    assert done.code == 0 and not done.err
    assert "tcp: 2 cases x 6 launches" in done.out
    assert "UCX_TLS=tcp" in done.out and "UCX_NET_DEVICES=lo" in done.out
    assert "pingpong/tag/host-host/tcp/8B" in done.out and "pingpong/tag/host-host/tcp/16B" in done.out
    assert not list(tmp_path.iterdir())


def test_precedence(bench, tmp_path):
    """Command line, then environment, then file, then default."""
    (tmp_path / "options.toml").write_text('[pingpong]\nwindow = 5\nwarmup-runs = 3\ncheck = "off"\n')

    def parameters(*arguments, **options):
        done = bench("pingpong", *quick(["--transports", "tcp", "--sizes", "8", *arguments], QUICK), **options)
        return only(done.file["cases"])["parameters"]

    environment = {"UCXBENCH_WINDOW": "6", "UCXBENCH_WARMUP_RUNS": "2"}
    given = parameters("--config", "options.toml", "--window", "7", environment=environment)
    assert (given["window"], given["warmup_runs"], given["check"]) == (7, 2, "off")
    given = parameters("--config", "options.toml")
    assert (given["window"], given["warmup_runs"], given["check"]) == (5, 3, "off")
    given = parameters()
    assert (given["window"], given["warmup_runs"], given["check"]) == (32, 1, "sample")


def test_of_a_run_that_cannot_be_nothing_is_left(bench, tmp_path):
    done = bench("pingpong", "--transports", "nvlink", "--bind", "none", environment={"CUDA_VISIBLE_DEVICES": ""})
    assert done.code == 3 and "cannot run here: nvlink" in done.err and "results:" not in done.err, done
    assert not list(tmp_path.iterdir())


def test_without_json_the_run_is_kept(bench, tmp_path):
    done = bench("pingpong", "--launches", "1", "--iterations", "5", "--transports", "tcp", "--sizes", "8",
                 "--bind", "none", "--tag", "a=b", "--tag", "c=d=e")
    assert done.code == 0
    file = only(list((tmp_path / "ucx-bench-runs").iterdir()))
    assert re.fullmatch(r"\d{8}T\d{6}Z-pingpong-[0-9a-f]{8}\.json", file.name)
    assert f"results: ucx-bench-runs/{file.name}" in done.err
    assert json.loads(file.read_text())["run"]["tags"] == {"a": "b", "c": "d=e"}


def test_quiet_says_nothing(pingpong):
    done = pingpong("--quiet", "--transports", "tcp", "--sizes", "8")
    assert (done.out, done.err) == ("", "")
    done = pingpong("--quiet", "--transports", "nvlink", "--transports", "tcp", "--sizes", "8")
    assert done.out == "" and only(done.err.splitlines()).startswith("cannot run here: nvlink: ")


def test_verbose_explains_the_settings(pingpong):
    done = pingpong("--verbose", "--transports", "tcp", "--sizes", "8")
    assert "tcp: UCX_NET_DEVICES=lo (" in done.err


@pytest.mark.parametrize(
    "arguments, environment, colored",
    [
        ([], {}, False),
        (["--color", "always"], {}, True),
        (["--color", "always"], {"NO_COLOR": "1"}, True),
        ([], {"CLICOLOR_FORCE": "1"}, True),
        ([], {"CLICOLOR_FORCE": "1", "NO_COLOR": "1"}, False),
        (["--color", "never"], {"CLICOLOR_FORCE": "1"}, False),
    ],
)
def test_color(pingpong, arguments, environment, colored):
    done = pingpong("--transports", "tcp", "--sizes", "8", *arguments, environment=environment)
    assert ("\x1b[" in done.out) == colored
    assert "\x1b[" not in done.err


def test_progress(pingpong):
    done = pingpong("--transports", "tcp", "--sizes", "8,16", "--launches", "2", "--progress", "plain")
    assert [line for line in done.err.splitlines() if "launch" in line] == ["launch 1/2 tcp", "launch 2/2 tcp"]
    assert re.search(r"^takes at least \d+ s(, .*)?$", done.err, re.M)
    assert re.search(r"^launch 1/2 tcp\nabout \d+ (s|min) left\nlaunch 2/2 tcp$", done.err, re.M)
    done = pingpong("--transports", "tcp", "--sizes", "8", "--progress", "bar")
    assert "pingpong/tag/host-host/tcp/8B" in done.err
    # Erased at the end.
    assert done.err.rsplit("\r\x1b[K", 1)[1].splitlines() == ["results: run.json"]
    done = pingpong("--transports", "tcp", "--sizes", "8", "--progress", "never")
    assert done.err.splitlines() == ["results: run.json"]


def test_a_dry_run_ends_as_the_run_would_begin(bench):
    def status(*arguments):
        return bench("--dry-run", "pingpong", *arguments).code

    assert status("--transports", "nvlink") == 3
    assert status("--transports", "nvlink", "--transports", "tcp") == 0
    assert status("--transports", "nvlink", "--transports", "tcp", "--strict") == 3


def test_a_dry_run_says_how_long_it_takes(bench):
    arguments = ["pingpong", "--transports", "shm", "--sizes", "8,16", "--max-time", "60s"]
    # Two cases of a minute, and what is beside that.
    done = bench("--dry-run", *arguments)
    # What follows a comma is said on a busy machine.
    assert re.search(r"\ntakes about 2 min(, .*)?\n$", done.out), done
    fixed = bench("--dry-run", *arguments[:-2], "--iterations", 5)
    assert re.search(r"\ntakes at least 2 s(, .*)?\n", fixed.out), fixed


def test_a_set_is_accepted_as_it_is_printed(bench):
    done = bench("--dry-run", "pingpong", "--transports", "tcp+shm", "--sizes", "8")
    assert done.code == 0 and "pingpong/tag/host-host/shm+tcp/8B" in done.out, done


def test_a_closed_stdout_is_no_crash(tmp_path):
    """`ucx-bench … | head` ends the pipe early."""
    done = subprocess.run(
        f"'{PROGRAM}' pingpong --help | head -n 1; exit ${{PIPESTATUS[0]}}",
        shell=True, executable="/bin/bash", cwd=tmp_path, env=clean_environment(),
        capture_output=True, text=True, timeout=30,
    )
    assert done.returncode in (0, 141) and done.stderr == ""
