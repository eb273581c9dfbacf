"""The standard variables switch tracing on: spans reach a collector, and the servers of tools learn of the trace."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from tests.patience import PATIENCE
from tests.prepared.prepared import prepared
from tests.telemetry.collector import collecting

from toolpath import RunContext, Toolpath
from toolpath.config import Settings
from toolpath.errors import ConfigError
from toolpath.providers.builtin.http import HttpLimits, http_tools
from toolpath.providers.builtin.reach import Reach
from toolpath.telemetry.exporters import traces_wanted
from toolpath.telemetry.telemetry import for_command

SERVER = Path(__file__).parent.parent / "servers" / "trace_server.py"
PARENT = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"


def toolpath(folder: Path, *arguments: str, **env: str) -> subprocess.CompletedProcess[str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith("OTEL_")}
    command = prepared("toolpath", *arguments)
    settings: Any = {"cwd": folder, "env": {**kept, **env}}
    return subprocess.run(command, **settings, capture_output=True, text=True, timeout=PATIENCE, check=False)


def write_servers(folder: Path) -> None:
    entry = {"command": sys.executable, "args": [str(SERVER)]}
    (folder / "mcp.json").write_text(json.dumps({"mcpServers": {"trace": entry}}))


def test_a_commands_spans_reach_the_collector_and_its_servers_are_told(tmp_path: Path) -> None:
    write_servers(tmp_path)
    with collecting() as collector:
        ran = toolpath(
            tmp_path,
            "tools",
            "call",
            "trace.meta",
            OTEL_EXPORTER_OTLP_ENDPOINT=collector.address,
            OTEL_EXPORTER_OTLP_HEADERS="x-key=open-sesame",
            OTEL_SERVICE_NAME="desk",
        )
        assert ran.returncode == 0, ran.stderr
        call = collector.one("execute_tool trace.meta")
        run = next(span for span in collector.spans if span.name.startswith("invoke_workflow"))
        sent = next(span for span in collector.spans if span.name.endswith("tools/call meta"))
    assert collector.service() == "desk"
    assert collector.headers[0]["x-key"] == "open-sesame"
    assert (call.parent_span_id, sent.parent_span_id) == (run.span_id, call.span_id)
    told = json.loads(ran.stdout)["meta"]["traceparent"]
    assert told == f"00-{run.trace_id.hex()}-{sent.span_id.hex()}-01"
    kinds = {a.key: a.value.string_value for a in call.attributes}
    assert (kinds["gen_ai.operation.name"], kinds["gen_ai.tool.type"]) == ("execute_tool", "extension")


def test_a_collector_that_is_away_does_not_stop_a_command(tmp_path: Path) -> None:
    write_servers(tmp_path)
    ran = toolpath(
        tmp_path,
        "tools",
        "call",
        "trace.meta",
        OTEL_EXPORTER_OTLP_ENDPOINT="http://127.0.0.1:1",
        OTEL_EXPORTER_OTLP_TIMEOUT="1",
    )
    assert ran.returncode == 0, ran.stderr


def test_variables_that_cannot_be_meant_are_told_and_do_not_stop_a_command(tmp_path: Path) -> None:
    write_servers(tmp_path)
    ran = toolpath(tmp_path, "tools", "call", "trace.meta", OTEL_TRACES_EXPORTER="oltp")
    assert ran.returncode == 0, ran.stderr
    assert "Nothing is traced: OTEL_TRACES_EXPORTER names the exporter 'oltp'" in ran.stderr
    assert "Did you mean 'otlp'" in ran.stderr


def test_without_the_variables_nothing_is_loaded_for_tracing() -> None:
    script = (
        "import sys, asyncio\n"
        "from toolpath import Settings\n"
        "from toolpath.telemetry.telemetry import for_command\n"
        "assert for_command(Settings(), {}).observer is None\n"
        "heavy = ('opentelemetry', 'structlog', 'prometheus_client')\n"
        "print([name for name in sys.modules if name.split('.')[0] in heavy])"
    )
    ran = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert ran.stdout == "[]\n"


@pytest.mark.parametrize(
    ("env", "wanted"),
    [
        ({}, ()),
        ({"OTEL_TRACES_EXPORTER": "none", "OTEL_EXPORTER_OTLP_ENDPOINT": "http://x"}, ()),
        ({"OTEL_SDK_DISABLED": "TRUE", "OTEL_EXPORTER_OTLP_ENDPOINT": "http://x"}, ()),
        ({"OTEL_EXPORTER_OTLP_ENDPOINT": "http://x"}, ("otlp",)),
        ({"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT": "http://x"}, ("otlp",)),
        ({"OTEL_TRACES_EXPORTER": "console, otlp"}, ("console", "otlp")),
    ],
)
def test_what_the_environment_asks_for(env: dict[str, str], wanted: tuple[str, ...]) -> None:
    assert traces_wanted(env) == wanted


@pytest.mark.parametrize("env", [{"OTEL_EXPORTER_OTLP_ENDPOINT": "http://x"}, {"OTEL_TRACES_EXPORTER": "otlp"}])
def test_a_protocol_that_is_not_spoken_is_refused(env: dict[str, str]) -> None:
    with pytest.raises(ConfigError, match="http/protobuf"):
        traces_wanted({**env, "OTEL_EXPORTER_OTLP_PROTOCOL": "grpc"})
    assert "grpc" in for_command(Settings(), {**env, "OTEL_EXPORTER_OTLP_PROTOCOL": "grpc"}).fault


async def test_the_callers_trace_reaches_servers_though_nobody_looks_on(tmp_path: Path) -> None:
    seen: list[str | None] = []

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            seen.append(self.headers.get("traceparent"))
            self.send_response(204)
            self.end_headers()

        def log_message(self, *_: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    context = RunContext(metadata={"traceparent": PARENT})
    url = f"http://127.0.0.1:{server.server_address[1]}/"
    async with Toolpath(settings=Settings()) as tp:
        tp.add(*http_tools(HttpLimits(reach=Reach(allow=("127.0.0.1",)))))
        tp.add_mcp("trace", command=sys.executable, args=[str(SERVER)])
        await tp.call("http.get", {"url": url}, context=context)
        await tp.call("http.get", {"url": url, "headers": {"Traceparent": "mine"}}, context=context)
        await tp.call("http.get", {"url": url})
        told = await tp.call("trace.meta", context=context)
        untold = await tp.call("trace.meta")
    server.shutdown()
    server.server_close()
    assert seen == [PARENT, "mine", None]
    # Where something in this process traces, the MCP library puts a span of its own between.
    assert told["meta"]["traceparent"].split("-")[1] == PARENT.split("-")[1]
    assert PARENT.split("-")[1] not in untold["meta"].get("traceparent", "")
