"""`http` as a built-in group: the hosts that are named, headers that nobody sees, time and size of the whole."""

from __future__ import annotations

import asyncio
import gzip
import random
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

import pytest

from toolpath import Toolpath
from toolpath.config import Settings
from toolpath.errors import ToolFailed
from toolpath.providers.builtin.reach import HostRefused, Reach

KEY = "k3y-of-the-shop"


@asynccontextmanager
async def answering(respond: Callable[[bytes, asyncio.StreamWriter], Any]) -> AsyncIterator[int]:
    """A server on a port of this machine: what `respond` writes when it was sent a head."""

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            await respond(await reader.readuntil(b"\r\n\r\n"), writer)
            await writer.drain()
        except (ConnectionError, asyncio.IncompleteReadError, asyncio.CancelledError):
            pass
        finally:
            writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    try:
        yield server.sockets[0].getsockname()[1]
    finally:
        server.close()


@asynccontextmanager
async def with_http(**options: Any) -> AsyncIterator[Toolpath]:
    async with Toolpath(secrets={"KEY": KEY}, settings=Settings(max_retries=0)) as tp:
        given = {"hosts": ["localhost", "127.0.0.1"], "allow": ["127.0.0.1", "localhost"], **options}
        tp.sources.add_source("builtin", {"http": given})
        yield tp


def written(head: str, body: bytes) -> Callable[[bytes, asyncio.StreamWriter], Any]:
    async def respond(_: bytes, writer: asyncio.StreamWriter) -> None:
        writer.write(f"HTTP/1.1 {head}\r\ncontent-length: {len(body)}\r\n\r\n".encode() + body)

    return respond


async def test_headers_of_the_settings_are_sent_and_never_shown():
    seen: list[bytes] = []

    async def repeat(head: bytes, writer: asyncio.StreamWriter) -> None:
        seen.append(head)
        status = b"500 No" if b"/broken" in head else b"200 OK"
        told = KEY.encode() if KEY.encode() in head else b"none"
        writer.write(b"HTTP/1.1 " + status + b"\r\nx-seen: " + told + b"\r\nconnection: close\r\n\r\n" + head)

    headers = {"localhost": {"Authorization": "Bearer {{ secrets.KEY }}"}, "127.*": {"x-other": "Other"}}
    async with answering(repeat) as port, with_http(headers=headers) as tp:
        given = {"url": f"http://localhost:{port}/", "headers": {"authorization": "mine"}}
        result = await tp.call("http.get", given)
        assert b"authorization: Bearer " + KEY.encode() in seen[0].replace(b"Authorization", b"authorization")
        assert b"mine" not in seen[0]
        assert KEY not in str(result)
        assert result["status"] == 200
        with pytest.raises(ToolFailed) as caught:
            await tp.call("http.request", {"method": "POST", "url": f"http://localhost:{port}/broken"})
        assert KEY not in str(caught.value)
        # Another host has others.
        await tp.call("http.get", {"url": f"http://127.0.0.1:{port}/"})
        assert KEY.encode() not in seen[-1]
        assert b"x-other: Other" in seen[-1]
        for info in await tp.runs():
            assert KEY not in str(await tp.events(info.run_id))


async def test_a_redirect_carries_no_header_of_one_host_to_another():
    seen: list[bytes] = []

    async def respond(head: bytes, writer: asyncio.StreamWriter) -> None:
        seen.append(head)
        away = f"location: http://127.0.0.1:{port}/there\r\n" if b"/here" in head else ""
        status = "302 Away" if away else "200 OK"
        writer.write(f"HTTP/1.1 {status}\r\n{away}content-length: 0\r\n\r\n".encode())

    async with answering(respond) as port, with_http(headers={"localhost": {"x-key": "{{ secrets.KEY }}"}}) as tp:
        await tp.call("http.get", {"url": f"http://localhost:{port}/here"})
        assert [KEY.encode() in head for head in seen] == [True, False]


