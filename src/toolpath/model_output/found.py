"""Findings in a model's text: calls, plans and prose, as frozen records."""

from __future__ import annotations

import msgspec

from toolpath.errors import ReadError
from toolpath.model.plan import Plan
from toolpath.values import Json


class ModelCall(msgspec.Struct, frozen=True, kw_only=True):
    """One call that a model wrote. Nothing says yet that there is such a tool."""

    tool: str
    inputs: Json = {}
    """An object by name; a list where the model gave them by position; a text where it gave one text."""
    id: str = ""
    """The call's id, label or number as written; empty: none."""
    depends_on: tuple[str, ...] = ()
    """Ids of calls whose results its inputs name in the notation of its format."""
    line: int = 0
    column: int = 0


class ModelText(msgspec.Struct, frozen=True, kw_only=True):
    """Contents of a model's answer."""

    calls: tuple[ModelCall, ...] = ()
    """In the order in which they were written; of a plan, its calls with references as written there."""
    prose: str = ""
    """What is meant for people: neither call nor thought nor an imagined result."""
    plan: Plan | None = None
    """Where the answer is a plan; what is wrong in it stands in `plan.source.findings`."""
    format: str = "text"
    """Name of the reader that knew it; `text`: no call was written."""
    repaired: tuple[str, ...] = ()
    """What was not written as it should be and is read nevertheless, and what was left out, with places."""


class ReaderResult(msgspec.Struct, frozen=True, kw_only=True):
    """Find of a reader at one place."""

    format: str
    calls: tuple[ModelCall, ...] = ()
    plan: Plan | None = None
    prose: str | None = None
    """A text for people that stood inside the format; None: none."""
    one_a_turn: bool = False
    """The format allows one action a turn: what follows it rests on a result that nobody has seen."""
    marked: bool = False
    """The model marked it as a call by tokens of its own."""


class TextPiece(msgspec.Struct, frozen=True, kw_only=True):
    """A part of the text that a reader knows; `end` is where it ends."""

    end: int
    found: ReaderResult | None = None
    error: ReadError | None = None
    """It looks like a call and cannot be read."""
    doubtful: bool = False
    """With `error`: it counts only where nothing else in the text is a call."""
    open_ended: bool = False
    """Only a token after it tells that nothing of it is missing."""
    hidden: bool = False
    """A thought or a result: neither call nor prose."""
    drops: bool = False
    """All before it was a thought."""
    imagined: bool = False
    """A result that the model made up: calls after it rest on it."""
