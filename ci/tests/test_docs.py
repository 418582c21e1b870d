"""The documents: links lead somewhere, commands are those of the program, and README stays short."""

import re
import shlex

import pytest
from conftest import ROOT, measuring_commands

yaml = pytest.importorskip("yaml", reason="PyYAML is missing: run ./scripts/setup/python")
PAGES = sorted(page for where in ("*.md", "docs/**/*.md", "results/**/*.md", "ci/**/*.md") for page in ROOT.glob(where))


def prose(page):
    """The text without what is shown as typed or printed."""
    text = re.sub(r"^```.*?^```", "", page.read_text(), flags=re.MULTILINE | re.DOTALL)
    return re.sub(r"`[^`\n]*`", "``", text)


def anchors(page):
    """Of its headings, as GitHub makes them."""
    text = re.sub(r"^```.*?^```", "", page.read_text(), flags=re.MULTILINE | re.DOTALL)
    headings = re.findall(r"^#+ (.*)$", text, re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.strip().lower()).replace(" ", "-") for heading in headings}


def broken_links(page):
    for target in re.findall(r"\]\(([^)\s]+)\)|<img src=\"([^\"]+)\"", prose(page)):
        target = "".join(target)
        if re.match(r"[a-z]+:", target):
            continue
        name, _, anchor = target.partition("#")
        file = (page.parent / name).resolve() if name else page
        if not file.exists() or (anchor and anchor not in anchors(file)):
            yield f"{page.relative_to(ROOT)}: {target}"


def test_links_lead_somewhere():
    assert len(PAGES) > 30
    assert not [broken for page in PAGES for broken in broken_links(page)]


def test_a_broken_link_is_found(tmp_path, monkeypatch):
    monkeypatch.setitem(globals(), "ROOT", tmp_path)
    (tmp_path / "b.md").write_text("# `ab`: it's one\n```\n# no heading\n```\n")
    page = tmp_path / "a.md"
    page.write_text("[1](b.md#ab-its-one) [2](b.md#no-heading) [3](c.md) `[4](d.md)` [5](https://example.org)\n")
    assert list(broken_links(page)) == ["a.md: b.md#no-heading", "a.md: c.md"]


def test_every_page_is_reached_from_the_readme():
    reached, left = set(), [ROOT / "README.md"]
    while left:
        page = left.pop()
        if page in reached or not page.exists():
            continue
        reached.add(page)
        for target in re.findall(r"\]\(([^)\s#]+\.md)", prose(page)):
            left.append((page.parent / target).resolve())
    missing = {page for page in PAGES if page.is_relative_to(ROOT / "docs") or page.parent == ROOT} - reached
    assert not missing


def test_the_readme_is_short():
    assert len((ROOT / "README.md").read_text().split()) <= 900


def documented_commands():
    """Arguments of each `ucx-bench …` in a block or between backticks, and where it stands."""
    for page in PAGES:
        text = page.read_text()
        blocks = re.findall(r"^```[a-z]*\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
        lines = [line for block in blocks for line in block.splitlines()]
        lines += re.findall(r"(?<!`)`(ucx-bench [^`\n]+)`(?!`)", re.sub(r"^```.*?^```", "", text, flags=re.M | re.S))
        for line in lines:
            found = re.match(r"(?:\$ )?(?:srun \$\()?(?:ucx-bench|\./scripts/run) ([^#\n]+)", line)
            if found:
                words = re.sub(r"\) PROGRAM$", "", found[1].strip())
                if not re.search(r"…|COMMAND", words):
                    yield words, page.relative_to(ROOT)


def test_documented_commands_are_understood(bench, tmp_path):
    """The first option that is not known is ours: so all before it are."""
    commands, measuring = dict(documented_commands()), measuring_commands()
    assert len(commands) > 60
    # What replay reads.
    for name in ("LOG", "dask.json"):
        (tmp_path / name).write_bytes((ROOT / "ci/tests/dask-transfers.json").read_bytes())
    assert bench("merge", "-n", 4, "--rows", "1K", "--launches", 1, "--transports", "shm", "--json", "merge.json").code == 0
    for words, page in commands.items():
        arguments = shlex.split(words)
        if len(arguments) == 1:  # it is named, not typed
            assert bench(*arguments, "--help").code == 0, (str(page), words)
            continue
        done = bench(*arguments, "--no-such-option")
        assert done.code == 2 and "unknown option '--no-such-option'" in done.err, (str(page), words, done)
        # Of these --dry-run says what would be measured, so that values are read, too, not names alone.
        if arguments[0] in measuring and "--connect" not in arguments:
            done = bench("--dry-run", *arguments)
            # 3: there is no such hardware here. A network device or so much memory may be missing, too.
            assert done.code in (0, 3) or re.search("available memory|at most .* fit|no network device", done.err), (words, done)


def test_the_citation_is_complete():
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text())
    assert citation["cff-version"] == "1.2.0" and citation["license"] == "BSD-3-Clause"
    assert all(citation[key] for key in ("message", "title", "authors", "version"))
    assert all("name" in author or "family-names" in author for author in citation["authors"])
    project = re.search(r"project\(ucx-bench VERSION (\S+)", (ROOT / "CMakeLists.txt").read_text())
    assert citation["version"] == project[1]
