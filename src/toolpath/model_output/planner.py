"""Plans of planners: `tools` with `executionOrder`, `toolChain`, and `steps` with dependencies, modes and estimates.

Each is rewritten into our own notation, node by node, so that one reader checks all and every finding has its place.
What our notation knows beside their fields (`when`, `retry`, `failure_mode`, …) is kept as it is written.
"""

from __future__ import annotations

from collections.abc import Mapping

from toolpath.errors import ReadError
from toolpath.model_output.found import ModelCall, ReaderResult
from toolpath.model_output.order import Remarks, in_order, tool_roots
from toolpath.model_output.own import calls_of, with_findings
from toolpath.model_output.page import Page
from toolpath.model_output.references import renamed
from toolpath.model_output.single import arguments, is_definition
from toolpath.notation.chaining import PRESET, every_output
from toolpath.notation.nodes import DocumentNode, tree_of_values
from toolpath.notation.plan import PLAN_FIELDS, SCHEMA_FIELD, plan_of
from toolpath.notation.tables import COMMON_FIELDS
from toolpath.values import JsonObject

ORDER_KEYS = ("executionOrder", "execution_order", "toolOrder", "tool_order")
CHAIN_KEYS = ("toolChain", "tool_chain")
#: Only a planner's answer says these beside its steps.
PLANNER_SAYS = ("reasoning", "rationale", "estimatedDuration", "estimatedCost", "confidence")
STEP_SAYS = frozenset({"executionMode", "execution_mode", "priority", "subQuery", "sub_query", "confidence"})
#: The planning engine's words for what our steps call `inputs` and `depends_on`; together they are its own.
_ITS_STEP = {"parameters", "dependencies"}
_NAME_KEYS = ("tool", "name", "toolName", "tool_name")
_NAMING = frozenset(_NAME_KEYS)
_INPUT_KEYS = ("inputs", "parameters", "params", "arguments", "args", "input")
_DEPENDS_KEYS = ("depends_on", "dependsOn", "dependencies", "needs")
_MILLISECONDS = 1000.0
#: A time-out below this, in seconds, was hardly meant as milliseconds.
_SHORTEST = 0.1


def read_tools_and_order(page: Page, node: DocumentNode, marked: bool) -> ReaderResult | None:
    """`{"tools": [{name, parameters, dependsOn, outputMapping}], "executionOrder": […], "plan": text}`."""
    members = node.value
    if not isinstance(members, dict):
        return None
    order = next((members[key] for key in ORDER_KEYS if key in members), None)
    tools = members.get("tools") or members.get("selectedTools")
    if "steps" in members or (order is None and (tools is None or not _are_calls(tools))):
        return None
    if tools is None or not isinstance(tools.value, list):
        raise page.broken("Invalid response: missing or invalid tools array.", tools or node)
    if order is not None and not isinstance(order.value, list):
        raise page.broken("Invalid response: missing or invalid executionOrder array.", order)
    if not tools.value:
        raise page.broken("The list of tools is empty.", tools)
    if any(is_definition(item) for item in tools.value if isinstance(item.value, dict)):
        return None
    remarks = Remarks()
    if order is None:
        remarks.add("order_incomplete", "warning", "There is no order of execution.", "/steps", tools)
    items = in_order([_item(item, page) for item in tools.value], order, remarks)
    return _planned("tools and executionOrder", items, node, page, remarks=remarks, preset=_CHAINING)


def _are_calls(tools: DocumentNode) -> bool:
    """Each entry names a tool and gives its inputs, and none describes one."""
    entries = tools.value if isinstance(tools.value, list) else []
    return bool(entries) and all(
        isinstance(item.value, dict)
        and not is_definition(item)
        and not _NAMING.isdisjoint(item.value)
        and bool(item.value.keys() & {*_INPUT_KEYS})
        for item in entries
    )


def read_tool_chain(page: Page, node: DocumentNode, marked: bool) -> ReaderResult | None:
    """`{"reasoning": …, "toolChain": [{subQuery, tool, parameters, confidence}]}`."""
    members = node.value
    chain = next((members[key] for key in CHAIN_KEYS if key in members), None) if isinstance(members, dict) else None
    if chain is None:
        return None
    if not isinstance(chain.value, list) or not chain.value:
        raise page.broken("'toolChain' must be a list of tools.", chain)
    items = [_item(item, page) for item in chain.value]
    return _planned("toolChain", items, node, page, remarks=Remarks(), preset=_ENGINE)


