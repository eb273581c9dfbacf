from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from tests.server.rest_cases import SUM, Gate, api, begun, settled, tools
from tests.server.serving_cases import assert_problem, serving

from toolpath import Toolpath
from toolpath.access.caller import EVERYTHING, Caller
from toolpath.config import Settings
from toolpath.server.asgi import create_app


async def test_a_run_is_there_as_soon_as_it_is_accepted_and_says_where() -> None:
    async with api() as client:
        answer = await client.post("runs", json={"plan": SUM, "inputs": {"a": 2}})
        assert answer.status_code == 202
        assert answer.headers["location"] == f"/api/v1/runs/{answer.json()['run_id']}"
        there = answer.headers["location"].removeprefix("/api/v1/")
        assert (await client.get(there)).status_code == 200
        done = await settled(client, answer.json()["run_id"])
        assert (done["status"], done["success"], done["outputs"]) == ("completed", True, 4)
        assert [step["path"] for step in done["results"]] == ["twice"]


async def test_a_run_is_of_a_stored_plan_a_plan_as_text_or_a_tool() -> None:
    async with api() as client:
        plan_id = (await client.post("plans", json={"plan": SUM})).json()["plan_id"]
        for body in (
            {"plan_id": plan_id, "inputs": {"a": 1}},
            {"plan": "steps:\n  - {id: twice, tool: add, inputs: {a: 1, b: 1}}\noutputs: '{{ twice }}'\n"},
            {"tool": "add", "inputs": {"a": 1, "b": 1}},
        ):
            assert (await settled(client, await begun(client, body)))["outputs"] == 2
        listed = (await client.get("runs", params={"plan_id": plan_id})).json()["runs"]
        assert [run["plan_id"] for run in listed] == [plan_id]


@pytest.mark.parametrize(
    ("body", "status", "code"),
    [
        ({}, 422, "invalid_request"),
        ({"tool": "add", "plan": SUM}, 422, "invalid_request"),
        ({"tool": "add", "inputs": 3}, 422, "invalid_request"),
        ({"tol": "add"}, 422, "invalid_request"),
        ({"tool": "addd"}, 422, "unknown_tool"),
        ({"tool": "/etc/passwd"}, 422, "unknown_tool"),
        ({"plan": "/etc/passwd"}, 400, "unreadable"),
        ({"plan": {"steps": [{"tool": "nothing"}]}}, 422, "plan_invalid"),
        ({"plan": SUM, "inputs": {"a": "x"}}, 422, "plan_invalid"),
        ({"plan_id": "plan_1"}, 404, "unknown_record"),
    ],
)
async def test_what_cannot_be_run_is_refused_with_what_is_wrong_and_nothing_is_kept(
    body: dict[str, object], status: int, code: str
) -> None:
    async with api() as client:
        told = assert_problem(await client.post("runs", json=body), status, code)
        assert "root:" not in str(told)
        assert (await client.get("runs")).json() == {"runs": [], "next": None}


async def test_what_may_have_been_meant_is_said() -> None:
    async with api() as client:
        assert assert_problem(await client.post("runs", json={"tol": "x"}), 422, "invalid_request")["suggestions"]
        assert assert_problem(await client.post("runs", json={"tool": "ad"}), 422, "unknown_tool")["suggestions"]


@pytest.mark.parametrize(
    ("content", "media", "status"),
    [
        (b"{", "application/json", 400),
        (b"\xff", "application/json", 400),
        (b'{"tool": "\\ud800"}', "application/json", 400),
        (b'{"tool": "add", "inputs": {"a": ' + b"[" * 100_000, "application/json", 400),
        (b"[]", "application/json", 422),
        (b"null", "application/json", 422),
        (b'{"tool": "a\\u0000"}', "application/json", 422),
        (b"tool=add", "application/x-www-form-urlencoded", 415),
        (b'{"tool": "add"}', "text/plain", 415),
    ],
)
async def test_a_body_that_is_no_json_or_another_is_refused(content: bytes, media: str, status: int) -> None:
    async with api() as client:
        answer = await client.post("runs", content=content, headers={"Content-Type": media})
        assert answer.status_code == status, answer.text
        assert answer.headers["content-type"] == "application/problem+json"


async def test_a_body_that_is_too_large_is_refused() -> None:
    async with api(tools(Toolpath(settings=Settings(max_body=10_000)))) as client:
        answer = await client.post("runs", json={"tool": "add", "inputs": {"a": "x" * 20_000}})
        assert_problem(answer, 413, "too_large")


