"""Way of asking a model: what its server takes, and the next plainer way where it says what it does not. Pure."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final, Literal

import msgspec

from toolpath.model.chat import ChatRequest
from toolpath.model.model_providers import OutputMode

#: What a request may be without: settings, the tools as such, the system's turn, the stream.
Part = Literal["temperature", "top_p", "max_tokens", "tool_choice", "tools", "system", "stream"]

#: Statuses of a server that does not know how to do what it is asked for, and says nothing more.
_NOT_SO: Final = frozenset((400, 415, 422, 501))
#: Statuses that may say so, where the message names what is not known.
_MAY_NAME: Final = _NOT_SO | {404, 405, 500}
#: Answers of a server to whom it was said too much; nothing in the way of asking is at fault.
_TOO_LONG: Final = re.compile(
    r"context (?:length|window|size)|prompt is too long|too many tokens|input is too long", re.I
)
_LEAST: Final = 256
_PARTS: Final[tuple[tuple[Part, re.Pattern[str]], ...]] = (
    ("temperature", re.compile(r"\btemperature\b", re.IGNORECASE)),
    ("top_p", re.compile(r"\btop_?p\b", re.IGNORECASE)),
    ("max_tokens", re.compile(r"\bmax_(?:completion_|output_|new_)?tokens\b|\bmaxOutputTokens\b", re.IGNORECASE)),
    ("tool_choice", re.compile(r"\btool[_ ]?(?:choice|config)\b", re.IGNORECASE)),
    (
        "system",
        re.compile(
            r"(?:system|developer) (?:role|message|prompt|instruction)|roles? must alternate|'system'|role:? \W?system"
            r"|only user and assistant roles",
            re.I,
        ),
    ),
    ("stream", re.compile(r"\bstream(?:ing|_options)?\b", re.IGNORECASE)),
    (
        "tools",
        re.compile(r"\btools?\b|\bfunction[ _-]?call(?:s|ing)?\b|\bfunctions\b|\bcall a function", re.IGNORECASE),
    ),
)
_SCHEMA: Final = re.compile(
    r"json[_ ]?schema|response_?(?:json_?)?schema|grammar|guided|additionalProperties|invalid schema|output_config",
    re.I,
)
_FORMAT: Final = re.compile(
    r"response_?format|requested parameters|text\.format|structured[_ ]output|json[_ ]mode|json_object|response_?mime",
    re.I,
)
#: What a server says that has the simple JSON mode and no schemas.
_HAS_JSON: Final = re.compile(r"json_object|json_schema|(?:only|must be|supports?).{0,40}['\"`]?json\b", re.IGNORECASE)
_NO_JSON: Final = re.compile(
    r"json mode|(?:must be|one of|only|expected).{0,30}['\"`]?text\b|json_object.{0,40}not", re.IGNORECASE
)
_LIMIT: Final = re.compile(
    r"(?:<=?|at most|less than or equal to|maximum[^.\d]{0,80}|limit[^.\d]{0,40}|up to|>)\s*`?(\d{2,7})\b", re.I
)


class Way(msgspec.Struct, frozen=True, kw_only=True):
    """Way in which a model is asked."""

    modes: tuple[OutputMode, ...]
    """How values are asked for, best first; a later one is taken where the server rejects an earlier one."""
    without: frozenset[Part] = frozenset()
    max_tokens: int | None = None
    """The most that the server takes of `max_tokens`; None: it has said nothing."""

    @property
    def mode(self) -> OutputMode:
        """How a value is asked for now."""
        return self.modes[0]


def plainer(way: Way, request: ChatRequest, *, status: int | None, said: str, streams: bool = False) -> Way | None:
    """The next way to ask after a refusal; None where asking otherwise would not help.

    `status`: None for a client library that refused by itself. Each way has less than the one before it, so that the
    ways come to an end.
    """
    if status is not None and status not in _MAY_NAME:
        return None
    limited = _limited(way, request, said)
    if limited is not None:
        return limited
    if status is not None and _TOO_LONG.search(said):
        return _without_share(way, request, said)
    has_modes = request.output_schema is not None and len(way.modes) > 1
    if has_modes and (_SCHEMA.search(said) or _FORMAT.search(said)):
        return _with_modes(way, _formats_left(way, said))
    named = _named_part(way, request, said, streams=streams)
    if named == "tools" and request.output_schema is not None and way.mode == "tool":
        return _with_modes(way, [mode for mode in way.modes if mode != "tool"])
    if named is not None:
        return _without(way, named)
    is_rejected = status is None or status in _NOT_SO
    return _with_modes(way, way.modes[1:]) if is_rejected and has_modes else None


def _without_share(way: Way, request: ChatRequest, said: str) -> Way | None:
    """The way without a bound on the answer, where that share is what made the request too long."""
    is_share = re.search(r"max\w*tokens|completion", said, re.IGNORECASE) and request.max_tokens is not None
    is_left_out = "max_tokens" in way.without
    return None if is_left_out or not is_share else _without(way, "max_tokens")


def _named_part(way: Way, request: ChatRequest, said: str, *, streams: bool) -> Part | None:
    """The part of the request that the refusal names; None: none that was sent."""
    for part, named in _PARTS:
        if part not in way.without and named.search(said) and _is_sent(part, way, request, streams=streams):
            return part
    return None


def _without(way: Way, part: Part) -> Way:
    return msgspec.structs.replace(way, without=way.without | {part})


def _limited(way: Way, request: ChatRequest, said: str) -> Way | None:
    """The way with no more tokens than the server says it gives."""
    if request.max_tokens is None or "max_tokens" in way.without or not re.search(r"max\w*tokens", said, re.IGNORECASE):
        return None
    now = request.max_tokens if way.max_tokens is None else min(way.max_tokens, request.max_tokens)
    # A server that takes one less each time would be asked thousands of times.
    most = now - 1 if way.max_tokens is None else now // 2
    limits = [int(one) for one in _LIMIT.findall(said) if _LEAST <= int(one) <= most]
    return msgspec.structs.replace(way, max_tokens=max(limits)) if limits else None


def _formats_left(way: Way, said: str) -> Sequence[OutputMode]:
    """The modes that are left when a server refuses the form of an answer."""
    left = way.modes[1:]
    if way.mode == "native" and not _SCHEMA.search(said) and not _HAS_JSON.search(said):
        # Who does not know `response_format` at all has no simple JSON mode either.
        left = tuple(mode for mode in left if mode != "json")
    elif way.mode == "native" and _NO_JSON.search(said):
        left = tuple(mode for mode in left if mode != "json")
    return left or way.modes[-1:]


def _with_modes(way: Way, modes: Sequence[OutputMode]) -> Way | None:
    left = tuple(modes)
    return msgspec.structs.replace(way, modes=left) if left and len(left) < len(way.modes) else None


def _is_sent(part: Part, way: Way, request: ChatRequest, *, streams: bool) -> bool:
    match part:
        case "tools":
            return bool(request.tools) or (request.output_schema is not None and way.mode == "tool")
        case "tool_choice":
            return (bool(request.tools) and request.tool_choice != "auto") or way.mode == "tool"
        case "stream":
            return streams
        case "max_tokens":
            return request.max_tokens is not None
        case "system":
            return bool(request.system) or way.mode in ("json", "prompted")
        case _:
            return True
