"""Telling runs what people and programs want of them, wherever they are driven."""

from __future__ import annotations

import msgspec

from toolpath.engine.decide.people import read_answers
from toolpath.errors import RunConflict, StaleEpoch, closest
from toolpath.model import events as ev
from toolpath.model.events import AnyEvent
from toolpath.model.run import ENDED_RUN, RunInfo
from toolpath.ports import RunChange, Signal
from toolpath.projections.questions import open_questions
from toolpath.projections.steps import step_results
from toolpath.runs.run import Run
from toolpath.runs.taking import Taking


class Telling(Taking):
    """The part of `Drives` that tells runs things."""

    async def tell(self, run_id: str, signal: Signal) -> Run:
        """Keep the signal for the run's driver; where nobody drives it, take it up here.

        Raises `RunConflict` when the run cannot do anything with it, `SchemaError` for answers that do not fit.
        """
        store = self._services.store
        info = await store.get_run(run_id)
        if info.status in ENDED_RUN:
            raise RunConflict(f"The run {run_id} has ended: {info.status}.", hint=f"toolpath runs show {run_id}")
        if signal.kind in ("approve", "deny", "answer", "settle"):
            signal = await self._checked(run_id, signal)
        signal = self._without_secrets(signal)
        await self.trail.told(info, signal)
        await store.put_signal(run_id, signal)
        if self._services.queue is not None and run_id not in self._runners:
            return await self._told(run_id, signal)
        runner = self._runners.get(run_id)
        if runner is not None and runner.over:
            # It leaves without having heard this.
            await runner.gone.wait()
            self._forget(run_id, runner)
        elif runner is not None:
            # Heard before its next call, even where the tool that is running said it.
            runner.ears.call()
        # A driver that has parked before the signal was kept does not hear it.
        info = await store.get_run(run_id)
        if self.is_live(run_id) or (self.driven_elsewhere(info) and info.status != "waiting"):
            return Run(run_id, self)
        if info.status == "paused" and signal.kind != "cancel":
            # It is heard when the run is resumed.
            return Run(run_id, self)
        if signal.kind == "pause":
            await self._let_rest(info, str(signal.data.get("reason", "")))
            return Run(run_id, self)
        # Whoever has taken it up since hears what was kept before.
        return await self.take_up(
            run_id, to_end=signal.kind == "cancel", expected=info.epoch, authority=signal.authority
        )

    async def _let_rest(self, info: RunInfo, reason: str) -> None:
        """Pause a run that nobody drives. Nothing is called: what was interrupted is judged when it goes on."""
        store, services = self._services.store, self._services
        said = [signal.id for signal in await store.take_signals(info.run_id) if signal.kind == "pause"]
        try:
            journal = await store.drive(info.run_id, services.driver, expected=info.epoch)
        except StaleEpoch:
            # Whoever has taken it up just now hears it.
            return
        last, now = (await store.get_run(info.run_id)).last_seq, services.clock.time()
        rests: list[AnyEvent] = [ev.RunResumed(last + 1, now, journal.epoch), ev.RunPaused(last + 2, now, reason)]
        for kept in (journal.append(rests, change=RunChange(status="paused", reason=reason)), journal.release()):
            if kept is not None:
                await kept
        await store.drop_signals(info.run_id, said)

    async def _told(self, run_id: str, signal: Signal) -> Run:
        """See that a worker hears it. A driver that has parked before the signal was kept does not."""
        info = await self._services.store.get_run(run_id)
        waits = info.status == "paused" and signal.kind not in ("cancel", "resume")
        if not waits and (not info.driver or info.status in ("pending", "waiting", "paused")):
            await self._enqueue(run_id, info.priority)
        return Run(run_id, self)

    def _without_secrets(self, signal: Signal) -> Signal:
        """The signal without a secret in what a person said: it is kept until it is heard."""
        data = self._services.redactor.value(signal.data)
        return signal if data is signal.data else msgspec.structs.replace(signal, data=data)

    async def _checked(self, run_id: str, signal: Signal) -> Signal:
        """The signal with its step named by its whole path. What cannot be obeyed is said now, not in the journal."""
        events = await self._services.store.read_events(run_id)
        if signal.kind == "settle":
            waiting = [r.path for r in step_results(events) if r.status == "unknown"]
            return _with_path(signal, _one_of(signal.path, waiting, "a write in doubt"))
        kind = ev.InputRequested if signal.kind == "answer" else ev.ApprovalRequested
        questions = [question for question in open_questions(events) if isinstance(question, kind)]
        path = _one_of(
            signal.path,
            [question.path for question in questions],
            "an answer" if kind is ev.InputRequested else "an approval",
        )
        question = next(question for question in questions if question.path == path)
        if isinstance(question, ev.InputRequested):
            if question.deadline is not None and self._services.clock.time() >= question.deadline:
                raise RunConflict(f"The time to answer {path} is over.")
            if not signal.data.get("declined"):
                read_answers(question.form, signal.data.get("values", {}))
        return _with_path(signal, path)


def _with_path(signal: Signal, path: str) -> Signal:
    return msgspec.structs.replace(signal, path=path)


def _one_of(path: str, waiting: list[str], what: str) -> str:
    """The one waiting path that is meant. Raises `RunConflict` where it is none or several."""
    matches = [
        known
        for known in waiting
        if not path or path in (known, known.rpartition("/")[2].partition("[")[0].partition("#")[0])
    ]
    if len(matches) == 1 or (path and path in matches):
        return path if path in matches else matches[0]
    if not waiting:
        raise RunConflict(f"Nothing of this run waits for {what}.")
    if not matches:
        hint = f"Waiting: {', '.join(waiting)}."
        raise RunConflict(f"{path!r} does not wait for {what}.", suggestions=closest(path, waiting), hint=hint)
    raise RunConflict(f"Several steps wait for {what}: {', '.join(matches)}.", hint="Name the step.")
