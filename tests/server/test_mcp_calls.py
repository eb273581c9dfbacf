"""Tools over MCP: what is listed, what a call gives, what a bad one is told; both generations of the protocol."""

from __future__ import annotations

import pytest
from mcp import MCPError
from mcp_cases import MODES, shop, talking

from toolpath import Tool, Toolpath, tool


@pytest.fixture(params=MODES)
def mode(request: pytest.FixtureRequest) -> str:
    return request.param


async def test_every_tool_is_listed_with_its_schemas_and_hints(mode):
    async with shop(Toolpath()) as tp, talking(tp, mode) as client:
        tools = {found.name: found for found in (await client.list_tools()).tools}
        assert {"search_tools", "plan", "check_plan", "run_plan", "get_run", "answer"} < set(tools)
        add = tools["math--add"]
        assert add.input_schema["required"] == ["a", "b"]
        assert add.output_schema["properties"]["result"]["type"] == "integer"
        assert add.description == "Add two numbers."
        assert add.annotations.read_only_hint is True
        assert add.annotations.idempotent_hint is True
        author = tools["blog--create_author"].annotations
        assert (author.read_only_hint, author.destructive_hint, author.idempotent_hint) == (False, False, True)
        wipe = tools["wipe"].annotations
        assert (wipe.read_only_hint, wipe.destructive_hint, wipe.idempotent_hint) == (False, True, False)


async def test_a_call_is_a_run_of_the_journal_and_gives_structured_and_textual_output(mode):
    async with shop(Toolpath()) as tp, talking(tp, mode) as client:
        added = await client.call_tool("math--add", {"a": 1, "b": 2})
        assert added.structured_content == {"result": 3}
        assert added.content[0].text == "3"
        made = await client.call_tool("blog--create_author", {"name": "Alice", "email": "alice@test.com"})
        assert made.structured_content["id"] == "author-Alice"
        runs = await tp.runs()
        assert [(run.name, run.status) for run in runs] == [
            ("blog.create_author", "completed"),
            ("math.add", "completed"),
        ]
        assert made.meta["toolpath/run"] == runs[0].run_id


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"a": 1}, "b"),
        ({"a": "one", "b": 2}, "a"),
        ({"a": 1, "b": 2, "c": 3}, "c"),
        ({"a": None, "b": [[[[]]]]}, "a"),
        ({"a": 1, "b": 2, "{{ run.id }}": "{{ secrets.KEY }}", "'": 1}, "run.id"),
        ({f"x{number}": number for number in range(2000)}, "2,000"),
        ({"a": 1, "b": "9" * 100_000}, "b"),
    ],
)
async def test_bad_arguments_are_errors_in_words(mode, arguments, words):
    async with shop(Toolpath()) as tp, talking(tp, mode) as client:
        answer = await client.call_tool("math--add", arguments)
        assert answer.is_error
        assert words in answer.content[0].text
        assert len(answer.content[0].text) < 10_000
        assert answer.meta["toolpath/error"]["code"] == "schema"


async def test_a_tool_that_fails_is_an_error_with_its_code_and_run(mode):
    async with shop(Toolpath()) as tp, talking(tp, mode) as client:
        answer = await client.call_tool("fail", {"message": "The disk is full."})
        assert answer.is_error
        assert answer.content[0].text.startswith("tool_failed: The disk is full.")
        assert (await tp.runs())[0].run_id in answer.content[0].text
        assert answer.meta["toolpath/error"]["code"] == "tool_failed"


async def test_an_unknown_tool_is_refused_with_the_names_that_may_be_meant(mode):
    async with shop(Toolpath()) as tp, talking(tp, mode) as client:
        with pytest.raises(MCPError, match="Did you mean 'math--add'") as refused:
            await client.call_tool("math--ad", {})
        assert refused.value.code == -32602
        with pytest.raises(MCPError):
            await client.call_tool("x" * 100_000, {})


async def test_a_tool_called_like_one_of_the_servers_own_has_another_name(mode):
    @tool(effect="read")
    async def plan(text: str) -> str:
        """Say what was planned."""
        return f"planned {text}"

    async with Toolpath() as tp:
        tp.add(plan)
        async with talking(tp, mode) as client:
            names = [found.name for found in (await client.list_tools()).tools]
            assert names.count("plan") == 1
            answer = await client.call_tool("tool---plan", {"text": "nothing"})
            assert answer.content[0].text == "planned nothing"


