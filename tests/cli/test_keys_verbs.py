from __future__ import annotations

import socket
from pathlib import Path

import pytest
from tests.cli.cli_cases import Command


def test_a_key_is_shown_once_and_listed_without_what_opens(toolpath: Command, shop: Path) -> None:
    made = toolpath("keys", "create", "ci", "--scope", "run", "--tenant", "acme", "--lasts", "2h")
    text = made.out.strip()
    assert made.code == 0
    assert text.startswith("tpk_")
    assert "shown this once" in made.err
    listed = toolpath("keys", "list", "--json")
    (key,) = listed.json
    assert (key["name"], key["user"], key["tenant"], key["scopes"], key["state"]) == (
        "ci",
        "ci",
        "acme",
        ["run"],
        "active",
    )
    assert text.split("_", 2)[2] not in listed.out
    assert text.split("_", 2)[2].encode() not in b"".join(file.read_bytes() for file in shop.glob("runs.db*"))
    assert toolpath("keys", "revoke", key["id"]).code == 0
    assert toolpath("keys", "list", "--json").json[0]["state"] == "revoked"
    assert toolpath("keys", "revoke", "key_0").code == 2


@pytest.mark.parametrize(
    "arguments", [("--scope", "rum"), ("--lasts", "soon"), ("--lasts", "-1")], ids=["scope", "time", "negative"]
)
def test_a_key_that_cannot_be_meant_is_not_made(toolpath: Command, arguments: tuple[str, ...]) -> None:
    assert toolpath("keys", "create", "ci", *arguments).code == 2
    assert toolpath("keys", "list", "--json").json == []


@pytest.mark.parametrize("host", ["0.0.0.0", "::"])
def test_a_server_that_others_could_reach_does_not_start_without_credentials(toolpath: Command, host: str) -> None:
    if host == "::" and not socket.has_ipv6:
        pytest.skip("no IPv6")
    refused = toolpath("serve", "--host", host, "--port", "0")
    assert refused.code == 2
    assert "toolpath keys create" in refused.err
    assert "Listening" not in refused.err


def test_nor_does_one_whose_only_key_is_revoked(toolpath: Command) -> None:
    toolpath("keys", "create", "ci")
    toolpath("keys", "revoke", toolpath("keys", "list", "--json").json[0]["id"])
    assert toolpath("serve", "--host", "0.0.0.0", "--port", "0").code == 2


def test_doctor_says_who_may_use_a_server(toolpath: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    toolpath("keys", "create", "ci")
    assert "asks nobody on this machine, everybody elsewhere; 1 keys, no tokens" in toolpath("doctor").out
    monkeypatch.setenv("TOOLPATH_JWT_KEYS", "gone.pem")
    broken = toolpath("doctor")
    assert broken.code == 1
    assert "gone.pem (jwt_keys) is not there" in broken.out


def test_old_entries_of_the_trail_are_let_go_of_by_a_command_that_the_trail_tells(toolpath: Command) -> None:
    for name in ("one", "two"):
        assert toolpath("keys", "create", name).code == 0
    assert toolpath("audit", "prune", "--older-than", "soon").code == 2
    assert toolpath("audit", "prune", "--older-than", "1d").out.strip() == "0 entries let go of."
    would = toolpath("audit", "prune", "--older-than", "0s", "--dry-run", "--json")
    assert (would.code, would.json) == (0, {"entries": 2, "dry_run": True})
    assert [entry["action"] for entry in toolpath("audit", "list", "--json").json] == ["key.create", "key.create"]
    assert toolpath("audit", "prune", "--older-than", "0s").out.strip() == "2 entries let go of."
    assert [entry["action"] for entry in toolpath("audit", "list", "--json").json] == ["audit.prune"]
    verdict = toolpath("audit", "verify", "--json").json
    assert (verdict["good"], verdict["unlinked"]) == (True, 0)
