"""The doctor says what matters first: what is broken, what can be reached, then what is set and by whom."""

from __future__ import annotations

import socket
import threading
from pathlib import Path

import pytest
from cli_cases import Command, shop, toolpath

__all__ = ["shop", "toolpath"]


@pytest.fixture
def closed_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as free:
        return int(free.getsockname()[1])


def verdicts(ran_json: dict) -> dict[str, tuple[str, str]]:  # type: ignore[type-arg]
    return {remark["subject"]: (remark["verdict"], remark["text"]) for remark in ran_json["remarks"]}


def test_what_is_broken_comes_first_then_what_is_set_then_the_parts_and_no_defaults(
    toolpath: Command, monkeypatch: pytest.MonkeyPatch, closed_port: int
) -> None:
    monkeypatch.setenv("TOOLPATH_QUEUE", f"amqp://user:s3cr3t@127.0.0.1:{closed_port}/")
    monkeypatch.setenv("TOOLPATH_PARALEL", "7")
    ran = toolpath("doctor")
    assert ran.code == 1
    lines = ran.out.splitlines()
    assert lines[0].startswith(f"no queue: amqp://[redacted]@127.0.0.1:{closed_port}/: cannot be reached")
    assert lines[1] == "Settings that are given"
    parts = next(number for number, line in enumerate(lines) if line.startswith("!! TOOLPATH_PARALEL"))
    assert lines[parts + 1].startswith("ok store:")
    assert any(line.startswith("   tools = ") and line.endswith("toolpath.toml") for line in lines[2:parts])
    assert "Defaults" not in lines
    assert "Defaults" in toolpath("doctor", "--verbose").out
    assert "s3cr3t" not in ran.out


def test_a_queue_that_is_not_asked_for_is_no_fault(toolpath: Command) -> None:
    found = verdicts(toolpath("doctor", "--json").json)
    assert found["queue"][0] == found["model"][0] == found["traces"][0] == "good"


def test_a_collector_is_looked_for(toolpath: Command, monkeypatch: pytest.MonkeyPatch, closed_port: int) -> None:
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", f"http://127.0.0.1:{closed_port}")
    # The command's own spans go nowhere, and are not waited for.
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_TIMEOUT", "1")
    verdict, text = verdicts(toolpath("doctor", "--json").json)["traces"]
    assert verdict == "warning"
    assert "cannot be reached" in text
    with socket.create_server(("127.0.0.1", closed_port)) as server:

        def accept() -> None:
            server.accept()[0].close()

        accepting = threading.Thread(target=accept)
        accepting.start()
        assert verdicts(toolpath("doctor", "--json").json)["traces"][0] == "good"
        accepting.join()


@pytest.mark.parametrize(
    ("env", "verdict", "said"),
    [
        ({"TOOL_PLANNER_LLM": "anthropic", "ANTHROPIC_API_KEY": ""}, "warning", "ANTHROPIC_API_KEY is not set"),
        ({"TOOL_PLANNER_LLM": "anthropic", "ANTHROPIC_API_KEY": "k-s3cr3t"}, "good", "its key is set"),
        ({"TOOL_PLANNER_LLM": "antropic"}, "warning", "Did you mean 'anthropic'"),
    ],
)
def test_a_model_that_cannot_be_asked_is_told_of(
    toolpath: Command, monkeypatch: pytest.MonkeyPatch, env: dict[str, str], verdict: str, said: str
) -> None:
    monkeypatch.delenv("ANTHROPIC_BASE_URL", raising=False)
    for name, value in env.items():
        monkeypatch.setenv(name, value)
    ran = toolpath("doctor", "--json")
    assert verdicts(ran.json)["model"][0] == verdict
    assert said in verdicts(ran.json)["model"][1]
    assert "s3cr3t" not in ran.out


def test_a_store_that_is_no_store_is_bad(toolpath: Command) -> None:
    Path("runs.db").write_bytes(b"not a database" * 100)
    ran = toolpath("doctor")
    assert ran.code == 1
    assert ran.out.startswith("no store: runs.db")
