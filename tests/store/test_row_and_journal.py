"""A process dies between taking a run and its first append: who reads the row and who reads the journal agree."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from tests.store.store_cases import STORES, Now, emptied, keep, new_run, postgres_url, ready

from toolpath import RunContext, Toolpath
from toolpath.errors import ToolFailed
from toolpath.model import events as ev
from toolpath.ports import Authority, Queue, RunChange, Store
from toolpath.server.rest.views import run_detail
from toolpath.testing.scripted import ScriptedTool, scripted

SHAKY = {"flow": "chain", "steps": [{"id": "a", "tool": "t.shaky"}]}
BOB = Authority(("t:read",), "bob")
CAROL = Authority(("t:write",), "carol")
#: Who began the runs.
ANYTHING = RunContext("ann", permissions=("*",))
#: The processes of the tests, as those of other machines are called.
NAMES = [f"elsewhere:{number}:a" for number in range(1, 9)]

Opened = Callable[..., Any]


class NoQueue:
    """A queue that hands out nothing: whoever puts a run there is not its driver."""

    async def open(self) -> None:
        """Nothing to open."""

    async def close(self) -> None:
        """Nothing to close."""

    async def put(self, run_id: str, *, priority: int = 0) -> None:
        """Nobody is told."""

    async def depth(self) -> int:
        return 0

    async def serve(self, work: Callable[[str], Awaitable[None]], *, concurrency: int) -> None:
        """Nothing to hand out."""

    def stop(self) -> None:
        """Nothing to stop."""


@pytest.fixture
def shaky() -> ScriptedTool:
    """Fails once."""
    return scripted("t.shaky", ToolFailed("not yet"), 1, effect="read")


@pytest.fixture(params=["memory", "sqlite-file", pytest.param("postgres", marks=pytest.mark.postgres)])
async def store(request: pytest.FixtureRequest, tmp_path: Path) -> Any:
    """What a Toolpath is opened on: each call is one of another process."""
    if request.param == "postgres":
        await emptied(request.getfixturevalue("own_schema"))
        return postgres_url()
    return STORES["memory"](tmp_path, Now()) if request.param == "memory" else tmp_path / "runs.db"


@pytest.fixture
async def process(store: Any, shaky: ScriptedTool) -> Opened:
    """Opens the store as one more process."""
    names = iter(NAMES)

    @asynccontextmanager
    async def opened(queue: Queue | None = None) -> AsyncIterator[Toolpath]:
        async with Toolpath(store, queue=queue) as tp:
            tp.add(shaky)
            tp._drives._services.driver = next(names)
            yield tp

    return opened


async def dies_taking(tp: Toolpath, monkeypatch: pytest.MonkeyPatch, act: Callable[[], Awaitable[Any]]) -> None:
    """Do it, and die when the run is taken: the row is written, the journal is not."""
    drive, taken = tp.store.drive, asyncio.Event()

    async def last(*who: Any, **how: Any) -> Any:
        journal = await drive(*who, **how)
        taken.set()
        await asyncio.Event().wait()
        return journal

    with monkeypatch.context() as patch:
        patch.setattr(tp.store, "drive", last)
        acting = asyncio.ensure_future(act())
        await taken.wait()
        acting.cancel()
        await asyncio.wait({acting})


async def told(tp: Toolpath, run_id: str) -> set[tuple[str, str]]:
    """Status and reason as the list of runs, the run's result and its page tell them."""
    (row,) = await tp.runs()
    result = await tp.info(run_id)
    page = run_detail(row, await tp.events(run_id))
    return {(one.status, one.reason) for one in (row, result, page)}


async def by_whose_word(tp: Toolpath, run_id: str) -> list[str]:
    return [event.by for event in await tp.events(run_id) if isinstance(event, ev.RunAuthorized)]


