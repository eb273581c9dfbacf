"""Workers that drive an agent and kill themselves with every event that is new: others take over until it has ended.

Run as a program: `killed_workers.py FOLDER STORE SCENE QUEUE-URL QUEUE-NAME EVERY`. Two workers live at any time; one
dies with each EVERYth event. A door of its own begins the run and answers what is asked. Prints what came of it.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import signal
import sys
import traceback
from collections.abc import Coroutine
from pathlib import Path
from typing import Any

from killed_agent import SCENES, Calls, Noted, Suicide, as_it_happened, came_of, report, tools_of

from toolpath import Toolpath
from toolpath.config import Settings
from toolpath.errors import RunConflict
from toolpath.model import events as ev
from toolpath.model.events import AnyEvent
from toolpath.queues.rabbitmq import RabbitQueue
from toolpath.server.worker import Worker

WORKERS = 2
#: The run is not to blame for the death of its drivers.
SETTINGS = Settings(max_losses=10_000)


class Ground:
    """The store, the queue and the scene of one run, for all processes that have to do with it."""

    def __init__(self, folder: Path, store: str, scene: str, url: str, name: str, every: int) -> None:
        self.folder = folder
        self.calls = Calls(folder / "calls")
        self._store = store
        self._plan, self._turns = SCENES[scene]
        self._url = url
        self._name = name
        self._every = every

    def _opened(self, **options: Any) -> tuple[Toolpath, RabbitQueue]:
        queue = RabbitQueue(self._url, name=self._name)
        model = Noted(self.calls, self._turns)
        tp = Toolpath(self._store, settings=SETTINGS, chat=model, queue=queue, **options)
        tp.add(*tools_of(self.calls))
        return tp, queue

    async def work(self) -> None:
        """Drive what is there until it is killed."""
        tp, queue = self._opened(observer=Suicide(self.calls, self._every))
        async with tp:
            await Worker(tp, queue).run()

    async def ask(self) -> None:
        """Begin the run, answer what is asked, and write down what came of it."""
        tp, _ = self._opened()
        async with tp:
            run_id = (await tp.start(self._plan)).run_id
            async for event in tp.watch(run_id):
                with contextlib.suppress(RunConflict):
                    await self._answer(tp, run_id, event)
            found = came_of(await tp.result(run_id), await tp.events(run_id))
            (self.folder / "found").write_text(json.dumps(found))

    async def _answer(self, tp: Toolpath, run_id: str, event: AnyEvent) -> None:
        match event:
            case ev.InputRequested():
                await tp.answer(run_id, event.path, {"tea": "green"})
            case ev.StepUnknown():
                (step,) = [step for step in (await tp.result(run_id)).results if step.path == event.path]
                if step.status == "unknown":
                    await tp.settle(run_id, event.path, **as_it_happened(self.calls, step))


def begun(what: Coroutine[Any, Any, None]) -> int:
    """The number of a process that does this and no more."""
    pid = os.fork()
    if pid:
        what.close()
        return pid
    code = 1
    try:
        asyncio.run(what)
        code = 0
    except BaseException:  # whatever it is: nobody else tells of it
        traceback.print_exc()
    finally:
        os._exit(code)


def main() -> int:
    """Hire a worker for each that has died, until the run has ended."""
    folder, store, scene, url, name, every = sys.argv[1:]
    ground = Ground(Path(folder), store, scene, url, name, int(every))
    door = begun(ground.ask())
    workers = {begun(ground.work()) for _ in range(WORKERS)}
    kills = 0
    while True:
        pid, status = os.waitpid(-1, 0)
        if pid == door or not os.WIFSIGNALED(status):
            break
        kills += 1
        workers = workers - {pid} | {begun(ground.work())}
    for left in {door, *workers} - {pid}:
        os.kill(left, signal.SIGKILL)
        os.waitpid(left, 0)
    if pid != door or status:
        return 1
    report(ground.folder, ground.calls, kills)
    return 0


if __name__ == "__main__":
    sys.exit(main())
