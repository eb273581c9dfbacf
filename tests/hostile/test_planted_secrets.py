"""Secrets that tools bring back in every place and form: none is found in the store, the log, a trace or an answer."""

from __future__ import annotations

import base64
import html
import io
import json
import logging
import os
import random
import string
import urllib.parse
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import structlog
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from tests.soak import scaled
from tests.store.store_cases import dropped, postgres_connection, postgres_url

from toolpath import PlanInvalid, Settings, ToolContext, ToolFailed, Toolpath, ToolRetry
from toolpath.errors import SchemaError
from toolpath.model.events import encode_event
from toolpath.model.plan import Cache
from toolpath.model.redaction import Redactor
from toolpath.model.tool import ToolResult
from toolpath.telemetry.logs import RunLog, set_up_logs
from toolpath.telemetry.traces import Traces
from toolpath.telemetry.watch import Watch

ODD = "/+&<>\"'\\ %=?#é€\n\t~!*()_-.;:@$"
FORMS: dict[str, Callable[[str], str]] = {
    "plain": str,
    "base64": lambda s: base64.b64encode(s.encode()).decode(),
    "urlsafe": lambda s: base64.urlsafe_b64encode(s.encode()).decode(),
    "basic, first place": lambda s: base64.b64encode(f"usr{s}:".encode()).decode(),
    "basic, second place": lambda s: base64.b64encode(f"user{s}".encode()).decode(),
    "basic, third place": lambda s: base64.b64encode(f"user:{s}:more".encode()).decode(),
    "quoted": urllib.parse.quote,
    "quoted wholly": lambda s: urllib.parse.quote(s, safe=""),
    "quoted in a form": urllib.parse.quote_plus,
    "quoted twice": lambda s: urllib.parse.quote(urllib.parse.quote(s)),
    "quoted by a browser": lambda s: urllib.parse.quote(s, safe="!'()*~"),
    "html": html.escape,
    "html, quotes kept": lambda s: html.escape(s, quote=False),
    "html, by number": lambda s: "".join(c if c.isascii() and c.isalnum() else f"&#{ord(c)};" for c in s),
    "json": json.dumps,
    "json in json": lambda s: json.dumps(json.dumps({"a": s})),
    "json, slashes": lambda s: json.dumps(s, ensure_ascii=False).replace("/", "\\/"),
    "python": repr,
    "bytes of python": lambda s: repr(s.encode()),
    "hex": lambda s: s.encode().hex(),
    "hex in capitals": lambda s: s.encode().hex().upper(),
    "url in html": lambda s: html.escape(urllib.parse.quote(s, safe="'&")),
}


def secret_of(rng: random.Random) -> str:
    """A secret with odd characters, or a number."""
    if rng.random() < 0.2:
        return str(rng.randrange(10**9, 10**14))
    alphabet = string.ascii_letters + string.digits
    return "".join(rng.choice(alphabet if rng.random() < 0.75 else ODD) for _ in range(rng.randint(9, 48))) + "Zq7x"


