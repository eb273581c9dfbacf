"""Groups of built-in tools: on where they are named, off everywhere else, and clear where they cannot be."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from toolpath import Toolpath
from toolpath.config import Settings, load_settings
from toolpath.errors import ConfigError
from toolpath.providers.builtin.groups import GROUPS
from toolpath.providers.builtin.provider import BuiltinProvider

FILE = '[builtin.http]\nhosts = ["api.example.org"]\n'


async def keys(groups: object) -> set[str]:
    async with Toolpath() as tp:
        tp.sources.add_source("builtin", groups)
        return set((await tp.tools()).tools)


async def test_nothing_is_on_that_is_not_named():
    assert Settings().builtin == {}
    assert await keys({}) == set()
    assert await keys({"http": {"hosts": ["*"]}}) == {"http.get", "http.request"}


@pytest.mark.parametrize(
    ("groups", "said"),
    [
        ({"htp": {}}, "'http'"),
        ({"http": {}}, "no host"),
        ({"http": {"hosts": ["a"], "hots": 1}}, "no option 'hots'"),
        ({"http": {"hosts": "a"}}, "cannot be read"),
        ({"http": {"hosts": ["a"], "timeout": -1}}, "cannot be read"),
        ({"http": 5}, "{group: options}"),
        ("http", "no host"),
    ],
)
def test_what_cannot_be_switched_on_is_said(groups, said):
    with pytest.raises(ConfigError) as caught:
        Toolpath().sources.add_source("builtin", groups)
    assert said in str(caught.value)


def test_no_value_of_an_option_is_told():
    with pytest.raises(ConfigError) as caught:
        BuiltinProvider({"http": {"hosts": ["a"], "headers": "hunter22"}})
    assert "hunter22" not in str(caught.value)


def test_a_variable_or_flag_names_groups_and_the_file_has_their_options(tmp_path: Path):
    file = tmp_path / "toolpath.toml"
    file.write_text(FILE)
    of_file = {"http": {"hosts": ["api.example.org"]}}
    assert load_settings(file, {}).builtin == of_file
    assert load_settings(file, {"TOOLPATH_BUILTIN": "http"}).builtin == of_file
    assert load_settings(file, {}, builtin=("http",)).builtin == of_file
    assert load_settings(file, {}, builtin=("time",)).builtin == {"time": {}}
    table = json.dumps({"http": {"hosts": ["*"]}})
    assert load_settings(file, {"TOOLPATH_BUILTIN": table}).builtin == {"http": {"hosts": ["*"]}}
    assert load_settings(file, {"TOOLPATH_BUILTIN": table}, builtin=("http",)).builtin == {"http": {"hosts": ["*"]}}
    with pytest.raises(ConfigError, match="no JSON"):
        load_settings(file, {"TOOLPATH_BUILTIN": '{"http": "hunter22'})


async def test_no_record_of_a_run_switches_a_group_on():
    async with Toolpath() as tp:
        for described in ({"builtin": "shell"}, {"": "http"}, {"builtin": {"shell": {}}}):
            tp.sources.add_recorded(described)
        assert set((await tp.tools()).tools) == set()
        tp.sources.add_source("builtin", {"http": {"hosts": ["*"]}})
        assert tp.sources.described() == {}


def test_each_group_has_a_section_in_the_guide():
    page = (Path(__file__).parents[3] / "docs" / "howto" / "built-in-tools.md").read_text()
    assert [kind.name for kind in GROUPS if f"`{kind.name}`\n" not in page] == []
