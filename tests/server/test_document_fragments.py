"""What the source documents write down, read the same at every door: Python, command line, REST, GraphQL, MCP."""

from __future__ import annotations

import asyncio
import json
import re
import subprocess
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import msgspec
import pytest
import pytest_asyncio
from benchmarks.records import folder
from mcp_cases import talking
from tests.documents.test_tool_composition import (
    BRANCHING,
    CONDITIONAL,
    ECHO_CHAIN,
    LOOP,
    PARAMETERIZED,
    RETRY_WITH_FALLBACK,
)
from tests.prepared.prepared import prepared
from tests.server.serving_cases import serving
from tests.server.test_one_reading import at_python, compare_doors

from toolpath import Toolpath
from toolpath.server.asgi import create_app

TOOLS = '''
from toolpath import tool


def made(key: str, gives: dict) -> None:
    group, _, name = key.rpartition(".")

    @tool(group=group, name=name, effect="read", input_schema={"type": "object"}, output_schema=None)
    def body(**inputs: object) -> dict:
        """Give what the document's tool gives."""
        return {**gives, **inputs}

    globals()[f"tool_{len(globals())}"] = body


made("blog.createAuthor", {"_id": "507f", "name": "Alice", "email": "alice@test.com"})
made("blog.createBlog", {"_id": "6012"})
made("blog.createComment", {"_id": "7001"})
for name in (
    "step1", "step2", "step3", "validation_tool", "process_valid_data", "handle_invalid_data", "primary_service",
    "backup_service", "optional_enrichment", "required_processing", "send_alert", "process_single_message",
):
    made(f"flow.{name}", {"ok": True})
made("flow.check_balance", {"balance": 50})
made("flow.gmail_search_messages", {"messages": ["a", "b"]})
made("flow.echo_tool", {"data": "said"})
made("flow.fetch_raw_data", {"data": [{"value": 10}, {"value": 90}]})
'''

SELECTED: dict[str, Any] = {
    "tools": [
        {"name": "createAuthor", "parameters": {"name": "Alice", "email": "alice@test.com"}, "dependsOn": None},
        {
            "name": "createBlog",
            "parameters": {"authorId": "{{createAuthor._id}}", "title": "Hello", "content": "about world"},
            "dependsOn": "createAuthor",
        },
    ],
    "executionOrder": ["createAuthor", "createBlog"],
}
DEEP: dict[str, Any] = {
    "tools": [
        *SELECTED["tools"],
        {"name": "createComment", "parameters": {"blogId": "{{createBlog._id}}"}, "dependsOn": "createBlog"},
    ],
    "executionOrder": ["createAuthor", "createBlog", "createComment"],
}
MESSAGE: dict[str, Any] = {
    "tools": [
        SELECTED["tools"][0],
        {
            "name": "createBlog",
            "parameters": {"message": "Created by {{createAuthor.name}} ({{createAuthor.email}})"},
            "dependsOn": "createAuthor",
        },
    ],
    "executionOrder": ["createAuthor", "createBlog"],
}
ROUND: dict[str, Any] = {
    "tools": [
        {"name": "createAuthor", "parameters": {"name": "{{createBlog.title}}"}, "dependsOn": "createBlog"},
        SELECTED["tools"][1],
    ],
    "executionOrder": ["createAuthor", "createBlog"],
}
SEQUENTIAL = """
steps:
  - tool: step1
    inputs: {}
  - tool: step2
    inputs: {}
  - tool: step3
    inputs: {}
"""
DESPITE_ERRORS = """
steps:
  - tool: optional_enrichment
    inputs: {}
    on_failure:
      action: continue

  - tool: required_processing
    inputs: {}
    on_failure:
      action: stop
"""
TRANSFORMED = """
steps:
  - tool: fetch_raw_data
    on_success:
      map_outputs:
        data: "raw_data"
      transform:
        filtered_data: "{{ state.raw_data | filter(lambda x: x.value > 50) }}"
"""
SIDE_BY_SIDE = """
steps:
  - parallel:
      - tool: step1
      - tool: step2
      - tool: step3
    wait_for: all  # or "any" or "first_success"
"""
TEMPLATE: dict[str, Any] = {
    "title": "Summary",
    "planTemplateId": "planTemplate-1",
    "steps": [
        {
            "stepRequirement": "Summarise the page",
            "agentName": "ConfigurableDynaAgent",
            "modelName": "",
            "selectedToolKeys": ["flow.step1"],
            "terminateColumns": "title, url",
        }
    ],
}
#: Fragment → what is told of its order, or that it is no plan by itself; the flow that it has.
FRAGMENTS: dict[str, tuple[Any, str, str]] = {
    "000 selected tools": (SELECTED, "", "graph"),
    "000 deep chaining": (DEEP, "", "graph"),
    "000 several templates": (MESSAGE, "", "graph"),
    "000 a cycle": (ROUND, "cycle", "graph"),
    "000 parameters alone": ({"authorId": "{{createAuthor._id}}"}, "unreadable", ""),
    "001 echo chain": (ECHO_CHAIN, "", "chain"),
    "001 sequential": (SEQUENTIAL, "side_by_side", "graph"),
    "001 branching": (BRANCHING, "", "chain"),
    "001 retry with fallback": (RETRY_WITH_FALLBACK, "", "chain"),
    "001 despite errors": (DESPITE_ERRORS, "side_by_side", "graph"),
    "001 parameterized": (PARAMETERIZED, "", "chain"),
    "001 conditional": (CONDITIONAL, "", "graph"),
    "001 loop": (LOOP, "", "graph"),
    "001 transformed": (TRANSFORMED, "", "graph"),
    "001 in parallel": (SIDE_BY_SIDE, "", "graph"),
    "001 an outcome alone": ("on_failure:\n  action: stop\n", "unreadable", ""),
    "004 plan template": (TEMPLATE, "", "chain"),
}
#: What is told of the order of steps.
ORDER = {"side_by_side", "cycle"}


