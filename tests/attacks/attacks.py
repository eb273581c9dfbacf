"""Requests of a key that may read and run, made to stop a server or to fill its memory: one a row."""

from __future__ import annotations

import io
import json
import time
import zipfile
from collections.abc import Callable
from contextlib import ExitStack, suppress
from typing import Any

from tests.attacks.target import Target
from websockets.exceptions import ConnectionClosed
from websockets.sync.client import ClientConnection, connect
from websockets.typing import Subprotocol

Attack = Callable[[Target], Any]
LOOKBACK = r"(.*)(.*)(.*)\1\2\3z"


def _call(**fields: Any) -> dict[str, Any]:
    return {"id": "e", "tool": "echo", "inputs": {"x": 1}, **fields}


def _loop(over: Any, *steps: Any, **fields: Any) -> dict[str, Any]:
    return {"over": over, "steps": list(steps), **fields}


def _filter(depth: int) -> Any:
    value: Any = {"field": "age", "value": "old"}
    for _ in range(depth):
        value = {"items": [value]}
    return value


def _plan_of(steps: int, **fields: Any) -> dict[str, Any]:
    return {"steps": [{"id": f"s{n}", "tool": "echo", "inputs": {"x": n}} for n in range(steps)], **fields}


def _going_back(plan: dict[str, Any]) -> dict[str, Any]:
    plan["steps"][-1]["on_failure"] = {"next": "s0"}
    return plan


def _kept_plan(plan: dict[str, Any]) -> Attack:
    return lambda target: target.client.post("/api/v1/plans", json={"plan": plan}, timeout=120).status_code


def _input(schema: Any, value: Any) -> Attack:
    plan = {"inputs": {"type": "object", "properties": {"x": schema}}, "steps": [_call()]}
    return lambda target: target.run(plan, {"x": value})


def _recursive(depth: int) -> Attack:
    node = {"anyOf": [{"type": "object", "properties": {"a": {"$ref": "#/$defs/n"}}, "required": [k]} for k in "abc"]}
    value: Any = 1
    for _ in range(depth):
        value = {"a": value, "b": 1, "c": 1}
    plan = {"inputs": {"properties": {"x": {"$ref": "#/$defs/n"}}, "$defs": {"n": node}}, "steps": [_call()]}
    return lambda target: target.run(plan, {"x": value})


def _nested_loops(target: Target) -> Any:
    over = "{{ ('a' * 1000) | list }}"
    inner = _loop(over, _call(), concurrency=1000)
    middle = _loop(over, {"id": "l3", "loop": inner}, concurrency=1000)
    outer = _loop(over, {"id": "l2", "loop": middle}, concurrency=1000)
    return target.run({"steps": [{"id": "l1", "loop": outer}]}, seconds=15)


def _wide_loop(target: Target) -> Any:
    body = [_call(), {"id": "f", "tool": "echo", "depends_on": ["e"], "inputs": {"x": 2}}]
    loop = _loop("{{ ('a' * 200000) | list }}", *body, concurrency=1_000_000)
    return target.run({"steps": [{"id": "l", "loop": loop}]}, seconds=15)


def _empty_circle(target: Target) -> Any:
    go = {"when": "inputs.go", "on_success": {"next": "p"}}
    steps = [{"id": "p", "parallel": []}, {"id": "l", "loop": _loop([], _call()), **go}]
    plan = {
        "flow": "chain",
        "inputs": {"properties": {"go": {}}},
        "steps": steps,
        "limits": {"step_visits": 1_000_000_000},
    }
    return target.run(plan, {"go": True}, seconds=15)


def _empty_loops(target: Target) -> Any:
    over = "{{ ('a' * 1000) | list }}"
    inner = _loop(over, {"id": "p", "parallel": [_call(when="false")]})
    return target.run({"steps": [{"id": "o", "loop": _loop(over, {"id": "i", "loop": inner})}]}, seconds=15)


def _conditions(target: Target) -> Any:
    when = "(inputs.x|map(lambda a: inputs.x|sum)|sum) < 0"
    steps = [_call(id=f"s{n}", when=when) for n in range(60)]
    return target.run({"inputs": {"properties": {"x": {}}}, "steps": steps}, {"x": list(range(1300))})


