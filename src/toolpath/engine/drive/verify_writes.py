"""Writes in doubt whose tool can tell whether they happened: it is asked, and its answer is taken."""

from __future__ import annotations

from toolpath.engine.decide.people import apply_signal
from toolpath.engine.drive.children import Children
from toolpath.engine.drive.drive import Drive
from toolpath.engine.state.instances import ENDED, StepState
from toolpath.ports import Signal
from toolpath.values import JsonObject


class WriteVerifier:
    """Asks for one drive."""

    def __init__(self, drive: Drive, children: Children) -> None:
        self._drive = drive
        self._children = children
        self._asking: set[str] = set()

    def __bool__(self) -> bool:
        """A tool is being asked."""
        return bool(self._asking)

    def ask(self) -> None:
        """Ask the tools that can tell what became of the writes in doubt."""
        for step in [step for step in self._drive.state.steps.values() if step.status == "unknown"]:
            tool = step.node.targets[step.target].tool
            if tool.verify is not None:
                self._asking.add(step.path)
                self._drive.spawn(self._ask(step, tool.verify))

    async def _ask(self, step: StepState, tool: str) -> None:
        drive = self._drive
        told = await self._word_of(step, tool)
        self._asking.discard(step.path)
        drive.decisions.at = drive.services.clock.time()
        if told is not None and step.status == "unknown":
            drive.commits.weighty = True
            apply_signal(drive.control, told)
        drive.wake()

    async def _word_of(self, step: StepState, tool: str) -> Signal | None:
        """How a write in doubt is settled by the tool that can tell; None when it cannot, and a person has to.

        The tool is called with the write's inputs, and its idempotency key where it takes one. `true` or
        `{happened: true, output}`: it happened; `false` or `{happened: false}`: it did not, and is made again.
        """
        drive = self._drive
        if drive.held:
            # Nothing is called, and nothing settled, before a person has accepted the tools that changed.
            return None
        target = drive.program.dynamic(tool).targets[0]
        child = self._call_of(step, target.key)
        if child.status in ("pending", "ready"):
            if target.asks:
                # A person who has to be asked may as well be asked about the write itself.
                return None
            await self._children.call_of_engine(child, self._inputs(step, target.tool.input_schema))
        told = drive.large.restored(child.output) if child.status == "succeeded" else None
        happened = told.get("happened") if isinstance(told, dict) else told
        if happened is True:
            output = told.get("output") if isinstance(told, dict) else None
            return Signal(kind="settle", path=step.path, data={"output": output}, by=tool)
        if happened is False:
            return Signal(kind="settle", path=step.path, data={"retry": True}, by=tool)
        return None

    def _inputs(self, step: StepState, schema: JsonObject) -> JsonObject:
        """The write's inputs that the tool takes, too."""
        properties = schema.get("properties", {})
        given = self._drive.large.restored(step.inputs or {})
        inputs = {name: value for name, value in given.items() if name in properties}
        if "idempotency_key" in properties:
            inputs["idempotency_key"] = step.key
        return inputs

    def _call_of(self, step: StepState, key: str) -> StepState:
        """The call that answers this doubt: an answer to an earlier one says nothing of what was done since."""
        count = 1
        while True:
            child = self._drive.state.child(step, "verify" if count == 1 else f"verify-{count}", key)
            if child.status not in ENDED:
                return child
            count += 1