@pytest.fixture(scope="module")
def module(tmp_path_factory: pytest.TempPathFactory) -> str:
    path = tmp_path_factory.mktemp("documents") / "document_tools.py"
    path.write_text(TOOLS)
    return str(path)


@dataclass
class Doors:
    """One house, and those who speak with it."""

    tp: Toolpath
    http: Any
    mcp: Any = None


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def house(module: str) -> AsyncIterator[Doors]:
    tp = Toolpath()
    tp.add_module(module)
    async with serving(create_app(tp)) as http:
        await http.get("/health")
        yield Doors(tp, http)


@asynccontextmanager
async def opened(house: Doors) -> AsyncIterator[Doors]:
    """With somebody who speaks MCP, within one task."""
    async with talking(house.tp, "auto") as mcp:
        yield replace(house, mcp=mcp)


def text_of(fragment: Any) -> str:
    return fragment if isinstance(fragment, str) else json.dumps(fragment, indent=2)


async def at_command_line(folder: Path, module: str, text: str) -> tuple[int, list[str]]:
    """The exit code of `check`, and what it finds."""
    (folder / "fragment").write_text(text)
    words = prepared("toolpath", "--tools", module, "--json", "check", "fragment")
    ran = await asyncio.to_thread(subprocess.run, words, cwd=folder, capture_output=True, text=True, check=False)
    return ran.returncode, sorted(found["code"] for found in msgspec.json.decode(ran.stdout or "[]"))


async def compare(folder: Path, module: str, doors: Doors, fragment: Any) -> Any:
    """Read the fragment at every door; what Python makes of it."""
    await compare_doors(doors.tp, doors.http, doors.mcp, fragment)
    known = await at_python(doors.tp, fragment)
    code, codes = await at_command_line(folder, module, text_of(fragment))
    if known == "unreadable":
        assert code != 0
        return known
    plan, findings, _, _ = known
    assert codes == findings
    assert code == (0 if not any(is_error(doors.tp, fragment)) else 3)
    return plan, findings


def is_error(tp: Toolpath, fragment: Any) -> list[bool]:
    return [finding.severity == "error" for finding in tp.check(fragment)]


@pytest.mark.parametrize("name", FRAGMENTS)
@pytest.mark.asyncio(loop_scope="module")
async def test_a_fragment_of_a_document_is_read_the_same_at_every_door(
    tmp_path: Path, module: str, house: Doors, name: str
) -> None:
    fragment, order, flow = FRAGMENTS[name]
    async with opened(house) as doors:
        known = await compare(tmp_path, module, doors, fragment)
    if order == "unreadable":
        assert known == "unreadable"
        return
    plan, findings = known
    assert plan.get("flow", "graph") == flow
    assert ORDER & {*findings} == ({order} if order else set())


def sources() -> list[tuple[str, str]]:
    """The YAML and JSON of the source documents, where these stand beside the records of the benchmarks."""
    data = folder()
    places = [] if data is None else [data, *data.parents[:2]]
    found: list[tuple[str, str]] = []
    for path in (path for place in places for path in sorted((place / "sources").glob("00[014]_*.txt"))):
        for number, text in enumerate(re.findall(r"^```(?:yaml|json)\n(.*?)^```", path.read_text(), re.M | re.S)):
            found.append((f"{path.name[:3]}-{number}", text))
    return found


@pytest.mark.data
@pytest.mark.skipif(not sources(), reason="the source documents are not there")
@pytest.mark.asyncio(loop_scope="module")
async def test_the_documents_own_fragments_are_read_the_same_at_every_door(house: Doors) -> None:
    seen: dict[str, int] = {}
    async with opened(house) as doors:
        for name, text in sources():
            try:
                came = await compare_doors(doors.tp, doors.http, doors.mcp, text)
            except Exception as error:
                raise AssertionError(f"{name}: {text}") from error
            seen[came] = seen.get(came, 0) + 1
    assert seen["completed"] >= 1
    assert seen["unreadable"] >= 1