def _conditions_in_a_loop(target: Target) -> Any:
    body = _call(when="(inputs.x|sort|map(lambda a: a + 1)|sum) < 0")
    plan = {"inputs": {"properties": {"x": {}}}, "steps": [{"id": "l", "loop": _loop("{{ inputs.x }}", body)}]}
    return target.run(plan, {"x": list(range(20_000))}, seconds=15)


def _doubling(target: Target) -> Any:
    grow = {"transform": {"s": "{{ [state.s, state.s] }}"}, "next": "e"}
    plan = {
        "flow": "chain",
        "inputs": {"properties": {"s": {}}},
        "steps": [_call(when="inputs.s", on_success=grow)],
    }
    return target.run(plan, {"s": [1]}, 15)


def _many_times_over(target: Target) -> Any:
    step = _call(inputs={"x": "{{ inputs.l | map(lambda a: inputs.b) }}"})
    plan = {"inputs": {"properties": {"b": {}, "l": {}}}, "steps": [step]}
    return target.run(plan, {"b": "b" * 900_000, "l": list(range(3_000))})


def _many_large_results(target: Target) -> Any:
    """Each is the same text; the run's outputs are all of them."""
    steps = [_call(id=f"s{n}", inputs={"x": "{{ inputs.b }}"}) for n in range(3_500)]
    return target.run({"inputs": {"properties": {"b": {}}}, "steps": steps}, {"b": "b" * 2_000_000}, seconds=30)


def _query_a_plan(steps: int) -> Attack:
    def attack(target: Target) -> Any:
        stored = target.client.post("/api/v1/plans", json={"plan": _plan_of(steps)}, timeout=120).json()
        return target.graphql("query($id: ID!) { plan(id: $id) { id } }", id=stored.get("plan_id", ""))

    return attack


def _read_a_plan_again(target: Target) -> Any:
    stored = target.client.post("/api/v1/plans", json={"plan": _plan_of(20_000)}, timeout=120).json()
    target.begin()
    return [target.client.get(f"/api/v1/plans/{stored['plan_id']}", timeout=120).status_code for _ in range(3)]


def _cancel_a_long_run(target: Target) -> Any:
    run_id = _begun(target, 20_000)
    codes = [target.client.post(f"/api/v1/runs/{run_id}/cancel", json={}, timeout=120).status_code for _ in range(3)]
    return codes, target.ended(run_id, name="long")


def _begun(target: Target, steps: int) -> str:
    """A run of so many steps that goes on."""
    body = {"plan": _plan_of(steps, name="long"), "conversation_id": "attack"}
    run_id: str = target.let_in("POST", "/api/v1/runs", json=body).json()["run_id"]
    return run_id


def _steered(act: str) -> Attack:
    """A long run is cut short, and goes on: what is done of it is read again, and its plan is compiled anew."""

    def attack(target: Target) -> Any:
        run_id = _begun(target, 20_000)
        target.let_in("POST", f"/api/v1/runs/{run_id}/cancel", json={})
        target.ended(run_id, name="long")
        target.begin()
        answer = target.let_in("POST", f"/api/v1/runs/{run_id}/{act}", json={})
        assert answer.status_code == 202, answer.text[:500]
        return target.ended(answer.json()["run_id"], name="long")

    return attack


def _aliases(target: Target) -> Any:
    return target.graphql("{" + " ".join(f"a{n}: tools {{ name description parameters }}" for n in range(2_000)) + "}")


def _fragments(target: Target) -> Any:
    parts = [f"fragment f{n} on Tool {{ ...f{n + 1} ...f{n + 1} }}" for n in range(30)]
    return target.graphql("{ tools { ...f0 } } " + " ".join(parts) + " fragment f30 on Tool { name }")


def _names_not_meant(target: Target) -> Any:
    steps = [
        {"id": f"stepnumber{n}", "tool": "echoo", "inputs": {"y": f"{{{{ stepnumbr{n} }}}}"}} for n in range(3_000)
    ]
    return target.run({"steps": steps})


