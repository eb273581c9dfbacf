"""One call, kept or made: what comes of it, also where an error of our own came in between."""

from __future__ import annotations

from toolpath.engine.drive.attempt import Attempt
from toolpath.engine.drive.cache import cached_call, clear_group
from toolpath.engine.drive.drive import GROUND, Drive
from toolpath.engine.drive.one_attempt import perform
from toolpath.engine.state.resolve import fault_of
from toolpath.engine.state.results import Done
from toolpath.model.events import Failure


async def outcome_of(attempt: Attempt, drive: Drive) -> Done | Failure | None:
    """What came of the attempt; None when it was cut off and somebody else has recorded that."""
    try:
        if not attempt.light and attempt.step.node.cached and attempt.step.target == 0:
            return await cached_call(attempt, drive)
        outcome = await perform(attempt, drive.services, drive.deadlines)
        if outcome is None and not attempt.target.reads:
            # A write that was cut off may have happened.
            clear_group(drive.services, attempt.target.tool.group)
        return outcome
    except GROUND:
        raise
    except Exception as error:  # noqa: BLE001  # it fails the call that it came of, and no more
        return fault_of(error, in_doubt=not attempt.target.repeatable)
    finally:
        if attempt.context is not None:
            drive.returned(attempt)
