"""`browser.*` with a Chromium that is installed, on pages of this machine: what it does, and what it cannot reach."""

from __future__ import annotations

import asyncio
import base64
import os
import re
import shutil
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from tests.patience import PATIENCE

from toolpath import ToolContext, Toolpath
from toolpath.config import Settings
from toolpath.errors import ConfigError, ToolFailed
from toolpath.providers.builtin import guarded_proxy
from toolpath.providers.builtin.browser_sessions import PROGRAMS
from toolpath.providers.builtin.guarded_proxy import GuardedProxy
from toolpath.providers.builtin.reach import Reach

CHROMIUM = next(filter(None, map(shutil.which, PROGRAMS)), None)
REQUIRED = os.environ.get("TOOLPATH_REQUIRE_SERVICES") == "1"
#: The one without windows does the same with less work; what no page may reach is tried with the one that users have.
LIGHT = shutil.which("chromium-headless-shell") or ""
needs_chromium = pytest.mark.skipif(CHROMIUM is None and not REQUIRED, reason="no Chromium is installed")
FORM = """<title>Shop</title><h1>Tea</h1><form action=/there><label>Name <input name=n></label><button>Send</button>
</form><a href=/there target=_blank>more</a>
<button onclick="document.getElementById('o').textContent='clicked'">Push</button><p id=o>not yet</p>"""


class Site:
    """A site of this machine, and what it was asked."""

    def __init__(self) -> None:
        self.pages: dict[str, tuple[str, str]] = {"/": ("200 OK", FORM), "/there": ("200 OK", "<h1>There</h1>")}
        self.asked: list[str] = []
        self.port = 0

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            head = await reader.readuntil(b"\r\n\r\n")
            path = head.split(b" ", 2)[1].decode()
            host = re.search(rb"(?i)host: ([^\r:]+)", head)
            self.asked.append(f"{host[1].decode() if host else ''}{path}")
            status, body = self.pages.get(path.partition("?")[0], ("404 None", "none"))
            status, _, more = status.partition("|")
            kind = f"HTTP/1.1 {status}\r\ncontent-type: text/html; charset=utf-8\r\n{more}"
            data = body.replace("{port}", str(self.port)).encode()
            writer.write(f"{kind.replace('{port}', str(self.port))}content-length: {len(data)}\r\n\r\n".encode() + data)
            await writer.drain()
        except (ConnectionError, asyncio.IncompleteReadError):
            pass
        finally:
            writer.close()


@asynccontextmanager
async def site() -> AsyncIterator[Site]:
    made = Site()
    server = await asyncio.start_server(made.serve, "127.0.0.1", 0)
    made.port = server.sockets[0].getsockname()[1]
    try:
        yield made
    finally:
        server.close()


@asynccontextmanager
async def with_browser(**options: Any) -> AsyncIterator[Toolpath]:
    given = {"hosts": ["localhost", "127.0.0.1"], "allow": ["localhost", "127.0.0.1"], "no_sandbox": True}
    given |= {"program": LIGHT} if LIGHT else {}
    async with Toolpath(settings=Settings(max_retries=0, default_timeout=120)) as tp:
        tp.sources.add_source("builtin", {"browser": {"timeout": 20, **given, **options}})
        yield tp


def plan(*steps: tuple[str, dict[str, Any]]) -> dict[str, Any]:
    """Calls one after the other, in one run."""
    listed = [
        {"id": f"s{number}", "tool": f"browser.{name}", "inputs": inputs} for number, (name, inputs) in enumerate(steps)
    ]
    return {"flow": "chain", "steps": listed}


async def outputs(tp: Toolpath, *steps: tuple[str, dict[str, Any]]) -> list[Any]:
    result = await tp.run(plan(*steps))
    assert result.success, result.error
    return [result.step(f"s{number}").output for number in range(len(steps))]


def ref_of(page: Any, what: str) -> str:
    found = re.search(rf"{what}.*?\[ref=(\w+)\]", page["page_text"])
    assert found, page
    return found[1]


@needs_chromium
async def test_a_page_is_read_filled_in_clicked_and_left():
    async with site() as shop, with_browser() as tp:
        tp.add(work_through)
        found = await tp.call("work_through", {"url": f"http://127.0.0.1:{shop.port}/"})
        assert found["title"] == "Shop"
        assert "clicked" in found["clicked"]
        assert found["there"].endswith("/there?n=green+tea")
        assert found["back"].endswith(f":{shop.port}/")
        assert found["tabs"] == 2
        assert base64.b64decode(found["picture"]).startswith(b"\x89PNG")
        assert found["kept"] == "shots/there.png"
        assert (await tp.files.read(found["run"], "shots/there.png")).startswith(b"\x89PNG")
        assert shop.asked.count("127.0.0.1/there?n=green+tea") == 1


