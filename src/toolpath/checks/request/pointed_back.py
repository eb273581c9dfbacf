"""Commands that only point to what was commanded before, and may take it back: `Cancel that.`, `Drop it.` Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from toolpath.checks.request.participles import done
from toolpath.checks.request.seen import Seen, short
from toolpath.checks.request.taken_back import is_taking_back
from toolpath.checks.request.tools import fits

#: A verb and a pointer, and nothing else.
_POINTING: Final = re.compile(
    r"(?:(?:and|then|just|only|please|now|nur|bitte|und|dann|et|puis|y|luego|oh|ah|no),?\s+)*[^\W\d_]+\s+"
    r"(?:it|that|this|them|those|all|everything|the\s+whole\s+thing|es|das|sie|ihn|alles|cela|ça|tout|eso|esto|todo)"
    r"(?:\s+(?:again|instead|wieder|mal))?[\s.!]*",
    re.IGNORECASE,
)


#: One word behind a command, set off by a mark.
_ALONE: Final = re.compile(r"(?:[.!?;:(]|\s[-\u2013\u2014])\s*(?P<word>[^\W\d_]{3,})[\s.!?)\u2026]*$")


def _alone(seen: Seen) -> Iterator[str]:
    """A question for a verb of the plan's tools, or one that takes back, alone behind the command: `… - void`."""
    found = _ALONE.search(seen.plain)
    if found is None or seen.held.has(found["word"]) or seen.held.has_text(found["word"]):
        return
    word = found["word"]
    is_done = any(tool is not None and fits(done(word), tool) for _, tool, _ in seen.acting)
    if is_done or seen.is_verb(word) or is_taking_back(word) or is_taking_back(done(word)):
        yield f"{word!r} stands alone behind the command: is that done, or is the command off?"


def pointed_back(seen: Seen) -> Iterator[str]:
    """A question for each command that has no call of its own, or does away with what another one was about."""
    yield from _alone(seen)
    commands = [clause for clause in seen.clauses if clause.mood == "command"]
    meant = [one for one in commands if any(fits(one.verb, tool) for _, tool, _ in seen.acting if tool is not None)]
    is_more = len(meant) > len(seen.acting) and not seen.has_loop
    for one in meant[1:]:
        if _POINTING.fullmatch(one.text.strip()) is None:
            continue
        # `Refund O-7 and cancel it` goes on with the order; `Drop it.` by itself may drop the command.
        begins = seen.plain[: max(0, seen.plain.rfind(one.text))].rstrip().endswith((".", "!", "?"))
        if is_more or (begins and is_taking_back(one.verb)):
            yield f"{short(seen, one)!r} may take back what is commanded before it. Should that be done?"
