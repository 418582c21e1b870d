"""Spoils files as disks, editors and strangers do; the same for the same seed."""

import copy
import json
import re

ODD = (None, True, -1, 0, 0.5, 1e300, 1e-300, float("nan"), float("inf"), 10**30, 2**63, "", "unknown", "\x1b[31m</script>", "x" * 5000, [], {}, [[]],
       [None], [0.5, "a"], {"": {}}, {"name": 1}, list(range(5000)), "2025-13-45", "[" * 200)
KEY = re.compile(r'"(?:[^"\\]|\\.)*":')


def places_of(value, at=()):
    """Of every value below it."""
    for key, of in value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ():
        yield (*at, key)
        yield from places_of(of, (*at, key))


def part_at(value, place):
    for key in place:
        value = value[key]
    return value


def another_value(value, chance):
    """One to three of its values are others, gone, or there twice."""
    value = copy.deepcopy(value)
    for _ in range(chance.choice((1, 1, 3))):
        places = list(places_of(value))
        if not places:
            break
        *to, key = chance.choice(places)
        part = part_at(value, to)
        how = chance.randrange(6)
        if how == 0:
            del part[key]
        elif how == 1:
            part[key] = copy.deepcopy(part_at(value, chance.choice(places)))
        elif how == 2 and isinstance(part, list):
            part.append(copy.deepcopy(part[key]))
        elif how == 3 and isinstance(part, dict):
            part["other"] = part.pop(key)
        else:
            part[key] = copy.deepcopy(chance.choice(ODD))
    return json.dumps(value).encode()


def another_text(text, chance):
    """Cut short, with a key twice, half a character, another byte, nested without end, or a part of it again."""
    at = chance.randrange(len(text))
    how = chance.randrange(6)
    if how == 0:
        return text[:at].encode()
    if how == 1:
        key = chance.choice(list(KEY.finditer(text)))
        return (text[: key.start()] + key.group() + chance.choice(("0,", "null,", '"x",')) + text[key.start() :]).encode()
    if how == 2:
        return text.replace('"', '"\\ud800', chance.randrange(1, 40)).encode()
    if how == 3:
        return text[:at].encode() + bytes([chance.randrange(256)]) + text[at + 1 :].encode()
    if how == 4:
        return (text[:at] + chance.choice(("[", '{"a":')) * chance.choice((90, 900, 100_000)) + text[at:]).encode()
    return (text[:at] + text[chance.randrange(len(text)) :]).encode()


def spoiled(value, chance):
    """The bytes of a JSON file that was `value`."""
    return another_value(value, chance) if chance.random() < 0.75 else another_text(json.dumps(value), chance)
