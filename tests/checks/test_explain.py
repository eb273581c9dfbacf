"""What a plan will do, told before it does it."""

from __future__ import annotations

import json
import re

import pytest
from check_cases import TOOLS, catalog_of, make_tool, plan_of

from toolpath.catalog.snapshot import Catalog
from toolpath.checks.explainer import explain
from toolpath.checks.explanation import ExplainedStep, Explanation
from toolpath.model.plan import Call, Plan
from toolpath.model.tool import Requires, Tool, ToolStats

PLAN = plan_of(
    """
    name: publish
    description: Write and tell
    steps:
      - {id: writer, tool: blog.createAuthor, inputs: {name: A, email: e}}
      - {id: found, tool: web.search, inputs: {query: x}}
      - {id: post, tool: blog.createBlog, inputs: {authorId: "{{ writer._id }}", title: "{{ writer.name }}"}}
      - {id: tell, tool: files.send, inputs: {text: "{{ found.total }}"}, depends_on: [post]}
      - {id: clean, tool: files.wipe, depends_on: [tell], requires_approval: true}
    """
)
STATS = {
    "blog.createAuthor": ToolStats(calls=2, total_duration=4.0),
    "web.search": ToolStats(calls=1, total_duration=1.0),
    "blog.createBlog": ToolStats(calls=1, total_duration=0.5),
    "files.send": ToolStats(calls=1, total_duration=0.25),
}


def step(explanation: Explanation, name: str) -> ExplainedStep:
    return next(step for step in explanation.block.steps if step.id == name)


def test_it_tells_what_waits_for_what_and_why() -> None:
    found = explain(PLAN, TOOLS)
    (wait,) = step(found, "post").waits
    assert (wait.step, wait.because) == ("writer", ("writer._id", "writer.name"))
    assert {wait.step: wait.because for wait in step(found, "tell").waits} == {
        "post": ("depends_on",),
        "found": ("found.total",),
    }


def test_it_tells_what_may_run_side_by_side() -> None:
    found = explain(PLAN, TOOLS)
    assert step(found, "found").beside == ("writer", "post")
    assert step(found, "tell").beside == ()


def test_the_critical_path_is_the_longest_by_what_calls_took() -> None:
    found = explain(PLAN, TOOLS.with_stats(STATS))
    assert found.critical_path == ("writer", "post", "tell", "clean")
    assert found.duration.value == pytest.approx(2.75)
    assert found.duration.unknown == ("files.wipe",)
    slow = {**STATS, "web.search": ToolStats(calls=1, total_duration=60.0)}
    assert explain(PLAN, TOOLS.with_stats(slow)).critical_path == ("found", "tell", "clean")


def test_what_is_not_known_is_said_to_be_unknown() -> None:
    found = explain(PLAN, TOOLS)
    assert found.duration.text("s") == "unknown"
    assert found.cost.value == 0.5
    assert "at least 0.5000 USD" in found.cost.text("USD")
    assert "web.search" in found.cost.unknown


def test_it_tells_effects_approvals_and_where_things_go() -> None:
    mail = make_tool(
        "mail.send", {"type": "object"}, effect="write", server="mail-server", requires=Requires(approval=True)
    )
    found = explain(Plan(steps=(*PLAN.steps, Call(id="m", tool="mail.send"))), Catalog({**TOOLS.tools, mail.key: mail}))
    assert found.writes == ("writer", "post", "tell", "m")
    assert found.destroys == ("clean",)
    assert found.approvals == ("clean", "m")
    assert found.leaves == {"mail-server": ("m",)}


def test_the_tree_holds_every_step_once() -> None:
    text = explain(PLAN, TOOLS).text()
    assert text.splitlines()[0] == "publish — Write and tell"
    for each in PLAN.steps:
        assert len(re.findall(rf"^[├└]─ {each.id}: ", text, re.MULTILINE)) == 1
    assert "post: blog.createBlog · writes · after writer (writer._id, writer.name)" in text
    assert "Destroys: clean" in text


