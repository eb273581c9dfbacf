"""The routes of the plan execution service: its clients' whole way, from a template to its records."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import httpx
import pytest
from tests.access.access_cases import guarded
from tests.patience import PATIENCE
from tests.server.rest_cases import settled, until_asked
from tests.server.serving_cases import serving

from toolpath import Toolpath, tool
from toolpath.server.asgi import create_app
from toolpath.testing.scripted_model import ScriptedModel, done
from toolpath.values import JsonObject

NEWS: JsonObject = {
    "title": "News",
    "serviceGroup": "reports",
    "planTemplateId": "new-1700000000000",
    "planType": "dynamic_agent",
    "steps": [
        {
            "stepRequirement": "[BROWSER_AGENT] Collect news on <<topic>>",
            "agentName": "ConfigurableDynaAgent",
            "selectedToolKeys": ["web.search"],
            "terminateColumns": "title,url",
            "modelName": "",
        }
    ],
    "toolConfig": {"toolDescription": "News on a topic", "enableHttpService": True, "enableInternalToolcall": True},
    "unknownField": 1,
}
FORM: JsonObject = {
    "title": "Asking",
    "plan": {
        "steps": [
            {
                "id": "form",
                "ask": {"title": "Who?", "inputs": [{"name": "who", "label": "Name"}, {"name": "n", "label": "Name"}]},
            }
        ],
        "outputs": "{{ form.who }}",
    },
    "toolConfig": {"enableHttpService": True},
}


@tool(group="web", effect="read")
def search(text: str) -> list[str]:
    """Search the web."""
    return [f"{text} 1", f"{text} 2"]


@asynccontextmanager
async def service(*rounds: Any) -> AsyncIterator[httpx.AsyncClient]:
    model = ScriptedModel(*rounds) if rounds else None
    tp = Toolpath(chat=model)
    tp.add(search)
    async with serving(create_app(tp)) as client:
        client.base_url = client.base_url.join("/api/")
        yield client


async def kept(client: httpx.AsyncClient, document: JsonObject = NEWS) -> str:
    answer = await client.post("plan-template/create-or-update-with-tool", json=document)
    assert answer.status_code == 200, answer.text
    found: str = answer.json()["planTemplateId"]
    return found


async def ended(client: httpx.AsyncClient, plan_id: str) -> JsonObject:
    """The record of the plan when it has ended."""
    async with runs_of(client) as runs:
        await settled(runs, plan_id)
    return await record_of(client, plan_id)


async def asking(client: httpx.AsyncClient, plan_id: str) -> JsonObject:
    """The record of the plan once it waits for a person."""
    async with runs_of(client) as runs:
        await until_asked(runs, plan_id)
    return await record_of(client, plan_id)


def runs_of(client: httpx.AsyncClient) -> httpx.AsyncClient:
    return httpx.AsyncClient(base_url=client.base_url.join("/api/v1/"), timeout=PATIENCE, verify=False)


async def record_of(client: httpx.AsyncClient, plan_id: str) -> JsonObject:
    found: JsonObject = (await client.get(f"executor/details/{plan_id}")).json()
    return found


async def test_a_template_is_kept_run_and_its_record_tells_of_every_round() -> None:
    rows = [{"title": "Tea", "url": "x"}]
    async with service([("web.search", {"text": "tea"})], done(rows)) as client:
        template_id = await kept(client)
        begun = await client.post(
            "executor/executeByToolNameAsync",
            json={"toolName": template_id, "replacementParams": {"topic": "tea"}, "requestSource": "VUE_SIDEBAR"},
        )
        assert begun.status_code == 200
        assert (begun.json()["status"], begun.json()["planTemplateId"]) == ("processing", template_id)
        plan_id = begun.json()["planId"]
        assert (await client.get(f"executor/details/{plan_id}")).status_code == 200
        record = await ended(client, plan_id)
        assert (record["completed"], record["rootPlanId"], record["title"]) == (True, plan_id, "News")
        (agent,) = record["agentExecutionSequence"]
        assert (agent["status"], agent["agentRequest"]) == ("FINISHED", "Collect news on tea")
        first, second = agent["thinkActSteps"]
        assert [(each["name"], each["status"]) for each in first["actToolInfoList"]] == [("web.search", "succeeded")]
        assert first["actToolInfoList"][0]["parameters"] == '{"text":"tea"}'
        assert second["actToolInfoList"][0]["name"] == "toolpath.terminate"
        assert first["inputCharCount"] == len(first["thinkInput"]) > 0
        again = (await client.get(f"executor/agent-execution/{agent['stepId']}")).json()
        assert again == agent
        status = (await client.get(f"executor/taskStatus/{plan_id}")).json()
        assert (status["isRunning"], status["exists"]) == (False, True)
        assert status["taskResult"] == '[{"title":"Tea","url":"x"}]'


async def test_a_template_goes_by_id_title_or_group_and_title_and_answers_at_once_or_at_the_end() -> None:
    async with service(*[done([{"title": "a", "url": "b"}])] * 3) as client:
        template_id = await kept(client)
        for name in (template_id, "News", "reports.News"):
            body = {"toolName": name, "replacementParams": {"topic": "tea"}}
            answer = await client.post("executor/executeByToolNameSync", json=body)
            assert (answer.status_code, answer.json()["status"]) == (200, "completed"), answer.text
    async with service(done([{"title": "a", "url": "b"}])) as client:
        await kept(client)
        query = {"serviceGroup": "reports", "topic": "tea"}
        answer = await client.get("executor/executeByToolNameSync/News", params=query)
        assert answer.json()["result"] == '[{"title":"a","url":"b"}]'


@pytest.mark.parametrize(
    ("body", "status", "said"),
    [
        ({"toolName": " "}, 400, "Tool name cannot be empty"),
        ({"toolName": "Nothing"}, 404, "no template 'Nothing'"),
        ({"toolName": "News"}, 400, "needs the input 'topic'"),
        ({"toolName": 7}, 400, "The body cannot be read"),
    ],
)
async def test_what_cannot_be_run_begins_no_run(body: JsonObject, status: int, said: str) -> None:
    async with service(done("x")) as client:
        await kept(client)
        answer = await client.post("executor/executeByToolNameAsync", json=body)
        assert (answer.status_code, said in answer.json()["error"]) == (status, True), answer.text
        assert (await client.get("v1/runs")).json()["runs"] == []


async def test_a_draft_is_run_by_nobody() -> None:
    async with service(done("x")) as client:
        await kept(client, {**NEWS, "toolConfig": {"enableHttpService": False}})
        answer = await client.post("executor/executeByToolNameSync", json={"toolName": "News"})
        assert (answer.status_code, "is a draft" in answer.json()["error"]) == (403, True)


async def test_a_form_is_shown_and_answered_and_two_fields_of_one_label_are_two() -> None:
    async with service() as client:
        taken = await client.post("plan-template/import-all", json=[FORM])
        assert taken.json() == {"success": True, "total": 1, "successCount": 1, "failureCount": 0, "errors": []}
        begun = (await client.post("executor/executeByToolNameAsync", json={"toolName": "Asking"})).json()
        plan_id = begun["planId"]
        waiting = (await asking(client, plan_id))["userInputWaitState"]
        assert (waiting["title"], waiting["waiting"]) == ("Who?", True)
        assert [each["name"] for each in waiting["formInputs"]] == ["who", "n"]
        wrong = await client.post(f"executor/submit-input/{plan_id}", json={"who": "Ada"})
        assert (wrong.status_code, "n" in wrong.json()["error"]) == (400, True)
        answered = await client.post(f"executor/submit-input/{plan_id}", json={"who": "Ada", "n": "Bo"})
        assert answered.json() == {"message": "Input submitted successfully", "planId": plan_id}
        assert (await ended(client, plan_id))["structureResult"] == "Ada"
        again = await client.post(f"executor/submit-input/{plan_id}", json={"who": "Ada", "n": "Bo"})
        assert (again.status_code, "waiting for user input" in again.json()["error"]) == (400, True)


async def test_a_run_is_stopped_once() -> None:
    async with service() as client:
        await client.post("plan-template/import-all", json=[FORM])
        plan_id = (await client.post("executor/executeByToolNameAsync", json={"toolName": "Asking"})).json()["planId"]
        await asking(client, plan_id)
        assert (await client.post(f"executor/stopTask/{plan_id}")).json()["taskMarkedForStop"] is True
        assert (await ended(client, plan_id))["status"] == "cancelled"
        assert (await client.post(f"executor/stopTask/{plan_id}")).status_code == 400
        assert (await client.get("executor/taskStatus/run_none")).json()["exists"] is False


async def test_versions_configs_parameters_and_tools_are_as_its_clients_know_them() -> None:
    async with service() as client:
        template_id = await kept(client)
        second = {**NEWS, "planTemplateId": template_id, "steps": [{"stepRequirement": "Else: <<topic>>"}]}
        assert await kept(client, second) == template_id
        assert await kept(client, second) == template_id
        versions = (await client.post("plan-template/versions", json={"planId": template_id})).json()
        assert (versions["versionCount"], len(versions["versions"])) == (2, 2)
        first = await client.post("plan-template/get-version", json={"planId": template_id, "versionIndex": "0"})
        assert "Collect news on <<topic>>" in first.json()["planJson"]
        for index, said in (("7", "out of range"), ("x", "must be a number")):
            body = {"planId": template_id, "versionIndex": index}
            assert said in (await client.post("plan-template/get-version", json=body)).json()["error"]
        assert (await client.get("plan-template/list")).json()["count"] == 1
        config = (await client.get(f"plan-template/{template_id}/config")).json()
        assert config["toolConfig"]["inputSchema"][0]["name"] == "topic"
        assert (config["serviceGroup"], config["toolConfig"]["publishStatus"]) == ("reports", "PUBLISHED")
        assert (await client.get(f"plan-template/{template_id}/parameters")).json()["parameters"] == ["topic"]
        keys = {each["key"] for each in (await client.get("tools")).json()}
        assert {"web.search", "reports.News"} <= keys
        clash = await client.post("plan-template/create-or-update-with-tool", json=NEWS)
        assert (clash.status_code, clash.json()["errorCode"]) == (409, "DUPLICATE_TITLE")
        gone = (await client.post("plan-template/delete", json={"planId": template_id})).json()
        assert (gone["status"], gone["planId"]) == ("success", template_id)
        assert (await client.get("version")).json()["version"]


async def test_a_cron_task_keeps_its_parameters_and_is_switched_run_and_forgotten() -> None:
    async with service(done([{"title": "a", "url": "b"}])) as client:
        template_id = await kept(client)
        body = {
            "cronName": "Daily",
            "cronTime": "0 0 9 * * ?",
            "planTemplateId": template_id,
            "status": 0,
            "replacementParams": {"topic": "tea"},
        }
        made = (await client.post("cron-tasks", json=body)).json()
        assert (made["cronName"], made["status"], made["replacementParams"]) == ("Daily", 0, {"topic": "tea"})
        off = await client.put(f"cron-tasks/{made['id']}/status", params={"status": 1})
        assert off.json()["status"] == 1
        kept_all = await client.put(f"cron-tasks/{made['id']}", json={"cronName": "Weekly"})
        assert (kept_all.json()["planTemplateId"], kept_all.json()["cronName"]) == (template_id, "Weekly")
        run = (await client.post(f"cron-tasks/{made['id']}/execute")).json()
        assert (await ended(client, run["planId"]))["completed"] is True
        wrong = await client.post("cron-tasks", json={**body, "cronTime": "often"})
        assert (wrong.status_code, "cannot be read" in wrong.json()["error"]) == (400, True)
        assert (await client.delete(f"cron-tasks/{made['id']}")).status_code == 200
        assert (await client.get("cron-tasks")).json() == []


async def test_another_tenant_sees_none_of_it_and_nobody_gets_in_without_credentials() -> None:
    async with guarded(tools=(search,)) as door:
        owner = await door.key("*", tenant="acme", user="ada", permissions=("*",))
        stranger = await door.key("*", tenant="evil", user="eve", permissions=("*",))
        document = {**NEWS, "toolConfig": {"enableHttpService": True}}
        made = await door.client.post("/api/plan-template/create-or-update-with-tool", json=document, headers=owner)
        template_id = made.json()["planTemplateId"]
        task = {"planTemplateId": template_id, "cronTime": "0 0 9 * * ?", "replacementParams": {"topic": "x"}}
        cron = (await door.client.post("/api/cron-tasks", json=task, headers=owner)).json()["id"]
        for method, path, body in (
            ("POST", "executor/executeByToolNameAsync", {"toolName": template_id, "replacementParams": {"topic": "x"}}),
            ("GET", f"plan-template/{template_id}/config", None),
            ("POST", "plan-template/versions", {"planId": template_id}),
            ("POST", "plan-template/delete", {"planId": template_id}),
            ("GET", f"cron-tasks/{cron}", None),
            ("POST", f"cron-tasks/{cron}/execute", None),
            ("DELETE", f"cron-tasks/{cron}", None),
        ):
            answer = await door.client.request(method, f"/api/{path}", json=body, headers=stranger)
            assert answer.status_code == 404, (path, answer.text)
            assert (await door.client.request(method, f"/api/{path}", json=body)).status_code == 401
        for path in ("plan-template/list", "plan-template/list-config", "cron-tasks"):
            assert template_id not in (await door.client.get(f"/api/{path}", headers=stranger)).text


async def test_templates_run_by_name_are_told_in_the_conversation_that_they_name() -> None:
    rows = [{"title": "Tea", "url": "x"}]
    # The second is told of the first: its model has spoken once.
    async with service(done(rows), done(rows)) as client:
        await kept(client)
        thread = (await client.post("v1/conversations", json={"title": "News"})).json()["conversation_id"]
        for way in ("executeByToolNameAsync", "executeByToolNameSync"):
            body = {"toolName": "News", "replacementParams": {"topic": way}, "conversationId": thread}
            answer = await client.post(f"executor/{way}", json=body)
            assert (answer.status_code, answer.json()["conversationId"]) == (200, thread), answer.text
            await ended(client, answer.json()["planId"])
        async with runs_of(client) as plain:

            async def told() -> list[JsonObject]:
                answer = await plain.get(f"conversations/{thread}/messages")
                return list(answer.json()["messages"])

            async with asyncio.timeout(PATIENCE):
                while len(messages := await told()) < 4:  # noqa: ASYNC110
                    await asyncio.sleep(0)  # nobody is told of it
            assert [message["role"] for message in messages] == ["user", "assistant"] * 2
            assert ["Async" in messages[0]["text"], "Sync" in messages[2]["text"]] == [True, True]
            assert all("Tea" in message["text"] for message in messages[1::2])
            assert len((await plain.get(f"conversations/{thread}/runs")).json()["runs"]) == 2
        # An id that no conversation has is the client's own, and makes none.
        body = {"toolName": "News", "replacementParams": {"topic": "x"}, "conversationId": "of-the-client"}
        answer = await client.post("executor/executeByToolNameSync", json=body)
        assert (answer.status_code, answer.json()["conversationId"]) == (200, "of-the-client")
        assert (await client.get("v1/conversations/of-the-client")).status_code == 404
        assert len((await client.get("v1/runs")).json()["runs"]) == 3
