"""Plan templates and schedules over GraphQL, on a real server with a client that knows nothing of Toolpath."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
from gql import Client, GraphQLRequest
from gql.transport.exceptions import TransportQueryError
from gql.transport.httpx import HTTPXAsyncTransport
from tests.server.serving_cases import serving

from toolpath import Toolpath
from toolpath.access.caller import Caller
from toolpath.server.asgi import create_app

GREET = {
    "name": "Greet",
    "steps": [{"id": "said", "tool": "say", "inputs": {"text": "Hello <<name>>"}}],
    "outputs": "{{ said }}",
}
SAVE = "mutation ($d: String!, $id: ID) { savePlanTemplate(document: $d, id: $id) { id version channels } }"
RUN = "mutation ($id: ID!, $in: String!) { runPlanTemplate(id: $id, inputs: $in) { status state outputs planId } }"
PUBLISH = "mutation ($id: ID!, $c: [String!]!) { publishPlanTemplate(id: $id, channels: $c) { published channels } }"


def say(text: str) -> str:
    """Say a text."""
    return text


class Asking:
    def __init__(self, session: Any) -> None:
        self._session = session

    async def __call__(self, query: str, **values: Any) -> Any:
        return await self._session.execute(GraphQLRequest(query, variable_values=values))

    async def refused(self, query: str, **values: Any) -> dict[str, Any]:
        with pytest.raises(TransportQueryError) as caught:
            await self(query, **values)
        assert caught.value.errors
        return dict(caught.value.errors[0]["extensions"])


@asynccontextmanager
async def asking(tp: Toolpath, **how: Any) -> AsyncIterator[Asking]:
    async with serving(create_app(tp, **how)) as http:
        url = f"{http.base_url}/graphql"
        async with Client(transport=HTTPXAsyncTransport(url=url), execute_timeout=60) as session:
            yield Asking(session)


@pytest.fixture
async def tp() -> AsyncIterator[Toolpath]:
    async with Toolpath() as door:
        door.add(say, effect="read")
        yield door


async def test_a_template_is_kept_published_run_and_looked_at(tp: Toolpath) -> None:
    async with asking(tp) as ask:
        made = (await ask(SAVE, d=json.dumps(GREET)))["savePlanTemplate"]
        again = (await ask(SAVE, d=json.dumps(GREET), id=made["id"]))["savePlanTemplate"]
        newer = {**GREET, "description": "friendly"}
        second = (await ask(SAVE, d=json.dumps(newer), id="ungrouped.Greet"))["savePlanTemplate"]
        assert (made["version"], again["version"], second["version"]) == (1, 1, 2)
        # A draft is run by nobody over HTTP.
        assert (await ask.refused(RUN, id=made["id"], **{"in": "{}"}))["code"] == "policy"
        assert (await ask(PUBLISH, id=made["id"], c=["http"]))["publishPlanTemplate"] == {
            "published": 2,
            "channels": ["http"],
        }
        refused = await ask.refused(RUN, id="Greet", **{"in": "{}"})
        assert [finding["code"] for finding in refused["findings"]] == ["missing_input"]
        assert await tp.runs() == []
        long = (
            f'mutation {{ runPlanTemplate(id: "Greet", inputs: "{{}}", idempotencyKey: "{"k" * 201}") {{ planId }} }}'
        )
        long = long.replace('inputs: "{}"', r'inputs: "{\"name\": \"Ada\"}"')
        assert (await ask.refused(long))["hint"] == "Take a digest of it as the key."
        assert await tp.runs() == []
        ran = (await ask(RUN, id="Greet", **{"in": '{"name": "Ada"}'}))["runPlanTemplate"]
        assert (ran["status"], ran["planId"]) == ("completed", made["id"])
        assert "Hello Ada" in ran["outputs"]
        page = await ask("{ planTemplates { title versions { version } parameters { name required } document } }")
        (shown,) = page["planTemplates"]
        assert [each["version"] for each in shown["versions"]] == [1, 2]
        assert (shown["parameters"], json.loads(shown["document"])) == ([{"name": "name", "required": True}], newer)
        rolled = await ask(
            f'mutation {{ rollBackPlanTemplate(id: "{made["id"]}", version: 1) {{ version document }} }}'
        )
        assert json.loads(rolled["rollBackPlanTemplate"]["document"]) == GREET
        old = await ask(
            f'{{ planTemplate(id: "{made["id"]}", version: 2) {{ document }} nobody: planTemplate(id: "x") {{ id }} }}'
        )
        assert (json.loads(old["planTemplate"]["document"]), old["nobody"]) == (newer, None)
        assert (await ask(PUBLISH, id=made["id"], c=[]))["publishPlanTemplate"]["published"] == 0
        gone = 'mutation { first: deletePlanTemplate(id: "Greet") second: deletePlanTemplate(id: "Greet") }'
        assert await ask(gone) == {"first": True, "second": False}


async def test_a_schedule_is_kept_changed_paused_and_forgotten(tp: Toolpath) -> None:
    schedule = (
        "mutation ($in: String!, $cron: String!) "
        '{ schedulePlanTemplate(id: "Greet", cron: $cron, inputs: $in) { id nextAt inputs } }'
    )
    async with asking(tp) as ask:
        await ask(SAVE, d=json.dumps(GREET))
        assert "code" in await ask.refused(schedule, cron="0 9 * * *", **{"in": "{}"})
        assert "code" in await ask.refused(schedule, cron="99 9 * * *", **{"in": '{"name": "Ada"}'})
        made = (await ask(schedule, cron="0 9 * * *", **{"in": '{"name": "Ada"}'}))["schedulePlanTemplate"]
        assert (json.loads(made["inputs"]), made["nextAt"][11:16]) == ({"name": "Ada"}, "09:00")
        assert (await ask("{ schedules { id } }"))["schedules"] == [{"id": made["id"]}]
        change = (
            "mutation ($id: ID!, $cron: String, $paused: Boolean, $in: String, $expected: Int) { "
            "changeSchedule(id: $id, cron: $cron, paused: $paused, inputs: $in, expected: $expected) "
            "{ cron paused nextAt inputs revision } }"
        )
        paused = (await ask(change, id=made["id"], paused=True))["changeSchedule"]
        assert (paused["paused"], paused["nextAt"], paused["cron"]) == (True, None, "0 9 * * *")
        again = (await ask(change, id=made["id"], cron="30 8 * * *", paused=False))["changeSchedule"]
        assert (again["paused"], again["nextAt"][11:16]) == (False, "08:30")
        assert json.loads(again["inputs"]) == {"name": "Ada"}
        wrong: list[dict[str, Any]] = [
            {"cron": "99 9 * * *"}, {"in": "{}"}, {"in": "["}, {"paused": True, "expected": paused["revision"]},
            {"id": "nothing", "paused": True},
        ]  # fmt: skip
        for values in wrong:
            assert "code" in await ask.refused(change, **{"id": made["id"], **values})
        gone = f'mutation {{ first: deleteSchedule(id: "{made["id"]}") second: deleteSchedule(id: "x") }}'
        assert await ask(gone) == {"first": True, "second": False}


@pytest.mark.parametrize(
    ("query", "values"),
    [
        (SAVE, {"d": "{}"}), (SAVE, {"d": "/etc/passwd"}), (SAVE, {"d": "x: [" * 1000}), (SAVE, {"d": "", "id": "x"}),
        (RUN, {"id": "nothing", "in": "{}"}), (RUN, {"id": "Greet", "in": "[]"}),
        (PUBLISH, {"id": "Greet", "c": ["everywhere"]}), ("{ planTemplates(limit: 1000) { id } }", {}),
        ('{ planTemplate(id: "Greet", version: 99) { id } }', {}), ('{ planTemplates(before: "x") { id } }', {}),
    ],
)  # fmt: skip
async def test_what_cannot_be_is_an_error_with_a_code(tp: Toolpath, query: str, values: dict[str, Any]) -> None:
    await tp.templates.save(GREET)
    async with asking(tp) as ask:
        assert (await ask.refused(query, **values))["code"]


async def test_another_tenant_s_templates_are_not_there_and_reading_is_no_right_to_run(tp: Toolpath) -> None:
    template = await tp.templates.publish(await tp.templates.save(GREET, tenant="a"), ["http"])
    bob = Caller(tenant="b", scopes=frozenset({"*"}))
    async with asking(tp, caller=bob) as ask:
        assert (await ask("{ planTemplates { id } }"))["planTemplates"] == []
        assert (await ask.refused(RUN, id=template.template_id, **{"in": '{"name": "x"}'}))["code"] == "unknown_record"
    async with asking(tp, caller=Caller(tenant="a", scopes=frozenset({"read"})), is_open=True) as ask:
        assert len((await ask("{ planTemplates { id } }"))["planTemplates"]) == 1
        for query, values in ((SAVE, {"d": json.dumps(GREET)}), (RUN, {"id": "Greet", "in": "{}"})):
            assert (await ask.refused(query, **values))["code"] == "scope"
    assert await tp.runs() == []
