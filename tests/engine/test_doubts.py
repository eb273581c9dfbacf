"""Writes in doubt: each doubt is settled by an answer of its own, and by nothing while the run is held."""

from __future__ import annotations

from typing import Any

from engine_cases import after, opened
from hypothesis import given
from hypothesis import strategies as st

from toolpath import ToolContext, tool
from toolpath.engine.state.paths import safe_key
from toolpath.model.plan import Retry
from toolpath.store.memory.store import MemoryStore
from toolpath.testing.clock import FakeClock
from toolpath.testing.scripted import scripted

PLAN = {"steps": [{"id": "a", "tool": "pay"}], "outputs": "{{ a }}"}


class Till:
    """A payment whose driver dies before the effect, then after it."""

    def __init__(self) -> None:
        self.clock = FakeClock()
        self.store = MemoryStore(clock=self.clock.time)
        self.calls = 0
        self.effects: list[int] = []

    async def pay(self, _: Any) -> Any:
        self.calls += 1
        call = self.calls
        if call == 1:
            return await after(self.clock, 1000)
        self.effects.append(call)
        return await after(self.clock, 1000) if call == 2 else call

    async def drive(self, run_id: str, tell: Any, about: str = "") -> tuple[str, Any]:
        """One driver's life: it is gone as soon as nothing moves."""
        told = scripted("told", then=tell, retry=Retry(max_retries=0))
        pay = scripted("pay", then=self.pay, effect="write", verify="told", timeout=5000.0, description=about)
        async with opened(pay, told, clock=self.clock, store=self.store) as tp:
            run = await (tp.resume(run_id) if run_id else tp.start(tp.read(PLAN)))
            await self.clock.settle()
            self.told = len(told.calls)
            return run.id, await self.store.get_run(run.id)


async def test_a_second_doubt_of_a_write_is_not_settled_with_the_answer_to_the_first() -> None:
    till = Till()

    def tell(_: Any) -> Any:
        return {"happened": bool(till.effects), "output": till.effects}

    run_id, _ = await till.drive("", tell)
    await till.drive(run_id, tell)
    _, info = await till.drive(run_id, tell)
    assert (info.status, till.effects) == ("completed", [2])


async def test_a_write_in_doubt_is_not_settled_by_a_tool_while_a_changed_tool_is_not_accepted() -> None:
    till = Till()
    run_id, _ = await till.drive("", ValueError("cannot tell"))
    await till.drive(run_id, ValueError("cannot tell"))
    _, info = await till.drive(run_id, {"happened": False}, "another one now")
    assert (info.status, till.told, till.calls) == ("waiting", 0, 1)


async def test_a_call_under_the_key_verify_is_never_taken_for_the_answer_of_the_tool_that_can_tell() -> None:
    clock = FakeClock()
    store = MemoryStore(clock=clock.time)

    async def pay(context: ToolContext) -> Any:
        """Look first, then write."""
        await context.call("look", {}, key="verify")
        await context.call("look", {}, key="verify-2")
        return await after(clock, 1000)

    paying = tool(effect="write", verify="told", timeout=5000.0)(pay)
    look, told = scripted("look", then=False), scripted("told", then={"happened": True, "output": "paid"})
    async with opened(paying, look, told, clock=clock, store=store) as tp:
        run = await tp.start(tp.read(PLAN))
        await clock.settle()
    async with opened(paying, look, told, clock=clock, store=store) as tp:
        result = await (await tp.resume(run.id)).result()
    assert (result.status, result.outputs) == ("completed", "paid")
    assert (len(look.calls), len(told.calls)) == (2, 1)


@given(st.lists(st.text(alphabet="verify-0123456789abcdef /~#[]", min_size=1, max_size=20), unique=True))
def test_keys_that_differ_have_paths_that_differ_and_none_has_one_of_the_engine_s_own(keys: list[str]) -> None:
    names = [safe_key(key) for key in keys]
    assert len(set(names)) == len(names)
    assert not {"verify", "verify-2", "verify-10", "pay-0123abcd"} & set(names)
