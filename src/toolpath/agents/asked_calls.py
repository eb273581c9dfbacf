"""Calls that a model asks for in a reply: as its provider hands them over, or in the text it wrote. Pure."""

from __future__ import annotations

import asyncio
import re
from collections import Counter
from typing import Final

import msgspec

from toolpath.errors import ReadError
from toolpath.model.chat import ChatReply
from toolpath.model_output.marked import OPEN
from toolpath.model_output.model_text import read_model_text
from toolpath.model_output.plans import CUT_OFF, called
from toolpath.values import Json, JsonObject, encode

#: Calls of one reply that are looked at.
MOST_CALLS: Final = 32
#: Bytes of the arguments of one call.
MOST_ARGUMENTS: Final = 200_000
#: Characters of an answer in which calls are looked for.
_LONGEST_TEXT: Final = 200_000
#: Characters that are read where the event loop is.
_SHORT: Final = 20_000
_OPENED: Final = re.compile(OPEN)
#: A text that is one block of code: so write models that know calls in words alone.
_FENCED: Final = re.compile(r"```(?:json|tool_call|tool_calls)?[ \t]*\n([^`]*)```")


class AskedCall(msgspec.Struct, frozen=True, kw_only=True):
    """A call that a model wants made. Nothing says yet that it can be."""

    name: str
    arguments: JsonObject = {}
    id: str = ""
    fault: str = ""
    """Why the arguments are none, in words for the model."""


class AskedCalls(msgspec.Struct, frozen=True, kw_only=True):
    """Calls that a reply asks for."""

    calls: tuple[AskedCall, ...] = ()
    left_out: int = 0
    """Calls beyond those that are looked at."""
    in_text: bool = False
    """They were written as text: the model knows no other way."""
    fault: str = ""
    """The text looks like a call and cannot be read."""
    unheard: bool = False
    """The request was not taken as it was, and is made in another way."""


async def read_reply(reply: ChatReply, number: int, *, talks: bool = False, most: int = MOST_CALLS) -> AskedCalls:
    """The calls of the reply, as `asked_in`; what is long is read beside the event loop."""
    if len(reply.text) <= _SHORT:
        return asked_in(reply, number, talks=talks, most=most)
    return await asyncio.to_thread(asked_in, reply, number, talks=talks, most=most)


def asked_in(reply: ChatReply, number: int, *, talks: bool = False, most: int = MOST_CALLS) -> AskedCalls:
    """The calls of the reply of that round, at most so many. `talks`: text is for a person, unless it begins as a call
    does."""
    if reply.tool_calls:
        seen = reply.tool_calls[:most]
        ids = Counter(call.id for call in seen)
        calls = tuple(
            # Results go by the id, which some servers leave out, or give to all calls.
            _call(call.name, call.arguments, call.id if call.id and ids[call.id] == 1 else f"call_{number}_{index}")
            for index, call in enumerate(seen)
        )
        return AskedCalls(calls=calls, left_out=len(reply.tool_calls) - len(seen))
    if not reply.text.strip():
        return AskedCalls()
    if talks:
        return _called_in_words(reply.text, number, most)
    if len(reply.text) > _LONGEST_TEXT:
        return AskedCalls(fault=f"The answer has {len(reply.text):,} characters; at most {_LONGEST_TEXT:,} are read.")
    try:
        found = read_model_text(reply.text)
    except ReadError as error:
        return AskedCalls(fault=error.message, in_text=True)
    wanted = called(found)
    if wanted and reply.finish_reason == "length":
        return AskedCalls(fault=CUT_OFF, in_text=True)
    seen_text = wanted[:most]
    calls = tuple(_call(call.tool, call.inputs, f"call_{number}_{index}") for index, call in enumerate(seen_text))
    return AskedCalls(calls=calls, left_out=len(wanted) - len(seen_text), in_text=bool(calls))


def _called_in_words(text: str, number: int, most: int) -> AskedCalls:
    """The calls of a text that begins with a model's token for one, or is nothing but calls.

    What quotes some, as a result of a tool, calls nothing; what begins as one and cannot be read is a fault.
    """
    stripped = text.strip()
    if len(stripped) <= _LONGEST_TEXT and (fenced := _FENCED.fullmatch(stripped)):
        stripped = fenced[1].strip()
    is_marked = _OPENED.match(stripped) is not None
    if not is_marked and (not stripped or stripped[0] not in "{[<" or stripped[-1] not in "}]>"):
        return AskedCalls()
    if len(stripped) > _LONGEST_TEXT:
        return AskedCalls()
    try:
        found = read_model_text(stripped)
    except ReadError as error:
        return AskedCalls(fault=error.message, in_text=True) if is_marked else AskedCalls()
    calls = tuple(_call(call.tool, call.inputs, f"call_{number}_{at}") for at, call in enumerate(called(found)))
    return AskedCalls(calls=calls[:most], left_out=max(0, len(calls) - most), in_text=bool(calls))


def _call(name: str, arguments: Json, call_id: str) -> AskedCall:
    size = len(arguments) if isinstance(arguments, str) else len(encode(arguments))
    if size > MOST_ARGUMENTS:
        fault = f"The arguments have {size:,} bytes; at most {MOST_ARGUMENTS:,} are taken."
        return AskedCall(name=name[:200], id=call_id, fault=fault)
    match arguments:
        case [dict() as named]:
            # `tool({"name": …})`, as JavaScript writes arguments by name.
            arguments = named
    if not isinstance(arguments, dict):
        return AskedCall(name=name[:200], id=call_id, fault="The arguments are no JSON object.")
    return AskedCall(name=name[:200], arguments=arguments, id=call_id)
