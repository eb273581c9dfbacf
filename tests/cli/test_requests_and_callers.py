"""Composites that make a request or compute, from the command line; and for whom a run is."""

from __future__ import annotations

import http.server
import json
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from cli_cases import Command

STATUS = """
name: order_status
description: How an order stands.
parameters:
  - {name: base, type: string, required: true}
  - {name: order_id, type: string, required: true}
  - {name: lang, type: string, default: en}
implementation:
  type: api_call
  api_call:
    url: "{{ inputs.base }}/orders/{order_id}"
    request_mapping: {language: lang}
    response_mapping: {status: data.status, asked: path}
"""
TOTALS = """
name: totals
parameters:
  - {name: orders, type: array, required: true}
implementation:
  type: data_transform
  data_transform:
    source: orders
    transform: {worth: "source | map(attribute='price') | sum", first: "| first"}
"""
GUARDED = """
name: guarded
parameters:
  - {name: item, type: string, required: true}
business_rules: {requires_auth: true, required_permissions: [shop.see], requires_casefile: true}
session_policies: {requires_active_session: true}
implementation:
  type: composite
  composite:
    steps:
      - {tool: shop.price, inputs: {item: "{{ state.item }}"}}
    outputs: "{{ price }}"
"""
WHO = ("--session", "s1", "--case", "c1", "--permission", "shop.see")


@pytest.fixture
def service() -> Iterator[str]:
    class Answering(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            body = json.dumps({"data": {"status": "packed"}, "path": self.path}).encode()
            self.send_response(200)
            self.send_header("content-type", "application/json")
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: object) -> None:
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Answering)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()
    thread.join()


@pytest.mark.parametrize("where", ["file", "folder", "plan"])
def test_a_request_is_made_from_the_command_line(toolpath: Command, shop: Path, service: str, where: str) -> None:
    (shop / "flows").mkdir()
    (shop / "flows" / "status.yaml").write_text(STATUS)
    with (shop / "toolpath.toml").open("a") as settings:
        settings.write('http_allow = ["127.0.0.1"]\n')
    call = f'{{tool: order_status, inputs: {{base: "{service}", order_id: A/17}}}}'
    (shop / "plan.yaml").write_text(f'steps: [{call}]\noutputs: "{{{{ order_status }}}}"\n')
    what = {"file": "flows/status.yaml", "folder": "order_status", "plan": "plan.yaml"}[where]
    inputs = () if where == "plan" else ("-i", f"base={service}", "-i", "order_id=A/17")
    ran = toolpath("--folder", "flows", "run", what, *inputs, "-q")
    assert ran.code == 0, ran.err
    assert ran.json == {"status": "packed", "asked": "/orders/A%2F17?language=en"}
    previewed = toolpath("--folder", "flows", "run", what, *inputs, "--dry-run")
    assert previewed.code == 0, previewed.err


def test_a_plan_of_words_may_use_a_composite_that_makes_a_request(toolpath: Command, shop: Path) -> None:
    (shop / "flows").mkdir()
    (shop / "flows" / "status.yaml").write_text(STATUS.replace("How an order stands", "Ask for the status of an order"))
    planned = toolpath("--folder", "flows", "plan", 'Ask for the order status with base "x" and order id "A-17"')
    assert "unknown_tool" not in planned.err
    assert "tool: order_status" in planned.out
    assert "http.get · reads" in planned.err


def test_requests_are_offered_to_what_names_them_alone(toolpath: Command, shop: Path) -> None:
    (shop / "flows").mkdir()
    (shop / "flows" / "status.yaml").write_text(STATUS)
    assert "http." not in toolpath("--folder", "flows", "tools", "list").out
    (shop / "toolpath.toml").write_text("http = true\n")
    assert "http.request" in toolpath("tools", "list").out


@pytest.mark.parametrize(("method", "warned"), [("GET", False), ("POST", True), ("DELETE", True)])
def test_only_a_request_that_may_write_is_warned_of_when_it_is_tried_again(
    toolpath: Command, shop: Path, method: str, warned: bool
) -> None:
    retried = f"    method: {method}\n    retry_policy: {{max_attempts: 3, backoff_seconds: 1}}\n    response_mapping"
    (shop / "status.yaml").write_text(STATUS.replace("    response_mapping", retried))
    ran = toolpath("validate", "status.yaml")
    assert (ran.code, "effect_retried" in ran.out + ran.err) == (0, warned), ran.err


def test_data_is_transformed_from_the_command_line(toolpath: Command, shop: Path) -> None:
    (shop / "totals.yaml").write_text(TOTALS)
    (shop / "orders.json").write_text('{"orders": [{"price": 3}, {"price": 5}]}')
    ran = toolpath("run", "totals.yaml", "--input-file", "orders.json", "-q")
    assert (ran.code, ran.json) == (0, {"worth": 8, "first": {"price": 3}})


def test_a_run_is_for_whom_it_is_said(toolpath: Command, shop: Path) -> None:
    (shop / "flows").mkdir()
    (shop / "flows" / "guarded.yaml").write_text(GUARDED)
    for what in (("run", "flows/guarded.yaml"), ("run", "guarded"), ("tools", "call", "guarded")):
        command = ("--folder", "flows", *what, "-i", "item=tea")
        assert toolpath(*command, *WHO, "-q").json == 2.5
        for missing in range(0, len(WHO), 2):
            refused = toolpath(*command, *WHO[:missing], *WHO[missing + 2 :])
            assert refused.code == 7, refused.err
    toolpath("--folder", "flows", "run", "guarded", "-i", "item=tea", *WHO, "--user", "ada")
    started = json.loads(toolpath("--json", "runs", "events", "last").out.splitlines()[0])
    who = {"user_id": "ada", "session_id": "s1", "case_id": "c1", "permissions": ["shop.see"]}
    assert {name: started["context"][name] for name in who} == who


def test_without_tools_generate_says_so_and_its_tests_still_prove_the_inputs(toolpath: Command, shop: Path) -> None:
    (shop / "toolpath.toml").write_text("")
    (shop / "guarded.yaml").write_text(GUARDED)
    ran = toolpath("generate", "guarded.yaml", "--into", "made")
    assert (ran.code, "No tools are known here" in ran.err) == (0, True), ran.err
    for name in ("guarded.py", "test_guarded.py"):
        compile((shop / "made" / name).read_text(), name, "exec")
    (shop / "guarded.yaml").write_text(GUARDED.replace("requires_casefile", "requires_casefil"))
    refused = toolpath("generate", "guarded.yaml", "--into", "refused")
    assert refused.code == 3
    assert not (shop / "refused").exists()