async def test_long_lists_come_in_pages(mode):
    async with Toolpath() as tp:
        for number in range(1200):
            tp.add(tool(name=f"t{number}", effect="read")(_nothing))
        async with talking(tp, mode) as client:
            names, cursor, pages = [], None, 0
            while True:
                page = await client.list_tools(cursor=cursor)
                names += [found.name for found in page.tools]
                cursor, pages = page.next_cursor, pages + 1
                if cursor is None:
                    break
            assert len(set(names)) == len(names) == 1207
            assert pages == 3
            for wrong in ("-1", "x", "99999999999", "9999"):
                with pytest.raises(MCPError, match="No page"):
                    await client.list_tools(cursor=wrong)


async def _nothing() -> str:
    """Do nothing."""
    return ""


async def test_content_blocks_of_other_servers_are_passed_on(mode):
    @tool(effect="read")
    async def picture():
        """Give a picture."""
        return [
            {"type": "text", "text": "Look:"},
            {"type": "image", "data": "iVBORw0KGgo=", "mimeType": "image/png"},
        ]

    async with Toolpath() as tp:
        tp.add(picture)
        async with talking(tp, mode) as client:
            answer = await client.call_tool("picture")
            assert [block.type for block in answer.content] == ["text", "image"]


async def test_an_output_that_is_not_as_promised_is_an_error_that_shows_it(mode):
    async with Toolpath() as tp:
        tp.add(
            Tool(
                name="liar",
                effect="read",
                output_schema={"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]},
                body=lambda: {"n": "many"},
            )
        )
        async with talking(tp, mode) as client:
            answer = await client.call_tool("liar")
            assert answer.is_error
            assert "many" in answer.content[0].text
            assert answer.content[0].text.startswith("invalid_output")


async def test_results_that_are_no_objects_are_wrapped_and_shared_definitions_stay_in_reach(mode):
    pair = {"type": "array", "items": {"$ref": "#/$defs/n"}, "$defs": {"n": {"type": "integer"}}}
    async with Toolpath() as tp:
        tp.add(
            Tool(name="pair", effect="read", input_schema={"type": "object"}, output_schema=pair, body=lambda: [1, 2])
        )
        async with talking(tp, mode) as client:
            told = next(found for found in (await client.list_tools()).tools if found.name == "pair")
            assert told.output_schema["$defs"] == {"n": {"type": "integer"}}
            assert (await client.call_tool("pair")).structured_content == {"result": [1, 2]}


async def test_a_tool_that_is_not_published_is_neither_listed_nor_called(mode):
    async with Toolpath() as tp:
        tp.add(Tool(name="hidden", effect="read", metadata={"published": False}, body=lambda: 1))
        async with talking(tp, mode) as client:
            assert "hidden" not in [found.name for found in (await client.list_tools()).tools]
            with pytest.raises(MCPError, match="Unknown tool"):
                await client.call_tool("hidden")
            assert not (await client.call_tool("search_tools", {"query": "hidden"})).structured_content["tools"]


async def test_large_outputs_are_given_whole_or_refused_in_words(mode):
    async with Toolpath() as tp:
        tp.add(Tool(name="large", effect="read", body=lambda: {"text": "x" * 2_000_000}))
        tp.add(Tool(name="huge", effect="read", body=lambda: "x" * 6_000_000))
        async with talking(tp, mode) as client:
            assert len((await client.call_tool("large")).structured_content["text"]) == 2_000_000
            refused = await client.call_tool("huge")
            assert refused.meta["toolpath/error"]["code"] == "too_large"
            assert len(refused.content[0].text) < 1_000


async def test_an_output_that_holds_one_large_value_many_times_is_told_by_its_handle(mode):
    async with Toolpath() as tp:
        tp.add(Tool(name="large", effect="read", body=lambda: "x" * 2_000_000))
        many = {"steps": [{"id": "a", "tool": "large"}], "outputs": {"all": ["{{ a }}"] * 20}}
        async with talking(tp, mode) as client:
            run = await client.call_tool("run_plan", {"plan": many})
            assert run.structured_content["status"] == "completed"
            assert len(run.content[0].text) < 1_000_000