async def work_through(context: ToolContext, url: str) -> Any:
    """A whole visit, as one call of a tool makes it."""
    page = await context.call("browser.navigate", {"url": url})
    clicked = await context.call("browser.click", {"ref": ref_of(page, 'button "Push"')})
    assert isinstance(clicked, dict)
    there = await context.call(
        "browser.type", {"ref": ref_of(clicked, 'textbox "Name"'), "text": "green tea", "submit": True}
    )
    back = await context.call("browser.back")
    await context.call("browser.scroll", {"direction": "bottom"})
    await context.call("browser.press", {"key": "Tab"})
    await context.call("browser.click", {"ref": ref_of(back, 'link "more"')})
    # The browser tells of a tab that a page has opened when it is there, not with the click.
    async with asyncio.timeout(PATIENCE):
        while len((tabs := await context.call("browser.tabs", {"action": "list"}))["tabs"]) < 2:
            pass
    await context.call("browser.tabs", {"action": "select", "tab": 0})
    picture = await context.call("browser.screenshot", {})
    kept = await context.call("browser.save_screenshot", {"path": "shots/there.png"})
    assert isinstance(kept, dict)
    for path in ("../out.png", "/etc/out.png", "shots/../../out.png"):
        with pytest.raises(ToolFailed):
            await context.call("browser.save_screenshot", {"path": path})
    return {
        "title": page["page_title"],
        "clicked": clicked["page_text"],
        "there": there["url"],
        "back": back["url"],
        "tabs": len(tabs["tabs"]),
        "picture": picture["data"],
        "kept": kept["path"],
        "run": context.run_id,
    }


@needs_chromium
async def test_no_run_sees_what_another_has_open_and_none_is_left_open(until):
    async with site() as shop, with_browser(max_sessions=1) as tp:
        (first,) = await outputs(tp, ("navigate", {"url": f"http://127.0.0.1:{shop.port}/"}))
        assert first["status"] == 200
        # The run has ended: its session is closed, and there is room for another.
        with pytest.raises(ToolFailed, match="No page is open"):
            await tp.call("browser.read")
        (second,) = await outputs(tp, ("navigate", {"url": f"http://127.0.0.1:{shop.port}/there"}))
        assert "There" in second["page_text"]


CLOSED = ["10.1.2.3", "169.254.169.254", "192.168.1.1", "[::1]", "0.0.0.0", "2130706433", "127.1", "other.example.org"]


@needs_chromium
async def test_pages_reach_no_host_that_is_not_named(tmp_path: Path):
    secret = tmp_path / "secret.txt"
    await asyncio.to_thread(secret.write_text, "inside-of-a-file")
    async with (
        site() as shop,
        with_browser(hosts=["localhost"], allow=["127.0.0.1"], timeout=6, program=CHROMIUM) as tp,
    ):
        images = "".join(
            f"<img src=http://{host}:{shop.port}/leak-{n}>" for n, host in enumerate([*CLOSED, "127.0.0.1"])
        )
        frames = f"<iframe src=http://127.0.0.1:{shop.port}/frame></iframe><iframe src=file://{secret}></iframe>"
        script = f"""<script>
        const out = document.getElementById('out');
        const say = text => out.textContent += ' ' + text;
        fetch('http://127.0.0.1:{{port}}/fetched', {{mode: 'no-cors'}}).then(() => say('yes'), () => say('no-fetch'));
        fetch('file://{secret}').then(r => r.text()).then(say, () => say('no-file'));
        const ws = new WebSocket('ws://127.0.0.1:{{port}}/socket'); ws.onerror = () => say('no-socket');
        </script>"""
        shop.pages["/evil"] = ("200 OK", f"<p id=out>begin</p>{images}{frames}{script}")
        shop.pages["/away"] = ("302 Away|location: http://127.0.0.1:{port}/redirected\r\n", "")
        shop.pages["/slow"] = ("200 OK", "<meta http-equiv=refresh content='0;url=http://127.0.0.1:{port}/refreshed'>")
        base = f"http://localhost:{shop.port}"
        seen = await outputs(tp, ("navigate", {"url": f"{base}/evil"}), ("scroll", {"direction": "bottom"}))
        assert "begin" in seen[0]["page_text"]
        assert "inside-of-a-file" not in str(seen)
        for url in (f"{base}/away", *(f"http://{host}:{shop.port}/direct" for host in CLOSED)):
            with pytest.raises(ToolFailed) as caught:
                await tp.call("browser.navigate", {"url": url})
            assert "may not be reached" in caught.value.message
        await tp.call("browser.navigate", {"url": f"{base}/slow"})
        asked = [path for path in shop.asked if not path.startswith("localhost/")]
        assert asked == []
        # The page does try: where it may, it gets there.
        async with with_browser(hosts=["localhost", "127.0.0.1"], allow=["127.0.0.1"]) as free:
            await outputs(free, ("navigate", {"url": f"{base}/evil"}), ("scroll", {"direction": "bottom"}))
        assert {"127.0.0.1/fetched", "127.0.0.1/frame"} <= set(shop.asked)


