"""A plan in any notation means the same at every door: Python, command line, REST, GraphQL and MCP."""

from __future__ import annotations

import asyncio
import itertools
import json
import os
import random
import subprocess
from pathlib import Path
from typing import Any

import msgspec
import pytest
from mcp_cases import talking
from tests.patience import PATIENCE
from tests.prepared.prepared import prepared
from tests.server.serving_cases import serving
from tests.soak import scaled

from toolpath import PlanInvalid, Toolpath
from toolpath.errors import ReadError
from toolpath.notation.printing import plan_to_dict
from toolpath.server.asgi import create_app
from toolpath.testing.clock import FakeClock

TOOLS = '''
from toolpath import ToolFailed, tool


@tool(group="blog", effect="write")
def make(name: str, note: str = "") -> dict[str, str]:
    """Make something of a name."""
    return {"id": f"id-{name}", "name": name, "note": note}


@tool(group="blog", effect="read")
def look(id: str, note: str = "") -> dict[str, str]:
    """Look at something."""
    return {"id": id, "name": f"seen {id}", "note": note}


@tool(group="blog", effect="read")
def fail(id: str = "") -> dict[str, str]:
    """Always fail."""
    raise ToolFailed("no")
'''
CREATE = """
mutation ($o: String!) { createPlan(input: "what", output: $o) { id output } }
"""
UPDATE = """
mutation ($id: ID!, $o: String!) { updatePlan(id: $id, output: $o) { output } }
"""


class Seeds:
    """Plans in the notations of the source systems, made of chance."""

    def __init__(self, seed: int) -> None:
        self.chance = random.Random(seed)

    def document(self) -> dict[str, Any]:
        """One document in one of the notations."""
        return self.chance.choice(
            [self.tools_and_order, self.tools_and_order, self.chain, self.engine, self.engine, self.calls, self.own]
        )()

    def entries(self, key: str) -> list[dict[str, Any]]:
        """Tools with parameters that read one another; some names are used twice, and some things are wrong."""
        made: list[dict[str, Any]] = []
        for _ in range(self.chance.randint(1, 4)):
            tool = self.chance.choice(["make", "look", "blog.make", "blog.look", "fail", "mkae"][: self.most()])
            earlier = self.chance.choice(made)[key].rpartition(".")[2] if made else ""
            value = self.chance.choice(
                ["plain", f"{{{{{earlier}.id}}}}", f"of {{{{ {earlier}.name }}}} & co", "{{ kept }}", "extracted"]
                if earlier
                else ["plain", "b"]
            )
            entry: dict[str, Any] = {
                key: tool,
                "parameters": {"name" if "m" in tool.rpartition(".")[2][:1] else "id": value},
            }
            if self.chance.random() < 0.3:
                entry["outputMapping"] = {"id": "kept"}
            if self.chance.random() < 0.3:
                entry["when"] = self.chance.choice([True, False, "{{ kept }}", "kept == 'id-plain'"])
            if self.chance.random() < 0.3:
                entry["timeout"] = self.chance.choice([30000, 50, "20s", 200_000_000])
            made.append(entry)
        return made

    def most(self) -> int:
        return 6 if self.chance.random() < 0.15 else 5 if self.chance.random() < 0.3 else 4

    def tools_and_order(self) -> dict[str, Any]:
        tools = self.entries(self.chance.choice(["name", "toolName"]))
        for before, after in itertools.pairwise(tools):
            after["dependsOn"] = self.chance.choice([None, before.get("name", before.get("toolName"))])
        names = [tool.get("name", tool.get("toolName")) for tool in tools]
        return {"tools": tools, "executionOrder": names, "plan": "First this."}

    def chain(self) -> dict[str, Any]:
        tools = self.entries("tool")
        for tool in tools:
            tool |= {"subQuery": "what", "confidence": self.chance.choice([0.9, 0.2])}
        return {"reasoning": "So.", "toolChain": tools}

    def engine(self) -> dict[str, Any]:
        steps = self.entries("tool")
        for number, step in enumerate(steps):
            step["id"] = f"s{number}"
            step["dependencies"] = [] if not number else [f"s{self.chance.randrange(number)}"]
            step["executionMode"] = self.chance.choice(["parallel", "sequential"])
            if self.chance.random() < 0.3:
                step["critical"] = self.chance.choice([True, False])
            if number:
                step["parameters"] = dict.fromkeys(step["parameters"], f"{{{{ s{number - 1}.id }}}}")
            if self.chance.random() < 0.3:
                step["fallback"] = {"tool": "look", "inputs": {"id": "x"}, "condition": "on_error"}
        said = {"reasoning": "r", "estimatedDuration": 4000, "estimatedCost": 0.5}
        return {"steps": steps, **(said if self.chance.random() < 0.5 else {})}

    def calls(self) -> dict[str, Any]:
        calls = [{"tool_name": one["tool"], "args": one["parameters"]} for one in self.entries("tool")]
        return {"natural_language_response": "Here.", "tool_calls": calls}

    def own(self) -> dict[str, Any]:
        steps = self.entries("tool")
        for step in steps:
            step.pop("outputMapping", None)
            step["inputs"] = step.pop("parameters")
        return {"name": "own", "flow": self.chance.choice(["chain", "graph"]), "steps": steps}