@pytest.mark.parametrize("store", ["memory", "file"])
async def test_a_request_that_is_sent_again_begins_nothing_new(store: str, tmp_path: Path) -> None:
    body = {"plan": SUM, "inputs": {"a": 1}, "idempotency_key": "order 7"}
    async with api(tools(Toolpath(tmp_path / "runs.db" if store == "file" else None))) as client:
        first = await client.post("runs", json=body)
        again = await client.post("runs", json=body)
        assert (first.status_code, again.status_code) == (202, 200)
        assert first.json()["run_id"] == again.json()["run_id"]
        by_header = {name: value for name, value in body.items() if name != "idempotency_key"}
        header = await client.post("runs", json=by_header, headers={"Idempotency-Key": "order 7"})
        assert header.json()["run_id"] == first.json()["run_id"]
        assert len((await client.get("runs")).json()["runs"]) == 1


@pytest.mark.parametrize("change", [{"inputs": {"a": 2}}, {"plan": {**SUM, "name": "other"}}])
async def test_a_key_that_was_used_for_something_else_is_a_conflict(change: dict[str, object]) -> None:
    body = {"plan": SUM, "inputs": {"a": 1}, "idempotency_key": "k"}
    async with api() as client:
        await begun(client, body)
        assert_problem(await client.post("runs", json={**body, **change}), 409, "idempotency_key_reused")


async def test_many_who_send_the_same_at_once_get_one_run() -> None:
    body = {"plan": SUM, "inputs": {"a": 1}, "idempotency_key": "k"}
    async with api() as client:
        answers = await asyncio.gather(*(client.post("runs", json=body) for _ in range(20)))
        assert sorted(answer.status_code for answer in answers) == [200] * 19 + [202]
        assert len({answer.json()["run_id"] for answer in answers}) == 1


async def test_runs_are_listed_newest_first_by_page_and_filter() -> None:
    async with api() as client:
        runs = [await begun(client, {"tool": "add", "inputs": {"a": 1, "b": number}}) for number in range(5)]
        for run_id in runs:
            await settled(client, run_id)
        failed = await begun(client, {"tool": "fail"})
        await settled(client, failed)
        first = (await client.get("runs", params={"limit": 4})).json()
        assert [run["run_id"] for run in first["runs"]] == [failed, *runs[4:1:-1]]
        rest = (await client.get("runs", params={"limit": 4, "before": first["next"]})).json()
        assert [run["run_id"] for run in rest["runs"]] == runs[1::-1]
        assert rest["next"] is None
        only = (await client.get("runs", params={"status": "failed"})).json()["runs"]
        assert [run["run_id"] for run in only] == [failed]
        assert (await client.get("runs", params={"name": "nothing"})).json()["runs"] == []
        assert_problem(await client.get("runs", params={"before": "run_0"}), 404, "unknown_run")
        assert_problem(await client.get("runs", params={"status": "odd"}), 422, "invalid_request")
        assert_problem(await client.get("runs", params={"limit": 0}), 422, "invalid_request")


async def test_a_run_is_cancelled_and_then_there_is_nothing_to_cancel() -> None:
    gate = Gate()
    async with api(tools(Toolpath(), gate)) as client:
        run_id = await begun(client, {"tool": "hold"})
        await gate.entered.wait()
        assert (await client.post(f"runs/{run_id}/cancel", json={"reason": "enough"})).status_code == 202
        done = await settled(client, run_id)
        assert (done["status"], done["reason"]) == ("cancelled", "enough")
        for verb in ("cancel", "pause", "resume"):
            assert_problem(await client.post(f"runs/{run_id}/{verb}"), 409, "run_conflict")


async def test_a_run_is_paused_and_goes_on() -> None:
    gate = Gate()
    plan = {
        "steps": [{"id": "a", "tool": "hold"}, {"id": "b", "tool": "add", "inputs": {"a": 1, "b": 1}, "needs": "a"}]
    }
    async with api(tools(Toolpath(), gate)) as client:
        run_id = await begun(client, {"plan": plan})
        await gate.entered.wait()
        assert (await client.post(f"runs/{run_id}/pause")).status_code == 202
        gate.open.set()
        answer = await client.get(f"runs/{run_id}/events", params={"follow": False})
        assert answer.json()["ended"] is False
        assert (await client.post(f"runs/{run_id}/resume")).status_code == 202
        assert (await settled(client, run_id))["status"] == "completed"


