"""What people have said of rows: triage.yaml in the folder of the runs.

- id: "*/tcp/8B latency_us"   # case and metric; * stands for anything
  state: accepted                                   # open, accepted, fixed or ignored
  reason: a longer header since #31
  owner: ann
  expiry: 2027-01-31                                # after it the entry counts no more
  day: 2026-11-20                                   # may be left out: later losses are not meant

An accepted row is compared with the level that was accepted, from then on; an ignored one is never counted as lost.
"""

import dataclasses
import datetime
import fnmatch

import jsontext

FILE = "triage.yaml"
STATES = ("open", "accepted", "fixed", "ignored")
FIELDS = ("id", "state", "reason", "owner", "expiry")
OPTIONAL = ("day",)
EXCUSES = ("accepted", "ignored")


@dataclasses.dataclass
class Entry:
    id: str
    state: str
    reason: str
    owner: str
    expiry: datetime.date
    day: datetime.date | None = None
    expired: bool = False
    used: bool = False

    def covers(self, run):
        """Whether it was written of what that run shows."""
        return self.day is None or run.started[:10] <= self.day.isoformat()

    def excuses(self, run):
        return self.state in EXCUSES and self.covers(run)


def wrong(item):
    """What is wrong with it, and what would be right; empty for nothing."""
    if not isinstance(item, dict):
        return "is no entry: give id, state, reason, owner and expiry"
    if missing := [name for name in FIELDS if not item.get(name)]:
        return f"has no {', '.join(missing)}: an entry has {', '.join(FIELDS)}"
    if any(isinstance(item[name], (dict, list)) for name in FIELDS):
        return f"has more than a text at one of {', '.join(FIELDS)}"
    if unknown := [str(name) for name in item if name not in FIELDS + OPTIONAL]:
        return f"has {', '.join(unknown)}: an entry has {', '.join(FIELDS)}, and may have {', '.join(OPTIONAL)}"
    if item["state"] not in STATES:
        return f"has the state '{item['state']}': one of {', '.join(STATES)}"
    for name in ("expiry", "day"):
        if type(item.get(name, datetime.date.min)) is not datetime.date:
            return f"has the {name} '{item[name]}': a day such as 2027-01-31"
    return ""


def parsed(text):
    """YAML without what could make it grow as it is read: anchors, and lists without end. Raises ValueError."""
    import yaml

    class Loader(yaml.SafeLoader):
        def compose_node(self, parent, index):
            if self.check_event(yaml.events.AliasEvent):
                raise ValueError("it has an alias (*name): write the value itself")
            return super().compose_node(parent, index)

        def construct_mapping(self, node, deep=False):
            jsontext.object_of([(str(key.value), None) for key, _ in node.value])
            return super().construct_mapping(node, deep)

    try:
        return yaml.load(text, Loader) or []
    except (yaml.YAMLError, RecursionError, TypeError) as error:
        raise ValueError(" ".join(str(error).split()))


def load(folder, today):
    """Entries, and problems as (file, what is wrong)."""
    try:
        text = (folder / FILE).read_text(encoding="utf-8")
    except FileNotFoundError:
        return [], []
    except (OSError, UnicodeDecodeError) as error:
        return [], [(FILE, f"cannot be read: {error}")]
    try:
        items = parsed(text)
    except ValueError as error:
        return [], [(FILE, f"invalid YAML: {error}")]
    if not isinstance(items, list):
        return [], [(FILE, "is not a list of entries: begin each with '- id: …'")]
    entries, problems = [], []
    for number, item in enumerate(items, 1):
        if trouble := wrong(item):
            problems.append((FILE, f"entry {number} {trouble}"))
            continue
        entries.append(Entry(**item, expired=item["expiry"] < today))
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
