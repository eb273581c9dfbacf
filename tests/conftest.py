"""What every test shares: the long tests' switch, and the promise that nothing is left out where all must be there."""

from __future__ import annotations

import gc
import os
import shlex
import signal
from collections import Counter
from collections.abc import Callable, Generator, Sequence
from typing import Any

import pytest
from hypothesis import HealthCheck, is_hypothesis_test, settings
from tests.prepared.prepared import opened, prepared
from tests.soak import scaled

# A machine that is busy makes no example wrong. Each run tries other examples; the long tests try ten times as many.
settings.register_profile("quick", deadline=None, suppress_health_check=[HealthCheck.too_slow], max_examples=40)
settings.register_profile("long", parent=settings.get_profile("quick"), max_examples=scaled(400, least=40))
settings.load_profile("quick")

#: What may be left out where everything else must be there: reasons that no installation takes away.
_LEFT_OUT = ("the superuser may write everywhere", "in memory the journal holds the values themselves", "no IPv6")
#: Seconds that a long test has, where it says nothing itself: the limits of its module are those of the quick tests.
_LONG = 3600
_TRIED = "tried "
_FEW_WORKERS = 2
#: Objects between two searches for garbage: few tests make so many.
_MADE_BETWEEN_SEARCHES = 20_000


def pytest_configure(config: pytest.Config) -> None:
    settings.load_profile("long" if config.getoption("--soak") else "quick")
    # A shell that starts the tests in the background has them ignore Ctrl-C, and every process that a test starts too.
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    # Compiling the sources is half of what a process costs that a test starts: the first one keeps them for all.
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    if not hasattr(config, "workerinput"):
        programs = opened()
        programs.__enter__()
        config.add_cleanup(lambda: programs.__exit__(None, None, None))


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_setupnodes(specs: Sequence[Any]) -> None:
    # Many workers are forked from a process that has imported for all of them; few are there sooner without.
    for spec in specs if len(specs) > _FEW_WORKERS else ():
        spec.python = shlex.join(prepared("worker"))


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    # Ten thousand tests are a million objects that stay: a search for garbage among them takes most of a second.
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.set_threshold(_MADE_BETWEEN_SEARCHES)
        gc.enable()


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--soak", action="store_true", help="run the long tests too")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if config.getoption("--soak"):
        for item in items:
            if is_hypothesis_test(getattr(item, "obj", None)):
                item.add_marker(pytest.mark.soak)
            if item.get_closest_marker("soak") and not any(marker.name == "timeout" for marker in item.own_markers):
                item.add_marker(pytest.mark.timeout(_LONG), append=False)
    else:
        left_out = [item for item in items if item.get_closest_marker("soak")]
        config.hook.pytest_deselected(items=left_out)
        items[:] = [item for item in items if not item.get_closest_marker("soak")]
    # All workers have the same order, wherever they began to read.
    items.sort(key=lambda item: item.path)
    items[:] = _begun_early(items, _workers(config)[1])


def _workers(config: pytest.Config) -> tuple[int, int]:
    """The number of this worker, and how many there are."""
    worker = getattr(config, "workerinput", None)
    return (int(worker["workerid"].removeprefix("gw")), int(worker["workercount"])) if worker else (0, 1)


def _begun_early(items: list[pytest.Item], workers: int) -> list[pytest.Item]:
    """Every third worker begins with tests that wait, and the others fill the time; nobody waits for them in the end.

    Each worker is given as many tests as the others, in one piece of the whole, and takes from others when it has none.
    """
    slow = [item for item in items if item.get_closest_marker("slow")]
    rest = [item for item in items if not item.get_closest_marker("slow")]
    lanes = range(0, workers, 3)
    order: list[pytest.Item] = []
    for number in range(workers):
        size = (len(items) - len(order)) // (workers - number)
        waiting = slow[number // 3 :: len(lanes)] if number in lanes else []
        order += [*waiting, *rest[: max(0, size - len(waiting))]]
        del rest[: max(0, size - len(waiting))]
    return [*order, *rest]


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report(
    collector: pytest.Collector,
) -> Generator[None, pytest.CollectReport, pytest.CollectReport]:
    report = yield
    _required(report)
    if isinstance(collector, pytest.Dir) and collector.path.name == "tests":
        # Each worker begins with other modules: what it has compiled, the others need not compile, too.
        number, count = _workers(collector.config)
        first = number * len(report.result) // count
        report.result = [*report.result[first:], *report.result[:first]]
    return report


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
    if not item.get_closest_marker("data") and not hasattr(report, "wasxfail"):
        _required(report)
    return report


def _required(report: pytest.TestReport | pytest.CollectReport) -> None:
    """A skip is a failure where everything that tests need must be there."""
    if os.environ.get("TOOLPATH_REQUIRE_SERVICES") != "1" or not report.skipped:
        return
    reason = str(report.longrepr[2] if isinstance(report.longrepr, tuple) else report.longrepr)
    if not any(reason.removeprefix("Skipped: ").startswith(known) for known in _LEFT_OUT):
        report.outcome = "failed"
        report.longrepr = f"Nothing may be left out (TOOLPATH_REQUIRE_SERVICES=1), but: {reason}"
