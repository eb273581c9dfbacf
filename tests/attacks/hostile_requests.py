"""Requests for any route that are wrong in some way, by chance and by their seed: good ones, spoilt in places."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from random import Random
from typing import Any
from urllib.parse import quote

import msgspec
from tests.attacks.route_bodies import BYTES, FILES, NONE, QUERY, ROUTES
from tests.attacks.target import written

#: Stands in a body for text that is no JSON value: what comes after it is sent as it is.
_RAW = "\x01raw:"
_PATHS = (
    "../../etc/passwd",
    "..",
    ".",
    "/etc/passwd",
    "a/../../b",
    "C:\\x",
    "a//b",
    "%2e%2e",
    "..%2f..",
    "~root",
    "a\\..\\b",
)
_CRONS = (
    "0 0 31 2 *",
    "* * * * * *",
    "60 * * * *",
    "@reboot",
    "*/0 * * * *",
    "1-0 * * * *",
    "0 0 30 2 *",
    "* " * 50,
    "0 0 * * 8",
)
_TEXTS = (
    *("", " ", "\x00", "a\x00b", "\ud800", "a\udfffb", "\u202eabc", "\r\nX-A: b", "\x1b[31m"),
    *("{{ inputs }}", "{{ secrets.KEY }}", "{{", "{% for %}", "<<x>>", "<<<<x>>>>", "<<", "<<" * 500),
    *("<script>", "' or 1=1 --", "NaN", "null", "run_1:", ":", "run_x:a:b", "run_1:" + "a:" * 500),
    *("sha256:" + "0" * 64, "Mars/Olympus", "../../etc/localtime", "1" * 400, "-1", "1e999", "[]", "__proto__"),
    *("é" * 300, "𝄞", "a" * 250, "a" * 70_000, "a.b.c", "*", "%", "_", "tool", "echo", "system", "true", "2024-02-30"),
)
_NUMBERS = (
    0,
    -1,
    1,
    2,
    1.5,
    -0.0,
    5e-324,
    1e308,
    2**31,
    2**31 - 1,
    2**32,
    2**53,
    2**53 + 1,
    2**63 - 1,
    2**63,
    2**64,
    -(2**63) - 1,
)
_RAWS = ("NaN", "Infinity", "-Infinity", "1e400", "9" * 5_000, "01", "'a'", '"\\ud800"', '"\\u0000"', "[" * 20_000, "")


class Asked(msgspec.Struct, frozen=True):
    """One request."""

    method: str
    path: str
    content: bytes
    heads: dict[str, str]


class Requests:
    """Maker of requests. `known`: ids of things that are there, by their names."""

    def __init__(
        self, chance: Random, known: dict[str, list[str]], routes: Sequence[tuple[str, str, Any]] = ROUTES
    ) -> None:
        self._chance = chance
        self._known = known
        self._routes = routes

    def next(self) -> Asked:
        """Any request."""
        chance = self._chance
        method, path, body = chance.choice(self._routes)
        heads: dict[str, str] = {}
        content = self._content(body, heads)
        if chance.random() < 0.03:
            method = chance.choice(("GET", "POST", "PUT", "DELETE", "PATCH", "OPTIONS", "HEAD"))
        if chance.random() < 0.1:
            name = chance.choice(
                ("Idempotency-Key", "Last-Event-ID", "Accept", "Content-Type", "If-Match", "Authorization")
            )
            text = chance.choice(
                (*_TEXTS, "text/event-stream", "application/json; charset=utf-7", "multipart/form-data", "Bearer x")
            )
            heads[name] = (
                text.encode("latin-1", "ignore").decode("latin-1").translate(dict.fromkeys(range(32)))[:8_000].strip()
            )
        return Asked(method, self._path(path), content, heads)

    def _path(self, path: str) -> str:
        whole = "/".join(self._part(part) for part in path.split("/"))
        if self._chance.random() < 0.3:
            pairs = [(self._chance.choice(QUERY), self._query_text()) for _ in range(self._chance.choice((1, 1, 2, 5)))]
            whole += "?" + "&".join(f"{quote(name)}={quote(text)}" for name, text in pairs)
        return whole[:40_000]

    def _part(self, part: str) -> str:
        if not part.startswith("{"):
            return part
        return quote(self._name(part[1:-1]), safe="" if self._chance.random() < 0.9 else "/:")

    def _name(self, what: str) -> str:
        chance = self._chance
        known = self._known.get(what) or ["none"]
        if chance.random() < 0.75:
            name = chance.choice(known)
            if what == "run_id" and chance.random() < 0.3:
                name += ":" + chance.choice(
                    ("a", "e", "l", "form", "a/round[1]", "a:b", "", ":", *_PATHS, *_TEXTS[:20])
                )
        else:
            name = chance.choice((*_TEXTS, *_PATHS))
        return name.encode("utf-8", "replace").decode()[:6_000] or "x"

    def _query_text(self) -> str:
        text = str(self._chance.choice((*_TEXTS, *_PATHS, *_NUMBERS, "10", "5", "0.1", "running", *self._ids())))
        return text.encode("utf-8", "replace").decode()[:6_000]

    def _ids(self) -> list[str]:
        return [names[-1] for names in self._known.values() if names]

    def _content(self, body: Any, heads: dict[str, str]) -> bytes:
        if body is NONE:
            return b"" if self._chance.random() < 0.95 else self._json({}, heads)
        if body is FILES:
            return self._files(heads)
        if body is BYTES:
            return bytes([self._chance.randrange(256)]) * self._chance.choice((0, 1, 1_000, 300_000))
        return self._json(self._filled(body), heads)

    def _json(self, body: Any, heads: dict[str, str]) -> bytes:
        heads["Content-Type"] = "application/json"
        for _ in range(self._chance.choice((0, 1, 1, 1, 2, 3))):
            body = self._spoilt(body)
        text = written(body)
        while (at := text.find(b'"\\u0001raw:')) >= 0:
            end = text.index(b'\\u0001"', at)
            text = text[:at] + bytes.fromhex(text[at + 11 : end].decode()) + text[end + 7 :]
        if self._chance.random() < 0.02:
            text = text[: self._chance.randrange(len(text) + 1)]
        return text

    def _filled(self, value: Any) -> Any:
        """The body with names of things that are there."""
        match value:
            case str() if value.startswith("{") and value.endswith("}") and " " not in value:
                return self._name(value[1:-1])
            case dict():
                return {key: self._filled(one) for key, one in value.items()}
            case list():
                return [self._filled(one) for one in value]
            case _:
                return value

    def _spoilt(self, value: Any) -> Any:
        """The value, in which one part is another one."""
        chance = self._chance
        if isinstance(value, dict) and value and chance.random() < 0.9:
            key = chance.choice(list(value))
            match chance.randrange(10):
                case 0:
                    return {name: one for name, one in value.items() if name != key}
                case 1:
                    return {**value, chance.choice((*_TEXTS, key.upper(), key + "x")): value[key]}
                case _:
                    return {**value, key: self._spoilt(value[key])}
        if isinstance(value, list) and value and chance.random() < 0.85:
            place = chance.randrange(len(value))
            match chance.randrange(8):
                case 0:
                    return value * chance.choice((2, 300))
                case 1:
                    return [*value, self.anything()]
                case _:
                    return [*value[:place], self._spoilt(value[place]), *value[place + 1 :]]
        return self.anything()

    def anything(self) -> Any:
        """Any value."""
        chance = self._chance
        makers: tuple[Callable[[], Any], ...] = (
            lambda: None,
            lambda: chance.choice((True, False)),
            lambda: chance.choice(_NUMBERS),
            lambda: chance.choice(_NUMBERS),
            lambda: chance.choice(_TEXTS),
            lambda: chance.choice(_TEXTS),
            lambda: chance.choice(_PATHS),
            lambda: chance.choice(_CRONS),
            lambda: chance.choice(self._ids() or ["x"]),
            lambda: chance.choice(([], {}, [[]], [None], {"": None}, {"a": {}}, [{}])),
            lambda: {f"k{number}": number for number in range(chance.choice((3, 10_000)))},
            lambda: [chance.choice((1, "a", None))] * chance.choice((3, 20_000)),
            lambda: _nested(chance.choice((30, 300, 3_000, 100_000)), lists=chance.random() < 0.5),
            lambda: {chance.choice(_TEXTS): chance.choice(_TEXTS)},
            lambda: _raw(chance.choice(_RAWS)),
            lambda: "a" * chance.choice((1_000, 300_000, 3_000_000)),
        )
        return chance.choice(makers)()

    def _files(self, heads: dict[str, str]) -> bytes:
        """Parts of a form, whole or broken."""
        chance = self._chance
        mark = chance.choice(("x", "x", "x", "-" * 70, "a" * 500))
        heads["Content-Type"] = chance.choice(
            (f"multipart/form-data; boundary={mark}",) * 6 + ("multipart/form-data", "multipart/mixed; boundary=", "")
        )
        parts = []
        for number in range(chance.choice((0, 1, 1, 2, 3, 30, 2_000))):
            name = chance.choice((*_PATHS, *_TEXTS, "a.txt", "b.csv", f"f{number}.txt", "con", "a.exe", ".htaccess"))
            name = name.encode("utf-8", "replace").decode()
            if chance.random() < 0.8:
                name = name.replace("\r", "").replace("\n", "").replace('"', "'")
            charset = chance.choice(("utf-8", "utf-8", "idna", "punycode", "undefined", "rot13", "a\x00b", "latin-1"))
            field = chance.choice(("files", "files", "files", "file", "", "x", "uploadKey"))
            head = chance.choice(
                (
                    f'Content-Disposition: form-data; name="{field}"; filename="{name}"',
                    f'Content-Disposition: form-data; name="{field}"; filename="{name}"',
                    f'Content-Disposition: form-data; name="{field}"',
                    f"Content-Disposition: form-data; filename*={charset}''{quote(name)}; name=\"{field}\"",
                    "Content-Disposition: form-data",
                    "X: " + "a" * chance.choice((10, 100_000)),
                    "",
                )
            )
            data = chance.choice(
                (b"", b"x", b"\x00" * 1_000, b"\r\n--" + mark.encode() + b"\r\n", b"PK\x03\x04" + b"\x00" * 50)
            )
            parts.append(f"--{mark}\r\n{head}\r\n\r\n".encode("utf-8", "replace") + data + b"\r\n")
        whole = b"".join(parts) + chance.choice((f"--{mark}--\r\n".encode(),) * 5 + (b"", b"--"))
        return whole if chance.random() < 0.9 else whole[: chance.randrange(len(whole) + 1)]


def _nested(depth: int, *, lists: bool) -> str:
    """So deep a value, as it is written."""
    opening, closing = ("[", "]") if lists else ('{"a":', "}")
    return _raw(opening * depth + "1" + closing * depth)


def _raw(text: str) -> str:
    return _RAW + text.encode().hex() + "\x01"


def found_ids(value: Any) -> dict[str, str]:
    """Ids of things in an answer, by their names."""
    found: dict[str, str] = {}
    todo = [value]
    while todo:
        one = todo.pop()
        if isinstance(one, dict):
            for key, inner in one.items():
                name = _NAMES.get(key, key if key.endswith("_id") else "")
                if name and isinstance(inner, str) and inner:
                    found[name] = inner
            todo += one.values()
        elif isinstance(one, list):
            todo += one[:50]
    return found


_NAMES = {
    "planTemplateId": "template_id",
    "planId": "run_id",
    "conversationId": "conversation_id",
    "uploadKey": "upload_id",
    "title": "title",
    "$blob": "digest",
}


def said(text: bytes) -> Any:
    """What an answer says as JSON; None where it is none."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None
