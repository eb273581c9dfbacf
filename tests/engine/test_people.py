"""People in the loop: forms, approvals, their deadlines; a run that waits holds nothing."""

from __future__ import annotations

from typing import Any

import pytest
from engine_cases import after, identity, opened, ran

from toolpath import ToolContext, Toolpath
from toolpath.errors import RunConflict, SchemaError
from toolpath.model import events as ev
from toolpath.model.tool import Requires
from toolpath.notation.composite import read_composite
from toolpath.testing.clock import FakeClock
from toolpath.testing.scripted import scripted

FORM = {
    "title": "Who?",
    "inputs": [
        {"name": "name", "label": "Your name"},
        {"name": "age", "type": "integer"},
        {"name": "size", "type": "number", "required": False},
        {"name": "ok", "type": "checkbox", "default": False},
        {"name": "colour", "type": "select", "options": ["red", "blue"], "required": False},
        {"name": "mail", "type": "email", "required": False},
    ],
}
ASKING = {
    "steps": [
        {"id": "form", "ask": FORM},
        {"id": "a", "tool": "t", "inputs": {"name": "{{ form.name }}", "age": "{{ form.age }}"}},
    ]
}


async def started(tp: Toolpath, plan: dict[str, Any], inputs: dict[str, Any] | None = None) -> str:
    result = await tp.run(tp.read(plan), inputs)
    assert result.status == "waiting"
    return result.run_id


async def test_a_form_waits_and_its_answer_is_typed_and_goes_on() -> None:
    async with opened(t := identity("t")) as tp:
        run_id = await started(tp, ASKING)
        assert [info.status for info in await tp.runs()] == ["waiting"]
        run_ = await tp.answer(run_id, "form", {"name": "Ann", "age": "42", "ok": "true"}, by="ann")
        found = await ran(tp, await run_.result())
    assert found.status == "completed"
    assert t.calls == [{"name": "Ann", "age": 42}]  # type: ignore[attr-defined]
    assert found.result.step("form").output == {
        "name": "Ann",
        "age": 42,
        "size": None,
        "ok": True,
        "colour": None,
        "mail": None,
    }
    (received,) = found.of(ev.InputReceived)
    assert received.by == "ann"


async def test_what_waits_is_told_with_its_form() -> None:
    async with opened(identity("t")) as tp:
        result = await tp.run(tp.read(ASKING))
    (question,) = result.questions
    assert isinstance(question, ev.InputRequested)
    assert question.path == "form"
    assert question.form["title"] == "Who?"
    assert [field["name"] for field in question.form["inputs"]] == ["name", "age", "size", "ok", "colour", "mail"]


@pytest.mark.parametrize(
    "values",
    [
        {},
        {"name": "x"},
        {"name": "", "age": 3},
        {"name": "x", "age": "old"},
        {"name": "x", "age": 3.5},
        {"name": "x", "age": 3, "colour": "green"},
        {"name": "x", "age": 3, "surplus": 1},
        {"name": "x", "age": 3, "mail": "no mail"},
    ],
)
async def test_answers_that_do_not_fit_are_refused_and_the_form_still_waits(values: dict[str, Any]) -> None:
    async with opened(identity("t")) as tp:
        run_id = await started(tp, ASKING)
        with pytest.raises(SchemaError):
            await tp.answer(run_id, "form", values)
        assert (await tp.result(run_id)).status == "waiting"
        run_ = await tp.answer(run_id, "form", {"name": "x", "age": 3})
        assert (await run_.result()).status == "completed"


async def test_a_form_is_read_by_templates_before_it_is_shown() -> None:
    plan = {
        "inputs": {"type": "object", "properties": {"who": {}}},
        "steps": [{"id": "f", "ask": {"title": "Hello {{ inputs.who }}", "inputs": [{"name": "n"}]}}],
    }
    async with opened() as tp:
        result = await tp.run(tp.read(plan), {"who": "Ann"})
    assert result.questions[0].form["title"] == "Hello Ann"


