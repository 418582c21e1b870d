"""Reads what ucx-bench writes for Jenkins and GitLab."""

import re
import xml.etree.ElementTree

from conftest import only


def junit_cases(file):
    """As Jenkins' and the older Ant's schemas want it: {(class, name): what its element is, or None}."""
    root = xml.etree.ElementTree.parse(file).getroot()
    assert root.tag == "testsuites"
    suite = only(list(root))
    assert suite.tag == "testsuite"
    assert {"name", "package", "id", "hostname", "timestamp", "tests", "failures", "errors", "time"} <= suite.attrib.keys()
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d", suite.get("timestamp"))
    tags = [child.tag for child in suite]
    assert tags == ["properties", *["testcase"] * (len(tags) - 3), "system-out", "system-err"]
    cases = {}
    for case in suite.iter("testcase"):
        assert case.get("classname") and case.get("name") and float(case.get("time")) >= 0
        ends = [end for end in case if end.tag != "system-out"]
        assert len(ends) <= 1 and all(end.tag in ("failure", "error", "skipped") and end.get("type") for end in ends)
        assert all(end.get("message") == end.text for end in ends)
        cases[case.get("classname"), case.get("name")] = ends[0] if ends else None
    assert len(cases) == int(suite.get("tests")) == len(tags) - 3
    for name, tag in (("failures", "failure"), ("errors", "error")):
        assert int(suite.get(name)) == int(root.get(name)) == sum(end is not None and end.tag == tag for end in cases.values())
    return cases
