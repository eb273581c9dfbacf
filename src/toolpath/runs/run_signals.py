"""Signals to runs: what people and programs want of them, kept until their driver takes them, wherever it is."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from toolpath.access.trail import Trail
from toolpath.engine.decide.people import read_answers
from toolpath.engine.drive.services import Services
from toolpath.errors import RunConflict, StaleEpoch, closest
from toolpath.model import events as ev
from toolpath.model.events import AnyEvent
from toolpath.model.run import ENDED_RUN, RunInfo
from toolpath.ports import Signal
from toolpath.projections.questions import Question, open_questions
from toolpath.projections.steps import step_results
from toolpath.recovery.presence import is_driven_elsewhere
from toolpath.runs.claims import Claims
from toolpath.runs.file_answers import FileAnswers
from toolpath.runs.held import HeldRuns
from toolpath.runs.intent import REPLANNING, Intent, intent_of
from toolpath.runs.run_queue import RunQueue
from toolpath.runs.secret_answers import SecretAnswers
from toolpath.runs.undriven_journal import UndrivenJournal


class RunSignals:
    """Sender of signals to any run of the store."""

    def __init__(
        self,
        services: Services,
        held: HeldRuns,
        queue: RunQueue,
        claims: Claims,
        trail: Trail,
        secrets: SecretAnswers,
        files: FileAnswers,
    ) -> None:
        self._services = services
        self._held = held
        self._queue = queue
        self._claims = claims
        self._trail = trail
        self._secrets = secrets
        self._files = files

    async def send(self, run_id: str, signal: Signal) -> None:
        """Keep the signal for the run's driver; where nobody drives it, take it up here.

        Raises `RunConflict` when the run cannot do anything with it, `SchemaError` for answers that do not fit.
        """
        store = self._services.store
        info = await store.get_run(run_id)
        if info.status in ENDED_RUN:
            raise RunConflict(f"The run {run_id} has ended: {info.status}.", hint=f"toolpath runs show {run_id}")
        if signal.kind in ("approve", "deny", "answer", "settle"):
            events = await store.read_events(run_id)
            question, path = asked_for(signal, events, self._services.clock.time())
            signal = msgspec.structs.replace(signal, path=path)
            if isinstance(question, ev.InputRequested):
                await self._refuse_second(run_id, question)
                signal = await self._sealed(info, signal, question)
        signal = self._without_secrets(signal)
        await self._trail.told(info, signal)
        await store.put_signal(run_id, signal)
        runner = self._held.runners.get(run_id)
        if self._queue.is_used and runner is None:
            await self._enqueue(run_id, signal)
            return
        if runner is not None and runner.over:
            # It leaves without having read this.
            await runner.gone.wait()
            self._held.forget(run_id, runner)
        elif runner is not None:
            # Heard before its next call, even where the tool that is running said it.
            runner.inbox.call()
        # A driver that has parked before the signal was kept does not read it.
        info = await store.get_run(run_id)
        if self._held.is_live(run_id) or (self._is_driven_elsewhere(info) and info.status != "waiting"):
            return
        match signal.kind:
            case kind if info.status == "paused" and kind != "cancel":
                # It is read when the run is resumed.
                return
            case "pause":
                await self._pause(info, str(signal.data.get("reason", "")))
            case kind:
                # A driver that has taken it up since reads what was kept before.
                await self._claims.take_up(
                    run_id, to_end=kind == "cancel" and not signal.path, expected=info.epoch, authority=signal.authority
                )

    async def _refuse_second(self, run_id: str, question: ev.InputRequested) -> None:
        """Raise `RunConflict` where somebody has answered, and the run has not read it yet."""
        for signal in await self._services.store.take_signals(run_id):
            if signal.kind == "answer" and signal.data.get("asked") == question.seq:
                raise RunConflict(
                    f"{question.path} has been answered already.", hint=f"See `toolpath runs show {run_id}`."
                )

    async def _sealed(self, info: RunInfo, signal: Signal, question: ev.InputRequested) -> Signal:
        """The answers as they may be kept: typed, with stand-ins for passwords, and files as the run has them."""
        if signal.data.get("declined"):
            return msgspec.structs.replace(signal, data={**signal.data, "asked": question.seq})
        values = read_answers(question.form, signal.data.get("values", {}))
        values = await self._files.kept(info.run_id, info.tenant, question.form, values)
        shown = await self._secrets.kept(info.run_id, info.tenant, question.form, values)
        return msgspec.structs.replace(signal, data={"values": shown, "asked": question.seq})

    def _is_driven_elsewhere(self, info: RunInfo) -> bool:
        return is_driven_elsewhere(info, self._services.clock.time(), self._services.driver)

    async def _pause(self, info: RunInfo, reason: str) -> None:
        """Pause a run that nobody drives. Nothing is called: what was interrupted is judged when it goes on."""
        store, services = self._services.store, self._services
        read = [signal.id for signal in await store.take_signals(info.run_id) if signal.kind == "pause"]
        try:
            journal = await store.drive(info.run_id, services.driver, expected=info.epoch)
        except StaleEpoch:
            # A driver that has taken it up just now reads it.
            return
        before = intent_of(info)
        # A run that was to be replanned is, when it goes on and has failed.
        interrupted = before if before.reason != REPLANNING else Intent(authority=before.authority)
        await UndrivenJournal(info.run_id, journal, services).pause(reason, interrupted=interrupted)
        await store.drop_signals(info.run_id, read)

    async def _enqueue(self, run_id: str, signal: Signal) -> None:
        """Call a worker to read it. A driver that has parked before the signal was kept does not."""
        info = await self._services.store.get_run(run_id)
        rests = info.status == "paused" and signal.kind not in ("cancel", "resume")
        if not rests and (not info.driver or info.status in ("pending", "waiting", "paused")):
            await self._queue.enqueue(run_id, info.priority)

    def _without_secrets(self, signal: Signal) -> Signal:
        """The signal without a secret in what a person said: it is kept until the driver takes it."""
        data = self._services.redactor.value(signal.data)
        return signal if data is signal.data else msgspec.structs.replace(signal, data=data)


def asked_for(signal: Signal, events: Sequence[AnyEvent], now: float) -> tuple[Question | None, str]:
    """The question that the signal answers, and the whole path of its step; None: of a write in doubt.

    What cannot be obeyed is said here, not in the journal.

    Raises `RunConflict`, and `SchemaError` for answers that do not fit.
    """
    if signal.kind == "settle":
        waiting = [result.path for result in step_results(events) if result.status == "unknown"]
        return None, _one_of(signal.path, waiting, "a write in doubt")
    kind, what = (ev.InputRequested, "an answer") if signal.kind == "answer" else (ev.ApprovalRequested, "an approval")
    questions = {question.path: question for question in open_questions(events) if isinstance(question, kind)}
    path = _one_of(signal.path, list(questions), what)
    question = questions[path]
    if isinstance(question, ev.InputRequested):
        if question.deadline is not None and now >= question.deadline:
            raise RunConflict(f"The time to answer {path} is over.")
        if not signal.data.get("declined"):
            read_answers(question.form, signal.data.get("values", {}))
    return question, path


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
