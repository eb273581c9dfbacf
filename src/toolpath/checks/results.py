"""The type of what an expression gives, where the types of what it reads are known. Pure."""

from __future__ import annotations

from collections.abc import Callable

from toolpath.checks.shapes import Type, either, list_of, object_of, standalone, tuple_of
from toolpath.language.expressions import tree
from toolpath.language.expressions.shape import schema_of
from toolpath.language.schema.locate import locate

_NULL: Type = {"type": "null"}


def type_of(of: tree.Tree, read: Callable[[tree.Reference], Type]) -> Type:
    """The type of the expression's value; None where it is not known. `read` gives that of a reference."""
    match of:
        case tree.Path(reference):
            return read(reference)
        case tree.Default(subject=subject, otherwise=otherwise):
            return either([type_of(subject, read), type_of(otherwise, read)])
        case tree.Choose(yes=yes, no=no):
            return either([type_of(yes, read), _NULL if no is None else type_of(no, read)])
        case tree.Logic(left=left, right=right):
            return either([type_of(left, read), type_of(right, read)])
        case tree.ListOf(items=items):
            return tuple_of([type_of(item, read) for item in items])
        case tree.DictOf(items=items) if all(_is_key(key) for key, _ in items):
            return object_of(
                {key.value: type_of(value, read) for key, value in items if isinstance(key, tree.Literal_)}
            )
        case tree.Item(subject=subject, key=tree.Literal_(value=str() | int() as key)) if not isinstance(key, bool):
            place = locate(type_of(subject, read), (key,))
            return standalone(place.schema, place.root) if place.found == "found" and place.schema else None
        case tree.Each(kind="filter" | "reject", subject=subject):
            return _filtered(type_of(subject, read))
        case tree.Binary(operator="add" | "mul", left=left, right=right):
            return schema_of(of) or _sum_or_product(of, type_of(left, read), type_of(right, read))
        case _:
            return schema_of(of)


def _sum_or_product(of: tree.Binary, left: Type, right: Type) -> Type:
    """`+` also joins texts and lists, `*` also repeats them: the operands' own types tell which."""
    kinds = {kind for side in (left, right) for kind in _kinds(side)}
    if not left or not right or None in kinds:
        return None
    if kinds <= {"number", "integer"}:
        return {"type": "integer" if kinds == {"integer"} else "number"}
    return {"type": "string"} if of.operator == "add" and kinds == {"string"} else None


def _kinds(schema: Type) -> tuple[str | None, ...]:
    named = (schema or {}).get("type")
    return tuple(named) if isinstance(named, list) else (named,)


def _is_key(key: tree.Tree) -> bool:
    return isinstance(key, tree.Literal_) and isinstance(key.value, str)


def _filtered(subject: Type) -> Type:
    """Some of a list's items."""
    place = locate(subject, (None,))
    items = standalone(place.schema, place.root) if place.found == "found" and place.schema else None
    return list_of(items)
