"""The end of scripts/test: why tests were skipped, what each part took, and the totals.

usage: summarize.py PARTS COMMIT   (lines: name, seconds, outcome, detail, JUnit file of ctest or nothing, commit)
"""

import pathlib
import sys
import xml.etree.ElementTree as xml

OUTCOMES = ("passed", "failed", "skipped")


def reason(case):
    """GoogleTest says why after its line "…: Skipped"; other tests end with the reason."""
    lines = [line.strip() for line in case.findtext("system-out", "").splitlines()]
    for line, following in zip(lines, lines[1:]):
        if line.endswith(": Skipped") and following:
            return following
    return next((line for line in reversed(lines) if line), "no reason given")


def went_wrong(case):
    return case.get("status") == "fail" or any(case.find(kind) is not None for kind in ("failure", "error"))


def cases_of(path):
    """ctest's tests; in the place of one whose cases are written down, these: of a GoogleTest executable, of pytest."""
    for test in xml.parse(path).iter("testcase"):
        inner = pathlib.Path(path).with_name("cases") / f"{test.get('name')}.xml"
        cases = list(xml.parse(inner).iter("testcase")) if inner.exists() else []
        yield from cases or [test]
        if cases and test.get("status") == "fail" and not any(map(went_wrong, cases)):
            yield test  # it broke down after them


def read_ctest(path):
    """The number of tests by outcome, and the tests skipped by reason."""
    counts, skipped = dict.fromkeys(OUTCOMES, 0), {}
    for case in cases_of(path):
        why_skipped = case.find("skipped")
        if why_skipped is not None and case.get("classname") != case.get("name"):
            counts["skipped"] += 1
            why = (why_skipped.get("message") or why_skipped.text or "").strip().splitlines()
            name = f"{case.get('classname')}.{case.get('name')}"
            skipped.setdefault(why[-1] if why else "no reason given", []).append(name)
        elif went_wrong(case):
            counts["failed"] += 1
        elif case.get("status", "run") == "run":  # pytest has none
            counts["passed"] += 1
        else:
            counts["skipped"] += 1
            skipped.setdefault(reason(case), []).append(case.get("name"))
    return counts, skipped


def main():
    total, rows = dict.fromkeys(OUTCOMES, 0), []
    with open(sys.argv[1], encoding="utf-8") as parts:
        for line in parts:
            name, seconds, outcome, detail, junit, commit = line.rstrip("\n").split("\t")
            counts = {outcome: 1}
            if junit:
                counts, skipped = read_ctest(junit)
                if outcome == "failed" and not counts["failed"]:
                    counts["failed"] = 1  # ctest itself failed
                detail = ", ".join(f"{counts[key]} {key}" for key in OUTCOMES)
                for why, names in skipped.items():
                    more = f" and {len(names) - 1} more" if len(names) > 1 else ""
                    print(f"skipped in {name}: {names[0]}{more}: {why}")
            for key in OUTCOMES:
                total[key] += counts.get(key, 0)
            earlier = f", at {commit[:12]}" if commit != sys.argv[2] else ""
            rows.append((name, int(seconds), (detail or outcome) + earlier))
    width = max(len(row[0]) for row in rows)
    for name, seconds, detail in rows:
        print(f"{name:{width}}  {seconds // 60:3}:{seconds % 60:02}  {detail}")
    print(", ".join(f"{total[key]} {key}" for key in OUTCOMES))
    return 1 if total["failed"] else 0


if __name__ == "__main__":
    sys.exit(main())