def module(folder: Path) -> str:
    path = folder / "one_reading_tools.py"
    path.write_text(TOOLS)
    return str(path)


def text_of(document: dict[str, Any], chance: random.Random) -> Any:
    """The document as it is sent: a mapping, its text, or its text in a fence."""
    text = json.dumps(document, indent=chance.choice([None, 2]))
    return chance.choice([document, text, f"```json\n{text}\n```\n"])


async def at_python(tp: Toolpath, source: Any) -> Any:
    """The plan, what is found in reading it, and what a run gives."""
    try:
        plan = tp.read(source)
    except ReadError:
        return "unreadable"
    findings = sorted(finding.code for finding in tp.check(plan))
    wrong = [f.code for f in plan.source.findings if f.severity == "error"]
    try:
        result = await tp.run(plan)
    except PlanInvalid:
        return (plan_to_dict(plan), findings, bool(wrong), None)
    return (plan_to_dict(plan), findings, bool(wrong), (result.status, result.outputs))


async def compare_doors(tp: Toolpath, http: Any, mcp: Any, source: Any) -> str:
    """Read and run the document at every door; what came of it."""
    known = await at_python(tp, source)
    kept = await http.post("/api/v1/plans", json={"plan": source})
    begun = await http.post("/api/v1/runs", json={"plan": source})
    checked = await mcp.call_tool("check_plan", {"plan": source})
    text = source if isinstance(source, str) else json.dumps(source)
    made = (await http.post("/graphql", json={"query": CREATE, "variables": {"o": text}})).json()
    if known == "unreadable":
        assert (kept.status_code, begun.status_code, checked.is_error) == (400, 400, True), kept.text
        # What is no plan is kept as text there.
        assert made["data"]["createPlan"]["output"] == text
        return "unreadable"
    plan, findings, misread, ran = known
    assert sorted(found["code"] for found in checked.structured_content["findings"]) == findings
    if misread:
        assert kept.json()["code"] == begun.json()["code"] == "plan_invalid"
        assert made["errors"][0]["extensions"]["code"] == "plan_invalid"
        return "misread"
    assert kept.json()["plan"] == plan
    assert json.loads(made["data"]["createPlan"]["output"]) == plan
    changed = {"id": made["data"]["createPlan"]["id"], "o": text}
    updated = (await http.post("/graphql", json={"query": UPDATE, "variables": changed})).json()
    assert json.loads(updated["data"]["updatePlan"]["output"]) == plan
    if ran is None:
        # A run is refused whole, or begun and found wrong at once; nothing of it is called.
        told = await mcp.call_tool("run_plan", {"plan": source})
        assert told.is_error
        return "invalid"
    assert begun.status_code == 202, begun.text
    run_id = begun.json()["run_id"]
    await tp.result(run_id)
    shown = (await http.get(f"/api/v1/runs/{run_id}")).json()
    answer = (await mcp.call_tool("run_plan", {"plan": source})).structured_content
    for status, outputs in ((shown["status"], shown["outputs"]), (answer["status"], answer["outputs"])):
        assert (status, outputs) == ran
    return ran[0]


