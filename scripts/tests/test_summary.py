"""The end of scripts/test, and what a file of Python tests tells ctest."""

import subprocess
import sys

import pytest
from conftest import ROOT

CTEST = """<testsuite>
<testcase name="unit" classname="unit" status="run"/>
<testcase name="python.partly" classname="python.partly" status="run"/>
<testcase name="ci.broken" classname="ci.broken" status="fail"><failure message="Failed"/></testcase>
<testcase name="ci.ended" classname="ci.ended" status="fail"><failure message="Timeout"/></testcase>
<testcase name="ci.nowhere" classname="ci.nowhere" status="notrun"><skipped message="SKIP_RETURN_CODE=77"/>
<system-out>there is no python: run setup</system-out></testcase>
</testsuite>"""
CASES = {
    "unit": """<testsuites><testsuite><testcase name="Adds" classname="Sums" status="run"/>
<testcase name="Far" classname="Sums" status="run"><skipped message="a.cpp:3&#x0A;no far host"/></testcase></testsuite></testsuites>""",
    "python.partly": """<testsuites><testsuite><testcase name="test_a" classname="test_partly"/>
<testcase name="test_b" classname="test_partly"><skipped message="no browser"/></testcase></testsuite></testsuites>""",
    "ci.broken": """<testsuites><testsuite><testcase name="test_a" classname="test_broken"/>
<testcase name="test_b" classname="test_broken"><error message="fixture"/></testcase></testsuite></testsuites>""",
    "ci.ended": """<testsuites><testsuite><testcase name="test_a" classname="test_ended"/></testsuite></testsuites>""",
}
FILES = {
    "passed": ("def test_a(): pass", 0),
    "partly_skipped": ("import pytest\ndef test_a(): pass\ndef test_b(): pytest.skip('no')", 0),
    "all_skipped": ("import pytest\ndef test_a(): pytest.skip('no')", 77),
    "failed_beside_skipped": ("import pytest\ndef test_a(): assert 0\ndef test_b(): pytest.skip('no')", 1),
    "no_test": ("", 5),
}


def test_the_summary_counts_every_case(tmp_path):
    (tmp_path / "tests.xml").write_text(CTEST)
    (tmp_path / "cases").mkdir()
    for name, text in CASES.items():
        (tmp_path / "cases" / f"{name}.xml").write_text(text)
    parts = tmp_path / "parts.tsv"
    parts.write_text(f"tests\t61\tfailed\t\t{tmp_path / 'tests.xml'}\tabc\n")
    command = [sys.executable, ROOT / "scripts/setup/summarize.py", parts, "abc"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stderr) == (1, "")
    assert done.stdout.splitlines() == [
        "skipped in tests: Sums.Far: no far host",
        "skipped in tests: test_partly.test_b: no browser",
        "skipped in tests: ci.nowhere: there is no python: run setup",
        "tests    1:01  4 passed, 2 failed, 3 skipped",
        "4 passed, 2 failed, 3 skipped",
    ]


@pytest.mark.parametrize("name", FILES)
def test_a_file_without_a_test_that_ran_is_skipped(tmp_path, name):
    text, status = FILES[name]
    # --junitxml: not into the file that ctest asked this test for.
    (tmp_path / "test_it.py").write_text(text)
    command = [sys.executable, ROOT / "scripts/tests/under_ctest.py", "pytest", "--junitxml=cases.xml", "test_it.py"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=60)
    assert done.returncode == status, done.stdout


def test_a_missing_module_is_named(tmp_path):
    command = [sys.executable, ROOT / "scripts/tests/under_ctest.py", "pytest,no_such_module", "test_it.py"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stdout.split(": ")[0]) == (77, f"{sys.executable} has no no_such_module")
