"""Pages in a real browser; skipped, with the reason, where there is none or no library that draws their plots."""

import base64
import hashlib
import json
import shutil
import subprocess
import sys

import pytest

from conftest import ROOT

sys.path.insert(0, str(ROOT / "scripts"))
from pages import library


def browsed(page, folder, *arguments):
    """The page as a browser has it when its scripts have run; they may complain of nothing (the browser itself may)."""
    browser = shutil.which("chromium") or shutil.which("google-chrome")
    if browser is None:
        pytest.skip("neither chromium nor google-chrome is installed: run ./scripts/setup/packages browser")
    if library.parts() is None:
        pytest.skip("libjs-dygraphs is not installed: run ./scripts/setup/packages pages")
    command = [browser, "--headless", "--no-sandbox", "--disable-gpu", "--enable-logging=stderr", *arguments,
               "--virtual-time-budget=5000", f"--user-data-dir={folder / 'profile'}", "--dump-dom", page]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    complaints = [line for line in done.stderr.splitlines() if "CONSOLE" in line and "source: file:" in line]
    assert not complaints, complaints
    return done.stdout


def said_by(page, script, folder):
    """What the script, at the end of the page, leaves there as its whole text: JSON."""
    file = folder / "with-script.html"
    digest = base64.b64encode(hashlib.sha256(script.removeprefix("<script>").removesuffix("</script>").encode()).digest()).decode()
    page = page.replace("; script-src ", f"; script-src 'sha256-{digest}' ", 1)
    file.write_text(page.replace("</body>", script + "</body>"), encoding="utf-8")
    return json.loads(browsed(file.as_uri(), folder).partition("<body")[2].partition(">")[2].partition("</body>")[0])
