"""Writes in doubt whose tool can tell whether they happened: it is asked, and what it says is heard."""

from __future__ import annotations

from toolpath.engine.decide.people import hear
from toolpath.engine.drive.children import Children
from toolpath.engine.drive.drive import Drive
from toolpath.engine.state.instances import StepState


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
        """Have the tools that can tell say what became of the writes in doubt."""
        for step in [step for step in self._drive.state.steps.values() if step.status == "unknown"]:
            tool = step.node.targets[step.target].tool
            if tool.verify is not None:
                self._asking.add(step.path)
                self._drive.spawn(self._ask(step, tool.verify))

    async def _ask(self, step: StepState, tool: str) -> None:
        drive = self._drive
        told = await self._children.verify(step, tool)
        self._asking.discard(step.path)
        drive.decisions.at = drive.services.clock.time()
        if told is not None and step.status == "unknown":
            drive.commits.weighty = True
            hear(drive.control, told)
        drive.wake()