def _yaml(text: str) -> Attack:
    return lambda target: target.run(text)


def _anchors() -> str:
    levels = ["a0: &a0 [x, x, x, x, x, x, x, x, x]"]
    levels += [f"a{n}: &a{n} [" + ", ".join([f"*a{n - 1}"] * 9) + "]" for n in range(1, 12)]
    return "\n".join(levels) + "\nsteps: [{tool: echo, inputs: {x: *a11}}]\n"


def _raw(path: str, body: bytes) -> Attack:
    def attack(target: Target) -> Any:
        heads = {"Content-Type": "application/json"}
        return target.client.post(path, content=body, headers=heads, timeout=120).status_code

    return attack


def _many_large_inputs(target: Target) -> Any:
    big = list(range(300_000))
    steps = [
        _call(id=f"s{n}", inputs={"x": "{{ inputs.x }}"}, depends_on=[f"s{n - 1}"] if n else []) for n in range(40)
    ]
    return target.run({"inputs": {"properties": {"x": {}}}, "steps": steps}, {"x": big}, seconds=20)


def _large_over(target: Target) -> Any:
    inner = _loop("{{ inputs.x }}", _call(when="false"))
    plan = {
        "inputs": {"properties": {"x": {}}},
        "steps": [{"id": "o", "loop": _loop("{{ inputs.x }}", {"id": "i", "loop": inner})}],
    }
    return target.run(plan, {"x": list(range(100_000))}, seconds=15)


def _huge_text(target: Target) -> Any:
    steps = [_call(id=f"s{n}", inputs={"x": "{{ 'a' * 7000000 }}"}) for n in range(30)]
    return target.run({"steps": steps}, seconds=20)


def _search(target: Target) -> Any:
    return [
        target.client.get("/api/v1/tools", params={"query": "echo find " * 700}).status_code,
        target.mcp("search_tools", {"query": "echo find " * 100_000}),
    ]


def _heads(target: Target) -> Any:
    heads = {"Idempotency-Key": "k" * 60_000}
    return target.client.post("/api/v1/runs", json={"plan": _plan_of(1)}, headers=heads).status_code


def _sessions(target: Target) -> Any:
    heads = {"Accept": "application/json, text/event-stream"}
    info = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "a" * 10_000, "version": "1"}}
    body = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": info}
    return [target.client.post("/mcp", json=body, headers=heads).status_code for _ in range(300)][-1]


def _speaking(target: Target) -> ClientConnection:
    heads = {"Authorization": str(target.client.headers["Authorization"])}
    where = target.address.replace("http", "ws", 1) + "/graphql"
    return connect(where, subprotocols=[Subprotocol("graphql-transport-ws")], additional_headers=heads)


def _values_in_a_message(target: Target) -> Any:
    payload = {"query": "query($x: [Int]) { __typename }", "variables": {"x": [1] * 4_000_000}}
    said = json.dumps({"type": "subscribe", "id": "1", "payload": payload}, separators=(",", ":"))
    with _speaking(target) as socket:
        socket.send('{"type": "connection_init"}')
        socket.send(said)
        with suppress(ConnectionClosed):
            while True:
                socket.recv(timeout=60)


def _documents_in_messages(target: Target) -> Any:
    query = "{" + " ".join(f"a{n}: tools {{ name description parameters }}" for n in range(19)) + "}"
    with _speaking(target) as socket:
        socket.send('{"type": "connection_init"}')
        with suppress(ConnectionClosed, TimeoutError):
            for number in range(90):
                socket.send(json.dumps({"type": "subscribe", "id": str(number), "payload": {"query": query}}))
            while True:
                socket.recv(timeout=5)


