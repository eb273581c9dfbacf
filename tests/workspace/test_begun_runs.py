"""Runs that are begun with a conversation's id: told in it once, after its turn, bounded, and not lost with the run."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest
from tests.server.rest_cases import api, settled
from tests.server.rest_cases import tools as rest_tools
from tests.workspace.conversation_cases import short, talking, told

from toolpath import Settings, Toolpath
from toolpath.errors import ChatFailed, KeyReused, PlanInvalid, RunConflict
from toolpath.model.chat import ChatRequest
from toolpath.model.run import RunContext
from toolpath.testing.clock import FakeClock
from toolpath.testing.scripted_model import done
from toolpath.workspace.conversations import begun_runs, memory
from toolpath.workspace.conversations.begun_runs import BEGINNING
from toolpath.workspace.conversations.message import MessageDraft

READ: dict[str, Any] = {
    "name": "Read a page",
    "inputs": {"type": "object", "properties": {"page": {"type": "string"}}},
    "steps": [{"id": "r", "tool": "web.read", "inputs": {"page": "{{ inputs.page }}"}}],
    "outputs": "{{ r }}",
}


async def history(tp: Toolpath, conversation_id: str) -> list[tuple[int, str, str, str]]:
    known = await tp.conversations.get(conversation_id)
    return [(each.number, each.role, each.text, each.status) for each in await tp.conversations.history(known)]


async def test_what_a_run_was_asked_and_what_came_of_it_are_messages_that_the_next_turn_knows() -> None:
    tp, model, _ = talking(then="You read p1.")
    async with tp:
        talk = (await tp.conversations.create()).conversation_id
        context = RunContext(conversation_id=talk)
        result = await tp.run(READ, {"page": "p1"}, context=context)
        assert result.success
        kept = await tp.conversations._records.get(talk)  # what is there before anybody looks
        assert kept is not None
        assert (kept.messages, kept.begun) == (2, ())
        found = await history(tp, talk)
        assert found[0] == (1, "user", "Run Read a page.\npage: p1", "")
        assert found[1][:2] == (2, "assistant")
        assert found[1][2]
        assert found[1][3] == "completed"
        assert (await tp.conversations.get(talk)).characters == sum(len(text) for _, _, text, _ in found)
        assert short(await told(tp.conversations.say(talk, "What did I read?")))[-1] == "end completed"
        assert [message.text for message in model.requests[-1].messages] == [
            found[0][2],
            found[1][2],
            "What did I read?",
        ]


async def test_the_first_message_is_told_once() -> None:
    tp, model, _ = talking("Hello.")
    async with tp:
        talk = await tp.conversations.create()
        await told(tp.conversations.say(talk, "I am Ada."))
        assert [message.text for message in model.requests[-1].messages] == ["I am Ada."]


async def test_a_run_with_the_same_key_is_told_once_and_one_that_was_refused_is_not() -> None:
    tp, _, _ = talking()
    async with tp:
        talk = (await tp.conversations.create()).conversation_id
        context = RunContext(conversation_id=talk)
        for _ in range(2):
            run = await tp.start(READ, {"page": "p1"}, context=context, idempotency_key="k")
            assert (await run.result()).success
        with pytest.raises(KeyReused):
            await tp.start(READ, {"page": "p2"}, context=context, idempotency_key="k")
        with pytest.raises(PlanInvalid):
            await tp.start({"steps": [{"id": "a", "tool": "no.such"}]}, context=context)
        found = await tp.conversations.get(talk)
        assert (found.messages, found.begun) == (2, ())


async def test_a_run_that_ends_in_the_middle_of_a_turn_is_told_after_its_answer() -> None:
    tp, model, _ = talking(then="one two")
    async with tp:
        talk = await tp.conversations.create()
        model.open.clear()
        turn = await tp.conversations.begin(talk, MessageDraft(text="Count."), context=RunContext())
        await model.stands.wait()
        context = RunContext(conversation_id=talk.conversation_id)
        results = await asyncio.gather(*(tp.run(READ, {"page": f"p{n}"}, context=context) for n in range(5)))
        assert all(result.success for result in results)
        assert len(await history(tp, talk.conversation_id)) == 1
        model.open.set()
        await tp.result(turn.run_id)
        found = await history(tp, talk.conversation_id)
        assert [text for _, _, text, _ in found[:2]] == ["Count.", "one two"]
        assert [number for number, *_ in found] == list(range(1, 13))
        asked = [text for _, role, text, _ in found[2:] if role == "user"]
        assert sorted(asked) == [f"Run Read a page.\npage: p{n}" for n in range(5)]


async def test_many_that_look_at_once_tell_each_run_once() -> None:
    tp, _, _ = talking()
    async with tp:
        talk = (await tp.conversations.create()).conversation_id
        context = RunContext(conversation_id=talk)
        results = await asyncio.gather(*(tp.run(READ, {"page": f"p{n}"}, context=context) for n in range(10)))
        looks = await asyncio.gather(*(tp.conversations.get(talk) for _ in range(10)))
        assert {(each.messages, each.begun) for each in looks} == {(20, ())}
        page = await tp.conversations.history(looks[0], limit=50)
        assert [each.number for each in page] == list(range(1, 21))
        runs = [each.run_id for each in page]
        assert sorted(runs) == sorted(result.run_id for result in results for _ in range(2))
        assert all(runs[at] == runs[at + 1] for at in range(0, 20, 2))


async def test_who_dies_between_the_end_of_a_run_and_its_messages_leaves_them_to_the_next_that_looks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tp, _, _ = talking(store=tmp_path / "runs.db")

    async def died(_: str) -> None:
        return

    async with tp:
        talk = (await tp.conversations.create()).conversation_id
        monkeypatch.setattr(tp._launcher, "ended", died)
        await tp.run(READ, {"page": "p1"}, context=RunContext(conversation_id=talk))
        records = tp.conversations._records
        kept = await records.get(talk)
        assert kept is not None
        # The first has its numbers, and none of its messages.
        numbered = await tp.conversations.turns.begun_runs.one_told(kept)
        assert numbered is not None
        assert (numbered.messages, [each.number for each in numbered.begun]) == (2, [1])
        assert await records.message(talk, 1) is None
    other, _, _ = talking(store=tmp_path / "runs.db")
    async with other:
        found = await history(other, talk)
        assert [number for number, *_ in found] == [1, 2]
        assert found[0][2] == "Run Read a page.\npage: p1"


async def test_a_run_that_was_never_begun_is_forgotten_after_a_while() -> None:
    clock = FakeClock()
    tp, _, _ = talking(clock=clock)
    async with tp:
        talk = (await tp.conversations.create()).conversation_id
        await tp.conversations.turns.begun_runs.note(talk, "run_that_never_came")
        assert len((await tp.conversations.get(talk)).begun) == 1
        await clock.advance(BEGINNING + 1)
        found = await tp.conversations.get(talk)
        assert (found.messages, found.begun) == (0, ())


async def test_more_runs_than_a_conversation_can_follow_are_refused_and_large_inputs_are_cut(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(begun_runs, "MOST_BEGUN", 2)
    tp, _, _ = talking()
    asks = {"steps": [{"id": "who", "ask": {"title": "Who?", "inputs": [{"name": "n"}]}}]}
    async with tp:
        talk = (await tp.conversations.create()).conversation_id
        context = RunContext(conversation_id=talk)
        runs = [await tp.start(asks, context=context) for _ in range(2)]
        with pytest.raises(RunConflict, match="2 runs of the conversation"):
            await tp.start(asks, context=context)
        for run in runs:
            await tp.cancel(run.run_id)
            await run.result()
        await tp.run(READ, {"page": "x" * 500_000}, context=context)
        found = await history(tp, talk)
        assert [status for _, role, _, status in found if role == "assistant"][:2] == ["cancelled", "cancelled"]
        assert all(len(text) < 25_000 for _, _, text, _ in found)


async def test_runs_of_a_full_conversation_end_well_and_are_not_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(begun_runs, "MOST_MESSAGES", 3)
    tp, _, _ = talking()
    async with tp:
        talk = (await tp.conversations.create()).conversation_id
        for _ in range(3):
            assert (await tp.run(READ, {"page": "p"}, context=RunContext(conversation_id=talk))).success
        found = await tp.conversations.get(talk)
        assert (found.messages, found.begun) == (2, ())


async def test_over_rest_a_run_and_a_template_s_run_are_told_in_their_conversation() -> None:
    tp = rest_tools(Toolpath())
    plan = {"steps": [{"id": "s", "tool": "add", "inputs": {"a": "<<a>>", "b": 1}}], "outputs": "{{ s }}"}
    async with api(tp) as client:
        talk = (await client.post("conversations", json={})).json()["conversation_id"]
        body = {"tool": "add", "inputs": {"a": 1, "b": 2}, "conversation_id": talk, "idempotency_key": "one"}
        for _ in range(2):
            run = (await client.post("runs", json=body)).json()["run_id"]
            assert (await settled(client, run))["status"] == "completed"
        made = await client.post("templates", json={"title": "Next", "document": plan})
        assert made.status_code == 201, made.text
        place = f"templates/{made.json()['template_id']}"
        assert (await client.post(f"{place}/publish", json={"channels": ["http"]})).status_code == 200
        begun = await client.post(f"{place}/runs", json={"inputs": {"a": 41}, "conversation_id": talk})
        assert begun.status_code == 202, begun.text
        await settled(client, begun.json()["run_id"])
        said = (await client.get(f"conversations/{talk}")).json()
        assert said["messages"] == 4
        texts = [each["text"] for each in (await client.get(f"conversations/{talk}/messages")).json()["messages"]]
        assert texts[1] == "3"
        assert texts[2:] == ["Run Next.\na: 41", "42"]


# Answers of turns.


async def test_the_answer_of_a_turn_is_kept_when_its_run_ends_though_nobody_looks() -> None:
    tp, _, _ = talking("Hello Ada.")
    async with tp:
        talk = await tp.conversations.create()
        turn = await tp.conversations.begin(talk, MessageDraft(text="I am Ada."), context=RunContext())
        await tp.result(turn.run_id)
        kept = await tp.conversations._records.get(talk.conversation_id)
        assert kept is not None
        assert (kept.messages, kept.turn) == (2, None)


@pytest.mark.parametrize("by", ["prune", "store"])
async def test_an_answer_that_nobody_kept_is_not_lost_with_its_run(by: str, monkeypatch: pytest.MonkeyPatch) -> None:
    tp, _, _ = talking("Hello Ada.")

    async def died(_: str) -> None:
        return

    async with tp:
        monkeypatch.setattr(tp._launcher, "ended", died)
        talk = (await tp.conversations.create()).conversation_id
        turn = await tp.conversations.begin(
            await tp.conversations.get(talk), MessageDraft(text="I am Ada."), context=RunContext()
        )
        await tp.result(turn.run_id)
        if by == "prune":
            assert len(await tp.prune(-1)) == 1
        else:
            await tp.store.delete_runs([turn.run_id])
        found = await history(tp, talk)
        expected = ("Hello Ada.", "completed") if by == "prune" else ("", "lost")
        if by == "store":
            # Nothing of ours deletes so: then the answer is told as lost, once a minute has passed.
            assert len(found) == 1
        else:
            assert found[1][2:] == expected


# Settings, summaries.


async def test_a_change_of_how_much_is_remembered_is_heard_by_what_begins_next() -> None:
    plan = {"steps": [{"id": "a", "agent": {"requirement": "Do it.", "tools": ["none"]}}]}
    ends = [("terminate", {"message": "ended"})]
    tp, model, _ = talking(then="Noted.")
    async with tp:
        talk = (await tp.conversations.create()).conversation_id
        for number in range(6):
            await told(tp.conversations.say(talk, f"Number {number}: " + "x" * 1_500))
        model.then = ends
        context = RunContext(conversation_id=talk)
        await tp.run(plan, context=context)
        assert "left out" not in model.requests[-1].messages[0].text
        await tp.stored_settings.change({"conversation_memory": 6_000})
        await tp.run(plan, context=context)
        assert "left out" in model.requests[-1].messages[0].text
        model.then = "Noted."
        await tp.stored_settings.change({"conversation_memory": 30_000})
        await told(tp.conversations.say(talk, "One more."))
        assert "left out" not in model.requests[-1].messages[0].text


async def test_a_model_that_writes_no_summary_in_time_keeps_nobody_from_talking(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(memory, "SUMMARY_WITHIN", 0.01)
    tp, model, _ = talking(then="Noted.", settings=Settings(conversation_memory=6_000))
    ask = type(model).__call__

    async def never(self: Any, request: Any) -> Any:
        if "Summarise" in request.system:
            await asyncio.Event().wait()
        return await ask(self, request)

    monkeypatch.setattr(type(model), "__call__", never)
    async with tp:
        talk = (await tp.conversations.create()).conversation_id
        for number in range(6):
            parts = await told(tp.conversations.say(talk, f"Number {number}: " + "x" * 1_500))
            assert short(parts)[-1] == "end completed"
        found = (await tp.conversations.get(talk)).summary
        assert found is not None
        assert not found.by_model


# Calls in words.


@pytest.mark.parametrize(
    "written",
    [
        '{"tool_calls": [{"name": "web.search", "arguments": {"query": "tea"}}]}',
        '<tool_call>{"name": "web.search", "arguments": {"query": "tea"}}</tool_call>',
        '```json\n{"tool_calls": [{"name": "web.search", "arguments": {"query": "tea"}}]}\n```',
    ],
)
async def test_a_model_that_writes_its_calls_as_text_talks_and_its_calls_are_not_told_as_words(written: str) -> None:
    tp, model, world = talking(written, "There are two pages.")
    async with tp:
        talk = (await tp.conversations.create()).conversation_id
        parts = await told(tp.conversations.say(talk, "What is there on tea?"))
        assert short(parts) == ["call web.search", "result succeeded", "text There are two pages.", "end completed"]
        assert world.calls == [("search", "tea")]
        assert (await history(tp, talk))[1][2] == "There are two pages."
        assert len(model.requests) == 2


async def test_a_write_that_is_written_as_text_is_asked_about() -> None:
    written = '{"tool_calls": [{"name": "blog.post", "arguments": {"title": "Tea"}}]}'
    tp, _, world = talking(written, "You did not want it.")
    async with tp:
        talk = (await tp.conversations.create()).conversation_id
        seen: list[Any] = []
        async for part in tp.conversations.say(talk, "Post it."):
            seen.append(part)
            if short([part])[0].startswith("approval"):
                assert world.calls == []
                await tp.deny(part.run_id, part.step)  # type: ignore[union-attr]  # it is a question
        assert short(seen)[-2:] == ["text You did not want it.", "end completed"]
        assert world.calls == []


async def test_what_came_of_a_retry_takes_the_place_of_the_failure_and_a_fork_is_told(tmp_path: Path) -> None:
    is_away = True

    def away(request: ChatRequest) -> Any:
        if is_away:
            raise ChatFailed("The model is away.", kind="denied")
        can_end = any(spec.name == "terminate" for spec in request.tools)
        return done("Here I am.") if can_end else "Here I am."

    tp, model, _ = talking(then=away, store=tmp_path / "t.db")
    async with tp:
        talk = (await tp.conversations.create()).conversation_id
        context = RunContext(conversation_id=talk)
        # A turn, and a run that was begun besides.
        assert short(await told(tp.conversations.say(talk, "Are you there?")))[-1] == "end failed"
        begun = await tp.run(
            {"steps": [{"id": "a", "agent": {"requirement": "Look."}}], "outputs": "{{ a }}"}, context=context
        )
        assert begun.status == "failed"
        before = await history(tp, talk)
        assert [status for *_, status in before] == ["", "failed", "", "failed"]
        # A retry that fails again, one that was refused, and one that succeeds.
        turn = (await tp.conversations.history(await tp.conversations.get(talk)))[1].run_id
        for run_id in (turn, begun.run_id):
            assert (await (await tp.retry(run_id)).result()).status == "failed"
        assert await history(tp, talk) == before
        is_away = False
        for run_id in (turn, begun.run_id):
            assert (await (await tp.retry(run_id)).result()).success
            with pytest.raises(RunConflict):
                await tp.retry(run_id)
        found = await history(tp, talk)
        assert [(number, role, status) for number, role, _, status in found] == [
            (1, "user", ""), (2, "assistant", "completed"), (3, "user", ""), (4, "assistant", "completed"),
        ]  # fmt: skip
        assert [text for _, role, text, _ in found if role == "assistant"] == ["Here I am.", "Here I am."]
        known = await tp.conversations.get(talk)
        assert (known.characters, known.begun) == (sum(len(text) for _, _, text, _ in found), ())
        # The next turn is told what came of it in the end.
        await told(tp.conversations.say(talk, "And now?"))
        assert not any("failed" in message.text for message in model.requests[-1].messages)
        # A fork belongs to the conversation as the run that it comes of.
        fork = await tp.fork(begun.run_id)
        assert (await fork.result()).success
        assert (await history(tp, talk))[-1][1:] == ("assistant", "Here I am.", "completed")
        assert len(await history(tp, talk)) == 8


async def test_a_fork_that_names_a_conversation_of_others_is_not_told_in_it() -> None:
    tp, _, _ = talking()
    async with tp:
        for owner in ({"tenant": "acme"}, {"user": "ada"}):
            talk = (await tp.conversations.create(**owner)).conversation_id
            run = await tp.run(READ, {"page": "p1"}, context=RunContext("eve", conversation_id=talk))
            fork = await tp.fork(run.run_id)
            retold = await tp.fork(run.run_id, context=RunContext("eve", tenant="evil"))
            assert (await fork.result()).success
            assert (await retold.result()).success
            kept = await tp.conversations._records.get(talk)
            assert kept is not None
            assert (kept.messages, kept.begun) == (0, ())


async def test_a_retry_that_another_process_ends_is_told_by_whoever_looks_next(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def away(_: Any) -> str:
        raise ChatFailed("The model is away.", kind="denied")

    store = tmp_path / "t.db"
    first, _, _ = talking(then=away, store=store)
    async with first:
        talk = (await first.conversations.create()).conversation_id
        assert short(await told(first.conversations.say(talk, "Are you there?")))[-1] == "end failed"
        (run,) = await first.runs()
        # It dies when the retry is noted, and the run goes on in a process that has no conversations open.
        await first.conversations.turns.begun_runs.note_again(talk, run.run_id)
        assert [status for *_, status in await history(first, talk)] == ["", "failed"]
    second, _, _ = talking(then="Here I am.", store=store)
    monkeypatch.setattr(second._launcher, "ended", _deaf)
    async with second:
        assert (await (await second._steering.retry(run.run_id)).result()).success
    third, _, _ = talking(store=store)
    async with third:
        assert [status for *_, status in await history(third, talk)] == ["", "completed"]


async def _deaf(conversation_id: str) -> None:
    """Hear nothing of a run that has ended."""
