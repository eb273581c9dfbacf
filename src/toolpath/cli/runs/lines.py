"""Events as lines of text, for logs and pipes: one line an event that a person wants to know."""

from __future__ import annotations

from toolpath.cli.output import clean
from toolpath.model.event_views import line_of
from toolpath.model.events import AnyEvent


def event_line(event: AnyEvent, since: float) -> str | None:
    """The line of an event, with the seconds since `since`; None for one that only machines need."""
    what = clean(line_of(event).replace("\n", "⏎"))
    return f"{max(0.0, event.at - since):9.3f} s  {what}" if what else None
