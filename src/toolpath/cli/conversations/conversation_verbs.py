"""`toolpath conversations …` at work."""

from __future__ import annotations

from datetime import UTC, datetime

import msgspec

from toolpath.cli.exits import ExitCode
from toolpath.cli.kept import forget_kept, list_kept
from toolpath.cli.options import GlobalOptions
from toolpath.cli.output import short
from toolpath.cli.questions import person
from toolpath.cli.session import CommandSession, perform
from toolpath.workspace.templates import TemplateDraft

_MOST = 500


def list_conversations(options: GlobalOptions) -> int:
    """The conversations, one a line."""
    return list_kept(
        options,
        lambda tp: tp.conversations.newest(limit=_MOST),
        lambda each: (each.conversation_id, short(each.title, 60), each.messages, _day(each.last_at)),
        header=("conversation", "title", "messages", "last"),
        none="No conversations. `toolpath chat` begins one.",
    )


def show_conversation(options: GlobalOptions, conversation_id: str) -> int:
    """All that was said."""

    async def work(session: CommandSession) -> int:
        conversations = session.tp.conversations
        known = await conversations.get(conversation_id)
        messages = await conversations.history(known, limit=_MOST)
        while messages and messages[0].number > 1:
            messages = [*await conversations.history(known, limit=_MOST, before=messages[0].number), *messages]
        if options.json:
            shown = [msgspec.to_builtins(message) for message in messages]
            session.output.result({**msgspec.to_builtins(known), "said": shown})
            return ExitCode.DONE
        for message in messages:
            failed = f" ({message.status}: {message.error})" if message.error else ""
            who = "you" if message.role == "user" else f"toolpath{failed}"
            session.output.paragraph(f"{who}:\n{message.text}\n")
        if known.turn is not None:
            session.output.say(f"A turn goes on: {known.turn.run_id}", "magenta")
        return ExitCode.DONE

    return perform(options, work, sources=False)


def search_conversations(options: GlobalOptions, text: str) -> int:
    """The places at which it stands."""
    return list_kept(
        options,
        lambda tp: tp.conversations.search(text, limit=_MOST),
        lambda each: (each.conversation_id, each.number or "title", short(each.excerpt or each.title)),
        header=("conversation", "message", "text"),
        none="It stands nowhere.",
    )


def rename_conversation(options: GlobalOptions, conversation_id: str, title: str) -> int:
    """Another title."""

    async def work(session: CommandSession) -> int:
        conversations = session.tp.conversations
        await conversations.rename(await conversations.get(conversation_id), title, user=person())
        session.output.say(f"It is called {title} now.", "green")
        return ExitCode.DONE

    return perform(options, work, sources=False)


def save_conversation(options: GlobalOptions, conversation_id: str, title: str, group: str) -> int:
    """A plan template of what it called."""

    async def work(session: CommandSession) -> int:
        conversations = session.tp.conversations
        draft = TemplateDraft(title=title or None, group=group or None)
        made = await conversations.save_as_template(await conversations.get(conversation_id), draft, user=person())
        session.output.done(f"{made.key} is at version {made.version}.", made)
        return ExitCode.DONE

    return perform(options, work, sources=False)


def delete_conversation(options: GlobalOptions, conversation_id: str) -> int:
    """Forget it."""
    return forget_kept(
        options,
        lambda tp: tp.conversations.get(conversation_id),
        lambda tp, known: tp.conversations.delete(known, user=person()),
        lambda known: known.title or known.conversation_id,
    )


def _day(at: float) -> str:
    return f"{datetime.fromtimestamp(at, UTC):%Y-%m-%d %H:%M}Z"