async def test_what_failed_is_tried_again_and_what_did_not_is_not() -> None:
    async with api() as client:
        failed = await begun(client, {"tool": "fail"})
        assert (await settled(client, failed))["status"] == "failed"
        assert (await client.post(f"runs/{failed}/retry")).status_code == 202
        fine = await begun(client, {"plan": SUM, "inputs": {"a": 1}})
        await settled(client, fine)
        assert_problem(await client.post(f"runs/{fine}/retry"), 409, "run_conflict")


async def test_a_fork_does_the_rest_with_other_inputs() -> None:
    async with api() as client:
        run_id = await begun(client, {"plan": SUM, "inputs": {"a": 1}})
        await settled(client, run_id)
        answer = await client.post(f"runs/{run_id}/fork", json={"inputs": {"a": 5}})
        assert answer.status_code == 202
        fork = await settled(client, answer.json()["run_id"])
        assert (fork["outputs"], fork["parent"]) == (10, run_id)
        wrong = await client.post(f"runs/{run_id}/fork", json={"inputs": {"a": "x"}})
        assert_problem(wrong, 422, "plan_invalid")


@pytest.mark.parametrize(
    "path",
    [
        "GET runs/{}",
        "GET runs/{}/events",
        "GET runs/{}/values/sha256:" + "0" * 64,
        "POST runs/{}/cancel",
        "POST runs/{}/pause",
        "POST runs/{}/resume",
        "POST runs/{}/retry",
        "POST runs/{}/fork",
        "POST runs/{}/approvals/guarded",
        'POST runs/{}/input {"values": {}}',
        'POST runs/{}/settle {"outcome": "failed"}',
    ],
)
async def test_a_run_of_another_tenant_is_as_if_it_were_not_there(path: str) -> None:
    tp = tools(Toolpath())
    us = Caller(tenant="us", permissions=EVERYTHING, scopes=EVERYTHING)
    async with api(tp, caller=us) as client:
        run = await tp.start(tp.read(SUM), {"a": 1}, context=Caller(tenant="them").context())
        await run.result()
        method, route, *body = path.split(" ", 2)
        content = {"content": body[0], "headers": {"Content-Type": "application/json"}} if body else {}
        theirs = await client.request(method, route.format(run.run_id), **content)  # type: ignore[arg-type]
        nobodys = await client.request(method, route.format("run_1"), **content)  # type: ignore[arg-type]
        told = assert_problem(theirs, 404, "unknown_run")
        assert_problem(nobodys, 404, "unknown_run")
        assert told["detail"].replace(run.run_id, "run_1") == nobodys.json()["detail"]
        assert "suggestions" not in told
        assert (await client.get("runs")).json()["runs"] == []


@pytest.mark.parametrize(
    ("scope", "request_", "status"),
    [
        ("read", ("GET", "runs"), 200),
        ("read", ("POST", "runs"), 403),
        ("run", ("GET", "runs"), 403),
        ("run", ("POST", "runs"), 202),
        ("run", ("POST", "runs/x/approvals/y"), 403),
    ],
)
async def test_callers_do_only_what_their_scopes_allow(scope: str, request_: tuple[str, str], status: int) -> None:
    caller = Caller(permissions=EVERYTHING, scopes=frozenset({scope}))
    async with api(caller=caller) as client:
        body = {"tool": "add", "inputs": {"a": 1, "b": 1}} if request_ == ("POST", "runs") else None
        answer = await client.request(*request_, json=body)
        assert answer.status_code == status, answer.text


async def test_a_large_value_is_fetched_by_its_handle_and_only_from_its_own_run() -> None:
    tp = tools(Toolpath(settings=Settings(max_result_size=1_000)))
    tp.add(lambda: "x" * 5_000, name="large", description="Large.")
    async with api(tp) as client:
        run_id = await begun(client, {"tool": "large"})
        done = await settled(client, run_id)
        digest = done["results"][0]["output"]["$blob"]
        assert (await client.get(f"runs/{run_id}/values/{digest}")).json() == "x" * 5_000
        other = await begun(client, {"tool": "add", "inputs": {"a": 1, "b": 1}})
        assert_problem(await client.get(f"runs/{other}/values/{digest}"), 404, "unknown_run")


