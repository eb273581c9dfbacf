"""GraphQL as the chaining system has it, with a client library that knows nothing of Toolpath, on a real server."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest
from gql import Client, GraphQLRequest
from gql.transport.exceptions import TransportConnectionFailed, TransportQueryError
from gql.transport.httpx import HTTPXAsyncTransport
from gql.transport.websockets import WebsocketsTransport
from graphql import build_client_schema, get_introspection_query
from mcp_cases import shop
from tests.patience import PATIENCE
from tests.server.serving_cases import serving

from toolpath import Settings, Toolpath
from toolpath.access.caller import Caller
from toolpath.runs.naming import OwnName
from toolpath.server.asgi import create_app

PAGE = Path(__file__).parents[2] / "docs" / "reference" / "graphql.md"
BLOG = Path(__file__).parents[2] / "examples" / "blog" / "blog_tools.py"
ALICE = "Create author Alice with email alice@test.com, then create blog by Alice titled Hello about world"

PLAN = """
mutation ($query: String!) {
  createPlanWithRequestId(query: $query) {
    id requestId planId query plan toolOrder executionState executionResults validationResult createdAt updatedAt
    selectedTools { toolName parameters dependsOn outputMapping }
  }
}"""
EXECUTE = """
mutation ($id: ID!) {
  executeByRequestId(requestId: $id) {
    id requestId planId totalExecutions successful failed results outputs errors createdAt updatedAt runId state status
  }
}"""


class Asking:
    """A client of one server."""

    def __init__(self, session: Any, url: str) -> None:
        self._session = session
        self.url = url

    async def __call__(self, text: str, **values: Any) -> Any:
        return await self._session.execute(GraphQLRequest(text, variable_values=values))

    async def refused(self, text: str, **values: Any) -> dict[str, Any]:
        """The error that the request meets."""
        with pytest.raises(TransportQueryError) as caught:
            await self(text, **values)
        assert caught.value.errors
        return dict(caught.value.errors[0])


@asynccontextmanager
async def asking(tp: Toolpath, **how: Any) -> AsyncIterator[Asking]:
    async with serving(create_app(tp, **how)) as http:
        await http.get("/health")
        url = f"{http.base_url}/graphql"
        async with Client(transport=HTTPXAsyncTransport(url=url), execute_timeout=PATIENCE) as session:
            yield Asking(session, url)


@pytest.fixture
async def blog() -> AsyncIterator[Asking]:
    tp = Toolpath()
    tp.add_module(str(BLOG))
    async with asking(tp) as ask:
        yield ask


# The document's examples.


async def test_create_author_alice_then_blog_by_alice(blog):
    planned = (await blog(PLAN, query=ALICE))["createPlanWithRequestId"]
    assert planned["requestId"].startswith("req_")
    assert planned["planId"].startswith("plan_")
    assert planned["query"] == ALICE
    assert planned["toolOrder"] == ["createAuthor", "createBlog"]
    author, post = planned["selectedTools"]
    assert author == {
        "toolName": "createAuthor",
        "parameters": author["parameters"],
        "dependsOn": None,
        "outputMapping": None,
    }
    assert json.loads(author["parameters"]) == {"name": "Alice", "email": "alice@test.com"}
    assert post["dependsOn"] == "createAuthor"
    given = json.loads(post["parameters"])
    assert given["authorId"].replace(" ", "") == "{{createAuthor._id}}"
    assert given["title"] == "Hello"
    assert "world" in given["content"]
    assert planned["executionState"] == "pending"
    assert planned["executionResults"] is None
    assert json.loads(planned["validationResult"]) == {"isValid": True, "errors": []}

    ran = (await blog(EXECUTE, id=planned["requestId"]))["executeByRequestId"]
    outputs = json.loads(ran["outputs"])
    assert (ran["totalExecutions"], ran["successful"], ran["failed"], ran["errors"]) == (2, 2, 0, [])
    assert (ran["requestId"], ran["planId"]) == (planned["requestId"], planned["planId"])
    assert outputs["createAuthor"]["name"] == "Alice"
    assert outputs["createBlog"]["authorId"] == outputs["createAuthor"]["_id"]
    assert [record["tool"] for record in json.loads(ran["results"])] == ["blog.createAuthor", "blog.createBlog"]

    after = (await blog("query ($id: ID!) { plan(id: $id) { executionState executionResults } }", id=planned["id"]))[
        "plan"
    ]
    assert after["executionState"] == "completed"
    assert json.loads(after["executionResults"]) == {**outputs, "errors": []}


async def test_deep_chains_pass_outputs_on_and_texts_are_filled_in(blog):
    tools = [
        {"toolName": "createAuthor", "parameters": {"name": "Ann", "email": "ann@test.com"}, "dependsOn": None},
        {
            "toolName": "createBlog",
            "parameters": {"authorId": "{{createAuthor._id}}", "title": "Hello", "content": "about world"},
            "dependsOn": "createAuthor",
        },
        {
            "toolName": "createComment",
            "parameters": {
                "blogId": "{{createBlog._id}}",
                "authorId": "{{createAuthor._id}}",
                "content": "Created by {{createAuthor.name}} ({{createAuthor.email}})",
            },
            "dependsOn": "createBlog",
        },
    ]
    ran = (await blog(AT_ONCE, tools=json.dumps({"tools": tools, "executionOrder": []})))["executeWithWorkflow"]
    author, post, comment = (record["output"] for record in json.loads(ran["results"]))
    assert (ran["successful"], ran["errors"]) == (3, [])
    assert post["authorId"] == comment["authorId"] == author["_id"]
    assert comment["blogId"] == post["_id"]
    assert comment["content"] == "Created by Ann (ann@test.com)"


async def test_calls_under_the_names_of_other_notations_are_executed(blog):
    step = {"tool": "createAuthor", "parameters": {"name": "Ann", "email": "ann@test.com"}}
    for document in ({"toolChain": [step]}, {"tools": [step], "executionOrder": []}, {"steps": [step]}):
        ran = (await blog(AT_ONCE, tools=json.dumps(document)))["executeWithWorkflow"]
        assert (ran["successful"], ran["errors"]) == (1, []), document


async def test_two_authors_of_one_query_are_two_steps_with_outputs_of_their_own(blog):
    query = "Create author Alice with email alice@test.com and create author Bob with email bob@test.com"
    planned = (await blog(PLAN, query=query))["createPlanWithRequestId"]
    assert [call["dependsOn"] for call in planned["selectedTools"]] == [None, None]
    outputs = json.loads((await blog(EXECUTE, id=planned["requestId"]))["executeByRequestId"]["outputs"])
    assert [author["name"] for author in outputs.values()] == ["Alice", "Bob"]
    assert len({author["_id"] for author in outputs.values()}) == len(outputs) == 2


async def test_a_plan_is_not_executed_twice_unless_it_is_said(blog):
    request = (await blog(PLAN, query="Create author Alice with email alice@test.com"))["createPlanWithRequestId"][
        "requestId"
    ]
    first, second = [(await blog(EXECUTE, id=request))["executeByRequestId"]["runId"] for _ in range(2)]
    third = (await blog(EXECUTE.replace("$id)", "$id, again: true)"), id=request))["executeByRequestId"]["runId"]
    assert first == second != third


async def test_a_key_that_a_caller_can_guess_is_not_the_one_of_an_execution(blog):
    planned = (await blog(PLAN, query="Create author Alice with email alice@test.com"))["createPlanWithRequestId"]
    other = {"name": "other", "steps": [{"tool": "createAuthor", "inputs": {"name": "Eve", "email": "eve@test.com"}}]}
    async with httpx.AsyncClient(base_url=blog.url.removesuffix("/graphql"), timeout=PATIENCE) as rest:
        for key in (f"execute {planned['planId']} 1", f"toolpath execute {planned['planId']} 1"):
            begun = await rest.post("/api/v1/runs", json={"plan": other, "idempotency_key": key})
            assert begun.status_code == 202
    ran = (await blog(EXECUTE, id=planned["requestId"]))["executeByRequestId"]
    assert "Alice" in ran["outputs"]
    assert "Eve" not in ran["outputs"]


async def test_what_an_earlier_version_executed_is_not_executed_again():
    tp = Toolpath()
    tp.add_module(str(BLOG))
    async with asking(tp) as blog:
        planned = (await blog(PLAN, query="Create author Alice with email alice@test.com"))["createPlanWithRequestId"]
        stored = await tp.plans.latest(planned["requestId"], tenant="")
        before = await tp.start(stored, {}, idempotency_key=f"execute {stored.plan_id} {stored.revision}")
        await before.result()
        ran = (await blog(EXECUTE, id=planned["requestId"]))["executeByRequestId"]
        assert ran["runId"] == before.run_id


@pytest.mark.parametrize("given", ["k", "\x1fk", "\x1ftoolpath k", "toolpath k", "\x1f\x1ftoolpath k", "\x1f\x1f\x1fk"])
async def test_no_key_of_a_caller_is_one_of_the_service(given):
    tp = Toolpath()
    tp.add_module(str(BLOG))
    plan = {"steps": [{"tool": "createAuthor", "inputs": {"name": "Eve", "email": "eve@test.com"}}]}
    async with tp:
        own = [await tp.start(tp.read(plan), idempotency_key=OwnName(name)) for name in ("k", given)]
        theirs = await tp.start(tp.read(plan), idempotency_key=given)
        again = await tp.start(tp.read(plan), idempotency_key=given)
        assert theirs.run_id == again.run_id
        assert theirs.run_id not in {run.run_id for run in own}


async def test_one_request_may_have_several_plans_and_the_newest_is_executed(blog):
    first = (await blog(PLAN, query="Create author Alice with email alice@test.com"))["createPlanWithRequestId"]
    more = PLAN.replace("query: $query)", f'query: $query, requestId: "{first["requestId"]}")')
    second = (await blog(more, query="Create author Bob with email bob@test.com"))["createPlanWithRequestId"]
    found = await blog(
        "query ($id: ID!) { plansByRequestId(requestId: $id) { planId version } }", id=first["requestId"]
    )
    assert found["plansByRequestId"] == [
        {"planId": second["planId"], "version": 2},
        {"planId": first["planId"], "version": 1},
    ]
    ran = (await blog(EXECUTE, id=first["requestId"]))["executeByRequestId"]
    assert json.loads(ran["outputs"])["createAuthor"]["name"] == "Bob"


async def test_unknown_requests_are_refused_in_the_systems_words(blog):
    error = await blog.refused(EXECUTE, id="req_1_x")
    assert error["message"] == "Plan not found for requestId: req_1_x"
    error = await blog.refused('mutation { updateExecution(id: "x", input: "a") { id } }')
    assert error["message"] == "Execution not found"
    nothing = await blog(
        '{ plan(id: "x") { id } getPlan(id: "x") { id } execution(id: "x") { id } getExecution(id: "x") { id } '
        'plansByRequestId(requestId: "x") { id } }'
    )
    assert nothing == {
        "plan": None,
        "getPlan": None,
        "execution": None,
        "getExecution": None,
        "plansByRequestId": [],
    }


async def test_tools_are_listed_with_their_parameters(blog):
    tools = (await blog("{ getAvailableTools { name description category parameters } }"))["getAvailableTools"]
    assert len(tools) == 18
    author = next(tool for tool in tools if tool["name"] == "createAuthor")
    assert author["description"].startswith("Create an author.")
    assert json.loads(author["parameters"])["required"] == ["name", "email"]


# Tools at once.

AT_ONCE = """
mutation ($tools: String!) {
  executeWithWorkflow(plan: "two authors", tools: $tools) {
    id plan totalExecutions successful failed results errors createdAt updatedAt
  }
}"""


async def test_tools_are_executed_at_once_side_by_side_and_in_chains(blog):
    tools = [
        {"id": "alice", "toolName": "createAuthor", "parameters": {"name": "Alice", "email": "a@test.com"}},
        {"id": "bob", "toolName": "createAuthor", "parameters": '{"name": "Bob", "email": "b@test.com"}'},
        {
            "toolName": "createBlog",
            "parameters": {"authorId": "{{bob._id}}", "title": "T", "content": "by {{alice.name}} & co"},
            "dependsOn": "alice",
        },
    ]
    ran = (await blog(AT_ONCE, tools=json.dumps(tools)))["executeWithWorkflow"]
    assert (ran["totalExecutions"], ran["successful"], ran["failed"], ran["errors"]) == (3, 3, 0, [])
    outputs = [record["output"] for record in json.loads(ran["results"])]
    assert outputs[2]["authorId"] == outputs[1]["_id"]
    assert outputs[2]["content"] == "by Alice & co"
    assert ran["plan"] == "two authors"


async def test_a_name_that_two_steps_share_is_refused_and_never_taken_for_the_first(blog):
    tools = [
        {"toolName": "createAuthor", "parameters": {"name": "Alice", "email": "a@test.com"}},
        {"toolName": "createAuthor", "parameters": {"name": "Bob", "email": "b@test.com"}},
        {
            "toolName": "createBlog",
            "parameters": {"authorId": "{{createAuthor._id}}", "title": "T", "content": "c"},
        },
    ]
    ran = (await blog(AT_ONCE, tools=json.dumps(tools)))["executeWithWorkflow"]
    assert (ran["totalExecutions"], ran["successful"], ran["results"]) == (3, 0, "[]")
    assert "'createAuthor' and 'createAuthor_2'" in ran["errors"][0]
    assert (await blog("{ getExecutions { id } }"))["getExecutions"] == []


async def test_output_mappings_and_conditions_of_tools_given_with_the_call_are_kept(blog):
    tools = [
        {
            "toolName": "createAuthor",
            "parameters": {"name": "Alice", "email": "a@test.com"},
            "outputMapping": {"_id": "aid"},
        },
        {"toolName": "createBlog", "parameters": {"authorId": "{{aid}}", "title": "T", "content": "c"}},
        {
            "toolName": "getAuthor",
            "parameters": {"authorId": "{{ aid }}"},
            "when": "aid == 'nobody'",
        },
    ]
    ran = (await blog(AT_ONCE, tools=json.dumps(tools)))["executeWithWorkflow"]
    results = {record["tool"]: record for record in json.loads(ran["results"])}
    assert ran["errors"] == []
    assert results["blog.createBlog"]["output"]["authorId"] == results["blog.createAuthor"]["output"]["_id"]
    assert results["blog.getAuthor"]["status"] == "skipped"


async def test_nothing_is_executed_where_something_is_wrong_and_all_of_it_is_told(blog):
    wrong = [
        {"toolName": "createAuthr", "parameters": {}},
        {"toolName": "createAuthor", "parameters": {"name": "Alice", "email": "a@test.com"}},
    ]
    ran = (await blog(AT_ONCE, tools=json.dumps(wrong)))["executeWithWorkflow"]
    assert (ran["totalExecutions"], ran["successful"], ran["failed"]) == (2, 0, 1)
    assert ran["errors"] == ['Tool "createAuthr" not found']
    circle = [
        {"toolName": "getAuthor", "parameters": {"authorId": "1"}, "dependsOn": "getBlog"},
        {"toolName": "getBlog", "parameters": {"blogId": "1"}, "dependsOn": "getAuthor"},
    ]
    ran = (await blog(AT_ONCE, tools=json.dumps(circle)))["executeWithWorkflow"]
    assert ran["errors"][0].startswith("Circular dependency detected between tools")
    assert ran["successful"] == 0
    assert (await blog("{ getExecutions { id } }"))["getExecutions"] == []


@pytest.mark.parametrize(
    "tools", ["", "{", "[]", "{}", "[1]", '[{"toolName": 5}]', '[{"toolName": "a", "parameters": "["}]']
)
async def test_what_is_no_list_of_tools_is_refused(blog, tools):
    error = await blog.refused(AT_ONCE, tools=tools)
    assert error["extensions"]["code"] == "unreadable"


async def test_a_failure_stops_the_chain_and_is_told(blog):
    tools = [
        {"toolName": "getAuthor", "parameters": {"authorId": "nobody"}},
        {
            "toolName": "createBlog",
            "parameters": {"authorId": "{{getAuthor._id}}", "title": "T", "content": "c"},
            "dependsOn": "getAuthor",
        },
    ]
    ran = (await blog(AT_ONCE, tools=json.dumps(tools)))["executeWithWorkflow"]
    assert (ran["successful"], ran["failed"]) == (0, 1)
    assert "There is no author nobody." in ran["errors"][0]
    assert [record["status"] for record in json.loads(ran["results"])] == ["failed", "skipped"]
    listed = (await blog("{ getExecutions { id output } }"))["getExecutions"]
    again = (await blog("query ($id: ID!) { execution(id: $id) { state failed } }", id=listed[0]["id"]))["execution"]
    assert again == {"state": "failed", "failed": 1}


async def test_a_workflow_of_a_query_tells_its_tools(blog):
    made = await blog(
        "mutation ($q: String!) { createPlanWithWorkflow(query: $q) "
        "{ id query plan selectedTools { name } validationResult createdAt updatedAt } }",
        q=ALICE,
    )
    tools = made["createPlanWithWorkflow"]["selectedTools"]
    assert [tool["name"] for tool in tools] == ["createAuthor", "createBlog"]


async def test_a_query_that_no_tool_fits_is_refused(blog):
    assert (await blog.refused(PLAN, query="What is the weather in Paris?"))["extensions"]["code"] == "no_tool_fits"
    assert (await blog.refused(PLAN, query="  "))["extensions"]["code"] == "invalid_request"
    assert (await blog.refused(PLAN, query="x" * 30_000))["extensions"]["code"] == "invalid_request"


# Texts.


async def test_plans_are_created_changed_listed_and_deleted_as_texts(blog):
    plan = {"steps": [{"id": "a", "tool": "createAuthor", "inputs": {"name": "Ada", "email": "a@x.com"}}]}
    create = "mutation ($i: String!, $o: String!) { createPlan(input: $i, output: $o) { id input output } }"
    stored = (await blog(create, i="an author", o=json.dumps(plan)))["createPlan"]
    note = (await blog(create, i="a note", o="not a plan at all"))["createPlan"]
    assert note["output"] == "not a plan at all"
    shown = (await blog("query ($id: ID!) { plan(id: $id) { requestId toolOrder } }", id=stored["id"]))["plan"]
    assert shown["toolOrder"] == ["createAuthor"]
    ran = (await blog(EXECUTE, id=shown["requestId"]))["executeByRequestId"]
    assert json.loads(ran["outputs"])["createAuthor"]["name"] == "Ada"

    update = "mutation ($id: ID!, $o: String) { updatePlan(id: $id, output: $o) { output } }"
    assert (await blog(update, id=note["id"], o="another"))["updatePlan"]["output"] == "another"
    other = json.dumps({"steps": [{"id": "b", "tool": "listAuthors"}]})
    changed = (await blog(update, id=stored["id"], o=other))["updatePlan"]
    assert "listAuthors" in changed["output"]
    assert (await blog.refused(update, id="plan_1_x", o="x"))["message"] == "Plan not found"
    assert (await blog.refused(update, id=stored["id"], o="no plan"))["extensions"]["code"] == "unreadable"

    listed = (await blog("{ getPlans { id } }"))["getPlans"]
    assert [item["id"] for item in listed] == [note["id"], stored["id"]]
    assert (await blog("{ getPlans(limit: 1, offset: 1) { id } }"))["getPlans"] == [{"id": stored["id"]}]
    for pair in ("limit: -1", "limit: 101", "offset: 5000"):
        assert (await blog.refused(f"{{ getPlans({pair}) {{ id }} }}"))["extensions"]["code"] in (
            "invalid_request",
            "too_large",
        )
    delete = "mutation ($id: ID!) { deletePlan(id: $id) }"
    for item in (stored, note):
        assert (await blog(delete, id=item["id"]))["deletePlan"] is True
        assert (await blog(delete, id=item["id"]))["deletePlan"] is False
    assert (await blog("{ getPlans { id } }"))["getPlans"] == []


async def test_executions_are_kept_as_texts_beside_runs(blog):
    kept = (
        await blog('mutation { createExecution(input: "in", output: "out") { id input output createdAt updatedAt } }')
    )["createExecution"]
    update = 'mutation ($id: ID!) { updateExecution(id: $id, output: "new") { input output } }'
    assert (await blog(update, id=kept["id"]))["updateExecution"] == {"input": "in", "output": "new"}
    tools = json.dumps([{"toolName": "listAuthors", "parameters": {}}])
    run = (await blog(AT_ONCE, tools=tools))["executeWithWorkflow"]["id"]
    assert (await blog.refused(update, id=run))["extensions"]["code"] == "record_conflict"
    listed = [item["id"] for item in (await blog("{ getExecutions { id } }"))["getExecutions"]]
    assert set(listed) == {kept["id"], run}
    shown = (await blog("query ($id: ID!) { getExecution(id: $id) { input output } }", id=run))["getExecution"]
    assert "listAuthors" in shown["input"]
    delete = "mutation ($id: ID!) { deleteExecution(id: $id) }"
    assert (await blog(delete, id=run))["deleteExecution"] is True
    assert (await blog(delete, id=kept["id"]))["deleteExecution"] is True
    assert (await blog("{ getExecutions { id } }"))["getExecutions"] == []


# People.

WAITING = 'mutation ($t: String!) { executeWithWorkflow(plan: "p", tools: $t) { id } }'
RUN = "{ runId state status outputs errors questions { step kind title form } }"


async def test_who_deletes_an_execution_stands_in_the_audit_trail():
    caller = Caller(tenant="acme", user="ada", scopes=frozenset({"*"}))
    tp = shop(Toolpath())
    async with asking(tp, caller=caller) as client:
        tools = json.dumps([{"toolName": "add", "parameters": {"a": 1, "b": 2}}])
        made = 'mutation ($tools: String!) { executeWithWorkflow(plan: "sum", tools: $tools) { id } }'
        run_id = (await client(made, tools=tools))["executeWithWorkflow"]["id"]
        assert (await client("mutation ($id: ID!) { deleteExecution(id: $id) }", id=run_id))["deleteExecution"]
        last = (await tp.trail.entries(tenant="acme"))[-1]
    assert (last.action, last.subject, last.user) == ("run.delete", run_id, "ada")


async def test_approvals_and_forms_are_listed_and_answered():
    tp = shop(Toolpath())
    async with asking(tp) as ask:
        tools = [{"toolName": "site.deploy", "parameters": {"site": "blog"}}, {"toolName": "ask", "parameters": {}}]
        run = (await ask(WAITING, t=json.dumps(tools)))["executeWithWorkflow"]["id"]
        questions = (await ask("{ questions { runId step kind title } }"))["questions"]
        assert {(asked["step"], asked["kind"]) for asked in questions} == {("deploy", "approval"), ("ask", "input")}
        answer = f'mutation ($r: ID!, $v: String) {{ answer(runId: $r, step: "ask", values: $v) {RUN} }}'
        assert (await ask.refused(answer, r=run, v="["))["extensions"]["code"] == "schema"
        assert "none of red, blue" in (await ask.refused(answer, r=run, v='{"colour": "x"}'))["message"]
        left = (await ask(answer, r=run, v='{"colour": "red"}'))["answer"]
        assert (left["state"], left["status"], len(left["questions"])) == ("in-progress", "waiting", 1)
        done = (await ask(f'mutation ($r: ID!) {{ approve(runId: $r, step: "deploy") {RUN} }}', r=run))["approve"]
        assert done["state"] == "completed"
        assert json.loads(done["outputs"])["deploy"] == {"url": "https://blog.example"}
        again = await ask.refused(f"mutation ($r: ID!) {{ approve(runId: $r) {RUN} }}", r=run)
        assert again["extensions"]["code"] == "run_conflict"


async def test_what_is_denied_has_failed_and_what_is_cancelled_is_over():
    async with asking(shop(Toolpath())) as ask:
        tools = json.dumps([{"toolName": "site.deploy", "parameters": {"site": "blog"}}])
        run = (await ask(WAITING, t=tools))["executeWithWorkflow"]["id"]
        denied = (await ask(f'mutation ($r: ID!) {{ deny(runId: $r, comment: "No.") {RUN} }}', r=run))["deny"]
        assert denied["state"] == "failed"
        assert "No." in denied["errors"][0]
        run = (await ask(WAITING, t=tools))["executeWithWorkflow"]["id"]
        gone = await ask(f'mutation ($r: ID!) {{ cancelExecution(id: $r, reason: "late") {RUN} }}', r=run)
        assert gone["cancelExecution"]["status"] == "cancelled"
        assert "late" in gone["cancelExecution"]["errors"][0]


# Events.

EVENTS = "subscription ($r: ID!, $a: Int! = 0) { runEvents(runId: $r, after: $a) { seq type at data runId } }"


async def test_events_come_over_a_websocket_as_they_happen_and_end_with_the_run():
    tp = shop(Toolpath())
    async with asking(tp) as ask:
        run = await tp.start({"steps": [{"id": "s", "tool": "ask"}]})
        await run.result()
        transport = WebsocketsTransport(url=ask.url.replace("http", "ws", 1))
        seen: list[dict[str, Any]] = []
        async with Client(transport=transport) as session:
            async for item in session.subscribe(GraphQLRequest(EVENTS, variable_values={"r": run.run_id})):
                seen.append(item["runEvents"])
                if seen[-1]["type"] == "input.requested":
                    await tp.answer(run.run_id, values={"colour": "red"})
            types = [event["type"] for event in seen]
            assert types[0] == "run.started"
            assert types[-1] == "run.completed"
            assert [event["seq"] for event in seen] == list(range(1, len(seen) + 1))
            assert json.loads(seen[-1]["data"])["type"] == "run.completed"
            rest = session.subscribe(GraphQLRequest(EVENTS, variable_values={"r": run.run_id, "a": len(seen) - 1}))
            assert [item["runEvents"]["seq"] async for item in rest] == [len(seen)]
            with pytest.raises(TransportQueryError, match="There is no run"):
                async for _ in session.subscribe(GraphQLRequest(EVENTS, variable_values={"r": "run_1_x"})):
                    pass


async def test_events_come_over_server_sent_events():
    tp = shop(Toolpath())
    async with asking(tp) as ask:
        run = await tp.start({"steps": [{"id": "s", "tool": "math.add", "inputs": {"a": 1, "b": 2}}]})
        await run.result()
        body = {"query": EVENTS, "variables": {"r": run.run_id}}
        types = []
        async with (
            httpx.AsyncClient(timeout=PATIENCE) as client,
            client.stream("POST", ask.url, json=body, headers={"accept": "text/event-stream"}) as answer,
        ):
            assert answer.headers["content-type"].startswith("text/event-stream")
            async for line in answer.aiter_lines():
                if line.startswith("data:") and "runEvents" in line:
                    types.append(json.loads(line[5:])["data"]["runEvents"]["type"])
        assert types[0] == "run.started"
        assert types[-1] == "run.completed"


async def test_a_reader_that_goes_away_leaves_nothing_behind():
    tp = shop(Toolpath())
    app = create_app(tp)
    async with serving(app) as http:
        await http.get("/health")
        run = await tp.start({"steps": [{"id": "s", "tool": "slow"}]})
        transport = WebsocketsTransport(url=f"{http.base_url}/graphql".replace("http", "ws", 1))
        async with Client(transport=transport) as session:
            async for item in session.subscribe(GraphQLRequest(EVENTS, variable_values={"r": run.run_id})):
                if item["runEvents"]["type"] == "step.started":
                    break
        async with asyncio.timeout(PATIENCE):
            while app.state.feeds.readers:
                await http.get("/health")
        await tp.cancel(run.run_id)


# Too much.

DEEP = "{__schema" + "{types{fields{type" * 8 + "{name}" + "}}}" * 8 + "}"
FRAGMENTS = (
    "query {...f0} "
    + " ".join(f"fragment f{n} on Query {{ ...f{n + 1} ...f{n + 1} ...f{n + 1} }}" for n in range(60))
    + " fragment f60 on Query { getPlans { id } }"
)


@pytest.mark.parametrize(
    "text",
    [
        DEEP,
        FRAGMENTS,
        "{" + " ".join(f"a{n}: getPlans {{ id }}" for n in range(200)) + "}",
        "{" + "getPlans { id } " * 900 + "}",
        "{a" * 900 + "}" * 900,
        "{ getPlan(id: " + "[" * 900 + "]" * 900 + ") { id } }",
        "query {...a} fragment a on Query {...b} fragment b on Query {...a}",
        "{" + "__schema { types { name } } " * 100 + "}",
        "{ getPlans" + " @include(if: true)" * 600 + " { id } }",
        '{ getPlan(id: "' + "x" * 3_000_000 + '") { id } }',
        "#" * 3_000_000,
    ],
    ids=[
        "deep",
        "fragments",
        "aliases",
        "same",
        "nested",
        "lists",
        "circle",
        "introspection",
        "directives",
        "id",
        "text",
    ],
)
async def test_documents_that_ask_for_too_much_are_refused_quickly(text):
    async with serving(create_app(Toolpath())) as http:
        await http.get("/health")
        began = time.process_time()
        answer = await http.post("/graphql", json={"query": text})
        assert time.process_time() - began < 2
        body = answer.json()
        assert answer.status_code in (200, 400)
        assert body.get("errors") or body["code"] == "bad_request"
        assert not body.get("data")
        assert (await http.post("/graphql", json={"query": "{ getPlans { id } }"})).json() == {"data": {"getPlans": []}}


async def test_the_bounds_hold_over_websockets_too():
    async with asking(Toolpath()) as ask:
        transport = WebsocketsTransport(url=ask.url.replace("http", "ws", 1))
        async with Client(transport=transport) as session:
            for text in (DEEP, FRAGMENTS):
                with pytest.raises(TransportQueryError, match="too large"):
                    await session.execute(GraphQLRequest(text))
            assert await session.execute(GraphQLRequest("{ getPlans { id } }")) == {"getPlans": []}


async def test_what_is_no_request_is_refused_with_a_status_that_says_so():
    async with serving(create_app(Toolpath())) as http:
        await http.get("/health")
        kind = {"content-type": "application/json"}
        for body in (b"", b"{", b"null", b"5", b'"x"', b"[]", b"[" * 100_000, b'{"query": 5}', b'{"query": ""}', b"{}"):
            assert (await http.post("/graphql", content=body, headers=kind)).status_code == 400, body[:20]
        for kind in ({"content-type": "text/plain"}, {"content-type": "application/x-www-form-urlencoded"}):
            assert (await http.post("/graphql", content=b"query={getPlans{id}}", headers=kind)).status_code == 400
        assert (await http.get("/graphql", params={"query": "{getPlans{id}}"})).status_code == 400
        page = await http.get("/graphql", headers={"accept": "text/html"})
        assert page.status_code in (400, 404)
        assert "script" not in page.text


async def test_clients_may_look_at_the_schema_and_what_they_see_is_what_the_page_lists():
    async with asking(Toolpath()) as ask:
        seen = await ask(get_introspection_query(input_value_deprecation=True))
        schema = build_client_schema(seen)
        page = PAGE.read_text()
        for kind in (schema.query_type, schema.mutation_type, schema.subscription_type):
            for name in kind.fields:
                assert f"`{name}" in page, name


async def test_pages_of_other_origins_get_no_websocket_unless_they_are_allowed():
    for allowed, is_let_in in (((), False), (("https://app.example.org",), True)):
        tp = shop(Toolpath(settings=Settings(allowed_origins=allowed)))
        async with asking(tp) as ask:
            run = await tp.start({"steps": [{"id": "s", "tool": "math.add", "inputs": {"a": 1, "b": 2}}]})
            await run.result()
            headers = {"Origin": "https://app.example.org"}
            transport = WebsocketsTransport(url=ask.url.replace("http", "ws", 1), headers=headers)
            if not is_let_in:
                with pytest.raises(TransportConnectionFailed, match="Connect failed"):
                    await Client(transport=transport).connect_async()
                continue
            async with Client(transport=transport) as session:
                request = GraphQLRequest(EVENTS, variable_values={"r": run.run_id})
                assert [item async for item in session.subscribe(request)]


# Who may what.


async def test_tenants_see_only_their_own():
    tp = shop(Toolpath())
    whole = frozenset({"*"})
    alice, bob = Caller(tenant="a", user="alice", scopes=whole), Caller(tenant="b", user="bob", scopes=whole)
    async with asking(tp, caller=alice) as mine:
        planned = (await mine(PLAN, query="Create author Alice with email alice@test.com"))["createPlanWithRequestId"]
        ran = (await mine(EXECUTE, id=planned["requestId"]))["executeByRequestId"]
        note = (await mine('mutation { createExecution(input: "i", output: "o") { id } }'))["createExecution"]
        async with asking(tp, caller=bob, is_open=True) as theirs:
            found = await theirs(
                "query ($p: ID!, $r: ID!, $q: ID!, $n: ID!) { plan(id: $p) { id } getPlan(id: $p) { id } "
                "execution(id: $r) { id } getExecution(id: $r) { id } note: getExecution(id: $n) { id } "
                "plansByRequestId(requestId: $q) { id } getPlans { id } getExecutions { id } "
                "questions(runId: $r) { runId } }",
                p=planned["id"],
                r=ran["id"],
                q=planned["requestId"],
                n=note["id"],
            )
            assert not any(found.values())
            for text, values in (
                (EXECUTE, {"id": planned["requestId"]}),
                ("mutation ($id: ID!) { cancelExecution(id: $id) { id } }", {"id": ran["id"]}),
                ("mutation ($id: ID!) { approve(runId: $id) { id } }", {"id": ran["id"]}),
                ('mutation ($id: ID!) { updatePlan(id: $id, output: "x") { id } }', {"id": planned["id"]}),
                ('mutation ($id: ID!) { updateExecution(id: $id, output: "x") { id } }', {"id": note["id"]}),
            ):
                error = await theirs.refused(text, **values)
                assert error["extensions"]["code"] in ("unknown_run", "unknown_record"), error
            for kind in ("deletePlan", "deleteExecution"):
                gone = await theirs(f"mutation ($id: ID!) {{ {kind}(id: $id) }}", id=planned["id"])
                assert gone[kind] is False
            assert (await tp.store.get_run(ran["id"])).tenant == "a"


async def test_scopes_are_needed():
    tp = shop(Toolpath())
    async with asking(tp, caller=Caller(user="r", scopes=frozenset({"read"}))) as reader:
        assert (await reader("{ getPlans { id } }"))["getPlans"] == []
        for text in (
            'mutation { createPlan(input: "i", output: "o") { id } }',
            'mutation { executeWithWorkflow(plan: "p", tools: "[]") { id } }',
            'mutation { approve(runId: "r") { id } }',
        ):
            assert (await reader.refused(text))["extensions"]["code"] == "scope"
