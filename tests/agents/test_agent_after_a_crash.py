"""An agent goes on after a crash: no model is asked and no tool called again, wherever the journal ends."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

import msgspec
from tests.agents.agent_cases import agent
from tests.engine.engine_cases import Ran, opened, ran, resumed_after, run

from toolpath import RunResult, Settings, Tool, Toolpath, tool
from toolpath.model import events as ev
from toolpath.model.events import AnyEvent, encode_event
from toolpath.model.run import RunInfo
from toolpath.notation.plan import read_plan
from toolpath.store.memory.store import MemoryStore
from toolpath.testing.clock import FakeClock
from toolpath.testing.scripted_model import ScriptedModel, done

FORM = {"title": "Which tea?", "inputs": [{"name": "tea", "type": "text"}]}
#: Ten rounds: reads, writes, calls that are refused and that fail, a plan inside, a form.
TURNS: list[Any] = [
    [("look", {"n": 1}), ("look", {"n": 2})],
    [("save", {"n": 1})],
    [("nothing", {}), ("look", {"m": 3})],
    [("both", {"n": 4})],
    "I have to think.",
    [("broken", {}), ("look", {"n": 5})],
    [("form_input", FORM)],
    [("save", {"n": 2}), ("save", {"n": 3}), ("look", {"n": 6})],
    [("both", {"n": 7}), ("look", {"n": 8})],
    done("ended"),
]
PLAN = agent(tools=["look", "save", "both", "broken", "form_input"])

#: The drivers that go on look an hour later: a form of the run is still open then.
PATIENT = Settings(user_input_timeout=86_400)


class Counted:
    """Tools that count each of their calls by name and number."""

    def __init__(self) -> None:
        self.calls: Counter[str] = Counter()

    def tools(self) -> list[Tool]:
        calls = self.calls

        @tool(effect="read")
        async def look(n: int) -> int:
            calls[f"look {n}"] += 1
            return n

        @tool(effect="write")
        async def save(n: int) -> int:
            calls[f"save {n}"] += 1
            return n

        @tool(effect="write")
        async def broken() -> int:
            calls["broken"] += 1
            raise ValueError("broken")

        body = read_plan(
            {
                "name": "both",
                "inputs": {"properties": {"n": {"type": "integer"}}, "required": ["n"]},
                "steps": [
                    {"id": "l", "tool": "look", "inputs": {"n": "{{ inputs.n * 10 }}"}},
                    {"id": "s", "tool": "save", "inputs": {"n": "{{ l * 10 }}"}},
                ],
                "outputs": "{{ s }}",
            }
        )
        both = Tool(name="both", description="Look and save.", effect="write", input_schema=body.inputs, body=body)
        return [look, save, broken, both]  # type: ignore[list-item]


def model() -> ScriptedModel:
    return ScriptedModel(*TURNS)


async def whole() -> tuple[Ran, Counted]:
    """The run as it goes without a crash."""
    world = Counted()
    async with opened(*world.tools(), chat=model(), settings=PATIENT) as tp:
        waiting = await tp.run(tp.read(PLAN))
        assert waiting.status == "waiting"
        return await answered(tp, waiting), world


async def answered(tp: Toolpath, waiting: RunResult) -> Ran:
    """The run once its form is answered."""
    assert [question.path for question in waiting.questions] == ["a/round[7]/act[0]"]
    run = await tp.answer(waiting.run_id, "a/round[7]/act[0]", {"tea": "green"})
    return await ran(tp, await run.result())


async def test_ten_rounds_are_played_without_a_crash() -> None:
    found, world = await whole()
    assert (found.status, found.outputs) == ("completed", "ended")
    assert set(world.calls.values()) == {1}
    thoughts = [event.path for event in found.of(ev.StepSucceeded) if event.path.endswith("/think")]
    assert thoughts == [f"a/round[{n}]/think" for n in range(1, 11)]


async def resumed(events: Sequence[AnyEvent], world: Counted, chat: ScriptedModel) -> Ran:
    """What comes of the run of which only these events are left; writes in doubt are settled as not having happened."""
    clock = FakeClock(auto=True)
    store = MemoryStore(clock=clock.time)
    started = events[0]
    assert isinstance(started, ev.RunStarted)
    async with opened(*world.tools(), clock=clock, store=store, chat=chat, settings=PATIENT) as tp:
        await store.create_run(RunInfo(run_id=started.run_id, status="running"))
        (await store.drive(started.run_id, "dead")).append(events)
        await clock.sleep(3600)
        result = await (await tp.resume(started.run_id)).result()
        while result.status == "waiting":
            if result.questions:
                (question,) = result.questions
                run = await tp.answer(result.run_id, question.path, {"tea": "green"})
            else:
                (doubt,) = [step for step in result.results if step.status == "unknown"]
                run = await tp.settle(result.run_id, doubt.path, retry=True)
            result = await run.result()
        return await ran(tp, result)


def in_flight(events: Sequence[AnyEvent]) -> set[str]:
    """Paths of the calls that had begun and not ended."""
    begun: set[str] = set()
    for event in events:
        if isinstance(event, ev.StepStarted) and event.key:
            begun.add(event.path)
        elif isinstance(event, ev.StepSucceeded | ev.StepFailed):
            begun.discard(event.path)
    return begun


def ended(events: Sequence[AnyEvent]) -> set[str]:
    """Paths of the calls that had ended."""
    return {event.path for event in events if isinstance(event, ev.StepSucceeded | ev.StepFailed)}


async def test_wherever_the_journal_is_cut_nothing_is_asked_or_called_again() -> None:
    uncut, _ = await whole()
    for length in range(1, len(uncut.events)):
        left = uncut.events[:length]
        world, chat = Counted(), model()
        found = await resumed(left, world, chat)
        assert (found.status, found.outputs) == ("completed", "ended"), length
        again = [
            event.path
            for event in found.events[length:]
            if isinstance(event, ev.StepStarted) and event.key and event.path in ended(left)
        ]
        assert again == [], length
        thought = [path for path in ended(left) if path.endswith("/think")]
        assert len(chat.requests) == 10 - len(thought), length
        assert max(world.calls.values(), default=1) == 1, length
        replies = {e.path: e.output for e in found.of(ev.StepSucceeded) if e.path.startswith("a/")}
        assert replies == {e.path: e.output for e in uncut.of(ev.StepSucceeded) if e.path.startswith("a/")}, length


async def test_a_model_is_told_the_same_after_a_crash() -> None:
    uncut, _ = await whole()
    first = model()
    world = Counted()
    await resumed(uncut.events[:1], world, first)
    for length in range(2, len(uncut.events), 5):
        chat = model()
        await resumed(uncut.events[:length], Counted(), chat)
        if chat.requests:
            assert chat.requests == first.requests[-len(chat.requests) :], length


async def test_a_write_in_flight_is_asked_about_and_the_agent_is_not() -> None:
    uncut, _ = await whole()
    length = next(n for n, event in enumerate(uncut.events) if _starts(event, "a/round[2]/act[0]")) + 1
    world = Counted()
    found = await resumed(uncut.events[:length], world, model())
    assert [event.path for event in found.of(ev.StepUnknown)] == ["a/round[2]/act[0]"]
    assert world.calls["save 1"] == 1


def _starts(event: AnyEvent, path: str) -> bool:
    return isinstance(event, ev.StepStarted) and event.path == path


async def test_a_prompt_that_changes_is_no_other_call_after_a_crash() -> None:
    """The agent's words have changed since: what was answered stands all the same."""
    uncut, _ = await whole()
    left = [
        msgspec.structs.replace(event, inputs={"round": 1, "messages": [{"text": "It is Monday."}]})
        if isinstance(event, ev.StepStarted) and event.path.endswith("/think")
        else event
        for event in uncut.events[:20]
    ]
    chat = model()
    found = await resumed(left, Counted(), chat)
    assert found.status == "completed"
    assert len(chat.requests) == 10 - len([path for path in ended(left) if path.endswith("/think")])


