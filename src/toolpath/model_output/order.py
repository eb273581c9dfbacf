"""Order of a planner's steps: dependencies by tool name, variables; and remarks on them."""

from __future__ import annotations

import re

from toolpath.errors import Finding, Severity, closest
from toolpath.model_output.references import root, texts_in
from toolpath.notation.nodes import DocumentNode, plain
from toolpath.notation.reading.ids import Ids, is_id
from toolpath.notation.reading.notes import MAX_FINDINGS, Notes

_ROOTS = re.compile(r"\{\{\s*([A-Za-z_][\w-]*(?:\.[A-Za-z_][\w-]*)*)")

#: Names of tools among which a wrong one is compared.
_MOST_COMPARED = 50


class Remarks:
    """Findings on a planner's answer that the reader of our own notation cannot make."""

    def __init__(self) -> None:
        self._found: list[tuple[str, Severity, str, str, DocumentNode, str]] = []
        self._ids: dict[str, tuple[str, ...]] = {}

    def add(
        self, code: str, severity: Severity, message: str, path: str, node: DocumentNode, *, hint: str = ""
    ) -> None:
        """Note a finding about this part of the plan."""
        if len(self._found) >= MAX_FINDINGS:
            return
        self._found.append((code, severity, message, path, node, hint))

    def findings(self) -> tuple[Finding, ...]:
        """The findings, with their places."""
        return tuple(
            Finding(
                code=code,
                severity=severity,
                message=message,
                path=path,
                line=node.line or None,
                column=node.column or None,
                hint=hint,
            )
            for code, severity, message, path, node, hint in self._found
        )

    def know(self, users: dict[str, tuple[str, ...]]) -> None:
        """Remember which steps use a tool, by its name."""
        self._ids = users

    def depends(self, node: DocumentNode, index: int) -> DocumentNode:
        """The dependencies with names of tools replaced by the ids of the steps that use them."""
        items = [node] if isinstance(node.value, str) else node.value
        if not isinstance(items, list):
            return node
        return DocumentNode([self._dependency(item, index) for item in items if item.value], node.line, node.column)

    def _dependency(self, item: DocumentNode, index: int) -> DocumentNode:
        if not isinstance(item.value, str):
            return item
        users = self._ids.get(item.value, ())
        if len(users) > 1:
            self.add(
                "ambiguous_step",
                "error",
                f"Several steps use the tool {item.value!r:.60}; which one is meant cannot be told.",
                f"/steps/{index}/depends_on",
                item,
                hint=f"Give the steps ids and name one: {', '.join(users)}.",
            )
        return DocumentNode(users[0] if len(users) == 1 else item.value, item.line, item.column)

    def mapping(self, node: DocumentNode, index: int) -> DocumentNode | None:
        """An output mapping of field → variable; what is none of that form is remarked on."""
        path = f"/steps/{index}/on_success/map_outputs"
        if not isinstance(node.value, dict):
            self.add("wrong_type", "error", "An output mapping of field to variable is expected here.", path, node)
            return None
        kept: dict[str, DocumentNode] = {}
        for field, variable in node.value.items():
            if isinstance(variable.value, str) and is_id(variable.value):
                kept[field] = variable
            else:
                message = f"The output mapping of {field!r:.60} names no variable and is left out."
                self.add("unknown_value", "warning", message, path, variable, hint="Write field: variable.")
        return DocumentNode(kept, node.line, node.column) if kept else None

    def left_out(self, key: str, node: DocumentNode, index: int) -> None:
        """Note a field that no plan has."""
        self.add(
            "unknown_field", "warning", f"A step has no field {key!r:.60}; it is left out.", f"/steps/{index}", node
        )

    def left_out_of_plan(self, key: str, node: DocumentNode) -> None:
        """Note a field beside the steps that no plan has."""
        self.add("unknown_field", "warning", f"A plan has no field {key!r:.60}; it is left out.", "", node)

    def confidence(self, node: DocumentNode) -> float | None:
        """A confidence from 0 to 1; else a remark."""
        value = node.value
        if isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value <= 1:
            return float(value)
        self.add("unknown_value", "warning", "A confidence is a number from 0 to 1.", "/origin/confidence", node)
        return None


