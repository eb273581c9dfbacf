from __future__ import annotations

import io
import re
from pathlib import Path

import pytest
from cli_cases import Command

PLAN = """
name: lunch
inputs:
  type: object
  properties: {item: {type: string}, count: {type: integer, default: 1}}
  required: [item]
steps:
  - id: cost
    tool: shop.price
    inputs: {item: "{{ inputs.item }}"}
  - id: order
    tool: shop.order
    when: "{{ cost < 3 }}"
    inputs: {item: "{{ inputs.item }}", count: "{{ inputs.count }}"}
outputs: {cost: "{{ cost }}", number: "{{ order.number }}"}
"""


@pytest.fixture
def lunch(shop: Path) -> str:
    (shop / "lunch.yaml").write_text(PLAN)
    return "lunch.yaml"


def test_a_plan_runs_and_its_outputs_are_all_there_is_on_stdout(toolpath: Command, lunch: str) -> None:
    ran = toolpath("run", lunch, "-i", "item=tea", "-i", "count=2")
    assert ran.code == 0
    assert ran.json == {"cost": 2.5, "number": 7}
    assert "order succeeded" in ran.err
    assert Path("orders.txt").read_text() == "tea 2\n"


def test_with_json_the_whole_result_is_on_stdout(toolpath: Command, lunch: str) -> None:
    result = toolpath("run", lunch, "-i", "item=tea", "--json").json
    assert result["status"] == "completed"
    assert [step["step"] for step in result["results"]] == ["cost", "order"]


def test_quiet_writes_nothing_for_people(toolpath: Command, lunch: str) -> None:
    assert toolpath("run", lunch, "-i", "item=tea", "-q").err == ""


def test_a_plan_may_come_from_stdin_and_inputs_from_a_file(
    toolpath: Command, shop: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (shop / "inputs.json").write_text('{"item": "tea"}')
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(PLAN.encode())))
    assert toolpath("run", "-", "--input-file", "inputs.json").json["cost"] == 2.5


def test_a_single_tool_runs_by_its_name(toolpath: Command) -> None:
    assert toolpath("run", "shop.price", "-i", "item=cake").out == "4.0\n"
    assert toolpath("tools", "call", "price", "-i", "item=cake").out == "4.0\n"


def test_a_dry_run_calls_nothing_and_says_what_cannot_be_known(toolpath: Command, lunch: str) -> None:
    ran = toolpath("run", lunch, "-i", "item=tea", "--dry-run")
    assert ran.code == 0
    assert '{"item":"tea"}' in ran.out
    assert "whether order runs" in ran.err
    assert not Path("orders.txt").exists()
    assert not Path("runs.db").exists()


def test_a_failed_run_ends_with_1_and_says_why(toolpath: Command) -> None:
    ran = toolpath("run", "shop.broken", "-i", "why=no milk")
    assert ran.code == 1
    assert ran.out == ""
    assert "no milk" in ran.err
    assert "toolpath runs show" in ran.err


@pytest.mark.parametrize(
    "arguments",
    [
        ("run",),
        ("run", "nothing-of-that-name"),
        ("run", "missing.yaml"),
        ("run", "shop.price", "--no-such-option"),
        ("run", "shop.price", "-i", "novalue"),
        ("run", "-", "--input-file", "-"),
        ("run", "shop.price", "--record", "a", "--replay", "b"),
        ("validate", "missing.yaml"),
        ("explain", "shop.price", "--format", "poem"),
        ("runs", "show", "last"),
        ("runs", "show", "run_0"),
        ("runs", "settle"),
        ("settle", "last", "step"),
        ("tools", "show", "nothing"),
        ("--config", "missing.toml", "tools", "list"),
        ("--tools", "no_such_module", "tools", "list"),
        ("--folder", "no_such_folder", "tools", "list"),
    ],
    ids=" ".join,
)
def test_what_cannot_be_meant_ends_with_2(toolpath: Command, arguments: tuple[str, ...]) -> None:
    ran = toolpath(*arguments)
    assert ran.code == 2, ran.err
    assert ran.err


