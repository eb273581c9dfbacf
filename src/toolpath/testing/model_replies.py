"""Replies of a scripted model server: text, calls, refusals, and every way to fail."""

from __future__ import annotations

import msgspec

from toolpath.values import Json, JsonObject


class Says(msgspec.Struct, frozen=True, kw_only=True):
    """A text. Where the request forces a tool, as it does for structured output, the text is that tool's arguments."""

    text: str
    finish: str = "stop"
    """`stop`, or `length` for an answer that was cut off."""
    piece: int = 8
    """Characters of each piece of a stream."""
    pause: float = 0.0
    """Seconds between the pieces of a stream: a model that takes its time."""
    input_tokens: int = 11
    output_tokens: int = 7


class Calls(msgspec.Struct, frozen=True, kw_only=True):
    """Calls of tools, with the names that the request used."""

    calls: tuple[tuple[str, JsonObject], ...]
    text: str = ""
    arguments: str | None = None
    """Replaces the arguments of every call, e.g. by what is no JSON."""


class Refuses(msgspec.Struct, frozen=True, kw_only=True):
    """A refusal, in the provider's own form."""

    text: str = "I cannot help with that."


class Fails(msgspec.Struct, frozen=True, kw_only=True):
    """An HTTP error."""

    status: int
    message: str = "Something is wrong."
    retry_after: str = ""
    """Value of the header."""


class Sends(msgspec.Struct, frozen=True, kw_only=True):
    """Bytes with status 200, whatever they are."""

    body: bytes
    content_type: str = "application/json"


class Breaks(msgspec.Struct, frozen=True, kw_only=True):
    """An answer whose connection is cut: a stream after so many pieces, a whole answer in its middle."""

    text: str
    after: int = 2
    piece: int = 8


class Hangs(msgspec.Struct, frozen=True, kw_only=True):
    """No answer until the server is closed; of a stream, none after so many pieces."""

    text: str = ""
    after: int = 0
    piece: int = 8


Reply = Says | Calls | Refuses | Fails | Sends | Breaks | Hangs


class Received(msgspec.Struct, frozen=True, kw_only=True):
    """A request as the server got it."""

    path: str
    headers: dict[str, str]
    """Names in lower case."""
    body: Json

    @property
    def text(self) -> str:
        """The body as text: what the model was shown."""
        return msgspec.json.encode(self.body).decode()
