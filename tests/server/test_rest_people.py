from __future__ import annotations

import asyncio
from pathlib import Path

import httpx
import pytest
from tests.patience import PATIENCE
from tests.server.rest_cases import ASKING, FORM, GATED, SUM, Gate, api, begun, settled, stream_of, tools, until_asked
from tests.server.serving_cases import assert_problem

from toolpath import Toolpath
from toolpath.access.caller import EVERYTHING, Caller
from toolpath.testing.clock import FakeClock
from toolpath.values import JsonObject


async def test_a_form_is_shown_with_its_fields_and_answered_by_names_and_labels() -> None:
    async with api() as client:
        run_id = await begun(client, {"plan": ASKING})
        waiting = await until_asked(client, run_id)
        [question] = waiting["questions"]
        assert (question["kind"], question["step"]) == ("input", "who")
        assert [field["name"] for field in question["form"]["inputs"]] == ["first", "second", "age", "colour"]
        answer = await client.post(f"runs/{run_id}/input", json={"values": {"first": "Ann", "Age": "7"}})
        assert answer.status_code == 202, answer.text
        done = await settled(client, run_id)
        assert done["outputs"] == {"first": "Ann", "second": None, "age": 7, "colour": None}
        assert done["questions"] == []


@pytest.mark.parametrize(
    ("values", "path"),
    [
        ({"age": 3}, "/first"),
        ({"first": "", "age": 3}, "/first"),
        ({"first": "Ann", "age": "many"}, "/age"),
        ({"first": "Ann", "age": 3, "colour": "green"}, "/colour"),
        ({"first": "Ann", "age": 3, "frist": "x"}, "/frist"),
        ({"Name": "whose?", "first": "Ann", "age": 3}, "/Name"),
    ],
)
async def test_an_answer_that_does_not_fit_is_refused_with_its_faults_and_the_form_stays(
    values: JsonObject, path: str
) -> None:
    async with api() as client:
        run_id = await begun(client, {"plan": ASKING})
        await until_asked(client, run_id)
        refused = await client.post(f"runs/{run_id}/input", json={"values": values})
        told = assert_problem(refused, 422, "schema")
        assert path in [finding["path"] for finding in told["findings"]]
        assert len((await client.get(f"runs/{run_id}")).json()["questions"]) == 1


async def test_all_faults_of_an_answer_are_told_at_once() -> None:
    async with api() as client:
        run_id = await begun(client, {"plan": ASKING})
        await until_asked(client, run_id)
        refused = await client.post(f"runs/{run_id}/input", json={"values": {"age": "x", "colour": "y"}})
        assert {finding["path"] for finding in refused.json()["findings"]} == {"/first", "/age", "/colour"}


async def test_what_nobody_asked_cannot_be_answered() -> None:
    async with api() as client:
        run_id = await begun(client, {"plan": ASKING})
        await until_asked(client, run_id)
        wrong = await client.post(f"runs/{run_id}/input", json={"step": "whoo", "values": {}})
        assert assert_problem(wrong, 409, "run_conflict")["suggestions"] == ["who"]
        assert_problem(await client.post(f"runs/{run_id}/approvals/who"), 409, "run_conflict")
        settle = await client.post(f"runs/{run_id}/settle", json={"outcome": "failed"})
        assert_problem(settle, 409, "run_conflict")
        await client.post(f"runs/{run_id}/input", json={"declined": True})
        await settled(client, run_id)
        late = await client.post(f"runs/{run_id}/input", json={"values": {"first": "Ann", "age": 3}})
        assert_problem(late, 409, "run_conflict")


@pytest.mark.parametrize(("approved", "status"), [(True, "completed"), (False, "failed")])
async def test_a_step_is_done_or_not_as_a_person_says(approved: bool, status: str) -> None:
    caller = Caller(user="ann", permissions=EVERYTHING, scopes=EVERYTHING)
    async with api(caller=caller) as client:
        run_id = await begun(client, {"plan": GATED})
        [question] = (await until_asked(client, run_id))["questions"]
        assert (question["kind"], question["tool"], question["inputs"]) == ("approval", "add", {"a": 1, "b": 2})
        body = {"approved": approved, "comment": "so be it"}
        assert (await client.post(f"runs/{run_id}/approvals/{question['step']}", json=body)).status_code == 202
        assert (await settled(client, run_id))["status"] == status
        events = (await client.get(f"runs/{run_id}/events", params={"follow": False})).json()["events"]
        [decided] = [event for event in events if event["type"] == "approval.decided"]
        assert (decided["by"], decided["comment"]) == ("ann", "so be it")


