"""Chats behind names: what is read while all is forgotten is not kept, and few stay open that nobody asks."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from tests.models.model_cases import BARE, KEY

from toolpath import Settings, Toolpath
from toolpath.access.sealing import Sealer
from toolpath.model.chat import ChatReply, ChatRequest, Message
from toolpath.model.redaction import Redactor
from toolpath.workspace.models.chats import ModelChats, TenantChat
from toolpath.workspace.models.model_records import KeptModel, ModelRecords
from toolpath.workspace.models.models import ModelDraft


class SlowRecords(ModelRecords):
    """Records that are read, and given once somebody allows it."""

    def __init__(self, tp: Toolpath) -> None:
        super().__init__(tp.store, Sealer(is_lasting=False, env={}))
        self.read = asyncio.Event()
        self.go_on = asyncio.Event()

    async def of_tenant(self, tenant: str) -> list[KeptModel]:
        found = await super().of_tenant(tenant)
        self.read.set()
        await self.go_on.wait()
        return found


async def test_what_was_read_before_a_change_is_not_kept_after_it() -> None:
    async with Toolpath(settings=BARE) as tp:
        model = await tp.models.add(ModelDraft(name="fast", base_url="http://127.0.0.1:9/v1", key=KEY))
        records = SlowRecords(tp)
        chats = ModelChats(records, tp.clock, settings=lambda: BARE, redactor=Redactor())
        reading = asyncio.create_task(chats.known(""))
        await records.read.wait()
        await tp.models.remove(model)
        await chats.forget()
        records.go_on.set()
        await reading
        assert (await chats.known("")).prints == {}


async def test_of_all_names_that_are_asked_for_few_stay_open(monkeypatch: pytest.MonkeyPatch) -> None:
    is_open: list[str] = []
    asked, held = asyncio.Event(), asyncio.Event()

    class Fake:
        def __init__(self, choice: Any, **_: Any) -> None:
            self.model = choice.model
            is_open.append(self.model)

        async def __call__(self, request: ChatRequest) -> ChatReply:
            if self.model == "held":
                asked.set()
                await held.wait()
            assert self.model in is_open
            return ChatReply(text=self.model)

        async def close(self) -> None:
            is_open.remove(self.model)

    monkeypatch.setattr("toolpath.llm.chat.ModelChat", Fake)
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    settings = Settings(planner_llm="openai", planner_model="usual")
    async with Toolpath(settings=settings) as tp:
        records = ModelRecords(tp.store, Sealer(is_lasting=False, env={}))
        chats = ModelChats(records, tp.clock, settings=lambda: settings, redactor=Redactor())
        chat = TenantChat(chats, "")

        async def ask(name: str) -> str:
            return (await chat(ChatRequest(messages=(Message(text="hello"),), model=f"openai:{name}"))).text

        waiting = asyncio.create_task(ask("held"))
        await asked.wait()
        for number in range(200):
            assert await ask(f"m{number}") == f"m{number}"
            await ask("often")
        assert "held" in is_open
        assert len(is_open) <= 70
        # Those that were asked last stay.
        assert is_open.count("often") == 1
        assert "m199" in is_open
        held.set()
        assert await waiting == "held"
        await chats.close()
        assert is_open == []
