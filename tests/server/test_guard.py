from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator
from typing import Any

import httpx
import pytest
import websockets
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Receive, Scope, Send
from tests.access.access_cases import JWT, RUNS, SECRET, bearer, guarded, token
from tests.patience import PATIENCE
from tests.server.serving_cases import assert_problem, serving

from toolpath import Settings
from toolpath.access.caller import OPEN as OPEN_CALLER
from toolpath.access.credentials import Credentials
from toolpath.machine import SystemClock
from toolpath.server.entry.guard import Guard
from toolpath.server.entry.protocol import protocol_of

OPEN = {"is_local": True}
TAKES = "/api/v1/runs"


async def answer_to(client: httpx.AsyncClient, request: bytes, *, wait: float = PATIENCE) -> str:
    """What the server says to these bytes, until it closes the connection."""
    reader, writer = await asyncio.open_connection(client.base_url.host, client.base_url.port)
    try:
        writer.write(request)
        return (await asyncio.wait_for(reader.read(), wait)).decode()
    finally:
        writer.close()


@pytest.mark.parametrize("path", ["/health", "/ready"])
@pytest.mark.parametrize("shown", [b"Basic eDp5", b"Bearer", b"{{", b"\xe9" * 300, b""])
async def test_who_needs_no_credentials_may_show_wrong_ones(path: str, shown: bytes) -> None:
    async with guarded() as door:
        answer = await door.client.get(path, headers=[(b"Authorization", shown), (b"X-Api-Key", b"none")])
        assert answer.status_code == 200, answer.text


async def test_on_this_machine_nobody_is_asked_who_they_are() -> None:
    async with guarded(**OPEN) as door:
        assert_problem(await door.client.get(RUNS), 404, "unknown_run")
        assert_problem(await door.client.get(RUNS, headers=bearer("tpk_wrong_key")), 401, "unauthorized")


async def test_settings_can_ask_for_credentials_on_this_machine_too() -> None:
    async with guarded(**OPEN, auth="required") as door:
        assert_problem(await door.client.get(RUNS), 401, "unauthorized")


@pytest.mark.parametrize(
    "name", ["evil.example.org", "127.0.0.1.evil.org", "localhost.evil.org:80", "10.0.0.1", "0.0.0.0"]
)
async def test_a_name_that_was_rebound_to_this_machine_is_not_answered(name: str) -> None:
    async with guarded(**OPEN) as door:
        for path in (RUNS, "/health", "/mcp", "/graphql"):
            assert_problem(await door.client.get(path, headers={"Host": name}), 421, "wrong_host")


async def test_names_of_this_machine_and_those_that_are_allowed_are_answered() -> None:
    async with guarded(**OPEN, allowed_hosts=("tools.example.org",)) as door:
        for name in ("localhost", "LOCALHOST:99", "127.0.0.1", "[::1]:8000", "tools.example.org:8000"):
            assert (await door.client.get("/health", headers={"Host": name})).status_code == 200
        assert_problem(await door.client.get("/health", headers={"Host": "other.example.org"}), 421, "wrong_host")


@pytest.mark.parametrize("name", ["", "a b", "a/b", "a@b", "a:b", "a,b"])
async def test_a_host_that_is_none_is_refused(name: str) -> None:
    async with guarded(**OPEN) as door:
        said = await answer_to(door.client, f"GET /health HTTP/1.0\r\nHost: {name}\r\n\r\n".encode())
        assert " 400 " in said.splitlines()[0]


@pytest.mark.parametrize("origin", ["https://evil.example.org", "null", "http://127.0.0.1:1", "file://", "nonsense"])
async def test_web_pages_of_other_origins_are_refused(origin: str) -> None:
    async with guarded(**OPEN) as door:
        for path in (RUNS, "/mcp", "/graphql"):
            assert_problem(await door.client.post(path, headers={"Origin": origin}, json={}), 403, "wrong_origin")
        with pytest.raises(websockets.exceptions.InvalidStatus) as refused:
            await websockets.connect(f"ws://{door.client.base_url.netloc.decode()}/graphql", origin=origin)  # type: ignore[arg-type]
        assert refused.value.response.status_code == 403


async def test_a_page_of_another_site_that_hides_its_origin_is_refused() -> None:
    async with guarded(**OPEN) as door:
        for site in ("cross-site", "same-site"):
            assert_problem(await door.client.get(RUNS, headers={"Sec-Fetch-Site": site}), 403, "wrong_origin")
        assert (await door.client.get(RUNS, headers={"Sec-Fetch-Site": "same-origin"})).status_code == 404


