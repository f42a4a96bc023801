"""Where everything must run (``CI=true``) a skipped test is an error: what was not run was not checked.

There property tests also draw the same examples every time, and fewer of them, so that a verdict on a change is about the change and comes soon;
elsewhere they draw new ones.

Files of tests are written to memory where there is enough: thousands are, and each is waited for until the disk has it.
"""

from __future__ import annotations

import gc
import os
import shutil
import tempfile
from pathlib import Path

import pytest
from hypothesis import settings

# No example has a deadline: kernels are compiled in the middle of one.
settings.register_profile("same-every-time", derandomize=True, deadline=None, database=None, max_examples=30)
settings.register_profile("new-every-time", deadline=None)
settings.load_profile("same-every-time" if os.environ.get("CI") == "true" else "new-every-time")

MEMORY = Path("/dev/shm")  #: Where Linux keeps files in memory.
if "TMPDIR" not in os.environ and MEMORY.is_dir() and os.access(MEMORY, os.W_OK) and shutil.disk_usage(MEMORY).free > 4 << 30:
    os.environ["TMPDIR"] = str(MEMORY)
    tempfile.tempdir = None

_skipped: dict[str, str] = {}


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    """Note a skipped test; an expected failure is not one."""
    if report.skipped and not hasattr(report, "wasxfail"):
        _skipped[report.nodeid] = _reason(report)


def pytest_collectreport(report: pytest.CollectReport) -> None:
    """Note a module that skipped itself as a whole."""
    if report.skipped:
        _skipped[report.nodeid] = _reason(report)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Let each of two workers begin with tests that start servers.

    Workers take tests from the ends of each other's lists: servers at an end would be started by both, and waited for at last.
    """
    cluster = [item for item in items if item.path.name == "test_spark.py"]
    screens = [item for item in items if item.path.parent.name == "web"]
    begun = {*cluster, *screens}
    others = [item for item in items if item not in begun]
    middle = max(0, len(items) // 2 - len(cluster))
    items[:] = [*cluster, *others[:middle], *screens, *others[middle:]]


def pytest_collection_finish() -> None:
    """Take what was loaded for all tests out of the garbage collector, which would look through it again and again."""
    gc.collect()
    gc.freeze()


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session: pytest.Session) -> None:
    """Turn a run with skipped tests into a failed one."""
    if _skipped and _everything_must_run():
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Say which tests were skipped, and why."""
    if _skipped and _everything_must_run():
        terminalreporter.section("skipped, which is an error when CI=true")
        for name, reason in sorted(_skipped.items()):
            terminalreporter.line(f"{name}: {reason}")


def _everything_must_run() -> bool:
    return os.environ.get("CI") == "true"


def _reason(report: pytest.TestReport | pytest.CollectReport) -> str:
    return str(report.longrepr[-1]) if isinstance(report.longrepr, tuple) else str(report.longrepr)