def read_planner_steps(page: Page, node: DocumentNode, marked: bool) -> ReaderResult | None:
    """`{"steps": [{id, tool, parameters, dependencies, executionMode, timeout, fallback}], "reasoning": …}`.

    Its times are milliseconds.
    """
    members = node.value
    steps = members.get("steps") if isinstance(members, dict) else None
    if steps is None or not isinstance(steps.value, list) or not steps.value:
        return None
    if not all(isinstance(item.value, dict) and not _NAMING.isdisjoint(item.value) for item in steps.value):
        return None
    said = any(key in members for key in PLANNER_SAYS)
    if not said and not any(_is_its_step(item.value) for item in steps.value):
        return None
    items = [_item(item, page) for item in steps.value]
    preset = _WITH_CRITICAL if any("critical" in item.value for item in items) else _ENGINE
    return _planned("planner steps", items, node, page, remarks=Remarks(), preset=preset)


def _is_its_step(members: dict[str, DocumentNode]) -> bool:
    return members.keys() >= _ITS_STEP or not STEP_SAYS.isdisjoint(members)


def _item(node: DocumentNode, page: Page) -> DocumentNode:
    """One entry of a planner's list with our names for its fields. Raises `ReadError` where it names no tool."""
    if isinstance(node.value, str):
        return _like(node, {"tool": node})
    if not isinstance(node.value, dict):
        raise page.broken("A tool with its parameters is expected here.", node)
    names = [key for key in _NAME_KEYS if key in node.value and isinstance(node.value[key].value, str)]
    if not names:
        raise page.broken("This entry names no tool.", node)
    members = {"tool": node.value[names[0]]}
    for key, item in node.value.items():
        if key in _INPUT_KEYS:
            members["inputs"] = _inputs(item, page) if "inputs" not in members else _twice(item, key, page)
        elif key in _DEPENDS_KEYS:
            members["depends_on"] = item if "depends_on" not in members else _twice(item, key, page)
        elif key in ("outputMapping", "output_mapping"):
            members["outputMapping"] = item
        elif key not in _NAME_KEYS or (key == "name" and names[0] == "tool"):
            members[key] = item
    return DocumentNode(members, node.line, node.column, repeats=node.repeats)


def _twice(node: DocumentNode, key: str, page: Page) -> DocumentNode:
    raise page.broken(f"{key!r} says again what another field says.", node)


def _inputs(node: DocumentNode, page: Page) -> DocumentNode:
    if isinstance(node.value, str):
        return tree_of_values(arguments(node, page))
    return node


#: What our notation knows of a step; what it does not is told in the plan's metadata, or remarked on and left out.
_KEPT = ("tool", "inputs", *COMMON_FIELDS, "executionMode", "execution_mode")
_TOLD = ("subQuery", "sub_query", "confidence", "priority", "description", "reasoning", "rationale")
#: What planners say beside their list of tools, and what a service that stores their plans adds to it.
_SAID = (
    *("tools", "selectedTools", "plan", "steps", SCHEMA_FIELD, *ORDER_KEYS, *CHAIN_KEYS, *PLANNER_SAYS),
    *("id", "requestId", "planId", "query", "executionState", "validationResult", "createdAt", "updatedAt"),
)
#: Fields of a plan that are made of what the planner says.
_MADE = ("steps", "origin", "metadata", "flow")
_CHAINING = PRESET
#: The planning engine: a failure is isolated, but where steps say whether they are critical a critical one stops all.
_ENGINE = {"failure_mode": "isolate"}
_WITH_CRITICAL = {"failure_mode": "stop"}


def _planned(
    form: str, items: list[DocumentNode], node: DocumentNode, page: Page, *, remarks: Remarks, preset: Mapping[str, str]
) -> ReaderResult:
    roots, variables, ids = tool_roots(items, remarks)
    steps = [_step(item, index, roots | variables, remarks) for index, item in enumerate(items)]
    tree: dict[str, DocumentNode] = {"steps": DocumentNode(steps, node.line, node.column)}
    tree |= {name: DocumentNode(value) for name, value in preset.items()}
    outputs = every_output(dict(zip(ids, (item.value["tool"].value for item in items), strict=True)))
    if preset is _CHAINING and outputs is not None:
        tree["outputs"] = tree_of_values(outputs)
    origin = _origin(node.value, items, remarks)
    if origin:
        tree["origin"] = tree_of_values(origin)
    told = [{key: item.value[key].value for key in _TOLD if _is_told(item, key)} for item in items]
    if any(told):
        tree["metadata"] = tree_of_values({"planner_steps": told})
    tree |= {key: node.value[key] for key in PLAN_FIELDS if key in node.value and key not in _MADE}
    if "outputs" in node.value:
        tree["outputs"] = _renamed(node.value["outputs"], roots | variables)
    for key in node.value.keys() - set(_SAID) - set(PLAN_FIELDS):
        remarks.left_out_of_plan(key, node.value[key])
    plan = plan_of(DocumentNode(tree, node.line, node.column, repeats=node.repeats), page.file)
    plan = with_findings(plan, remarks.findings())
    return ReaderResult(format=form, calls=_raw_calls(items, page) or calls_of(plan), plan=plan)