class Leaks:
    """Tools that tell what they were given, each in a way of its own."""

    def __init__(self, rng: random.Random) -> None:
        self.rng = rng
        self.said: set[str] = set()
        """What was told, in the forms in which it was."""

    def form(self, key: str) -> Any:
        if key.isdecimal() and self.rng.random() < 0.5:
            self.said.add(key)
            return int(key)
        told = FORMS[self.rng.choice(list(FORMS))](key)
        self.said.add(told)
        return told

    def hidden(self, key: str) -> Any:
        """The form somewhere in a value."""
        value = self.form(key)
        for _ in range(self.rng.randint(0, 4)):
            match self.rng.randrange(4):
                case 0:
                    value = [value, self.rng.random()]
                case 1:
                    value = {"in": value, "n": None}
                case 2:
                    value = {f"name {self.form(key)}": value}
                case _:
                    value = [f"a text with {self.form(key)} in it", value]
        return value

    def near_a_cut(self, key: str) -> str:
        """So that the form lies across the places where texts are cut."""
        cut = self.rng.choice((200, 500, 1_000, 2_000, 4_000, 10_000))
        return "x" * (cut - self.rng.randint(1, 12)) + str(self.form(key)) + "y" * 50

    async def small(self, key: str) -> Any:
        logging.getLogger("leaky").warning("used %s", self.form(key))
        return self.hidden(key)

    async def large(self, key: str) -> Any:
        return ["filling " * 40, self.hidden(key), self.near_a_cut(key), self.hidden(key)]

    async def first(self, key: str) -> Any:
        return [self.hidden(key), "filling " * 400]

    async def result(self, key: str) -> Any:
        return ToolResult(output=self.hidden(key), sources=[self.hidden(key), {"url": self.form(key)}], confidence=0.9)

    async def promised(self, key: str) -> Any:
        return {"n": f"{self.near_a_cut(key)}"}

    async def raises(self, key: str) -> Any:
        kind = type(str(self.form(key)), (self.rng.choice((ValueError, ConnectionError, SystemExit)),), {})
        raise kind(self.near_a_cut(key))

    async def fails(self, key: str) -> Any:
        kind = self.rng.choice((ToolFailed, ToolRetry))
        raise kind(self.near_a_cut(key), details=self.hidden(key), hint=str(self.form(key)))

    async def says_so(self, key: str) -> Any:
        return {"success": False, "error": self.rng.choice((self.near_a_cut(key), [self.near_a_cut(key)]))}

    async def reports(self, context: ToolContext, key: str) -> Any:
        context.progress(int(key) if key.isdecimal() else 1, None, self.near_a_cut(key))
        return {"ok": True}

    async def calls(self, context: ToolContext, key: str) -> Any:
        found = [await context.call("leaky.small", {"key": key})]
        for tool in ("leaky.raises", "leaky.fails"):
            try:
                found.append(await context.call(tool, {"key": key}))
            except ToolFailed as error:
                found.append(str(error))
        try:
            await context.call("leaky.small", {"key": key}, key=f"call {key}")
        except ToolFailed as error:
            found.append(str(error))
        return found

    async def asks(self, context: ToolContext, key: str) -> Any:
        field = {"name": "a", "label": str(self.form(key)), "options": [str(self.form(key)), "yes"]}
        return await context.ask({"title": self.near_a_cut(key), "inputs": [field]})

    def into(self, tp: Toolpath) -> None:
        for name in STEPS:
            tp.add(getattr(self, name), group="leaky", name=name, effect="read", **MORE.get(name, {}))


STEPS = ("small", "large", "first", "result", "promised", "raises", "fails", "says_so", "reports", "calls", "asks")


MORE: dict[str, Any] = {
    "promised": {"output_schema": {"type": "object", "properties": {"n": {"type": "integer"}}}},
    "small": {"cache": Cache(ttl=300)},
    "first": {"cache": Cache(ttl=300)},
}


def plan(rng: random.Random) -> dict[str, Any]:
    """Some of the tools, in some order, what they gave handed on."""
    steps: list[dict[str, Any]] = []
    for name in rng.sample(STEPS, k=6):
        step: dict[str, Any] = {
            "id": name,
            "tool": f"leaky.{name}",
            "inputs": {"key": "{{ secrets.KEY }}"},
            "critical": False,
            "retry": {"max_retries": rng.randint(0, 1), "initial_delay": 0},
        }
        if name == "promised":
            step["output_validation"] = rng.choice(("warn", "strict"))
        if rng.random() < 0.3:
            step["fallback"] = {"tool": f"leaky.{rng.choice(STEPS[:4])}", "inputs": {"key": "{{ secrets.KEY }}"}}
        steps.append(step)
    return {"name": "leaky", "failure_mode": "isolate", "steps": steps}


@pytest.fixture(autouse=True)
def logging_as_it_was() -> Iterator[None]:
    root = logging.getLogger()
    handlers, level = list(root.handlers), root.level
    yield
    root.handlers[:] = handlers
    root.setLevel(level)
    structlog.reset_defaults()


