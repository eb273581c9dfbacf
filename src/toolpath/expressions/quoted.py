"""Templates that are data: what a request itself holds in braces is a value of it, not a reference. Pure."""

from __future__ import annotations

from typing import Final

from toolpath.errors import ExpressionError
from toolpath.expressions.scan import Placeholder, scan
from toolpath.values import Json

#: Two braces that stay as they are.
BRACES: Final = "{{ '{{' }}"


def readable(text: str) -> str:
    """The text with what is no character, such as half of one, replaced by `?`."""
    return text.encode("utf-8", "replace").decode("utf-8")


def escaped(value: Json, request: str) -> Json:
    """The value with those templates as plain text that the request itself holds word for word: they are its data."""
    if "{{" not in request:
        return value
    match value:
        case str():
            return _escaped_text(value, request)
        case dict():
            return {key: escaped(item, request) for key, item in value.items()}
        case list():
            return [escaped(item, request) for item in value]
        case _:
            return value


def _escaped_text(text: str, request: str) -> str:
    try:
        pieces = scan(text)
    except ExpressionError:
        # Braces that open nothing: the checker says so unless the request has them.
        return text.replace("{{", BRACES) if text in request else text
    return "".join(
        piece.text.replace("{{", BRACES)
        if isinstance(piece, Placeholder) and piece.text in request
        else str(_text(piece))
        for piece in pieces
    )


def _text(piece: str | Placeholder) -> str:
    return piece.text if isinstance(piece, Placeholder) else piece
