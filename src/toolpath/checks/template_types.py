"""Types of what the templates of a plan give, part by part, and what messages tell of an argument. Pure."""

from __future__ import annotations

from toolpath.checks.readings import Argument
from toolpath.checks.roots import is_lone
from toolpath.checks.shapes import Type, either, list_of, object_of, shape_of, tuple_of
from toolpath.checks.type_source import TypeSource
from toolpath.checks.views import TemplatePlace, has_template
from toolpath.expressions.tree import Path
from toolpath.json_schema.describe import type_text
from toolpath.values import Json, JsonObject, key_pointer

#: Items of a list that are told apart.
_MOST_ITEMS = 50
#: Kinds of values that templates may be in.
_HOLDING = frozenset({str, dict, list})
_HOLDERS = frozenset({dict, list})
_TEXT: JsonObject = {"type": "string"}


def type_of_part(types: TypeSource, template: TemplatePlace, pointer: str, value: Json) -> Type:
    """The type of a part of a template: literals are themselves, templates what they give."""
    memory, kind = types.memory, type(value)
    if kind is str and "{{" in value:
        return types.judged(template, pointer).type if pointer in template.leaves else _TEXT
    if kind not in _HOLDERS or (len(value) > _MOST_ITEMS and not has_template(value)):
        return memory.literal(value)
    if kind is dict:
        parts = {
            name: type_of_part(types, template, pointer + key_pointer(name), item)
            if type(item) in _HOLDING
            else memory.literal(item)
            for name, item in value.items()
        }
        key = ("object", *parts, *map(id, parts.values()))
        return memory.made(key, parts.values(), lambda: object_of(parts))
    items = [type_of_part(types, template, f"{pointer}/{index}", item) for index, item in enumerate(value)]
    if len(items) > _MOST_ITEMS:
        return list_of(either(items))
    return memory.made(("tuple", *map(id, items)), items, lambda: tuple_of(items))


def type_of_given(types: TypeSource, template: TemplatePlace, pointer: str, value: Json, *, drops_null: bool) -> Type:
    """The type of a part of the inputs. That a step may have been skipped is for another rule to say."""
    if not isinstance(value, str):
        return type_of_part(types, template, pointer, value)
    leaf = template.leaves.get(pointer)
    is_path = leaf is not None and leaf.whole is not None and isinstance(leaf.whole.tree, Path)
    schema = types.judged(template, pointer).lone if is_path else type_of_part(types, template, pointer, value)
    return types.kinds.without_null(schema) if drops_null else schema


def argument(types: TypeSource, template: TemplatePlace, pointer: str, value: Json, schema: JsonObject) -> Argument:
    """All that a message tells of a part of the inputs, whose type is known."""
    reads = template.reads_below(pointer)
    text, kind = "a value", ""
    if len(reads) == 1 and reads[0].reference.pointer == pointer and is_lone(reads[0]):
        text, kind = f"'{reads[0].text}'", reads[0].kind
    held = all(types.reading(read).held for read in reads)
    sure = schema if held else shape_of(value)
    return Argument(schema=schema, sure=sure, text=f"{text} ({type_text(schema)})", reads=kind)
