"""One call as a JSON object: which key holds the tool, which the arguments, whatever the model calls them."""

from __future__ import annotations

from toolpath.errors import ReadError
from toolpath.model_output.found import ModelCall
from toolpath.model_output.page import Page, visible
from toolpath.model_output.tolerant import Values
from toolpath.notation.nodes import DocumentNode
from toolpath.values import Json, JsonObject

#: Keys that name a tool and nothing else; `name` may name anything.
TOOL_KEYS = (
    "tool",
    "tool_name",
    "toolName",
    "function_name",
    "functionName",
    "function",
    "capability",
    "recipient_name",
)
NAME_KEYS = (*TOOL_KEYS, "name", "action")
INPUT_KEYS = (
    "arguments",
    "args",
    "parameters",
    "params",
    "inputs",
    "input",
    "tool_input",
    "toolInput",
    "kwargs",
    "action_input",
    "tool_args",
    "toolArgs",
    "tool_arguments",
    "tool_parameters",
    "tool_params",
    "function_args",
    "function_arguments",
    "function_parameters",
)
#: A name beside one of these is a call, whatever else is said; beside `input` it may be anything.
_SURE_INPUTS = tuple(key for key in INPUT_KEYS if key not in ("inputs", "input"))
_MAY_BE_TEXT = ("action_input", "tool_input", "toolInput", "input")
ID_KEYS = ("id", "call_id", "tool_call_id", "toolUseId", "label")
_SAID_BESIDE = frozenset(
    {
        *NAME_KEYS,
        *INPUT_KEYS,
        *ID_KEYS,
        "type",
        "index",
        "operation",
        "provider",
        "server_name",
        "server",
        "role",
        "status",
        "kind",
        "thought",
        "reason",
        "reasoning",
        "rationale",
        "explanation",
        "confidence",
        "subQuery",
        "sub_query",
        "dependsOn",
        "depends_on",
    }
)
_MOST_NAME = 256


def single_call(node: DocumentNode, page: Page, *, marked: bool = False) -> ModelCall | None:
    """The call that an object describes; None where it describes none.

    Where the model has `marked` it as a call, a name alone is one. Raises `ReadError` where it is a call that
    cannot be read.
    """
    members = node.value
    if not isinstance(members, dict):
        return None
    wrapped = _wrapped(node, page)
    if wrapped is not None:
        return wrapped
    names = [key for key in NAME_KEYS if key in members and isinstance(members[key].value, str)]
    inputs = [key for key in INPUT_KEYS if key in members]
    if not names or is_definition(node) or not _is_call(node, names, inputs, marked):
        return None
    if len(names) > 1:
        raise page.broken(f"Both {names[0]!r} and {names[1]!r} could name the tool.", members[names[1]])
    if len(inputs) > 1:
        raise page.broken(f"Both {inputs[0]!r} and {inputs[1]!r} could be the arguments.", members[inputs[1]])
    _refuse_repeats(node, page)
    others = sorted(key for key in members.keys() - _SAID_BESIDE if members[key].value not in (None, True, False))
    if others and not inputs:
        # Without what it was given a call may do more than it was to do.
        raise page.broken(f"Whether {others[0]!r:.60} is an argument of the call cannot be told.", members[others[0]])
    name = _full_name(members, names[0], page)
    given = members[inputs[0]] if inputs else None
    for key in members.keys() - _SAID_BESIDE:
        page.repair(f"the field {key!r:.40} of a call left out", page.offset(members[key]))
    return ModelCall(
        tool=name,
        inputs={} if given is None else arguments(given, page, text=inputs[0] in _MAY_BE_TEXT),
        id=identity(node),
        line=node.line,
        column=node.column,
    )


def _is_call(node: DocumentNode, names: list[str], inputs: list[str], marked: bool) -> bool:
    members = node.value
    only: bool = members.keys() <= _SAID_BESIDE
    if names == ["action"] and not marked and not inputs:
        return members.keys() <= {"action", "thought", "reasoning"} and " " not in members["action"].value.strip()
    if marked or any(key in _SURE_INPUTS for key in inputs):
        return True
    if inputs:
        return only
    return only and (
        names[0] in (*TOOL_KEYS, "action") or _said(members, "type") in ("function", "function_call", "tool_use")
    )


def _wrapped(node: DocumentNode, page: Page) -> ModelCall | None:
    """A call inside `function`, `toolUse`, `functionCall` or `function_call`."""
    for key in ("function", "toolUse", "functionCall", "function_call"):
        inner = node.value.get(key)
        if inner is not None and isinstance(inner.value, dict):
            if "name" not in inner.value or is_definition(inner):
                return None
            _refuse_repeats(node, page)
            call = single_call(inner, page, marked=True)
            if call is None:
                return None
            return ModelCall(
                tool=call.tool, inputs=call.inputs, id=identity(node) or call.id, line=node.line, column=node.column
            )
    return None


def is_definition(node: DocumentNode) -> bool:
    """The object describes a tool instead of calling it: a description, or a schema for parameters."""
    members = node.value
    if "name" not in members and "function" not in members:
        return False
    if members.keys() & {"input_schema", "inputSchema", "output_parameters", "output_schema", "outputSchema"}:
        return True
    parameters = members.get("parameters")
    if parameters is None or not isinstance(parameters.value, dict):
        return False
    return "description" in members or {"type", "properties"} <= parameters.value.keys()


