"""What people have said of rows: triage.yaml in the folder of the runs.

- id: "*/tcp/8B latency_us"   # case and metric; * stands for anything
  state: accepted                                   # open, accepted, fixed or ignored
  reason: a longer header since #31
  owner: ann
  expiry: 2027-01-31                                # after it the entry counts no more
"""

import dataclasses
import datetime
import fnmatch

FILE = "triage.yaml"
STATES = ("open", "accepted", "fixed", "ignored")
FIELDS = ("id", "state", "reason", "owner", "expiry")


@dataclasses.dataclass
class Entry:
    id: str
    state: str
    reason: str
    owner: str
    expiry: datetime.date
    expired: bool = False
    used: bool = False


def wrong(item):
    """What is wrong with it, and what would be right; empty for nothing."""
    if not isinstance(item, dict):
        return "is no entry: give id, state, reason, owner and expiry"
    if missing := [name for name in FIELDS if not item.get(name)]:
        return f"has no {', '.join(missing)}: an entry has {', '.join(FIELDS)}"
    if unknown := [str(name) for name in item if name not in FIELDS]:
        return f"has {', '.join(unknown)}: an entry has {', '.join(FIELDS)}"
    if item["state"] not in STATES:
        return f"has the state '{item['state']}': one of {', '.join(STATES)}"
    if type(item["expiry"]) is not datetime.date:
        return f"has the expiry '{item['expiry']}': a day such as 2027-01-31"
    return ""


def load(folder, today):
    """Entries, and problems as (file, what is wrong)."""
    import yaml

    try:
        text = (folder / FILE).read_text(encoding="utf-8")
    except FileNotFoundError:
        return [], []
    except (OSError, UnicodeDecodeError) as error:
        return [], [(FILE, f"cannot be read: {error}")]
    try:
        items = yaml.safe_load(text) or []
    except (yaml.YAMLError, ValueError) as error:
        return [], [(FILE, f"invalid YAML: {' '.join(str(error).split())}")]
    if not isinstance(items, list):
        return [], [(FILE, "is not a list of entries: begin each with '- id: …'")]
    entries, problems = [], []
    for number, item in enumerate(items, 1):
        if trouble := wrong(item):
            problems.append((FILE, f"entry {number} {trouble}"))
            continue
        entries.append(Entry(**{name: item[name] for name in FIELDS}, expired=item["expiry"] < today))
    return entries, problems


def entry_of(entries, row_id):
    """The first that is for the row and has not expired."""
    found = None
    for entry in entries:
        if fnmatch.fnmatchcase(row_id, str(entry.id)):
            entry.used = True
            if not entry.expired:
                found = found or entry
    return found
