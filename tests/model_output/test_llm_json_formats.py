"""Every format in which models answer, two to four outputs each as their templates and documents write them."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from toolpath.errors import ReadError
from toolpath.model_output.model_text import read_model_text, read_tool_calls

PAIR = ("tide_at", {"pier": "North", "day": 3})
ARGS = '{"pier": "North", "day": 3}'
PYTHON = 'tide_at(pier="North", day=3)'
OBJECT = f'{{"name": "tide_at", "arguments": {ARGS}}}'
ESCAPED = OBJECT.replace('"', '\\"')
BAR = "\uff5c"
STEP = (
    f'<{BAR}tool_call_begin{BAR}>function<{BAR}tool_sep{BAR}><steptml:invoke name="tide_at">'
    '<steptml:parameter name="pier">North</steptml:parameter><steptml:parameter name="day">3</steptml:parameter>'
    f"</steptml:invoke><{BAR}tool_call_end{BAR}>"
)
CHILDREN = "<pier>North</pier>\n<day>3</day>"

FORMATS: dict[str, tuple[str, ...]] = {
    "functionary": (
        f"tide_at\n<|content|>{ARGS}<|stop|>",
        f"all\n<|content|>Let me look.\n<|from|>assistant\n<|recipient|>tide_at\n<|content|>{ARGS}",
        f"all\nLet me look.\n>>>tide_at\n{ARGS}<|eot_id|>",
        f">>>tide_at\n{ARGS}",
        f"<|recipient|> tide_at\n<|content|> {ARGS}",
    ),
    "gorilla": (
        f"<<<function>>>{PYTHON}",
        f"<<function>>{PYTHON}",
        f"Sure.\n<<<api_call>>>: {PYTHON}, <<<api_provider>>>: Harbour",
    ),
    "action call": (
        f"Thought: the tide.\nAction: {PYTHON}\nObservation: high",
        f"Thought 1: the tide.\nAction 1: {PYTHON}",
        f"**Action:** {PYTHON}",
        f"Action: `{PYTHON}`\nPAUSE",
    ),
    "smolagents": (
        f"Thought: the tide.\nCode:\n```py\ntide = {PYTHON}\nprint(tide)\n```<end_code>",
        f'Thought: the tide.\nCode:\n```python\ntide = {PYTHON}\nprint("Tide:", tide)\n```<end_code>',
        f"Thought: the tide.\n<code>\nprint({PYTHON})\n</code>",
        f"Thought: the tide.\nAction:\n{OBJECT}",
    ),
    "glm": (
        f"tide_at\n{ARGS}",
        f"<|assistant|>tide_at\n{ARGS}<|observation|>",
        "tide_at\n```python\ntool_call(pier='North', day=3)\n```",
        "<tool_call>tide_at\n<arg_key>pier</arg_key>\n<arg_value>North</arg_value>\n<arg_key>day</arg_key>\n"
        "<arg_value>3</arg_value>\n</tool_call>",
    ),
    "tags": (
        f"I look.\n\n<tide_at>\n{CHILDREN}\n</tide_at>",
        f"<thinking>the tide</thinking>\n<tide_at>{CHILDREN}</tide_at>",
        f"<use_mcp_tool>\n<tool_name>tide_at</tool_name>\n<arguments>\n{ARGS}\n</arguments>\n</use_mcp_tool>",
    ),
    "tool_use": (
        f"<tool_use>\n<name>tide_at</name>\n<parameters>{ARGS}</parameters>\n</tool_use>",
        f"<tool_use>\n  <name>tide_at</name>\n  <arguments>{ARGS}</arguments>\n</tool_use>",
        f'<tool_use name="tide_at"><input>{ARGS}</input></tool_use>',
        f'<tool_use name="tide_at">\n{CHILDREN}\n</tool_use>',
        f"<tool_use><tool_name>tide_at</tool_name><parameters>{CHILDREN}</parameters></tool_use>",
        f'<tool_use>{{"name": "tide_at", "input": {ARGS}}}</tool_use>',
    ),
    "autogpt": (
        f'{{"thoughts": {{"text": "t", "speak": "s"}}, "command": {{"name": "tide_at", "args": {ARGS}}}}}',
        f'{{"command": {{"name": "tide_at", "args": {ARGS}}}, "thoughts": {{"text": "t"}}}}',
        f'{{"thoughts": {{"text": "t"}}, "ability": {{"name": "tide_at", "args": {ARGS}}}}}',
        f'{{"thoughts": {{"reasoning": "t"}}, "use_tool": {{"name": "tide_at", "arguments": {ARGS}}}}}',
    ),
    "stripped harmony": (
        f"analysisThe user wants the tide.assistantcommentary to=functions.tide_at json{ARGS}",
        f"commentary to=functions.tide_at json{ARGS}",
        f"assistantcommentary to=functions.tide_at <|constrain|>json{ARGS}",
        f"<|channel|>commentary to=tide_at <|constrain|>json<|message|>{ARGS}<|call|>",
    ),
    "yaml": (
        "tool: tide_at\narguments:\n  pier: North\n  day: 3\n",
        "```yaml\nname: tide_at\narguments:\n  pier: North\n  day: 3\n```",
        "- tool: tide_at\n  args:\n    pier: North\n    day: 3\n",
        "Thought:\n```yaml\ntool_calls:\n  - name: tide_at\n    arguments: {pier: North, day: 3}\n```",
    ),
    "double-encoded": (
        f'"{ESCAPED}"',
        f'```json\n"{ESCAPED}"\n```',
        ESCAPED,
        f'{{"tool_call": "{ESCAPED}"}}',
        f'{{"tool_calls": ["{ESCAPED}"]}}',
        f'{{"tool_calls": "[{ESCAPED}]"}}',
    ),
    "markdown": (
        f"- **Tool**: tide_at\n- **Arguments**: {ARGS}",
        f"**Function Call:** `tide_at`\n**Arguments:** `{ARGS}`",
        f"**Tool:** `tide_at`\n**Parameters:**\n```json\n{ARGS}\n```",
        "* Tool: tide_at\n* Arguments:\n  * pier: North\n  * day: 3",
        f"- {PYTHON}",
    ),
    "invoke": (
        f"<function_calls>\n<invoke>\n<tool_name>tide_at</tool_name>\n<parameters>\n{CHILDREN}\n</parameters>\n</invoke>\n"
        "</function_calls>",
        f"<invoke><tool_name>tide_at</tool_name><parameters>{CHILDREN}</parameters></invoke>",
    ),
    "default_api": (
        f"```tool_code\nprint(default_api.{PYTHON})\n```",
        f"print(default_api.{PYTHON})",
        f"I look.\n<ctrl42>call\nprint(default_api.{PYTHON})",
        f"```python\nprint(default_api.{PYTHON})\n```",
    ),
    "step-3": (
        f"<{BAR}tool_calls_begin{BAR}>{STEP}<{BAR}tool_calls_end{BAR}>",
        STEP,
        f"I look.\n<{BAR}tool_calls_begin{BAR}>\n{STEP}\n<{BAR}tool_calls_end{BAR}>",
    ),
    "comments": (
        '{\n  // the tide\n  "name": "tide_at",\n  "arguments": {"pier": "North", /* which */ "day": 3}\n}',
        f'/* call */ {{"name": "tide_at", "arguments": {ARGS}}}',
        f'```json\n{{ # the tide\n"name": "tide_at", "arguments": {ARGS}}}\n```',
        f"[\n  // one\n  {OBJECT}\n]",
    ),
    "parallel": (
        f'{{"tool_uses": [{{"recipient_name": "functions.tide_at", "parameters": {ARGS}}}]}}',
        f'{{"recipient_name": "multi_tool_use.parallel", "parameters": {{"tool_uses": [{{"recipient_name": '
        f'"functions.tide_at", "parameters": {ARGS}}}]}}}}',
        f'{{"tool_calls": [{{"type": "function", "function": {{"name": "multi_tool_use.parallel", "arguments": '
        f'{{"tool_uses": [{{"recipient_name": "functions.tide_at", "parameters": {ARGS}}}]}}}}}}]}}',
        f'<|channel|>commentary to=multi_tool_use.parallel json<|message|>{{"tool_uses": [{{"recipient_name": '
        f'"functions.tide_at", "parameters": {ARGS}}}]}}<|call|>',
    ),
    "llm compiler": (
        f"1. {PYTHON}\n2. join()<END_OF_PLAN>",
        f"1. {PYTHON}\nThought: I can answer.\n2. join()",
        f"Thought: one step.\n1. {PYTHON}\n2. join()\n",
    ),
    "prefixes": (f'{{"recipient_name": "functions.tide_at", "parameters": {ARGS}}}',),
}


@pytest.mark.parametrize(("form", "text"), [(form, text) for form, texts in FORMATS.items() for text in texts])
def test_a_call_in_each_format_is_read(form: str, text: str) -> None:
    assert read_tool_calls(text) == [PAIR]


def test_the_text_beside_calls_and_what_ends_the_work_are_for_people() -> None:
    functionary = read_model_text(f"all\nLet me look.\n>>>tide_at\n{ARGS}\n>>>close\n{{}}")
    assert ([call.tool for call in functionary.calls], functionary.prose) == (["tide_at", "close"], "Let me look.")
    for text in (
        "<attempt_completion>\n<result>High at nine.</result>\n</attempt_completion>",
        '{"thoughts": {"speak": "High at nine."}, "command": {"name": "task_complete", "args": {}}}',
        "analysisWe know it.assistantfinalHigh at nine.",
        "Action: Finish[High at nine.]",
        'Thought: 1\nCode:\n```py\nfinal_answer("High at nine.")\n```<end_code>',
        "all\n<|content|>High at nine.<|stop|>",
    ):
        found = read_model_text(text)
        assert found.calls == ()
        assert "High at nine." in found.prose


def test_text_inputs_stay_texts() -> None:
    assert read_tool_calls("Action 1: Search[Colorado orogeny]\nObservation 1: x") == [("Search", "Colorado orogeny")]
    assert read_tool_calls("Action: Search(Colorado orogeny)") == [("Search", "Colorado orogeny")]
    assert read_tool_calls('Action: look_up["tea"]') == [("look_up", "tea")]
    assert read_tool_calls("Action: calculate: 4 * 7 / 3\nPAUSE") == [("calculate", "4 * 7 / 3")]


def test_several_calls_of_a_format_come_in_their_order() -> None:
    two = [("a", {"x": 1}), ("b", {})]
    assert read_tool_calls("- a(x=1)\n- b()") == two
    assert read_tool_calls("```yaml\n- name: a\n  arguments: {x: 1}\n- name: b\n  arguments: {}\n```") == two
    assert read_tool_calls("```tool_code\nr = default_api.a(x=1)\nprint(default_api.b())\n```") == two
    first, second = '{"name": "a", "arguments": {"x": 1}}', '{"name": "b", "arguments": {}}'
    blocks = f"%s\n```json\n{first}\n```\n%s\n```json\n{second}\n```"
    assert read_tool_calls(blocks % ("First:", "Then:")) == two
    assert read_tool_calls(blocks % ("", "")) == two
    with pytest.raises(ReadError, match="another answer"):
        read_tool_calls(blocks % ("Either:", "or:"))


def test_a_result_that_the_model_wrote_ends_its_calls() -> None:
    text = (
        f"commentary to=functions.tide_at json{ARGS}assistantcommentary{{}}assistantcommentary to=functions.x json{{}}"
    )
    assert read_tool_calls(text) == [PAIR]


#: They look like calls, and no call can be made of them.
UNREADABLE = (
    ">>>python\nprint(1)",
    "<<<api_call>>>: model = AutoModel.from_pretrained('x')",
    "Action: get_time",
    "Action: f(x, y=g(1))",
    'Action: f(x="1") and then close()',
    "Thought: t\nCode:\n```py\nfor x in range(3):\n    f(x=x)\n```<end_code>",
    "Thought: t\nCode:\n```py\na = f(x=1)\ng(y=a)\n```<end_code>",
    "print(default_api.f(x=y))",
    'tide_at\n{"pier": "No',
    'I look.\n\ntide_at\n{"pier": "North"}',
    'tide_at {"pier": "North"}',
    'I look.\ntide_at(pier="North")',
    "I call:\n- f(a=1)",
    "<read_file>\n<path>a.txt</path>",
    "<read_file>\n<path>a.txt\n</read_file>",
    "<tool_use></tool_use>",
    '<tool_use><name>f</name><parameters>{"a": 1',
    "<tool_use><name>f</name><a>1</a></tool_use>",
    "<invoke><tool_name>f</tool_name><parameters><a>1</a>",
    '{"thoughts": {}, "command": {"args": {}}}',
    f"assistantcommentary to=functions.tidejson{ARGS}",
    "commentary to=functions.tide json",
    "<|channel|>analysis to=python code<|message|>print(1)<|call|>",
    "```yaml\ntool: f\narguments:\n  a: [1\n```",
    "Tool: f\nArguments:\n- a:\n    b: 1",
    "Tool: f\nInput: Oslo",
    '{"tool_calls": "[{\\"name\\": \\"f\\""}',
    'Sure: {\\"name\\": \\"f\\", \\"arguments\\": {}}',
    '{"name": "multi_tool_use.parallel", "arguments": {"calls": []}}',
    '{"tool_uses": [{"recipient_name": "functions.f", "parameters": 3}]}',
)


@pytest.mark.parametrize("text", UNREADABLE)
def test_what_looks_like_a_call_and_is_not_readable_is_refused_with_its_place(text: str) -> None:
    with pytest.raises(ReadError) as caught:
        read_tool_calls(text)
    assert caught.value.findings[0].line is not None


#: Words of people and code that is shown to them: no calls, and nothing to refuse.
PROSE = (
    "You can use get_weather(city) to look it up.",
    'Use `get_weather(city="Oslo")` for that, or `<tool_use>`.',
    "Here is code:\n```python\nplot(x=1)\nprint(f(2))\n```",
    "Code:\n```python\nprint(f(2))\n```",
    "<html><body><p>Hi</p></body></html>",
    "```xml\n<purchase_order><order_id>3</order_id></purchase_order>\n```",
    "Use `<read_file><path>a</path></read_file>` for it.",
    "<search_results><result>3</result></search_results>",
    'Result\n{"total": 3}',
    'output\n{"total": 3}',
    "```yaml\nname: ci\non: push\njobs:\n  build:\n    steps: []\n```",
    "name: Anna\ninput: x\nage: 3",
    "Available tools:\n- open()\n- close()",
    "- add(a, b) adds\n- sub(a, b)",
    "The action: call(Bob) is due.",
    "Action: call Bob tomorrow.",
    ">>> f(1)\n2",
    ">>>x\n5",
    "Tool: hammer\nPrice: 3",
    '"A quoted sentence {with braces}."',
    "analysisParalysis is a thing.",
    "all\nthings are good",
    '{"command": "ls"}',
    '{"command": {"name": "x"}, "other": 1}',
    '{"thoughts": {"text": "x"}}',
    '{"command": {"path": "uvx", "args": ["mcp-server"]}}',
    "A step:\n```yaml\n- id: find\n  tool: web.search\n  inputs: {query: tea}\n```",
    "2. join()",
    "join()",
)


@pytest.mark.parametrize("text", PROSE)
def test_prose_and_code_for_people_are_no_calls(text: str) -> None:
    assert read_tool_calls(text) == []


names = st.from_regex(r"[a-z]{1,6}_[a-z]{1,6}", fullmatch=True)
keys = st.from_regex(r"[a-z]{1,6}_?[a-z]{1,3}", fullmatch=True).filter(
    lambda key: key not in ("name", "function", "tool", "input", "inputs", "args", "params", "id")
)
scalars = st.one_of(
    st.booleans(),
    st.integers(-(10**9), 10**9),
    st.text(st.characters(categories=("L", "Nd", "Zs", "Po", "Ps", "Pe")), max_size=20),
)
arguments = st.dictionaries(keys, scalars, min_size=1, max_size=4)


def _python(tool: str, inputs: dict[str, Any]) -> str:
    return f"{tool}({', '.join(f'{key}={value!r}' for key, value in inputs.items())})"


def _dumped(tool: str, inputs: dict[str, Any]) -> str:
    return json.dumps({"name": tool, "arguments": inputs})


#: Writers of a call as the format has it; their readers must give it back.
WRITERS: dict[str, Callable[[str, dict[str, Any]], str]] = {
    "functionary 2": lambda tool, inputs: f"<|recipient|>{tool}\n<|content|>{json.dumps(inputs)}<|stop|>",
    "functionary 3": lambda tool, inputs: f"all\nI look.\n>>>{tool}\n{json.dumps(inputs)}",
    "gorilla": lambda tool, inputs: f"<<<function>>>{_python(tool, inputs)}",
    "action call": lambda tool, inputs: f"Thought: t\nAction: {_python(tool, inputs)}\nObservation: x",
    "smolagents": lambda tool, inputs: (
        f"Thought: t\nCode:\n```py\nr = {_python(tool, inputs)}\nprint(r)\n```<end_code>"
    ),
    "glm": lambda tool, inputs: f"{tool}\n{json.dumps(inputs)}",
    "tool_use": lambda tool, inputs: (
        f"<tool_use><name>{tool}</name><arguments>{json.dumps(inputs)}</arguments></tool_use>"
    ),
    "autogpt": lambda tool, inputs: json.dumps({"thoughts": {"text": "t"}, "command": {"name": tool, "args": inputs}}),
    "stripped harmony": lambda tool, inputs: (
        f"analysisThink.assistantcommentary to=functions.{tool} json{json.dumps(inputs)}"
    ),
    "yaml": lambda tool, inputs: (
        f"```yaml\ntool: {tool}\narguments:\n"
        + "".join(f"  {json.dumps(key)}: {json.dumps(value)}\n" for key, value in inputs.items())
        + "```"
    ),
    "double-encoded": lambda tool, inputs: json.dumps(_dumped(tool, inputs)),
    "markdown": lambda tool, inputs: f"- **Tool**: {tool}\n- **Arguments**: {json.dumps(inputs)}",
    "bullets": lambda tool, inputs: f"- {_python(tool, inputs)}",
    "default_api": lambda tool, inputs: f"```tool_code\nprint(default_api.{_python(tool, inputs)})\n```",
    "comments": lambda tool, inputs: (
        f'{{ // c\n/* d */ "name": {json.dumps(tool)}, "arguments": {json.dumps(inputs)}}}'
    ),
    "parallel": lambda tool, inputs: json.dumps(
        {
            "name": "multi_tool_use.parallel",
            "arguments": {"tool_uses": [{"recipient_name": f"functions.{tool}", "parameters": inputs}]},
        }
    ),
    "llm compiler": lambda tool, inputs: f"1. {_python(tool, inputs)}\n2. join()",
}


@pytest.mark.parametrize("form", WRITERS)
@given(tool=names, inputs=arguments)
@settings(max_examples=40)
def test_a_call_written_in_a_format_is_read_back_equal(form: str, tool: str, inputs: dict[str, Any]) -> None:
    assert read_tool_calls(WRITERS[form](tool, inputs)) == [(tool, inputs)]


texts = st.text(st.characters(categories=("L", "Nd")), min_size=1, max_size=12).filter(lambda text: text.isalpha())


@given(tool=names, inputs=st.dictionaries(keys, texts, min_size=1, max_size=4))
@settings(max_examples=40)
def test_a_call_in_tags_is_read_back_equal(tool: str, inputs: dict[str, str]) -> None:
    told = {key: value for key, value in inputs.items() if value not in ("true", "false", "null")}
    children = "".join(f"<{key}>{value}</{key}>" for key, value in told.items())
    for text in (
        f"<{tool}x>{children}</{tool}x>",
        f"<invoke><tool_name>{tool}x</tool_name><parameters>{children}</parameters></invoke>",
        f'<{BAR}tool_call_begin{BAR}>function<{BAR}tool_sep{BAR}><steptml:invoke name="{tool}x">'
        + "".join(f'<steptml:parameter name="{key}">{value}</steptml:parameter>' for key, value in told.items())
        + f"</steptml:invoke><{BAR}tool_call_end{BAR}>",
    ):
        assert read_tool_calls(text) == [(f"{tool}x", told)]


words = st.sampled_from(
    [
        *["the", "tool", "Action", "Tool", "function", "join", "code", "call", "result", "analysis", "final", "all"],
        "Thought:",
        *"-*3,.\n",
        "`f(x)`",
    ]
)


@given(st.lists(words, max_size=30).map(" ".join))
def test_words_alone_are_never_a_call(text: str) -> None:
    try:
        assert read_tool_calls(text) == []
    except ReadError:
        assert text.strip()
