"""Secrets: resolved at the last moment, in no journal, redacted wherever a tool brings them back."""

from __future__ import annotations

import base64
import urllib.parse
from typing import Any

import pytest
from engine_cases import identity, opened, run, run_in

from toolpath import PlanInvalid, ToolContext, tool
from toolpath.model import events as ev
from toolpath.model.events import encode_event
from toolpath.model.plan import Cache
from toolpath.notation.composite import read_composite
from toolpath.testing.scripted import scripted

SECRET = "s3cr3t/va lue+ü"
KEY = {"KEY": SECRET}


def call(value: Any = "{{ secrets.KEY }}", **fields: Any) -> dict[str, Any]:
    return {"steps": [{"id": "a", "tool": "t", "inputs": {"key": value}, **fields}], "outputs": "{{ a }}"}


def journal(found: Any) -> str:
    return "\n".join(encode_event(event).decode() for event in found.events) + repr(found.result.as_json())


async def test_the_tool_gets_the_secret_and_the_journal_keeps_the_template() -> None:
    found = await run(call(), t := scripted("t", {"ok": 1}), secrets=KEY)
    assert t.calls == [{"key": SECRET}]
    assert found.result.step("a").inputs == {"key": "{{ secrets.KEY }}"}
    assert SECRET not in journal(found)


async def test_a_secret_may_stand_inside_text() -> None:
    found = await run(call("Bearer {{ secrets.KEY }}"), t := scripted("t", {"ok": 1}), secrets=KEY)
    assert t.calls == [{"key": f"Bearer {SECRET}"}]
    assert SECRET not in journal(found)


FORMS = [
    SECRET,
    base64.b64encode(SECRET.encode()).decode(),
    urllib.parse.quote(SECRET, safe=""),
    urllib.parse.quote_plus(SECRET),
]


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("where", ["output", "nested", "key", "error", "exception"])
async def test_a_secret_that_a_tool_brings_back_is_redacted_in_every_form(form: str, where: str) -> None:
    reply: Any = {
        "output": {"seen": f"<{form}>"},
        "nested": {"deep": [{"x": form}]},
        "key": {form: 1},
        "error": {"error": f"bad key {form}"},
        "exception": ValueError(f"bad key {form}"),
    }[where]
    found = await run(call(), scripted("t", reply), secrets=KEY)
    assert form not in journal(found)
    if where in ("output", "nested", "key"):
        assert "[redacted]" in str(found.outputs)


async def test_another_step_that_reads_the_output_gets_it_redacted() -> None:
    plan = {
        "steps": [
            {"id": "a", "tool": "t", "inputs": {"key": "{{ secrets.KEY }}"}},
            {"id": "b", "tool": "u", "inputs": {"v": "{{ a.key }}"}},
        ]
    }
    found = await run(plan, identity("t"), u := identity("u"), secrets=KEY)
    assert u.calls == [{"v": "[redacted]"}]  # type: ignore[attr-defined]
    assert SECRET not in journal(found)


async def test_a_secret_is_allowed_in_inputs_of_steps_alone() -> None:
    for plan in (
        {"steps": [{"id": "a", "tool": "t"}], "outputs": "{{ secrets.KEY }}"},
        {"steps": [{"id": "a", "tool": "t", "when": "secrets.KEY == 'x'"}]},
        {"steps": [{"id": "l", "loop": {"over": "{{ [secrets.KEY] }}", "steps": [{"id": "a", "tool": "t"}]}}]},
        {"flow": "chain", "steps": [{"id": "a", "tool": "t", "on_success": {"transform": {"x": "{{ secrets.KEY }}"}}}]},
    ):
        with pytest.raises(PlanInvalid, match="secret"):
            await run(plan, identity("t"), secrets=KEY)


async def test_an_unknown_secret_is_refused_before_anything_runs() -> None:
    t = identity("t")
    with pytest.raises(PlanInvalid, match="KEY"):
        await run(call("{{ secrets.KEYY }}"), t, secrets=KEY)
    assert t.calls == []  # type: ignore[attr-defined]


async def test_arguments_that_do_not_fit_do_not_tell_the_secret() -> None:
    schema = {"type": "object", "properties": {"key": {"type": "integer"}}}
    found = await run(call(), scripted("t", {}, input_schema=schema), secrets=KEY)
    assert found.status == "failed"
    assert SECRET not in journal(found)


async def test_a_secret_in_the_inputs_of_a_nested_plan_is_in_no_journal() -> None:
    inner = read_composite(
        {
            "name": "inner",
            "parameters": [{"name": "key", "type": "string", "required": True}],
            "implementation": {
                "type": "composite",
                "composite": {"steps": [{"tool": "t", "inputs": {"key": "{{ state.key }}"}}]},
            },
        }
    )
    plan = {"steps": [{"id": "a", "tool": "inner", "inputs": {"key": "{{ secrets.KEY }}"}}]}
    found = await run(plan, t := scripted("t", {"ok": 1}), inner, secrets=KEY)
    assert t.calls == [{"key": SECRET}]
    assert SECRET not in journal(found)


async def test_what_waits_for_approval_shows_the_template() -> None:
    async with opened(scripted("t", {}), secrets=KEY) as tp:
        found = await run_in(tp, call(requires_approval=True))
    (asked,) = found.of(ev.ApprovalRequested)
    assert asked.inputs == {"key": "{{ secrets.KEY }}"}


async def test_kept_results_of_other_secrets_are_other_results() -> None:
    secrets = {"KEY": "first-value"}
    async with opened(t := scripted("t", {"n": 1}, {"n": 2}, cache=Cache()), secrets=secrets) as tp:
        first = await run_in(tp, call())
        secrets["KEY"] = "second-value"
        second = await run_in(tp, call())
        third = await run_in(tp, call())
    assert [found.outputs["n"] for found in (first, second, third)] == [1, 2, 2]
    assert len(t.calls) == 2


async def test_the_journal_names_the_secrets_that_a_run_uses() -> None:
    found = await run(call(), scripted("t", {}), secrets=KEY)
    started = found.events[0]
    assert isinstance(started, ev.RunStarted)
    assert started.secrets == ("KEY",)


async def test_messages_of_progress_are_redacted() -> None:
    @tool(effect="read")
    async def t(context: ToolContext, key: str) -> int:
        context.progress(1, 1, f"using {key}")
        return 1

    found = await run(call(), t, secrets=KEY)
    (event,) = found.of(ev.StepProgress)
    assert event.message == "using [redacted]"
