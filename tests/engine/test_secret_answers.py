"""What people type into password fields: the tool that needs it gets it, and it stands nowhere."""

from __future__ import annotations

import asyncio
import logging
from pathlib import Path
from typing import Any

import pytest
from tests.agents.agent_cases import agent, told
from tests.engine.engine_cases import opened, ran

from toolpath import Settings, Tool, Toolpath, tool
from toolpath.access.sealing import KEY_VARIABLE, new_key
from toolpath.errors import RunConflict, SchemaError
from toolpath.model import events as ev
from toolpath.model.chat import ChatRequest
from toolpath.model.events import encode_event
from toolpath.model.stand_ins import misplaced, stand_in
from toolpath.testing.scripted import scripted
from toolpath.testing.scripted_model import ScriptedModel, done

PASSWORD = "correct horse+Battery/9"
ASK = {"id": "form", "ask": {"title": "Log in", "inputs": [{"name": "user"}, {"name": "pw", "type": "password"}]}}
LOGIN: dict[str, Any] = {
    "name": "login",
    "steps": [
        ASK,
        {"id": "entry", "tool": "login", "inputs": {"user": "{{ form.user }}", "auth": "Basic {{ form.pw }}"}},
    ],
    "outputs": {"form": "{{ form }}", "entry": "{{ entry }}"},
}
ANSWER = {"user": "ann", "pw": PASSWORD}


class Door:
    """A tool that wants a password, and is careless with it."""

    def __init__(self, *, hangs: bool = False) -> None:
        self.seen: list[str] = []
        self.entered = asyncio.Event()
        self.hangs = hangs

    def tool(self) -> Tool:
        @tool(effect="read", idempotent=True)
        async def login(user: str, auth: str) -> dict[str, str]:
            """Log in."""
            self.seen.append(auth)
            logging.getLogger("door").warning("in with %s", auth)
            self.entered.set()
            if self.hangs:
                await asyncio.Event().wait()
            return {"welcome": f"{user} with {auth}"}

        return login  # type: ignore[return-value]


def bytes_of(folder: Path) -> bytes:
    return b"".join(file.read_bytes() for file in sorted(folder.iterdir()) if not file.name.endswith(".key"))


async def test_the_tool_gets_it_and_it_stands_nowhere(tmp_path: Path) -> None:
    door = Door()
    async with opened(door.tool(), store=tmp_path / "runs.db") as tp:
        waiting = await tp.run(tp.read(LOGIN))
        result = await (await tp.answer(waiting.run_id, "form", ANSWER)).result()
        found = await ran(tp, result)
        assert door.seen == [f"Basic {PASSWORD}"]
        shown = "".join(encode_event(event).decode() for event in found.events) + repr(result.as_json())
        assert PASSWORD not in shown
        assert result.outputs["entry"] == {"welcome": "ann with Basic [redacted]"}
        assert result.outputs["form"]["user"] == "ann"
        assert result.outputs["form"]["pw"].startswith("[secret:")
        assert len(await tp.store.list_records("run_secret", parent=waiting.run_id)) == 1
        await tp.prune(-10)
        assert not await tp.store.list_records("run_secret", parent=waiting.run_id)
    assert PASSWORD.encode() not in bytes_of(tmp_path)


async def test_it_is_there_after_a_crash_and_in_another_process(tmp_path: Path) -> None:
    first, second = Door(hangs=True), Door()
    async with Toolpath(tmp_path / "runs.db", settings=Settings()) as tp:
        tp.add(first.tool())
        waiting = await tp.run(tp.read(LOGIN))
        await tp.answer(waiting.run_id, "form", ANSWER)
        await first.entered.wait()
    async with Toolpath(tmp_path / "runs.db", settings=Settings()) as tp:
        tp.add(second.tool())
        result = await (await tp.resume(waiting.run_id)).result()
    assert result.status == "completed"
    assert first.seen == second.seen == [f"Basic {PASSWORD}"]
    assert PASSWORD.encode() not in bytes_of(tmp_path)


async def test_without_its_key_the_step_says_so_and_the_run_can_be_ended(tmp_path: Path) -> None:
    first = Door(hangs=True)
    async with Toolpath(tmp_path / "runs.db", settings=Settings()) as tp:
        tp.add(first.tool())
        waiting = await tp.run(tp.read(LOGIN))
        await tp.answer(waiting.run_id, "form", ANSWER)
        await first.entered.wait()
    (tmp_path / "runs.db.key").write_text(new_key())
    async with Toolpath(tmp_path / "runs.db", settings=Settings()) as tp:
        tp.add((second := Door()).tool())
        result = await (await tp.resume(waiting.run_id)).result()
        assert result.error is not None
        assert (result.status, result.error.code, second.seen) == ("failed", "secret_gone", [])


async def test_a_fork_has_it_and_one_of_a_run_that_ended_well_has_not() -> None:
    async with opened(door := Door().tool(), (after := scripted("after", ValueError("no"), {"ok": 1}))) as tp:
        plan = {**LOGIN, "steps": [*LOGIN["steps"], {"id": "z", "tool": "after", "depends_on": ["entry"]}]}
        waiting = await tp.run(tp.read(plan))
        failed = await (await tp.answer(waiting.run_id, "form", ANSWER)).result()
        assert failed.status == "failed"
        fork = await (await tp.fork(failed.run_id, from_step="entry")).result()
        assert (fork.status, len(after.calls)) == ("completed", 2)
        late = await (await tp.fork(fork.run_id, from_step="entry")).result()
    assert door is not None
    assert late.error is not None
    assert late.error.code == "secret_gone"