async def compare_many(folder: Path, seeds: range) -> dict[str, int]:
    counts: dict[str, int] = {}
    # Some time limits are of milliseconds: no time passes, so that none is over sooner at one door than at another.
    tp = Toolpath(clock=FakeClock())
    tp.add_module(module(folder))
    async with serving(create_app(tp)) as http:
        await http.get("/health")
        async with talking(tp, "auto") as mcp:
            for seed in seeds:
                source = text_of(Seeds(seed).document(), random.Random(seed))
                try:
                    found = await asyncio.wait_for(compare_doors(tp, http, mcp, source), PATIENCE)
                except Exception as error:
                    raise AssertionError(f"seed {seed}: {source}") from error
                counts[found] = counts.get(found, 0) + 1
    return counts


async def test_every_door_reads_the_same_plan_finds_the_same_and_gives_the_same(tmp_path: Path) -> None:
    counts = await compare_many(tmp_path, range(60))
    # The generator makes what runs, what fails, what does not check and what is misread.
    assert counts["completed"] > 10, counts
    assert counts["invalid"] > 5, counts
    assert counts["failed"] >= 1, counts


@pytest.mark.soak
@pytest.mark.parametrize("first", range(1_000, 6_000, 500))
async def test_every_door_reads_the_same_plan_in_large(tmp_path: Path, first: int) -> None:
    count = scaled(500)
    assert sum((await compare_many(tmp_path, range(first, first + count))).values()) == count


@pytest.mark.parametrize("seed", range(4))
async def test_the_command_line_reads_what_python_reads(tmp_path: Path, seed: int) -> None:
    made = Seeds(seed)
    made.entries = lambda key: [  # type: ignore[method-assign]
        {key: "make", "parameters": {"name": "a"}, "outputMapping": {"id": "kept"}},
        {key: "look", "parameters": {"id": "{{ make.id }}" if key != "tool" or seed != 2 else "b"}},
    ]
    document = [made.tools_and_order, made.chain, made.engine, made.calls][seed]()
    document.pop("natural_language_response", None)
    (tmp_path / "plan.json").write_text(json.dumps(document))
    async with Toolpath() as tp:
        tp.add_module(module(tmp_path))
        known = await at_python(tp, document)
    words = prepared("toolpath", "--tools", module(tmp_path), "--store", "runs.db", "--json")
    ran = await asyncio.to_thread(
        subprocess.run,
        [*words, "run", "plan.json"],
        cwd=tmp_path,
        env={**os.environ, "NO_COLOR": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr
    told = msgspec.json.decode(ran.stdout)
    assert (told["status"], told["outputs"]) == known[3]


ORDERED = {
    "tools": [
        {"name": "fail", "parameters": {"id": "x"}},
        *({"name": "make", "id": f"m{n}", "parameters": {"name": f"{n}"}} for n in range(8)),
    ],
    "executionOrder": ["fail", *["make"] * 8],
}


async def test_tools_and_their_order_stop_at_a_failure(tmp_path: Path) -> None:
    async with Toolpath() as tp:
        tp.add_module(module(tmp_path))
        result = await tp.run({**ORDERED, "concurrency": 1})
        assert (result.status, result.step("fail").status) == ("failed", "failed")
        assert {step.status for step in result.results if step.step != "fail"} <= {"skipped", "pending", "cancelled"}


async def test_times_of_the_planning_engine_are_milliseconds_with_or_without_its_other_words() -> None:
    tp = Toolpath()
    step = {"id": "a", "tool": "make", "parameters": {"name": "x"}, "dependencies": [], "timeout": 30000}
    for document in ({"steps": [step]}, {"steps": [{**step, "executionMode": "parallel"}]}, {"toolChain": [step]}):
        assert tp.read(document).steps[0].timeout == 30.0
    assert tp.read({"steps": [{"tool": "make", "timeout": 30000}]}).steps[0].timeout == 30_000.0
    day = tp.read({"steps": [{"tool": "make", "timeout": 300000}]})
    assert [finding.code for finding in day.source.findings] == ["unlikely_timeout"]
    short = tp.read({"steps": [{**step, "timeout": 30}]})
    assert [finding.code for finding in short.source.findings] == ["unlikely_timeout"]


async def test_a_call_inside_broken_text_is_no_plan() -> None:
    broken = 'steps:\n  - {tool: make, inputs: {name: a}}\n  - {"tool": "make", "inputs": {"name": \n'
    for text in (broken, f"Do this:\n```json\n{json.dumps(ORDERED)}\n```", '{"tool": "make", "inputs": {}}'):
        with pytest.raises(ReadError):
            Toolpath().read(f"{text}\n")
