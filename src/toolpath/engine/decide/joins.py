"""Joins: the output or failure of a block when parts of it have ended, or nothing yet. Pure: writes nothing."""

from __future__ import annotations

from toolpath.engine.state import ends
from toolpath.engine.state.instances import Scope, StepState
from toolpath.model.events import Failure
from toolpath.model.plan import Parallel
from toolpath.values import Json, JsonObject


class BlockVerdict:
    """Verdict on a `parallel` or a `loop`: how it ended."""

    __slots__ = ("failure", "losers", "output", "winner", "writes")

    def __init__(self, output: Json = None, failure: Failure | None = None) -> None:
        self.output = output
        self.failure = failure
        self.winner: str = ""
        self.losers: list[Scope] = []
        self.writes: JsonObject = {}
        """Variables that its parts wrote, merged in their order."""


def parallel_verdict(owner: StepState, ended: Scope) -> BlockVerdict | None:
    """The end of a `parallel` by that of one branch; None while others decide."""
    step, scopes = owner.node.step, owner.scopes or []
    if not isinstance(step, Parallel):
        return None
    if step.wait_for == "all":
        if len(scopes) < len(owner.node.blocks) or not all(scope.done for scope in scopes):
            return None
        return _all(sorted(scopes, key=lambda scope: scope.branch))
    if step.wait_for == "any" or _succeeded(ended):
        return won_by(ended, scopes)
    if len(scopes) == len(owner.node.blocks) and all(scope.done for scope in scopes):
        return BlockVerdict(failure=_why_none(owner, ended, scopes))
    return None


def _succeeded(branch: Scope) -> bool:
    """Whether the branch gave something: what was skipped, or failed and is continued, gives nothing."""
    block = branch.block
    if branch.failure is not None or not block.nodes:
        return branch.failure is None
    deciding = branch.steps if block.is_chain else block.sinks
    return any((step := branch.steps.get(index)) is not None and step.status == "succeeded" for index in deciding)


def _why_none(owner: StepState, ended: Scope, scopes: list[Scope]) -> Failure:
    failures = [scope.failure for scope in (ended, *scopes) if scope.failure is not None]
    failures += [step.error for scope in scopes for step in scope.steps.values() if step.error is not None]
    if failures:
        return failures[0]
    message = f"No branch of {owner.path} succeeded: all were skipped."
    return Failure(type="NoBranchSucceeded", message=message, code="tool_failed")


def _all(scopes: list[Scope]) -> BlockVerdict:
    failed = [scope.failure for scope in scopes if scope.failure is not None]
    if failed:
        return BlockVerdict(failure=failed[0])
    verdict = BlockVerdict({scope.block.id: ends.default_output(scope) for scope in scopes})
    for scope in scopes:
        verdict.writes.update(scope.writes or {})
    return verdict


def won_by(winner: Scope, scopes: list[Scope]) -> BlockVerdict:
    """The end of a `parallel` that this branch decides."""
    output = None if winner.failure else {"winner": winner.block.id, "output": ends.default_output(winner)}
    verdict = BlockVerdict(output, winner.failure)
    verdict.winner = winner.block.id
    verdict.losers = [scope for scope in scopes if scope is not winner]
    if winner.failure is None:
        verdict.writes.update(winner.writes or {})
    return verdict


def loop_verdict(owner: StepState) -> BlockVerdict | None:
    """The end of a loop, once no item is under way or to come."""
    loop = owner.loop
    if loop is None or loop.active or (loop.failure is None and loop.next < len(loop.items)):
        return None
    if loop.failure is not None:
        return BlockVerdict(failure=loop.failure)
    verdict = BlockVerdict(loop.results)
    for item in sorted(loop.writes):
        verdict.writes.update(loop.writes[item])
    return verdict


#: Blocks of a run that may be open: beyond them loops in loops go on one item after the other.
MOST_OPEN = 2_000


def may_begin(owner: StepState, opened: int = 0) -> bool:
    """Whether the loop may begin another item now, with so many blocks open. One it has always, so that it goes on."""
    loop = owner.loop
    return (
        loop is not None
        and loop.failure is None
        and not loop.halted
        and loop.active < (owner.node.concurrency if opened < MOST_OPEN else 1)
        and loop.next < len(loop.items)
    )
