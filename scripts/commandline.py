"""How the scripts speak to their caller: one line on stderr, and a status."""

import argparse
import contextlib
import os
import pathlib
import sys
import tempfile

import literal
import runfile


class Parser(argparse.ArgumentParser):
    """Of the script of that name; `ucx-bench COMMAND --help` explains its options."""

    def __init__(self, name, command, **options):
        super().__init__(**options)
        self.name, self.command = name, command

    def error(self, message):
        self.fail(2, f"{message}; see ucx-bench {self.command} --help")

    def fail(self, status, line):
        self.exit(status, f"{self.name}: {literal.on_one_line(str(line))}\n")

    def _print_message(self, message, file=None):
        """All that argparse says, which may have names of files."""
        super()._print_message(literal.for_terminal(message or ""), file)

    @contextlib.contextmanager
    def making(self, output, option):
        """What goes wrong with the input, with writing `output`, which `option` names, or with a module."""
        try:
            yield
        except runfile.NotARun as error:
            self.fail(2, error)
        except OSError as error:
            self.fail(2, f"cannot write '{output}': {error.strerror}; choose another path with {option}")
        except ImportError as error:
            self.fail(3, f"cannot run here: {error}; run ./scripts/setup/python in the source tree or set UCXBENCH_PYTHON")


def say(line):
    print(literal.on_one_line(line), file=sys.stderr)


def write_text(output, text):
    """- is stdout."""
    if output == "-":
        sys.stdout.write(text)
    else:
        write_whole(output, text.encode())


def write_whole(output, content):
    """All of it or, with an OSError, nothing: what is there already stays until then."""
    file = pathlib.Path(output).resolve()
    if file.exists() and not file.is_file():  # a device, a pipe
        file.write_bytes(content)
        return
    handle, draft = tempfile.mkstemp(dir=file.parent, prefix=f".{file.name}.")
    try:
        with open(handle, "wb") as opened:
            opened.write(content)
        mask = os.umask(0)
        os.umask(mask)
        os.chmod(draft, 0o666 & ~mask)
        os.replace(draft, file)
    except OSError:
        pathlib.Path(draft).unlink()
        raise
