"""Models over REST: our own routes, and those of the plan execution service."""

from __future__ import annotations

import pytest
from tests.models.model_cases import DONE, KEY, agent
from tests.models.test_stored_models import VARIABLES
from tests.server.rest_cases import api, settled, tools
from tests.server.serving_cases import assert_problem, serving

from toolpath import Settings, Toolpath
from toolpath.access.caller import EVERYTHING, Caller
from toolpath.server.asgi import create_app
from toolpath.testing.model_server import ModelServer
from toolpath.values import JsonObject
from toolpath.workspace.models.models import ModelDraft


@pytest.fixture(autouse=True)
def _no_models_of_the_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in VARIABLES:
        monkeypatch.delenv(name, raising=False)


def fast(server: ModelServer) -> JsonObject:
    return {
        "name": "fast",
        "model": "fast-1",
        "base_url": f"{server.url}/v1",
        "key": KEY,
        "headers": {"X-A": "hush-hush"},
    }


async def test_a_model_is_kept_tried_named_by_a_run_changed_and_forgotten() -> None:
    async with ModelServer(then=DONE, models=["fast-1"]) as server, api() as client:
        assert_problem(await client.post("runs", json={"plan": agent("fast")}), 422, "plan_invalid")
        assert (await client.post("models/validate", json=fast(server))).json()["valid"]
        made = await client.post("models", json=fast(server))
        assert (made.status_code, made.json()["key"], made.json()["headers"]) == (201, "********", {"X-A": "********"})
        place = made.headers["location"].removeprefix("/api/v1/")
        assert_problem(await client.post("models", json=fast(server)), 409, "record_conflict")
        changed = await client.put(place, json={"key": "********", "temperature": 1.0})
        assert changed.json()["temperature"] == 1.0
        assert_problem(await client.put(place, json={"top_p": 1, "expected": 1}), 409, "record_conflict")
        assert_problem(await client.put(place, json={"temprature": 1}), 422, "invalid_request")
        assert (await client.post(f"{place}/default")).json()["is_default"]
        assert (await client.post(f"{place}/validate")).json() == {
            "valid": True,
            "message": f"{server.url}/v1 takes the key and lists 1 models.",
            "available": ["fast-1"],
        }
        begun = await client.post("runs", json={"plan": agent()})
        assert (await settled(client, begun.json()["run_id"]))["status"] == "completed"
        assert server.requests[-1].headers["authorization"] == f"Bearer {KEY}"
        for answer in (made, changed, await client.get("models"), await client.get("audit")):
            assert KEY not in answer.text
            assert "hush-hush" not in answer.text
        assert (await client.delete(place)).status_code == 204
        assert_problem(await client.get(place), 404, "unknown_record")


async def test_who_may_only_run_keeps_no_models_and_tenants_stay_apart() -> None:
    tp = Toolpath(settings=Settings(http_allow=("127.0.0.1",)))
    async with ModelServer(then=DONE) as server, tp:
        red = Caller(tenant="red", user="ada", permissions=EVERYTHING, scopes=EVERYTHING)
        blue = Caller(tenant="blue", user="bob", permissions=EVERYTHING, scopes=frozenset({"read", "run"}))
        async with (
            serving(create_app(tools(tp), is_open=True, caller=red)) as one,
            serving(create_app(tp, is_open=True, caller=blue)) as other,
        ):
            kept = await one.post("/api/v1/models", json=fast(server))
            assert kept.json()["tenant"] == "red"
            for path in (
                "/api/v1/models",
                "/api/v1/models/validate",
                "/api/models",
                "/api/models/validate",
                "/api/init/save",
            ):
                assert (await other.post(path, json=fast(server))).status_code == 403
            assert (await other.get("/api/v1/models")).json() == {"models": []}
            assert (await other.get(f"/api/v1/models/{kept.json()['model_id']}")).status_code == 404
            assert (await other.get(f"/api/models/{kept.json()['model_id']}")).status_code == 404
            assert (await other.post("/api/v1/runs", json={"plan": agent("fast")})).status_code == 422
            house = await tp.models.add(ModelDraft(**fast(server)))
            assert (await one.delete(f"/api/v1/models/{house.model_id}")).status_code == 404
            refused = await one.post(
                "/api/v1/models", json={"name": "inner", "base_url": "http://169.254.169.254/latest"}
            )
            assert_problem(refused, 422, "schema")


async def test_clients_of_the_plan_execution_service_set_up_and_keep_models() -> None:
    async with ModelServer(then=DONE, models=["qwen"], key=KEY) as server, api() as client:
        client.base_url = client.base_url.join("/api/")
        assert (await client.get("init/status")).json() == {
            "success": True,
            "initialized": False,
            "hasConfiguredModels": False,
        }
        setup = {"configMode": "custom", "apiKey": KEY, "baseUrl": server.url, "modelName": "qwen", "more": 1}
        wrong = await client.post("init/save", json={**setup, "baseUrl": ""})
        assert (wrong.status_code, wrong.json()["errorCode"]) == (400, "VALIDATION_ERROR")
        done = (await client.post("init/save", json=setup)).json()
        assert (done["success"], done["requiresRestart"], done["configMode"]) == (True, False, "custom")
        assert (await client.get("init/status")).json()["initialized"]
        (model,) = (await client.get("models")).json()
        assert (model["modelName"], model["apiKey"], model["isDefault"]) == ("qwen", "********", True)
        assert model["completionsPath"] == "/v1/chat/completions"
        again = await client.put(f"models/{model['id']}", json={**model, "temperature": 0.1})
        assert (again.status_code, again.json()["temperature"]) == (200, 0.1)
        good = (await client.post("models/validate", json={"baseUrl": f"{server.url}/v1", "apiKey": KEY})).json()
        assert (good["valid"], good["availableModels"]) == (True, [{"modelName": "qwen"}])
        bad = (await client.post("models/validate", json={"baseUrl": f"{server.url}/v1", "apiKey": "sk-none"})).json()
        assert (bad["valid"], "refused the key" in bad["message"]) == (False, True)
        options = (await client.get("models/available-models")).json()
        assert options == {"options": [{"value": "qwen", "label": "qwen"}], "total": 1}
        template = {
            "title": "Ask",
            "steps": [{"stepRequirement": "Do it.", "modelName": "qwen", "selectedToolKeys": ["none"]}],
            "toolConfig": {"enableHttpService": True},
        }
        await client.post("plan-template/create-or-update-with-tool", json=template)
        ran = await client.post("executor/executeByToolNameSync", json={"toolName": "Ask"})
        assert (ran.status_code, ran.json()["result"]) == (200, "ended"), ran.text
        assert server.requests[-1].path == "/v1/chat/completions"
        unknown = {**template, "title": "No", "steps": [{**template["steps"][0], "modelName": "qven"}]}
        refused = await client.post("plan-template/create-or-update-with-tool", json=unknown)
        assert refused.status_code == 400
        assert "qven" in refused.text
        assert (await client.delete(f"models/{model['id']}")).json() == {"success": True}