def test_a_plan_that_does_not_check_ends_with_3_and_nothing_is_called(toolpath: Command, shop: Path) -> None:
    (shop / "bad.yaml").write_text(PLAN.replace("shop.order", "shop.ordr"))
    ran = toolpath("run", "bad.yaml", "-i", "item=tea")
    assert ran.code == 3
    assert "bad.yaml:12:" in ran.err
    assert "Did you mean 'shop.order'" in ran.err
    ran = toolpath("validate", "bad.yaml")
    assert ran.code == 3
    assert ran.out.startswith("bad.yaml:12:")


def test_inputs_that_do_not_fit_end_with_3(toolpath: Command, lunch: str) -> None:
    ran = toolpath("run", lunch, "-i", "count=many")
    assert ran.code == 3
    assert "missing_input" in ran.err
    assert "wrong_input" in ran.err


def test_validate_shows_the_findings_of_every_file_and_json_has_them_all(toolpath: Command, shop: Path) -> None:
    (shop / "good.yaml").write_text(PLAN)
    (shop / "bad.yaml").write_text("name: x\nsteps: [{tool: 3}]\n")
    ran = toolpath("validate", "good.yaml", "bad.yaml", "--json")
    assert ran.code == 3
    assert "bad.yaml" in {finding["file"] for finding in ran.json}
    assert all(finding["code"] and finding["severity"] for finding in ran.json)


def test_text_that_is_no_plan_is_a_finding_with_its_place(toolpath: Command, shop: Path) -> None:
    (shop / "torn.yaml").write_text("steps: [\n  {tool: a\n")
    ran = toolpath("validate", "torn.yaml")
    assert ran.code == 3
    assert ran.out.startswith("torn.yaml:")


def test_explain_draws_the_plan(toolpath: Command, lunch: str) -> None:
    assert "order: shop.order" in toolpath("explain", lunch).out
    assert toolpath("explain", lunch, "--format", "mermaid").out.startswith("flowchart TD")
    assert toolpath("explain", lunch, "--format", "json").json["name"] == "lunch"


def test_explain_says_how_long_it_took_before(toolpath: Command, lunch: str) -> None:
    assert "Duration: unknown" in toolpath("explain", lunch).out
    assert toolpath("run", lunch, "-i", "item=tea").code == 0
    assert re.search(r"Duration: about \d+\.\d+ m?s", toolpath("explain", lunch).out)


def test_runs_are_listed_shown_and_read_back(toolpath: Command, lunch: str) -> None:
    toolpath("run", lunch, "-i", "item=tea")
    toolpath("run", "shop.broken", "-i", "why=x")
    rows = toolpath("runs", "list", "--json").json
    assert [row["status"] for row in rows] == ["failed", "completed"]
    assert [row["status"] for row in toolpath("runs", "list", "--status", "failed", "--json").json] == ["failed"]
    run_id = rows[1]["run_id"]
    shown = toolpath("runs", "show", run_id)
    assert "order" in shown.out
    assert "2.5" in shown.out
    events = toolpath("runs", "events", run_id, "--json").out.splitlines()
    assert '"type":"run.started"' in events[0]
    assert '"type":"run.completed"' in events[-1]
    assert toolpath("runs", "watch", "last").code == 1


def test_a_recording_answers_a_later_run(toolpath: Command, lunch: str) -> None:
    assert toolpath("run", lunch, "-i", "item=tea", "--record", "calls.jsonl").code == 0
    Path("orders.txt").unlink()
    ran = toolpath("run", lunch, "-i", "item=tea", "--replay", "calls.jsonl")
    assert ran.json == {"cost": 2.5, "number": 7}
    assert not Path("orders.txt").exists()


def test_tools_are_listed_found_and_described(toolpath: Command) -> None:
    assert [tool["key"] for tool in toolpath("tools", "list", "--json").json] == [
        *("shop.broken", "shop.order", "shop.price", "shop.slow"),
    ]
    assert toolpath("tools", "search", "the price", "--json").json[0]["key"] == "shop.price"
    assert toolpath("tools", "show", "price").json["effect"] == "read"


def test_statistics_grow_with_calls(toolpath: Command) -> None:
    toolpath("run", "shop.price", "-i", "item=tea")
    assert toolpath("tools", "stats", "--json").json["shop.price"]["calls"] == 1


