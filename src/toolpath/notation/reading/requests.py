"""An HTTP request that a composite describes (`api_call`) → one call of `http.request`, or `http.get`, which reads."""

from __future__ import annotations

import re
from typing import Any

from toolpath.model.plan import Call, Retry
from toolpath.notation.nodes import DocumentNode
from toolpath.notation.reading.fields import Fields
from toolpath.notation.reading.notes import below
from toolpath.values import Json, JsonObject

TOOL = "http.request"
#: What a GET without a body is: a tool that only reads, so that it may be tried again and its results kept.
READING_TOOL = "http.get"
METHODS = ("GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS")
REQUEST_FIELDS = (
    "method",
    "url",
    "base_url",
    "path",
    "headers",
    "query",
    "body",
    "request_mapping",
    "response_mapping",
    "retry_policy",
)
#: What a request returns; a path in `response_mapping` may start with these, or within the body.
_PARTS = ("status", "headers", "body")
_WITHOUT_BODY = ("GET", "HEAD", "DELETE", "OPTIONS")
_STEP = "response"
_PATH = re.compile(r"\w+(?:\.\w+|\[\w+\]|\[(?:'[^']*'|\"[^\"]*\")\])*")


def read_request(fields: Fields, inputs: JsonObject) -> dict[str, Any]:
    """The parts of the plan: one call, and outputs from `response_mapping` (without one, the body)."""
    method = _method(fields)
    arguments: JsonObject = {"method": method, "url": _url(fields, inputs)}
    for name in ("headers", "query"):
        found = fields.mapping(name)
        if found:
            arguments[name] = found
    body = fields.json("body")
    mapped = {key: _argument(item, inputs) for key, item in fields.mapping("request_mapping").items()}
    if mapped and method in _WITHOUT_BODY:
        arguments["query"] = {**arguments.get("query", {}), **mapped}
    elif mapped and isinstance(body, dict | None):
        body = {**(body or {}), **mapped}
    if body is not None:
        arguments["body" if isinstance(body, str) and "{{" not in body else "json"] = body
    outputs = _response(fields)
    retry = fields.inside("retry_policy", _retry)
    _refuse_client(fields)
    fields.finish("An api_call", REQUEST_FIELDS)
    tool = TOOL
    if method == "GET" and body is None:
        tool = READING_TOOL
        del arguments["method"]
    call = Call(id=_STEP, derived_id=False, tool=tool, inputs=arguments, retry=retry)
    return {"flow": "chain", "steps": (call,), "outputs": outputs}


def _method(fields: Fields) -> str:
    method = fields.text("method", default="GET").upper()
    if method in METHODS:
        return method
    fields.choice("method", METHODS)
    return "GET"


def _url(fields: Fields, inputs: JsonObject) -> str:
    base, path = fields.text("base_url"), fields.text("path")
    url = fields.text("url")
    if not url and not base:
        fields.notes.missing(below(fields.path, "url"), "url", fields.node, "Give 'url', or 'base_url' and 'path'.")
    url = url or (f"{base.rstrip('/')}/{path.lstrip('/')}" if path else base)
    names = inputs.get("properties", {})
    # {id} stands for an input and is encoded; {{ … }} is a template and is left alone.
    return re.sub(
        r"(?<!\{)\{(\w+)\}(?!\})",
        lambda found: (
            f"{{{{ inputs.{found[1]} | urlencode | replace('/', '%2F') }}}}" if found[1] in names else found[0]
        ),
        url,
    )


def _argument(value: Json, inputs: JsonObject) -> Json:
    """A value of `request_mapping`: the name of an input, or any template."""
    if isinstance(value, str) and value in inputs.get("properties", {}):
        return f"{{{{ inputs.{value} }}}}"
    return value


def _response(fields: Fields) -> Json:
    mapping = fields.json("response_mapping")
    if mapping is None:
        return f"{{{{ steps.{_STEP}.output.body }}}}"
    return _mapped(mapping, fields, fields.members.get("response_mapping"))


def _mapped(mapping: Json, fields: Fields, node: DocumentNode | None) -> Json:
    match mapping:
        case dict():
            return {key: _mapped(item, fields, node) for key, item in mapping.items()}
        case list():
            return [_mapped(item, fields, node) for item in mapping]
        case str() if "{{" in mapping:
            return mapping
        case str() if _PATH.fullmatch(mapping.strip()):
            path = mapping.strip().removeprefix(f"{_STEP}.")
            root = re.match(r"\w+", path)
            inside = path if root is not None and root.group() in _PARTS else f"body.{path}"
            return f"{{{{ steps.{_STEP}.output.{inside} }}}}"
        case str():
            fields.notes.error(
                "source_code",
                "This is neither a path into the response nor a template.",
                below(fields.path, "response_mapping"),
                node,
                hint='Write a path such as data.id, or a template: "{{ response.body.data.id }}".',
            )
            return None
        case _:
            return mapping


def _retry(fields: Fields) -> Retry:
    attempts = fields.integer("max_attempts", least=1)
    pause = fields.duration("backoff_seconds", zero=True)
    fields.finish("A retry_policy", ("max_attempts", "backoff_seconds"))
    return Retry(
        max_retries=(attempts or 1) - 1, initial_delay=pause or 0.0, backoff="exponential" if pause else "none"
    )


def _refuse_client(fields: Fields) -> None:
    node = fields.node_of("client_class")
    if node is not None:
        fields.notes.error(
            "source_code",
            "'client_class' names code, which is not loaded from here.",
            below(fields.path, "client_class"),
            node,
            hint="Give 'url' and 'method', or register the client's function as a tool.",
        )
