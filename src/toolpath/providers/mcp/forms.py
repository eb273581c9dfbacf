"""A server's question (elicitation) as a form for a person, and the answer as the server wants it. Pure."""

from __future__ import annotations

from typing import Any

from toolpath.values import JsonObject

_TYPES = {"boolean": "checkbox", "integer": "integer", "number": "number"}
_MOST_FIELDS = 100


def form_of(params: JsonObject, server: str) -> JsonObject:
    """The form `{title, description, inputs}` that asks what the server wants to know.

    `params` is the wire form of `elicitation/create`: a flat object schema, or a URL to visit.
    """
    title = str(params.get("message") or "A question")[:2000]
    if params.get("mode") == "url":
        field = {"name": "done", "label": "I have done this", "type": "checkbox", "required": True}
        return {"title": title, "description": f"{server} asks to visit {params.get('url')}", "inputs": [field]}
    schema = params.get("requestedSchema") or {}
    required = set(schema.get("required") or ())
    properties = list((schema.get("properties") or {}).items())[:_MOST_FIELDS]
    return {
        "title": title,
        "description": f"{server} asks.",
        "inputs": [_field(name, field, name in required) for name, field in properties],
    }


def _field(name: str, schema: JsonObject, is_required: bool) -> JsonObject:
    field: JsonObject = {
        "name": name,
        "label": schema.get("title") or name,
        "type": _field_type(schema),
        "required": is_required,
    }
    options = _options(schema)
    if options:
        several = schema.get("type") == "array"
        field |= {"type": "checkbox" if several else "select", "options": options}
        if several:
            field["multiple"] = True
    if schema.get("description"):
        field["placeholder"] = str(schema["description"])[:500]
    if "default" in schema:
        field["default"] = schema["default"]
    return field


def _field_type(schema: JsonObject) -> str:
    if schema.get("format") == "email":
        return "email"
    return _TYPES.get(str(schema.get("type")), "text")


def _options(schema: JsonObject) -> list[Any]:
    """The values to choose from; several may be chosen where the schema is of an array."""
    source = schema.get("items") or {} if schema.get("type") == "array" else schema
    if isinstance(source.get("enum"), list):
        return list(source["enum"])
    choices = source.get("oneOf") or source.get("anyOf") or ()
    return [choice["const"] for choice in choices if isinstance(choice, dict) and "const" in choice]


def answer_of(params: JsonObject, values: JsonObject) -> JsonObject:
    """The person's `{name: value}` as an elicitation result: what was left empty is left out."""
    if params.get("mode") == "url":
        return {"action": "accept" if values.get("done", True) else "decline"}
    properties = (params.get("requestedSchema") or {}).get("properties") or {}
    content = {
        name: [value] if schema.get("type") == "array" and not isinstance(value, list) else value
        for name, schema in properties.items()
        if (value := values.get(name)) is not None and value != ""
    }
    return {"action": "accept", "content": content}
