"""Built-in tools on the command line: what is on is listed, and told by the doctor without what is secret."""

from __future__ import annotations

from pathlib import Path

from cli_cases import Command, shop, toolpath

__all__ = ["shop", "toolpath"]

SETTINGS = """
[builtin.http]
hosts = ["api.example.org"]
[builtin.http.headers."api.example.org"]
Authorization = "Bearer hunter22"
[builtin.time]
[builtin.database.sources.notes]
url = "postgresql://ann:hunter22@db.example.org/notes"
"""


def test_what_is_switched_on_is_listed_called_and_told(toolpath: Command) -> None:
    settings = Path("toolpath.toml")
    before = settings.read_text() if settings.is_file() else ""
    listed = toolpath("tools", "list", "--json").out
    assert "http.get" not in listed
    assert "time.now" not in listed
    settings.write_text(before + SETTINGS)
    listed = toolpath("tools", "list", "--json").out
    for key in ("http.get", "http.request", "time.now", "database.read"):
        assert key in listed
    assert "database.write" not in listed
    # Named on the command line: those alone, with the options of the file.
    listed = toolpath("tools", "list", "--json", "--builtin", "http").out
    assert "http.get" in listed
    assert "time.now" not in listed
    assert toolpath("tools", "call", "time.now", "-i", "time_zone=Asia/Tokyo", "--json").code == 0
    told = toolpath("doctor", "--json")
    found = {remark["subject"]: remark for remark in told.json["remarks"]}
    assert found["built-in http"]["text"] == "on, 2 tools; hosts api.example.org"
    assert found["built-in time"]["verdict"] == "good"
    assert "notes" in found["built-in database"]["text"]
    assert told.json["settings"]["builtin"]["value"] == {
        "http": ["headers", "hosts"],
        "time": [],
        "database": ["sources"],
    }
    for ran in (told, toolpath("doctor"), toolpath("tools", "list"), toolpath("tools", "show", "database.read")):
        assert "hunter22" not in ran.out + ran.err


def test_a_group_that_is_not_there_is_said(toolpath: Command) -> None:
    ran = toolpath("tools", "list", "--builtin", "htp")
    assert ran.code == 2
    assert "'http'" in ran.err
    assert toolpath("run", "no.yaml", "--builtin", "http").code == 2