def _subscriptions_to_a_run(target: Target) -> Any:
    """A hundred readers of one connection, each from the first event of a long run on."""
    run_id = _begun(target, 20_000)
    target.ended(run_id, name="long")
    target.begin()
    query = "subscription($id: ID!, $after: Int!) { runEvents(runId: $id, after: $after) { seq data } }"
    with _speaking(target) as socket, suppress(ConnectionClosed, TimeoutError):
        socket.send('{"type": "connection_init"}')
        for number in range(90):
            payload = {"query": query, "variables": {"id": run_id, "after": number}}
            socket.send(json.dumps({"type": "subscribe", "id": str(number), "payload": payload}))
        until = time.monotonic() + 10
        while time.monotonic() < until:
            socket.recv(timeout=5)


def _many_subscriptions(target: Target) -> Any:
    query = 'subscription { runEvents(runId: "run_none") { seq } }'
    with _speaking(target) as socket, suppress(ConnectionClosed, TimeoutError):
        socket.send('{"type": "connection_init"}')
        for number in range(300):
            socket.send(json.dumps({"type": "subscribe", "id": str(number), "payload": {"query": query}}))
        while True:
            socket.recv(timeout=5)


def _reading_a_long_run(target: Target) -> Any:
    """A run with many events and large values, read by every door."""
    large = [_call(id=f"l{n}", inputs={"x": f"{{{{ 'b' * 900000 ~ '{n}' }}}}"}) for n in range(25)]
    loop = {"id": "l", "loop": _loop("{{ ('a' * 20000) | list }}", _call(inputs={"x": "{{ item }}"}), concurrency=50)}
    run = target.run({"flow": "chain", "steps": [*large, loop]}, seconds=30)
    target.begin()
    query = "query($id: ID!) { execution(id: $id) { outputs results } }"
    return [
        [target.client.get(f"/api/v1/runs/{run['run_id']}", timeout=120).status_code for _ in range(3)],
        target.client.get(f"/api/v1/runs/{run['run_id']}/events", timeout=120).status_code,
        str(target.graphql(query, id=run["run_id"]))[:200],
        str(target.mcp("get_run", {"run_id": run["run_id"]}))[:200],
    ]


def _slow_readers(path: Callable[[dict[str, Any]], str]) -> Attack:
    """Many ask for something large and take of it next to nothing."""

    def attack(target: Target) -> Any:
        steps = [_call(id=f"s{n}", inputs={"x": f"{{{{ 'a' * 7000000 ~ '{n}' }}}}"}) for n in range(2)]
        run = target.run({"flow": "chain", "steps": steps}, seconds=30)
        wanted = path(target.client.get(f"/api/v1/runs/{run['run_id']}", timeout=120).json())
        target.begin()
        with ExitStack() as held:
            for _ in range(40):
                reader = held.enter_context(target.client.stream("GET", wanted, timeout=120))
                next(reader.iter_raw(1_000))
            return target.client.get("/health").status_code

    return attack


def _kept_template(target: Target, steps: int, title: str) -> str:
    """The id of a template of so many steps, each with a parameter, that MCP clients have as a tool."""
    made = [{"id": f"s{n}", "tool": "echo", "inputs": {"x": f"<<p{n % 50}>>"}} for n in range(steps)]
    body = {"document": {"name": title, "steps": made}, "title": title}
    answer = target.let_in("POST", "/api/v1/templates", json=body)
    assert answer.status_code == 201, answer.text[:500]
    template_id: str = answer.json()["template_id"]
    target.let_in("POST", f"/api/v1/templates/{template_id}/publish", json={"channels": ["mcp", "http"]})
    return template_id


def _large_templates(steps: int) -> Attack:
    """Templates of many steps by every door that reads them."""

    def attack(target: Target) -> Any:
        ids = [_kept_template(target, steps, f"large {number}") for number in range(4)]
        changed = {"document": {"name": "large", "steps": [_call(id=f"t{n}") for n in range(steps)]}}
        wide = "{" + " ".join(f"a{n}: planTemplates {{ document parameters {{ name }} }}" for n in range(15)) + "}"
        target.begin()
        return [
            target.let_in("PUT", f"/api/v1/templates/{ids[0]}", json=changed).status_code,
            target.let_in("GET", f"/api/v1/templates/{ids[0]}/diff", params={"from": 1, "to": 2}).status_code,
            target.let_in("GET", "/api/v1/templates/export").status_code,
            target.let_in("GET", "/api/plan-template/export-all").status_code,
            target.let_in("GET", f"/api/plan-template/{ids[1]}/parameters").status_code,
            target.let_in(
                "POST", f"/api/v1/templates/{ids[1]}/runs", json={"inputs": {"p1": "x" * 100_000}}
            ).status_code,
            str(target.mcp("large_3", {"p1": "x"}))[:200],
            str(target.graphql(wide))[:200],
        ]

    return attack