def in_order(items: list[DocumentNode], order: DocumentNode | None, remarks: Remarks) -> list[DocumentNode]:
    """The items in the order that the planner gives: a tie-breaker alone, since dataflow decides."""
    if order is None:
        return items
    waiting: dict[str, list[DocumentNode]] = {}
    for item in items:
        waiting.setdefault(_name(item), []).append(item)
    sorted_items: list[DocumentNode] = []
    placed: set[int] = set()
    names = tuple(waiting)[:_MOST_COMPARED]
    for entry in order.value:
        named = entry.value if isinstance(entry.value, str) else ""
        if waiting.get(named):
            sorted_items.append(waiting[named].pop(0))
            placed.add(id(sorted_items[-1]))
            continue
        again = named in waiting
        what = "once too often" if again else "which no step uses"
        remarks.add(
            "unknown_tool_in_order",
            "warning" if again else "error",
            f"The order of execution names {entry.value!r:.60}, {what}.",
            "/steps",
            entry,
            hint=f"The plan uses: {', '.join(closest(named[:100], names) or names[:5])}.",
        )
    for item in items:
        if id(item) not in placed:
            message = f"The order of execution leaves out {_name(item)!r:.60}."
            remarks.add("order_incomplete", "warning", message, "/steps", order)
            sorted_items.append(item)
    _compare(sorted_items, order, remarks)
    return sorted_items


def _compare(items: list[DocumentNode], order: DocumentNode, remarks: Remarks) -> None:
    """Warn where an item comes before one whose result it needs."""
    position = {_name(item): index for index, item in reversed(list(enumerate(items)))}
    for index, item in enumerate(items):
        for needed in _needs(item):
            if position.get(needed, -1) > index:
                remarks.add(
                    "order_contradicts",
                    "warning",
                    f"The order of execution puts {_name(item)!r:.60} before {needed!r:.60}, whose result it needs.",
                    f"/steps/{index}",
                    order,
                    hint="The dependencies decide.",
                )


def _needs(item: DocumentNode) -> set[str]:
    depends = item.value.get("depends_on", DocumentNode(None)).value
    names = (
        {depends} if isinstance(depends, str) else {one.value for one in depends or () if isinstance(one.value, str)}
    )
    if "inputs" in item.value:
        for text in texts_in(plain(item.value["inputs"])):
            for match in _ROOTS.finditer(text):
                parts = match.group(1).split(".")
                names.update(".".join(parts[:length]) for length in range(1, len(parts) + 1))
    return names


def _name(item: DocumentNode) -> str:
    name: str = item.value["tool"].value
    return name


def tool_roots(items: list[DocumentNode], remarks: Remarks) -> tuple[dict[str, str], dict[str, str], list[str]]:
    """The names of calls and variables in templates → those in our expressions, where these differ; the steps' ids."""
    ids = Ids(Notes(), DocumentNode([DocumentNode({"id": item.value["id"]}) for item in items if "id" in item.value]))
    users: dict[str, list[str]] = {}
    named: dict[str, str] = {}
    for index, item in enumerate(items):
        step_id, _ = ids.choose(item.value.get("id"), f"/steps/{index}/id", _name(item).rpartition(".")[2])
        named[step_id] = step_id
        for name in dict.fromkeys((_name(item), _name(item).rpartition(".")[2])):
            users.setdefault(name, []).append(step_id)
    written = _written(items)
    remarks.know({name: tuple(steps) for name, steps in users.items() if name not in written})
    roots = {name: root(steps[0]) for name, steps in users.items() if len(steps) == 1}
    roots |= {step_id: root(step_id) for step_id in named if step_id not in users}
    variables = {name: f"state.{name}" for name in _variables(items) if name not in users and name not in named}
    return {name: meant for name, meant in roots.items() if name != meant}, variables, list(named)


def _written(items: list[DocumentNode]) -> set[str]:
    return {item.value["id"].value for item in items if "id" in item.value and isinstance(item.value["id"].value, str)}


def _variables(items: list[DocumentNode]) -> list[str]:
    found: list[str] = []
    for item in items:
        mapping = item.value.get("outputMapping", DocumentNode(None)).value
        if isinstance(mapping, dict):
            found += [one.value for one in mapping.values() if isinstance(one.value, str) and is_id(one.value)]
    return found
