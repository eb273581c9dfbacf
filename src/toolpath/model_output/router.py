"""The router's answers: `tool_call`, `tool_calls`, a text for people beside them; the same as servers wrap them."""

from __future__ import annotations

from toolpath.model_output.found import ModelCall, ReaderResult
from toolpath.model_output.page import Page
from toolpath.model_output.single import encoded_node, is_definition, plain, single_call
from toolpath.notation.nodes import DocumentNode

LIST_KEYS = ("tool_calls", "toolCalls", "function_calls", "functionCalls", "calls", "tool_uses")
ONE_KEYS = ("tool_call", "toolCall", "function_call", "functionCall", "toolUse")
TEXT_KEYS = ("natural_language_response", "content", "text", "response", "message")


def read_router(page: Page, node: DocumentNode, marked: bool) -> ReaderResult | None:
    """`{"tool_call": {…}}`, `{"tool_calls": […]}` or `{"natural_language_response": …}`, also together."""
    if not isinstance(node.value, dict):
        return None
    members: dict[str, DocumentNode] = {**node.value}
    for key in (*LIST_KEYS, *ONE_KEYS):
        if key in members:
            members[key] = encoded_node(members[key], page)
    lists = [key for key in LIST_KEYS if key in members and isinstance(members[key].value, list | dict | None)]
    ones = [key for key in ONE_KEYS if key in members]
    if not lists and not ones and TEXT_KEYS[0] not in members:
        return None
    if node.repeats:
        plain(DocumentNode(members, node.line, node.column, repeats=node.repeats), page)
    if len(lists) > 1 or len(ones) > 1:
        raise page.broken(f"Both {(lists + ones)[0]!r} and {(lists + ones)[1]!r} are given.", node)
    calls = _listed(members[lists[0]], page) if lists else ()
    if ones:
        single = _one(members[ones[0]], page)
        if calls and single and not _holds(calls, single[0]):
            raise page.broken(
                f"{lists[0]!r} and {ones[0]!r} contradict each other.", members[ones[0]], "Give one of them."
            )
        calls = calls or single
    form = "tool_calls" if lists else "tool_call" if ones else "text"
    if _is_native(members, [members[key] for key in lists + ones]):
        form = f"native {form}"
    return ReaderResult(format=form, calls=calls, prose=_text(members), marked=marked)


def _is_native(members: dict[str, DocumentNode], given: list[DocumentNode]) -> bool:
    """A message of a model interface, whose arguments are data: no templates stand in them."""
    items = [item for node in given for item in (node.value if isinstance(node.value, list) else [node])]
    return "role" in members or any(
        isinstance(item.value, dict) and item.value.keys() & {"function", "type"} for item in items
    )


def _holds(calls: tuple[ModelCall, ...], call: ModelCall) -> bool:
    return any(one.tool == call.tool and one.inputs == call.inputs for one in calls)


def _listed(node: DocumentNode, page: Page) -> tuple[ModelCall, ...]:
    if node.value is None:
        return ()
    if isinstance(node.value, dict):
        return _one(node, page)
    if not isinstance(node.value, list):
        raise page.broken("A list of calls is expected here.", node)
    return tuple(_call(encoded_node(item, page), page) for item in node.value)


def _one(node: DocumentNode, page: Page) -> tuple[ModelCall, ...]:
    return () if node.value is None else (_call(node, page),)


def _call(node: DocumentNode, page: Page) -> ModelCall:
    call = single_call(node, page, marked=True)
    if call is None:
        raise page.broken("A call with a tool and its arguments is expected here.", node)
    return call


def _text(members: dict[str, DocumentNode]) -> str | None:
    for key in TEXT_KEYS:
        if key in members and isinstance(members[key].value, str):
            found: str = members[key].value
            return found
    return None


def read_list(page: Page, node: DocumentNode, marked: bool) -> ReaderResult | None:
    """A list of calls. A list in which only some are calls is an error, since half a plan is none."""
    if not isinstance(node.value, list) or (not node.value and not marked):
        return None
    if all(isinstance(item.value, dict) and is_definition(item) for item in node.value) and node.value:
        return None
    keyed = [_keyed(item, page) if marked else None for item in node.value]
    calls = [single_call(item, page, marked=marked) or other for item, other in zip(node.value, keyed, strict=True)]
    found = tuple(call for call in calls if call is not None)
    if len(found) == len(calls):
        return ReaderResult(format="list of calls", calls=found, marked=marked)
    if found or marked:
        raise page.broken("This item of a list of calls is no call.", node.value[calls.index(None)])
    return None


def _keyed(node: DocumentNode, page: Page) -> ModelCall | None:
    """`{"tool": {arguments}}`: the one key is the tool's name."""
    if not isinstance(node.value, dict) or len(node.value) != 1:
        return None
    ((name, given),) = node.value.items()
    if not isinstance(given.value, dict):
        return None
    return ModelCall(tool=name, inputs=plain(given, page), line=node.line, column=node.column)


def read_one(page: Page, node: DocumentNode, marked: bool) -> ReaderResult | None:
    """`{"name": …, "arguments": {…}}` under any of the names that are used for the two."""
    call = single_call(node, page, marked=marked)
    return None if call is None else ReaderResult(format="call", calls=(call,), marked=marked)
