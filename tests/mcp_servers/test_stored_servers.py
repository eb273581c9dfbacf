"""MCP servers as data: their tools come and go without a restart, their secrets stay sealed."""

from __future__ import annotations

import asyncio
from pathlib import Path

import msgspec
import pytest
from tests.mcp_servers.server_cases import ARGS, COMMAND, NEAR, PROGRAM, SECRET, end_of, over_http
from tests.patience import PATIENCE

from toolpath import PlanInvalid, Settings, Toolpath, tool
from toolpath.errors import PolicyViolationError, RecordConflict, RecordNotFound, SchemaError, ToolpathError
from toolpath.model.language_model import MASK
from toolpath.testing.clock import FakeClock
from toolpath.values import JsonObject
from toolpath.workspace.mcp_servers.checking import ServerDraft

pytestmark = pytest.mark.mcp
ADD: JsonObject = {"steps": [{"id": "sum", "tool": "probe.add", "inputs": {"a": 1, "b": 2}}], "outputs": "{{ sum }}"}


def whole(folder: Path) -> bytes:
    """All that the files of the store hold."""
    return b"".join(path.read_bytes() for path in folder.glob("runs.db*") if path.is_file())


async def test_tools_of_a_kept_server_are_there_without_a_restart_and_go_with_it() -> None:
    async with Toolpath() as tp:
        with pytest.raises(PlanInvalid):
            await tp.run(ADD)
        server = await tp.mcp_servers.add(PROGRAM)
        assert (server.transport, server.env, server.enabled) == ("stdio", {"PROBE_WORDS": MASK}, True)
        assert (await tp.run(ADD)).outputs == {"sum": 3}
        off = await tp.mcp_servers.enable(server, enabled=False)
        with pytest.raises(PlanInvalid):
            await tp.run(ADD)
        await tp.mcp_servers.enable(off)
        assert (await tp.run(ADD)).outputs == {"sum": 3}
        await tp.mcp_servers.remove(off)
        with pytest.raises(PlanInvalid):
            await tp.run(ADD)
        with pytest.raises(RecordNotFound):
            await tp.mcp_servers.get("probe")


async def test_another_process_of_the_store_has_them_within_a_second_and_opens_their_secrets(tmp_path: Path) -> None:
    store, clock = tmp_path / "runs.db", FakeClock()
    async with Toolpath(store) as here, Toolpath(store, clock=clock) as there:
        with pytest.raises(PlanInvalid):
            await there.run(ADD)
        server = await here.mcp_servers.add(PROGRAM)
        await clock.advance(1)
        assert (await there.run(ADD)).outputs == {"sum": 3}
        assert (await there.tools()).get("probe.add").description == SECRET
        await here.mcp_servers.remove(server)
        await clock.advance(1)
        assert "probe.add" not in await there.tools()
    assert SECRET.encode() not in whole(tmp_path)


async def test_a_run_that_has_begun_keeps_its_tools_and_the_server_ends_with_it() -> None:
    entered: asyncio.Future[int] = asyncio.get_running_loop().create_future()
    gate = asyncio.Event()

    @tool(effect="read")
    async def hold(process: int) -> str:
        """Wait for the test."""
        entered.set_result(process)
        await gate.wait()
        return "through"

    plan: JsonObject = {
        "steps": [
            {"id": "before", "tool": "probe.process"},
            {"id": "held", "tool": "hold", "inputs": {"process": "{{ before.id }}"}},
            {"id": "after", "tool": "probe.process", "depends_on": ["held"]},
        ],
        "outputs": ["{{ before }}", "{{ after }}"],
    }
    async with Toolpath() as tp:
        tp.add(hold)
        server = await tp.mcp_servers.add(PROGRAM)
        run = await tp.start(plan)
        ended = end_of(await asyncio.wait_for(entered, PATIENCE))
        await tp.mcp_servers.remove(server)
        with pytest.raises(PlanInvalid):
            await tp.run(ADD)
        gate.set()
        result = await tp.result(run.run_id)
        assert result.status == "completed", result.error
        before, after = result.outputs  # type: ignore[misc]
        # The very process that it began with, which ends soon after it.
        assert before == after
        await asyncio.wait_for(ended, PATIENCE)


