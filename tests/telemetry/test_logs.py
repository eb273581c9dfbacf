"""Log lines: JSON with run and step, of every library, without any secret."""

from __future__ import annotations

import io
import json
import logging
from collections.abc import Iterator
from typing import Any

import pytest
import structlog
from tests.access.access_cases import bearer, guarded
from tests.telemetry.telemetry_cases import ASKING, PLAN, desk_of
from websockets.asyncio.client import connect
from websockets.exceptions import InvalidStatus

from toolpath import Settings, Toolpath
from toolpath.model.redaction import Redactor
from toolpath.telemetry.logs import RunLog, set_up_logs
from toolpath.telemetry.watch import Watch


class Log:
    """What was written."""

    def __init__(self, *, level: str = "info", as_json: bool = True) -> None:
        self.stream = io.StringIO()
        self.redactor = Redactor(["s3cr3t-value", 'quo"ted\nsecret'])
        set_up_logs(level=level, as_json=as_json, redact=self.redactor.text, stream=self.stream)

    @property
    def text(self) -> str:
        return self.stream.getvalue()

    @property
    def lines(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.text.splitlines()]

    def events(self) -> list[str]:
        return [line["event"] for line in self.lines]


@pytest.fixture(autouse=True)
def logging_as_it_was() -> Iterator[None]:
    root = logging.getLogger()
    handlers, level = list(root.handlers), root.level
    yield
    root.handlers[:] = handlers
    root.setLevel(level)
    structlog.reset_defaults()


async def test_what_becomes_of_a_run_is_logged_with_its_ids() -> None:
    log = Log()
    async with desk_of(None, RunLog()) as tp:
        result = await tp.run(tp.read(PLAN))
    assert log.events() == ["run.started", "step.retrying", "step.failed", "run.completed"]
    started, retrying, failed, completed = log.lines
    assert {line["run_id"] for line in log.lines} == {result.run_id}
    assert (started["plan"], started["level"], started["logger"]) == ("letter", "info", "toolpath.runs")
    assert (retrying["step"], retrying["tool"], retrying["level"]) == ("flaky", "desk.flaky", "warning")
    assert (retrying["error_code"], retrying["error_message"]) == ("connection", "the line is busy")
    assert (failed["step"], failed["attempt"], failed["error"]) == ("lost", 1, "ValueError")
    assert failed["seconds"] >= 0
    assert completed["status"] == "completed_with_errors"
    assert all(line["timestamp"].endswith("Z") for line in log.lines)
    # The same words as on the command line and on the page.
    assert [line["text"] for line in log.lines] == [
        f"run {result.run_id} started: letter",
        "flaky attempt 1 failed, again in 0 s: the line is busy",
        "lost failed (continued): ValueError: it is lost",
        "run completed with errors",
    ]


async def test_a_line_of_text_begins_with_what_happened_and_obeys_no_tool() -> None:
    log = Log(as_json=False)

    def evil() -> str:
        """Fail loudly, with a secret."""
        raise ValueError("\x1b[31mred s3cr3t-value\x00")

    async with Toolpath(settings=Settings(), observer=Watch(RunLog())) as tp:
        tp.add(evil, effect="read")
        await tp.run({"steps": [{"id": "a", "tool": "evil"}]})
    (line,) = [line for line in log.text.splitlines() if "step.failed" in line]
    assert "a failed: ValueError: \\x1b[31mred [redacted]" in line
    assert line.index("a failed") < line.index("step.failed")
    assert "\x1b" not in line.partition("error_message")[0]


async def test_details_are_logged_only_where_they_are_wanted() -> None:
    log = Log(level="debug")
    async with desk_of(None, RunLog()) as tp:
        await tp.run(tp.read(ASKING))
    assert log.events() == ["run.started", "step.started", "step.succeeded", "approval.requested"]
    assert "dear ann" not in log.text, "inputs and outputs are never logged"


async def test_what_a_tool_logs_names_its_run_and_step() -> None:
    log = Log()

    async def talk(word: str) -> None:
        """Log something."""
        logging.getLogger("my.library").info("it says %s", word)
        structlog.get_logger("mine").info("spoken", word=word)

    def talk_in_thread() -> None:
        """Log something from a thread."""
        logging.getLogger("my.library").warning("from a thread")

    async with Toolpath(settings=Settings(), observer=Watch(RunLog())) as tp:
        tp.add(talk, talk_in_thread, effect="read")
        plan = {
            "steps": [
                {"id": "one", "tool": "talk", "inputs": {"word": "hello"}},
                {"id": "two", "tool": "talk_in_thread", "depends_on": ["one"]},
            ]
        }
        result = await tp.run(plan)
        logging.getLogger("my.library").info("after it all")
    said = [line for line in log.lines if line["logger"] in ("my.library", "mine")]
    assert [(line["event"], line.get("step")) for line in said] == [
        ("it says hello", "one"),
        ("spoken", "one"),
        ("from a thread", "two"),
        ("after it all", None),
    ]
    assert {line["run_id"] for line in said[:3]} == {result.run_id}


def test_no_secret_is_written_however_it_is_wrapped() -> None:
    for as_json in (True, False):
        log = Log(as_json=as_json)
        logger = structlog.get_logger("mine")
        logger.info("token s3cr3t-value", nested={"s3cr3t-value": ["x s3cr3t-value"]}, odd=ValueError("s3cr3t-value"))
        logger.info("quoted", text='a quo"ted\nsecret b', other=object())
        logging.getLogger("library").error("key %s and %r", "s3cr3t-value", {"key": 'quo"ted\nsecret'})
        try:
            raise RuntimeError("with s3cr3t-value")
        except RuntimeError:
            logging.getLogger("library").exception("it broke")
        assert "s3cr3t" not in log.text
        assert "nsecret" not in log.text
        assert "it broke" in log.text
        assert "RuntimeError" in log.text


def test_lines_are_one_object_each_and_text_is_for_people(monkeypatch: pytest.MonkeyPatch) -> None:
    log = Log()
    logging.getLogger("library").info("two\nlines and \x1b[31mred")
    assert len(log.lines) == 1
    words = Log(as_json=False)
    logging.getLogger("library").info("hello")
    assert "hello" in words.text
    assert "\x1b" not in words.text, "this stream is no terminal"


async def test_an_onlooker_that_fails_is_dropped_and_said_once() -> None:
    log = Log()

    class Broken(RunLog):
        def committed(self, *_: Any) -> None:
            raise RuntimeError("broken onlooker")

    async with desk_of(None, Watch(Broken(), RunLog())) as tp:
        assert (await tp.run(tp.read(PLAN))).status == "completed_with_errors"
    faults = [line for line in log.lines if line["logger"] == "toolpath.telemetry"]
    assert len(faults) == 1
    assert "broken onlooker" in faults[0]["exception"]
    assert log.events().count("run.completed") == 1, "the others go on"


async def test_a_websocket_that_is_refused_is_one_line() -> None:
    log = Log()
    async with guarded() as door:
        address = f"ws://{door.client.base_url.netloc.decode()}/graphql"
        with pytest.raises(InvalidStatus):
            await connect(address, additional_headers=bearer("tpk_a_b"))
        await door.client.get("/health")
    assert [(line["logger"], line["level"]) for line in log.lines if line["level"] != "info"] == [
        ("toolpath.access", "warning")
    ]
