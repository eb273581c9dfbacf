from __future__ import annotations

import pytest

from toolpath.cli.exits import of_error, of_result
from toolpath.errors import (
    ConfigError,
    Finding,
    PlanInvalid,
    PolicyViolationError,
    ReadError,
    RunNotFound,
    StoreError,
    ToolNotFound,
)
from toolpath.model.events import Failure
from toolpath.model.run import RunResult


@pytest.mark.parametrize(
    ("status", "reason", "code"),
    [
        ("completed", "", 0),
        ("completed_with_errors", "", 0),
        ("failed", "", 1),
        ("waiting", "", 4),
        ("paused", "", 4),
        ("cancelled", "", 5),
        ("failed", "budget", 6),
        ("cancelled", "budget", 6),
        ("failed", "policy", 7),
        ("failed", "timeout", 124),
        ("cancelled", "timeout", 124),
    ],
)
def test_the_exit_code_tells_how_the_run_stands(status: str, reason: str, code: int) -> None:
    assert of_result(RunResult(run_id="run_1", status=status, reason=reason)) == code  # type: ignore[arg-type]


def test_a_step_that_policy_refused_makes_the_run_end_with_the_code_of_policy() -> None:
    error = Failure(type="PolicyViolationError", message="no", code="policy")
    assert of_result(RunResult(run_id="run_1", status="failed", error=error)) == 7


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (PlanInvalid([Finding(code="x", severity="error", message="m")]), 3),
        (ReadError("x"), 3),
        (PolicyViolationError("x"), 7),
        (ConfigError("x"), 2),
        (ToolNotFound("x"), 2),
        (RunNotFound("x"), 2),
        (StoreError("x"), 1),
        (KeyboardInterrupt(), 130),
        (ValueError("x"), 1),
    ],
)
def test_an_error_that_kept_a_command_from_its_work_has_its_code(error: BaseException, code: int) -> None:
    assert of_error(error) == code
