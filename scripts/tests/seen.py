"""What a reader of a page sees."""

import html.parser
import json
import re

import synthetic_run
from conftest import load
from page import page_of

HASHES = "(?: 'sha256-[A-Za-z0-9+/]{43}=')+"
POLICY = re.compile(f"default-src 'none'; style-src{HASHES}; script-src{HASHES}; img-src data:; base-uri 'none'; form-action 'none'")


class Page(html.parser.HTMLParser):
    """What is seen, by tag, and what would be fetched."""

    def __init__(self, text):
        super().__init__()
        self.open, self.texts, self.fetched, self.links, self.ids = [], [], [], set(), set()
        self.charts, self.policies = [], []
        self.feed(text)
        self.text = " ".join(" ".join(self.texts).split())

    def handle_starttag(self, tag, attributes):
        values = dict(attributes)
        self.ids.add(values.get("id"))
        if tag == "a":
            self.links.add(values["href"])
        elif tag in ("img", "iframe", "object") or "src" in values or tag == "link" and values["href"] != "data:,":
            self.fetched.append(tag)
        if "data-chart" in values:
            self.charts.append(json.loads(values["data-chart"]))
        if tag == "meta":
            self.policies.append(values.get("content", "") if "http-equiv" in values else "")
        if tag not in ("meta", "br", "link", "input"):
            self.open.append(tag)

    def handle_endtag(self, tag):
        while self.open and self.open.pop() != tag:
            pass

    def handle_data(self, data):
        if "style" not in self.open and "script" not in self.open:
            self.texts.append(data)


def made(file):
    seen = Page(page_of(load(file), str(file), file.parent))
    # The browser itself then fetches nothing, whatever stands in the page.
    assert any(POLICY.fullmatch(policy) for policy in seen.policies), seen.policies
    return seen


def synthetic(ranks, tmp_path):
    file = tmp_path / "synthetic.json"
    file.write_text(json.dumps(synthetic_run.run_of(ranks)))
    return load(file)
