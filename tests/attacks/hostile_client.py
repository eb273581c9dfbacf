"""A hostile client that makes up what it sends: any door, any body, any manner of asking, by chance and by its seed.

Nothing here knows what a server could be weak at; `attacks.py` has what was found.
"""

from __future__ import annotations

import json
import socket
import time
from collections.abc import Callable
from contextlib import suppress
from random import Random
from typing import Any

import httpx
from tests.attacks.hostile_requests import Requests, found_ids, said
from tests.attacks.route_bodies import DYNAMIC, SCHEDULE, TEMPLATE
from tests.attacks.target import Target, written
from websockets.exceptions import WebSocketException
from websockets.sync.client import connect
from websockets.typing import Subprotocol

#: Seconds that it reads of what does not end.
_LOOK = 1.0
#: Bytes that it reads of one answer.
_ENOUGH = 1_000_000
_JSON = {"Content-Type": "application/json"}


class Bodies:
    """Values, schemas and plans: deep, wide, long, huge, cyclic. `size` is about how many parts the largest has."""

    def __init__(self, chance: Random, size: int) -> None:
        self._chance = chance
        self._size = size

    def count(self) -> int:
        """Mostly small, at times as large as may be."""
        return int(self._size ** self._chance.random())

    def value(self) -> Any:
        """Any value."""
        chance, many = self._chance, self.count()
        match chance.randrange(9):
            case 0:
                return chance.choice(("a", "é", "\x00", "𝄞", "{{ inputs }}", "<b>", "\\", '"')) * many
            case 1:
                return [chance.choice((1, -1.5, "a", None, True, {}, []))] * many
            case 2:
                return {f"k{number}": number for number in range(many)}
            case 3:
                value: Any = 1
                for _ in range(min(many, 5_000)):
                    value = [value] if chance.random() < 0.5 else {"a": value}
                return value
            case 4:
                return int("9" * min(many, 4_000))
            case 5:
                return chance.choice((0, -1, 1e308, 5e-324, 2**63, -(2**63), 2**64))
            case 6:
                return [{"a": str(number), "b": [number]} for number in range(many // 4)]
            case 7:
                return {"$blob": "sha256:" + "0" * 64, "size": 2**60, "preview": "a"}
            case _:
                return [list(range(50))] * (many // 50)

    def schema(self) -> Any:
        """Any schema."""
        chance, many = self._chance, self.count()
        match chance.randrange(8):
            case 0:
                schema: Any = {"type": "integer"}
                for _ in range(min(many, 2_000)):
                    schema = chance.choice(({"items": schema}, {"properties": {"a": schema}}, {"not": schema}))
                return schema
            case 1:
                return {"anyOf": [{"properties": {"a": {"const": number}}} for number in range(many // 4)]}
            case 2:
                kinds = [{"properties": {"a": {"$ref": "#/$defs/n"}}, "required": [key]} for key in "abcd"]
                return {"$ref": "#/$defs/n", "$defs": {"n": {chance.choice(("anyOf", "oneOf", "allOf")): kinds}}}
            case 3:
                return {"$ref": "#/$defs/n", "$defs": {"n": {"$ref": "#/$defs/n"}}}
            case 4:
                return {"items": {"enum": [str(number) for number in range(many)]}}
            case 5:
                looks = (r"(a*)*b", r"^(\w+\s?)*$", r"(.*)(.*)\1\2z", "(" * 50 + "a" + ")" * 50, "a{1,60000}")
                return {"items": {"pattern": chance.choice(looks)}, "pattern": chance.choice(looks)}
            case 6:
                return {"uniqueItems": True, "contains": {"multipleOf": 1e-9}, "minContains": many}
            case _:
                return {"properties": {f"k{number}": {"type": "string"} for number in range(many // 2)}}

    def expression(self) -> str:
        """Any template."""
        chance, many = self._chance, self.count()
        parts = (
            "{{ inputs.x }}",
            f"{{{{ 'ab' * {many * 50} }}}}",
            f"{{{{ ('a' * {many}) | list | map(lambda c: c ~ inputs.x) | list }}}}",
            "{{ " + "(" * min(many, 300) + "1" + ")" * min(many, 300) + " }}",
            "{{ " + " + ".join(["1"] * min(many, 5_000)) + " }}",
            "{{ inputs.x | sort | unique | tojson }}",
            f"{{{{ 9 ** {many} }}}}",
            f"{{{{ inputs.x | replace('a', 'a' * {many}) }}}}",
            f"{{{{ {{'a': inputs.x, 'b': [inputs.x] * {min(many, 1_000)}}} }}}}",
            "{{ " * min(many, 2_000),
        )
        return chance.choice(parts)

    def _step(self, number: int, depth: int) -> dict[str, Any]:
        chance = self._chance
        step: dict[str, Any] = {"id": f"s{depth}_{number}"}
        kind = chance.random()
        if depth < 6 and kind < 0.15:
            body = [self._step(n, depth + 1) for n in range(chance.randrange(4))]
            over = chance.choice((self.expression(), list(range(min(self.count(), 5_000)))))
            step["loop"] = {"over": over, "steps": body, "concurrency": chance.choice((1, 50, 1_000_000))}
        elif depth < 6 and kind < 0.25:
            step["parallel"] = [self._step(n, depth + 1) for n in range(chance.randrange(5))]
        else:
            step |= {
                "tool": chance.choice(("echo", "echo", "echo", "find", "none")),
                "inputs": {"x": self.expression()},
            }
        if chance.random() < 0.2:
            step["when"] = chance.choice(
                ("inputs.x", "(inputs.x | sum) < 0", "inputs.x == inputs.x", self.expression())
            )
        if chance.random() < 0.2:
            step["depends_on"] = [f"s{depth}_{chance.randrange(number + 2)}"]
        if chance.random() < 0.1:
            step["retry"] = {"attempts": chance.choice((1, 1_000_000)), "backoff": 0}
        if chance.random() < 0.1:
            step["on_success"] = {"next": f"s{depth}_{chance.randrange(number + 2)}"}
        return step

    def plan(self) -> Any:
        """Any plan, with faults and without, in some notation."""
        chance = self._chance
        if chance.random() < 0.3:
            steps = [{"id": f"s{n}", "tool": "echo", "inputs": {"x": "{{ inputs.x }}"}} for n in range(self.count())]
        else:
            steps = [self._step(number, 0) for number in range(min(self.count(), 60))]
        schema = {} if chance.random() < 0.5 else self.schema()
        plan: dict[str, Any] = {"inputs": {"type": "object", "properties": {"x": schema}}, "steps": steps}
        if chance.random() < 0.3:
            plan |= {"flow": "chain", "limits": {"step_visits": chance.choice((1, 10_000, 10**9))}}
        match chance.randrange(12):
            case 0:
                return written(plan).decode()
            case 1:
                return "steps:\n" + "- tool: echo\n" * self.count()
            case 2:
                return chance.choice(("[", "{a: ", "- ", "&a [*a, ", "? ", "|\n ")) * self.count()
            case _:
                return plan


class HostileClient:
    """Asks a server for what it has made up, one request after the other."""

    def __init__(self, target: Target, seed: int, size: int) -> None:
        self._target = target
        self._chance = Random(seed)
        self._bodies = Bodies(self._chance, size)
        self._run_id = "none"
        self._plan_id = "none"
        self._known: dict[str, list[str]] = {"key": ["echo"], "name": ["a.txt"], "path": ["a.txt"], "step": ["e"]}
        self._requests = Requests(self._chance, self._known)
        self.faults: list[str] = []
        """Answers that no request should get: of a server that does not know what has happened."""

    def attack(self, times: int) -> None:
        """Ask so many times, then have what was begun cancelled."""
        doors: tuple[Callable[[], None], ...] = (
            self._begin_run,
            self._begin_run,
            self._keep_plan,
            self._call,
            self._read,
            self._graphql,
            self._mcp,
            self._listen,
            self._speak,
            self._leave,
            self._crowd,
            self._cancel,
            self._any_route,
            self._any_route,
            self._template_doors,
        )
        self._fill()
        for _ in range(times):
            self._chance.choice(doors)()
        self._cancel_all()

    def _ask(self, method: str, path: str, body: Any = None) -> httpx.Response | None:
        """The answer; None where the server has closed the connection, as it may."""
        data = None if body is None else written(body)
        try:
            answer = self._target.let_in(method, path, content=data, headers=_JSON)
        except httpx.RemoteProtocolError:
            return None
        if answer.status_code >= 500:
            self.faults.append(f"{method} {path}: {answer.status_code} {answer.text[:300]}")
        return answer

    def _fill(self) -> None:
        """Have something of each noun that it may keep."""
        kept = self._ask("POST", "/api/v1/templates", {"document": TEMPLATE, "title": f"Kept {self._chance.random()}"})
        self._learn(kept)
        if kept is not None and kept.status_code == 201:
            place = f"/api/v1/templates/{self._known['template_id'][-1]}"
            self._ask("POST", f"{place}/publish", {"channels": ["http", "mcp", "conversation"]})
            scheduled = {**SCHEDULE, "template_id": self._known["template_id"][-1]}
            self._learn(self._ask("POST", "/api/v1/schedules", scheduled))
        self._learn(self._ask("POST", "/api/plan-template/create-or-update-with-tool", DYNAMIC))
        self._learn(self._ask("POST", "/api/v1/conversations", {"title": "Talk"}))

    def _learn(self, answer: httpx.Response | None) -> None:
        if answer is not None and answer.status_code < 400:
            for name, found in found_ids(said(answer.content)).items():
                self._known.setdefault(name, []).append(found)

    def _any_route(self) -> None:
        """Ask a few routes for something that is not quite right."""
        for _ in range(10):
            asked = self._requests.next()
            heads = {"Content-Type": "application/json"} | asked.heads
            try:
                with self._target.client.stream(
                    asked.method,
                    asked.path,
                    content=asked.content,
                    headers=[(name, text.encode("latin-1")) for name, text in heads.items()],
                    timeout=_LOOK if "Sync" in asked.path or "wait=" in asked.path else 120,
                ) as answer:
                    content = b""
                    until = time.monotonic() + _LOOK
                    for part in answer.iter_raw(1_000):
                        content += part
                        if len(content) > _ENOUGH or time.monotonic() > until:
                            break
            except (httpx.TransportError, httpx.InvalidURL):
                continue
            if answer.status_code >= 500 and answer.status_code not in (501, 503):
                self.faults.append(f"{asked.method} {asked.path[:300]}: {answer.status_code} {content[:300]!r}")

    def _template_doors(self) -> None:
        """Templates over GraphQL, and as tools of the MCP service."""
        value = self._bodies.value()
        many = range(min(self._bodies.count(), 500))
        wide = " ".join(f"a{n}: planTemplates {{ document parameters {{ name }} }}" for n in many)
        queries = (
            "query($id: ID!) { planTemplate(id: $id) { document parameters { name } versions { digest } } }",
            "query($id: ID!) { planTemplate(id: $id, version: 9) { document } schedules(before: $id) { inputs } }",
            "mutation($x: String!) { savePlanTemplate(document: $x, title: $x) { id } }",
            "mutation($id: ID!, $x: String!) { runPlanTemplate(id: $id, inputs: $x) { id } }",
            "mutation($id: ID!, $x: String!) { schedulePlanTemplate(id: $id, cron: $x, timeZone: $x) { id } }",
            "mutation($id: ID!) { publishPlanTemplate(id: $id, channels: []) { id } }",
            "mutation($id: ID!) { rollBackPlanTemplate(id: $id, version: 0) { id } }",
            "{" + wide + "}",
        )
        value = value if self._chance.random() < 0.5 else written(value).decode()
        chosen = self._chance.choice(self._known.get("template_id", ["none"]))
        self._ask("POST", "/graphql", {"query": self._chance.choice(queries), "variables": {"id": chosen, "x": value}})
        with suppress(KeyError, ValueError, httpx.RemoteProtocolError):
            said_back = self._target.mcp(
                self._chance.choice(("kept", "run_plan_template", "reports--news")), {"what": value, "more": value}
            )
            if said_back.get("error", {}).get("code") == -32603:
                self.faults.append(f"mcp: {said_back}"[:500])

    def _begin_run(self) -> None:
        body = {"plan": self._bodies.plan(), "inputs": {"x": self._bodies.value()}, "conversation_id": "attack"}
        answer = self._ask("POST", "/api/v1/runs", body)
        if answer is not None and answer.status_code == 202:
            self._run_id = answer.json()["run_id"]

    def _keep_plan(self) -> None:
        answer = self._ask("POST", "/api/v1/plans", {"plan": self._bodies.plan()})
        if answer is not None and answer.status_code == 201:
            self._plan_id = answer.json()["plan_id"]
            self._ask("POST", "/api/v1/runs", {"plan_id": self._plan_id, "conversation_id": "attack"})

    def _call(self) -> None:
        tool = self._chance.choice(("echo", "find", "a" * self._bodies.count()))
        inputs = {self._chance.choice(("x", "filter", "y")): self._bodies.value()}
        self._ask("POST", f"/api/v1/tools/{tool[:5_000]}/call?wait=2", {"inputs": inputs, "conversation_id": "attack"})

    def _read(self) -> None:
        paths = (
            f"/api/v1/runs/{self._run_id}",
            f"/api/v1/runs/{self._run_id}/events?limit=500",
            f"/api/v1/plans/{self._plan_id}",
            "/api/v1/runs?limit=500",
            f"/api/v1/tools/search?q={'echo ' * 300}",
            f"/api/v1/runs?name={'a' * 200}&before={self._run_id}",
            "/api/v1/questions",
            "/api/v1/tools/stats",
        )
        self._ask("GET", self._chance.choice(paths))

    def _graphql(self) -> None:
        wide = " ".join(f"a{n}: tools {{ name parameters }}" for n in range(min(self._bodies.count(), 3_000)))
        deep = min(self._bodies.count(), 10_000)
        queries = (
            "{" + wide + "}",
            "query($id: ID!) { execution(id: $id) { outputs results errors } }",
            "query($id: ID!) { plan(id: $id) { id document plan validationResult } }",
            "{" + " tools {" * deep + "}" * deep + "}",
            "query($x: [Int]) { __typename }",
            "{ ...f } fragment f on Query { ...f }",
            "\x00" * deep,
        )
        chosen = self._chance.choice((self._run_id, self._plan_id))
        body = {"query": self._chance.choice(queries), "variables": {"id": chosen, "x": self._bodies.value()}}
        self._ask("POST", "/graphql", body)

    def _mcp(self) -> None:
        tools: tuple[tuple[str, dict[str, Any]], ...] = (
            ("check_plan", {"plan": self._bodies.plan()}),
            ("run_plan", {"plan": self._bodies.plan(), "inputs": {"x": self._bodies.value()}}),
            ("get_run", {"run_id": self._run_id}),
            ("search_tools", {"query": "echo " * self._bodies.count()}),
            ("echo", {"x": self._bodies.value()}),
        )
        with suppress(KeyError, ValueError, httpx.RemoteProtocolError):
            self._target.mcp(*self._chance.choice(tools))

    def _listen(self) -> None:
        """Read events of a run as they come, little by little, and go away in the middle."""
        path = f"/api/v1/runs/{self._run_id}/events"
        heads = {"Accept": "text/event-stream"}
        until = time.monotonic() + _LOOK
        with (
            suppress(httpx.HTTPError),
            self._target.client.stream("GET", path, headers=heads, timeout=_LOOK) as reader,
        ):
            for _ in reader.iter_raw(100):
                if time.monotonic() > until:
                    break

    def _speak(self) -> None:
        """Say things over a WebSocket."""
        heads = {"Authorization": str(self._target.client.headers["Authorization"])}
        where = self._target.address.replace("http", "ws", 1) + "/graphql"
        query = "subscription($id: ID!) { runEvents(runId: $id) { seq data } }"
        with (
            suppress(WebSocketException, OSError),
            connect(
                where, subprotocols=[Subprotocol("graphql-transport-ws")], additional_headers=heads, open_timeout=60
            ) as line,
        ):
            line.send('{"type": "connection_init"}')
            for number in range(min(self._bodies.count(), 200)):
                payload = {"query": query, "variables": {"id": self._run_id}}
                line.send(json.dumps({"type": "subscribe", "id": str(number), "payload": payload}))
            said = written({"type": self._chance.choice(("ping", "x")), "payload": self._bodies.value()})
            line.send(said.decode())
            until = time.monotonic() + _LOOK
            while time.monotonic() < until:
                line.recv(timeout=_LOOK)

    def _leave(self) -> None:
        """Begin a request, and go away: in the middle of the body, or before the answer, or half through it."""
        data = written({"plan": self._bodies.plan(), "inputs": {"x": self._bodies.value()}})
        host, _, port = self._target.address.removeprefix("http://").partition(":")
        head = f"POST /api/v1/runs HTTP/1.1\r\nHost: {host}:{port}\r\nContent-Type: application/json\r\n"
        head += f"Authorization: {self._target.client.headers['Authorization']}\r\nContent-Length: {len(data)}\r\n\r\n"
        with suppress(OSError), socket.create_connection((host, int(port)), timeout=10) as line:
            line.sendall(head.encode())
            sent = self._chance.choice((0, len(data) // 2, len(data)))
            line.sendall(data[:sent])
            if self._chance.random() < 0.5:
                line.settimeout(_LOOK)
                line.recv(10)

    def _crowd(self) -> None:
        """Many small requests, one right after the other, let in or not."""
        body = {"tool": "echo", "inputs": {"x": 1}, "conversation_id": "attack"}
        for _ in range(min(self._bodies.count(), 300)):
            self._target.client.post("/api/v1/runs", json=body, timeout=120)

    def _cancel(self) -> None:
        for _ in range(self._chance.randrange(1, 4)):
            self._ask("POST", f"/api/v1/runs/{self._run_id}/cancel", {})
        self._ask("POST", f"/api/v1/runs/{self._run_id}/{self._chance.choice(('resume', 'retry', 'fork'))}", {})

    def _cancel_all(self) -> None:
        """Have everything end that still goes on."""
        for status in ("running", "pending", "waiting", "paused"):
            answer = self._ask("GET", f"/api/v1/runs?status={status}&limit=500")
            rows = [] if answer is None or answer.status_code != 200 else answer.json()["runs"]
            for row in rows:
                self._ask("POST", f"/api/v1/runs/{row['run_id']}/cancel", {})
