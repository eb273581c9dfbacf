"""`http.get` and `http.request` against a real server of ours."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import jsonschema_rs
import pytest

from toolpath.errors import ToolFailed, ToolRetry, ToolUnavailable
from toolpath.model.tool import Body
from toolpath.providers.builtin.http import HttpLimits, http_tools


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def answer(self) -> None:
        length = int(self.headers.get("content-length", 0))
        body = self.rfile.read(length).decode()
        path = self.path.partition("?")[0]
        status, headers, content = 200, {"content-type": "text/plain; charset=utf-8"}, b"hello"
        match path:
            case "/echo":
                seen = {"method": self.command, "path": self.path, "body": body, "x": self.headers.get("x-a")}
                headers, content = {"content-type": "application/json"}, json.dumps(seen).encode()
            case "/json":
                headers, content = {"content-type": "application/problem+json"}, b"{broken"
            case "/empty":
                status, content = 204, b""
            case "/big":
                content = b"x" * 5000
            case "/missing":
                status, content = 404, b"not here"
            case "/busy":
                status, headers = 429, {"retry-after": "7"}
            case "/dated":
                status, headers = 503, {"retry-after": "Fri, 31 Dec 1999 23:59:59 GMT"}
            case "/loop":
                status, headers = 302, {"location": "/loop"}
            case "/file":
                status, headers = 302, {"location": "file:///etc/passwd"}
            case "/there":
                status, headers = 302, {"location": "/echo"}
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.send_header("content-length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    do_GET = do_POST = do_PUT = answer

    def log_message(self, *_: Any) -> None:
        pass


@pytest.fixture(scope="module")
def base() -> Iterator[str]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.server_address[1]}"
    server.shutdown()
    server.server_close()
    thread.join()


async def call(number: int, **inputs: Any) -> Any:
    tool = http_tools(HttpLimits(bytes=4096))[number]
    assert isinstance(tool.body, Body)
    assert jsonschema_rs.is_valid(tool.input_schema, inputs)
    output = await tool.body.invoke(inputs, None)
    assert jsonschema_rs.is_valid(tool.output_schema, output)
    return output


async def get(url: str, **inputs: Any) -> Any:
    return await call(0, url=url, **inputs)


def test_one_reads_and_the_other_writes():
    assert [(tool.key, tool.effect, tool.is_repeatable) for tool in http_tools()] == [
        ("http.get", "read", True),
        ("http.request", "write", False),
    ]


async def test_json_comes_parsed_and_other_text_as_it_is(base):
    echoed = await get(f"{base}/echo", query={"q": ["a b", "c"]}, headers={"X-A": "1"})

    assert echoed["body"] == {"method": "GET", "path": "/echo?q=a+b&q=c", "body": "", "x": "1"}
    assert (await get(f"{base}/"))["body"] == "hello"
    assert (await get(f"{base}/json"))["body"] == "{broken"
    assert (await get(f"{base}/empty"))["body"] is None
    assert (await get(f"{base}/there"))["body"]["path"] == "/echo"


async def test_a_request_sends_json_or_text_and_not_both(base):
    assert (await call(1, method="POST", url=f"{base}/echo", json={"a": 1}))["body"]["body"] == '{"a":1}'
    assert (await call(1, method="PUT", url=f"{base}/echo", body="plain"))["body"]["body"] == "plain"
    with pytest.raises(ToolFailed, match="one body"):
        await call(1, method="POST", url=f"{base}/echo", body="a", json=1)


@pytest.mark.parametrize(
    ("path", "message"),
    [
        ("/missing", "127.0.0.1 answered 404 Not Found: not here"),
        ("/big", "more than 4096 bytes"),
        ("/loop", "redirected more than 5 times"),
        ("/file", "Only http and https"),
    ],
)
async def test_what_will_not_get_better_fails(base, path, message):
    with pytest.raises(ToolFailed, match=message) as caught:
        await get(base + path)
    assert not caught.value.retryable


@pytest.mark.parametrize(("path", "seconds"), [("/busy", 7.0), ("/dated", 0.0)])
async def test_what_may_get_better_says_when(base, path, seconds):
    with pytest.raises(ToolRetry) as caught:
        await get(base + path)
    assert caught.value.retry_after == seconds


@pytest.mark.parametrize(
    "url", ["file:///etc/passwd", "/etc/passwd", "ftp://a/b", "javascript:1", "http://", "http://["]
)
async def test_only_http_urls_are_fetched(url):
    with pytest.raises(ToolFailed, match=r"Only http|cannot be read"):
        await get(url)


async def test_a_server_that_is_not_there_was_not_reached_and_keys_in_the_url_are_not_told():
    with pytest.raises(ToolUnavailable) as caught:
        await get("http://127.0.0.1:9/?key=private")

    assert not caught.value.reached
    assert "private" not in str(caught.value)
