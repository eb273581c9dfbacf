"""Records of plans, agents and their rounds, folded from a run's journal. Pure."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, Final

from toolpath.model.agent import USUAL_ROUNDS
from toolpath.model.events import AnyEvent, RunStarted
from toolpath.model.plan_record import (
    ActToolInfo,
    AgentExecutionRecord,
    PlanExecutionRecord,
    ThinkActRecord,
    UserInputWaitState,
)
from toolpath.model.run import RunResult, StepResult
from toolpath.model.sub_plan import plan_id
from toolpath.projections.sub_plans import AGENT, parent_path
from toolpath.values import Json, encode

_ROUND: Final = re.compile(r"round\[(\d+)\]")
_ENTRY: Final = re.compile(r"~\d+$")
_ENDED: Final = frozenset({"succeeded", "failed", "timed_out", "skipped", "cancelled"})
_THINK: Final = "/think"
#: Rounds of an agent whose step does not say.


class _Steps:
    """The steps of a run below their parents."""

    def __init__(self, result: RunResult, events: Sequence[AnyEvent], results: Sequence[StepResult]) -> None:
        self.result = result
        self.results = results
        self.below: dict[str, list[StepResult]] = {}
        for step in results:
            # A block that was begun anew lies in the same step.
            self.below.setdefault(_ENTRY.sub("", step.path.rpartition("/")[0]), []).append(step)
        first = events[0] if events else None
        self.started = first if isinstance(first, RunStarted) else None
        self.last_at = events[-1].at if events else 0.0
        self.conversation_id = "" if self.started is None else str(self.started.context.get("conversation_id", ""))
        plans = () if self.started is None else (self.started.plan, *self.started.bodies.values())
        stored: Any = {} if self.started is None else self.started.settings
        self.max_rounds = _max_rounds(plans, usual=int(stored.get("agent_rounds", USUAL_ROUNDS)))
        """Rounds that agents may make, by the ids of their steps."""


def plan_record(
    result: RunResult, events: Sequence[AnyEvent], results: Sequence[StepResult], path: str = ""
) -> PlanExecutionRecord | None:
    """The record of a run, or of the plan that the call at `path` began; None where there is no such plan.

    `results` are those of the run, with the values that are to be told.
    """
    steps = _Steps(result, events, results)
    if path and all(step.path != path for step in results):
        return None
    return _plan(steps, path)


def step_record(
    result: RunResult, events: Sequence[AnyEvent], results: Sequence[StepResult], path: str
) -> AgentExecutionRecord | None:
    """The record of one step; None where there is none."""
    steps = _Steps(result, events, results)
    found = next((step for step in results if step.path == path), None)
    return None if found is None else _agent(steps, found)


def _plan(steps: _Steps, path: str) -> PlanExecutionRecord:
    run_id = steps.result.run_id
    own = steps.below.get(path, [])
    agents = tuple(_agent(steps, step) for step in own)
    done = sum(step.status in _ENDED for step in own)
    if path:
        call = next(step for step in steps.results if step.path == path)
        return PlanExecutionRecord(
            current_plan_id=plan_id(run_id, path),
            root_plan_id=run_id,
            parent_plan_id=_parent(steps, path),
            tool_call_id=path,
            title=call.tool or call.step,
            user_request=_text(call.inputs),
            start_time=_milliseconds(call.started_at),
            end_time=_ended(call),
            current_step_index=done,
            completed=call.status in _ENDED,
            status=call.status,
            summary=_outcome(call),
            agent_execution_sequence=agents,
            model_name=_first_model(agents),
            parent_act_tool_call=_act(steps, call),
            structure_result=_text(call.output),
        )
    result, started = steps.result, steps.started
    plan: Any = started.plan if started is not None else {}
    ended = result.status not in ("pending", "running", "waiting", "paused")
    error = "" if result.error is None else result.error.message
    return PlanExecutionRecord(
        current_plan_id=run_id,
        root_plan_id=run_id,
        title=str(plan.get("name", "")),
        user_request=_text(started.inputs) if started is not None else "",
        start_time=_milliseconds(started.at if started is not None else None),
        end_time=_milliseconds(steps.last_at) if ended else None,
        current_step_index=done,
        completed=ended,
        status=result.status,
        summary=error or (_text(result.outputs) if ended else ""),
        agent_execution_sequence=agents,
        model_name=_first_model(agents),
        user_input_wait_state=waiting_form(result),
        structure_result=_text(result.outputs) if ended else "",
    )


def waiting_form(result: RunResult) -> UserInputWaitState | None:
    """The form that the run waits for; None where it waits for none."""
    for question in result.questions:
        form: Any = getattr(question, "form", None)
        if isinstance(form, dict):
            return UserInputWaitState(
                plan_id=result.run_id,
                title=str(form.get("title", "")),
                form_description=str(form.get("description", "")),
                form_inputs=tuple(form.get("inputs", ())),
                step=str(getattr(question, "path", "")),
            )
    return None


def _agent(steps: _Steps, step: StepResult) -> AgentExecutionRecord:
    thoughts = _rounds(steps, step.path)
    inputs = step.inputs if isinstance(step.inputs, dict) else {}
    request = inputs.get("requirement")
    plans = _plans_below(steps, step, thoughts)
    return AgentExecutionRecord(
        step_id=f"{steps.result.run_id}:{step.path}",
        conversation_id=steps.conversation_id,
        max_steps=steps.max_rounds.get(step.step, 0) if step.tool == AGENT else 0,
        agent_name=step.tool or step.step,
        start_time=_milliseconds(step.started_at),
        end_time=_ended(step),
        current_step=len(thoughts),
        status="FINISHED" if step.status in _ENDED else "IDLE" if step.started_at is None else "RUNNING",
        agent_request=request if isinstance(request, str) else _text(step.inputs),
        result=_text(step.output),
        error_message="" if step.error is None else step.error.message,
        model_name=next((each for each in (_model(thought) for thought in thoughts) if each), ""),
        think_act_steps=tuple(_round(steps, step, number, think) for number, think in thoughts),
        sub_plan_execution_records=plans,
    )


def _rounds(steps: _Steps, path: str) -> list[tuple[int, StepResult]]:
    """The number and the thought of each round of an agent, in their order."""
    found = []
    for head, children in steps.below.items():
        if head.rpartition("/")[0] != path:
            continue
        match = _ROUND.fullmatch(head.rpartition("/")[2])
        think = next((each for each in children if each.path.endswith(_THINK)), None)
        if match is not None and think is not None:
            found.append((int(match[1]), think))
    return sorted(found, key=lambda each: each[0])


def _round(steps: _Steps, step: StepResult, number: int, think: StepResult) -> ThinkActRecord:
    place = f"{step.path}/round[{number}]"
    acts = [each for each in steps.below.get(place, ()) if not each.path.endswith(_THINK)]
    said, told = _text(think.output), _text(think.inputs)
    starts = [act.started_at for act in acts if act.started_at is not None]
    ends = [act.started_at + act.duration for act in acts if act.started_at is not None and act.status in _ENDED]
    error = "" if think.error is None else think.error.message
    return ThinkActRecord(
        think_act_id=f"{steps.result.run_id}:{place}",
        parent_execution_id=f"{steps.result.run_id}:{step.path}",
        think_input=told,
        think_output=said,
        error_message=error,
        input_char_count=len(told),
        output_char_count=len(said),
        think_start_time=_milliseconds(think.started_at),
        think_end_time=_ended(think),
        act_start_time=_milliseconds(min(starts, default=None)),
        act_end_time=_milliseconds(max(ends, default=None)),
        action_needed=bool(acts),
        status=think.status,
        act_tool_info_list=tuple(_act(steps, act) for act in acts),
    )


def _act(steps: _Steps, act: StepResult) -> ActToolInfo:
    began = act.path in steps.below
    return ActToolInfo(
        id=act.path,
        tool_call_id=act.path,
        name=act.tool,
        parameters=_text(act.inputs),
        result=_outcome(act),
        status=act.status,
        sub_plan_id=plan_id(steps.result.run_id, act.path) if began else "",
    )


def _plans_below(
    steps: _Steps, step: StepResult, thoughts: list[tuple[int, StepResult]]
) -> tuple[PlanExecutionRecord, ...]:
    """The plans that the step, or a call of one of its rounds, began."""
    if not thoughts:
        return (_plan(steps, step.path),) if step.path in steps.below else ()
    acts = [act for number, _ in thoughts for act in steps.below.get(f"{step.path}/round[{number}]", ())]
    return tuple(_plan(steps, act.path) for act in acts if act.path in steps.below)


def _parent(steps: _Steps, path: str) -> str:
    head = parent_path(path, {step.path for step in steps.results if step.tool != AGENT})
    return plan_id(steps.result.run_id, head)


def _model(thought: tuple[int, StepResult]) -> str:
    output = thought[1].output
    return str(output.get("model", "")) if isinstance(output, dict) else ""


def _outcome(step: StepResult) -> str:
    return step.error.message if step.error is not None else _text(step.output)


def _text(value: Json) -> str:
    if value is None:
        return ""
    return value if isinstance(value, str) else encode(value).decode()


def _ended(step: StepResult) -> int | None:
    if step.started_at is None or step.status not in _ENDED:
        return None
    return _milliseconds(step.started_at + step.duration)


def _milliseconds(at: float | None) -> int | None:
    return None if at is None else round(at * 1000)


def _first_model(agents: Sequence[AgentExecutionRecord]) -> str:
    return next((each.model_name for each in agents if each.model_name), "")


def _max_rounds(parts: Sequence[Any], *, usual: int) -> dict[str, int]:
    """The rounds that agents in these plans may make; the usual where none are said."""
    found: dict[str, int] = {}
    waiting = list(parts)
    while waiting:
        match waiting.pop():
            case {"id": str(name), "agent": {**agent}}:
                rounds: Any = agent.get("max_rounds")
                found[name] = usual if rounds is None else int(rounds)
            case {**more}:
                waiting.extend(value for value in more.values() if isinstance(value, dict | list))
            case [*more]:
                waiting.extend(more)
            case _:
                pass
    return found