async def test_what_is_changed_takes_the_place_of_what_was_and_masked_values_stay() -> None:
    async with Toolpath() as tp:
        server = await tp.mcp_servers.add(PROGRAM)
        changed = await tp.mcp_servers.change(server, ServerDraft(env={"PROBE_WORDS": MASK}, timeout=20))
        assert (await tp.tools()).get("probe.add").description == SECRET
        changed = await tp.mcp_servers.change(changed, ServerDraft(env={"PROBE_WORDS": "Other words."}))
        assert (await tp.tools()).get("probe.add").description == "Other words."
        with pytest.raises(RecordConflict, match="changed meanwhile"):
            await tp.mcp_servers.change(changed, ServerDraft(timeout=5), expected=1)
        # A secret goes to no other program, and a masked one is not taken along.
        with pytest.raises(SchemaError, match="belong to the host or program"):
            await tp.mcp_servers.change(changed, ServerDraft(command="env", args=()))
        with pytest.raises(SchemaError, match="is masked"):
            await tp.mcp_servers.change(changed, ServerDraft(command="env", args=(), env={"PROBE_WORDS": MASK}))


async def test_an_address_is_asked_by_the_rules_of_the_network() -> None:
    with over_http() as url:
        async with Toolpath(settings=NEAR) as tp:
            await tp.mcp_servers.add(ServerDraft(name="probe", url=url, headers={"X-Token": SECRET}))
            assert (await tp.run(ADD)).outputs == {"sum": 3}
        async with Toolpath(settings=Settings()) as tp:
            for private in (url, "http://10.0.0.8/mcp", "http://[::1]:80/mcp", "http://169.254.169.254/latest"):
                with pytest.raises(SchemaError, match="may not be reached"):
                    await tp.mcp_servers.add(ServerDraft(name="probe", url=private))


async def test_a_name_that_turns_to_this_machine_later_is_not_asked(tmp_path: Path) -> None:
    store = tmp_path / "runs.db"
    with over_http() as url:
        async with Toolpath(store, settings=NEAR) as tp:
            await tp.mcp_servers.add(ServerDraft(name="probe", url=url))
        async with Toolpath(store, settings=Settings()) as tp:
            with pytest.raises(PlanInvalid):
                await tp.run(ADD)
            assert "may not be reached" in tp.registry.problems["probe"].message


