"""What the tests of dashboard.py share: a folder of invented runs, and pages made of it."""

import html
import json
import re
import shutil
import sys

import pytest

import synthetic_tree
from conftest import ROOT, told

sys.path.insert(0, str(ROOT / "scripts"))
import dashboard

RUNS, SERIES = 24, 32


@pytest.fixture(scope="session")
def made_once(tmp_path_factory):
    """With its index: what is judged of each run is judged once for all tests."""
    folder = tmp_path_factory.mktemp("made") / "runs"
    synthetic_tree.write_tree(folder, RUNS, SERIES)
    made(folder)
    return folder


@pytest.fixture
def runs(made_once, tmp_path):
    """A folder of runs that a test may change."""
    shutil.copytree(made_once, tmp_path / "runs")
    return tmp_path / "runs"


def files_of(folder):
    return sorted(folder.rglob("0*.json"))


def change(file, how):
    run = json.loads(file.read_text())
    how(run)
    file.write_text(json.dumps(run))


def judged(folder, *base):
    """What dashboard.py draws."""
    return told("dashboard", folder, folder.parent / "page.html", *base)


def made(folder, *base):
    """In this process: a new one for each page would take most of the time."""
    page = folder.parent / "page.html"
    page.write_text(dashboard.page_of(judged(folder, *base)), encoding="utf-8")
    return page.read_text(encoding="utf-8")


def data_of(page):
    return json.loads(re.search(r'<script type="application/json" id="data">(.*?)</script>', page).group(1))


def text_of(page):
    """What is read, without the script's data."""
    page = re.sub(r"<(script|style).*?</\1>", "", page, flags=re.DOTALL)
    return " ".join(html.unescape(re.sub(r"<[^>]*>", " ", page)).split())


def left_out(page):
    section = page[page.index('id="left-out"') :]
    rows = re.findall(r"<tr><td>(.*?)</td><td>(.*?)</td></tr>", section)
    return {html.unescape(file): html.unescape(why) for file, why in rows}
