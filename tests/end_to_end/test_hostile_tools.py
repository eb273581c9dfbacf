"""Tools that misbehave: the step has failed with a reason, stdout holds the result alone, the others go on."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from end_to_end_cases import Command, Desk, events

PRINTED = ["printed", "to the descriptor"]


@pytest.mark.parametrize("tool", ["printing", "printing_apart"])
def test_what_tools_print_is_kept_out_of_the_result(desk: Desk, tool: str) -> None:
    ran = desk.run("run", tool, "--json")
    assert ran.code == 0
    assert ran.json["outputs"] == "the result"
    if tool == "printing":
        for line in (*PRINTED, "written", "by a child"):
            # Where output is not buffered, a line of the run may come before the end of this one.
            assert line in ran.err


def test_what_a_module_prints_when_it_is_loaded_is_kept_out_too(desk: Desk, toolpath: Command) -> None:
    desk.write("loud.py", "print('hello')\nfrom toolpath import tool\n@tool\ndef f() -> int:\n    return 1\n")
    ran = toolpath("run", "f", "--tools", "loud.py")
    assert (ran.code, ran.out) == (0, "1\n")
    assert "hello" in ran.err


@pytest.mark.parametrize(
    ("tool", "message"),
    [
        ("exits", "SystemExit: 3"),
        ("interrupts", "KeyboardInterrupt"),
        ("object_", "no JSON: Encoding objects of type object"),
        ("nan", "NaN or infinity"),
        ("deep", "no JSON"),
        ("never", "never took longer than 0.2 s"),
        ("spins", "spins took longer than 0.5 s"),
        ("dies", "ended with exit code 9 without a result. last words"),
    ],
)
def test_a_tool_that_misbehaves_fails_its_step_and_nothing_else(
    desk: Desk, toolpath: Command, tool: str, message: str
) -> None:
    plan = f"""
        name: odd
        failure_mode: isolate
        steps:
          - {{id: bad, tool: {tool}}}
          - {{id: good, tool: mark, inputs: {{name: good}}}}
          - {{id: after, tool: mark, inputs: {{name: "{{{{ bad }}}}"}}}}
    """
    desk.write("odd.yaml", plan)
    ran = toolpath("run", "odd.yaml")
    assert (ran.code, ran.out) == (1, "")
    assert message in ran.err
    assert "Traceback" not in ran.err
    result = toolpath("runs", "show", "last", "--json").json
    statuses = {step["path"]: step["status"] for step in result["results"]}
    assert statuses == {
        "bad": "timed_out" if "took longer" in message else "failed",
        "good": "succeeded",
        "after": "skipped",
    }
    assert desk.calls == ["good"]
    if tool == "spins":
        with pytest.raises(OSError, match="No such"):
            os.kill(int(Path("pid").read_text()), 0)


def test_a_result_of_100_megabytes_is_refused_by_its_size(desk: Desk, toolpath: Command) -> None:
    ran = toolpath("run", "large", "-i", "megabytes=101")
    assert ran.code == 1
    assert "large returned 101,000,304 bytes; the most is 100,000,000 (max_result_bytes)" in ran.err
    assert Path("runs.db").stat().st_size < 1_000_000


def test_a_large_result_travels_and_is_still_reached_into(desk: Desk, toolpath: Command) -> None:
    plan = """
        name: much
        steps:
          - {id: much, tool: large, inputs: {megabytes: 5}}
          - {id: look, tool: look, inputs: {name: "{{ much[4] | truncate(3, true, '') }}"}}
        outputs: {name: "{{ look }}", count: "{{ much | length }}"}
    """
    desk.write("much.yaml", plan)
    ran = toolpath("run", "much.yaml")
    assert ran.code == 0, ran.err
    assert ran.json == {"name": "xxx", "count": 5}
    assert max(len(str(event)) for event in events(toolpath)) < 10_000


def test_a_module_of_tools_that_cannot_be_loaded_names_file_and_line(desk: Desk, toolpath: Command) -> None:
    desk.write("bad.py", "import os\n\nraise SystemExit(5)\n")
    ran = toolpath("run", "mark", "-i", "name=x", "--tools", "bad.py")
    assert (ran.code, ran.out) == (2, "")
    assert "bad.py:3" in ran.err
    assert "Traceback" not in ran.err
    assert desk.calls == []


def test_an_error_of_a_tool_is_told_with_its_type(toolpath: Command) -> None:
    ran = toolpath("run", "broken", "-i", "why=tea")
    assert ran.code == 1
    assert "call failed: KeyError: 'tea'" in ran.err
