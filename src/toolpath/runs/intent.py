"""Intent of who takes a run: why it goes on and by whose authority, as its row says until its journal does. Pure."""

from __future__ import annotations

import msgspec

from toolpath.model.run import RunInfo
from toolpath.ports import Authority, RunChange
from toolpath.values import made_ready

#: A run goes on from its failures.
RETRY = "retry"
#: Another plan is being made for a run that failed.
REPLANNING = "replanning"
#: Between that and by whose authority it is.
_BY = " by "


class Intent(msgspec.Struct, frozen=True):
    """Why a run goes on, and by whose authority."""

    reason: str = ""
    authority: Authority | None = None

    def taking(self) -> RunChange:
        """The row of a run that is taken with this intent."""
        return RunChange(status="running", reason=self.reason, intent=self.as_text())

    def as_text(self) -> str:
        """The intent as the row keeps it."""
        if self.authority is None:
            return self.reason
        return f"{self.reason}{_BY}{msgspec.json.encode(self.authority).decode()}"


def intent_of(info: RunInfo) -> Intent:
    """The intent that the journal does not tell yet."""
    reason, _, authority = info.intent.partition(_BY)
    try:
        return Intent(reason, msgspec.json.decode(authority, type=Authority) if authority else None)
    except ValueError:
        return Intent(reason)


made_ready(Authority)
