"""`toolpath models …`."""

from __future__ import annotations

import pytest
from tests.cli.cli_cases import Command


@pytest.fixture(autouse=True)
def _keys(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TEAM_KEY", "sk-team-0123456789")
    monkeypatch.delenv("NO_SUCH_KEY", raising=False)


@pytest.mark.usefixtures("shop")
def test_a_model_is_kept_shown_changed_and_forgotten(toolpath: Command) -> None:
    add = ("models", "add", "fast", "--base-url", "http://127.0.0.1:9/v1", "--key-from", "TEAM_KEY", "--default")
    made = toolpath(*add, "--header", "X-Team=TEAM_KEY", "--json")
    assert (made.json["name"], made.json["is_default"], made.json["has_key"]) == ("fast", True, True)
    assert made.json["headers"] == ["X-Team"]
    assert "sk-team" not in made.out + made.err
    assert "fast (default)" in toolpath("models", "list").out
    assert toolpath("models", "change", "fast", "--temperature", "0.5", "--json").json["temperature"] == 0.5
    shown = toolpath("models", "show", "fast", "--json")
    assert "sk-team" not in shown.out
    tried = toolpath("models", "validate", "fast")
    assert (tried.code, "cannot be reached" in tried.err) == (1, True)
    assert toolpath("models", "add", "fast").code != 0
    wrong = toolpath("models", "show", "fasst")
    assert (wrong.code, "fast" in wrong.err) == (2, True)
    assert toolpath("models", "remove", "fast").code == 0
    assert toolpath("models", "list", "--json").json == []


@pytest.mark.usefixtures("shop")
def test_a_key_that_is_not_there_is_told_by_its_variable(toolpath: Command) -> None:
    refused = toolpath("models", "add", "fast", "--key-from", "NO_SUCH_KEY")
    assert (refused.code, "NO_SUCH_KEY" in refused.err) == (2, True)
