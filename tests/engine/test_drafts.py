"""Drafts of replies: what is shown while a model writes holds no piece of a secret, however long it is."""

from __future__ import annotations

import asyncio
import base64
import random
import string
from collections.abc import AsyncIterator
from urllib.parse import quote

import pytest

from toolpath.engine.drive.drafts import Drafts, ReplyPlace
from toolpath.model.chat import ChatDelta, ChatReply, ChatRequest
from toolpath.model.redaction import Redactor, RunRedactor

RNG = random.Random(8)
LONG = "".join(RNG.choices(string.ascii_letters + string.digits, k=1_200))
KEY = "-----BEGIN KEY-----\n" + "\n".join("".join(RNG.choices("abcXYZ019+/é", k=64)) for _ in range(20)) + "\n---END"


class Writer:
    """A model that writes a text a few characters at a time."""

    def __init__(self, text: str) -> None:
        self._text = text

    async def __call__(self, request: ChatRequest) -> ChatReply:
        return ChatReply(text=self._text)

    async def stream(self, request: ChatRequest) -> AsyncIterator[ChatDelta]:
        for at in range(0, len(self._text), 7):
            yield ChatDelta(text=self._text[at : at + 7])
            await asyncio.sleep(0)
        yield ChatDelta(reply=ChatReply(text=self._text))


async def shown(text: str, redactor: Redactor) -> list[str]:
    """All that a follower sees of the reply while it is written."""
    drafts = Drafts()
    seen: list[str] = []
    with drafts.followed("r") as news:
        reply = asyncio.create_task(drafts.reply(Writer(text), ChatRequest(), ReplyPlace("r", "say", True), redactor))
        while not reply.done():
            if news.is_set():
                news.clear()
                seen += [draft.text for draft in drafts.of("r").values()]
            await asyncio.sleep(0)
        await reply
    return seen


FORMS = {
    "plain": str,
    "hex": lambda secret: secret.encode().hex(),
    "base64": lambda secret: base64.b64encode(f"user:{secret}".encode()).decode(),
    "url": lambda secret: quote(quote(quote(secret, safe=""))),
    "json": lambda secret: "".join(f"\\u{ord(char):04x}" if not char.isalnum() else char for char in secret),
}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("secret", [LONG, KEY], ids=["token", "key"])
@pytest.mark.parametrize("of_run", [False, True], ids=["known", "told"])
async def test_no_piece_of_a_long_secret_is_shown(secret: str, form: str, of_run: bool):
    written = FORMS[form](secret)
    after = "and more. " * 3_000
    redactor = RunRedactor(Redactor(), [secret]) if of_run else Redactor([secret])
    seen = await shown(f"Your key: {written} {after}", redactor)
    begins = [written[:24], written[len(written) // 2 :][:24]]
    assert not [text for text in seen if any(begin in text for begin in begins)]
    # What comes after it is shown while it is written.
    assert any("[redacted]" in text and "and more." in text for text in seen)


async def test_a_draft_without_secrets_is_shown_at_once():
    assert "Hello, " in await shown("Hello, you.", Redactor())
    # A usual secret holds no more back than it did.
    seen = await shown("word " * 200, Redactor(["sk-proj-0123456789abcdef0123456789"]))
    assert max(map(len, seen)) > 600
