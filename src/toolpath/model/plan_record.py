"""Records of a run as the plan execution service tells of it: its plan, its agents, what they thought and did.

Their fields are that service's. Times are Unix time in milliseconds, as it writes them. Data only.
"""

from __future__ import annotations

import msgspec

from toolpath.values import Json


class ActToolInfo(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """One call that a model asked for, and what came of it."""

    id: str
    """Path of the call."""
    tool_call_id: str
    name: str
    parameters: str = ""
    """As JSON text."""
    result: str = ""
    """As JSON text; of a call that failed, why."""
    status: str = ""
    sub_plan_id: str = ""
    """Plan that the call began; empty: none."""


class ThinkActRecord(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """One round of an agent."""

    think_act_id: str
    """Path of the round."""
    parent_execution_id: str
    think_input: str = ""
    """What the round added to the conversation."""
    think_output: str = ""
    error_message: str = ""
    input_char_count: int = 0
    output_char_count: int = 0
    think_start_time: int | None = None
    think_end_time: int | None = None
    act_start_time: int | None = None
    act_end_time: int | None = None
    action_needed: bool = False
    status: str = ""
    act_tool_info_list: tuple[ActToolInfo, ...] = ()


class AgentExecutionRecord(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """One step of a plan: an agent with its rounds, or a call."""

    step_id: str
    """Id of the plan and path of the step."""
    conversation_id: str = ""
    agent_name: str = ""
    agent_description: str = ""
    start_time: int | None = None
    end_time: int | None = None
    max_steps: int = 0
    current_step: int = 0
    status: str = "IDLE"
    """IDLE, RUNNING or FINISHED."""
    agent_request: str = ""
    result: str = ""
    error_message: str = ""
    model_name: str = ""
    think_act_steps: tuple[ThinkActRecord, ...] = ()
    sub_plan_execution_records: tuple[PlanExecutionRecord, ...] = ()


class UserInputWaitState(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """The form that a plan waits for."""

    plan_id: str
    title: str = ""
    waiting: bool = True
    form_description: str = ""
    form_inputs: tuple[Json, ...] = ()
    step: str = ""
    """Path of the step that asks; several may be open at once."""


class PlanExecutionRecord(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """A plan that runs or ran: a run, or a plan that one of its calls began."""

    current_plan_id: str
    """Id of the run; of a plan inside it with a colon and the path of the call."""
    root_plan_id: str
    parent_plan_id: str | None = None
    tool_call_id: str | None = None
    title: str = ""
    user_request: str = ""
    start_time: int | None = None
    end_time: int | None = None
    current_step_index: int = 0
    completed: bool = False
    status: str = ""
    summary: str = ""
    """What came of it, or why nothing did."""
    agent_execution_sequence: tuple[AgentExecutionRecord, ...] = ()
    user_input_wait_state: UserInputWaitState | None = None
    model_name: str = ""
    parent_act_tool_call: ActToolInfo | None = None
    """The call that began it."""
    structure_result: str = ""
    """Its outputs as JSON text."""
