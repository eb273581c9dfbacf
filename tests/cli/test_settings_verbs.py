"""`toolpath settings …`."""

from __future__ import annotations

import pytest
from tests.cli.cli_cases import Command


@pytest.mark.usefixtures("shop")
def test_settings_are_listed_stored_shown_and_taken_back(toolpath: Command) -> None:
    listed = {each["name"]: each for each in toolpath("settings", "list", "--json").json}
    assert (listed["agent_rounds"]["value"], listed["agent_rounds"]["source"]) == (30, "default")
    kept = toolpath("settings", "set", "agent_rounds=12", "agent_parallel_calls=false", "retry_backoff=none", "--json")
    assert [(each["value"], each["source"]) for each in kept.json] == [
        (12, "stored"),
        (False, "stored"),
        ("none", "stored"),
    ]
    # Another process, the next command, knows them.
    assert toolpath("settings", "show", "agent_rounds", "--json").json["stored"] == 12
    (line,) = [line for line in toolpath("settings", "list").out.splitlines() if line.startswith("agent_rounds")]
    assert line.split() == ["agent_rounds", "12", "stored", "30"]
    assert toolpath("settings", "reset", "agent_rounds", "--json").json[0]["value"] == 30
    assert toolpath("settings", "show", "agent_parallel_calls", "--json").json["stored"] is False
    assert toolpath("settings", "reset").code == 0
    assert all(each["stored"] is None for each in toolpath("settings", "list", "--json").json)


@pytest.mark.usefixtures("shop")
@pytest.mark.parametrize(
    ("typed", "code", "says"),
    [
        (("agent_rounds=0",), 3, "agent_rounds"),
        (("agent_rounds=many",), 3, "agent_rounds"),
        (("agent_rounds",), 2, "NAME=VALUE"),
        (("=3",), 2, "NAME=VALUE"),
        (("agent_round=3",), 3, "agent_rounds"),
        (("store=x.db",), 3, "when a process is started"),
        (("max_retries=1", "agent_parallel_calls=perhaps"), 3, "agent_parallel_calls"),
    ],
)
def test_what_is_no_setting_is_refused_and_nothing_is_stored(
    toolpath: Command, typed: tuple[str, ...], code: int, says: str
) -> None:
    refused = toolpath("settings", "set", *typed)
    assert (refused.code, says in refused.err) == (code, True)
    assert all(each["stored"] is None for each in toolpath("settings", "list", "--json").json)
