"""Plan templates over REST, as a user's program keeps, publishes and runs them."""

from __future__ import annotations

import httpx
import pytest
from tests.server.rest_cases import api, settled, tools
from tests.server.serving_cases import assert_problem

from toolpath import Toolpath
from toolpath.access.caller import EVERYTHING, Caller
from toolpath.values import JsonObject

SUM: JsonObject = {
    "name": "Sum",
    "inputs": {"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"]},
    "steps": [{"id": "sum", "tool": "add", "inputs": {"a": "<<a>>", "b": "<<b>>"}}],
    "outputs": "{{ sum }}",
}
NEWS: JsonObject = {"title": "News", "steps": [{"stepRequirement": "Collect news on <<topic>>"}]}


async def kept(client: httpx.AsyncClient, document: JsonObject = SUM, **words: object) -> JsonObject:
    answer = await client.post("templates", json={"document": document, **words})
    assert answer.status_code == 201, answer.text
    assert answer.headers["location"] == f"/api/v1/templates/{answer.json()['template_id']}"
    found: JsonObject = answer.json()
    return found


async def test_a_template_is_kept_published_and_run_with_its_parameters() -> None:
    async with api() as client:
        template = await kept(client, comment="the first")
        assert [(each["name"], each["type"]) for each in template["parameters"]] == [("a", "integer"), ("b", "")]
        place = f"templates/{template['template_id']}"
        assert_problem(await client.post(f"{place}/runs", json={"inputs": {"a": 1, "b": 2}}), 403, "policy")
        published = await client.post(f"{place}/publish", json={"channels": ["http"]})
        assert (published.json()["published"], published.json()["channels"]) == (1, ["http"])
        begun = await client.post("templates/Sum/runs", json={"inputs": {"a": 1, "b": 2}, "idempotency_key": "k"})
        assert begun.status_code == 202
        assert begun.json()["plan_id"] == template["template_id"]
        assert (await settled(client, begun.json()["run_id"]))["outputs"] == 3
        again = await client.post("templates/Sum/runs", json={"inputs": {"a": 1, "b": 2}, "idempotency_key": "k"})
        assert (again.status_code, again.json()["run_id"]) == (200, begun.json()["run_id"])
        listed = (await client.get("runs", params={"plan_id": template["template_id"]})).json()["runs"]
        assert [run["run_id"] for run in listed] == [begun.json()["run_id"]]


async def test_the_text_of_a_template_comes_back_as_it_was_written() -> None:
    text = "# Adds two.\nname: Adds\nsteps:\n  - {tool: add, inputs: {a: 1, b: <<b>>}}  # b is asked for\n"
    async with api() as client:
        made = (await client.post("templates", json={"document": text})).json()
        assert made["source"] == text
        place = f"templates/{made['template_id']}"
        assert (await client.get(place)).json()["source"] == text
        changed = await client.put(place, json={"document": text.replace("two", "one and")})
        assert len(changed.json()["versions"]) == 2
        assert (await client.get(place, params={"version": 1})).json()["source"] == text
        back = await client.post(f"{place}/rollback", json={"version": 1})
        assert back.json()["source"] == text


async def test_what_is_missing_begins_no_run_and_is_all_said() -> None:
    async with api() as client:
        place = f"templates/{(await kept(client))['template_id']}"
        await client.post(f"{place}/publish", json={"channels": ["http"]})
        body = assert_problem(await client.post(f"{place}/runs", json={}), 422, "plan_invalid")
        assert [finding["message"].split("'")[1] for finding in body["findings"]] == ["a", "b"]
        wrong = assert_problem(
            await client.post(f"{place}/runs", json={"inputs": {"a": "x", "b": 1, "c": 2}}), 422, "plan_invalid"
        )
        assert {finding["code"] for finding in wrong["findings"]} == {"unknown_input", "wrong_input"}
        assert (await client.get("runs")).json()["runs"] == []