async def test_pages_of_this_server_and_of_allowed_origins_are_not() -> None:
    app = "https://app.example.org"
    async with guarded(**OPEN, allowed_origins=(app,)) as door:
        own = str(door.client.base_url).rstrip("/")
        assert (await door.client.get(RUNS, headers={"Origin": own})).status_code == 404
        allowed = await door.client.get(RUNS, headers={"Origin": app})
        assert (allowed.status_code, allowed.headers["access-control-allow-origin"]) == (404, app)
        asked = {
            "Origin": app,
            "Access-Control-Request-Method": "POST",
            "Access-Control-Request-Headers": "authorization",
        }
        assert (await door.client.options(TAKES, headers=asked)).status_code == 200
    async with guarded() as door:
        assert_problem(await door.client.options(TAKES, headers=asked), 403, "wrong_origin")


async def test_an_open_server_is_not_open_to_those_behind_a_proxy() -> None:
    async with guarded(**OPEN) as door:
        for name in ("X-Forwarded-For", "Forwarded", "X-Real-IP", "X-Forwarded-Proto", "CF-Connecting-IP", "Via"):
            body = assert_problem(
                await door.client.get(RUNS, headers={name: "203.0.113.7"}), 403, "open_to_this_machine"
            )
            assert "auth = required" in body["hint"]


@pytest.mark.parametrize(
    "path",
    [
        "/health/../api/v1/runs/run_1",
        "/health%2f..%2fapi/v1/runs/run_1",
        "//api/v1/runs/run_1",
        "/api/v1/runs/..%2f..%2f..%2fhealth",
        "/API/v1/runs/run_1",
        "/health;/api/v1/runs/run_1",
        "/health%00",
        "/health/",
        "/%68ealth2",
        "/api/v1/openapi.json",
        "/metrics",
        "/assets/../api/v1/runs/run_1",
        "/assets/..%2fapi/v1/runs/run_1",
        "/assets/",
        "*",
        "http://evil.example.org/health",
    ],
)
async def test_no_way_of_writing_a_path_leads_past_the_credentials(path: str) -> None:
    async with guarded() as door:
        for more in ("", "X-Original-URL: /health\r\nX-Rewrite-URL: /health\r\nX-HTTP-Method-Override: OPTIONS\r\n"):
            request = f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n{more}\r\n"
            said = await answer_to(door.client, request.encode())
            assert said.splitlines()[0].split(" ")[1] in ("400", "401", "404"), said
            assert "200 OK" not in said
            assert "unknown_run" not in said


@pytest.mark.parametrize(
    "head",
    [
        "Authorization: Bearer tpk_a_b\r\nAuthorization: Bearer tpk_c_d\r\n",
        "Authorization: Bearer tpk_a_b\r\nX-API-Key: tpk_c_d\r\n",
        "Host: localhost\r\n",
        "Origin: http://127.0.0.1\r\nOrigin: http://evil.example.org\r\n",
        "Content-Length: 2\r\nContent-Length: 3\r\n",
        "Content-Length: -1\r\n",
        "Content-Length: 2\r\nTransfer-Encoding: chunked\r\n",
        "Transfer-Encoding: gzip, chunked\r\n",
        "X: " + "x" * 100_000 + "\r\n",
        "".join(f"X-{number}: 1\r\n" for number in range(300)),
    ],
    ids=lambda head: head[:40],
)
async def test_heads_that_two_readers_could_read_differently_are_refused(head: str) -> None:
    async with guarded() as door:
        request = f"POST {TAKES} HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n{head}\r\n{{}}"
        said = await answer_to(door.client, request.encode())
        assert said.splitlines()[0].split(" ")[1] in ("400", "431", "501"), said


@pytest.mark.parametrize("kind", ["Basic YTpi", "Bearer", "Digest x"])
async def test_credentials_of_another_kind_are_refused(kind: str) -> None:
    async with guarded(**OPEN) as door:
        assert_problem(await door.client.get(RUNS, headers={"Authorization": kind}), 401, "unauthorized")


async def echo(scope: Scope, receive: Receive, send: Send) -> None:
    """An app that reads its whole body and gives it back, whatever the path."""
    if scope["type"] == "lifespan":
        return
    await Response(await Request(scope, receive).body())(scope, receive, send)


def echoing(**settings: Any) -> Guard:
    return Guard(echo, credentials=Credentials(open_as=OPEN_CALLER), settings=Settings(**settings), clock=SystemClock())


async def test_a_body_that_is_too_large_is_refused_with_and_without_its_length() -> None:
    async def parts(count: int) -> AsyncIterator[bytes]:
        for _ in range(count):
            yield b"[" * 1000

    async with serving(echoing(max_body=100_000), lifespan="off") as client:
        assert len((await client.post("/any", content=b"[" * 100_000)).content) == 100_000
        assert len((await client.post("/any", content=parts(100))).content) == 100_000
        assert_problem(await client.post("/any", content=b"[" * 100_001), 413, "too_large")
        assert_problem(await client.post("/any", content=parts(101)), 413, "too_large")


