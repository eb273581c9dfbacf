"""Folders of plans and composites: each file a tool, broken ones told, nothing outside read."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from toolpath import Toolpath
from toolpath.catalog.registry import Registry
from toolpath.errors import ConfigError, ToolUnavailable
from toolpath.model.plan import Plan
from toolpath.providers.files import FolderProvider

PLAN = """
name: {name}
description: Publish a post
inputs: {{type: object, properties: {{title: {{type: string}}}}, required: [title]}}
steps:
  - {{id: post, tool: blog.create, inputs: {{title: "{{{{ inputs.title }}}}"}}}}
"""


async def test_each_file_is_a_tool_with_the_plans_inputs_and_its_folder_as_group(tmp_path):
    (tmp_path / "publish.plan.yaml").write_text(PLAN.format(name="publish_post"))
    (tmp_path / "blog" / "old").mkdir(parents=True)
    (tmp_path / "blog" / "old" / "again.yml").write_text(PLAN.format(name="Post again!"))
    (tmp_path / "notes.txt").write_text("no plan")
    (tmp_path / ".hidden.yaml").write_text("no: plan")
    provider = FolderProvider(tmp_path)

    tools = {tool.key: tool for tool in await provider.list_tools()}

    assert set(tools) == {"publish_post", "blog-old.Post_again"}
    assert provider.findings == ()
    publish = tools["publish_post"]
    assert isinstance(publish.body, Plan)
    assert publish.input_schema["required"] == ["title"]
    assert (publish.description, publish.category) == ("Publish a post", "workflow")
    assert provider.describe() == {"folder": str(tmp_path.resolve())}


async def test_broken_files_are_told_with_their_line_and_hide_no_others(tmp_path):
    (tmp_path / "a.plan.yaml").write_text("steps: [\n  {tool: x\n")
    (tmp_path / "b.plan.yaml").write_text("name: b\nsteps:\n  - {tool: [7]}\n")
    (tmp_path / "c.yaml").write_bytes(b"\xff\xfe\x00")
    (tmp_path / "d.plan.yaml").write_text(PLAN.format(name="fine"))
    (tmp_path / "e.plan.yaml").write_text(PLAN.format(name="fine"))
    registry = Registry()
    registry.add_provider(FolderProvider(tmp_path, name="flows"))

    await registry.load(None)

    told = [finding.message for finding in registry.findings()]
    assert list(registry.snapshot().keys()) == ["fine"]
    assert any("a.plan.yaml:" in message for message in told)
    assert any("b.plan.yaml:3" in message for message in told)
    assert any("c.yaml" in message for message in told)
    assert any("e.plan.yaml: 'fine' is already the name" in message for message in told)
    assert {finding.severity for finding in registry.findings()} == {"warning"}


async def test_links_that_lead_out_and_files_that_never_end_are_not_read(tmp_path):
    outside = tmp_path / "outside.plan.yaml"
    outside.write_text(PLAN.format(name="outside"))
    home = tmp_path / "home"
    home.mkdir()
    (home / "link.plan.yaml").symlink_to(outside)
    (home / "loop").symlink_to(home)
    os.mkfifo(home / "pipe.yaml")
    (home / "big.yaml").write_text("#" * 1_000_001)
    provider = FolderProvider(home)

    assert await provider.list_tools() == []
    assert [finding.code for finding in provider.findings] == ["unreadable", "outside_folder", "unreadable"]


def test_a_folder_that_is_not_there_is_refused(tmp_path):
    with pytest.raises(ConfigError, match="is no folder"):
        FolderProvider(tmp_path / "none")


async def test_who_runs_a_broken_composite_is_told_what_is_wrong_with_it(tmp_path: Path) -> None:
    text = "name: greet_all\nimplementation:\n  type: composite\n  steps:\n    - {id: a, inputs: {x: 1}}\n"
    (tmp_path / "hello.yaml").write_text(text, encoding="utf-8")
    async with Toolpath() as tp:
        tp.add_folder(tmp_path)
        for name in ("greet_all", "hello"):
            with pytest.raises(ToolUnavailable, match=r"hello\.yaml"):
                await tp.run(name)
        plan = {"steps": [{"id": "a", "tool": "greet_all"}]}
        await tp.load(plan)
        (unknown,) = [finding for finding in tp.check(plan) if finding.code == "unknown_tool"]
        assert "hello.yaml" in unknown.message