async def test_several_questions_of_one_run_wait_at_once_and_are_answered_one_by_one() -> None:
    plan = {
        "steps": [
            {"id": "one", "ask": FORM},
            {"id": "two", "ask": FORM},
            {"id": "three", "tool": "add", "inputs": {"a": 1, "b": 1}, "requires_approval": True},
        ]
    }
    async with api() as client:
        run_id = await begun(client, {"plan": plan})
        waiting = await asked(client, run_id, 3)
        assert sorted(question["step"] for question in waiting) == ["one", "three", "two"]
        values = {"first": "Ann", "age": 3}
        unclear = await client.post(f"runs/{run_id}/input", json={"values": values})
        assert_problem(unclear, 409, "run_conflict")
        for step in ("two", "one"):
            answer = await client.post(f"runs/{run_id}/input", json={"step": step, "values": values})
            assert answer.status_code == 202, answer.text
        await client.post(f"runs/{run_id}/approvals/three")
        assert (await settled(client, run_id))["status"] == "completed"


async def asked(client: httpx.AsyncClient, run_id: str, many: int) -> list[JsonObject]:
    """The questions of the run once there are so many."""
    found: list[JsonObject] = []
    async with client.stream("GET", f"runs/{run_id}/events") as response:
        async for _ in response.aiter_lines():
            found = (await client.get(f"runs/{run_id}")).json()["questions"]
            if len(found) == many:
                break
    return found


async def test_what_waits_is_listed_over_all_runs_of_the_caller_and_nobody_elses() -> None:
    tp = tools(Toolpath())
    us = Caller(tenant="us", permissions=EVERYTHING, scopes=EVERYTHING)
    async with api(tp, caller=us) as client:
        form, gate = await begun(client, {"plan": ASKING}), await begun(client, {"plan": GATED})
        for run_id in (form, gate):
            await until_asked(client, run_id)
        theirs = await tp.start(tp.read(ASKING), context=Caller(tenant="them").context())
        await theirs.result()
        listed = (await client.get("questions")).json()["questions"]
        assert [(question["run_id"], question["kind"]) for question in listed] == [(form, "input"), (gate, "approval")]
        await client.post(f"runs/{gate}/approvals/guarded")
        await settled(client, gate)
        assert [q["run_id"] for q in (await client.get("questions")).json()["questions"]] == [form]


async def test_a_form_outlives_the_server_and_is_answered_at_the_next(tmp_path: Path) -> None:
    async with api(tools(Toolpath(tmp_path / "runs.db"))) as client:
        run_id = await begun(client, {"plan": ASKING})
        await until_asked(client, run_id)
    async with api(tools(Toolpath(tmp_path / "runs.db"))) as client:
        assert len((await client.get("questions")).json()["questions"]) == 1
        answer = await client.post(f"runs/{run_id}/input", json={"values": {"first": "Ann", "age": 3}})
        assert answer.status_code == 202, answer.text
        assert (await settled(client, run_id))["outputs"]["first"] == "Ann"


async def test_the_time_to_answer_ends_also_while_no_server_runs(tmp_path: Path) -> None:
    asking = {"steps": [{"id": "who", "ask": {**FORM, "timeout": "60s"}}]}
    clock = FakeClock()
    async with api(tools(Toolpath(tmp_path / "runs.db", clock=clock))) as client:
        run_id = await begun(client, {"plan": asking})
        [question] = (await until_asked(client, run_id))["questions"]
        assert question["deadline"] == pytest.approx(clock.time() + 60, abs=1)
    await clock.advance(61)
    async with api(tools(Toolpath(tmp_path / "runs.db", clock=clock))) as client:
        done = await settled(client, run_id)
        assert done["status"] == "failed"
        assert done["results"][0]["status"] in ("timed_out", "failed")
        late = await client.post(f"runs/{run_id}/input", json={"values": {"first": "Ann", "age": 3}})
        assert_problem(late, 409, "run_conflict")


