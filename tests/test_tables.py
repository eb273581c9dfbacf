"""Tables that say all there is to say of a thing: each test fails with the list of what is missing."""

from __future__ import annotations

from typing import get_args

from toolpath.engine.state.fold import HANDLERS
from toolpath.model import events as ev
from toolpath.model.event_views import VIEWS
from toolpath.model.events import AnyEvent

#: They tell of something, and change nothing in a run.
TOLD_ONLY = {ev.StepProgress, ev.BudgetExceeded}


def test_each_event_is_folded_and_shown() -> None:
    events = set(get_args(AnyEvent))
    records = {event for event in vars(ev).values() if isinstance(event, type) and ev.Event in event.__bases__}
    missing = {
        "AnyEvent (model/events.py)": records - events,
        "HANDLERS (engine/state/fold.py)": events - set(HANDLERS) - TOLD_ONLY,
        "VIEWS (model/event_views.py)": events - set(VIEWS),
    }
    assert {place: sorted(one.__name__ for one in left) for place, left in missing.items() if left} == {}
    assert not TOLD_ONLY & set(HANDLERS)