async def test_a_body_that_does_not_come_is_not_waited_for() -> None:
    async with serving(echoing(request_timeout=0.3), lifespan="off") as client:
        head = "POST /any HTTP/1.1\r\nHost: 127.0.0.1\r\n"
        for rest in ("Content-Length: 100\r\n\r\n{", "Transfer-Encoding: chunked\r\n\r\n1\r\n{\r\n"):
            said = await answer_to(client, f"{head}{rest}".encode())
            assert " 408 " in said.splitlines()[0]
            assert '"too_slow"' in said


async def test_a_head_that_does_not_come_is_not_waited_for() -> None:
    async with serving(echoing(), lifespan="off", http=protocol_of(0.3)) as client:
        for part in ("", "GET /any", "GET /any HTTP/1.1\r\nHost: 127.0.0.1\r\nX-A: b"):
            said = await answer_to(client, part.encode())
            assert said.startswith("HTTP/1.1 408 ")


async def test_a_second_head_on_the_same_connection_is_not_waited_for_either() -> None:
    async with serving(echoing(), lifespan="off", http=protocol_of(0.3)) as client:
        reader, writer = await asyncio.open_connection(client.base_url.host, client.base_url.port)
        writer.write(b"GET /any HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
        assert (await reader.readuntil(b"\r\n\r\n")).startswith(b"HTTP/1.1 200 ")
        writer.write(b"GET /second")
        assert (await asyncio.wait_for(reader.read(), PATIENCE)).startswith(b"HTTP/1.1 408 ")
        writer.close()


async def test_too_many_requests_of_one_caller_are_refused_and_others_served() -> None:
    async with guarded(rate_limit="3/hour") as door:
        ada, bob = await door.key("read"), await door.key("read")
        for _ in range(3):
            assert (await door.client.get(RUNS, headers=ada)).status_code == 404
        refused = await door.client.get(RUNS, headers=ada)
        assert_problem(refused, 429, "too_many_requests")
        assert 0 < int(refused.headers["retry-after"]) <= 7200
        assert (await door.client.get(RUNS, headers=bob)).status_code == 404


async def test_each_door_says_when_to_come_back() -> None:
    async with guarded(rate_limit="1/hour") as door:
        ada = await door.key("read")
        answers = [await door.client.get("/v1/models", headers=ada) for _ in range(2)]
        assert [each.status_code for each in answers] == [200, 429]
        assert 0 < int(answers[1].headers["retry-after"]) <= 7200


async def test_users_of_the_same_name_are_counted_by_their_tenants() -> None:
    async with guarded(env={"TOOLPATH_JWT_SECRET": SECRET}, rate_limit="1/hour", **JWT) as door:
        ours, theirs = bearer(token(tenant="acme")), bearer(token(tenant="evil"))
        answers = [(await door.client.get(RUNS, headers=who)).status_code for who in (theirs, theirs, ours)]
        assert answers == [404, 429, 404]


async def test_refusals_are_in_the_log_without_what_was_shown(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.WARNING, "toolpath.access")
    async with guarded() as door:
        good = await door.key("read")
        (key,) = await door.keys.list()
        await door.keys.revoke(key.id)
        secret = good["Authorization"].removeprefix("Bearer ")
        await door.client.get(f"/api/v1/runs/{secret}?key={secret}", headers=good)
        await door.client.get("/api/v1/runs/a%0d%0arefused%20GET%20forged", headers=bearer("eyJhbGciOiJub25lIn0.e30.x"))
    lines = [record.getMessage() for record in caplog.records if record.name == "toolpath.access"]
    assert f"revoked key {key.id} (401)" in lines[0]
    assert "/api/v1/runs/[redacted]" in lines[0]
    assert lines[1].count("\n") == 0
    assert secret not in "".join(lines)
    assert "eyJ" not in "".join(lines)


async def test_who_shows_wrong_credentials_is_asked_to_wait_and_others_behind_their_proxy_are_not() -> None:
    async with guarded(env={"TOOLPATH_JWT_SECRET": SECRET}, **JWT) as door:
        key, user = await door.key("*"), bearer(token())
        # A new minute may begin meanwhile, but not two.
        wrong = [await door.client.get(RUNS, headers=bearer(f"tpk_a_{number}")) for number in range(125)]
        codes = [answer.status_code for answer in wrong]
        assert codes[:60] == [401] * 60
        assert 60 <= codes.count(401) <= 120
        asked = wrong[codes.index(429)]
        assert int(asked.headers["retry-after"]) > 0
        for good in (key, user):
            assert_problem(await door.client.get(RUNS, headers=good), 404, "unknown_run")
        assert_problem(await door.client.get(RUNS), 401, "unauthorized")