async def test_variables_of_this_process_are_not_filled_in(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OWNERS_KEY", "key-of-the-owner")
    draft = ServerDraft(name="probe", command=COMMAND, args=tuple(ARGS), env={"PROBE_WORDS": "${OWNERS_KEY}"})
    async with Toolpath(secrets={"OWN": "also-secret"}) as tp:
        server = await tp.mcp_servers.add(draft)
        assert (await tp.tools()).get("probe.add").description == "${OWNERS_KEY}"
        await tp.mcp_servers.change(server, ServerDraft(env={"PROBE_WORDS": "{{ secrets.OWN }}"}))
        assert (await tp.tools()).get("probe.add").description == "{{ secrets.OWN }}"


WRONG: list[tuple[ServerDraft, str]] = [
    (ServerDraft(name="", command="x"), "cannot be called"),
    (ServerDraft(name="a.b", command="x"), "cannot be called"),
    (ServerDraft(name="a" * 65, command="x"), "cannot be called"),
    (ServerDraft(name="a"), "one of the two"),
    (ServerDraft(name="a", command="x", url="https://a.example"), "one of the two"),
    (ServerDraft(name="a", command="npx -y server"), "only the executable name, not arguments"),
    (ServerDraft(name="a", command="x", args=("y" * 2_001,)), "at most 2,000"),
    (ServerDraft(name="a", command="x", args=("\0",)), "zero byte"),
    (ServerDraft(name="a", command="x", args=("y",) * 101), "at most 100"),
    (ServerDraft(name="a", command="x", env={"A=B": "x"}), "cannot be given in 'env'"),
    (ServerDraft(name="a", command="x", env={"A": "\0"}), "signs that none may have"),
    (ServerDraft(name="a", command="x", env={"A": "\ud800"}), "signs that none may have"),
    (ServerDraft(name="a", command="x", env={"A": MASK}), "is masked"),
    (ServerDraft(name="a", command="x", headers={"A": "x"}), "'headers' are for a 'url'"),
    (ServerDraft(name="a", url="https://a.example", env={"A": "x"}), "'env' is for a command"),
    (ServerDraft(name="a", url="https://a.example", args=("x",)), "'args' are for a command"),
    (ServerDraft(name="a", url="ftp://a.example"), "begins with http"),
    (ServerDraft(name="a", url="file:///etc/passwd"), "begins with http"),
    (ServerDraft(name="a", url="https://"), "begins with http"),
    (ServerDraft(name="a", url="https://a.example:99999/"), "begins with http"),
    (ServerDraft(name="a", url="https://me:pass@a.example"), "password or a query"),
    (ServerDraft(name="a", url="https://a.example?key=x"), "password or a query"),
    (ServerDraft(name="a", url="https://a.example", headers={"Host": "b"}), "cannot be given in 'headers'"),
    (ServerDraft(name="a", url="https://a.example", headers={"A": "x\r\nB: y"}), "signs that none may have"),
    (ServerDraft(name="a", command="x", timeout=float("nan")), "at most 600"),
    (ServerDraft(name="a", command="x", timeout=0), "at most 600"),
]


@pytest.mark.parametrize(("draft", "why"), WRONG, ids=lambda value: value if isinstance(value, str) else "")
async def test_what_no_server_can_be_is_refused_and_nothing_is_kept(draft: ServerDraft, why: str) -> None:
    async with Toolpath() as tp:
        with pytest.raises(SchemaError, match=why):
            await tp.mcp_servers.add(draft)
        assert await tp.mcp_servers.list() == []


async def test_a_name_is_given_once_also_beside_those_of_the_program() -> None:
    async with Toolpath() as tp:
        tp.add_mcp("own", command="x")
        await tp.mcp_servers.add(ServerDraft(name="probe", command="x", enabled=False))
        for name in ("own", "probe"):
            with pytest.raises(RecordConflict, match=f"MCP server with name '{name}' already exists"):
                await tp.mcp_servers.add(ServerDraft(name=name, command="y"))


async def test_a_list_of_servers_is_taken_whole_or_not_at_all() -> None:
    async with Toolpath() as tp:
        both: JsonObject = {
            "probe": {"command": COMMAND, "args": ARGS, "type": "stdio", "autoApprove": []},
            "later": {"command": "x", "disabled": True},
        }
        made = await tp.mcp_servers.import_all({"mcpServers": both})
        assert [(server.name, server.enabled) for server in made] == [("probe", True), ("later", False)]
        assert (await tp.run(ADD)).outputs == {"sum": 3}
        for wrong, why in (
            ({"new": {"command": "x"}, "probe": {"command": "y"}}, "already exists"),
            ({"new": {"command": "x"}, "bad": {"command": "x y"}}, "not arguments"),
            ({"new": {"command": "x"}, "old": {"url": "https://a.example/sse", "type": "sse"}}, "SSE"),
            ({"new": {"command": "x"}, "slip": {"comand": "x"}}, "neither 'command' nor 'url', but 'comand'"),
            ({"new": {"command": "x"}, "odd": 7}, "is no object"),
            ({"new": {"command": "x"}, "odd": {"command": ["x"]}}, "'odd'"),
            ({"new": {"command": "x"}, "odd": {"command": "x", "cwd": "/"}}, "'cwd'"),
            ({f"s{number}": {"command": "x"} for number in range(201)}, "At most 200"),
            ({}, "no object 'mcpServers'"),
        ):
            with pytest.raises(ToolpathError, match=why):
                await tp.mcp_servers.import_all({"mcpServers": wrong})
        for text in ("{", "[" * 100_000, "[]", '{"mcpServers": []}'):
            with pytest.raises(SchemaError):
                await tp.mcp_servers.import_all(text)
        assert [server.name for server in await tp.mcp_servers.list()] == ["later", "probe"]


async def test_programs_are_only_taken_from_who_may_have_them_run() -> None:
    async with Toolpath() as tp:
        with pytest.raises(PolicyViolationError, match="programs are not run for who asks here"):
            await tp.mcp_servers.add(PROGRAM, commands=False)
        server = await tp.mcp_servers.add(ServerDraft(name="probe", command="x", enabled=False))
        with pytest.raises(PolicyViolationError):
            await tp.mcp_servers.enable(server, commands=False)
        assert not (await tp.mcp_servers.enable(server, enabled=False, commands=False)).enabled


async def test_a_server_whose_secrets_cannot_be_opened_says_so_and_hinders_no_other(tmp_path: Path) -> None:
    store = tmp_path / "runs.db"
    async with Toolpath(store) as tp:
        await tp.mcp_servers.add(PROGRAM)
        kept = await tp.store.get_record("mcp_server", (await tp.mcp_servers.get("probe")).server_id)
        assert kept is not None
        await tp.store.put_record(msgspec.structs.replace(kept, data={**kept.data, "sealed": "broken"}))
        await tp.mcp_servers.add(ServerDraft(name="other", command=COMMAND, args=tuple(ARGS)))
        assert "other.add" in await tp.tools()
        assert "probe" in tp.registry.problems
