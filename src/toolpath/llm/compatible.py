"""Model of a server that speaks OpenAI's language nearly: what such servers leave out or write otherwise is mended.

Loads pydantic-ai and OpenAI's client library, so it is imported only when a model is asked.
"""

from __future__ import annotations

from typing import Any, Final

from pydantic_ai.exceptions import ModelHTTPError, UnexpectedModelBehavior
from pydantic_ai.models.openai import OpenAIChatModel

from toolpath.values import encode

#: Status of an error that came without one.
_FAILED: Final = 502


class CompatibleModel(OpenAIChatModel):
    """Model of a server of somebody else's that is asked in OpenAI's language."""

    def _validate_completion(self, response: Any) -> Any:
        """The completion, with what its readers rest on. Raises `ModelHTTPError` for an error sent as a success."""
        if not response.choices:
            error = getattr(response, "error", None)
            if error:
                raise ModelHTTPError(_status(error), self.model_name, {"error": error})
            raise UnexpectedModelBehavior("The answer has no choices.")
        response.id = response.id if isinstance(response.id, str) else ""
        response.model = response.model if isinstance(response.model, str) else self.model_name
        response.object = "chat.completion"
        response.created = response.created if isinstance(response.created, int) else 0
        for number, choice in enumerate(response.choices):
            choice.index = number
            choice.message.role = "assistant"
            choice.message.tool_calls = _calls(choice.message)
        return super()._validate_completion(response)


def _status(error: object) -> int:
    code = error.get("code") if isinstance(error, dict) else None
    return code if isinstance(code, int) and 400 <= code < 600 else _FAILED


def _calls(message: Any) -> list[dict[str, object]] | None:
    """The calls of a message, each with an id and its arguments as text; the one call of the older form among them."""
    older = getattr(message, "function_call", None)
    message.function_call = None
    calls = [_fields(call) for call in message.tool_calls or ()]
    if older is not None and not calls:
        calls = [{"function": older}]
    return [_whole(call, number) for number, call in enumerate(calls)] or None


def _whole(call: dict[str, Any], number: int) -> dict[str, object]:
    function = _fields(call.get("function"))
    arguments = function.get("arguments")
    text = arguments if isinstance(arguments, str) else encode({} if arguments is None else arguments).decode()
    return {
        **call,
        "id": call.get("id") or f"call_{number}",
        "type": "function",
        "function": {**function, "arguments": text},
    }


def _fields(value: Any) -> dict[str, Any]:
    """The fields of a part of the answer, which the client library may have made a record of."""
    if isinstance(value, dict):
        return value
    return {} if value is None else dict(value.model_dump(warnings=False))