async def test_a_run_that_a_server_left_is_taken_up_by_the_next(tmp_path: Path) -> None:
    plan = {"steps": [{"id": "held", "tool": "slow"}, {"tool": "add", "inputs": {"a": 1, "b": 1}, "needs": "held"}]}

    def served(body: object) -> Toolpath:
        tp = tools(Toolpath(tmp_path / "runs.db"))
        tp.add(body, name="slow", description="Slow.", effect="read")  # type: ignore[arg-type]
        return tp

    gate = Gate()
    async with api(served(gate.hold)) as client:
        run_id = await begun(client, {"plan": plan})
        await gate.entered.wait()
    gate.open.set()
    async with api(served(gate.hold)) as client:
        assert (await settled(client, run_id))["status"] == "completed"


async def test_a_fork_with_other_inputs_is_not_what_was_approved() -> None:
    async with api() as client:
        plan_id = (await client.post("plans", json={"plan": SUM, "requires_approval": True})).json()["plan_id"]
        await client.post(f"plans/{plan_id}/approve", json={"inputs": {"a": 1}})
        run_id = await begun(client, {"plan_id": plan_id, "inputs": {"a": 1}})
        assert (await settled(client, run_id))["status"] == "completed"
        refused = await client.post(f"runs/{run_id}/fork", json={"inputs": {"a": 1000}, "repeat_writes": True})
        assert assert_problem(refused, 403, "policy")["missing"] == ["approval"]
        same = await client.post(f"runs/{run_id}/fork", json={"from_step": "twice", "repeat_writes": True})
        assert same.status_code == 202, same.text


async def test_another_plan_tool_or_input_than_was_approved_is_refused() -> None:
    tp = tools(Toolpath())
    async with api(tp) as client:
        plan_id = (await client.post("plans", json={"plan": SUM, "requires_approval": True})).json()["plan_id"]
        start = {"plan_id": plan_id, "inputs": {"a": 1}}

        async def approve() -> None:
            assert (await client.post(f"plans/{plan_id}/approve", json={"inputs": {"a": 1}})).status_code == 200

        async def is_refused(body: JsonObject) -> None:
            assert assert_problem(await client.post("runs", json=body), 403, "policy")["missing"] == ["approval"]

        await approve()
        await is_refused({**start, "inputs": {"a": 2}})
        await begun(client, start)
        await client.put(f"plans/{plan_id}", json={"plan": {**SUM, "outputs": "{{ twice }}!"}})
        await is_refused(start)
        await approve()
        tp.add(lambda a, b: a - b, name="add", description="Takes away.", effect="read")
        await is_refused(start)
        await approve()
        await begun(client, start)


async def test_a_step_whose_tool_changed_after_it_was_shown_is_shown_again(tmp_path: Path) -> None:
    journal, called = tmp_path / "runs.db", []

    def door(description: str) -> Toolpath:
        tp = Toolpath(journal)

        async def send(text: str) -> None:
            called.append(text)

        tp.add(send, name="send", description=description, effect="write")
        return tp

    async def until(client: httpx.AsyncClient, said: str, times: int) -> None:
        async with asyncio.timeout(PATIENCE):
            async for _, _, data in stream_of(client, run_id):
                times -= f'"{said}"' in data
                if not times:
                    return

    plan = {"steps": [{"id": "one", "tool": "send", "inputs": {"text": "hi"}, "requires_approval": True}]}
    async with api(door("Sends.")) as client:
        run_id = await begun(client, {"plan": plan})
        await until(client, "approval.requested", 1)
    async with api(door("Sends to everybody.")) as client:
        await client.post(f"runs/{run_id}/approvals/one", json={"approved": True})
        await until(client, "warning", 1)
        assert called == []
        await client.post(f"runs/{run_id}/resume", json={"accept_tool": True})
        await until(client, "approval.requested", 2)
        assert called == []
        await client.post(f"runs/{run_id}/approvals/one", json={"approved": True})
        assert (await settled(client, run_id))["status"] == "completed"
        assert called == ["hi"]


