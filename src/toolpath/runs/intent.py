"""Intent of who takes a run: why it goes on and by whose word, as its row says until its journal does. Pure."""

from __future__ import annotations

import msgspec

from toolpath.model.run import RunInfo
from toolpath.ports import Authority

#: A run goes on from its failures.
RETRY = "retry"
#: Another plan is being made for a run that failed.
REPLANNING = "replanning"
#: Between that and by whose word it is.
_BY = " by "


class Intent(msgspec.Struct, frozen=True):
    """Why a run goes on, and by whose word."""

    reason: str = ""
    authority: Authority | None = None

    def as_reason(self) -> str:
        """The intent as the row has it."""
        if self.authority is None:
            return self.reason
        return f"{self.reason}{_BY}{msgspec.json.encode(self.authority).decode()}"


def intent_of(info: RunInfo) -> Intent:
    """The intent that the row holds."""
    if info.status != "running":
        # Whatever it says is why the run has ended, or stands: in words of a person, who may write anything.
        return Intent()
    reason, _, authority = info.reason.partition(_BY)
    if reason not in ("", RETRY, REPLANNING):
        return Intent()
    try:
        return Intent(reason, msgspec.json.decode(authority, type=Authority) if authority else None)
    except ValueError:
        return Intent(reason)