async def test_a_large_value_deep_inside_an_output_or_argument_is_fetched_by_its_handle_too() -> None:
    tp = tools(Toolpath(settings=Settings(max_result_size=1_000)))
    tp.add(lambda: "x" * 5_000, name="large", description="Large.")
    tp.add(lambda v: len(v["deep"][0]), name="count", description="Count.")
    steps = [
        {"id": "a", "tool": "large"},
        {"id": "b", "tool": "count", "inputs": {"v": {"deep": ["{{ a }}"]}}},
    ]
    async with api(tp) as client:
        plan = {"steps": steps, "outputs": {"deep": {"a": "{{ a }}", "b": "{{ b }}"}}}
        done = await settled(client, await begun(client, {"plan": plan}))
        assert done["outputs"]["deep"]["b"] == 5_000
        for handle in (done["outputs"]["deep"]["a"], done["results"][1]["inputs"]["v"]["deep"][0]):
            answer = await client.get(f"runs/{done['run_id']}/values/{handle['$blob']}")
            assert answer.json() == "x" * 5_000


async def test_tools_are_listed_found_shown_called_and_counted() -> None:
    async with api() as client:
        assert [tool["key"] for tool in (await client.get("tools")).json()["tools"]] == ["add", "fail", "hold"]
        page = (await client.get("tools", params={"limit": 2})).json()
        assert page["next"] == "fail"
        after = (await client.get("tools", params={"after": page["next"]})).json()
        assert [tool["key"] for tool in after["tools"]] == ["hold"]
        found = (await client.get("tools/search", params={"q": "add two numbers"})).json()["tools"]
        assert found[0]["key"] == "add"
        assert (await client.get("tools/add")).json()["input_schema"]["required"] == ["a", "b"]
        assert_problem(await client.get("tools/ad"), 404, "unknown_tool")
        called = await client.post("tools/add/call", json={"inputs": {"a": 1, "b": 2}})
        assert (called.status_code, called.json()["output"]) == (200, 3)
        failed = await client.post("tools/fail/call", json={"inputs": {"why": "because"}})
        assert (failed.status_code, failed.json()["success"]) == (200, False)
        assert "because" in failed.json()["error"]["message"]
        stats = {row["key"]: row for row in (await client.get("tools/stats")).json()["stats"]}
        assert (stats["add"]["calls"], stats["fail"]["failures"]) == (1, 1)


async def test_a_call_that_takes_longer_than_the_caller_waits_goes_on() -> None:
    gate = Gate()
    async with api(tools(Toolpath(), gate)) as client:
        answer = await client.post("tools/hold/call", params={"wait": 0})
        assert (answer.status_code, answer.json()["status"]) == (202, "running")
        gate.open.set()
        assert (await settled(client, answer.json()["run_id"]))["success"]


async def test_secrets_stand_in_no_answer(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    tp = tools(Toolpath(tmp_path / "runs.db", secrets={"KEY": "hush-hush-1"}))
    plan = {"steps": [{"tool": "fail", "inputs": {"why": "{{ secrets.KEY }}"}}]}
    async with api(tp) as client:
        run_id = await begun(client, {"plan": plan})
        await settled(client, run_id)
        shown = (await client.get(f"runs/{run_id}")).text
        events = (await client.get(f"runs/{run_id}/events", params={"follow": False})).text
        refused = (await client.post("runs", json={"tool": "hush-hush-1"})).text
        assert "hush-hush-1" not in shown + events + refused


async def test_a_tools_inputs_are_tried_before_there_is_a_run() -> None:
    async with api() as client:
        for inputs in ({"a": "x", "b": 1}, {"a": 1}, {"a": 1, "b": 2, "c": 3}):
            answer = await client.post("runs", json={"tool": "add", "inputs": inputs})
            assert answer.status_code == 422, answer.text
            assert answer.json()["findings"]
        assert (await client.get("runs")).json()["runs"] == []
        assert (await client.post("runs", json={"tool": "add", "inputs": {"a": "1", "b": 2}})).status_code == 202


async def test_a_tool_is_not_called_with_what_it_does_not_take() -> None:
    called: list[int] = []

    def double(n: int) -> int:
        called.append(n)
        return 2 * n

    tp = Toolpath(settings=Settings())
    tp.add(double, effect="read")
    async with serving(create_app(tp)) as client:
        for inputs in ({}, {"n": "much"}, {"n": 1, "m": 2}, {"n": None}):
            answer = await client.post("/api/v1/tools/double/call", json={"inputs": inputs})
            assert answer.status_code == 422, inputs
            assert answer.headers["content-type"] == "application/problem+json"
        assert (await client.get("/api/v1/runs")).json()["runs"] == []
        answer = await client.post("/api/v1/tools/double/call", json={"inputs": {"n": "3"}})
        assert (answer.status_code, answer.json()["output"], called) == (200, 6, [3])
