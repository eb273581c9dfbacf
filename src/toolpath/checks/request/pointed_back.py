"""Commands that only point to what was commanded before, and may take it back: `Cancel that.`, `Drop it.` Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

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


def pointed_back(seen: Seen) -> Iterator[str]:
    """A question for each command that has no call of its own, or does away with what another one was about."""
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
