"""Text from files and command lines, made literal for each kind of output, as harness/core/literal.hpp does it."""

import re
import shlex

# What draws, moves or hides on a terminal: C0 without newlines and tabs, C1, marks of writing direction, invisible
# characters, line separators, halves of characters, what XML does not allow.
ACTS = re.compile("(?!\r\n)[\0-\x08\x0b-\x1f\x7f-\x9f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufffe\uffff\ud800-\udfff]")


def spelt(found):
    code = ord(found.group())
    return f"\\x{code:02x}" if code <= 0xFF else f"\\u{code:04x}"


def for_terminal(text):
    """Newlines and tabs stay."""
    return ACTS.sub(spelt, text)


def on_one_line(text):
    return re.sub("[\r\n\t]", " ", for_terminal(text))


def for_shell(words):
    """A command line."""
    return shlex.join(map(on_one_line, words))


def for_json_text(text):
    """JSON that is complete: its strings are the same, spelt with escapes."""
    return ACTS.sub(lambda found: f"\\u{ord(found.group()):04x}", text)
