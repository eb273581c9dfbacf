"""`http.get` and `http.request` against a real server of ours."""

from __future__ import annotations

import asyncio
import ipaddress
import json
import random
import socket
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, ClassVar

import jsonschema_rs
import pytest

from toolpath.errors import ToolFailed, ToolRetry, ToolUnavailable
from toolpath.model.tool import Body
from toolpath.providers.builtin.http import HttpLimits, http_tools
from toolpath.providers.builtin.reach import HostRefused, Reach, is_public

#: Servers of the tests are on this machine.
LOCAL = Reach(allow=("127.0.0.0/8", "::1", "localhost"))


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
                seen |= {"headers": {k.lower(): v for k, v in self.headers.items()}} if "?all" in self.path else {}
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
        self.answered(*self.elsewhere(status, headers, path), content)

    def answered(self, status: int, headers: dict[str, str], content: bytes) -> None:
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.send_header("content-length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def elsewhere(self, status: int, headers: dict[str, str], path: str) -> tuple[int, dict[str, str]]:
        """Of `/to?STATUS=PLACE`."""
        if path != "/to":
            return status, headers
        code, _, place = self.path.partition("?")[2].partition("=")
        return int(code), {"location": place}

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


async def call(number: int, *, reach: Reach | None = None, **inputs: Any) -> Any:
    reach = reach or LOCAL
    tool = http_tools(HttpLimits(bytes=4096, reach=reach))[number]
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


async def test_what_is_not_there_says_so_by_its_code(base):
    with pytest.raises(ToolFailed) as caught:
        await get(f"{base}/missing")
    assert caught.value.code == "not_found"


@pytest.mark.parametrize(("path", "seconds", "code"), [("/busy", 7.0, "rate_limit"), ("/dated", 0.0, "server_error")])
async def test_what_may_get_better_says_when_and_by_which_code(base, path, seconds, code):
    with pytest.raises(ToolRetry) as caught:
        await get(base + path)
    assert (caught.value.retry_after, caught.value.code) == (seconds, code)


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


@pytest.fixture(scope="module")
def other() -> Iterator[str]:
    """A server of another origin: the same machine under another address."""
    server = ThreadingHTTPServer(("127.0.0.2", 0), Handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.2:{server.server_address[1]}"
    server.shutdown()
    server.server_close()
    thread.join()


KEYS = {"X-API-Key": "k", "Authorization": "Bearer t", "Cookie": "c=1", "X-A": "1"}


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
async def test_what_was_given_for_one_origin_goes_to_no_other(base, other, status):
    told = (await get(f"{base}/to?{status}={other}/echo?all", headers=KEYS))["body"]["headers"]
    assert set(told) <= {"host", "accept", "accept-encoding", "user-agent", "connection"}
    kept = (await get(f"{base}/to?{status}=/echo?all", headers=KEYS))["body"]["headers"]
    assert {name.lower() for name in KEYS} <= set(kept)


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
async def test_a_body_goes_to_no_other_origin(base, other, status):
    sent = {"method": "POST", "json": {"card": 1}, "headers": KEYS}
    if status in (307, 308):
        with pytest.raises(ToolFailed, match="its body is not sent there"):
            await call(1, url=f"{base}/to?{status}={other}/echo?all", **sent)
    else:
        seen = (await call(1, url=f"{base}/to?{status}={other}/echo?all", **sent))["body"]
        assert (seen["method"], seen["body"]) == ("GET", "")
    seen = (await call(1, url=f"{base}/to?{status}=/echo", **sent))["body"]
    assert seen["body"] == ('{"card":1}' if status in (307, 308) else "")


HERE = [
    "127.0.0.1",
    "127.1",
    "2130706433",
    "0x7f000001",
    "0177.0.0.1",
    "0",
    "localhost",
    "localhost.",
    "LOCALHOST",
    "[::1]",
    "[::ffff:127.0.0.1]",
    "[::ffff:7f00:1]",
    "[0:0:0:0:0:0:0:1]",
    "[64:ff9b::7f00:1]",
    "[2002:7f00:1::]",
    "[::]",
    "169.254.169.254",
    "[fd00:ec2::254]",
    "[fe80::1]",
    "10.1.2.3",
    "192.168.0.1",
    "172.16.0.1",
    "100.64.0.1",
    "224.0.0.1",
    "[ff02::1]",
    "255.255.255.255",
    "192.0.0.1",
]


class FirstAlone(Reach, frozen=True, kw_only=True):
    """The first host that is asked for may be reached, and nothing of this machine after it."""

    asked: list[str]

    async def addresses(self, host: str, port: int) -> list[str]:
        self.asked.append(host)
        return await (LOCAL if len(self.asked) == 1 else Reach()).addresses(host, port)


@pytest.mark.parametrize("host", HERE)
async def test_nothing_of_this_machine_and_its_networks_is_reached(base, host):
    port = base.rpartition(":")[2]
    for url, reach in (
        (f"http://{host}:{port}/echo", Reach()),
        # Nor by a redirect of a server that may be reached.
        (f"{base}/to?302=http://{host}:{port}/echo", FirstAlone(asked=[])),
    ):
        with pytest.raises(ToolFailed) as caught:
            await get(url, reach=reach)
        said = str(caught.value)
        assert isinstance(caught.value, HostRefused) or "no such host" in said or "InvalidURL" in said, said


async def test_a_name_is_looked_up_once_and_what_it_stood_for_is_reached(base, monkeypatch):
    port = int(base.rpartition(":")[2])
    answers = iter(["93.184.216.34", "127.0.0.1", "127.0.0.1"])
    asked = []

    async def resolve(self, host, port, **_):
        asked.append(host)
        address = next(answers) if host.endswith(".example") else host
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (address, port))]

    monkeypatch.setattr(asyncio.BaseEventLoop, "getaddrinfo", resolve)
    assert await Reach().addresses("rebinds.example", port) == ["93.184.216.34"]
    with pytest.raises(HostRefused):
        await Reach().addresses("rebinds.example", port)
    # Of a name that is allowed the address is connected to, and not looked up again.
    seen = await get(f"http://allowed.example:{port}/echo?all", reach=Reach(allow=("*.example",)))
    assert seen["body"]["headers"]["host"] == f"allowed.example:{port}"
    assert [host for host in asked if host.endswith(".example")] == ["rebinds.example"] * 2 + ["allowed.example"]


