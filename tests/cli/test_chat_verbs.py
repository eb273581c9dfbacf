"""`toolpath chat` and `toolpath conversations …`, with the real client of a provider that is played."""

from __future__ import annotations

import asyncio
import json
import os
import pty
import subprocess
from pathlib import Path

import pytest
from cli_cases import Command, Ran, spawned

from toolpath.testing.model_replies import Calls, Fails, Says
from toolpath.testing.model_server import ModelServer

ORDER = Calls(calls=(("shop--order", {"item": "tea", "count": 2}),))


def environment(server: ModelServer) -> dict[str, str]:
    known = {name: value for name, value in os.environ.items() if not name.startswith(("TOOL", "PYTEST"))}
    model = {"TOOL_PLANNER_LLM": "openai", "TOOL_PLANNER_MODEL": "local-model"}
    return {**known, **model, "OPENAI_BASE_URL": f"{server.url}/v1", "OPENAI_API_KEY": "sk-of-nobody-0123456789"}


async def chatted(server: ModelServer, shop: Path, *arguments: str, stdin: str = "") -> tuple[int, str, str]:
    process = spawned(shop, "chat", *arguments, env=environment(server), stdin=subprocess.PIPE)
    out, err = await asyncio.to_thread(process.communicate, stdin.encode())
    return process.returncode, out.decode(), err.decode()


async def typed(toolpath: Command, *arguments: str) -> Ran:
    """A command in a thread: it has an event loop of its own."""
    return await asyncio.to_thread(toolpath, *arguments)


async def test_one_thing_is_said_and_the_talk_is_kept(shop: Path, toolpath: Command) -> None:
    price = Calls(calls=(("shop--price", {"item": "tea"}),))
    async with ModelServer(price, Says(text="Tea costs 2.5."), Says(text="Yes, tea.")) as server:
        code, out, err = await chatted(server, shop, "What does tea cost?")
        assert (code, out) == (0, "Tea costs 2.5.\n"), err
        assert "shop.price" in err
        code, out, err = await chatted(server, shop, "-c", "last", "-", "--json", stdin="Was it tea?")
        parts = [json.loads(line) for line in out.splitlines()]
        assert "".join(part["text"] for part in parts if part["type"] == "text") == "Yes, tea."
        assert (code, parts[-1]["type"], parts[-1]["status"]) == (0, "end", "completed"), err
        assert "Tea costs 2.5." in server.requests[-1].text
    (listed,) = (await typed(toolpath, "conversations", "list", "--json")).json
    assert (listed["title"], listed["messages"]) == ("What does tea cost?", 4)
    talk = listed["conversation_id"]
    assert "Was it tea?" in (await typed(toolpath, "conversations", "show", talk)).out
    assert [each["number"] for each in (await typed(toolpath, "conversations", "search", "COSTS", "--json")).json] == [
        2
    ]
    assert (await typed(toolpath, "conversations", "rename", talk, "Tea")).code == 0
    assert "is at version 1" in (await typed(toolpath, "conversations", "save", talk)).err
    assert (await typed(toolpath, "run", "Tea", "--json")).json["outputs"] == 2.5
    assert (await typed(toolpath, "conversations", "delete", talk)).code == 0
    assert (await typed(toolpath, "conversations", "list", "--json")).json == []


async def test_a_write_waits_for_a_person_and_the_turn_goes_on_when_they_allow_it(
    shop: Path, toolpath: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with ModelServer(ORDER, Says(text="Two teas are ordered.")) as server:
        code, _, err = await chatted(server, shop, "Order two teas.")
        assert code == 4, err
        (line,) = [line for line in err.splitlines() if "toolpath approve run_" in line]
        assert not (shop / "orders.txt").exists()
        code, _, err = await chatted(server, shop, "-c", "last", "Hurry.")
        assert code != 0
        assert "goes on" in err
        for name, value in environment(server).items():
            monkeypatch.setenv(name, value)
        approve = line.split()[1:]
        process = spawned(shop, *approve, env=environment(server))
        _, told = await asyncio.to_thread(process.communicate)
        assert process.returncode == 0, told
    assert (shop / "orders.txt").read_text() == "tea 2\n"
    (listed,) = (await typed(toolpath, "conversations", "list", "--json")).json
    assert "Two teas are ordered." in (await typed(toolpath, "conversations", "show", listed["conversation_id"])).out


async def test_a_talk_at_the_terminal_asks_before_it_writes(shop: Path) -> None:
    async with ModelServer(ORDER, Says(text="Ordered."), Says(text="Bye.")) as server:
        ours, theirs = pty.openpty()
        process = spawned(
            shop,
            "chat",
            env={**environment(server), "TERM": "dumb"},
            stdin=theirs,
            stderr=theirs,
            stdout=subprocess.PIPE,
        )
        os.close(theirs)

        def talk() -> str:
            seen = ""
            for prompt, typed in (
                ("> ", "Order two teas.\n"),
                ("decide later] ", "y\n"),
                ("> ", "Bye.\n"),
                ("> ", "\x04"),
            ):
                seen = ""
                while prompt not in seen:
                    seen += os.read(ours, 1_000).decode(errors="replace")
                os.write(ours, typed.encode())
            out, _ = process.communicate()
            return out.decode()

        said = await asyncio.to_thread(talk)
        os.close(ours)
    assert process.returncode == 0
    assert said == "Ordered.\nBye.\n"
    assert (shop / "orders.txt").read_text() == "tea 2\n"


async def test_a_model_that_is_away_is_told_in_words(shop: Path) -> None:
    async with ModelServer(then=Fails(status=401, message="No such key.")) as server:
        code, out, err = await chatted(server, shop, "Hello")
    assert (code, out) == (1, "")
    assert "The turn is failed" in err
    nothing = spawned(shop, "chat")
    _, told = await asyncio.to_thread(nothing.communicate)
    assert nothing.returncode == 2
    assert b"Nothing is said" in told
