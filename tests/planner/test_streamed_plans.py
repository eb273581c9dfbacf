"""Plans that begin while they are still being written."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.planner.planning_cases import ALICE, HELLO, REQUEST, answer, ground

from toolpath.errors import ChatFailed, NoToolFits, PlanningFailed
from toolpath.llm.chat import ModelChat
from toolpath.llm.choice import ModelChoice
from toolpath.planner.by_model.incremental import StepReader
from toolpath.planner.by_model.streaming import PlanWritten, StepWritten, stream_plan
from toolpath.planner.records import PlanRequest
from toolpath.testing.model_replies import Breaks
from toolpath.testing.model_server import ModelServer
from toolpath.testing.scripted_chat import ScriptedChat
from toolpath.values import encode

FIND = {"id": "find", "tool": "web.search", "inputs": {"query": 'cats {and} [dogs] "quoted" \\'}}
PAGE = {"id": "page", "tool": "web.fetch", "inputs": {"url": "{{ find[0].url }}"}}
SAVE = {**ALICE, "depends_on": ["page"]}


async def parts_of(chat: object, text: str = REQUEST) -> tuple[list[StepWritten], PlanWritten]:
    parts = [part async for part in stream_plan(PlanRequest(text=text), ground(chat))]  # type: ignore[arg-type]
    assert all(isinstance(part, StepWritten) for part in parts[:-1])
    assert isinstance(parts[-1], PlanWritten)
    return [part for part in parts if isinstance(part, StepWritten)], parts[-1]


async def test_steps_are_given_as_they_are_written_and_reads_may_start() -> None:
    steps, end = await parts_of(ScriptedChat(answer(FIND, PAGE, SAVE, HELLO | {"inputs": {**HELLO["inputs"]}})))
    assert [part.step.id for part in steps] == ["find", "page", "author", "post"]
    assert [part.may_start for part in steps] == [True, True, False, False]
    assert [len(part.plan.steps) for part in steps] == [1, 2, 3, 4]
    assert end.planned.plan.steps[0].id == "find"
    assert end.revoked == ()
    assert end.planned.record.rounds[0].plan is not None


async def test_a_step_is_given_before_the_answer_ends() -> None:
    chat = ScriptedChat(answer(FIND, PAGE), piece=10)
    stream = stream_plan(PlanRequest(text=REQUEST), ground(chat))
    first = await anext(stream)
    assert isinstance(first, StepWritten)
    assert [step.id for step in first.plan.steps] == ["find"]
    await stream.aclose()


async def test_a_read_after_a_write_may_not_start_early() -> None:
    read = {"id": "find", "tool": "web.search", "inputs": {"query": "{{ author.name }}"}}
    steps, _ = await parts_of(ScriptedChat(answer(ALICE, read)))
    assert [part.may_start for part in steps] == [False, False]


async def test_a_step_with_faults_is_held_back_with_all_after_it_and_mended() -> None:
    wrong = {**PAGE, "tool": "web.fech"}
    chat = ScriptedChat(answer(FIND, wrong, ALICE), answer(FIND, PAGE, ALICE))
    steps, end = await parts_of(chat)
    assert [part.step.id for part in steps] == ["find"]
    assert [step.id for step in end.planned.plan.steps] == ["find", "page", "author"]
    assert end.revoked == ()


async def test_a_step_that_the_mended_plan_does_not_have_is_revoked() -> None:
    chat = ScriptedChat(answer(FIND, {**PAGE, "tool": "web.fech"}), answer({**FIND, "inputs": {"query": "birds"}}))
    steps, end = await parts_of(chat)
    assert [part.step.id for part in steps] == ["find"]
    assert end.revoked == ("find",)


async def test_a_stream_that_breaks_is_a_failure_of_the_model() -> None:
    text = encode(answer(FIND, PAGE)).decode()
    async with ModelServer(Breaks(text=text, after=len(text) * 2 // 24, piece=8)) as server:
        choice = ModelChoice(api="openai", model="m", base_url=f"{server.url}/v1")
        async with ModelChat(choice) as chat:
            seen = []
            with pytest.raises(PlanningFailed) as raised:
                seen += [part async for part in stream_plan(PlanRequest(text=REQUEST), ground(chat))]
            record = raised.value.record
    assert record.rounds[0].error
    assert record.rounds[0].answer == text[: len(record.rounds[0].answer)] != ""


async def test_a_real_client_streams_a_plan() -> None:
    async with ModelServer(encode(answer(FIND, PAGE)).decode()) as server:
        choice = ModelChoice(api="anthropic", model="claude-sonnet-5-5", key="k" * 8, base_url=server.url)
        async with ModelChat(choice) as chat:
            steps, end = await parts_of(chat)
    assert [part.step.id for part in steps] == ["find", "page"]
    assert end.planned.plan.steps[1].id == "page"


async def test_no_steps_and_no_answer_are_told_as_without_a_stream() -> None:
    with pytest.raises(NoToolFits):
        await parts_of(ScriptedChat(answer(reasoning="Nothing fits.")))
    with pytest.raises(PlanningFailed):
        await parts_of(ScriptedChat(ChatFailed("No.", kind="refused")))


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=6), inner, max_size=3),
    max_leaves=12,
)
steps_of_json = st.lists(st.dictionaries(st.text(max_size=6), json_values, max_size=4), max_size=5)


@given(
    steps=steps_of_json,
    before=json_values,
    after=json_values,
    sizes=st.lists(st.integers(1, 7), min_size=1),
    data=st.data(),
)
def test_a_reader_gives_the_steps_of_any_answer_however_it_is_cut(
    steps: list[object], before: object, after: object, sizes: list[int], data: st.DataObject
) -> None:
    text = json.dumps(
        {"origin": {"steps": [{"no": before}]}, "x": before, "steps": steps, "y": after},
        ensure_ascii=data.draw(st.booleans()),
        indent=data.draw(st.sampled_from([None, 2])),
    )
    reader, found, at = StepReader(), [], 0
    for number in range(len(text)):
        size = sizes[number % len(sizes)]
        found += reader.feed(text[at : at + size])
        at += size
    assert found == steps


@pytest.mark.parametrize(
    "text", ['{"steps": [{"a": 1}, {broken}, {"b": 2}]}', 'Say "so": {"steps": [{"a": 1},{"b": 2}]}']
)
def test_what_is_no_json_is_left_out(text: str) -> None:
    assert StepReader().feed(text) == [{"a": 1}, {"b": 2}]


def test_the_cost_of_a_piece_does_not_grow_with_what_came_before() -> None:
    reader, found = StepReader(), 0
    entry = json.dumps({"id": "s", "tool": "a.b", "inputs": {"x": "y" * 80}})
    reader.feed('{"steps": [')
    for _ in range(20_000):
        found += len(reader.feed(entry[:50])) + len(reader.feed(entry[50:] + ","))
    # Two million characters are read; more is no plan.
    assert 10_000 < found < 20_000


def test_a_text_without_end_is_given_up() -> None:
    reader = StepReader()
    reader.feed('{"steps": [{"a": "')
    for _ in range(30):
        assert reader.feed("x" * 10_000) == []
    assert reader.is_broken