def names_a_tool(node: DocumentNode) -> bool:
    """The object says that it is about a tool, whether or not a call can be made of it."""
    if not isinstance(node.value, dict) or is_definition(node):
        return False
    keys = [key for key in (*TOOL_KEYS, "action") if key in node.value and key not in ("function", "capability")]
    if "action" in keys:
        # Many objects have an action; few have beside it just one other object.
        others = [item for key, item in node.value.items() if key != "action" and isinstance(item.value, dict)]
        return len(others) == 1 and len(node.value) <= 3
    return any(isinstance(node.value[key].value, str) for key in keys)


def identity(node: DocumentNode) -> str:
    """The call's id or label, as written; empty where it has none."""
    for key in ID_KEYS:
        if key in node.value and isinstance(node.value[key].value, str | int):
            return str(node.value[key].value)
    return ""


def _said(members: dict[str, DocumentNode], key: str) -> str:
    node = members.get(key)
    return node.value if node is not None and isinstance(node.value, str) else ""


def _full_name(members: dict[str, DocumentNode], key: str, page: Page) -> str:
    name = tool_name(members[key].value, page, members[key])
    if key == "recipient_name":
        name = name.removeprefix("functions.")
    operation = _said(members, "operation")
    if operation and not name.endswith(f".{operation}"):
        return tool_name(f"{name}.{operation}", page, members["operation"])
    server = _said(members, "server_name") or _said(members, "server") or _said(members, "provider")
    return f"{server}.{name}" if server and not name.startswith(f"{server}.") else name


def tool_name(written: str, page: Page, at: int | DocumentNode) -> str:
    """The name of a tool as written. Raises `ReadError` for what is no name, or holds characters that do not show."""
    name = written.strip(" \t\r\n")
    if not name:
        raise page.broken("The name of the tool is empty.", at)
    if len(name) > _MOST_NAME:
        raise page.broken(f"The name of the tool has more than {_MOST_NAME} characters.", at)
    if not name.isprintable():
        raise page.broken(f"The tool's name {visible(name)!r} holds a character that does not show.", at)
    return name


def arguments(node: DocumentNode, page: Page, *, text: bool = False) -> Json:
    """The arguments: an object, or a text of JSON that holds one; with `text`, any text as it is."""
    match node.value:
        case None:
            return {}
        case dict():
            return plain(node, page)
        case str() as written if text:
            return written
        case str() as written:
            return arguments_in_text(written, page, node)
        case _:
            raise page.broken(f"The arguments are {node.kind}, where an object is expected.", node)


def arguments_in_text(written: str, page: Page, at: int | DocumentNode) -> JsonObject:
    """The object that a text of JSON holds. Raises `ReadError` that quotes where that text broke."""
    if not written.strip():
        return {}
    inner = Page(written)
    values = Values(inner)
    try:
        node, end = values.whole(values.skip(0))
        if values.skip(end) != len(written):
            raise inner.broken("There is text after the end of the arguments.", end)
        found = plain(node, inner)
    except ReadError as error:
        raise page.inside(error, "In the text of the arguments", at) from None
    if not isinstance(found, dict):
        raise page.broken(f"The text of the arguments holds {node.kind}, where an object is expected.", at)
    for repair in inner.repairs([(0, len(written))]):
        page.repair(f"in the text of the arguments: {repair}", at if isinstance(at, int) else page.offset(at))
    return found


def encoded_node(node: DocumentNode, page: Page) -> DocumentNode:
    """The value that a text of JSON holds where a call is expected, all of it at the text's place; else the node."""
    if not isinstance(node.value, str) or node.value.strip()[:1] not in ("{", "["):
        return node
    inner = Page(node.value)
    values = Values(inner)
    try:
        found, end = values.whole(values.skip(0))
        if values.skip(end) != len(node.value):
            raise inner.broken("There is text after the end of the call.", end)
    except ReadError as error:
        raise page.inside(error, "In the text of the call", node) from None
    page.repair("a call written as text", page.offset(node))
    return _placed(found, node)


def _placed(node: DocumentNode, at: DocumentNode) -> DocumentNode:
    match node.value:
        case dict() as members:
            value: object = {key: _placed(item, at) for key, item in members.items()}
        case list() as items:
            value = [_placed(item, at) for item in items]
        case other:
            value = other
    return DocumentNode(value, at.line, at.column, at.line, at.column, node.written, node.repeats)


def plain(node: DocumentNode, page: Page) -> Json:
    """The node as a JSON value. Raises `ReadError` for a key that is given twice."""
    match node.value:
        case dict() as members:
            _refuse_repeats(node, page)
            return {key: plain(item, page) for key, item in members.items()}
        case list() as items:
            return [plain(item, page) for item in items]
        case value:
            return value


def _refuse_repeats(node: DocumentNode, page: Page) -> None:
    if node.repeats:
        repeat = node.repeats[0]
        at = page.offset(DocumentNode(None, repeat.line, repeat.column))
        raise page.broken(f"The key {repeat.key!r:.60} is given twice.", at, "Which one is meant cannot be told.")
