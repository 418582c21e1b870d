"""Headers that some folders may not include, directly or by way of another one of this repository."""

import re

import pytest
from conftest import ROOT

SOURCES = (".cpp", ".hpp", ".cu", ".cuh")
INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]', re.MULTILINE)
UCX = re.compile(r"uc[pst]/")


def includes(path, seen):
    """Each header by way of `path`, as (file, what it names), of this repository's files all in turn."""
    if path in seen:
        return
    seen.add(path)
    for kind, name in INCLUDE.findall(path.read_text()):
        yield path, name
        if kind == '"' and (ROOT / name).exists():
            yield from includes(ROOT / name, seen)


def leaks(path):
    return [f"{path.relative_to(ROOT)}: {name}, by {by.relative_to(ROOT)}" for by, name in includes(path, set()) if UCX.match(name)]


def sources(folder):
    return [path for path in sorted((ROOT / folder).rglob("*")) if path.suffix in SOURCES]


@pytest.mark.parametrize("folder", ["workloads", "bench/p2p"])
def test_nothing_of_ucx_is_included(folder):
    found = sources(folder)
    assert len(found) > 5
    assert not [leak for path in found for leak in leaks(path)]


@pytest.mark.parametrize(("folder", "others"), [("options", ("plan", "commands")), ("plan", ("commands",))])
def test_the_command_line_goes_from_options_by_plans_to_commands(folder, others):
    found = [path for path in sources(f"bench/cli/{folder}") if not path.stem.endswith("_test")]
    assert len(found) > 20
    assert not [(path, name) for path in found for _, name in includes(path, set())
                if name.startswith(tuple(f"bench/cli/{other}/" for other in others))]


def test_json_of_others_is_read_in_one_place():
    """Which refuses keys that stand twice. The others parse what this program has just written."""
    parses = re.compile(r"\b(?:[Jj]son|Value)::(?:sax_parse|parse|from_cbor|accept)\(")
    found = [path.relative_to(ROOT).as_posix() for folder in ("harness", "bench", "workloads") for path in sources(folder)
             if "_test." not in path.name and "_for_test." not in path.name and parses.search(path.read_text())]
    own = ["bench/cli/options/outputs.cpp", "harness/report/junit.cpp", "harness/report/prometheus.cpp"]
    assert set(found) - set(own) == {"harness/core/cbor.cpp", "harness/core/read_json.cpp", "harness/result/parse.cpp"}


def test_a_leak_is_found(tmp_path, monkeypatch):
    monkeypatch.setitem(globals(), "ROOT", tmp_path)
    (tmp_path / "a.cpp").write_text('#include "b.hpp"\n#include <vector>\n')
    (tmp_path / "b.hpp").write_text('#include "a.cpp"\n# include <ucp/api/ucp.h>\n')
    assert leaks(tmp_path / "a.cpp") == ["a.cpp: ucp/api/ucp.h, by b.hpp"]