BLOCKS = plan_of(
    """
    name: blocks
    flow: chain
    steps:
      - {id: s, tool: web.search, inputs: {query: x}}
      - id: each
        loop:
          over: "{{ s.items }}"
          steps: [{id: send, tool: files.send, inputs: {text: "{{ item.id }}"}}]
      - id: fixed
        loop: {over: [1, 2, 3, 4], concurrency: 2, steps: [{id: again, tool: files.send, inputs: {text: x}}]}
      - id: both
        wait_for: any
        parallel: [{id: p, tool: text.echo, inputs: {text: x}}, {id: q, tool: text.echo, inputs: {text: y}}]
      - {id: form, ask: {title: Which, inputs: [{name: n}]}}
    """
)


def test_loops_are_told_by_item_where_their_length_is_not_known() -> None:
    found = explain(BLOCKS, TOOLS.with_stats(STATS))
    each, fixed = step(found, "each"), step(found, "fixed")
    assert each.duration.per_item
    assert each.duration.value == 0.25
    assert not fixed.duration.per_item
    assert fixed.duration.value == 0.5
    assert fixed.cost.value == 2.0
    assert found.writes == ("each/send", "fixed/again")
    assert found.asks == ("form",)


def test_a_chain_tells_its_order_only_in_the_diagram() -> None:
    found = explain(BLOCKS, TOOLS)
    assert step(found, "both").waits[0].because == ("order",)
    assert "after fixed (order)" not in found.text()


def nested(depth: int) -> Catalog:
    tools: dict[str, Tool] = dict(TOOLS.tools)
    for number in range(depth):
        inner = f"plans.p{number + 1}" if number < depth - 1 else "files.save"
        body = Plan(name=f"p{number}", steps=(Call(id=f"s{number}", tool=inner, inputs={"text": "x"}),))
        tools[f"plans.p{number}"] = Tool(group="plans", name=f"p{number}", body=body)
    return Catalog(tools)


def test_nested_plans_are_shown_down_to_a_depth() -> None:
    plan = Plan(steps=(Call(id="top", tool="plans.p0"),))
    shallow = explain(plan, nested(2))
    assert "top/s0/s1" in shallow.writes
    deep = explain(plan, nested(30), depth=2)
    assert "…" in deep.text()
    assert "s2" not in deep.text()


def test_a_plan_that_holds_itself_is_shown_without_end_of_words() -> None:
    body = Plan(name="p", steps=(Call(id="again", tool="plans.p"),))
    tools = catalog_of(Tool(group="plans", name="p", body=body))
    assert "…" in explain(Plan(steps=(Call(id="x", tool="plans.p"),)), tools).text()


def test_a_plan_that_does_not_check_is_explained_all_the_same() -> None:
    plan = plan_of(
        """
        steps:
          - {id: a, tool: no.such, inputs: {x: "{{ b.y }}"}, depends_on: [zzz]}
          - {id: b, tool: text.echo, inputs: {text: "{{ a.x }} {{ 1 + }}"}}
        """
    )
    found = explain(plan, TOOLS)
    assert [step.id for step in found.block.steps] == ["a", "b"]


def test_the_diagram_is_of_mermaid_whatever_the_names_hold() -> None:
    nasty = 'x"]; click a "javascript:alert(1)" <b>end</b> `code` #quot;\nsubgraph'
    tools = catalog_of(Tool(name=nasty, input_schema={}))
    plan = Plan(steps=(Call(id="end", tool=nasty), Call(id="graph", tool=nasty, depends_on=("end",))))
    lines = explain(plan, tools).mermaid().splitlines()
    assert lines[0] == "flowchart TD"
    node, arrow = r'  n\d+\["[^"<>;`]*(?:#\d+;[^"<>;`]*)*"\]', r'  n\d+ -->\|"[^"]*"\| n\d+'
    assert all(re.fullmatch(f"{node}|{arrow}", line) for line in lines[1:]), lines


def test_blocks_are_subgraphs_that_close() -> None:
    lines = [line.strip() for line in explain(BLOCKS, TOOLS).mermaid().splitlines()]
    assert sum(line.startswith("subgraph ") for line in lines) == lines.count("end") == 5


def test_it_is_json() -> None:
    data = json.loads(json.dumps(explain(BLOCKS, TOOLS).as_json()))
    assert data["block"]["steps"][1]["blocks"][0]["steps"][0]["id"] == "send"
