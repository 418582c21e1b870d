"""Text of files is text in every output: one run whose every word is nasty goes through all of them."""

import csv
import html.parser
import io
import json
import os
import re
import subprocess
import xml.etree.ElementTree as xml

import pytest
from conftest import PROGRAM, ROOT, clean_environment, quick

yaml = pytest.importorskip("yaml", reason="PyYAML is missing: run ./scripts/setup/python")

SUITE = """launches = 2
[[case]]
args = "pingpong --transports shm --sizes 8,1KiB,64KiB --iterations 10 --warmup-runs 0 --bind none --no-memory-copy"
[[case]]
args = "merge --rows 2K --transports shm --bind none --no-memory-copy"
"""
BEFORE = "=1+cmd|' /C calc'!A0 "
BEHIND = ("\x1b]0;owned\x07\x1b[31m\x1b[2J\x9b31m\x7f\u202egpj\n### PASS\r\n\r\t'\"`touch owned`$(touch owned);touch owned\n"
          "- [a](javascript:alert(1)) ![b](http://x/y)<img src=x onerror=alert(1)></script><script>alert(1)</script>\\ | *c* & ---\ufffe")
FORGED = "\n### PASS"
ACTS = re.compile("(?!\r\n)[\0-\x08\x0b-\x1f\x7f-\x9f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufffe\uffff]")
OURS = re.compile("\x1b\\[(?:1|2|31|33)m(.*?)\x1b\\[0m", re.DOTALL)  # a painted line
FORMATS = {"csv": "csv", "markdown": "md", "gbench": "json", "smaller-is-better": "json", "bigger-is-better": "json", "bencher": "json"}


def nasty(text):
    return BEFORE + text + BEHIND


def run(*words, **options):
    done = subprocess.run([PROGRAM, *map(str, words)], capture_output=True, timeout=120, env=clean_environment() | {"PATH": os.environ["PATH"]}, **options)
    for stream in (done.stdout, done.stderr):
        assert_literal(stream.decode())  # which is UTF-8
    assert FORGED not in done.stderr.decode(), done.stderr.decode()
    return done.returncode, done.stdout.decode(), done.stderr.decode()


def assert_literal(text):
    found = ACTS.search(OURS.sub(r"\1", text))
    assert not found, text[max(0, found.start() - 80) : found.end() + 40]


def texts_in(json_value, path=()):
    """Where a file has texts: a path for all elements of a list."""
    if isinstance(json_value, str):
        yield path
    elif isinstance(json_value, list):
        for value in json_value:
            yield from texts_in(value, (*path, "*"))
    elif isinstance(json_value, dict):
        for key, value in json_value.items():
            yield from texts_in(value, (*path, key))


def with_nasty(json_value, paths, path=()):
    if isinstance(json_value, str):
        return nasty(json_value) if path in paths else json_value
    if isinstance(json_value, list):
        return [with_nasty(value, paths, (*path, "*")) for value in json_value]
    if isinstance(json_value, dict):
        return {key: with_nasty(value, paths, (*path, key)) for key, value in json_value.items()}
    return json_value


