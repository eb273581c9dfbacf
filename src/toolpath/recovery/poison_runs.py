"""Runs that end every process that drives them, as poison: how they are told from those that had bad luck. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from toolpath.model import events as ev
from toolpath.model.events import AnyEvent

#: Why a run was taken up: the driver before did not let go of it. It died, or stood still.
LOST = "lost"
#: How the reason of a run that is put aside begins.
PUT_ASIDE = "put aside"

#: What only a living driver writes of a step: its attempt is over, and so is what was counted against it.
#: `StepUnknown` is none: who takes up the run writes it, of a call that the driver before did not live to end.
_OVER = (
    ev.StepSucceeded
    | ev.StepFailed
    | ev.StepTimedOut
    | ev.StepCancelled
    | ev.StepRetrying
    | ev.FallbackStarted
    | ev.StepSkipped
)


def losses(events: Iterable[AnyEvent], epoch: int) -> tuple[int, str]:
    """How many drivers were lost during the same step, this last one included, and that step's path.

    `epoch` is that of the run's row. Drivers that were lost before they wrote anything count for no step. What a person
    resumes or retries begins with none.
    """
    lost: Counter[str] = Counter()
    under_way: set[str] = set()
    written = 0
    for event in events:
        match event:
            case ev.RunStarted():
                pass
            case ev.RunResumed(reason=reason):
                written = event.epoch
                if reason == LOST:
                    lost.update(under_way)
                elif reason:
                    lost.clear()
                under_way.clear()
            case ev.StepStarted(path=path, key=key):
                written = max(written, 1)
                if key:
                    under_way.add(path)
            case _:
                written = max(written, 1)
                if isinstance(event, _OVER):
                    under_way.discard(event.path)
                    lost.pop(event.path, None)
    lost.update(under_way)
    silent = max(0, epoch - written)
    path, count = max(lost.items(), key=lambda item: item[1], default=("", 0))
    return (silent, "") if silent > count else (count, path)
