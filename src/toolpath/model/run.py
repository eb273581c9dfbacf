"""A run: who asked for it, how it stands, and its outcome. Data only; the journal's events are in `events.py`."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterable, Mapping
from datetime import UTC, datetime
from typing import Annotated, Any, Literal

import msgspec

from toolpath.errors import StepNotFound, closest
from toolpath.model.events import Failure
from toolpath.model.plan import Budget
from toolpath.model.sub_plan import SubPlan
from toolpath.values import Json, JsonObject, made_ready

StepStatus = Literal[
    "pending", "ready", "running", "waiting", "succeeded", "failed", "timed_out", "skipped", "cancelled", "unknown"
]
RunStatus = Literal[
    "pending", "running", "waiting", "paused", "completed", "completed_with_errors", "failed", "cancelled"
]
#: The least and the greatest that orders the runs of one tenant that wait for a worker; higher ones go first.
LEAST_PRIORITY = -5
MOST_PRIORITY = 4
Priority = Annotated[int, msgspec.Meta(ge=LEAST_PRIORITY, le=MOST_PRIORITY)]
ENDED_RUN: frozenset[str] = frozenset({"completed", "completed_with_errors", "failed", "cancelled"})


class RunContext:
    """Context of a run: for whom it is, and how much it may spend.

    Also keeps what a chain of tools plans to do, as the composition system's context does. `case_id` may be given as
    `casefile_id`.
    """

    def __init__(  # noqa: PLR0913  # a record
        self,
        user_id: str = "",
        session_id: str = "",
        case_id: str | None = None,
        *,
        tenant: str = "",
        permissions: tuple[str, ...] | list[str] | frozenset[str] = (),
        deadline: float | None = None,
        budget: Budget | None = None,
        conversation_id: str = "",
        conversation: Iterable[JsonObject] = (),
        metadata: Mapping[str, Json] | None = None,
        casefile_id: str | None = None,
        case_state: str = "active",
    ) -> None:
        self.user_id = user_id
        self.session_id = session_id
        self.case_id = case_id if case_id is not None else casefile_id
        self.case_state = case_state
        self.tenant = tenant
        self.permissions = frozenset(permissions)
        self.deadline = deadline
        """Unix time after which the run is stopped."""
        self.budget = budget
        self.conversation_id = conversation_id
        self.conversation: tuple[JsonObject, ...] = tuple(conversation)
        """The messages before the run, oldest first, as tools see them: `{"role": …, "text": …}`."""
        self.metadata: JsonObject = dict(metadata or {})
        self.next_planned_tools: list[JsonObject] = []
        self.previous_tools: list[JsonObject] = []
        self.active_chains: dict[str, JsonObject] = {}
        self.door: Any = None
        """The Toolpath that this context is bound to, if any."""

    def limited_to(self, permissions: Iterable[str]) -> RunContext:
        """The same context with those of its permissions that are among these; a `*` stands for all."""
        others = frozenset(permissions)
        both = self.permissions & others
        if "*" in self.permissions:
            both |= others
        if "*" in others:
            both |= self.permissions
        return self.with_permissions(both)

    def with_permissions(self, permissions: Iterable[str]) -> RunContext:
        """The same context with these permissions in place of its own."""
        return RunContext.from_json({**self.as_json(), "permissions": sorted(permissions)})

    @property
    def casefile_id(self) -> str | None:
        """The composition system's name for `case_id`."""
        return self.case_id

    def plan_tool_chain(
        self, tools: list[JsonObject], reasoning: str | None = None, chain_name: str | None = None
    ) -> str:
        """Record that these tools (`{"tool": …, "inputs": …}`) are to be called next; returns the chain's id.

        A run of a chain of that name takes the id for its own. Planned anew, a chain's earlier tools are no longer
        next; those of other chains are.
        """
        chain_id = str(uuid.uuid4())
        planned_at = datetime.now(UTC).isoformat()
        planned = [{**tool, "chain_id": chain_id, "planned_at": planned_at} for tool in tools]
        before = self.active_chains.get(chain_name or chain_id)
        if before is not None:
            self.no_longer_next(before["chain_id"])
        self.next_planned_tools += planned
        self.active_chains[chain_name or chain_id] = {
            "chain_id": chain_id,
            "chain_name": chain_name,
            "tools": list(planned),
            "reasoning": reasoning,
            "status": "planned",
        }
        return chain_id

    def no_longer_next(self, chain_id: str) -> None:
        """Take the tools of this chain from those that are planned."""
        self.next_planned_tools = [tool for tool in self.next_planned_tools if tool.get("chain_id") != chain_id]

    def as_json(self) -> JsonObject:
        """The record as the journal keeps it."""
        full: JsonObject = {
            "user_id": self.user_id,
            "session_id": self.session_id,
            "case_id": self.case_id,
            "tenant": self.tenant,
            "permissions": sorted(self.permissions),
            "deadline": self.deadline,
            "budget": msgspec.to_builtins(self.budget) if self.budget else None,
            "conversation_id": self.conversation_id,
            "conversation": list(self.conversation),
            "metadata": self.metadata,
            "case_state": self.case_state if self.case_state != "active" else None,
        }
        return {key: value for key, value in full.items() if value}

    @classmethod
    def from_json(cls, data: JsonObject) -> RunContext:
        """The context that `as_json` wrote."""
        known = dict(data)
        budget = known.pop("budget", None)
        return cls(**known, budget=msgspec.convert(budget, Budget) if budget else None)


