"""A message as somebody sends it to a conversation: what it may be, and how the same one is known again. Pure."""

from __future__ import annotations

from typing import Final

import msgspec

from toolpath.errors import KeyReused, SchemaError
from toolpath.values import JsonObject, digest

#: Characters of a message, and of an answer as it is kept.
LONGEST: Final = 200_000


class MessageDraft(msgspec.Struct, frozen=True, kw_only=True):
    """Words that somebody says in a conversation."""

    text: str
    message_id: str = ""
    """The same message sent again with the same id adds nothing."""
    template: str = ""
    """Id, `group.title` or title of a plan template that answers; empty: an agent does."""
    inputs: JsonObject | None = None
    """Values of the template's parameters; None: the text is the one that it needs."""
    tools: tuple[str, ...] = ()
    """Names of the tools that the agent may call; none: all that are selectable."""
    model: str = ""
    instructions: str = ""
    """How the agent is to go about it."""
    uploads: tuple[str, ...] = ()
    """Uploads whose files are in the folder of the turn's run when it begins."""


def check_said(said: MessageDraft) -> None:
    """Raise `SchemaError` for what is no message."""
    check_text(said.text, "message", LONGEST, lines=True)
    if not said.text.strip() and not said.template:
        raise SchemaError("The message is empty.")
    check_text(said.message_id, "message's id", 200)


def check_text(text: str, what: str, most: int, *, lines: bool = False) -> None:
    """Raise `SchemaError` for a text that cannot be kept: too long, with NUL, with half a character."""
    if len(text) > most:
        raise SchemaError(
            f"The {what} has {len(text):,} characters; at most {most:,} are taken.", hint="Send it in parts, or a file."
        )
    if "\0" in text:
        raise SchemaError(f"The {what} holds a NUL character.", hint="Take it out.")
    if not lines and ("\n" in text or "\r" in text):
        raise SchemaError(f"The {what} has more than one line.")
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise SchemaError(
            f"The {what} holds half a character at position {error.start}.", hint="Send it as whole UTF-8."
        ) from None


def digest_of(said: MessageDraft) -> str:
    """Digest of what was said, to know it again by when it is sent again; empty where it has no id."""
    if not said.message_id:
        return ""
    told = {**msgspec.structs.asdict(said), "tools": list(said.tools), "uploads": list(said.uploads)}
    if not said.uploads:
        # As before messages had any.
        del told["uploads"]
    return digest(told)


def is_same(before: str, said: MessageDraft) -> bool:
    """Whether it is what had that digest; where none was kept, it is taken for it."""
    return not before or before == digest_of(said)


def reused(number: int) -> KeyReused:
    """The error for another message with the id of one that was sent before."""
    return KeyReused(
        f"The message {number} of the conversation came with this id, and said something else.",
        hint="Take a new id for a new message.",
    )
