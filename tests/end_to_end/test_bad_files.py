"""Files that are no plans: every fault has its place and a way out, nothing is started, nothing is stored."""

from __future__ import annotations

import json

import pytest
from end_to_end_cases import Command, Desk

BAD = {
    "a tab": (
        "name: a\nsteps:\n\t- {tool: mark}\n",
        "bad.yaml:3:1: error unreadable: A tab stands here",
        "Use spaces.",
    ),
    "an unknown field": (
        "name: a\nsteps:\n  - {tool: mark, inptus: {name: x}}\nflaw: graph\n",
        "bad.yaml:3:18: error unknown_field: A step with 'tool' has no field 'inptus'. Did you mean 'inputs'?",
        "bad.yaml:4:1: error unknown_field",
    ),
    "a wrong type": (
        "name: a\nconcurrency: many\nsteps:\n  - {tool: mark, timeout: soon}\n",
        "bad.yaml:2:14: error wrong_type: A whole number is expected here",
        "bad.yaml:4:",
    ),
    "a cycle": (
        "steps:\n  - {id: a, tool: look, inputs: {name: '{{ b }}'}}\n"
        "  - {id: b, tool: look, inputs: {name: '{{ a }}'}}\n",
        "bad.yaml:2:5: error cycle: Circular dependency detected between tools: a → b → a",
        "Take one of these out",
    ),
    "a missing tool": (
        "steps:\n  - {id: a, tool: marc, inputs: {name: x}}\n",
        "bad.yaml:2:19: error unknown_tool: No tool is called 'marc'. Did you mean 'mark'?",
        "",
    ),
    "an anchor in itself": ("steps:\n  - {tool: mark, inputs: {name: &a [*a]}}\n", "The anchor &a holds itself.", ""),
    "anchors that multiply": (
        "".join(
            f"{n}: &{n} [{','.join(['*' + m if m else 'x'] * 10)}]\n"
            for m, n in zip("\0abcdefg", "abcdefgh", strict=True)
        ).replace("*\0", "x"),
        "There are more than 500,000 values",
        "keep data in files that tools read",
    ),
    "no text at all": ("", "error unreadable: The text is empty.", ""),
    "bytes": (
        b"name: \xff\xfe",
        "bad.yaml:1:7: error unreadable: The byte 0xff is not UTF-8.",
        "Save the file as UTF-8.",
    ),
    "a list": ("- tool: mark\n", "bad.yaml:", ""),
    "two of one name": ("steps:\n  - {tool: mark, tool: look, inputs: {name: x}}\n", "bad.yaml:2:", "tool"),
    "deep": ("[" * 100_000, "The nesting is deeper than", ""),
    "half of it": ('{"name": "a", "steps": [', "bad.yaml:1:25", ""),
    "Python": ("!!python/object/apply:os.system ['touch owned']\n", "bad.yaml:1:1: error unreadable", ""),
}


@pytest.mark.parametrize("name", BAD)
def test_a_file_that_is_no_plan_says_where_and_what_to_do(desk: Desk, toolpath: Command, name: str) -> None:
    content, first, second = BAD[name]
    (desk.folder / "bad.yaml").write_bytes(content if isinstance(content, bytes) else content.encode())
    ran = toolpath("run", "bad.yaml")
    assert (ran.code, ran.out) == (3, "")
    assert first in ran.err
    assert second in ran.err
    assert "nothing was started" in ran.err
    assert "Traceback" not in ran.err
    assert max(map(len, ran.err.splitlines())) < 1_000
    checked = toolpath("validate", "bad.yaml")
    assert checked.code == 3
    assert first in checked.out
    assert toolpath("explain", "bad.yaml").code == 3
    found = toolpath("run", "bad.yaml", "--json")
    assert found.code == 3
    assert all({"code", "severity", "message"} <= set(finding) for finding in found.json["findings"])
    assert toolpath("runs", "list").out == ""
    assert desk.calls == []
    assert not (desk.folder / "owned").exists()


def test_a_file_of_50_megabytes_is_refused_by_its_size(desk: Desk, toolpath: Command) -> None:
    with (desk.folder / "huge.yaml").open("wb") as file:
        file.truncate(50_000_000)
    for words in (("run", "huge.yaml"), ("validate", "huge.yaml"), ("explain", "huge.yaml")):
        ran = toolpath(*words)
        assert ran.code == 3
        assert "huge.yaml has 50,000,000 bytes; the most is 5,000,000" in ran.out + ran.err


def test_a_bad_file_in_a_folder_hides_no_other(desk: Desk, toolpath: Command) -> None:
    desk.write("flows/bad.yaml", "steps: [")
    desk.write("flows/tab.yaml", "steps:\n\t- 1\n")
    with (desk.folder / "flows/huge.yaml").open("wb") as file:
        file.truncate(50_000_000)
    desk.write(
        "flows/good.yaml", "name: good\nsteps:\n  - {id: m, tool: mark, inputs: {name: good}}\noutputs: '{{ m }}'\n"
    )
    ran = toolpath("run", "good", "--folder", "flows")
    assert (ran.code, ran.out) == (0, "good\n"), ran.err
    ran = toolpath("doctor", "--folder", "flows")
    for name in ("bad.yaml", "tab.yaml:2", "huge.yaml"):
        assert name in ran.out + ran.err, "the doctor does not see what is wrong with a file"


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("{", "mcp.json:1:2"),
        ('{"mcpServers": {"a": {"comand": "x"}}}', "server 'a' has neither 'command' nor 'url', but 'comand'"),
        ('{"mcpServers": {"a b.c": {"command": ["x"]}}}', "'command' cannot be list"),
        ('{"mcpServers": []}', "has no object 'mcpServers'"),
    ],
)
def test_a_list_of_servers_that_cannot_be_read_names_the_place(
    desk: Desk, toolpath: Command, content: str, message: str
) -> None:
    desk.write("mcp.json", content)
    ran = toolpath("run", "mark", "-i", "name=x")
    assert (ran.code, ran.out) == (2, "")
    assert message in ran.err
    assert desk.calls == []


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("-i", "name=1", "-i", "nmae=2"), "nmae"),
        ((), "name"),
        (("--input-file", "bad.json"), "no JSON"),
        (("--input-file", "list.json"), "must be an object"),
        (("--input-file", "nowhere.json"), "cannot be read"),
    ],
)
def test_inputs_that_do_not_fit_are_told_and_nothing_is_called(
    desk: Desk, toolpath: Command, words: tuple[str, ...], message: str
) -> None:
    desk.write("bad.json", "{'name': 1}")
    desk.write("list.json", json.dumps(["name"]))
    ran = toolpath("run", "mark", *words)
    assert ran.code in (2, 3)
    assert message in ran.err
    assert "Traceback" not in ran.err
    assert desk.calls == []
