"""An approval is of this plan, with these tools and these inputs: what changes afterwards needs a new one."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec
import pytest

from toolpath import RunResult, Tool, Toolpath
from toolpath.errors import PolicyViolationError
from toolpath.values import JsonObject

PLAN: JsonObject = {
    "name": "letter",
    "inputs": {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]},
    "steps": [{"id": "send", "tool": "desk.send", "inputs": {"text": "{{ inputs.text }}"}}],
    "outputs": "{{ send }}",
}
ASKING: JsonObject = {
    "name": "asking",
    "inputs": PLAN["inputs"],
    "steps": [{"id": "send", "tool": "desk.send", "inputs": {"text": "{{ inputs.text }}"}, "requires_approval": True}],
    "outputs": "{{ send }}",
}


class Desk:
    """A tool that sends, as it was and as it is after an update."""

    def __init__(self) -> None:
        self.sent: list[str] = []

    async def send(self, text: str) -> str:
        """Send a letter."""
        self.sent.append(text)
        return text

    async def send_to_all(self, text: str, copies: int = 100) -> str:
        """Send a letter to everybody."""
        self.sent.append(text * copies)
        return text

    def given_to(self, tp: Toolpath, *, changed: bool = False) -> Toolpath:
        tp.add(self.send_to_all if changed else self.send, group="desk", name="send", effect="write")
        return tp


def post(tp: Toolpath, text: str) -> Tool:
    """A tool that is a plan, with a text of its own in it: to its callers it looks the same whatever that is."""
    body = tp.read({"name": "post", "steps": [{"tool": "desk.send", "inputs": {"text": text}}]})
    return Tool(name="post", body=body, input_schema={"type": "object"}, effect="write")


async def refused(tp: Toolpath, runnable: Any, inputs: JsonObject) -> None:
    with pytest.raises(PolicyViolationError) as error:
        await tp.start(runnable, inputs)
    assert list(error.value.missing) == ["approval"]


async def test_what_is_inside_a_composite_is_approved_with_the_plan_that_calls_it() -> None:
    desk = Desk()
    async with desk.given_to(Toolpath()) as tp:
        tp.add(post(tp, "dear ann"))
        stored = await tp.plans.add({"steps": [{"tool": "post"}]}, requires_approval=True)
        approved = await tp.plans.approve(stored.plan_id)
        tp.add(post(tp, "you are fired"))
        await refused(tp, approved, {})
        assert desk.sent == []


async def test_another_plan_under_the_id_of_an_approved_one_is_not_approved() -> None:
    desk = Desk()
    async with desk.given_to(Toolpath()) as tp:
        first = await tp.plans.add(PLAN, requires_approval=True)
        approved = await tp.plans.approve(first.plan_id, {"text": "hello"})
        other = {**PLAN, "steps": [{"id": "send", "tool": "desk.send", "inputs": {"text": "goodbye"}}]}
        second = await tp.plans.add(other, requires_approval=True)
        await refused(tp, msgspec.structs.replace(second, approval=approved.approval), {"text": "hello"})
        changed = await tp.plans.update(first.plan_id, other)
        await refused(tp, changed, {"text": "hello"})
        forged = msgspec.structs.replace(changed, approval=approved.approval)
        await refused(tp, forged, {"text": "hello"})
        assert desk.sent == []


async def after_a_restart(
    journal: Path, desk: Desk, run_id: str, *, changed: bool, accept: bool = False
) -> tuple[RunResult, list[str]]:
    """What the run comes to when the next process is told that the step is approved, and what was asked since."""
    async with desk.given_to(Toolpath(journal), changed=changed) as tp:
        before = len(await tp.events(run_id))
        if accept:
            run = await tp.resume(run_id, accept_tool=True)
        else:
            run = await tp.approve(run_id, "send")
        result = await run.result()
        return result, [type(event).__name__ for event in (await tp.events(run_id))[before:]]


async def test_a_step_whose_tool_changed_after_it_was_shown_is_not_called_before_it_is_shown_again(
    tmp_path: Path,
) -> None:
    desk, journal = Desk(), tmp_path / "runs.db"
    async with desk.given_to(Toolpath(journal)) as tp:
        run = await tp.start(ASKING, {"text": "hello"})
        assert (await run.result()).status == "waiting"
    held, _ = await after_a_restart(journal, desk, run.run_id, changed=True)
    assert held.status == "waiting"
    assert desk.sent == []
    asked, since = await after_a_restart(journal, desk, run.run_id, changed=True, accept=True)
    assert asked.status == "waiting"
    assert "ApprovalRequested" in since
    assert desk.sent == []
    done, _ = await after_a_restart(journal, desk, run.run_id, changed=True)
    assert done.status == "completed"
    assert desk.sent == ["hello" * 100]


async def test_a_step_whose_tool_is_as_it_was_goes_on_once_approved(tmp_path: Path) -> None:
    desk, journal = Desk(), tmp_path / "runs.db"
    async with desk.given_to(Toolpath(journal)) as tp:
        run = await tp.start(ASKING, {"text": "hello"})
        await run.result()
    done, _ = await after_a_restart(journal, desk, run.run_id, changed=False)
    assert done.status == "completed"
    assert desk.sent == ["hello"]