async def test_some_public_addresses_of_a_host_are_enough_and_only_those_are_reached(monkeypatch):
    async def resolve(self, host, port, **_):
        return [(0, 0, 0, "", (address, port)) for address in ("127.0.0.1", "93.184.216.34", "10.0.0.1")]

    monkeypatch.setattr(asyncio.BaseEventLoop, "getaddrinfo", resolve)
    assert await Reach().addresses("both.example", 80) == ["93.184.216.34"]


async def test_only_the_hosts_that_are_listed_are_reached():
    with pytest.raises(HostRefused, match="none of the hosts"):
        await get("http://other.example/", reach=Reach(only=("api.example.org", "*.internal")))


@pytest.mark.parametrize("url", ["http://user:pw12@93.184.216.34/", "http://a@127.0.0.1/", "http://a:b@"])
async def test_a_url_holds_no_credentials(url):
    with pytest.raises(ToolFailed) as caught:
        await get(url)
    assert "pw12" not in str(caught.value)


def test_no_address_at_random_of_a_closed_network_is_public():
    rng = random.Random(5)
    texts = "10.0.0.0/8 172.16.0.0/12 192.168.0.0/16 127.0.0.0/8 169.254.0.0/16 100.64.0.0/10 224.0.0.0/4 240.0.0.0/4"
    for network in map(ipaddress.ip_network, (*texts.split(), "0.0.0.0/8", "fc00::/7", "fe80::/10", "ff00::/8")):
        for _ in range(200):
            address = network[rng.randrange(network.num_addresses)]
            assert not is_public(address), address
            if isinstance(address, ipaddress.IPv4Address):
                halves = f"{int(address) >> 16:x}:{int(address) & 0xFFFF:x}"
                for text in (f"::ffff:{address}", f"64:ff9b::{address}", f"2002:{halves}::"):
                    assert not Reach()._may(ipaddress.ip_address(text)), text


class Proxy(BaseHTTPRequestHandler):
    asked: ClassVar[list[tuple[str, str]]] = []

    def do_GET(self) -> None:
        self.asked.append((self.path, self.headers["host"]))
        self.send_response(200)
        self.send_header("content-length", "9")
        self.end_headers()
        self.wfile.write(b"via proxy")

    def log_message(self, *_: Any) -> None:
        pass


@pytest.fixture
def proxy() -> Iterator[str]:
    Proxy.asked = []
    server = ThreadingHTTPServer(("127.0.0.1", 0), Proxy)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.server_address[1]}"
    server.shutdown()
    server.server_close()
    thread.join()


@pytest.mark.parametrize("name", ["HTTP_PROXY", "http_proxy", "ALL_PROXY"])
async def test_a_proxy_of_the_environment_is_not_heeded(base, proxy, monkeypatch, name):
    monkeypatch.setenv(name, proxy)
    assert (await get(f"{base}/"))["body"] == "hello"
    assert Proxy.asked == []


async def test_a_proxy_that_is_named_is_given_addresses_that_were_looked_at(proxy, monkeypatch):
    monkeypatch.setattr(socket, "getaddrinfo", lambda *_, **__: [(2, 1, 6, "", ("93.184.216.34", 80))])
    (tool, _) = http_tools(HttpLimits(proxy=proxy))
    answer = await tool.body.invoke({"url": "http://example.org/a"}, None)
    assert answer["body"] == "via proxy"
    assert Proxy.asked == [("http://93.184.216.34/a", "example.org")]


@pytest.mark.parametrize("host", ["localhost", "127.0.0.1", "169.254.169.254", "10.1.2.3", "[::1]"])
async def test_what_may_not_be_reached_is_reached_through_no_proxy(proxy, host):
    (tool, _) = http_tools(HttpLimits(proxy=proxy))
    with pytest.raises(HostRefused):
        await tool.body.invoke({"url": f"http://{host}/"}, None)
    assert Proxy.asked == []
