"""What a person meets in their first hour: every wrong turn is answered with the right one."""

from __future__ import annotations

from pathlib import Path

import pytest
from cli_cases import Command, shop, toolpath

from toolpath import Settings, Toolpath
from toolpath.cli.runs.history import in_tree_order
from toolpath.errors import ConfigError, ReadError, StepNotFound
from toolpath.model.run import StepResult

__all__ = ["shop", "toolpath"]

BUGGY = '''
from toolpath import ToolFailed, tool


def deeper(item: str) -> str:
    return {"tea": "hot"}[item]


@tool(group="bug", effect="read")
def lookup(item: str) -> str:
    """Look up."""
    return deeper(item)


@tool(group="bug", effect="read", isolation="process")
def apart(item: str) -> str:
    """Look up elsewhere."""
    return deeper(item)


@tool(group="bug", effect="read")
def refuse() -> str:
    """Say no."""
    raise ToolFailed("no")
'''


@pytest.fixture
def buggy(shop: Path) -> Path:
    path = shop / f"buggy_{shop.name.replace('-', '_')}.py"
    path.write_text(BUGGY)
    (shop / "toolpath.toml").write_text(f'tools = ["./{path.name}"]\nstore = "runs.db"\n')
    return path


@pytest.mark.parametrize("name", ["lookup", "apart"])
def test_a_tool_that_raises_is_found_by_its_line(buggy: Path, toolpath: Command, name: str) -> None:
    quiet = toolpath("tools", "call", f"bug.{name}", "-i", "item=cake")
    assert quiet.code == 1
    assert buggy.name not in quiet.err
    told = toolpath("tools", "call", f"bug.{name}", "-i", "item=cake", "-v")
    place = f"{buggy.name}:6 in deeper"
    assert place in told.err
    assert place in toolpath("runs", "show", "last").out
    failure = toolpath("runs", "show", "last", "--json").json["results"][0]["error"]
    assert failure["where"].endswith(place)


def test_a_tool_that_says_no_is_found_too(buggy: Path, toolpath: Command) -> None:
    assert f"{buggy.name}:24 in refuse" in toolpath("tools", "call", "bug.refuse", "-v").err


@pytest.mark.parametrize(
    ("inputs", "said"),
    [
        (("item=tea", "count=many"), "count"),
        (("item=tea",), "needs the input 'count'"),
        (("item=tea", "count=1", "colour=red"), "no input 'colour'"),
    ],
)
def test_a_tool_is_not_called_with_what_does_not_fit(toolpath: Command, inputs: tuple[str, ...], said: str) -> None:
    arguments = [word for pair in inputs for word in ("-i", pair)]
    ran = toolpath("tools", "call", "shop.order", *arguments)
    assert ran.code == 3
    assert said in ran.err + ran.out
    assert not Path("orders.txt").exists()
    assert toolpath("runs", "list").err.strip() == "No runs."


def test_steps_are_shown_as_their_tree_and_items_in_their_order() -> None:
    paths = [
        "list",
        "each",
        "after",
        "each[1]/read",
        "each[0]/read",
        "each[10]/read",
        "each[2]/read",
        "each[1]/write",
        "each[0]/write",
        "each[0]/write/inner",
        "chain#1",
        "chain#0",
    ]
    results = [StepResult(step=path, path=path) for path in paths]
    assert [result.path for result in in_tree_order(results)] == [
        "list",
        "each",
        "each[0]/read",
        "each[0]/write",
        "each[0]/write/inner",
        "each[1]/read",
        "each[1]/write",
        "each[2]/read",
        "each[10]/read",
        "after",
        "chain#1",
        "chain#0",
    ]


def test_runs_show_puts_the_steps_of_an_item_below_it(toolpath: Command) -> None:
    Path("loop.plan.yaml").write_text(
        "steps:\n"
        "  - id: each\n"
        "    loop:\n"
        "      over: [tea, cake, tea]\n"
        "      as: item\n"
        "      concurrency: 3\n"
        "      steps:\n"
        '        - {id: ask, tool: shop.price, inputs: {item: "{{ item }}"}}\n'
        '        - {id: again, tool: shop.price, inputs: {item: "{{ item }}"}, depends_on: [ask]}\n'
    )
    assert toolpath("run", "loop.plan.yaml").code == 0
    shown = toolpath("runs", "show", "last").out
    order = [line.split()[1] for line in shown.splitlines() if "each[" in line and "/" in line]
    assert order == [f"each[{item}]/{step}" for item in range(3) for step in ("ask", "again")]


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        (("tools", "find", "tea"), "search"),
        (("runs", "ls"), "list"),
        (("runs", "stop", "last"), "cancel"),
        (("execute", "a.yaml"), "run"),
        (("runs", "lsit"), "list"),
    ],
)
def test_other_words_for_a_command_are_understood(toolpath: Command, typed: tuple[str, ...], meant: str) -> None:
    ran = toolpath(*typed)
    assert ran.code == 2
    assert f"No such command '{typed[1] if typed[0] != 'execute' else 'execute'}'. Did you mean '{meant}'?" in ran.err