def test_doctor_names_each_setting_and_its_source(toolpath: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TOOL_PARALLEL_LIMIT", "7")
    monkeypatch.setenv("TOOLPATH_PARALEL", "7")
    ran = toolpath("doctor", "--json")
    assert ran.code == 0
    assert ran.json["settings"]["parallel_limit"] == {"value": 7, "source": "TOOL_PARALLEL_LIMIT"}
    assert "TOOLPATH_PARALEL" in {remark["subject"] for remark in ran.json["remarks"]}


def test_doctor_finds_what_is_broken(toolpath: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TOOLPATH_PARALLEL_LIMIT", "none")
    ran = toolpath("doctor")
    assert ran.code == 1
    assert "TOOLPATH_PARALLEL_LIMIT" in ran.out
    monkeypatch.delenv("TOOLPATH_PARALLEL_LIMIT")
    Path("runs.db").write_bytes(b"not a database" * 100)
    assert toolpath("doctor").code == 1


def test_an_error_has_a_traceback_only_where_it_was_asked_for(toolpath: Command) -> None:
    assert "Traceback" not in toolpath("tools", "show", "nothing").err
    assert "Traceback" in toolpath("tools", "show", "nothing", "--verbose").err


def test_version_and_help_tell_what_they_should(toolpath: Command) -> None:
    assert toolpath("--version").out.startswith("toolpath 0.")
    assert "Exit codes" in toolpath("--help").out


def test_a_composite_becomes_a_module_and_its_test_and_nothing_is_written_over(toolpath: Command, shop: Path) -> None:
    (shop / "cost.yaml").write_text(
        "name: cost_of\ndescription: Tells a price.\ncategory: general\n"
        "parameters:\n  - {name: item, type: string, required: true}\n"
        "implementation:\n  type: composite\n  composite:\n    steps:\n"
        '      - {tool: shop.price, inputs: {item: "{{ item }}"}}\n'
    )
    made = toolpath("generate", "cost.yaml", "--into", "made").out.splitlines()
    assert made == ["made/cost_of.py", "made/test_cost_of.py"]
    compile((shop / made[0]).read_text(), made[0], "exec")
    (shop / made[0]).write_text("mine")
    assert toolpath("generate", "cost.yaml", "--into", "made").code == 2
    assert (shop / made[0]).read_text() == "mine"
    assert toolpath("generate", "cost.yaml", "--into", "made", "--force").code == 0


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ("on_succes: {map_outputs: {a: b}}", "Did you mean 'on_success'?"),
        ('wehn: "{{ false }}"', "Did you mean 'when'?"),
        ("on_failure: {action: explode}", "Unknown failure action: explode"),
    ],
)
def test_what_generate_does_not_understand_is_a_finding_and_nothing_is_written(
    toolpath: Command, shop: Path, wrong: str, words: str
) -> None:
    (shop / "cost.yaml").write_text(
        "name: cost_of\nparameters:\n  - {name: item, type: string, required: true}\n"
        "implementation:\n  type: composite\n  composite:\n    steps:\n"
        f'      - {{tool: shop.price, inputs: {{item: "{{{{ item }}}}"}}, {wrong}}}\n'
    )
    made = toolpath("generate", "cost.yaml", "--into", "made")
    assert (made.code, made.out) == (3, "")
    assert words in made.err
    assert "cost.yaml:8:" in made.err
    assert not (shop / "made").exists()


def test_a_fork_runs_again_and_says_which_writes_it_would_repeat(toolpath: Command, lunch: str) -> None:
    toolpath("run", lunch, "-i", "item=tea")
    refused = toolpath("runs", "fork", "last", "--from-step", "order")
    assert refused.code == 1
    assert "--repeat-writes" in refused.err
    assert toolpath("runs", "fork", "last", "--from-step", "order", "--repeat-writes").json["number"] == 7
    assert Path("orders.txt").read_text() == "tea 1\ntea 1\n"


def test_a_retry_goes_on_from_what_failed(toolpath: Command, shop: Path) -> None:
    (shop / "p.yaml").write_text(
        "name: p\nsteps:\n  - {id: o, tool: shop.order, inputs: {item: tea, count: 1}}\n"
        "  - {id: b, tool: shop.broken, depends_on: o, inputs: {why: x}}\n"
    )
    assert toolpath("run", "p.yaml").code == 1
    assert toolpath("runs", "retry", "last").code == 1
    assert Path("orders.txt").read_text() == "tea 1\n"
