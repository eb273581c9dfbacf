"""Manners of model servers: what each kind of server takes and refuses, in its own words, for tests with clients.

`ModelServer(manner=…)` answers in one of them. A server that decodes by a grammar lets through what the schema it
was sent admits, as such servers do: an object whose properties are not named and not left open stays empty.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Final

import msgspec

from toolpath.testing.model_replies import Received
from toolpath.values import Json, JsonObject


class Refusal(msgspec.Struct, frozen=True):
    """Answer of a server that does not take a request."""

    status: int
    body: JsonObject


class Manner(msgspec.Struct, frozen=True, kw_only=True):
    """Manner of one kind of server with one kind of model."""

    form: str = "openai"
    """Whose errors: `openai`, `vllm`, `llama.cpp`, `anthropic` or `google`."""
    refuses: Mapping[str, tuple[int, str]] = {}
    """Part, such as `json_schema`, `json_object`, `tools`, `tool_choice`, `temperature` → status and message."""
    has_grammar: bool = False
    """It decodes by the schema."""
    most_tokens: int | None = None
    """More than so many of an answer are refused."""

    def refusal(self, received: Received) -> Refusal | None:
        """The refusal of a request; None where it is taken."""
        had = parts_of(received)
        for part, (status, message) in self.refuses.items():
            if part in had:
                return Refusal(status, self._error(status, message, part))
        asked = had.get("max_tokens")
        if self.most_tokens is not None and isinstance(asked, int) and asked > self.most_tokens:
            message = f"max_tokens: {asked} > {self.most_tokens}, which is the maximum allowed number of output tokens."
            return Refusal(400, self._error(400, message, "max_tokens"))
        return None

    def decoded(self, received: Received, text: str) -> str:
        """The text that a model writes under the schema of the request, which wanted to write this one."""
        schema = schema_of(received)
        if not self.has_grammar or schema is None:
            return text
        try:
            value = json.loads(text)
        except ValueError:
            return "{}"
        return json.dumps(admitted(value, schema))

    def _error(self, status: int, message: str, part: str) -> JsonObject:
        match self.form:
            case "vllm":
                error = {"message": message, "type": "BadRequestError", "param": None, "code": status}
                return {"object": "error", **error, "error": error}
            case "llama.cpp":
                return {"error": {"code": status, "message": message, "type": "invalid_request_error"}}
            case "anthropic":
                return {"type": "error", "error": {"type": "invalid_request_error", "message": message}}
            case "google":
                return {"error": {"code": status, "message": message, "status": "INVALID_ARGUMENT"}}
            case _:
                kind = {"type": "invalid_request_error", "param": part, "code": "unsupported_parameter"}
                return {"error": {"message": message, **kind}}


def parts_of(received: Received) -> JsonObject:
    """The parts of a request that a server may refuse, by one name for all protocols."""
    body: JsonObject = received.body if isinstance(received.body, dict) else {}
    config = body.get("generationConfig")
    config = config if isinstance(config, dict) else {}
    found: JsonObject = {}
    kind = (body.get("response_format") or {}).get("type") or ((body.get("text") or {}).get("format") or {}).get("type")
    if kind in ("json_schema", "json_object"):
        found[kind] = True
    elif schema_of(received) is not None and not body.get("tools"):
        found["json_schema"] = True
    elif config.get("responseMimeType") == "application/json":
        found["json_object"] = True
    names = {
        "tools": ("tools",),
        "tool_choice": ("tool_choice", "toolConfig"),
        "temperature": ("temperature",),
        "top_p": ("top_p", "topP"),
        "max_tokens": ("max_tokens", "max_completion_tokens", "max_output_tokens", "maxOutputTokens"),
        "stream": ("stream",),
    }
    for part, keys in names.items():
        for key in keys:
            value = body.get(key, config.get(key))
            # `auto` is what is meant where nothing is said.
            if value not in (None, [], False, "auto", {"type": "auto"}):
                found[part] = value
    roles = [turn.get("role") for turn in body.get("messages") or () if isinstance(turn, dict)]
    if "system" in roles or "developer" in roles or body.get("systemInstruction") or body.get("system"):
        found["system"] = True
    return found


def schema_of(received: Received) -> JsonObject | None:
    """The schema that a request wants its answer to fit."""
    body: JsonObject = received.body if isinstance(received.body, dict) else {}
    config = body.get("generationConfig")
    tools = body.get("tools")
    forced = tools[0] if isinstance(tools, list) and len(tools) == 1 and isinstance(tools[0], dict) else {}
    for value in (
        ((body.get("response_format") or {}).get("json_schema") or {}).get("schema"),
        ((body.get("text") or {}).get("format") or {}).get("schema"),
        (config or {}).get("responseJsonSchema") or (config or {}).get("responseSchema"),
        forced.get("input_schema") or (forced.get("function") or {}).get("parameters"),
    ):
        if isinstance(value, dict):
            return value
    return None


def admitted(value: Json, schema: JsonObject) -> Json:
    """The part of a value that a grammar made of the schema lets a model write.

    As in llama.cpp, outlines and lm-format-enforcer, an object that names properties has no others unless it says
    `additionalProperties`, and one that names none is closed by an empty list of them.
    """
    match value:
        case dict():
            named = schema.get("properties")
            more = schema.get("additionalProperties", not isinstance(named, dict))
            found: JsonObject = {}
            for key, item in value.items():
                if isinstance(named, dict) and isinstance(named.get(key), dict):
                    found[key] = admitted(item, named[key])
                elif more is True:
                    found[key] = item
                elif isinstance(more, dict):
                    found[key] = admitted(item, more)
            return found
        case list():
            items = schema.get("items")
            return [admitted(item, items) if isinstance(items, dict) else item for item in value]
        case _:
            return value


#: What servers say of a part of a request that they or their model do not know.
_SAID: Final = {
    "schema": "Invalid parameter: 'response_format' of type 'json_schema' is not supported with this model.",
    "object": "Invalid value: 'json_object'. Supported values are: 'text'.",
    "heat": "Unsupported value: 'temperature' does not support 0.3 with this model. Only the default (1) is supported.",
    "length": "Unsupported parameter: 'max_tokens' is not supported with this model.",
    "role": "Unsupported value: 'messages[0].role' does not support 'system' with this model.",
    "stream": "Unsupported value: 'stream' does not support true with this model.",
    "guided": "Invalid guided_json: the grammar backend does not support it.",
    "system": "System role not supported",
    "choice": '"auto" tool choice requires --enable-auto-tool-choice and --tool-call-parser to be set',
    "jinja": "tools param requires --jinja flag",
    "grammar": "failed to parse grammar",
    "turns": "Conversation roles must alternate user/assistant/user/assistant/...",
    "no tools": "registry.ollama.ai/library/gemma:2b does not support tools",
    "format": 'invalid format: expected "json" or a JSON schema',
    "thinking": "`temperature` may only be set to 1 when thinking is enabled.",
    "forced": "Thinking may not be enabled when tool_choice forces tool use.",
    "field": "Unknown name \"responseJsonSchema\" at 'generation_config': Cannot find field.",
    "json mode": "JSON mode is not enabled for models/gemma-3-27b-it",
    "developer": "Developer instruction is not enabled for models/gemma-3-27b-it",
    "endpoints": "No endpoints found that support tool use.",
}
_STATUSES: Final = {"jinja": 500, "turns": 500, "endpoints": 404}


def _manner(form: str = "openai", *, has_grammar: bool = False, most: int | None = None, **refuses: str) -> Manner:
    told = {part: (_STATUSES.get(name, 400), _SAID[name]) for part, name in refuses.items()}
    return Manner(form=form, refuses=told, has_grammar=has_grammar, most_tokens=most)


#: Servers by name, each in the manners that its models know: plain ones first.
MANNERS: Final[Mapping[str, tuple[Manner, ...]]] = {
    "vllm": (
        _manner("vllm", has_grammar=True),
        _manner("vllm", json_schema="guided"),
        _manner("vllm", system="system", has_grammar=True),
        _manner("vllm", has_grammar=True, most=4_096),
        _manner("vllm", tools="choice"),
    ),
    "llama.cpp": (
        _manner("llama.cpp", has_grammar=True),
        _manner("llama.cpp", tools="jinja", has_grammar=True),
        _manner("llama.cpp", json_schema="grammar", json_object="grammar"),
        _manner("llama.cpp", system="turns", has_grammar=True),
    ),
    "ollama": (
        _manner(has_grammar=True),
        _manner(tools="no tools", has_grammar=True),
        _manner(json_schema="format"),
    ),
    "openai": (
        _manner(),
        _manner(temperature="heat"),
        _manner(json_schema="schema"),
        _manner(max_tokens="length"),
        _manner(json_schema="schema", json_object="object"),
        _manner(system="role"),
        _manner(stream="stream"),
        _manner(tools="endpoints"),
    ),
    "anthropic": (
        _manner("anthropic"),
        _manner("anthropic", temperature="thinking"),
        _manner("anthropic", tool_choice="forced"),
        _manner("anthropic", most=4_096),
    ),
    "google": (
        _manner("google", has_grammar=True),
        _manner("google", json_schema="field"),
        _manner("google", json_schema="json mode", json_object="json mode", system="developer"),
    ),
}
