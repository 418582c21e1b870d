"""Whatever is fetched is what was fetched when its hash was written down."""

import os
import re
import shutil
import subprocess

from conftest import ROOT

SETUP = ROOT / "scripts/setup"
LOCKED = [ROOT / "scripts/requirements.txt", *ROOT.glob("bench/fidelity/*requirements.txt"), *SETUP.glob("*.txt")]
HASHES = re.compile(r"(?: \\?\n? *--hash=sha256:[0-9a-f]{64})+")


def scripts():
    """All that may fetch something."""
    listed = subprocess.run(["git", "ls-files", "scripts", "ci", "bench", "Containerfile"], cwd=ROOT, capture_output=True, text=True, check=True)
    for name in listed.stdout.split():
        file = ROOT / name
        if file.suffix in ("", ".py", ".yml") and file.is_file() and file != ROOT / "ci/tests/test_downloads.py":
            yield file, file.read_text(encoding="utf-8", errors="replace").replace("\\\n", " ")


def test_each_package_has_its_version_and_hashes():
    assert len(LOCKED) == 6
    for file in LOCKED:
        entries = re.split(r"\n(?=[A-Za-z])", re.sub(r"(?m)^#.*\n|^\n", "", file.read_text()).rstrip("\n"))
        for entry in entries:
            head, hashes = re.match(r"([\w.-]+==[\w.]+(?:; [^\\]*?)?)((?: --| \\\n).*)?$", entry, re.DOTALL).groups()
            assert hashes and HASHES.fullmatch(hashes), f"{file.name}: {head}"


def test_pip_is_always_asked_for_hashes():
    asked = 0
    for file, text in scripts():
        for line in text.splitlines():
            if re.search(r"pip[0-9]? (?:install|download) ", line) and not line.lstrip().startswith("#"):
                assert "--require-hashes" in line, f"{file}: {line.strip()}"
                asked += 1
    assert asked >= 4


def test_nothing_else_is_fetched_without_a_check():
    """Debian's packages and sources are signed."""
    for file, text in scripts():
        if re.search(r"\b(?:wget|curl) |urlretrieve|git clone", text):
            assert "sha256sum" in text, file


def test_an_archive_of_another_hash_is_refused(tmp_path):
    archive = tmp_path / "osu.tar.gz"
    archive.write_bytes(b"something else")
    for tool in ("mpicc", "mpicxx", "make"):
        (tmp_path / tool).write_text("#!/bin/sh\n")
        (tmp_path / tool).chmod(0o700)
    place = tmp_path / "tree/scripts/setup"
    place.mkdir(parents=True)
    for name in ("osu", "lock"):
        shutil.copy(SETUP / name, place)
    done = subprocess.run([place / "osu", archive], capture_output=True, text=True, timeout=60,
                          env=os.environ | {"PATH": f"{tmp_path}:{os.environ['PATH']}"})
    assert done.returncode == 3 and "does not have the hash of osu-micro-benchmarks" in done.stderr, done