def _import(count: int, steps: int) -> Attack:
    made = [
        {"title": f"t{n}", "planTemplateId": f"new-{n}", "steps": [{"stepRequirement": "Do <<x>>"}] * steps}
        for n in range(count)
    ]
    return lambda target: [
        target.let_in("POST", "/api/v1/templates/import", json={"templates": made}).status_code,
        target.let_in("POST", "/api/plan-template/import-all", json=made).status_code,
        target.let_in("GET", "/api/plan-template/list-config").status_code,
    ]


def _check_a_plan(plan: Any) -> Attack:
    return lambda target: target.let_in("POST", "/api/v1/plans/check", json={"plan": plan}).status_code


def _a_long_conversation(target: Target) -> Any:
    """Ten megabytes of messages, looked through."""
    talk = target.let_in("POST", "/api/v1/conversations", json={"title": "long"}).json()["conversation_id"]
    place = f"/api/v1/conversations/{talk}"
    for number in range(52):
        said = {"text": f"{number} " + "word " * 39_990}
        with target.client.stream("POST", f"{place}/messages", json=said, timeout=60) as reader:
            for _ in reader.iter_raw(1_000):
                pass
    return [
        target.let_in("GET", f"{place}/messages").status_code,
        target.let_in("GET", f"{place}/messages", params={"limit": 200}).status_code,
        target.let_in("GET", "/api/v1/conversations/search", params={"q": "sought"}).status_code,
        target.let_in("GET", f"/api/memories/{talk}/history").status_code,
        target.let_in("POST", f"{place}/template", json={"title": "of it"}).status_code,
    ]


def _completions(messages: Any, **fields: Any) -> Attack:
    body = {"model": "toolpath", "messages": messages, **fields}
    return lambda target: target.let_in("POST", "/v1/chat/completions", json=body).status_code


def _multipart(*parts: tuple[str, bytes], end: str = "--b--\r\n") -> bytes:
    head = '--b\r\nContent-Disposition: form-data; name="files"; filename="{}"\r\n\r\n'
    return b"".join(head.format(name).encode() + data + b"\r\n" for name, data in parts) + end.encode()


def _upload(*parts: tuple[str, bytes], end: str = "--b--\r\n") -> Attack:
    body = _multipart(*parts, end=end)
    heads = {"Content-Type": "multipart/form-data; boundary=b"}
    doors = ("/api/v1/files", "/api/file-upload/upload")
    return lambda target: [target.let_in("POST", door, content=body, headers=heads).status_code for door in doors]


def _zip_bomb() -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for number in range(10):
            archive.writestr(f"../../{number}.txt", b"\0" * 20_000_000)
    return packed.getvalue()


def _zip_bombs(target: Target) -> Any:
    bomb = _zip_bomb()
    return _upload(("bomb.zip", bomb), ("bomb.docx", bomb))(target)


def _half_read(path: str, body: Any) -> Attack:
    """Forty answers that come piece by piece, of each of which little is read."""

    def attack(target: Target) -> Any:
        talk = target.let_in("POST", "/api/v1/conversations", json={}).json()["conversation_id"]
        with ExitStack() as held:
            for _ in range(40):
                place = path.format(conversation_id=talk)
                reader = held.enter_context(target.client.stream("POST", place, json=body, timeout=60))
                next(reader.iter_raw(100), b"")
            return target.client.get("/health").status_code

    return attack


