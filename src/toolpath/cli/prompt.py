"""Prompt at the terminal: a line that a person types while the event loop goes on."""

from __future__ import annotations

import asyncio
import contextlib
import getpass
import os
import signal
import sys


class GaveUp(Exception):  # not an error: the person ended the input
    """The person left the question open."""


class AnsweredElsewhere(Exception):  # not an error: nobody has to answer any more
    """Answer that somebody else gave meanwhile."""


class Prompt:
    """Asks at the terminal until `gone` is done: then nobody has to answer any more."""

    def __init__(self, gone: asyncio.Future[None]) -> None:
        self._gone = gone

    async def line(self, prompt: str, *, secret: bool = False) -> str:
        """The line that was typed. Raises `GaveUp` at the end of the input or an interrupt, `AnsweredElsewhere`."""
        if secret or os.name != "posix":
            return _typed(prompt, secret=secret)
        await self._typed_or_gone(prompt)
        line = sys.stdin.readline()
        if not line:
            raise GaveUp
        return line.rstrip("\n")

    async def _typed_or_gone(self, prompt: str) -> None:
        loop = asyncio.get_running_loop()
        typed: asyncio.Future[None] = loop.create_future()

        def interrupted() -> None:
            if not typed.done():
                typed.set_exception(GaveUp())

        def readable() -> None:
            if not typed.done():
                typed.set_result(None)

        before = signal.getsignal(signal.SIGINT)
        loop.add_reader(sys.stdin, readable)
        loop.add_signal_handler(signal.SIGINT, interrupted)
        # Only now: a person who sees the question may interrupt it at once. On stderr: stdout is for the result.
        sys.stderr.write(prompt)
        sys.stderr.flush()
        try:
            await asyncio.wait({typed, self._gone}, return_when=asyncio.FIRST_COMPLETED)
            if typed.done():
                typed.result()
                return
            sys.stderr.write("\n")
            self._gone.result()
            raise AnsweredElsewhere
        except GaveUp:
            sys.stderr.write("\n")
            raise
        finally:
            typed.cancel()
            loop.remove_reader(sys.stdin)
            loop.remove_signal_handler(signal.SIGINT)
            with contextlib.suppress(ValueError, TypeError):
                signal.signal(signal.SIGINT, before)


def _typed(prompt: str, *, secret: bool) -> str:
    """Typed while everything stands still: what must not be seen, or where a terminal cannot be listened to."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        if secret:
            return getpass.getpass(prompt, stream=sys.stderr)
        sys.stderr.write(prompt)
        sys.stderr.flush()
        line = sys.stdin.readline()
    except (EOFError, KeyboardInterrupt):
        sys.stderr.write("\n")
        raise GaveUp from None
    finally:
        signal.signal(signal.SIGINT, before)
    if not line:
        raise GaveUp
    return line.rstrip("\n")
