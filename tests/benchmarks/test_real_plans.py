"""Gold plans run and checked: our own cases always, the public data sets where their folder is named."""

from __future__ import annotations

from pathlib import Path

import pytest
from benchmarks.gold_check import catalog_of, judge
from benchmarks.real_plans import REAL, RECORDED, check_data_set, run_data_set
from benchmarks.records import VARIABLE, Record, data_sets, folder, grouped_tools, read_records
from benchmarks.replay_run import Outcome, run_recorded

from benchmarks import multiturn

CASES = Path(__file__).parents[1] / "data" / "gold"

needs_data = pytest.mark.skipif(folder() is None, reason=f"{VARIABLE} does not name the folder of the records")


def case(name: str) -> Record:
    return next(record for record in read_records(CASES, "boats") if record.id == name)


async def run(name: str) -> Outcome:
    return await run_recorded(case(name), grouped_tools(CASES, case(name)) or [])


@pytest.mark.parametrize(
    ("name", "equal", "fitted"), [("boats-plain", 2, 0), ("boats-lists", 1, 1), ("boats-order", 3, 0)]
)
async def test_own_cases_run_with_the_arguments_that_were_recorded(name: str, equal: int, fitted: int) -> None:
    outcome = await run(name)
    assert outcome.faults == []
    assert (outcome.status, outcome.equal, outcome.fitted, outcome.outputs) == (
        "completed", equal, fitted, equal + fitted,
    )  # fmt: skip


async def test_a_recorded_value_that_does_not_fit_fails_the_step_that_reads_it() -> None:
    outcome = await run("boats-misfit")
    assert (outcome.status, outcome.misfits, outcome.faults) == ("failed", ["s2"], [])


def test_every_known_defect_of_our_own_cases_is_reported() -> None:
    record = case("boats-defects")
    verdict = judge(record, catalog_of(grouped_tools(CASES, record) or []))
    assert verdict.faults == []
    assert verdict.reported == verdict.defects == 4


def test_our_own_cases_without_defects_get_no_error() -> None:
    summary = check_data_set(CASES, "boats")
    assert summary.faults == []
    assert (summary.records, summary.with_defects, summary.clean_with_errors) == (5, 1, 0)


@pytest.mark.data
@needs_data
@pytest.mark.parametrize("data_set", RECORDED)
async def test_recorded_plans_run_with_the_arguments_that_were_recorded(data_set: str) -> None:
    where = folder()
    assert where is not None
    summary = await run_data_set(where, data_set)
    assert summary.faults == []
    assert summary.records == summary.completed + summary.refused + summary.expected_failures
    assert summary.equal + summary.fitted == summary.outputs == summary.steps


@pytest.mark.data
@needs_data
@pytest.mark.skipif(not multiturn.is_available(), reason="bfcl-eval is not there; `make bench-tools`")
async def test_plans_on_real_stateful_tools_give_the_recorded_outputs() -> None:
    where = folder()
    assert where is not None
    summary = await run_data_set(where, REAL)
    assert summary.faults == []
    assert summary.outputs == summary.steps


@pytest.mark.data
@needs_data
@pytest.mark.parametrize("data_set", data_sets(folder()) if folder() else [])  # type: ignore[arg-type]
def test_the_checker_reports_known_defects_and_passes_the_rest(data_set: str) -> None:
    where = folder()
    assert where is not None
    summary = check_data_set(where, data_set)
    assert summary.faults == []
    assert summary.reported == summary.with_defects
    assert summary.clean_with_errors == 0