@pytest.mark.parametrize(
    "typed",
    [
        ("runs", "list"),
        ("runs", "show", "last"),
        ("runs", "events", "run_1"),
        ("runs", "watch", "last"),
        ("runs", "cancel", "run_1"),
        ("approve", "last"),
        ("tools", "list"),
        ("tools", "stats"),
        ("keys", "list"),
        ("doctor",),
        ("validate", "none.yaml"),
    ],
)
def test_looking_leaves_nothing_behind(
    toolpath: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, typed: tuple[str, ...]
) -> None:
    empty = tmp_path / "empty"
    empty.mkdir()
    monkeypatch.chdir(empty)
    toolpath(*typed)
    assert not list(empty.iterdir())


def test_a_changed_tool_can_be_accepted_from_a_process_that_drives_the_run(toolpath: Command) -> None:
    refused = toolpath("settle", "last", "--retry", "--force")
    assert refused.code == 2
    assert "--force goes with --accept-tool" in refused.err
    assert "--force" in toolpath("settle", "--help").out


@pytest.mark.parametrize("what", [None, 7, ["a"], print])
async def test_what_is_no_plan_is_said_to_be_none(what: object) -> None:
    async with Toolpath(settings=Settings()) as tp:
        with pytest.raises(ReadError, match=r"is no plan\..*Give a plan's path"):
            await tp.run(what)  # type: ignore[arg-type]


async def test_a_step_that_is_not_there_names_those_that_are() -> None:
    async with Toolpath(settings=Settings()) as tp:

        async def hello() -> str:
            """Greet."""
            return "hello"

        tp.add(hello, effect="read")
        result = await tp.run({"steps": [{"id": "greet", "tool": "hello"}]})
        with pytest.raises(StepNotFound) as caught:
            result.step("great")
    assert str(caught.value) == "The run has no step 'great'. Did you mean 'greet'? Its steps: greet."
    assert isinstance(caught.value, KeyError), "as before"


def test_settings_that_are_none_are_said_to_be_none() -> None:
    with pytest.raises(ConfigError, match=r"of type dict\. Write Settings\("):
        Toolpath(settings={"parallel_limit": 2})  # type: ignore[arg-type]


def test_advice_never_runs_into_what_was_said_before() -> None:
    assert str(ConfigError("It is one of [a, b]", suggestions=["a"], hint="Try.")) == (
        "It is one of [a, b]. Did you mean 'a'? Try."
    )
    assert str(ConfigError("It is so.", hint="Try.")) == "It is so. Try."
    assert str(ConfigError("It is so")) == "It is so"


def test_a_cycle_is_told_of_together_with_everything_else(toolpath: Command) -> None:
    Path("knot.plan.yaml").write_text(
        "steps:\n"
        '  - {id: a, tool: none.such, inputs: {x: "{{ b.y }}"}, reties: 3}\n'
        '  - {id: b, tool: shop.price, inputs: {itm: "{{ a.y }}"}, depends_on: [zz]}\n'
        '  - {id: c, tool: shop.price, inputs: {item: "{{ nope }}"}}\n'
    )
    ran = toolpath("validate", "knot.plan.yaml")
    for code in ("cycle", "unknown_tool", "unknown_field", "unknown_dependency", "unknown_reference"):
        assert f"error {code}:" in ran.out + ran.err, code


def test_one_fault_of_many_steps_is_told_once(toolpath: Command) -> None:
    Path("both.plan.yaml").write_text(
        "failure_mode: isolate\n"
        "steps:\n"
        '  - {id: one, tool: shop.broken, inputs: {why: "the till is locked"}}\n'
        '  - {id: two, tool: shop.broken, inputs: {why: "the till is locked"}}\n'
    )
    ran = toolpath("run", "both.plan.yaml", "-q")
    assert ran.err.count("the till is locked") == 1, ran.err