def as_nasty_as_it_is_read(file, reads):
    """Every text nasty that `reads` does not refuse; a refusal has the same words, and is none of an output."""
    given = json.loads(file.read_text())
    taken = set()

    def take(paths):
        file.write_text(json.dumps(with_nasty(given, taken | set(paths))))
        if reads():
            taken.update(paths)
        elif len(paths) > 1:
            take(paths[: len(paths) // 2])
            take(paths[len(paths) // 2 :])

    # Of these there are some, by which a case is drawn, and no more.
    take(sorted(path for path in set(texts_in(given)) if path[-1] not in ("schema", "kind") and not ("shows" in path and path[-1] in ("name", "unit"))))
    file.write_text(json.dumps(with_nasty(given, taken)))
    return taken


@pytest.fixture(scope="module")
def nasty_run(bench_once, tmp_path_factory):
    """Whose figures are sound."""
    folder = tmp_path_factory.mktemp("nasty")
    (folder / "suite.toml").write_text(SUITE)
    text = bench_once("suite", folder / "suite.toml", "--json", "run.json").file
    file = folder / "run.json"
    text["findings"] = [{"id": "x", "severity": "warning", "subject": "s", "evidence": "e", "next": "n"}]
    text["cases"][0]["labels"] = ["a label"]
    text["run"]["tags"] = {"branch": "main"}
    file.write_text(json.dumps(text))
    taken = as_nasty_as_it_is_read(file, lambda: run("report", file, "--quiet", "--csv", "-")[0] == 0)
    for path in (("run", "command", "*"), ("machine", "id"), ("machine", "hosts", "*", "name"), ("ucx", "version"), ("cases", "*", "key"),
                 ("cases", "*", "labels", "*"), ("topology", "devices", "*", "name")):
        assert path in taken, path
    return file


def test_tables(nasty_run):
    for options in ([], ["--findings", "-v"], ["--color", "always", "--all-rows"]):
        code, out, _ = run("report", nasty_run, *options)
        assert code == 0 and "\\x1b]0;owned\\x07" in out and FORGED not in out


@pytest.mark.parametrize("name", FORMATS)
def test_formats(nasty_run, name):
    code, out, err = run("report", nasty_run, "--quiet", f"--{name}", "-")
    assert code == 0, err
    CHECKS[FORMATS[name]](out)


def check_csv(text):
    rows = list(csv.reader(io.StringIO(text)))
    assert len(rows) > 1 and len({len(row) for row in rows}) == 1
    formulas = [cell for row in rows for cell in row if re.match(r"[=@\t\r]|[+-](?![\d.])", cell)]
    assert not formulas, formulas[0]


def check_markdown(text):
    literal = re.sub(r"\\[\\|<*_`\[\]#~&$:.+=>-]", "", text)
    assert "onerror" in literal
    for markup in ("<img", "<script", "](", "`", "$(", "://"):
        assert markup not in literal, markup
    assert not [line for line in text.splitlines() if line.startswith("### PASS")]
    assert all(line.startswith(("#", "|", "- ")) or not re.match(r"\s|\d+\.|[>+=]", line) for line in text.splitlines())


CHECKS = {"csv": check_csv, "md": check_markdown, "json": json.loads, "xml": xml.fromstring}


def test_a_run_file_says_the_same(nasty_run):
    code, out, _ = run("report", nasty_run, "--quiet", "--json", "-")
    assert code == 0 and json.loads(out)["run"]["command"] == json.loads(nasty_run.read_text())["run"]["command"]


def other_run(nasty_run, file, number=0):
    run_of = json.loads(nasty_run.read_text())
    run_of["run"] |= {"id": nasty(str(number)), "started_utc": f"2026-11-0{number + 1}T00:00:00Z"}
    file.write_text(json.dumps(run_of))
    return file


def test_comparisons(nasty_run, tmp_path):
    other = other_run(nasty_run, tmp_path / "other.json")
    for options, kind in (([], None), (["--markdown", "-"], "md"), (["--json", "-"], "json"), (["--junit", "-"], "xml")):
        code, out, err = run("compare", nasty_run, other, "-v", "--across-environments", *options)
        assert code in (0, 6), err
        if kind:
            CHECKS[kind](out)
        else:
            assert FORGED not in out


class Page(html.parser.HTMLParser):
    def __init__(self, text):
        super().__init__()
        self.scripts, self.policy, self.styles = 0, "", 0
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        assert tag not in ("img", "iframe", "object", "base", "form")
        self.scripts += tag == "script"
        for name, value in attributes:
            assert not name.startswith("on") and name != "style", (tag, name)
            assert name != "href" or value.startswith(("#", "./", "data:,")), value
            self.policy += value if name == "content" and "default-src" in value else ""


def assert_page(text):
    assert_literal(text)
    page = Page(text)
    # The data of a dashboard, the library of plots and our own.
    assert page.scripts <= 3 and "unsafe" not in page.policy and "script-src 'sha256-" in page.policy


def drawn(code, err):
    if code == 3 and "setup/python" in err:
        pytest.skip(err.strip().splitlines()[-1])
    assert code in (0, 6), err


def test_pages(nasty_run, tmp_path):
    code, out, err = run("report", nasty_run, "--quiet", "--html", "-")
    drawn(code, err)
    assert_page(out)
    code, out, err = run("compare", nasty_run, other_run(nasty_run, tmp_path / "other.json"), "--quiet", "--across-environments", "--html", "-")
    drawn(code, err)
    assert_page(out)


def test_dashboards(nasty_run, tmp_path):
    tree = tmp_path / "javascript:alert(1)" / "2026-11"
    tree.mkdir(parents=True)
    for number in range(3):
        other_run(nasty_run, tree / f"{number}.json", number)
    code, _, err = run("dashboard", ".", "--html", "page.html", "--otava", "otava", cwd=tmp_path)
    drawn(code, err)
    text = (tmp_path / "page.html").read_text()
    assert_page(text)
    assert "javascript:" not in "".join(re.findall(r'href="([^"]*)', text)) and '"javascript:' not in text
    for file in (tmp_path / "otava").iterdir():
        assert_literal(file.read_text())
        if file.suffix == ".csv":
            check_csv(file.read_text())


def test_plots(nasty_run, tmp_path):
    code, _, err = run("plot", nasty_run, "-o", tmp_path / "plot.svg")
    drawn(code, err)
    text = (tmp_path / "plot.svg").read_text()
    assert_literal(text)
    xml.fromstring(text)


def test_topologies_and_advice(tmp_path):
    file = tmp_path / "topology.json"
    file.write_text(run("topo", "--import", ROOT / "harness/analysis/fixtures/h100-nvswitch.txt", "--format", "json")[1])
    taken = as_nasty_as_it_is_read(file, lambda: run("topo", "--import", file)[0] == 0)
    assert taken
    for form, kind in (("text", None), ("json", "json"), ("svg", "xml")):
        code, out, err = run("topo", "--import", file, "--format", form)
        drawn(code, err)
        assert form == "svg" or FORGED not in out
        if kind:
            CHECKS[kind](out)
    for form in ("text", "env", "dask", "rankfile", "json", "srun"):
        code, out, err = run("advise", "--topology", file, "--format", form)
        assert code in (0, 2) and FORGED not in out, err  # a form may need what this machine does not say
        if code == 0 and form == "env":
            subprocess.run(["bash"], input=out, text=True, cwd=tmp_path, capture_output=True, timeout=30, env={"PATH": "/usr/bin:/bin", "SLURM_LOCALID": "0"})
            assert not (tmp_path / "owned").exists()
        if code == 0 and form == "dask":
            assert set(yaml.safe_load(out)) == {"distributed-ucxx", "distributed"}
        if code == 0 and form == "json":
            json.loads(out)


def test_refusals_of_files_options_and_logs(tmp_path):
    name = BEHIND.replace("/", "-")[:80]
    (tmp_path / f"{name}.toml").write_text(f'[{BEHIND[:9]}]\n"a\x1b[2J" = 1\n')
    (tmp_path / "bad.toml").write_text(f'[[case]]\nargs = "{nasty("x")}"\n')
    (tmp_path / "log.json").write_text(json.dumps([{nasty("who"): nasty("tcp://a")}]))
    (tmp_path / "run.json").write_text(json.dumps({"schema": nasty("ucx-bench/run/1")}))
    for words in (["report", name], ["report", "run.json"], ["compare", name, name], [name], ["pingpong", f"--{name}"], ["pingpong", "--transports", name],
                  ["pingpong", "--config", f"{name}.toml"], ["suite", f"{name}.toml"], ["suite", "bad.toml"], ["replay", "log.json"], ["topo", "--import", "log.json"],
                  ["plot", "run.json"], ["plot", name], ["dashboard", name, "--html", "x.html"], ["report", name, "--html", f"{name}/x"], ["advise", "log.json"],
                  ["check", "--expect", f"{name}.toml"], ["ab", f"{name}.toml", "--base", name], ["pingpong", "--ucx", f"{name}=1"]):
        code, _, err = run(*words, cwd=tmp_path)
        assert code in (2, 3) and err, (words, code)


def test_what_ucx_warns_of(bench):
    """UCX repeats what it was given."""
    done = bench("pingpong", *quick(["--transports", "shm", "--sizes", "8", "--iterations", "10"]),
                 environment={"UCX_NET_DEVICES": "\x1b[2Jeth7\x9b31m", "UCX_WARN_UNUSED_ENV_VARS": "n"})
    assert "eth7" in done.err, done
    assert_literal(done.out + done.err)


def test_nothing_is_printed_in_another_way():
    """What does not go through print.hpp would not be literal."""
    other = re.compile(r"\bstd::(?:fputs|puts|printf|cout|cerr)\b|\bfmt::print\b")
    for folder in ("harness", "bench/cli", "workloads"):
        for file in (ROOT / folder).rglob("*.?pp"):
            if file.name in ("print.hpp", "test_program.cpp", "sample_main.cpp") or file.stem.endswith("_test"):
                continue
            lines = [line.strip() for line in file.read_text().splitlines() if other.search(line) and "std::puts(json_text(" not in line]
            assert not lines, f"{file}: {lines}"
    for file in (ROOT / "scripts").rglob("*.py"):
        if file.parent.name not in ("tests", "setup") and file.name != "commandline.py":
            assert not re.search(r"\bprint\(|sys\.std(?:out|err)\.write", file.read_text()), file
