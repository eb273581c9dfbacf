"""Shape of a resolved tree without a run: the type of its result, and how it may fail or grow. Pure."""

from __future__ import annotations

from toolpath.expressions import tree
from toolpath.expressions.names import Root
from toolpath.expressions.tree import Tree
from toolpath.values import JsonObject, type_name


def schema_of(of: Tree) -> JsonObject | None:
    """JSON Schema of the result as far as it is known; None: unknown."""
    match of:
        case tree.Literal_(value):
            return {"type": type_name(value), "const": value}
        case tree.Compare() | tree.Not() | tree.Defined():
            return {"type": "boolean"}
        case tree.Concat():
            return {"type": "string"}
        case tree.Binary() | tree.Sign():
            return _arithmetic(of)
        case tree.ListOf() | tree.Each():
            return {"type": "array"}
        case tree.DictOf():
            return _object(of)
        case tree.Apply(gives=str(kind)):
            return {"type": kind}
        case tree.Choose(yes=yes, no=no) if no is not None:
            return _either(yes, no)
        case tree.Default(subject=subject, otherwise=otherwise):
            return _either(subject, otherwise)
        case tree.Logic(left=left, right=right):
            return _either(left, right)
        case _:
            return None


def _arithmetic(of: tree.Binary | tree.Sign) -> JsonObject | None:
    if isinstance(of, tree.Sign) or of.operator in ("sub", "div", "floordiv", "mod", "pow"):
        return {"type": "number"}
    # `+` joins texts and lists too, and `*` repeats them.
    left, right = (_kinds(schema_of(side) or {}) for side in (of.left, of.right))
    known = {*left, *right}
    # `+` needs two operands of one kind, so that one side tells of the other.
    if not known or not (of.operator == "add" or (left and right)):
        return None
    if known <= {"number", "integer"}:
        return {"type": "number"}
    return {"type": known.pop()} if of.operator == "add" and known in ({"string"}, {"array"}) else None


def _object(of: tree.DictOf) -> JsonObject:
    properties: JsonObject = {}
    for key, value in of.items:
        if not isinstance(key, tree.Literal_) or type(key.value) is not str:
            return {"type": "object"}
        properties[key.value] = schema_of(value) or {}
    return {"type": "object", "properties": properties, "required": list(properties), "additionalProperties": False}


def _either(left: Tree, right: Tree) -> JsonObject | None:
    one, other = schema_of(left), schema_of(right)
    if one is None or other is None:
        return None
    if one == other:
        return one
    if set(one) == set(other) == {"type"} or {"const"} & (set(one) | set(other)):
        kinds = sorted({kind for found in (one, other) for kind in _kinds(found)})
        return {"type": kinds[0] if len(kinds) == 1 else kinds}
    return {"anyOf": [one, other]}


def _kinds(schema: JsonObject) -> list[str]:
    kind = schema.get("type", [])
    return kind if isinstance(kind, list) else [kind]


def builds(of: Tree) -> bool:
    """Whether the result may hold one value several times, so that it is larger to walk than what it was made of."""
    match of:
        case tree.Literal_() | tree.Path() | tree.Local() | tree.Compare() | tree.Not() | tree.Defined():
            return False
        case tree.Concat() | tree.Sign():
            return False
        case tree.Item(subject=subject) | tree.Slice(subject=subject):
            return builds(subject)
        case tree.Each(kind="filter" | "reject", subject=subject):
            return builds(subject)
        case tree.Apply(gives="string" | "number" | "integer" | "boolean"):
            return False
        case tree.Apply(subject=subject, builds=again):
            return again or builds(subject)
        case tree.Choose(yes=yes, no=no):
            return builds(yes) or (no is not None and builds(no))
        case tree.Default(subject=subject, otherwise=otherwise):
            return builds(subject) or builds(otherwise)
        case tree.Logic(left=left, right=right):
            return builds(left) or builds(right)
        case _:
            return True


def may_be_void(of: Tree) -> bool:
    """Whether null may stand for what is not there by intent: a step without output, an input not given."""
    match of:
        case tree.Path(reference):
            return isinstance(reference.root, Root) and reference.root.kind in ("output", "inputs", "state")
        case tree.Item(subject=subject) | tree.Slice(subject=subject):
            return may_be_void(subject)
        case tree.Choose(yes=yes, no=no):
            return no is None or may_be_void(yes) or may_be_void(no)
        case _:
            return False


def is_steady(of: Tree) -> bool:
    """Whether a key that is missing is the only way in which the look-up can fail."""
    return isinstance(of, tree.Path | tree.Local)
