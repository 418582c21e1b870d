"""under_ctest.py MODULE,… ARGUMENT…: runs pytest with these arguments. Status 77, by which ctest knows a skipped test,
where a module is missing or every test was skipped."""

import sys
from importlib.util import find_spec

SKIPPED = 77


class AllSkipped:
    @staticmethod
    def pytest_sessionfinish(session, exitstatus):
        told = session.config.pluginmanager.get_plugin("terminalreporter").stats
        if exitstatus == 0 and not told.get("passed"):
            session.exitstatus = SKIPPED


def main():
    # Only looked for: importing matplotlib takes longer than many a test.
    missing = [module for module in sys.argv[1].split(",") if not find_spec(module)]
    if missing:
        print(f"{sys.executable} has no {', '.join(missing)}: run ./scripts/setup/python")
        return SKIPPED
    import pytest

    sys.path[0] = ""  # as python -m pytest has it
    return pytest.main(["-q", "-rs", "-p", "no:cacheprovider", *sys.argv[2:]], plugins=[AllSkipped()])


if __name__ == "__main__":
    sys.exit(main())
