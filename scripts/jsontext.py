"""Reads JSON that somebody else may have written, as ucx-bench does (harness/core/read_json.hpp)."""

import collections
import json
import re

ESCAPED_SURROGATE = re.compile(r"\\u[dD][89a-fA-F]")


class KeyTwice(ValueError):
    """Nobody can know which of the two counts."""

    def __init__(self, key):
        super().__init__(f"the key {key!r} stands twice in one object")


def object_of(members):
    found = dict(members)
    if len(found) < len(members):
        counts = collections.Counter(key for key, _ in members)
        raise KeyTwice(counts.most_common(1)[0][0])
    return found


def parsed(text):
    """Raises ValueError or RecursionError for what is not taken as JSON."""
    found = json.loads(text, object_pairs_hook=object_of)
    if ESCAPED_SURROGATE.search(text):
        json.dumps(found, ensure_ascii=False).encode()  # half a character cannot be written again
    return found