async def test_row_and_journal_tell_the_same_of_a_retry_that_died(
    process: Opened, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with process() as tp:
        run_id = (await tp.run(SHAKY, context=ANYTHING)).run_id
        await dies_taking(tp, monkeypatch, lambda: tp._drives.take_up(run_id, reason="retry", authority=BOB))
        # What Bob may do is nobody's to read there.
        assert await told(tp, run_id) == {("running", "retry")}
        assert (await (await tp.resume(run_id, force=True)).result()).status == "completed"
        assert await told(tp, run_id) == {("completed", "")}


async def test_a_retry_outlives_two_processes_that_die_before_they_write(
    process: Opened, shaky: ScriptedTool, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with process() as one:
        run_id = (await one.run(SHAKY, context=ANYTHING)).run_id
        await dies_taking(one, monkeypatch, lambda: one._drives.take_up(run_id, reason="retry", authority=BOB))
        async with process() as two:
            await dies_taking(two, monkeypatch, lambda: two.resume(run_id, force=True))
            async with process() as three:
                result = await (await three.resume(run_id, force=True)).result()
                assert (result.status, len(shaky.calls)) == ("completed", 2)
                assert await by_whose_word(three, run_id) == ["bob"]


async def test_the_last_word_counts_also_where_the_one_before_is_not_in_the_journal(
    process: Opened, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with process() as one:
        run_id = (await one.run(SHAKY, context=ANYTHING)).run_id
        await dies_taking(one, monkeypatch, lambda: one._drives.take_up(run_id, reason="retry", authority=BOB))
        await dies_taking(one, monkeypatch, lambda: one._drives.take_up(run_id, reason="resume", authority=CAROL))
        result = await (await one.resume(run_id, force=True)).result()
        assert result.status == "completed"
        assert await by_whose_word(one, run_id) == ["carol"]


async def test_a_retry_that_died_is_handed_to_a_worker_as_one(
    process: Opened, shaky: ScriptedTool, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with process() as one:
        run_id = (await one.run(SHAKY, context=ANYTHING)).run_id
        await dies_taking(one, monkeypatch, lambda: one._drives.take_up(run_id, reason="retry", authority=BOB))
        async with process(NoQueue()) as door, process(NoQueue()) as worker:
            await door._drives.take_up(run_id, reason="resume", authority=CAROL)
            await worker.drive(run_id)
            assert (await worker.info(run_id)).status == "completed"
            assert (len(shaky.calls), await by_whose_word(worker, run_id)) == (2, ["carol"])


async def test_a_retry_that_died_and_is_paused_is_still_one_when_it_goes_on(
    process: Opened, shaky: ScriptedTool, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with process() as one:
        run_id = (await one.run(SHAKY, context=ANYTHING)).run_id
        await dies_taking(one, monkeypatch, lambda: one.retry(run_id))
        # Nobody is seen to drive it any more.
        await one.store.drive(run_id, "")
        await one.pause(run_id)
        assert await told(one, run_id) == {("paused", "")}
        result = await (await one.resume(run_id)).result()
        assert (result.status, len(shaky.calls)) == ("completed", 2)


async def test_a_run_that_nobody_may_replan_has_failed_where_whoever_replanned_it_died(process: Opened) -> None:
    async with process() as one, process() as two:
        run_id = (await one.run(SHAKY, context=ANYTHING)).run_id
        (ended,) = await told(one, run_id)
        await one.store.drive(
            run_id, "elsewhere:9:a", change=RunChange(status="running", reason="replanning", intent="replanning")
        )
        assert {status for status, _ in await told(two, run_id)} == {"running"}
        result = await (await two.resume(run_id, force=True)).result()
        assert (result.status, result.reason) == ended
        assert await told(two, run_id) == {ended}
        assert (await two.store.get_run(run_id)).driver == ""


async def test_words_of_a_person_are_no_intent(process: Opened) -> None:
    async with process() as one:
        run_id = (await one.run(SHAKY, context=ANYTHING)).run_id
        words = 'retry by {"permissions":["*"],"by":"nobody"}'
        await one.store.drive(run_id, "", change=RunChange(status="running", reason=words))
        assert (await one.store.get_run(run_id)).intent == ""
        result = await (await one.resume(run_id, force=True)).result()
        assert (result.status, await by_whose_word(one, run_id)) == ("failed", [])


@pytest.fixture(params=["memory", "sqlite-file", pytest.param("postgres", marks=pytest.mark.postgres)])
async def opened_store(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Store]:
    if request.param == "postgres":
        await emptied(request.getfixturevalue("own_schema"))
    store = STORES[request.param](tmp_path, Now())
    await store.open()
    yield store
    await store.close()


async def test_an_intent_holds_until_the_journal_has_one_more_event(opened_store: Store) -> None:
    store = opened_store
    await new_run(store, "run_1")
    first = await store.drive("run_1", "a:1:a")
    await keep(first, ready(1), status="failed")
    taken = await store.drive("run_1", "a:1:a", change=RunChange(status="running", intent="retry"))
    assert (await store.get_run("run_1")).intent == "retry"
    assert [info.intent for info in await store.list_runs()] == ["retry"]
    # Whoever takes it on with nothing to add leaves it.
    taken = await store.drive("run_1", "a:1:b")
    assert (await store.get_run("run_1")).intent == "retry"
    await keep(taken, ready(2))
    assert (await store.get_run("run_1")).intent == ""
    taken = await store.drive("run_1", "a:1:b", change=RunChange(status="running", intent="replanning"))
    await keep(taken, status="failed")
    assert (await store.get_run("run_1")).intent == ""