class StepResult(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Result of one step instance."""

    step: str
    """Its id."""
    path: str
    tool: str = ""
    status: StepStatus = "pending"
    inputs: Json = None
    output: Json = None
    error: Failure | None = None
    confidence: float | None = None
    sources: tuple[Any, ...] = ()
    started_at: float | None = None
    duration: float = 0.0
    """Seconds of all attempts."""
    attempts: int = 0
    cached: bool = False
    reason: str = ""
    """Why it was skipped or what it waits for."""
    cost: float | None = None
    continued: bool = False


class RunInfo(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One row of the list of runs."""

    run_id: str
    name: str = ""
    status: RunStatus = "pending"
    reason: str = ""
    created_at: float = 0.0
    updated_at: float = 0.0
    ended_at: float | None = None
    tenant: str = ""
    user: str = ""
    epoch: int = 0
    driver: str = ""
    """`host:pid:nonce` of the process that drives it; empty: none."""
    driver_seen_at: float = 0.0
    last_seq: int = 0
    idempotency_key: str = ""
    parent: str = ""
    plan_id: str = ""
    """The stored plan that it runs."""
    conversation_id: str = ""
    priority: int = 0
    """Of its tenant's runs that wait for a worker, higher ones go first."""
    intent: str = ""
    """Why it goes on where its row is ahead of its journal: the process that took it has written nothing yet."""


class RunResult:
    """Result of a run, also of one that failed or still waits for a person.

    `results` is read from the journal when it is first asked for.
    """

    __slots__ = (
        "_read",
        "_results",
        "cost",
        "error",
        "outputs",
        "questions",
        "reason",
        "run_id",
        "status",
        "sub_plan",
        "total_duration",
        "warnings",
    )

    def __init__(  # noqa: PLR0913  # a record
        self,
        *,
        run_id: str,
        status: RunStatus,
        reason: str = "",
        outputs: Json = None,
        error: Failure | None = None,
        total_duration: float = 0.0,
        cost: float = 0.0,
        warnings: tuple[Any, ...] = (),
        questions: tuple[Any, ...] = (),
        read: Callable[[], tuple[StepResult, ...]] = tuple,
        sub_plan: SubPlan | None = None,
    ) -> None:
        self.run_id = run_id
        self.status = status
        self.reason = reason
        self.outputs = outputs
        self.error = error
        self.total_duration = total_duration
        """Seconds from the run's start to its end."""
        self.cost = cost
        """USD."""
        self.warnings = warnings
        """The run's `warning` events."""
        self.questions = questions
        """What waits for a person: `approval.requested` and `input.requested` events."""
        self.sub_plan = sub_plan
        """The place of a plan inside a run; None for a run."""
        self._read = read
        self._results: tuple[StepResult, ...] | None = None

    @property
    def success(self) -> bool:
        """The run completed, with or without failures that were continued."""
        return self.status in ("completed", "completed_with_errors")

    @property
    def results(self) -> tuple[StepResult, ...]:
        """One record per step instance, in the order in which they first appear in the journal."""
        if self._results is None:
            self._results = self._read()
        return self._results

    @property
    def failed_steps(self) -> tuple[str, ...]:
        """Paths of the steps that failed or timed out."""
        return tuple(result.path for result in self.results if result.status in ("failed", "timed_out"))

    def step(self, name: str) -> StepResult:
        """The record of a path, or the latest record of a step id. Raises `StepNotFound`, naming those there are."""
        latest = None
        for result in self.results:
            if result.path == name:
                return result
            if result.step == name:
                latest = result
        if latest is None:
            names = list(dict.fromkeys(result.step for result in self.results))
            known = ", ".join(names[:20]) + (", …" if len(names) > 20 else "")
            raise StepNotFound(
                f"The run has no step {name!r}.",
                suggestions=closest(str(name), names),
                hint=f"Its steps: {known}." if names else "No step has begun.",
            )
        return latest

    def as_json(self) -> JsonObject:
        """The result as plain JSON."""
        place = {"sub_plan": msgspec.to_builtins(self.sub_plan)} if self.sub_plan is not None else {}
        return {
            **place,
            "success": self.success,
            "run_id": self.run_id,
            "status": self.status,
            "reason": self.reason,
            "outputs": self.outputs,
            "error": msgspec.to_builtins(self.error) if self.error else None,
            "results": [msgspec.to_builtins(result) for result in self.results],
            "failed_steps": list(self.failed_steps),
            "total_duration": self.total_duration,
            "cost": self.cost,
        }

    def __repr__(self) -> str:
        return f"RunResult(run_id={self.run_id!r}, status={self.status!r}, outputs={self.outputs!r})"


class RunTimes(msgspec.Struct, frozen=True):
    """When a run began and ended, in Unix time, and how it stands."""

    status: RunStatus
    created_at: float
    ended_at: float | None = None


class Standing(msgspec.Struct, frozen=True):
    """Number of runs and questions that are open in a store."""

    runs: dict[str, int]
    """How many runs that have not ended stand in each status."""
    questions: dict[str, int]
    """How many approvals, forms (`input`) and writes in `doubt` wait for people."""


class Beat(msgspec.Struct, frozen=True):
    """Sign of life of a driver: when it last said that it lives, by a clock that may be anybody's."""

    driver: str
    seen_at: float
    is_connected: bool = True
    """Whether the driver has a connection to the store; true where the store cannot tell."""


made_ready(Budget)