def _is_told(item: DocumentNode, key: str) -> bool:
    return key in item.value and isinstance(item.value[key].value, str | int | float)


def _raw_calls(items: list[DocumentNode], page: Page) -> tuple[ModelCall, ...]:
    calls: list[ModelCall] = []
    for item in items:
        given = item.value.get("inputs")
        try:
            inputs = arguments(given, page) if given is not None else {}
        except ReadError:
            return ()
        depends = item.value.get("depends_on", DocumentNode(None)).value
        names = [depends] if isinstance(depends, str) else [one.value for one in depends or () if one.value]
        call = ModelCall(
            tool=item.value["tool"].value,
            inputs=inputs,
            depends_on=tuple(str(name) for name in names),
            line=item.line,
            column=item.column,
        )
        calls.append(call)
    return tuple(calls)


def _step(item: DocumentNode, index: int, roots: dict[str, str], remarks: Remarks) -> DocumentNode:
    members = {key: item.value[key] for key in _KEPT if key in item.value}
    for key in ("inputs", "when", "fallback", "on_success", "requires_approval"):
        if key in members:
            members[key] = _renamed(members[key], roots, bare=key in ("when", "requires_approval"))
    if "timeout" in members:
        members["timeout"] = _in_seconds(members["timeout"], index, remarks)
    if "depends_on" in members:
        members["depends_on"] = remarks.depends(members["depends_on"], index)
    mapping = item.value.get("outputMapping")
    if mapping is not None and mapping.value:
        mapped = remarks.mapping(mapping, index)
        if mapped is not None:
            members["on_success"] = _with_mapping(members.get("on_success"), mapped, mapping)
    for key in item.value.keys() - set(_KEPT) - set(_TOLD) - {"outputMapping"}:
        remarks.left_out(key, item.value[key], index)
    return DocumentNode(members, item.line, item.column, repeats=item.repeats)


def _with_mapping(given: DocumentNode | None, mapped: DocumentNode, at: DocumentNode) -> DocumentNode:
    """The handling of success with the planner's output mapping in it; where both map a field, ours counts."""
    if given is None:
        return _like(at, {"map_outputs": mapped})
    if not isinstance(given.value, dict):
        return given
    own = given.value.get("map_outputs")
    both = {**mapped.value, **own.value} if own is not None and isinstance(own.value, dict) else mapped.value
    return _like(given, {**given.value, "map_outputs": _like(mapped, both)})


def _in_seconds(node: DocumentNode, index: int, remarks: Remarks) -> DocumentNode:
    """A planner's number is milliseconds; a text such as `30s` says itself what it is."""
    if not isinstance(node.value, int | float) or isinstance(node.value, bool) or abs(node.value) > 1e300:
        return node
    found = node.value / _MILLISECONDS
    if 0 < found < _SHORTEST:
        remarks.add(
            "unlikely_timeout",
            "warning",
            f"A planner's times are milliseconds: this step has {found:g} s.",
            f"/steps/{index}/timeout",
            node,
            hint="Write the unit, for example 30s.",
        )
    return _like(node, found)


def _renamed(node: DocumentNode, roots: dict[str, str], *, bare: bool = False) -> DocumentNode:
    """The node with the names in its templates replaced; `bare`: a text without braces is an expression too."""
    match node.value:
        case str() as text if bare and "{{" not in text:
            return _like(node, renamed(f"{{{{{text}}}}}", roots)[2:-2])
        case str() as text:
            return _like(node, renamed(text, roots))
        case dict() as members:
            return _like(node, {key: _renamed(item, roots) for key, item in members.items()})
        case list() as items:
            return _like(node, [_renamed(item, roots) for item in items])
        case _:
            return node


def _origin(members: dict[str, DocumentNode], items: list[DocumentNode], remarks: Remarks) -> JsonObject:
    found: JsonObject = {}
    for key in ("reasoning", "rationale", "plan"):
        if key in members and isinstance(members[key].value, str) and members[key].value:
            found.setdefault("reasoning", members[key].value)
    # A chain is as sure as its least sure link.
    sure = [item.value["confidence"] for item in items if "confidence" in item.value]
    sure += [members["confidence"]] if "confidence" in members else []
    numbers = [remarks.confidence(one) for one in sure]
    known = [number for number in numbers if number is not None]
    if known:
        found["confidence"] = min(known)
    estimates: JsonObject = {}
    for key, name, unit in (("estimatedDuration", "duration", _MILLISECONDS), ("estimatedCost", "cost", 1.0)):
        value = members[key].value if key in members else None
        if isinstance(value, int | float) and not isinstance(value, bool):
            estimates[name] = value / unit if unit != 1.0 else value
    return found | ({"estimates": estimates} if estimates else {})


def _like(node: DocumentNode, value: object) -> DocumentNode:
    return DocumentNode(value, node.line, node.column, node.key_line, node.key_column, "", node.repeats)