def _records_of_a_long_run(target: Target) -> Any:
    """The records of many steps, as the plan execution service's clients and the page read them."""
    run_id = _begun(target, 20_000)
    target.ended(run_id, name="long")
    target.begin()
    paths = (
        f"/api/executor/details/{run_id}",
        f"/api/executor/taskStatus/{run_id}",
        f"/api/executor/agent-execution/{run_id}:s1",
        f"/api/v1/runs/{run_id}/plan",
        f"/api/v1/runs/{run_id}/plans",
        f"/api/v1/runs/{run_id}:{'a:' * 3_000}",
        f"/api/v1/runs/{run_id}:..%2F..%2Fetc",
        f"/api/v1/runs/{run_id}:s1/events",
        f"/api/file-browser/tree/{run_id}",
    )
    return [target.let_in("GET", path).status_code for path in paths]


def _a_wide_form(target: Target) -> Any:
    """A form of many fields with many options, and an answer with as many keys."""
    options = [f"o{n}" for n in range(100)]
    fields = [{"name": f"f{n}", "type": "select", "options": options} for n in range(2_000)]
    plan = {"steps": [{"id": "form", "ask": {"title": "Wide", "inputs": fields}}]}
    answer = target.let_in("POST", "/api/v1/runs", json={"plan": plan, "conversation_id": "attack"})
    if answer.status_code != 202:
        return answer.status_code
    place = f"/api/v1/runs/{answer.json()['run_id']}/input"
    return [
        target.let_in("POST", place, json={"values": {f"k{n}": "o1" for n in range(100_000)}}).status_code,
        target.let_in("POST", place, json={"values": {f"f{n}": "x" * 500 for n in range(2_000)}}).status_code,
        target.let_in("GET", "/api/v1/questions").status_code,
    ]


def _schedules_that_never_come(target: Target) -> Any:
    template_id = _kept_template(target, 1, "scheduled")
    found = []
    for cron in ("0 0 30 2 *", "0 0 31 4,6,9,11 *", "0 0 29 2 1#5", "59 59 23 31 2 *", "*/7 * 31 2 *"):
        for zone in ("UTC", "Europe/Berlin", "Pacific/Apia"):
            body = {"template_id": template_id, "inputs": {"p0": "x"}, "cron": cron, "time_zone": zone}
            found.append(target.let_in("POST", "/api/v1/schedules", json=body).status_code)
    return found