async def test_the_deadline_of_a_form_is_in_the_journal_and_its_end_is_timed_out() -> None:
    clock = FakeClock()
    plan = {
        "flow": "chain",
        "steps": [
            {"id": "form", "ask": {**FORM, "timeout": "300s"}, "on_failure": {"action": "continue"}},
            {"id": "a", "tool": "t"},
        ],
    }
    async with opened(identity("t"), clock=clock) as tp:
        run_id = await started(tp, plan)
        (asked,) = [event for event in await tp.events(run_id) if isinstance(event, ev.InputRequested)]
        assert asked.deadline == clock.start + 300
        await clock.advance(301)
        with pytest.raises(RunConflict):
            await tp.answer(run_id, "form", {"name": "x", "age": 1})
        run_ = await tp.resume(run_id) if (await tp.store.get_run(run_id)).status == "waiting" else None
        found = await ran(tp, await (run_.result() if run_ else tp.result(run_id)))
    assert found.statuses() == {"form": "timed_out", "a": "succeeded"}
    assert found.status == "completed_with_errors"


async def test_a_deadline_passes_by_itself_while_the_process_lives() -> None:
    """Nobody has to ask: the run of a form that nobody answered ends at its deadline."""
    clock = FakeClock()
    plan = {"steps": [{"id": "form", "ask": {**FORM, "timeout": 300}}]}
    async with opened(clock=clock) as tp:
        run_id = await started(tp, plan)
        await clock.advance(301)
        await clock.settle()
        found = await ran(tp, await tp.result(run_id))
    assert (found.status, found.statuses()) == ("failed", {"form": "timed_out"})


class SetBack(FakeClock):
    """A clock whose time of day is set back while its seconds go on."""

    behind = 0.0

    def time(self) -> float:
        return super().time() - self.behind


@pytest.mark.parametrize("asks", ["a step", "a tool"])
@pytest.mark.parametrize("beside", [False, True])
async def test_a_deadline_passes_though_the_time_of_day_was_set_back(asks: str, beside: bool) -> None:
    async def asker(context: ToolContext) -> None:
        await context.ask(FORM, timeout=300)

    async def long() -> None:
        await clock.sleep(1_000 if beside else 0)

    clock = SetBack()
    form = {"ask": {**FORM, "timeout": 300}} if asks == "a step" else {"tool": "asker", "timeout": 5_000}
    plan = {"steps": [{"id": "form", **form}, {"id": "long", "tool": "long", "timeout": 5_000}]}
    async with opened(clock=clock) as tp:
        tp.add(asker, long)
        run = await tp.start(tp.read(plan))
        await clock.settle()
        clock.behind = 5.0
        await clock.advance(310)
        (found,) = [one for one in (await tp.info(run.id)).results if one.step == "form"]
    assert found.status in ("timed_out", "failed")


async def test_while_a_form_waits_everything_else_goes_on() -> None:
    clock = FakeClock(auto=True)
    plan = {
        "concurrency": 1,
        "steps": [
            {"id": "form", "ask": {"title": "?", "inputs": [{"name": "n"}]}},
            {"id": "a", "tool": "slow"},
            {"id": "b", "tool": "slow"},
            {"id": "c", "tool": "t", "inputs": {"n": "{{ form.n }}"}},
        ],
    }
    async with opened(identity("t"), scripted("slow", then=lambda _: after(clock, 2, {})), clock=clock) as tp:
        result = await tp.run(tp.read(plan))
        assert (result.status, [result.step(name).status for name in "ab"]) == ("waiting", ["succeeded"] * 2)
        found = await ran(tp, await (await tp.answer(result.run_id, "form", {"n": "x"})).result())
    assert found.outputs["c"] == {"n": "x"}


async def test_several_forms_wait_at_once_and_each_is_answered_by_its_name() -> None:
    plan = {"steps": [{"id": name, "ask": {"title": name, "inputs": [{"name": "n"}]}} for name in ("one", "two")]}
    async with opened() as tp:
        run_id = await started(tp, plan)
        with pytest.raises(RunConflict, match="one"):
            await tp.answer(run_id, "", {"n": "x"})
        with pytest.raises(RunConflict, match="tree"):
            await tp.answer(run_id, "tree", {"n": "x"})
        assert (await (await tp.answer(run_id, "two", {"n": "2"})).result()).status == "waiting"
        found = await ran(tp, await (await tp.answer(run_id, "one", {"n": "1"})).result())
    assert found.outputs == {"one": {"n": "1"}, "two": {"n": "2"}}