async def test_an_agent_that_has_spent_all_it_may_ends_after_a_crash_as_it_would_have() -> None:
    world = Counted()
    turns = [[("look", {"n": 1})], done("x")]
    plan = agent(tools=["look"], budget={"calls": 4})
    whole = await run(plan, *world.tools(), chat=ScriptedModel(*turns))
    assert whole.outputs == "x"
    for length in range(1, len(whole.events)):
        found = await resumed_after(whole.events[:length], *world.tools(), chat=ScriptedModel(*turns))
        assert (found.status, found.outputs) == ("completed", "x"), length


async def test_thirty_rounds_of_large_results_are_in_the_journal_once() -> None:
    @tool(effect="read")
    async def page(n: int) -> str:
        return f"{n} " + "x" * 20_000

    turns = [[("page", {"n": n})] for n in range(29)]
    chat = ScriptedModel(*turns, done("x"))
    found = await run(agent(), page, chat=chat)
    assert found.outputs == "x"
    size = sum(len(encode_event(event)) for event in found.events)
    assert size < 29 * 20_000 + 60_000
    short = await run(agent(), page, chat=ScriptedModel(*turns[:14], done("x")))
    # Twice the rounds are twice the journal.
    assert size < 2.2 * sum(len(encode_event(event)) for event in short.events)
