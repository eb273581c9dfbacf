"""What people know better than a tool says of itself: in the settings, or beside a server in `mcp.json`."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from cli_cases import Command, shop, toolpath
from tests.prepared.prepared import prepared

__all__ = ["shop", "toolpath"]


def settings(shop: Path, text: str) -> None:
    file = shop / "toolpath.toml"
    file.write_text(file.read_text() + text)


def servers(shop: Path, **fields: object) -> None:
    command, *args = prepared("probe")
    probe = {"command": command, "args": args, **fields}
    (shop / "mcp.json").write_text(json.dumps({"mcpServers": {"probe": probe}}))


def effect(toolpath: Command, key: str) -> object:
    shown = toolpath("--json", "tools", "show", key)
    assert shown.code == 0, shown.err
    assert isinstance(shown.json, dict)
    return shown.json["effect"]


def test_the_settings_win_over_what_a_function_says(shop: Path, toolpath: Command) -> None:
    settings(shop, '[overrides."shop.*"]\neffect = "read"\n[overrides."shop.order"]\neffect = "destructive"\n')
    assert effect(toolpath, "shop.order") == "destructive"
    assert effect(toolpath, "shop.broken") == "read"


def test_a_variable_has_them_as_json(shop: Path, toolpath: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TOOLPATH_OVERRIDES", '{"shop.order": {"effect": "read"}}')
    assert effect(toolpath, "shop.order") == "read"
    monkeypatch.setenv("TOOLPATH_OVERRIDES", "shop.order=read")
    refused = toolpath("tools", "show", "shop.order")
    assert refused.code == 2
    assert "TOOLPATH_OVERRIDES" in refused.err


def test_a_server_s_field_says_what_the_server_does_not_and_the_settings_win(shop: Path, toolpath: Command) -> None:
    servers(shop, overrides={"dr*": {"effect": "write"}, "add": {"effect": "destructive"}})
    assert effect(toolpath, "probe.drop") == "write"
    assert effect(toolpath, "probe.add") == "destructive"
    settings(shop, '[overrides."probe.add"]\neffect = "read"\n')
    assert effect(toolpath, "probe.add") == "read"


def test_the_effect_that_is_said_is_the_one_that_a_plan_is_explained_by(shop: Path, toolpath: Command) -> None:
    step = {"id": "a", "tool": "probe.add", "inputs": {"a": 1, "b": 2}}
    (shop / "p.plan.json").write_text(json.dumps({"name": "p", "steps": [step]}))
    servers(shop)
    assert "write" not in toolpath("explain", "p.plan.json").out
    servers(shop, overrides={"add": {"effect": "write"}})
    assert "write" in toolpath("explain", "p.plan.json").out


def test_a_run_that_waits_goes_on_with_what_was_said(shop: Path, toolpath: Command) -> None:
    asked = {"id": "a", "tool": "probe.add", "inputs": {"a": 1, "b": 2}, "requires_approval": True}
    (shop / "p.plan.json").write_text(json.dumps({"name": "p", "steps": [asked]}))
    servers(shop, overrides={"add": {"effect": "write"}})
    begun = toolpath("--json", "run", "p.plan.json", "--no-input")
    assert begun.code == 4, begun.err
    assert isinstance(begun.json, dict)
    went_on = toolpath("--json", "approve", begun.json["run_id"], "a")
    assert went_on.code == 0, went_on.err + went_on.out


@pytest.mark.parametrize(
    ("written", "said"),
    [
        ('[overrides."shop.order"]\neffekt = "read"\n', "'effect'"),
        ('[overrides."shop.order"]\neffect = "reads"\n', "read, write, destructive"),
        ('[overrides."shop.order"]\ninput_schema = {}\n', "belongs to the tool itself"),
        ('overrides = ["shop.order"]\n', "'overrides'"),
        ('[overrides]\n"shop.order" = "read"\n', "'overrides'"),
    ],
)
def test_what_no_override_can_be_is_refused_with_its_place(
    shop: Path, toolpath: Command, written: str, said: str
) -> None:
    settings(shop, written)
    refused = toolpath("tools", "list")
    assert refused.code == 2
    assert said in refused.err


def test_a_server_s_field_that_is_no_table_is_refused_with_file_and_server(shop: Path, toolpath: Command) -> None:
    for written, said in (
        ({"add": "read"}, "is no table of fields"),
        (["add"], "cannot be list"),
        ({"add": {"effekt": "read"}}, "'effect'"),
    ):
        servers(shop, overrides=written)
        refused = toolpath("tools", "list")
        assert refused.code == 2
        assert "probe" in refused.err
        assert said in refused.err


def test_doctor_names_an_override_that_fits_no_tool(shop: Path, toolpath: Command) -> None:
    settings(shop, '[overrides."shp.*"]\neffect = "read"\n[overrides."shop.*"]\neffect = "write"\n')
    said = toolpath("doctor", "--start")
    assert "'shp.*'" in said.err + said.out
    assert "override 'shop.*'" not in said.err + said.out