async def test_a_form_inside_a_loop_is_answered_item_by_item() -> None:
    plan = {
        "steps": [
            {
                "id": "each",
                "loop": {
                    "over": ["a", "b"],
                    "concurrency": 2,
                    "flow": "chain",
                    "steps": [{"id": "f", "ask": {"title": "{{ item }}", "inputs": [{"name": "n"}]}}],
                },
            }
        ],
        "outputs": "{{ each }}",
    }
    async with opened() as tp:
        run_id = await started(tp, plan)
        assert (await (await tp.answer(run_id, "each[1]/f", {"n": "2"})).result()).status == "waiting"
        found = await ran(tp, await (await tp.answer(run_id, "each[0]/f", {"n": "1"})).result())
    assert found.outputs == [{"n": "1"}, {"n": "2"}]


async def test_a_person_may_decline_to_answer() -> None:
    async with opened(identity("t")) as tp:
        run_id = await started(tp, ASKING)
        found = await ran(tp, await (await tp.answer(run_id, "form", declined=True)).result())
    assert (found.status, found.statuses()["form"]) == ("failed", "failed")


APPROVING = {
    "steps": [
        {"id": "a", "tool": "t", "inputs": {"v": 1}},
        {"id": "b", "tool": "write", "inputs": {"v": "{{ a.v }}"}, "requires_approval": True},
        {"id": "c", "tool": "t", "depends_on": "b"},
    ]
}


def tools() -> tuple[Any, Any]:
    return identity("t"), identity("write", effect="write")


async def test_an_approval_is_asked_with_the_inputs_and_nothing_is_called_before() -> None:
    t, write = tools()
    async with opened(t, write) as tp:
        result = await tp.run(tp.read(APPROVING))
        assert write.calls == []
        (question,) = result.questions
        assert isinstance(question, ev.ApprovalRequested)
        assert (question.path, question.tool, question.inputs) == ("b", "write", {"v": 1})
        found = await ran(tp, await (await tp.approve(result.run_id, "b", by="boss", comment="fine")).result())
    assert found.status == "completed"
    assert write.calls == [{"v": 1}]
    (decided,) = found.of(ev.ApprovalDecided)
    assert (decided.approved, decided.by, decided.comment) == (True, "boss", "fine")
    assert decided.digest == question.digest


async def test_a_denied_approval_has_failed_without_retry_or_fallback() -> None:
    t, write = tools()
    plan = {"steps": [{**APPROVING["steps"][1], "inputs": {}, "retry": {"max_retries": 3}, "fallback": {"tool": "t"}}]}
    async with opened(t, write) as tp:
        run_id = await started(tp, plan)
        found = await ran(tp, await (await tp.deny(run_id, "b", by="boss", comment="too much")).result())
    assert found.status == "failed"
    assert write.calls == t.calls == []
    error = found.result.error
    assert error is not None
    assert error.code == "denied"
    assert "boss" in error.message
    assert "too much" in error.message


async def test_a_denial_may_be_continued() -> None:
    t, write = tools()
    plan = {
        "steps": [
            {**APPROVING["steps"][1], "inputs": {}, "on_failure": {"action": "continue"}},
            {"id": "c", "tool": "t", "depends_on": "b"},
        ]
    }
    async with opened(t, write) as tp:
        run_id = await started(tp, plan)
        found = await ran(tp, await (await tp.deny(run_id, "b")).result())
    assert found.statuses() == {"b": "failed", "c": "succeeded"}


@pytest.mark.parametrize(("amount", "asked"), [(5, False), (500, True)])
async def test_an_approval_may_depend_on_an_expression(amount: int, asked: bool) -> None:
    plan = {
        "inputs": {"type": "object", "properties": {"amount": {"type": "integer"}}},
        "steps": [
            {
                "id": "b",
                "tool": "write",
                "inputs": {"v": "{{ inputs.amount }}"},
                "requires_approval": "inputs.amount > 100",
            }
        ],
    }
    async with opened(*tools()) as tp:
        result = await tp.run(tp.read(plan), {"amount": amount})
    assert result.status == ("waiting" if asked else "completed")


async def test_a_tool_may_always_ask_for_approval() -> None:
    async with opened(w := identity("w", effect="destructive", requires=Requires(approval=True))) as tp:
        run_id = await started(tp, {"steps": [{"id": "b", "tool": "w"}]})
        assert w.calls == []  # type: ignore[attr-defined]
        found = await ran(tp, await (await tp.approve(run_id)).result())
    assert found.status == "completed"