class Everything:
    """A Toolpath of which all that is written can be looked through."""

    def __init__(self, store: str | Path, seed: int) -> None:
        self.rng = random.Random(seed)
        self.secret = secret_of(self.rng)
        self.leaks = Leaks(self.rng)
        self.spans = InMemorySpanExporter()
        provider = TracerProvider(shutdown_on_exit=False)
        provider.add_span_processor(SimpleSpanProcessor(self.spans))
        self.tp = Toolpath(
            store,
            settings=Settings(max_result_size=2_000, audit=True),
            secrets={"KEY": self.secret},
            observer=Watch(RunLog(), Traces(provider, content=True)),
        )
        self.leaks.into(self.tp)
        self.log = io.StringIO()
        set_up_logs(level="debug", as_json=True, redact=self.tp.redact, stream=self.log)

    async def run(self) -> str:
        """Run a plan of leaky tools; gives all that is said of it."""
        tp, said = self.tp, []
        run = await tp.start(tp.read(plan(self.rng)))
        result = await run.result()
        for question in result.questions:
            told = {"a": "yes"} if self.rng.random() < 0.5 else {"a": self.secret}
            said.append(repr(question))
            try:
                await tp.answer(result.run_id, question.path, told)
            except SchemaError as error:
                said.append(tp.redact(str(error)))
                await tp.answer(result.run_id, question.path, {"a": "yes"})
        result = await run.result()
        said += [json.dumps(result.as_json(), ensure_ascii=False), repr(result.questions), repr(result.warnings)]
        said += [encode_event(event).decode() for event in await tp.events(result.run_id)]
        said += [repr(span.to_json()) + repr(span.attributes) for span in self.spans.get_finished_spans()]
        said.append(self.log.getvalue())
        return "\n".join(said)

    def assert_told_nowhere(self, what: str, written: str | bytes) -> None:
        """Neither the secret, nor a form in which it was told, nor most of one."""
        told = {self.secret, *self.leaks.said}
        needles = {
            piece for form in told for piece in (form, form[: max(8, len(form) * 2 // 3)], json.dumps(form)[1:-1])
        }
        for needle in needles:
            found = (needle in written) if isinstance(written, str) else (needle.encode() in written)
            assert not found, (what, self.secret, needle)


def bytes_of(store: Path) -> bytes:
    return b"".join(path.read_bytes() for path in sorted(store.parent.glob(f"{store.name}*")))


async def told_nowhere_by_sqlite(seed: int, folder: Path) -> None:
    store = folder / f"runs{seed}.db"
    every = Everything(store, seed)
    async with every.tp:
        said = await every.run()
        every.assert_told_nowhere("answers", said)
        every.assert_told_nowhere("store, in use", bytes_of(store))
    every.assert_told_nowhere("store", bytes_of(store))
    assert "[redacted]" in said


@pytest.mark.parametrize("seed", range(25))
async def test_no_secret_is_found_in_a_file_a_log_a_trace_or_an_answer(seed: int, tmp_path: Path) -> None:
    await told_nowhere_by_sqlite(seed, tmp_path)


@pytest.mark.soak
@pytest.mark.parametrize("first", range(1_000, 2_000, 100))
async def test_no_secret_is_found_anywhere_in_many_runs(first: int, tmp_path: Path) -> None:
    for seed in range(first, first + scaled(100)):
        await told_nowhere_by_sqlite(seed, tmp_path)


@pytest.mark.postgres
async def test_no_secret_is_found_in_a_row_of_postgres() -> None:
    schema = f"secrets_{os.getpid()}"
    try:
        for seed in range(100, 106):
            await dropped(schema)
            every = Everything(postgres_url(schema), seed)
            async with every.tp:
                every.assert_told_nowhere("answers", await every.run())
                connection = await postgres_connection()
                try:
                    tables = await connection.fetch("select tablename from pg_tables where schemaname = $1", schema)
                    for (table,) in tables:
                        rows = await connection.fetch(f'select t::text from "{schema}"."{table}" t')
                        every.assert_told_nowhere(table, "\n".join(text for (text,) in rows))
                finally:
                    await connection.close()
    finally:
        await dropped(schema)


@pytest.mark.parametrize("form", FORMS)
def test_every_form_is_found_in_text_keys_and_values(form: str) -> None:
    rng = random.Random(form)
    for _ in range(40):
        secret = secret_of(rng)
        redactor, told = Redactor([secret, secret_of(rng)]), FORMS[form](secret)
        assert told not in redactor.text(f"before {told} after")
        assert told not in json.dumps(redactor.value({"a": [f"x{told}", {f"{told}y": 1}]}), ensure_ascii=False)


def test_what_holds_no_secret_stays_as_it_is() -> None:
    redactor = Redactor(["hunter2hunter2", "12345678", "a/b+c d&e"])
    value = {"a": ["hunter", 1234567, "SHVudGVyMg==", None, True], "b": {"c": 12.5}}
    assert redactor.value(value) is value
    assert redactor.value([12345678, 12345678.0, -12345678, 912345678]) == ["[redacted]"] * 4
    assert Redactor(["1234"]).value([1234, 12345, "12345"]) == ["[redacted]", 12345, "[redacted]5"]


def test_a_secret_inside_another_goes_with_it() -> None:
    assert Redactor(["inner-one", "the inner-one of all"]).text("<the inner-one of all>") == "<[redacted]>"
    assert Redactor(["abcdefgh", "efghijkl"]).text("abcdefghijkl") == "[redacted]"


async def test_inputs_with_a_secret_begin_no_run() -> None:
    asking = {
        "inputs": {"type": "object", "properties": {"q": {"type": "string", "maxLength": 3}}},
        "steps": [{"tool": "leaky.small", "inputs": {"key": "{{ secrets.KEY }}"}}],
    }
    async with Toolpath(secrets={"KEY": "hunter2hunter2"}) as tp:
        Leaks(random.Random(1)).into(tp)
        with pytest.raises(PlanInvalid) as raised:
            await tp.run(tp.read(asking), {"q": "it is hunter2hunter2"})
        assert "hunter2" not in str(raised.value)
        assert [finding.path for finding in raised.value.findings] == ["/inputs/q"]
