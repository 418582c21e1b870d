"""The shape of what the index keeps of a run: everything after it relies on that, whoever wrote the index or the run."""

import datetime
import math

VERDICT_LETTERS = "against "  # and a run's id: what `compare` said of it
CONTROL = "control"


MOST_LEVELS = 90  # ucx-bench reads 100


def deeper(value, levels):
    each = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return levels < 0 or any(deeper(of, levels - 1) for of in each)


def need(right, what):
    if not right:
        raise TypeError(f"{what} is not what it should be")


def text(value, what):
    need(isinstance(value, str), what)


def texts(value, what):
    need(isinstance(value, list) and all(isinstance(each, str) for each in value), what)


def number(value, what):
    need(isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value), what)


def time_of(text):
    """Seconds since 1970 of "2026-11-21T09:33:25Z"."""
    return datetime.datetime.fromisoformat(text.replace("Z", "+00:00")).timestamp()


def check_values(values, what):
    if values is not None:
        need(isinstance(values, list) and len(values) == 3 and values[0] is not None, what)
        for value in values:
            if value is not None:
                number(value, what)
                need(value > 0, what)


def check_case(key, case, shown):
    for name in ("state", "reason", "parameters"):
        text(case[name], f"the {name} of {key}")
    for name in ("canary", "pairs"):
        need(isinstance(case[name], bool), f"{name} of {key}")
    need(type(case["shown"]) is int and 0 <= case["shown"] < len(shown), f"what {key} shows")
    for metric, values in case["metrics"].items():
        check_values(values, f"{metric} of {key}")
        need(metric in shown[case["shown"]], f"what {key} shows of {metric}")


def check_record(record):
    """Raises one of runfile.DAMAGE."""
    for name in ("id", "started", "state", "reason", "machine"):
        text(record[name], name)
    for name in ("commit", "other"):
        need(record[name] is None or isinstance(record[name], str), name)
    need(isinstance(record["dirty"], bool), "dirty")
    for name in ("command", "labels", "problems"):
        texts(record[name], name)
    need(isinstance(record["head"], dict) and not deeper(record["head"], MOST_LEVELS), "the head")
    time_of(record["started"])
    for shown in record["shown"]:
        for name, of in shown.items():
            for field in ("title", "unit", "better"):
                text(of[field], f"the {field} of {name}")
            need(of["better"] in ("lower", "higher"), f"what is better of {name}")
    for key, case in record["cases"].items():
        check_case(key, case, record["shown"])


def check_entry(entry):
    """Of the index: the record of a file, or nothing of what is no run, and what was asked of it."""
    need(isinstance(entry, dict) and isinstance(entry["stamp"], list), "an entry")
    if "problem" in entry:
        text(entry["problem"], "the problem")
    if "record" in entry:
        check_record(entry["record"])
    for name, value in entry.items():
        if name.startswith(VERDICT_LETTERS):
            text(value, name)
    if CONTROL in entry:
        for name in ("tests", "below", "alarms", "alpha"):
            number(entry[CONTROL][name], name)
        need(len(entry[CONTROL]) == 4, CONTROL)
