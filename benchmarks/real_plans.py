"""Gold plans of public data sets, run and checked: `python -m benchmarks plans`."""

from __future__ import annotations

import asyncio
import sys
from collections import Counter
from collections.abc import Iterable
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import msgspec

from benchmarks import multiturn
from benchmarks.gold_check import Verdict, catalog_of, judge
from benchmarks.records import VARIABLE, Record, data_sets, folder, grouped_tools, read_records
from benchmarks.replay_run import Outcome, Stage, run_recorded
from benchmarks.report import publish, table
from toolpath.catalog.snapshot import Catalog

RECORDED = ("complexfuncbench", "nestful_v2", "taubench", "agentdojo", "apibank", "tooltalk")
REAL = multiturn.DATA_SET


class RunSummary(msgspec.Struct, kw_only=True):
    """One data set's runs."""

    data_set: str
    records: int = 0
    completed: int = 0
    refused: int = 0
    """Not started: the plan has a known defect, and the check says so."""
    expected_failures: int = 0
    """Failed where the recorded value is known not to fit the argument it feeds."""
    steps: int = 0
    equal: int = 0
    fitted: int = 0
    outputs: int = 0
    warnings: dict[str, int] = {}
    faults: list[str] = []


class CheckSummary(msgspec.Struct, kw_only=True):
    """One data set's checks."""

    data_set: str
    records: int = 0
    with_defects: int = 0
    reported: int = 0
    """Records whose every known defect is reported."""
    clean_with_errors: int = 0
    """Records without a defect that get an error."""
    codes: dict[str, int] = {}
    faults: list[str] = []


async def run_data_set(where: Path, data_set: str, *, limit: int | None = None) -> RunSummary:
    """Run the data set's gold plans; at most `limit` of them."""
    summary = RunSummary(data_set=data_set)
    real = data_set == REAL
    async with AsyncExitStack() as stack:
        stages: dict[str, Stage] = {}
        for record in read_records(where, data_set)[:limit]:
            described = grouped_tools(where, record) or []
            summary.records += 1
            if record.defects and _is_refused(record, where):
                summary.refused += 1
                continue
            if real:
                outcome = await multiturn.run_real(record, described)
            elif record.toolset is None:
                outcome = await run_recorded(record, described)
            else:
                if record.toolset not in stages:
                    stages[record.toolset] = await stack.enter_async_context(Stage(described))
                outcome = await stages[record.toolset].run(record)
            _add_outcome(summary, record, outcome)
    return summary


def _is_refused(record: Record, where: Path) -> bool:
    verdict = judge(record, catalog_of(grouped_tools(where, record) or []))
    return any(code.startswith("error ") for code in verdict.codes)


def _add_outcome(summary: RunSummary, record: Record, outcome: Outcome) -> None:
    for code, count in outcome.warnings.items():
        summary.warnings[code] = summary.warnings.get(code, 0) + count
    if outcome.misfits:
        summary.expected_failures += 1
        summary.faults += [f"{record.id}: {fault}" for fault in outcome.faults]
        return
    if record.runtime_defects:
        summary.faults.append(f"{record.id}: completed, though a recorded value does not fit")
    summary.completed += outcome.status == "completed"
    summary.steps += outcome.steps
    summary.equal += outcome.equal
    summary.fitted += outcome.fitted
    summary.outputs += outcome.outputs
    summary.faults += [f"{record.id}: {fault}" for fault in outcome.faults]


def check_data_set(where: Path, data_set: str) -> CheckSummary:
    """Check every gold plan of the data set whose tools are known."""
    summary = CheckSummary(data_set=data_set)
    codes: Counter[str] = Counter()
    catalogs: dict[str, Catalog] = {}
    for record in read_records(where, data_set):
        described = grouped_tools(where, record)
        if described is None or not record.gold_plan:
            continue
        if record.toolset is None:
            catalog = catalog_of(described)
        else:
            catalog = catalogs.get(record.toolset) or catalogs.setdefault(record.toolset, catalog_of(described))
        verdict = judge(record, catalog)
        summary.records += 1
        codes.update(verdict.codes)
        _add_verdict(summary, verdict)
    summary.codes = dict(codes.most_common())
    return summary


def _add_verdict(summary: CheckSummary, verdict: Verdict) -> None:
    if verdict.defects:
        summary.with_defects += 1
        summary.reported += verdict.reported == verdict.defects
    elif verdict.faults:
        summary.clean_with_errors += 1
    summary.faults += [f"{verdict.record}: {fault}" for fault in verdict.faults]


def show_runs(summaries: Iterable[RunSummary]) -> str:
    """The runs as a table."""
    head = ["data set", "plans", "completed", "refused (known defect)", "failed as known", "steps",
            "arguments equal", "equal after a lossless fit", "outputs equal", "warnings", "faults"]  # fmt: skip
    rows = [
        (
            summary.data_set,
            summary.records,
            summary.completed,
            summary.refused,
            summary.expected_failures,
            summary.steps,
            summary.equal if summary.data_set != REAL else None,
            summary.fitted if summary.data_set != REAL else None,
            summary.outputs,
            sum(summary.warnings.values()),
            len(summary.faults),
        )
        for summary in summaries
    ]
    return table(head, rows)


def show_checks(summaries: Iterable[CheckSummary]) -> str:
    """The checks as a table."""
    head = ["data set", "plans", "with defects", "all reported", "right but refused", "findings by code"]
    rows = [
        (
            summary.data_set,
            summary.records,
            summary.with_defects,
            summary.reported,
            summary.clean_with_errors,
            ", ".join(f"{code} {count}" for code, count in summary.codes.items()) or "none",
        )
        for summary in summaries
    ]
    return table(head, rows)


def main() -> int:
    """Run and check everything that is there; 1 when something did not hold."""
    where = folder()
    if where is None:
        print(f"The records are not there: {VARIABLE} has to name their folder.", file=sys.stderr)
        return 2
    runs = [asyncio.run(run_data_set(where, data_set)) for data_set in RECORDED]
    if multiturn.is_available():
        runs.append(asyncio.run(run_data_set(where, REAL)))
    else:
        print(f"{REAL} is left out: bfcl-eval is not installed (`make bench-tools`).", file=sys.stderr)
    checks = [check_data_set(where, data_set) for data_set in data_sets(where)]
    checks = [summary for summary in checks if summary.records]
    text = f"{show_runs(runs)}\n\n{show_checks(checks)}"
    print(text)
    data: dict[str, Any] = {"runs": msgspec.to_builtins(runs), "checks": msgspec.to_builtins(checks)}
    publish("real-plans", text, data)
    faults = [fault for run in runs for fault in run.faults] + [fault for summary in checks for fault in summary.faults]
    for fault in faults[:50]:
        print(fault, file=sys.stderr)
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
