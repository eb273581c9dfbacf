"""`toolpath mcp-servers …`."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest
from tests.cli.cli_cases import Command

SCRIPT = str(Path(__file__).parent.parent / "servers" / "probe_server.py")
SECRET = "hush-hush-4711"


@pytest.fixture(autouse=True)
def _secrets(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PROBE_SECRET", SECRET)
    monkeypatch.delenv("NO_SUCH_SECRET", raising=False)


@pytest.mark.usefixtures("shop")
def test_a_server_is_kept_asked_switched_changed_and_forgotten(toolpath: Command) -> None:
    assert "mcp-servers add" in toolpath("mcp-servers", "list").err
    add = ("mcp-servers", "add", "probe", "--command", sys.executable, "--arg", SCRIPT)
    made = toolpath(*add, "--env", "PROBE_WORDS=PROBE_SECRET", "--no-trust", "--json")
    assert (made.json["name"], made.json["enabled"], made.json["trust_annotations"]) == ("probe", True, False)
    assert (set(made.json["env"]), SECRET in made.out + made.err) == ({"PROBE_WORDS"}, False)
    assert "probe" in toolpath("mcp-servers", "list").out
    found = toolpath("mcp-servers", "tools", "probe", "--json")
    assert (found.json["problem"], found.json["enabled"]) == (None, True)
    assert all(tool["key"].startswith("probe.") for tool in found.json["tools"])
    assert found.json["tools"]
    # What was kept is there for whatever is run next.
    assert found.json["tools"][0]["key"] in toolpath("tools", "list").out
    assert toolpath("mcp-servers", "disable", "probe").code == 0
    assert toolpath("mcp-servers", "tools", "probe", "--json").json["tools"] == []
    assert found.json["tools"][0]["key"] not in toolpath("tools", "list").out
    assert toolpath("mcp-servers", "enable", "probe", "--json").json["enabled"] is True
    changed = toolpath("mcp-servers", "change", "probe", "--timeout", "5", "--trust", "--json").json
    assert (changed["timeout"], changed["trust_annotations"], changed["args"]) == (5.0, True, [SCRIPT])
    other = toolpath("mcp-servers", "change", "probe", "--command", "another-program")
    assert (other.code, "secrets belong" in other.err) == (3, True), other
    assert SECRET not in toolpath("mcp-servers", "show", "probe").out
    wrong = toolpath("mcp-servers", "show", "prob")
    assert (wrong.code, "probe" in wrong.err) == (2, True)
    assert toolpath("mcp-servers", "remove", "probe").code == 0
    assert toolpath("mcp-servers", "list", "--json").json == []


@pytest.mark.usefixtures("shop")
def test_a_document_is_taken_whole_or_not_at_all_and_what_is_wrong_is_told(toolpath: Command, tmp_path: Path) -> None:
    document = tmp_path / "servers.json"
    servers = {"pages": {"url": "https://93.184.215.14/mcp"}, "near": {"url": "http://127.0.0.1:9/mcp"}}
    document.write_text(json.dumps({"mcpServers": servers}))
    refused = toolpath("mcp-servers", "import", str(document))
    assert (refused.code, "127.0.0.1" in refused.err) == (3, True), refused
    assert toolpath("mcp-servers", "list", "--json").json == []
    document.write_text(json.dumps({"mcpServers": {"pages": servers["pages"]}}))
    assert toolpath("mcp-servers", "import", str(document)).code == 0
    assert [server["name"] for server in toolpath("mcp-servers", "list", "--json").json] == ["pages"]
    document.write_text("{")
    assert "no JSON" in toolpath("mcp-servers", "import", str(document)).err
    for words, said, code in (
        (("--url", "https://93.184.215.14", "--header", "X-Key=NO_SUCH_SECRET"), "NO_SUCH_SECRET", 2),
        (("--url", "https://93.184.215.14", "--header", "X-Key"), "NAME=VARIABLE", 2),
        ((), "'command' or a 'url'", 3),
    ):
        refused = toolpath("mcp-servers", "add", "more", *words)
        assert (refused.code, said in refused.err) == (code, True), refused.err
    assert "already exists" in toolpath("mcp-servers", "add", "pages", "--url", "https://93.184.215.14").err
