"""Records kept at the end of a call (statistics, cache), before the run goes on from there."""

from __future__ import annotations

from toolpath.engine.compile.nodes import CallTarget
from toolpath.engine.drive.attempt import Attempt
from toolpath.engine.drive.cache import clear_group
from toolpath.engine.drive.drive import Drive
from toolpath.engine.state.results import Done
from toolpath.model.events import Failure


class AfterCall:
    """Ends the calls of one drive."""

    def __init__(self, drive: Drive) -> None:
        self._drive = drive
        self._decisions = drive.decisions
        self._services = drive.services
        self._statistics = drive.services.statistics

    def succeeded(self, attempt: Attempt, done: Done) -> None:
        """The call gave this."""
        self.learn(attempt.target, done)
        if done.warning:
            self._drive.warn(attempt.step.path, "output_mismatch", done.warning)
        if done.handle is not None:
            self._drive.large.keep(done)
        self._drive.control.succeed(attempt.step, done)

    def learn(self, target: CallTarget, done: Done) -> None:
        """Count the call; what is cached of its group may be no more true."""
        if not done.cached:
            self._statistics.succeeded(target.key, done.duration, self._decisions.at, done.confidence, done.cost)
        if not target.reads:
            clear_group(self._services, target.tool.group)

    def failed(self, attempt: Attempt, failure: Failure) -> None:
        """The call failed."""
        drive, target = self._drive, attempt.target
        is_stopping = attempt.step.scope.stopping or drive.decisions.halted is not None
        if failure.code == "tool_changed" and not is_stopping:
            # It was not called, and is as soon as a person has accepted what it is now.
            drive.hold(attempt.step, failure)
            return
        services, at = drive.services, drive.decisions.at
        duration = services.clock.monotonic() - attempt.started if attempt.started else 0.0
        services.statistics.failed(target.key, duration, at, timed_out=failure.code == "timeout")
        if not target.reads:
            clear_group(services, target.tool.group)
        drive.control.attempt_failed(attempt.step, failure, duration)
