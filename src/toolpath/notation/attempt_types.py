"""Types of fields that say what follows an attempt: retry, fallback, cache, conditions, on_success, on_failure."""

from __future__ import annotations

from typing import Any

import msgspec

from toolpath.model import plan as model
from toolpath.model.plan import Flow
from toolpath.notation.field_types import UNSET, AsIs, Entry, Table, Whole
from toolpath.notation.reading.fields import Fields
from toolpath.notation.reading.notes import below
from toolpath.values import Json, JsonObject

_MODES = ("parallel", "sequential")


class MaxRetries(Whole, frozen=True, kw_only=True):
    """`max_retries`, or `max_attempts`, which counts the first too."""

    def read(self, fields: Fields, entry: Entry, around: Any) -> Any:
        retries = fields.integer("max_retries")
        attempts = fields.integer("max_attempts", least=1)
        if retries is not None and attempts is not None:
            fields.notes.error(
                "alias_twice",
                "'max_retries' and 'max_attempts' say the same; both are given.",
                below(fields.path, "max_retries"),
                fields.node,
                hint="Keep 'max_retries': the attempts after the first.",
            )
        if retries is not None:
            return retries
        return UNSET if attempts is None else attempts - 1

    def schema_of_aliases(self, entry: Entry) -> JsonObject:
        return {"type": "integer", "minimum": 1, "description": "Attempts in all: max_retries + 1."}


class FallbackList(msgspec.Struct, frozen=True, kw_only=True):
    """A fallback, or a list of them in the order in which they are tried."""

    table: Table

    def read(self, fields: Fields, entry: Entry, around: Any) -> Any:
        node = fields.node_of(entry.name)
        if node is None:
            return UNSET
        path = below(fields.path, entry.name)
        items = [(path, node)]
        if isinstance(node.value, list):
            items = [(below(path, index), item) for index, item in enumerate(node.value)]
        found = []
        for at, item in items:
            inner = Fields.of(item, at, fields.notes, entry.hint)
            values = self.table.values(inner) if inner is not None else {}
            if inner is not None:
                self.table.finish(inner)
            if values.get("tool"):
                found.append(model.Fallback(**values))
        return tuple(found)

    def written(self, value: Any, flow: Flow) -> Json:
        each = [self.table.written(fallback) for fallback in value]
        return each[0] if len(each) == 1 else each

    def schema(self, entry: Entry) -> JsonObject:
        one = {"$ref": "#/$defs/fallback"}
        return {"anyOf": [one, {"type": "array", "items": one}]}


class CacheSwitch(msgspec.Struct, frozen=True, kw_only=True):
    """`true`, `false` (never, even where the tool keeps its results: a time of 0) or `{ttl, key}`."""

    table: Table

    def read(self, fields: Fields, entry: Entry, around: Any) -> Any:
        node = fields.node_of(entry.name)
        if node is None:
            return UNSET
        if isinstance(node.value, bool):
            return model.Cache() if node.value else model.Cache(ttl=0.0)
        inner = Fields.of(node, below(fields.path, entry.name), fields.notes, entry.hint)
        return UNSET if inner is None else self.table.read(inner)

    def written(self, value: Any, flow: Flow) -> Json:
        if value == model.Cache():
            return True
        return False if value == model.Cache(ttl=0.0) else self.table.written(value)

    def schema(self, entry: Entry) -> JsonObject:
        return {"anyOf": [{"type": "boolean"}, self.table.schema()]}


class VariableMap(AsIs, frozen=True, kw_only=True):
    """Field of the output → name of a variable."""

    def read(self, fields: Fields, entry: Entry, around: Any) -> Any:
        inner = fields.inside(entry.name, lambda inner: inner, entry.hint)
        found: dict[str, str] = {}
        for name, node in inner.members.items() if inner is not None else ():
            if isinstance(node.value, str) and node.value:
                fields.notes.place(below(below(fields.path, entry.name), name), node)
                found[name] = node.value
            else:
                fields.notes.wrong_type(below(below(fields.path, entry.name), name), node, "The name of a variable")
        return found

    def schema(self, entry: Entry) -> JsonObject:
        return {"type": "object", "additionalProperties": {"type": "string"}}


class FailurePolicy(msgspec.Struct, frozen=True, kw_only=True):
    """`on_failure`; `action: retry` gives the step's retry as well: the value is both."""

    table: Table

    def read(self, fields: Fields, entry: Entry, around: Any) -> Any:
        found = fields.inside(entry.name, lambda inner: _failure(inner, self.table), entry.hint)
        return UNSET if found is None else found

    def written(self, value: Any, flow: Flow) -> Json:
        return self.table.written(value)

    def schema(self, entry: Entry) -> JsonObject:
        return self.table.schema()


def _failure(fields: Fields, table: Table) -> tuple[model.OnFailure, model.Retry | None]:
    given = table.values(fields)
    table.finish(fields)
    action, jump = given.get("action"), given.get("next")
    if action != "retry":
        for name in ("max_retries", "continue_on_max_retries"):
            if fields.node_of(name) is not None:
                _unused(fields, name, "it counts only with 'action: retry'", "Add 'action: retry'.")
        return model.OnFailure(action=action, next=jump), None
    goes_on = given.get("continue_on_max_retries", False)
    if not goes_on and jump is not None:
        _unused(fields, "next", "the chain stops after the last retry", "Add 'continue_on_max_retries: true'.")
        jump = None
    policy = model.OnFailure(action="continue" if goes_on else "stop", next=jump)
    return policy, model.Retry(max_retries=given.get("max_retries", 3))


def _unused(fields: Fields, name: str, reason: str, hint: str) -> None:
    fields.notes.warning(
        "unused_field",
        f"'{name}' has no effect: {reason}.",
        below(fields.path, name),
        fields.members.get(name),
        hint=hint,
    )


class Condition(AsIs, frozen=True, kw_only=True):
    """An expression, true or false."""

    def read(self, fields: Fields, entry: Entry, around: Any) -> Any:
        node = fields.node_of(entry.name)
        if node is None:
            return UNSET
        if isinstance(node.value, str | bool):
            return node.value
        fields.notes.wrong_type(below(fields.path, entry.name), node, "An expression, true or false")
        return UNSET

    def schema(self, entry: Entry) -> JsonObject:
        return {"anyOf": [{"type": "string"}, {"type": "boolean"}]}


class Exclusive(AsIs, frozen=True, kw_only=True):
    """True or false, or by its other names `parallel` or `sequential`."""

    def read(self, fields: Fields, entry: Entry, around: Any) -> Any:
        names = [name for name in entry.aliases if name in fields.members]
        if not names:
            return fields.flag(entry.name, False)
        mode = fields.choice(names[0], _MODES, *names[1:])
        if fields.node_of(entry.name) is None:
            return mode == "sequential"
        fields.notes.error(
            "alias_twice",
            f"'exclusive' and '{names[0]}' are two names of one field; both are given.",
            below(fields.path, entry.name),
            fields.members[entry.name],
            hint="Keep 'exclusive' alone.",
        )
        return fields.flag(entry.name, False)

    def schema(self, entry: Entry) -> JsonObject:
        return {"type": "boolean", "default": False}

    def schema_of_aliases(self, entry: Entry) -> JsonObject:
        return {"enum": list(_MODES)}