async def test_versions_differ_and_roll_back_and_a_change_for_an_older_revision_is_refused() -> None:
    async with api() as client:
        template = await kept(client)
        place = f"templates/{template['template_id']}"
        more = {**SUM, "outputs": {"sum": "{{ sum }}"}}
        changed = await client.put(place, json={"document": more, "expected": template["revision"]})
        assert [each["version"] for each in changed.json()["versions"]] == [1, 2]
        assert_problem(
            await client.put(place, json={"title": "Else", "expected": template["revision"]}), 409, "record_conflict"
        )
        diff = (await client.get(f"{place}/diff", params={"earlier": 1})).json()
        assert (diff["fields"], diff["changed"], diff["moved"]) == (["outputs"], {}, False)
        assert (await client.get(place, params={"version": 1})).json()["document"] == SUM
        assert_problem(await client.get(place, params={"version": 7}), 404, "unknown_record")
        back = (await client.post(f"{place}/rollback", json={"version": 1})).json()
        assert (len(back["versions"]), back["document"]) == (3, SUM)


async def test_templates_are_listed_by_page_and_group_exported_and_imported() -> None:
    async with api() as client, api() as other:
        for number in range(3):
            await kept(client, title=f"T{number}", group="many" if number else "one")
        await kept(client, NEWS)
        page = (await client.get("templates", params={"limit": 2})).json()
        assert [each["title"] for each in page["templates"]] == ["News", "T2"]
        rest = (await client.get("templates", params={"limit": 9, "before": page["next"]})).json()
        assert ([each["title"] for each in rest["templates"]], rest["next"]) == (["T1", "T0"], None)
        many = (await client.get("templates", params={"group": "many"})).json()["templates"]
        assert [each["title"] for each in many] == ["T2", "T1"]
        exported = (await client.get("templates/export")).json()
        taken = (await other.post("templates/import", json=exported)).json()["templates"]
        assert [(each["title"], each.get("error", "")) for each in taken] == [
            (title, "") for title in ("News", "T2", "T1", "T0")
        ]
        assert (await other.get("templates/many.T1")).json()["document"] == SUM


async def test_a_run_that_succeeded_becomes_a_template_and_a_template_can_go() -> None:
    async with api() as client:
        run = await client.post("runs", json={"tool": "add", "inputs": {"a": 1, "b": 2}})
        await settled(client, run.json()["run_id"])
        made = await client.post("templates", json={"run_id": run.json()["run_id"], "title": "Added"})
        assert [each["name"] for each in made.json()["parameters"]] == ["a", "b"]
        assert (await client.delete("templates/Added")).status_code == 204
        assert_problem(await client.get("templates/Added"), 404, "unknown_record")


@pytest.mark.parametrize(
    ("body", "status", "code"),
    [
        ({}, 422, "invalid_request"),
        ({"document": SUM, "run_id": "run_1"}, 422, "invalid_request"),
        ({"document": {"steps": 7}}, 422, "plan_invalid"),
        ({"document": "/etc/passwd"}, 400, "unreadable"),
        ({"document": SUM, "titel": "x"}, 422, "invalid_request"),
        ({"document": SUM, "title": "a\nb"}, 422, "invalid_request"),
        ({"document": SUM, "access": "none"}, 422, "invalid_request"),
        ({"run_id": "run_none"}, 404, "unknown_run"),
    ],
)
async def test_what_is_no_template_is_refused(body: JsonObject, status: int, code: str) -> None:
    async with api() as client:
        assert_problem(await client.post("templates", json=body), status, code)
        assert (await client.get("templates")).json()["templates"] == []


async def test_a_taken_title_is_a_conflict_and_nothing_is_begun_by_who_may_only_read() -> None:
    tp = tools(Toolpath())
    async with api(tp) as client:
        await kept(client)
        assert_problem(await client.post("templates", json={"document": SUM}), 409, "record_conflict")
    reader = Caller(permissions=EVERYTHING, scopes=frozenset({"read"}))
    async with api(tools(Toolpath()), caller=reader) as client:
        assert_problem(await client.post("templates", json={"document": SUM}), 403, "scope")