async def test_an_answer_that_drips_is_cut_off_in_time():
    async def drip(_: bytes, writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 200 OK\r\ncontent-length: 100000\r\n\r\n")
        while True:
            writer.write(b"x")
            await writer.drain()
            await asyncio.sleep(0.02)

    async with answering(drip) as port, with_http(timeout=0.3) as tp:
        with pytest.raises(ToolFailed, match="not answered in full within"):
            await tp.call("http.request", {"method": "POST", "url": f"http://localhost:{port}/"})


async def test_what_is_packed_is_counted_unpacked():
    bomb = gzip.compress(b"\0" * 50_000_000)
    assert len(bomb) < 60_000
    async with (
        answering(written("200 OK\r\ncontent-encoding: gzip", bomb)) as port,
        with_http(max_bytes=100_000) as tp,
    ):
        with pytest.raises(ToolFailed, match="more than 100000 bytes"):
            await tp.call("http.get", {"url": f"http://localhost:{port}/"})


async def test_only_hosts_that_are_named_are_reached():
    async with answering(written("200 OK", b"inside")) as port:
        async with with_http(hosts=["api.example.org"]) as tp:
            for url in (
                f"http://127.0.0.1:{port}/",
                f"http://localhost:{port}/",
                f"http://api.example.org.evil:{port}",
            ):
                with pytest.raises(ToolFailed, match="none of the hosts"):
                    await tp.call("http.get", {"url": url})
        async with with_http(hosts=["*"], allow=[]) as tp:
            with pytest.raises(ToolFailed, match="not public"):
                await tp.call("http.get", {"url": f"http://127.0.0.1:{port}/"})


def forms_of(address: tuple[int, int, int, int], rng: random.Random) -> str:
    """An IPv4 address, in one of the ways in which libraries read one."""
    a, b, c, d = address
    number = (a << 24) | (b << 16) | (c << 8) | d
    return rng.choice(
        [
            f"{a}.{b}.{c}.{d}",
            f"{a}.{b}.{c}.{d}.",
            str(number),
            hex(number),
            oct(number).replace("o", ""),
            f"{a}.{b}.{(c << 8) | d}",
            f"{a}.{(b << 16) | (c << 8) | d}",
            f"0x{a:x}.0{b:o}.{c}.{d}",
            f"[::ffff:{a}.{b}.{c}.{d}]",
            f"[::ffff:{(a << 8) | b:x}:{(c << 8) | d:x}]",
            f"[64:ff9b::{(a << 8) | b:x}:{(c << 8) | d:x}]",
            f"[2002:{(a << 8) | b:x}:{(c << 8) | d:x}::1]",
            "".join(chr(0xFF10 + int(digit)) if digit.isdigit() else digit for digit in f"{a}.{b}.{c}.{d}"),
            f"{a}。{b}。{c}。{d}",
        ]
    )


def closed(rng: random.Random) -> tuple[int, int, int, int]:
    """An address of this machine, a private network, a link, or of where clouds tell who one is."""
    byte = rng.randrange
    return rng.choice(
        [
            (127, byte(256), byte(256), byte(1, 255)),
            (10, byte(256), byte(256), byte(256)),
            (172, byte(16, 32), byte(256), byte(256)),
            (192, 168, byte(256), byte(256)),
            (169, 254, 169, 254),
            (169, 254, byte(256), byte(256)),
            (100, byte(64, 128), byte(256), byte(256)),
            (0, 0, 0, byte(256)),
            (224, byte(256), byte(256), byte(256)),
        ]
    )


async def test_no_form_of_a_closed_address_is_reached_however_the_url_is_written():
    rng = random.Random(11)
    dressed = [
        "http://{host}:{port}/",
        "http://{host}:{port}\\@api.example.org/",
        "http://{host}:{port}#@api.example.org/",
        "http://api.example.org@{host}:{port}/",
        "http://api.example.org%2f@{host}:{port}/",
        "HTTP://{host}:{port}/?u=http://api.example.org",
        "http:///{host}:{port}/",
        "http://{host}%00.example.org:{port}/",
    ]
    async with answering(written("200 OK", b"inside")) as port, with_http(hosts=["*"], allow=[]) as tp:
        for _ in range(150):
            url = rng.choice(dressed).format(host=forms_of(closed(rng), rng), port=port)
            tool = rng.choice([("http.get", {}), ("http.request", {"method": "HEAD"})])
            with pytest.raises(ToolFailed) as caught:
                await tp.call(tool[0], {"url": url, "timeout": 5, **tool[1]})
            assert "inside" not in str(caught.value), url


async def test_a_name_of_a_closed_address_is_refused_whatever_it_looks_like():
    rng = random.Random(12)
    for _ in range(300):
        host = forms_of(closed(rng), rng).strip("[]")
        try:
            found = await Reach(only=("*",)).addresses(host, 80)
        except (HostRefused, ToolFailed):
            continue
        raise AssertionError(f"{host} is reached at {found}")
