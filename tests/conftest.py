"""What every test shares: the long tests' switch, and the promise that services are there where they must be."""

from __future__ import annotations

import os
import signal
from collections import Counter
from collections.abc import Callable, Generator

import pytest
from hypothesis import HealthCheck, settings

# A machine that is busy makes no example wrong.
settings.register_profile("any machine", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("any machine")

_SERVICES = ("chromium", "postgres", "rabbitmq")
#: Seconds that a long test has, where it says nothing itself: the limits of its module are those of the quick tests.
_LONG = 3600
_TRIED = "tried "


def pytest_configure() -> None:
    # A shell that starts the tests in the background has them ignore Ctrl-C, and every process that a test starts too.
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    # Compiling the sources is half of what a process costs that a test starts: the first one keeps them for all.
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--soak", action="store_true", help="run the long tests too")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    # Nobody waits in the end for one that has just begun.
    items.sort(key=lambda item: item.get_closest_marker("slow") is None)
    skip = pytest.mark.skip(reason="long; run with --soak")
    for item in items:
        if not item.get_closest_marker("soak"):
            continue
        if not config.getoption("--soak"):
            item.add_marker(skip)
        elif not any(marker.name == "timeout" for marker in item.own_markers):
            item.add_marker(pytest.mark.timeout(_LONG), append=False)


@pytest.fixture
def tried(record_property: Callable[[str, object], None]) -> Callable[[str, int], None]:
    """Says what a long test has tried, and how often: the summary has the sums of all."""

    def say(what: str, count: int) -> None:
        record_property(_TRIED + what, count)

    return say


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    sums: Counter[str] = Counter()
    for outcome in ("passed", "failed"):
        for report in terminalreporter.getreports(outcome):
            for name, count in report.user_properties:
                if name.startswith(_TRIED):
                    sums[name.removeprefix(_TRIED)] += count
    if sums:
        terminalreporter.section("tried in length")
        for what, count in sums.items():
            terminalreporter.write_line(f"{count:>9,} {what}")


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    report = yield
    required = os.environ.get("TOOLPATH_REQUIRE_SERVICES") == "1"
    left_out = item.get_closest_marker("soak") and not item.config.getoption("--soak")
    service = next((name for name in _SERVICES if item.get_closest_marker(name)), None)
    if required and service and not left_out and report.skipped and not hasattr(report, "wasxfail"):
        report.outcome = "failed"
        report.longrepr = f"{service} is required (TOOLPATH_REQUIRE_SERVICES=1), but: {report.longrepr}"
    return report