async def test_plans_are_kept_checked_changed_approved_and_deleted() -> None:
    async with api() as client:
        made = await client.post("plans", json={"plan": SUM, "requires_approval": True})
        assert made.status_code == 201
        plan = made.json()
        assert made.headers["location"] == f"/api/v1/plans/{plan['plan_id']}"
        assert plan["findings"] == []
        assert "twice: add" in plan["text"]
        refused = await client.post("runs", json={"plan_id": plan["plan_id"], "inputs": {"a": 1}})
        assert assert_problem(refused, 403, "policy")["missing"] == ["approval"]
        approved = await client.post(f"plans/{plan['plan_id']}/approve", json={"inputs": {"a": 1}})
        assert approved.json()["approval"]["digest"].startswith("sha256:")
        await begun(client, {"plan_id": plan["plan_id"], "inputs": {"a": 1}})
        second = await client.post("plans", json={"plan": SUM, "request_id": plan["request_id"]})
        versions = (await client.get(f"requests/{plan['request_id']}/plans")).json()["plans"]
        assert [version["version"] for version in versions] == [2, 1]
        listed = (await client.get("plans", params={"limit": 1})).json()
        assert [row["plan_id"] for row in listed["plans"]] == [second.json()["plan_id"]]
        older = (await client.get("plans", params={"before": listed["next"]})).json()["plans"]
        assert [row["plan_id"] for row in older] == [plan["plan_id"]]
        stale = await client.put(f"plans/{plan['plan_id']}", json={"plan": SUM, "expected": 1})
        assert_problem(stale, 409, "record_conflict")
        changed = await client.put(f"plans/{plan['plan_id']}", json={"plan": {"steps": [{"tool": "nothing"}]}})
        assert [finding["code"] for finding in changed.json()["findings"]] == ["unknown_tool"]
        assert changed.json()["approval"] is None
        assert (await client.delete(f"plans/{plan['plan_id']}")).status_code == 204
        assert_problem(await client.get(f"plans/{plan['plan_id']}"), 404, "unknown_record")


async def test_a_request_is_planned_and_what_no_tool_does_is_said() -> None:
    async with api() as client:
        made = await client.post("plans", json={"request": "add 2 and 3", "planner": "offline"})
        assert made.status_code == 201, made.text
        assert (made.json()["request"], made.json()["planner"]) == ("add 2 and 3", "offline")
        run_id = await begun(client, {"plan_id": made.json()["plan_id"]})
        assert (await settled(client, run_id))["outputs"] == {"add": 5}
        refused = await client.post("plans", json={"request": "bake a cake with cherries", "planner": "offline"})
        assert_problem(refused, 422, "no_tool_fits")
        assert_problem(await client.post("plans", json={"request": "x", "plan": SUM}), 422, "invalid_request")
        assert_problem(await client.post("plans", json={}), 422, "invalid_request")
        huge = await client.post("plans", json={"request": "add " + "9" * 8_000 + " and 1", "planner": "offline"})
        assert huge.status_code in (201, 422)


@pytest.mark.parametrize(
    "path", ["GET plans/{0}", "DELETE plans/{0}", "POST plans/{0}/approve", "GET requests/{1}/plans"]
)
async def test_a_plan_of_another_tenant_is_as_if_it_were_not_there(path: str) -> None:
    tp = tools(Toolpath())
    us = Caller(tenant="us", permissions=EVERYTHING, scopes=EVERYTHING)
    async with api(tp, caller=us) as client:
        theirs = await tp.plans.add(SUM, tenant="them")
        method, route = path.split(" ")
        refused = await client.request(method, route.format(theirs.plan_id, theirs.request_id))
        assert_problem(refused, 404, "unknown_record")
        run = await client.post("runs", json={"plan_id": theirs.plan_id, "inputs": {"a": 1}})
        assert_problem(run, 404, "unknown_record")
        into = await client.post("plans", json={"plan": SUM, "request_id": theirs.request_id})
        assert_problem(into, 404, "unknown_record")
        assert (await client.get("plans")).json()["plans"] == []