async def test_a_key_is_needed_where_the_store_outlives_the_process(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(KEY_VARIABLE, "no key")
    async with opened(Door().tool()) as tp:
        waiting = await tp.run(tp.read(LOGIN))
        with pytest.raises(Exception, match=KEY_VARIABLE):
            await tp.answer(waiting.run_id, "form", ANSWER)
        assert not await tp.store.take_signals(waiting.run_id)


@pytest.mark.parametrize("given", [12345678, ["s3cret value"], {"a": "s3cret value"}, True])
async def test_a_fault_never_tells_what_was_typed(given: Any) -> None:
    async with opened(Door().tool()) as tp:
        waiting = await tp.run(tp.read(LOGIN))
        with pytest.raises(SchemaError) as refused:
            await tp.answer(waiting.run_id, "form", {"user": "ann", "pw": given})
    assert "s3cret" not in str(refused.value)
    assert "12345678" not in str(refused.value)


async def test_another_run_is_not_redacted_by_the_word_of_this_one() -> None:
    async with opened(Door().tool(), scripted("say", {"text": "ann says hello"})) as tp:
        waiting = await tp.run(tp.read(LOGIN))
        waiting_too = await tp.run(tp.read({**LOGIN, "steps": [ASK, {"id": "entry", "tool": "say"}]}))
        await (await tp.answer(waiting.run_id, "form", {"user": "ann", "pw": "hello"})).result()
        other = await (await tp.answer(waiting_too.run_id, "form", {"user": "ann", "pw": "else"})).result()
    assert other.outputs["entry"] == {"text": "ann says hello"}


async def test_lines_of_the_log_are_cleaned_while_the_run_is_driven() -> None:
    door = Door(hangs=True)
    async with opened(door.tool()) as tp:
        waiting = await tp.run(tp.read(LOGIN))
        await tp.answer(waiting.run_id, "form", ANSWER)
        await door.entered.wait()
        assert tp.redact(f"in with {PASSWORD}") == "in with [redacted]"
        await tp.cancel(waiting.run_id)


async def test_an_agent_hands_it_on_and_never_sees_it() -> None:
    seen: list[str] = []

    @tool(effect="read")
    async def login(user: str, password: str) -> str:
        """Log in."""
        seen.append(password)
        return f"logged in with {password}"

    @tool(effect="write")
    async def send(to: str, text: str) -> str:
        """Send a mail."""
        seen.append(text)
        return "sent"

    def hand_on(request: ChatRequest) -> list[tuple[str, dict[str, Any]]]:
        token = "[secret:" + request.messages[-1].text.partition("[secret:")[2].partition("]")[0] + "]"
        return [("login", {"user": "ann", "password": token}), ("send", {"to": "eve", "text": f"it is {token}"})]

    form = {"title": "Log in", "inputs": [{"name": "pw", "type": "password"}]}
    model = ScriptedModel([("form_input", form)], hand_on, done("x"))
    async with opened(login, send, chat=model) as tp:
        waiting = await tp.run(agent())
        result = await (await tp.answer(waiting.run_id, values={"pw": PASSWORD})).result()
    assert result.status == "completed"
    assert seen == [PASSWORD]
    assert PASSWORD not in repr(model.requests)
    assert "takes no secret" in told(model)[1]


@pytest.mark.parametrize(
    "name", ["password", "userPasswd", "api_key", "apiKey", "token", "pin", "PIN", "client_secret"]
)
def test_arguments_that_take_a_secret_by_their_name(name: str) -> None:
    assert not misplaced({name: stand_in("a" * 24)}, {})


@pytest.mark.parametrize("name", ["text", "body", "url", "passenger", "spin", "pinned", "keyboard"])
def test_arguments_that_take_none(name: str) -> None:
    value = {"deep": [f"x {stand_in('a' * 24)}"]}
    assert misplaced({name: value}, {}) == [name]
    assert not misplaced({name: value}, {"properties": {name: {"format": "password"}}})
    assert not misplaced({name: value}, {"properties": {name: {"writeOnly": True}}})


async def test_a_form_is_answered_once() -> None:
    async with opened(Door().tool()) as tp:
        waiting = await tp.run(tp.read(LOGIN))
        await tp.pause(waiting.run_id)
        await tp.answer(waiting.run_id, "form", ANSWER)
        with pytest.raises(RunConflict, match="answered already"):
            await tp.answer(waiting.run_id, "form", {"user": "eve", "pw": "other"})
        with pytest.raises(RunConflict, match="answered already"):
            await tp.answer(waiting.run_id, "form", declined=True)
        result = await (await tp.resume(waiting.run_id)).result()
        with pytest.raises(RunConflict):
            await tp.answer(waiting.run_id, "form", ANSWER)
        (received,) = [event for event in await tp.events(waiting.run_id) if isinstance(event, ev.InputReceived)]
    assert result.status == "completed"
    assert received.values["user"] == "ann"