#: Each by its name: what the server does with it is bounded, whatever it answers.
ATTACKS: dict[str, Attack] = {
    "filter of a tool, checked over MCP": lambda t: t.mcp(
        "check_plan", {"plan": {"steps": [{"tool": "find", "inputs": {"filter": _filter(18)}}]}}
    ),
    "filter of a tool, called": lambda t: (
        t.client.post("/api/v1/tools/find/call", json={"inputs": {"filter": _filter(40)}}).status_code
    ),
    "recursive inputs": _recursive(40),
    "pattern that looks back": _input({"type": "array", "items": {"not": {"pattern": LOOKBACK}}}, ["x" * 60] * 1_000),
    "pattern of one text": _input({"pattern": LOOKBACK}, "x" * 60),
    "enum times items": _input({"items": {"enum": list(range(20_000))}}, [-1] * 3_000),
    "alternatives times items": _input({"items": {"anyOf": [{"const": n} for n in range(2_000)]}}, [-1] * 2_000),
    "coercion of many": _input({"items": {"type": "integer"}}, ["5"] * 500_000),
    "coercion of many objects": _input({"items": {"properties": {"a": {"type": "integer"}}}}, [{"a": "5"}] * 200_000),
    "items that differ": _input({"uniqueItems": True}, [[n] for n in range(100_000)]),
    "nested loops, all at once": _nested_loops,
    "a wide loop, all at once": _wide_loop,
    "a circle of nothing": _empty_circle,
    "loops of nothing": _empty_loops,
    "sixty conditions": _conditions,
    "conditions in a loop": _conditions_in_a_loop,
    "a value that doubles": _doubling,
    "a text many times over": _many_times_over,
    "many large results": _many_large_results,
    "a plan of 20,000 steps, read by GraphQL": _query_a_plan(20_000),
    "a plan of 20,000 steps, read again": _read_a_plan_again,
    "a plan of 100,000 steps": lambda t: (
        t.client.post("/api/v1/plans", json={"plan": _plan_of(100_000)}, timeout=120).status_code
    ),
    "a chain of 40,000 steps": _kept_plan(_plan_of(40_000, flow="chain")),
    "a chain of 40,000 steps that goes back": _kept_plan(_going_back(_plan_of(40_000, flow="chain"))),
    "a run of 20,000 steps": lambda t: t.run(_plan_of(20_000), seconds=30),
    "a run of 20,000 steps, cancelled": _cancel_a_long_run,
    "a run of 20,000 steps, forked": _steered("fork"),
    "a run of 20,000 steps, retried": _steered("retry"),
    "aliases": _aliases,
    "fragments": _fragments,
    "names that were not meant": _names_not_meant,
    "anchors in anchors": _yaml(_anchors()),
    "a long document": _yaml("steps:\n" + "- tool: echo\n" * 300_000),
    "a long list in a document": _yaml("x:\n" + "- a\n" * 900_000 + "steps:\n- tool: echo\n"),
    "a deep document": _yaml("steps: " + "[" * 100_000),
    "a deep body": _raw("/api/v1/runs", b'{"plan":' + b"[" * 200_000),
    "a huge number": _raw(
        "/api/v1/runs", b'{"plan":{"steps":[{"tool":"echo","inputs":{"x":' + b"9" * 1_000_000 + b"}}]}}"
    ),
    "a long name": _raw("/api/v1/runs", json.dumps({"tool": "a" * 5_000_000}).encode()),
    "many parts": _raw("/api/v1/runs", b'{"tool":"echo","inputs":{"x":[' + b"1," * 4_000_000 + b"1]}}"),
    "large inputs of many steps": _many_large_inputs,
    "a large list in a loop": _large_over,
    "long texts": _huge_text,
    "long searches": _search,
    "values in a message of a WebSocket": _values_in_a_message,
    "documents in messages of a WebSocket": _documents_in_messages,
    "subscriptions to a run that is not there": _many_subscriptions,
    "subscriptions to a long run": _subscriptions_to_a_run,
    "a long run, read by every door": _reading_a_long_run,
    "slow readers of a value": _slow_readers(
        lambda run: f"/api/v1/runs/{run['run_id']}/values/{run['results'][0]['output']['$blob']}"
    ),
    "slow readers of a run": _slow_readers(lambda run: f"/api/v1/runs/{run['run_id']}"),
    "a long key": _heads,
    "sessions without end": _sessions,
    "large templates, by every door": _large_templates(5_000),
    "many templates at once": _import(1_000, 5),
    "templates of many steps": _import(20, 10_000),
    "a plan of 20,000 steps, checked": _check_a_plan(_plan_of(20_000)),
    "a plan of names that were not meant, checked": _check_a_plan(
        {"steps": [{"id": f"stepnumber{n}", "tool": "echoo", "inputs": {"y": n}} for n in range(5_000)]}
    ),
    "a conversation of ten megabytes": _a_long_conversation,
    "ten megabytes of messages": _completions([{"role": "user", "content": "word " * 20_000}] * 100),
    "many messages": _completions([{"role": "user", "content": "a"}] * 200_000),
    "many tools of a client": _completions(
        [{"role": "user", "content": "a"}],
        tools=[
            {"type": "function", "function": {"name": f"t{n}", "parameters": {"enum": list(range(100))}}}
            for n in range(5_000)
        ],
    ),
    "ten thousand files": _upload(*((f"f{n}.txt", b"x") for n in range(10_000))),
    "a file with a huge name": _upload(("a" * 5_000_000, b"x")),
    "a file that ends nowhere": _upload(("a.txt", b"\r\n-" * 2_000_000), end=""),
    "a zip bomb": _zip_bombs,
    "a boundary in every line": _raw("/api/v1/files", b"--b\r\n" * 1_000_000),
    "chats that are left half read": _half_read("/api/v1/conversations/{conversation_id}/messages", {"text": "a"}),
    "records of a long run": _records_of_a_long_run,
    "a wide form": _a_wide_form,
    "schedules that never come": _schedules_that_never_come,
}
