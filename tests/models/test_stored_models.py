"""Models as data: their names in plans, their keys, their defaults, and what runs keep of them."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.models.model_cases import BARE, DONE, KEY, agent, at, journal, of

from toolpath import PlanInvalid, Settings, Toolpath
from toolpath.errors import ConfigError, RecordConflict, RecordNotFound, SchemaError
from toolpath.model.chat import ChatRequest, Message
from toolpath.model.language_model import MASK
from toolpath.testing.model_replies import Fails, Says
from toolpath.testing.model_server import ModelServer
from toolpath.testing.scripted_model import ScriptedModel
from toolpath.workspace.models.models import ModelDraft

VARIABLES = (
    "OPENAI_API_KEY",
    "OPENAI_BASE_URL",
    "ANTHROPIC_API_KEY",
    "GOOGLE_API_KEY",
    "GEMINI_API_KEY",
    "TOOL_PLANNER_LLM",
    "TOOL_PLANNER_MODEL",
)


def whole(folder: Path) -> bytes:
    """All that the files of a folder hold."""
    return b"".join(path.read_bytes() for path in folder.iterdir())


@pytest.fixture(autouse=True)
def _no_models_of_the_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in VARIABLES:
        monkeypatch.delenv(name, raising=False)


async def test_a_step_asks_the_model_that_it_names_with_that_models_key_and_address() -> None:
    async with ModelServer(then=DONE) as first, ModelServer(then=DONE) as second, Toolpath(settings=BARE) as tp:
        await tp.models.add(at(first, "fast"))
        await tp.models.add(
            at(second, "deep", key="sk-other-key", headers={"X-Team": "red-team"}, temperature=1.5, top_p=0.5)
        )
        assert (await tp.run(agent("deep"))).status == "completed"
        assert not first.requests
        (asked,) = second.requests
        assert isinstance(asked.body, dict)
        assert (asked.headers["authorization"], asked.headers["x-team"]) == ("Bearer sk-other-key", "red-team")
        assert (asked.body["model"], asked.body["temperature"], asked.body["top_p"]) == ("deep-1", 1.5, 0.5)


async def test_a_name_that_no_model_has_is_a_finding_and_no_other_model_stands_in_for_it() -> None:
    async with ModelServer(then=DONE) as server, Toolpath(settings=BARE) as tp:
        model = await tp.models.add(at(server, "fast"))
        await tp.models.set_default(model)
        with pytest.raises(PlanInvalid) as wrong:
            await tp.run(agent("fasst"))
        (finding,) = wrong.value.findings
        assert (finding.code, finding.path, finding.suggestions) == ("unknown_model", "/steps/0/agent/model", ("fast",))
        assert not server.requests
        assert await tp.runs() == []
        # What is not checked before, as the request of a tool, is told when it is asked.
        chat = await tp.planning.model()
        assert chat is not None
        with pytest.raises(Exception, match="There is no model 'gpt-9'"):
            await chat(ChatRequest(messages=(Message(text="hello"),), model="gpt-9"))
        assert not server.requests


async def test_a_provider_by_its_own_variables_is_named_with_it(monkeypatch: pytest.MonkeyPatch) -> None:
    async with ModelServer(then=DONE) as server:
        monkeypatch.setenv("OPENAI_API_KEY", "sk-of-the-house")
        monkeypatch.setenv("OPENAI_BASE_URL", f"{server.url}/v1")
        async with Toolpath(settings=Settings(planner_llm="openai", planner_model="big")) as tp:
            assert (await tp.run(agent("openai:small"))).status == "completed"
            assert (await tp.run(agent("big"))).status == "completed"
            assert (await tp.run(agent())).status == "completed"
            with pytest.raises(PlanInvalid):
                await tp.run(agent("small"))
        asked = [request.body["model"] for request in server.requests if isinstance(request.body, dict)]
        assert asked == ["small", "big", "big"]


async def test_the_default_goes_with_the_run_that_it_began() -> None:
    async with ModelServer(then=DONE) as first, ModelServer(then=DONE) as second, Toolpath(settings=BARE) as tp:
        fast = await tp.models.add(at(first, "fast"))
        deep = await tp.models.add(at(second, "deep"))
        assert (await tp.models.set_default(fast)).is_default
        run = await tp.start(
            {
                **agent(),
                "steps": [
                    {"id": "w", "ask": {"title": "?", "inputs": [{"name": "x", "type": "text"}]}},
                    {**agent()["steps"][0], "depends_on": ["w"]},
                ],
            }
        )
        await run.result()
        await tp.models.set_default(deep)
        await tp.answer(run.run_id, "w", {"x": "go"})
        assert (await tp.result(run.run_id)).status == "completed"
        assert (len(first.requests), len(second.requests)) == (1, 0)
        assert (await tp.run(agent())).status == "completed"
        assert (len(first.requests), len(second.requests)) == (1, 1)


@pytest.mark.parametrize("how", ["changed", "removed"])
async def test_a_run_whose_model_changed_is_held_until_somebody_accepts_it(tmp_path: Path, how: str) -> None:
    asking = {"id": "w", "ask": {"title": "?", "inputs": [{"name": "x", "type": "text"}]}}
    plan = {**agent(), "steps": [asking, {**agent("fast")["steps"][0], "depends_on": ["w"]}]}
    async with ModelServer(then=DONE) as first, ModelServer(then=DONE) as second:
        async with Toolpath(tmp_path / "runs.db", settings=BARE) as tp:
            model = await tp.models.add(at(first, "fast"))
            run_id = (await tp.run(plan)).run_id
        async with Toolpath(tmp_path / "runs.db", settings=BARE) as tp:
            if how == "removed":
                await tp.models.remove(model)
            await tp.models.change(model, at(second, "fast")) if how == "changed" else None
            await tp.answer(run_id, "w", {"x": "go"})
            held = await tp.result(run_id)
            assert not held.success
            assert not first.requests
            assert not second.requests
            assert any("model:fast" in warning.message for warning in held.warnings)
            if how == "removed":
                await tp.models.add(at(second, "fast"))
            await tp.settle(run_id, accept_tool=True)
            assert (await tp.result(run_id)).status == "completed"
            assert len(second.requests) == 1


async def test_a_key_that_was_renewed_is_no_change_of_the_model(tmp_path: Path) -> None:
    asking = {"id": "w", "ask": {"title": "?", "inputs": [{"name": "x", "type": "text"}]}}
    plan = {**agent(), "steps": [asking, {**agent("fast")["steps"][0], "depends_on": ["w"]}]}
    async with ModelServer(then=DONE) as server:
        async with Toolpath(tmp_path / "runs.db", settings=BARE) as tp:
            model = await tp.models.add(at(server, "fast"))
            run_id = (await tp.run(plan)).run_id
            await tp.models.change(model, ModelDraft(key="sk-renewed-key", description="The same."))
            await tp.answer(run_id, "w", {"x": "go"})
            assert (await tp.result(run_id)).status == "completed"
        assert server.requests[0].headers["authorization"] == "Bearer sk-renewed-key"


async def test_keys_and_headers_are_sealed_masked_and_told_nowhere(tmp_path: Path) -> None:
    said = f"Your key {KEY} is wrong, and so is header-secret-1"
    async with ModelServer(then=Fails(status=400, message=said)) as server:
        async with Toolpath(tmp_path / "runs.db", settings=BARE) as tp:
            model = await tp.models.add(at(server, headers={"X-Auth": "header-secret-1"}))
            assert (model.has_key, model.headers) == (True, ("X-Auth",))
            found = await tp.run(agent("fast"))
            assert found.error is not None
            everything = await journal(tp) + found.error.message + repr(model) + repr(at(server))
            for request in server.requests:
                assert KEY not in request.text
            trial = await tp.models.validate(ModelDraft(), model=model)
            everything += trial.message
        raw = whole(tmp_path)
    assert KEY not in everything
    assert "header-secret-1" not in everything
    assert KEY.encode() not in raw
    assert b"header-secret-1" not in raw


async def test_what_is_masked_stays_and_what_is_empty_goes() -> None:
    async with ModelServer(then=DONE) as server, Toolpath(settings=BARE) as tp:
        model = await tp.models.add(at(server, headers={"X-A": "one-secret", "X-B": "two-secret"}))
        model = await tp.models.change(model, ModelDraft(key=MASK, headers={"X-A": "********"}))
        assert (model.has_key, model.headers) == (True, ("X-A",))
        await tp.run(agent("fast"))
        assert server.requests[0].headers["authorization"] == f"Bearer {KEY}"
        assert server.requests[0].headers["x-a"] == "one-secret"
        assert not (await tp.models.change(model, ModelDraft(key=""))).has_key


async def test_a_key_does_not_move_to_another_host_by_itself() -> None:
    async with ModelServer(then=DONE) as server, Toolpath(settings=BARE) as tp:
        model = await tp.models.add(at(server))
        with pytest.raises(SchemaError, match="belongs to the address"):
            await tp.models.change(model, ModelDraft(base_url="http://evil.example/v1"))
        with pytest.raises(SchemaError, match="belongs to the address"):
            await tp.models.change(model, ModelDraft(base_url="http://evil.example/v1", key=None, headers={}))
        async with ModelServer(models=["fast-1"]) as other:
            await tp.models.validate(ModelDraft(base_url=f"{other.url}/v1"), model=model)
            assert all(KEY not in str(request.headers) for request in other.requests)
            assert other.requests


async def test_tenants_have_their_own_and_see_the_houses() -> None:
    allowed = Settings(http_allow=("127.0.0.1",))
    async with (
        ModelServer(then=DONE) as house,
        ModelServer(then=DONE) as theirs,
        Toolpath(settings=allowed) as tp,
    ):
        await tp.models.set_default(await tp.models.add(at(house, "shared")))
        own = await tp.models.add(at(theirs, "mine"), tenant="red")
        await tp.models.add(at(theirs, "shared", key="sk-of-red"), tenant="red")
        assert [model.name for model in await tp.models.list(tenant="red")] == ["mine", "shared", "shared"]
        assert [model.name for model in await tp.models.list(tenant="blue")] == ["shared"]
        with pytest.raises(RecordNotFound):
            await tp.models.get(own.model_id, tenant="blue")
        with pytest.raises(PlanInvalid):
            await tp.run(agent("mine"), context=of("blue"))
        assert (await tp.run(agent("mine"), context=of("red"))).status == "completed"
        assert (await tp.run(agent("shared"), context=of("red"))).status == "completed"
        assert (len(house.requests), len(theirs.requests)) == (0, 2)
        assert (await tp.run(agent("shared"), context=of("blue"))).status == "completed"
        assert (await tp.run(agent(), context=of("red"))).status == "completed"
        await tp.models.set_default(own, tenant="red")
        assert (await tp.run(agent(), context=of("red"))).status == "completed"
        assert (len(house.requests), len(theirs.requests)) == (1, 4)
        # The very same plan is compiled for each tenant with its own models.
        plan = tp.read(agent("shared"))
        await tp.run(plan, context=of("red"))
        await tp.run(plan, context=of("blue"))
        await tp.run(plan, context=of("red"))
        assert (len(house.requests), len(theirs.requests)) == (2, 6)


@pytest.mark.parametrize(
    "url", ["http://127.0.0.1:9/v1", "http://169.254.169.254/v1", "http://[::1]/v1", "http://10.1.2.3"]
)
async def test_a_tenants_model_asks_nothing_of_the_houses_networks(url: str) -> None:
    async with Toolpath(settings=BARE) as tp:
        with pytest.raises(SchemaError, match="may not be reached"):
            await tp.models.add(ModelDraft(name="m", base_url=url), tenant="red")
        with pytest.raises(SchemaError, match="may not be reached"):
            await tp.models.validate(ModelDraft(name="m", base_url=url), tenant="red")


async def test_a_tenants_host_is_looked_at_again_when_it_is_asked() -> None:
    async with ModelServer(then=DONE) as server:
        async with Toolpath(settings=Settings(http_allow=("127.0.0.1",))) as tp:
            await tp.models.add(at(server), tenant="red")
            assert (await tp.run(agent("fast"), context=of("red"))).status == "completed"
            tp.models._settings = lambda: BARE
            tp._services.settings = BARE
            refused = await tp.run(agent("fast"), context=of("red"))
        assert refused.status == "failed"
        assert refused.error is not None
        assert "may not be reached" in refused.error.message
        assert len(server.requests) == 1


@pytest.mark.parametrize(
    ("fields", "says"),
    [
        ({"name": "", "model": ""}, "name of a model"),
        ({"name": "a\nb"}, "name of a model"),
        ({"name": "x" * 201}, "name of a model"),
        ({"name": "openai:gpt"}, "by its own variables"),
        ({"api": "opnai"}, "There is no protocol"),
        ({"base_url": "ftp://host"}, "base URL"),
        ({"base_url": "http://"}, "base URL"),
        ({"base_url": "http://host:port"}, "base URL"),
        ({"base_url": "http://user:pass@host/v1"}, "password or a query"),
        ({"base_url": "http://host/v1?key=1"}, "password or a query"),
        ({"temperature": 3.0}, "temperature"),
        ({"temperature": float("nan")}, "temperature"),
        ({"top_p": 0.0}, "top_p"),
        ({"completions_path": "chat"}, "completions path"),
        ({"completions_path": "/a b"}, "completions path"),
        ({"headers": {"Host": "x"}}, "no header"),
        ({"headers": {"X-A": "a\r\nX-B: b"}}, "signs that no header"),
        ({"headers": {f"X-{n}": "v" for n in range(21)}}, "at most 20"),
        ({"key": "sk\n1"}, "signs that no key"),
        ({"description": "x" * 2_001}, "description"),
        ({"model": "m\0"}, "model"),
    ],
)
async def test_what_no_model_can_be_is_refused(fields: dict[str, object], says: str) -> None:
    async with Toolpath(settings=BARE) as tp:
        given: dict[str, object] = {"name": "fast", "model": "m", "base_url": "http://localhost:9/v1", **fields}
        with pytest.raises(SchemaError, match=says):
            await tp.models.add(ModelDraft(**given))  # type: ignore[arg-type]
        assert await tp.models.list() == []


async def test_a_name_is_there_once_and_a_change_that_comes_late_is_told() -> None:
    async with Toolpath(settings=BARE) as tp:
        draft = ModelDraft(name="fast", base_url="http://localhost:9/v1")
        model = await tp.models.add(draft)
        with pytest.raises(RecordConflict, match="already a model"):
            await tp.models.add(draft)
        await tp.models.change(model, ModelDraft(description="one"))
        with pytest.raises(RecordConflict, match="meanwhile"):
            await tp.models.change(model, ModelDraft(description="two"), expected=model.revision)
        with pytest.raises(SchemaError, match="keeps its name"):
            await tp.models.change(model, ModelDraft(name="other"))


async def test_a_trial_says_what_is_wrong() -> None:
    async with ModelServer(models=["fast-1", "big"], key=KEY) as server, Toolpath(settings=BARE) as tp:
        good = await tp.models.validate(at(server))
        assert (good.valid, good.available) == (True, ("fast-1", "big"))
        wrong_key = await tp.models.validate(at(server, key="sk-wrong-key-1"))
        assert not wrong_key.valid
        assert "refused the key (401)" in wrong_key.message
        assert "sk-wrong-key-1" not in wrong_key.message
        no_such = await tp.models.validate(at(server, model="bigg"))
        assert not no_such.valid
        assert "lists no model 'bigg'" in no_such.message
        nobody = await tp.models.validate(ModelDraft(name="x", base_url="http://127.0.0.1:9/v1"))
        assert not nobody.valid
        assert "cannot be reached" in nobody.message
    unlisted = ModelServer(Says(text="yes"), Fails(status=404, message="no model x"))
    async with unlisted as server, Toolpath(settings=BARE) as tp:
        assert (await tp.models.validate(at(server))).message.endswith("answered.")
        assert not (await tp.models.validate(at(server))).valid


async def test_the_completions_path_is_where_the_requests_go() -> None:
    async with ModelServer(then=DONE) as server, Toolpath(settings=BARE) as tp:
        await tp.models.add(at(server, "a", base_url=server.url, completions_path="/v1/chat/completions"))
        await tp.models.add(at(server, "b", base_url=f"{server.url}/v1", completions_path="/v1/chat/completions"))
        await tp.models.add(at(server, "c", base_url=f"{server.url}/v1", completions_path="/odd/place"))
        assert (await tp.run(agent("a"))).status == "completed"
        assert (await tp.run(agent("b"))).status == "completed"
        await tp.run(agent("c"))
        assert [request.path for request in server.requests[:3]] == [
            "/v1/chat/completions",
            "/v1/chat/completions",
            "/odd/place",
        ]


async def test_another_process_of_the_store_hears_of_it(tmp_path: Path) -> None:
    async with (
        ModelServer(then=DONE) as server,
        Toolpath(tmp_path / "runs.db", settings=BARE) as one,
        Toolpath(tmp_path / "runs.db", settings=BARE) as other,
    ):
        await one.models.set_default(await one.models.add(at(server)))
        assert (await other.run(agent("fast"))).status == "completed"
        assert (await other.run(agent())).status == "completed"


async def test_a_planner_and_the_settings_name_stored_models() -> None:
    async with ModelServer(then=Says(text="{}")) as server:
        async with Toolpath(settings=Settings(planner_model="fast")) as tp:
            await tp.models.add(at(server))
            chat = await tp.planning.model()
            assert chat is not None
            await chat(ChatRequest(messages=(Message(text="hello"),)))
        assert isinstance(server.requests[0].body, dict)
        assert server.requests[0].body["model"] == "fast-1"


async def test_settings_that_name_no_provider_are_told_though_models_are_stored() -> None:
    async with ModelServer(then=DONE) as server, Toolpath(settings=Settings(planner_llm="opnai")) as tp:
        await tp.models.add(at(server))
        with pytest.raises(ConfigError, match="opnai"):
            await tp.planning.model()


async def test_a_programs_own_chat_answers_to_what_is_stored_under_no_name() -> None:
    chat = ScriptedModel(then=[("terminate", {"message": "ended"})])
    async with ModelServer(then=DONE) as server, Toolpath(settings=BARE, chat=chat) as tp:
        await tp.models.set_default(await tp.models.add(at(server)))
        assert (await tp.run(agent("whatever"))).status == "completed"
        assert (await tp.run(agent())).status == "completed"
        assert (len(chat.requests), len(server.requests)) == (2, 0)
        assert (await tp.run(agent("fast"))).status == "completed"
        assert (len(chat.requests), len(server.requests)) == (2, 1)
