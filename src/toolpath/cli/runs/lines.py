"""Events as lines of text, for logs and pipes: one line an event that a person wants to know."""

from __future__ import annotations

from toolpath.cli.output import clean
from toolpath.model.event_views import is_detail, line_of
from toolpath.model.events import AnyEvent


def event_line(event: AnyEvent, since: float) -> str | None:
    """The line of an event, with the seconds since `since`; None for a mere detail."""
    if is_detail(event):
        return None
    what = clean(line_of(event).replace("\n", "⏎"))
    return f"{max(0.0, event.at - since):9.3f} s  {what}"
