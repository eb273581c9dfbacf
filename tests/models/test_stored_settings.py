"""Settings as data: what is in force, where it comes from, and what runs keep."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.server.rest_cases import api, tools
from tests.server.serving_cases import assert_problem, serving

from toolpath import Settings, Toolpath
from toolpath.access.caller import EVERYTHING, Caller
from toolpath.errors import SchemaError
from toolpath.model import events as ev
from toolpath.server.asgi import create_app


async def test_each_says_where_its_value_comes_from(monkeypatch: pytest.MonkeyPatch) -> None:
    async with Toolpath(settings=Settings(parallel_limit=7)) as tp:
        stored = tp.stored_settings
        assert ((await stored.get("parallel_limit")).value, (await stored.get("parallel_limit")).source) == (7, "file")
        (changed,) = await stored.change({"parallel_limit": 9}, user="ada")
        assert (changed.value, changed.source, changed.default) == (9, "stored", 5)
        monkeypatch.setenv("TOOL_PARALLEL_LIMIT", "7")
        over = await stored.get("parallel_limit")
        assert (over.value, over.source, over.stored) == (7, "environment", 9)
        monkeypatch.delenv("TOOL_PARALLEL_LIMIT")
        assert [setting.stored for setting in await stored.reset()] == [None] * 12
        assert (await stored.get("parallel_limit")).value == 7
        actions = [entry.action for entry in await tp.trail.entries()]
        assert actions.count("settings.change") == 2


@pytest.mark.parametrize(
    ("values", "says"),
    [
        ({"parallel_limit": 0}, "parallel_limit"),
        ({"parallel_limit": "many"}, "parallel_limit"),
        ({"parallel_limit": 10**9}, "parallel_limit"),
        ({"retry_backoff": "never"}, "retry_backoff"),
        ({"default_timeout": float("nan")}, "default_timeout"),
        ({"store": "x.db"}, "when a process is started"),
        ({"paralel_limit": 3}, "no setting"),
        ({"max_retries": 2, "cache_ttl": -1}, "cache_ttl"),
        ({"cache_enabled": {"a": 1}}, "cache_enabled"),
    ],
)
async def test_what_no_setting_can_be_is_refused_whole(values: dict[str, object], says: str) -> None:
    async with Toolpath(settings=Settings()) as tp:
        with pytest.raises(SchemaError, match=says):
            await tp.stored_settings.change(values)  # type: ignore[arg-type]
        assert all(setting.stored is None for setting in await tp.stored_settings.all())


async def test_a_run_keeps_what_was_stored_when_it_began(tmp_path: Path) -> None:
    calls = []

    def flaky() -> str:
        """Fail."""
        calls.append(1)
        raise ConnectionError("away")

    asking = {"id": "w", "ask": {"title": "?", "inputs": [{"name": "x", "type": "text"}]}}
    plan = {"name": "p", "steps": [asking, {"id": "f", "tool": "flaky", "depends_on": ["w"]}]}
    async with Toolpath(tmp_path / "runs.db", settings=Settings(max_retries=0)) as tp:
        tp.add(flaky, effect="read")
        await tp.stored_settings.change({"max_retries": 1, "retry_backoff": "none"})
        run_id = (await tp.run(plan)).run_id
        started = (await tp.events(run_id))[0]
        assert isinstance(started, ev.RunStarted)
        assert started.settings == {"max_retries": 1, "retry_backoff": "none"}
        await tp.stored_settings.change({"max_retries": 0})
    async with Toolpath(tmp_path / "runs.db", settings=Settings(max_retries=0)) as tp:
        tp.add(flaky, effect="read")
        await tp.answer(run_id, "w", {"x": "go"})
        assert (await tp.result(run_id)).status == "failed"
        assert len(calls) == 2
        await tp.run({"name": "q", "steps": [{"id": "f", "tool": "flaky"}]})
        assert len(calls) == 3


async def test_a_plan_that_was_compiled_before_goes_by_what_is_stored_now() -> None:
    calls = []

    def flaky() -> str:
        """Fail."""
        calls.append(1)
        raise ConnectionError("away")

    async with Toolpath(settings=Settings(retry_backoff="none", max_retries=0)) as tp:
        tp.add(flaky, effect="read")
        plan = tp.read({"name": "q", "steps": [{"id": "f", "tool": "flaky"}]})
        await tp.run(plan)
        await tp.stored_settings.change({"max_retries": 2})
        await tp.run(plan)
    assert len(calls) == 1 + 3


async def test_settings_over_rest_and_by_the_names_of_the_plan_execution_service() -> None:
    async with api() as client:
        kept = await client.put("settings", json={"values": {"user_input_timeout": 60}})
        assert kept.json()["settings"][0]["source"] == "stored"
        assert_problem(await client.put("settings", json={"values": {"user_input_timeout": "soon"}}), 422, "schema")
        assert_problem(await client.put("settings", json={"values": 3}), 422, "invalid_request")
        service = client.base_url.join("/api/config/")
        shown = (await client.get(str(service.join("group/lynxe")))).json()
        (one,) = [each for each in shown if each["configPath"] == "lynxe.agent.userInputTimeout"]
        assert (one["configValue"], one["defaultValue"]) == ("60.0", "300.0")
        update = [{"configPath": "lynxe.agent.conversationMemoryMaxChars", "configValue": "40000"}]
        assert (await client.post(str(service.join("batch-update")), json=update)).json() == {"success": True}
        theirs = {
            "lynxe.maxSteps": ("12", "30", "agent_rounds", 12),
            "lynxe.agent.parallelToolCalls": ("false", "true", "agent_parallel_calls", False),
            "lynxe.agent.executorPoolSize": ("3", "5", "parallel_limit", 3),
        }
        for path, (value, default, ours, kept_as) in theirs.items():
            change = [{"configPath": path, "configValue": value}]
            assert (await client.post(str(service.join("batch-update")), json=change)).json() == {"success": True}
            rows = {each["configPath"]: each for each in (await client.get(str(service.join("group/lynxe")))).json()}
            assert (rows[path]["configValue"], rows[path]["defaultValue"]) == (value, default)
            by_name = {each["name"]: each for each in (await client.get("settings")).json()["settings"]}
            assert by_name[ours]["stored"] == kept_as
        wrong = [*update, {"configPath": "lynxe.agent.nothing", "configValue": "1"}]
        assert (await client.post(str(service.join("batch-update")), json=wrong)).status_code == 400
        stored = {each["name"]: each.get("stored") for each in (await client.get("settings")).json()["settings"]}
        assert (stored["conversation_memory"], stored["user_input_timeout"]) == (40000, 60)
        assert (await client.post(str(service.join("reset-all-defaults")))).json() == {"success": True}
        assert all(each.get("stored") is None for each in (await client.get("settings")).json()["settings"])
        assert (await client.delete("settings")).status_code == 200


async def test_a_tenant_changes_no_settings_of_all() -> None:
    red = Caller(tenant="red", user="ada", permissions=EVERYTHING, scopes=EVERYTHING)
    async with serving(create_app(tools(Toolpath()), caller=red)) as client:
        assert_problem(await client.put("/api/v1/settings", json={"values": {"max_retries": 0}}), 403, "scope")
        assert (await client.post("/api/config/reset-all-defaults")).status_code == 403