@needs_chromium
@pytest.mark.parametrize(
    "url",
    [
        "file:///etc/passwd",
        "chrome://version",
        "javascript:alert(1)",
        "data:text/html,x",
        "about:blank",
        "//h/",
        "view-source:http://a",
    ],
)
async def test_only_http_urls_are_opened(url: str):
    async with with_browser() as tp:
        with pytest.raises(ToolFailed, match="Only http and https"):
            await tp.call("browser.navigate", {"url": url})


@needs_chromium
async def test_text_is_bounded_and_what_is_not_there_is_said():
    async with site() as shop, with_browser(max_text=600) as tp:
        shop.pages["/long"] = ("200 OK", "<p>word</p>" * 500 + "<script>alert('hello')</script>")
        (page,) = await outputs(tp, ("navigate", {"url": f"http://127.0.0.1:{shop.port}/long"}))
        assert (len(page["page_text"]), page["cut"]) == (600, True)
        result = await tp.run(plan(("navigate", {"url": f"http://127.0.0.1:{shop.port}/"}), ("click", {"ref": "e999"})))
        assert "no element" in str(result.error)


def test_what_cannot_be_switched_on_is_said():
    with pytest.raises(ConfigError, match="no host"):
        Toolpath().sources.add_source("builtin", {"browser": {}})


async def test_root_has_to_say_that_there_may_be_no_sandbox(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    program = tmp_path / "chromium"
    program.write_text("#!/bin/sh\nexit 1\n")
    program.chmod(0o755)
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    async with with_browser(no_sandbox=False, program=str(program)) as tp:
        with pytest.raises(ToolFailed, match="sandbox"):
            await tp.call("browser.navigate", {"url": "http://127.0.0.1/"})
    async with with_browser(program=str(tmp_path / "none")) as tp:
        with pytest.raises(ToolFailed, match="No Chromium"):
            await tp.call("browser.navigate", {"url": "http://127.0.0.1/"})


@pytest.mark.parametrize(
    "head",
    [
        "GET http://10.0.0.1/ HTTP/1.1",
        "CONNECT 169.254.169.254:80 HTTP/1.1",
        "CONNECT [::ffff:127.0.0.1]:80 HTTP/1.1",
        "GET /relative HTTP/1.1",
        "GET file:///etc/passwd HTTP/1.1",
        "CONNECT HTTP/1.1",
        "\x00\x01\x02",
        "GET http://[::1 HTTP/1.1",
        "CONNECT 127.0.0.1:99999999 HTTP/1.1",
    ],
)
async def test_the_proxy_refuses_what_is_no_request_for_what_may_be_reached(head: str):
    proxy = GuardedProxy(Reach(only=("*",)))
    port = int((await proxy.start()).rpartition(":")[2])
    try:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(head.encode() + b"\r\nhost: a\r\n\r\n")
        answer = await reader.read()
        assert b" 200 " not in answer
        assert answer == b"" or answer.startswith((b"HTTP/1.1 403", b"HTTP/1.1 400"))
        writer.close()
    finally:
        await proxy.close()


async def test_no_tunnel_stays_that_the_browser_has_left(monkeypatch: pytest.MonkeyPatch, until):
    monkeypatch.setattr(guarded_proxy, "_PATIENCE", 0.5)
    over = asyncio.Event()

    async def silent(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await over.wait()
        writer.close()

    def tunnels() -> int:
        names = [getattr(task.get_coro(), "__qualname__", "") for task in asyncio.all_tasks()]
        return sum(name in ("GuardedProxy._accept", "_pumped") for name in names)

    server = await asyncio.start_server(silent, "127.0.0.1", 0)
    there = server.sockets[0].getsockname()[1]
    proxy = GuardedProxy(Reach(only=("127.0.0.1",), allow=("127.0.0.1",)))
    port = int((await proxy.start()).rpartition(":")[2])
    try:
        for number in range(6):
            reader, writer = await asyncio.open_connection("127.0.0.1", port)
            writer.write(f"CONNECT 127.0.0.1:{there} HTTP/1.1\r\n\r\n".encode())
            assert b" 200 " in await reader.readuntil(b"\r\n\r\n")
            if number % 2:
                writer.transport.abort()
            writer.close()
        await until(lambda: tunnels() == 0)
    finally:
        over.set()
        await proxy.close()
        server.close()