async def test_an_approval_covers_retries_but_not_fallbacks() -> None:
    w = scripted("w", ValueError("1"), ValueError("2"), effect="write", requires=Requires(approval=True))
    other = scripted("other", {"ok": 1}, effect="write", requires=Requires(approval=True))
    plan = {
        "steps": [
            {
                "id": "b",
                "tool": "w",
                "requires_approval": True,
                "retry": {"max_retries": 1, "backoff": "none"},
                "fallback": {"tool": "other"},
            }
        ]
    }
    async with opened(w, other) as tp:
        run_id = await started(tp, plan)
        second = await (await tp.approve(run_id, "b")).result()
        assert (len(w.calls), len(other.calls)) == (2, 0)
        assert second.status == "waiting"
        assert second.questions[0].tool == "other"
        found = await ran(tp, await (await tp.approve(run_id, "b")).result())
    assert found.status == "completed"


async def test_every_visit_of_a_step_asks_for_its_own_approval() -> None:
    plan = {
        "flow": "chain",
        "steps": [
            {"id": "a", "tool": "count", "requires_approval": True},
            {"id": "b", "tool": "t", "when": "steps.a.output.n < 2", "on_success": {"next": "a"}},
        ],
    }
    async with opened(scripted("count", {"n": 1}, {"n": 2}), identity("t")) as tp:
        run_id = await started(tp, plan)
        again = await (await tp.approve(run_id, "a")).result()
        assert (again.status, again.questions[0].path) == ("waiting", "a#2")
        found = await ran(tp, await (await tp.approve(run_id, "a#2")).result())
    assert found.status == "completed"


async def test_approving_what_does_not_wait_or_has_ended_is_refused() -> None:
    async with opened(*tools()) as tp:
        run_id = await started(tp, APPROVING)
        with pytest.raises(RunConflict):
            await tp.approve(run_id, "a")
        with pytest.raises(RunConflict):
            await tp.answer(run_id, "b", {})
        await (await tp.approve(run_id, "b")).result()
        with pytest.raises(RunConflict, match="ended"):
            await tp.approve(run_id, "b")


async def test_an_approval_inside_a_nested_plan_is_asked_by_its_path() -> None:
    inner = read_composite(
        {
            "name": "inner",
            "parameters": [],
            "implementation": {
                "type": "composite",
                "composite": {"steps": [{"id": "w", "tool": "write", "requires_approval": True}]},
            },
        }
    )
    async with opened(*tools(), inner) as tp:
        run_id = await started(tp, {"steps": [{"id": "a", "tool": "inner"}]})
        found = await ran(tp, await (await tp.approve(run_id, "a/w")).result())
    assert found.status == "completed"


async def test_a_waiting_run_may_be_cancelled() -> None:
    async with opened(identity("t")) as tp:
        run_id = await started(tp, ASKING)
        found = await ran(tp, await (await tp.cancel(run_id, reason="late")).result())
    assert (found.status, found.result.reason) == ("cancelled", "late")
    assert found.statuses()["form"] == "cancelled"


async def test_a_failure_elsewhere_under_stop_does_not_leave_a_form_waiting_for_ever() -> None:
    clock = FakeClock(auto=True)
    plan = {"steps": [{"id": "form", "ask": {"title": "?", "inputs": [{"name": "n"}]}}, {"id": "a", "tool": "bad"}]}
    async with opened(scripted("bad", then=lambda _: after(clock, 2, ValueError("no"))), clock=clock) as tp:
        found = await ran(tp, await tp.run(tp.read(plan)))
    assert found.status in ("failed", "waiting")
    if found.status == "failed":
        assert found.statuses()["form"] in ("skipped", "cancelled")


async def test_two_fields_of_the_same_label_are_told_apart_by_their_names() -> None:
    form = {"title": "?", "inputs": [{"name": "a", "label": "Name"}, {"name": "b", "label": "Name"}]}
    async with opened() as tp:
        run_id = await started(tp, {"steps": [{"id": "f", "ask": form}]})
        found = await ran(tp, await (await tp.answer(run_id, "f", {"a": "1", "b": "2"})).result())
    assert found.outputs == {"f": {"a": "1", "b": "2"}}
