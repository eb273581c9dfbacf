"""Conversations: what is kept of them, and the parts in which a turn is told while it goes on. Pure data."""

from __future__ import annotations

from typing import Literal

import msgspec

from toolpath.values import Json, JsonObject

MessageStatus = Literal["", "completed", "completed_with_errors", "failed", "cancelled", "lost"]


class OpenTurn(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A turn that has not been answered yet."""

    number: int
    """Of the message that began it."""
    run_id: str
    message_id: str = ""
    said: str = ""
    """Digest of what was said."""
    at: float = 0.0


class BegunRun(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A run that was begun with the conversation's id and is not told in it yet."""

    run_id: str
    at: float = 0.0
    """When it was noted; of one that has ended, of its messages."""
    number: int = 0
    """Of the message that says what was asked for, the result's is one more; 0: it has none yet."""
    answer: int = 0
    """Of a run that had ended and goes on: the number of the message that says its outcome; 0: there is none."""


class Summary(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Summary that stands for the oldest messages when a model is told of the conversation."""

    through: int
    """Number of the last message that it stands for."""
    text: str
    characters: int = 0
    """Of the messages that it stands for."""
    by_model: bool = False
    """False: no model could be asked, and the text only says what was left out."""


class Conversation(msgspec.Struct, frozen=True, kw_only=True):
    """Conversation as it is kept, besides its messages."""

    conversation_id: str
    title: str = ""
    tenant: str = ""
    user: str = ""
    """Who may see it and go on with it; empty: everybody of the tenant."""
    messages: int = 0
    """How many there are; the last has this number."""
    characters: int = 0
    """Of all messages."""
    turn: OpenTurn | None = None
    begun: tuple[BegunRun, ...] = ()
    """Runs besides the turn that are not told in it yet."""
    summary: Summary | None = None
    last_at: float = 0.0
    """When something was said last."""
    revision: int = 0
    """One more with each change."""
    created_at: float = 0.0
    updated_at: float = 0.0


class MemoryPart(msgspec.Struct, frozen=True, kw_only=True, tag="memory"):
    """Older messages that the model is not told word by word."""

    left_out: int
    """How many messages."""
    characters: int
    summarised: bool
    """A model made a summary of them; false: only how much was left out is told."""


class ConversationMessage(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One message. Messages are kept as they come, and never changed."""

    number: int
    """From 1."""
    role: Literal["user", "assistant"]
    text: str
    at: float = 0.0
    run_id: str = ""
    """The run of the turn."""
    message_id: str = ""
    """Of the user's, as it was given."""
    template: str = ""
    """Id of the plan template that the message was for."""
    memory: MemoryPart | None = None
    """What of the messages before it its turn was not told word by word; None: it was told all of them."""
    status: MessageStatus = ""
    """Of an answer: how its run ended; lost: there is no such run."""
    error: str = ""


class FoundMessage(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A place at which a text was found."""

    conversation_id: str
    title: str
    number: int = 0
    """Of the message; 0: it is in the title."""
    excerpt: str = ""


class TextPart(msgspec.Struct, frozen=True, kw_only=True, tag="text"):
    """More of the answer."""

    text: str


class RestartPart(msgspec.Struct, frozen=True, kw_only=True, tag="restart"):
    """The model's reply broke off and is written anew: its outcome so far does not count."""

    characters: int
    """How many characters, the last that came."""


class CallPart(msgspec.Struct, frozen=True, kw_only=True, tag="call"):
    """A tool is called."""

    step: str
    tool: str
    inputs: Json = None


class ResultPart(msgspec.Struct, frozen=True, kw_only=True, tag="result"):
    """A call has ended; what it gave is in the run."""

    step: str
    status: str
    error: str = ""


class QuestionPart(msgspec.Struct, frozen=True, kw_only=True, tag="question"):
    """The turn waits for a person: to allow a call, to fill in a form, or to say what became of a write."""

    kind: Literal["approval", "input", "settle"]
    run_id: str
    step: str
    tool: str = ""
    inputs: Json = None
    form: JsonObject = {}
    asked_at: float = 0.0


class EndPart(msgspec.Struct, frozen=True, kw_only=True, tag="end"):
    """The turn is over."""

    run_id: str
    status: str
    text: str = ""
    """The whole answer."""
    error: str = ""


Part = MemoryPart | TextPart | RestartPart | CallPart | ResultPart | QuestionPart | EndPart
