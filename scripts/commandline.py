"""How the scripts speak to their caller: one line on stderr, and a status."""

import argparse


class Parser(argparse.ArgumentParser):
    """Of the script of that name; `ucx-bench COMMAND --help` explains its options."""

    def __init__(self, name, command, **options):
        super().__init__(**options)
        self.name, self.command = name, command

    def error(self, message):
        self.fail(2, f"{message}; see ucx-bench {self.command} --help")

    def fail(self, status, line):
        self.exit(status, f"{self.name}: {line}\n")

    def fail_to_write(self, output, error, option):
        self.fail(2, f"cannot write '{output}': {error.strerror}; choose another path with {option}")

    def fail_to_import(self, error):
        self.fail(3, f"cannot run here: {error}; run ./scripts/setup/python in the source tree or set UCXBENCH_PYTHON")
