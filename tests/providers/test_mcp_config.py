"""Lists of MCP servers as other clients write them."""

from __future__ import annotations

import json

import pytest

from toolpath.errors import ConfigError
from toolpath.providers.mcp.config import providers_again, read_mcp_config
from toolpath.providers.mcp.launch import Launch


def test_the_shapes_of_other_clients_are_read(tmp_path):
    server = {"command": "run", "args": ["-v", 1], "env": {"N": 1}, "cwd": "/tmp", "type": "stdio"}
    path = tmp_path / "mcp.json"
    path.write_text(json.dumps({"mcpServers": {"time": server, "off": {"command": "x", "disabled": True}}}))

    (time,) = read_mcp_config(path)
    (vs_code,) = read_mcp_config({"servers": {"web": {"type": "http", "url": "http://a/mcp", "headers": {"A": "b"}}}})
    (settings,) = read_mcp_config({"mcp": {"servers": {"@org/my server": server}}})

    assert time.describe() == {
        "mcp": "time",
        "command": "run",
        "args": ["-v", "1"],
        "cwd": "/tmp",
        "hidden": ["env.N"],
        "trust_annotations": True,
    }
    assert vs_code.describe()["url"] == "http://a/mcp"
    assert settings.name == "org-my-server"


@pytest.mark.parametrize(
    ("document", "message"),
    [
        ({}, "no object 'mcpServers'"),
        ({"mcpServers": []}, "no object 'mcpServers'"),
        ({"mcpServers": {"a": 1}}, "server 'a' is no object"),
        ({"mcpServers": {"a": {}}}, "server 'a' has neither"),
        ({"mcpServers": {"a": {"comand": "x"}}}, "neither 'command' nor 'url', but 'comand'"),
        ({"mcpServers": {"a": {"command": "x", "url": "http://b"}}}, "server 'a': .*one of the two"),
        ({"mcpServers": {"a": {"command": "x", "args": "y"}}}, "'args' cannot be str"),
        ({"mcpServers": {"a": {"command": "x", "args": [[]]}}}, "'args' is a list of texts"),
        ({"mcpServers": {"a": {"command": "x", "env": {"B": []}}}}, "env.B is a text"),
        ({"mcpServers": {"a": {"url": "file:///etc"}}}, "no http or https URL"),
        ({"mcpServers": {"a": {"type": "sse", "url": "http://b"}}}, "type 'sse' is not known"),
        ({"mcpServers": {"a": {"type": "http", "command": "x"}}}, "has no 'url'"),
        ({"mcpServers": {"a b": {"command": "x"}, "a-b": {"command": "x"}}}, "two servers would be called 'a-b'"),
        ({"mcpServers": {"!": {"command": "x"}}}, "cannot be called"),
    ],
)
def test_what_cannot_be_read_names_server_and_field(document, message):
    with pytest.raises(ConfigError, match=message):
        read_mcp_config(document)


@pytest.mark.parametrize(
    ("text", "message"), [("{", "mcp.json:1:2: no JSON"), ("[]", "no JSON object"), ("\x80", "no JSON")]
)
def test_a_file_that_is_no_json_names_the_place(tmp_path, text, message):
    path = tmp_path / "mcp.json"
    path.write_bytes(text.encode("latin-1"))

    with pytest.raises(ConfigError, match=message):
        read_mcp_config(path)


def test_a_file_that_is_not_there_is_named():
    with pytest.raises(ConfigError, match=r"nowhere\.json cannot be read"):
        read_mcp_config("nowhere.json")


def test_variables_are_filled_in_at_the_start_and_a_missing_one_is_named():
    launch = Launch(command="${BIN}", args=("${env:A}-${B:-b}",), headers={"Authorization": "Bearer ${KEY}"})

    filled = launch.filled({"BIN": "run", "A": "a", "KEY": "k"})

    assert (filled.command, filled.args, filled.headers) == ("run", ("a-b",), {"Authorization": "Bearer k"})
    with pytest.raises(ConfigError, match="'BIN' is not set"):
        launch.filled({})


def test_a_description_gives_the_server_back_unless_it_had_secrets():
    (open_one,) = read_mcp_config({"mcpServers": {"a": {"url": "http://x/mcp", "headers": {"K": "${K}"}}}})
    (secret,) = read_mcp_config({"mcpServers": {"a": {"url": "http://u:p@x/mcp?key=1", "headers": {"K": "v"}}}})

    assert providers_again(open_one.describe())[0].describe() == open_one.describe()
    assert secret.describe()["url"] == "http://x/mcp"
    with pytest.raises(ConfigError, match=r"url, headers\.K is not kept"):
        providers_again(secret.describe())


def test_the_most_calls_at_once_are_read_and_described():
    written = {
        "a": {"command": "x", "max_concurrency": 3},
        "b": {"url": "http://x", "concurrency": 2},
        "c": {"command": "x"},
    }
    providers = read_mcp_config({"mcpServers": written})
    assert [provider.max_concurrency for provider in providers] == [3, 2, None]
    assert [providers_again(provider.describe())[0].max_concurrency for provider in providers] == [3, 2, None]


@pytest.mark.parametrize("most", [0, -1, "2", True, 1.5])
def test_a_number_of_calls_at_once_that_is_none_is_refused(most):
    with pytest.raises(ConfigError, match="max_concurrency"):
        read_mcp_config({"mcpServers": {"a": {"command": "x", "max_concurrency": most}}})
