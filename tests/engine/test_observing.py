"""Who looks on sees every committed event once, in order, and every call while it is made."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
from tests.engine.engine_cases import plan_text

from toolpath import Settings, Toolpath
from toolpath.model import events as ev
from toolpath.model.events import AnyEvent, event_type

PLAN = """
    name: three
    steps:
      - {id: one, tool: note, inputs: {word: a}}
      - {id: two, tool: flaky, inputs: {word: "{{ one.word }}"}, retry: {max_attempts: 2, initial_delay: 0}}
      - {id: three, tool: note, inputs: {word: c}, requires_approval: true, depends_on: [two]}
"""


class Onlooker:
    """Writes down what it is told."""

    def __init__(self) -> None:
        self.events: list[AnyEvent] = []
        self.told: list[str] = []
        self.seconds: list[float] = []

    def taken(self, run_id: str, events: Sequence[AnyEvent]) -> None:
        self.told.append(f"taken {len(events)}")

    def committed(self, run_id: str, events: Sequence[AnyEvent], seconds: float) -> None:
        self.events += events
        self.seconds.append(seconds)

    def calling(self, run_id: str, path: str, attempt: int) -> Callable[[], None]:
        self.told.append(f"{path} {attempt}")
        return lambda: self.told.append(f"{path} {attempt} over")

    def left(self, run_id: str) -> None:
        self.told.append("left")


@pytest.mark.parametrize("durable", [False, True], ids=["memory", "sqlite"])
async def test_every_committed_event_and_every_call_is_seen_once_and_in_order(durable: bool, tmp_path: Path) -> None:
    onlooker, failures = Onlooker(), [RuntimeError("not yet")]

    async def note(word: str) -> dict[str, str]:
        await asyncio.sleep(0)
        return {"word": word}

    async def flaky(word: str) -> dict[str, str]:
        if failures:
            raise failures.pop()
        return {"word": word}

    store = tmp_path / "runs.db" if durable else None
    async with Toolpath(store, settings=Settings(), observer=onlooker) as tp:
        tp.add(note, effect="read")
        tp.add(flaky, effect="read")
        result = await tp.run(tp.read(plan_text(PLAN)))
        assert result.status == "waiting"
        assert onlooker.told == ["taken 1", "one 1", "one 1 over", "two 1", "two 1 over", "two 2", "two 2 over", "left"]
        run = await tp.approve(result.run_id, "three")
        assert (await run.result()).success
        journal = await tp.events(result.run_id)
    known = int(onlooker.told[8].removeprefix("taken "))
    assert onlooker.told[9:] == ["three 1", "three 1 over", "left"]
    assert isinstance(journal[0], ev.RunStarted), "stored with the run, and given with `taken`"
    assert [event_type(event) for event in onlooker.events] == [event_type(event) for event in journal[1:]]
    assert [event.seq for event in onlooker.events] == list(range(2, len(journal) + 1))
    assert known < len(journal)
    assert all(seconds >= 0 for seconds in onlooker.seconds)


async def test_a_call_that_is_cut_off_is_over_too() -> None:
    onlooker = Onlooker()

    async def slow() -> None:
        await asyncio.Event().wait()

    async with Toolpath(settings=Settings(), observer=onlooker) as tp:
        tp.add(slow, effect="read", timeout=0.05)
        result = await tp.run({"steps": [{"id": "one", "tool": "slow", "retry": {"max_attempts": 1}}]})
    assert result.status == "failed"
    assert onlooker.told == ["taken 1", "one 1", "one 1 over", "left"]
